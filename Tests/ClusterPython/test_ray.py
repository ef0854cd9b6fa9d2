"""Two replicas on Ray Serve with pagoda_ray: routing by prefixes, streams, cancellation, failures, updates."""
import asyncio
import os
import signal
import uuid
from pathlib import Path

import behaviour
import kills
import pytest
from replicas import PROGRAM, ROOT, free_port, read_json, wait_until

ray = pytest.importorskip("ray")


def start_ray(tries=5):
    """Ray gives its processes 30 seconds to start, which is too little on a busy machine and cannot be changed."""
    for left in reversed(range(tries)):
        try:
            return ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False,
                            _node_ip_address="127.0.0.1", object_store_memory=100 << 20)
        except Exception as error:  # Ray has no type for it
            if left == 0 or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


class RayApplication:
    def __init__(self, log):
        self.log = log
        self.mark = uuid.uuid4().hex  # in the environment of all processes of this cluster
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(ROOT / "Deploy/ray"), os.environ.get("PYTHONPATH")]))
        # The timeouts are long: on a busy machine the proxy takes more than Ray's 5 seconds to start, and would be killed.
        os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled", PAGODA_TEST_RAY=self.mark,
                          RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S="300", RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S="300")
        from ray import serve
        self.serve = serve
        start_ray()
        port = free_port()
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        self.url = f"http://127.0.0.1:{port}"

    def deploy(self, *options, **changes):
        from pagoda_ray.app import build
        # The timeout of the router's queries is long: a busy replica must not be mistaken for one that does not answer.
        options = ["--threads", "1", "--access-log", str(self.log), "--trusted-proxies", "127.0.0.1", *options]
        arguments = {"program": str(PROGRAM), "arguments": options, "num_replicas": 2, "drain_seconds": 20,
                     "timeout_s": 20, "engine_actor_options": {"num_cpus": 0.1}, **changes}
        self.serve.run(build(arguments), name="pagoda", route_prefix="/")

    def engines(self):
        """Process ids of the servers that the deployment started, by replica name."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode().split("\0")
                if words[:2] == [str(PROGRAM), "serve"] and self.mark in path.with_name("environ").read_text():
                    found[words[words.index("--replica-name") + 1]] = int(path.parent.name)
            except OSError:
                continue  # it has ended in the meantime
        return found

    def replica_urls(self):
        handle = self.serve.get_deployment_handle("Engine", "pagoda")
        return {entry["url"] for entry in handle.broadcast("record_replica_metadata").results(timeout_s=300)}

    def running(self):
        return sum(read_json(url + "/health")[1].get("running", 0) for url in self.replica_urls())

    def stop(self):
        self.serve.shutdown()
        ray.shutdown()


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    app = RayApplication(tmp_path_factory.mktemp("log") / "access.log")
    app.deploy()
    yield app
    app.stop()
    wait_until(lambda: not app.engines(), "the end of the engines")


def test_conversations_stay_where_their_prefix_is(application):
    # Three at once: these prompts are short, so that three others on a replica cost more than its cached prefix saves.
    families = asyncio.run(behaviour.all_families(application.url, at_once=3))
    assert behaviour.second_turn_hits(families) >= 0.9 * behaviour.FAMILIES, families
    assert len({rows[-1][2] for rows in families}) == 2, "all families on one replica"


def test_streams_are_whole(application):
    behaviour.check_streams(application.url, next(iter(application.replica_urls())))


def test_a_client_that_leaves_ends_its_answer(application):
    urls = application.replica_urls()
    behaviour.check_cancel(application.url,
                           lambda: sum(read_json(url + "/health")[1].get("running", 0) for url in urls))


def test_the_replicas_log_the_clients(application):
    behaviour.check_client_address(application.url, application.log)


def test_an_update_of_all_replicas_loses_nothing(application):
    before = set(application.engines())
    behaviour.check_restart(application.url, lambda: application.deploy("--max-queue", "99"))
    wait_until(lambda: not before & set(application.engines()), "the end of the old replicas")
    assert len(application.engines()) == 2


def test_a_killed_replica_takes_only_its_own_streams(application):
    engines = application.engines()
    (victim, process), (stays, _) = engines.items()
    behaviour.check_kill(application.url, lambda: os.kill(process, signal.SIGKILL), lambda: stays,
                         last_event="replica_lost")
    wait_until(lambda: len(set(application.engines()) - {victim}) == 2, "another replica in its place")


def test_errors_come_through_as_they_are(application):
    async def run():
        async with behaviour.session() as client:
            async with client.post(application.url + "/v1/chat/completions", json={"messages": "x"}) as response:
                return response.status, await response.json()
    status, body = asyncio.run(run())
    assert status == 400 and body["error"]["param"] == "messages"
    assert read_json(application.url + "/v1/models")[1]["data"][0]["id"] == "pagoda-mini"


def fails_to_deploy(application, **changes):
    """Deploys one replica, which must fail; returns what Ray reports."""
    from pagoda_ray.app import build
    arguments = {"program": str(PROGRAM), "arguments": ["--threads", "1"], "num_replicas": 1,
                 "engine_actor_options": {"num_cpus": 0.1}, **changes}
    with pytest.raises(RuntimeError):
        application.serve.run(build(arguments), name="failing", route_prefix="/failing")
    text = str(application.serve.status().applications["failing"])
    application.serve.delete("failing")
    return text


def test_a_replica_of_another_version_is_refused_by_name(application):
    """The deployment fails, and reports the actual and the expected version."""
    text = fails_to_deploy(application, expect_version="9.9.9")
    assert "9.9.9" in text and "the deployment expects" in text, text


def test_a_server_that_ends_while_it_starts_is_noticed(application):
    """Not only after start_seconds: Ray would start no other one until then."""
    text = fails_to_deploy(application, arguments=["--no-such-option"])
    assert "ended with status 64 before it accepted requests" in text, text


def test_random_kills_lose_no_request_and_no_answer_is_wrong(application):
    """With keys: PAGODA_API_KEY is set on the nodes, and clients send it. A replica may be killed while it starts, too."""
    key = "ray-key"
    application.deploy(engine_actor_options={"num_cpus": 0.1, "runtime_env": {"env_vars": {"PAGODA_API_KEY": key}}})
    wait_until(lambda: len(application.engines()) == 2, "two replicas")
    assert read_json(application.url + "/v1/models")[0] == 401
    expected = asyncio.run(kills.expected_answers(application.url, key))
    kills.run(application.url, key, expected, kills.kill_process(application.engines))
