"""Two replicas for all tests of a class, and a router in front of them."""
import shutil
import sys

import pytest
from replicas import ROOT, Daemon, Replica, free_port, read_json

sys.path.insert(0, str(ROOT / "Deploy/ray"))


KEY = "cluster-key"
ACCESS_LOG = "ACCESS_LOG"  # in a class's options: the path of its access log


@pytest.fixture(scope="class")
def access_log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "access.log"


@pytest.fixture(scope="class")
def replica_options(request, access_log):
    """Options of the replicas; a class sets its own as `replica_options`."""
    given = getattr(request.cls, "replica_options", ())
    return tuple(str(access_log) if option == ACCESS_LOG else option for option in given)


@pytest.fixture(scope="class")
def router_options(request):
    """Options of sglang-router, and variables of HAProxy's configuration as NAME=VALUE."""
    return getattr(request.cls, "router_options", ())


@pytest.fixture(scope="class")
def replicas(replica_options):
    pair = [Replica("replica-1", *replica_options), Replica("replica-2", *replica_options)]
    yield pair
    for replica in pair:
        replica.stop()


@pytest.fixture(scope="class")
def sglang_router(replicas, router_options):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    # Alone, the status is 200 as soon as the router has found one of the replicas.
    router = Daemon([str(ROOT / "Deploy/sglang-router/start.sh"), str(port), *(r.url for r in replicas), "--",
                     *router_options],
                    {"PYTHON": sys.executable, "PROMETHEUS_PORT": str(free_port())},
                    lambda: read_json(url + "/readiness")[1].get("healthy_workers") == len(replicas))
    router.url = url
    yield router
    router.stop()


@pytest.fixture(scope="class")
def haproxy(replicas, router_options, tmp_path_factory):
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    folder = tmp_path_factory.mktemp("haproxy")
    statistics = folder / "stats.cfg"
    # One thread: it changes all its counts of a request before it shows any of them.
    statistics.write_text(f"global\n  nbthread 1\n  stats socket {folder}/stats mode 600\n")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    addresses = {f"REPLICA{i + 1}": f"127.0.0.1:{r.port}" for i, r in enumerate(replicas)}
    router = Daemon([program, "-db", "-f", str(ROOT / "Deploy/haproxy/haproxy.cfg"), "-f", str(statistics)],
                    {"LISTEN": f"127.0.0.1:{port}", **addresses,
                     **dict(option.split("=") for option in router_options)}, lambda: read_json(url + "/health")[0] == 200)
    router.url = url
    router.statistics = f"{folder}/stats"
    yield router
    router.stop()
