"""Two replicas for all tests of a class, and a router in front of them."""
import shutil
import sys

import pytest
from replicas import ROOT, Daemon, Replica, free_port

sys.path.insert(0, str(ROOT / "Deploy/ray"))


@pytest.fixture(scope="class")
def replicas():
    pair = [Replica("replica-1"), Replica("replica-2")]
    yield pair
    for replica in pair:
        replica.stop()


@pytest.fixture(scope="class")
def sglang_router(replicas):
    port = free_port()
    router = Daemon([str(ROOT / "Deploy/sglang-router/start.sh"), str(port), *(r.url for r in replicas)],
                    {"PYTHON": sys.executable, "PROMETHEUS_PORT": str(free_port())}, f"http://127.0.0.1:{port}/readiness")
    router.url = f"http://127.0.0.1:{port}"
    yield router
    router.stop()


@pytest.fixture(scope="class")
def haproxy(replicas, tmp_path_factory):
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    folder = tmp_path_factory.mktemp("haproxy")
    statistics = folder / "stats.cfg"
    statistics.write_text(f"global\n  stats socket {folder}/stats mode 600\n")
    port = free_port()
    addresses = {f"REPLICA{i + 1}": f"127.0.0.1:{r.port}" for i, r in enumerate(replicas)}
    router = Daemon([program, "-db", "-f", str(ROOT / "Deploy/haproxy/haproxy.cfg"), "-f", str(statistics)],
                    {"LISTEN": f"127.0.0.1:{port}", **addresses}, f"http://127.0.0.1:{port}/health")
    router.url = f"http://127.0.0.1:{port}"
    router.statistics = f"{folder}/stats"
    yield router
    router.stop()
