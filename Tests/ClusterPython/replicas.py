"""Replicas of `pagoda serve` on loopback, and the helpers shared by the tests of all routers."""
import http.client
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PAGODA", ROOT / ".build/debug/pagoda")).resolve()
MODEL = "pagoda-mini"
# Ports that the system gives to no connection and Ray to no worker; each is used once. A server can therefore be restarted on
# its port, and no other program takes a port between free_port() and its use.
PORTS = iter(random.SystemRandom().sample(range(20000, 32000), 12000))


def free_port():
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("no port is free")


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return {}


def read_json(url, timeout=60):
    """Status and body of a GET; status 0 if there is no server, or it ended before its answer did."""
    try:
        try:
            with urllib.request.urlopen(url, timeout=timeout) as response:
                return response.status, parsed(response.read())
        except urllib.error.HTTPError as error:
            return error.code, parsed(error.read())
    except (OSError, http.client.HTTPException):
        return 0, {}


def wait_until(condition, what, seconds=300):
    """Polls until a condition holds; returns how long it took."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if condition():
            return time.monotonic() - begin
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come about in {seconds} s")


def prefix_files(folder):
    """The prefix files in a folder by name: how many tokens each one leads to."""
    return {path.name: struct.unpack_from("=Q", path.read_bytes(), 32)[0] for path in folder.glob("*.pagoda-prefix")}


class Replica:
    """One `pagoda serve`, with a name that its responses contain; can be stopped and restarted on its port."""

    def __init__(self, name, *options):
        self.name = name
        self.options = options
        self.port = free_port()
        self.start()

    def start(self):
        command = [PROGRAM, "serve", "--port", str(self.port), "--replica-name", self.name, "--threads", "1", *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        match = re.search(r"http://[^ ]+:(\d+)/", line)
        assert match and int(match.group(1)) == self.port, f"another address in {line!r}"

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
        return self.process.wait(timeout=300)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()


class Daemon:
    """A router in its own process; its output is kept for failures."""

    def __init__(self, command, environment, is_ready):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, **environment})
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self.reader.start()

        def is_up():
            assert self.process.poll() is None, "the router ended: " + "".join(self.lines[-20:])
            return is_ready()
        wait_until(is_up, "the router")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
