"""by_queue_length: how many replicas there should be, by what runs and waits in the engines."""
import math


def desired_replicas(running, queue_length, target):
    """`target` answers at once for each replica; all that wait is counted, so a queue is worked off by more."""
    return max(1, math.ceil((running + queue_length) / target))


def by_queue_length(context):
    """Ray asks a few times a second; delays and bounds are those of the autoscaling configuration."""
    metrics = context.aggregated_metrics or {}
    total = {name: sum((metrics.get(name) or {}).values()) for name in ("running", "queue_length")}
    target = context.config.target_ongoing_requests
    if "running" not in metrics:
        return context.target_num_replicas, {}
    return desired_replicas(total["running"], total["queue_length"], target), {}
