"""Replicas of `pagoda serve` on loopback, and the helpers shared by the tests of all routers."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PAGODA", ROOT / ".build/debug/pagoda")).resolve()
MODEL = "pagoda-mini"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return {}


def read_json(url, timeout=10):
    """Status and body of a GET; status 0 if there is no server."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return response.status, parsed(response.read())
    except urllib.error.HTTPError as error:
        return error.code, parsed(error.read())
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return 0, {}


def wait_until(condition, seconds=60, what="the condition"):
    """Polls until a condition holds; returns how long it took."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if condition():
            return time.monotonic() - begin
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come about in {seconds} s")


class Replica:
    """One `pagoda serve`, with a name that its responses contain; can be stopped and restarted on its port."""

    def __init__(self, name, *options):
        self.name = name
        self.options = options
        self.port = 0
        self.start()

    def start(self):
        command = [PROGRAM, "serve", "--port", str(self.port), "--replica-name", self.name, "--threads", "1", *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        match = re.search(r"http://[^ ]+:(\d+)/", line)
        assert match, f"no address in {line!r}"
        self.port = int(match.group(1))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def running(self):
        status, health = read_json(self.url + "/health")
        return health.get("running", 0) + health.get("waiting", 0) if status else 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def drain(self):
        """Stops it as an upgrade does; returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=90)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()


class Daemon:
    """A router in its own process; its output is kept for failures."""

    def __init__(self, command, environment, health_url, seconds=60):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, **environment})
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self.reader.start()

        def is_up():
            assert self.process.poll() is None, "the router ended: " + "".join(self.lines[-20:])
            return read_json(health_url)[0] == 200
        wait_until(is_up, seconds, "the router")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
