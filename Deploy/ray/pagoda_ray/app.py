"""build: the application, for `serve run pagoda_ray.app:build` and for serve.yaml."""
from ray.serve.config import RequestRouterConfig

from pagoda_ray import VERSION
from pagoda_ray.engine import Engine
from pagoda_ray.front import Front
from pagoda_ray.router import PrefixRouter

ROUTER_KEYS = {"load_tokens", "timeout_s", "max_asked"}
ENGINE_KEYS = {"program", "arguments", "host", "expect_version", "expect_fingerprint", "start_seconds", "drain_seconds"}


# `serve run` passes all arguments as text.
NUMBERS = {"num_replicas": int, "max_ongoing_requests": int, "max_asked": int, "load_tokens": int, "timeout_s": float,
           "drain_seconds": float, "start_seconds": float}


def build(args):
    """Arguments: those of Engine and of PrefixRouter, and `num_replicas` or `autoscaling`."""
    args = {key: NUMBERS[key](value) if key in NUMBERS else value for key, value in args.items()}
    unknown = set(args) - ROUTER_KEYS - ENGINE_KEYS - {"num_replicas", "autoscaling", "max_ongoing_requests",
                                                       "engine_actor_options"}
    if unknown:
        raise ValueError(f"unknown arguments of pagoda_ray.app:build: {', '.join(sorted(unknown))}")
    router = {key: args[key] for key in ROUTER_KEYS if key in args}
    router["expect_version"] = args.get("expect_version", VERSION)
    options = {
        "max_ongoing_requests": args.get("max_ongoing_requests", 256),
        "ray_actor_options": args.get("engine_actor_options", {"num_cpus": 1}),
        "health_check_period_s": 2,
        "health_check_timeout_s": 10,
        "graceful_shutdown_timeout_s": args.get("drain_seconds", 30) + 15,
        "request_router_config": RequestRouterConfig(request_router_class=PrefixRouter, request_router_kwargs=router),
    }
    if "autoscaling" in args:
        scaling = {"policy": {"policy_function": "pagoda_ray.scaling:by_queue_length"}, "target_ongoing_requests": 8}
        options["autoscaling_config"] = {**scaling, **args["autoscaling"]}
    else:
        options["num_replicas"] = args.get("num_replicas", 1)
    engine = Engine.options(**options).bind(**{key: args[key] for key in ENGINE_KEYS if key in args})
    # The front end reserves no CPU: with one per engine, as many engines as cores would leave none for it.
    return Front.options(max_ongoing_requests=10000, ray_actor_options={"num_cpus": 0}).bind(engine)
