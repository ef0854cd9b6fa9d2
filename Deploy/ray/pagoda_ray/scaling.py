"""by_queue_length: the number of replicas, based on the running and waiting requests of the engines."""
import math


def desired_replicas(running, queue_length, target):
    """`target` concurrent answers per replica; waiting requests count too, so a queue adds replicas."""
    return max(1, math.ceil((running + queue_length) / target))


def by_queue_length(context):
    """Ray calls this a few times per second; delays and bounds are those of the autoscaling configuration."""
    metrics = context.aggregated_metrics or {}
    total = {name: sum((metrics.get(name) or {}).values()) for name in ("running", "queue_length")}
    target = context.config.target_ongoing_requests
    if "running" not in metrics:
        return context.target_num_replicas, {}
    return desired_replicas(total["running"], total["queue_length"], target), {}
