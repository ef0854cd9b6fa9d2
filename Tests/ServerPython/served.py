"""A `pagoda serve` on a free port, for the tests of the server and of its clients."""
import contextlib
import os
import random
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PAGODA", ROOT / ".build/debug/pagoda")).absolute()  # also for tests in other folders
MODEL = "pagoda-mini"
LONG = {"ignore_eos": True, "max_tokens": 8000, "speculate": False}  # several seconds on any machine


def wait_for(condition, what):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.02)


def free_port():
    """A port that no connection gets before the caller listens on it: those are from 32768 on."""
    while True:
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", random.randrange(20000, 32000)))
            return tried.getsockname()[1]


class Server:
    """A running `pagoda serve` on a free port."""

    def __init__(self, *options, environment=None):
        command = [str(PROGRAM), "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        match = re.search(r"http://[^ ]+/", line)
        assert match, f"no address in {line!r}: {self.process.stderr.read() if self.process.poll() else ''}"
        self.url = match.group().rstrip("/")

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=120)

    @contextlib.contextmanager
    def endless(self, count=1):
        """Answers that continue, and are read, until the context manager exits. For a moment between two there is none."""
        body = {**LONG, "messages": user("Hello!"), "stream": True}
        begun, ending = threading.Semaphore(0), threading.Event()

        def read():
            while not ending.is_set():
                with requests.post(self.url + "/v1/chat/completions", json=body, stream=True) as response:
                    for number, _ in enumerate(response.iter_lines()):
                        if number == 8:  # the first events have arrived, with words of the answer
                            begun.release()
                        if ending.is_set():
                            break

        readers = [threading.Thread(target=read) for _ in range(count)]
        for reader in readers:
            reader.start()
        try:
            assert all(begun.acquire(timeout=120) for _ in readers)
            yield
        finally:
            ending.set()
            for reader in readers:
                reader.join()
        self.wait_until_idle()

    def statistic(self, name):
        text = requests.get(self.url + "/metrics").text
        return float(re.search(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE).group(1))

    def wait_until_idle(self):
        idle = {"status": "ok", "running": 0, "waiting": 0}
        wait_for(lambda: requests.get(self.url + "/health").json() == idle, "idle server")


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    assert running.stop() == 0, "the server must end well on SIGTERM"


def user(text):
    return [{"role": "user", "content": text}]
