"""One model in two processes: the same answers as in one, over TCP and MPI; a killed stage is reported and recovers."""
import json
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from replicas import MODEL, PROGRAM, Replica, free_port, read_json, wait_until
from test_tracing import Collector, spans_of
from test_tracing import ask as ask_traced

TEXTS = ["Once upon a time", "The capital of France is", "1 2 3 4 5 6"]
SILENCE = ["--pipeline-timeout", "600"]  # even on a busy machine, only a stage that is really gone counts as lost


class Stage:
    """One `pagoda stage`; can be killed and restarted at its address."""

    def __init__(self):
        self.port = free_port()
        self.start()

    def start(self):
        command = [PROGRAM, "stage", "--listen", f"127.0.0.1:{self.port}", "--threads", "1", *SILENCE]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        match = re.search(r"at port (\d+)", line)
        assert match and int(match.group(1)) == self.port, f"another port in {line!r}"
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def kill(self):
        self.process.kill()
        self.process.wait()


def complete(url, prompt, tokens=24, **fields):
    body = {"model": MODEL, "prompt": prompt, "max_tokens": tokens, "temperature": 0.8, "seed": 7, "logprobs": 2, **fields}
    request = urllib.request.Request(url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.loads(response.read())["choices"][0]


def answers(url):
    """Concurrent requests."""
    found = [None] * len(TEXTS)

    def ask(index):
        found[index] = complete(url, TEXTS[index])
    threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(TEXTS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.fixture(scope="module")
def expected():
    replica = Replica("alone")
    yield answers(replica.url)
    replica.stop()


def test_a_trace_ends_at_the_first_machine():
    """Stages get rows of many requests and no HTTP: the phases in the server's spans include them."""
    trace, stage, collector = "d" * 32, Stage(), Collector()
    server = Replica("first", "--pipeline-stages", f"127.0.0.1:{stage.port}", "--otlp-endpoint", collector.url, *SILENCE)
    try:
        ask_traced(server, {"traceparent": f"00-{trace}-{'1' * 16}-01"})
        wait_until(lambda: len(spans_of(collector, trace)) == 4, "the spans")
        names = sorted(span["name"] for span in collector.spans)
        assert names == ["POST /v1/chat/completions", "decode", "prefill", "queue"]
        assert {resource["service.instance.id"] for resource in collector.resources} == {"first"}
    finally:
        server.stop()
        stage.kill()
        collector.server.shutdown()


def test_a_lost_stage_is_named_and_the_service_comes_back(expected):
    stage = Stage()
    server = Replica("first", "--pipeline-stages", f"127.0.0.1:{stage.port}", *SILENCE)
    try:
        assert answers(server.url) == expected
        failures = []

        def ask():
            try:
                failures.append(complete(server.url, TEXTS[0], 4000, ignore_eos=True))
            except urllib.error.HTTPError as error:
                failures.append({"status": error.code, "retry": error.headers["Retry-After"], **json.loads(error.read())})
        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: server.running() > 0, "a running request")
        stage.kill()
        killed = time.monotonic()
        asking.join()
        assert f"127.0.0.1:{stage.port}" in failures[0]["error"]["message"], failures
        assert failures[0]["status"] == 503 and failures[0]["retry"], "another replica, or this one later, can answer"
        status, health = read_json(server.url + "/health")
        print(f"reported after {time.monotonic() - killed:.2f} s")
        assert status == 503, health
        assert read_json(server.url + "/readyz")[0] == 503 and read_json(server.url + "/livez")[0] == 200, \
            "a restart of the server would not bring the stage back"
        with pytest.raises(urllib.error.HTTPError):
            complete(server.url, TEXTS[0])
        stage.start()
        wait_until(lambda: read_json(server.url + "/health")[0] == 200, "the service")
        assert answers(server.url) == expected
    finally:
        server.stop()
        stage.kill()


@pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")
def test_ranks_of_mpirun_give_the_same_answers(expected):
    port = free_port()
    command = ["mpirun", "-np", "2", "--oversubscribe", "--allow-run-as-root", str(PROGRAM), "serve", "--pipeline", *SILENCE,
               "--port", str(port), "--threads", "1"]
    ranks = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = []
    threading.Thread(target=lambda: lines.extend(ranks.stderr), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{port}"

        def is_up():
            assert ranks.poll() is None, "mpirun ended: " + "".join(lines[-20:])
            return read_json(url + "/health")[0] == 200
        wait_until(is_up, "the server")
        assert answers(url) == expected
        ranks.terminate()
        ranks.wait(timeout=300)
    finally:
        if ranks.poll() is None:
            ranks.kill()
