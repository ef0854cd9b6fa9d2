"""Starts one `pagoda serve` with the embedded model for all tests, and hands out clients of it."""
import json
import os
import re
import subprocess
import time
from pathlib import Path

import anthropic
import openai
import pytest
import requests

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PAGODA", ROOT / ".build/debug/pagoda"))
MODEL = "pagoda-mini"


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
        return self.process.wait(timeout=60)

    def statistic(self, name):
        text = requests.get(self.url + "/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))

    def wait_until_idle(self):
        for _ in range(500):
            if requests.get(self.url + "/health").json() == {"status": "ok", "running": 0, "waiting": 0}:
                return
            time.sleep(0.02)
        raise AssertionError("the server did not become idle")


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    assert running.stop() == 0, "the server must end well on SIGTERM"


@pytest.fixture(scope="session")
def openai_client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=60)


@pytest.fixture(scope="session")
def anthropic_client(server):
    return anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=60)


def user(text):
    return [{"role": "user", "content": text}]


def is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False
