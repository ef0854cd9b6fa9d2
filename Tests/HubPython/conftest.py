"""Starts a hub with the embedded model for each test, and runs `pagoda` against it with a separate cache."""
import hashlib
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hub_server import COMMIT, Hub

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/ServerPython"))  # tmux
PROGRAM = Path(os.environ.get("PAGODA", ROOT / ".build/debug/pagoda"))
MINI = ROOT / "Sources/MiniModel/files"
SHARD = "model-00001-of-00003.safetensors"
QUESTION = "What is the capital of France?"
PATIENCE = 300  # seconds until a program counts as stuck: far more than a busy machine needs


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.01)


class AtTerminal:
    """A program behind a pseudo-terminal."""

    def __init__(self, arguments, environment):
        self.file, device = pty.openpty()
        self.output = b""
        self.process = subprocess.Popen([PROGRAM, *arguments], env=environment | {"TERM": "xterm", "LANG": "C.UTF-8"}, stdin=device,
                                        stdout=device, stderr=device, start_new_session=True)
        os.close(device)

    def read(self):
        """Reads the available output; False at the end of the program."""
        if not select.select([self.file], [], [], 120)[0]:
            raise AssertionError(f"nothing came after {self.output!r}")
        try:
            data = os.read(self.file, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)

    def wait_for(self, text):
        """Waits until the output contains `text`, and returns the output."""
        end = time.monotonic() + PATIENCE  # a program that keeps drawing is never silent
        while text not in self.output:
            assert self.read() and time.monotonic() < end, f"no {text!r} in {self.output!r}"
        return self.output

    def wait_for_end(self):
        while self.read():
            pass
        return self.output

    def type(self, text):
        os.write(self.file, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.file)


class Harness:
    """A hub, a cache folder, and programs that use both."""

    def __init__(self, hub, folder):
        self.hub, self.folder, self.cache = hub, folder, folder / "hub"
        self.repository = self.cache / f"models--{hub.name.replace('/', '--')}"

    def environment(self, **changes):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        return kept | {"HF_HOME": str(self.folder), "HF_ENDPOINT": self.hub.url, "HF_HUB_DOWNLOAD_TIMEOUT": "60",
                       "no_proxy": "127.0.0.1,localhost"} | changes

    def start(self, *arguments, preexec=None, **environment):
        return subprocess.Popen([PROGRAM, *arguments], env=self.environment(**environment), text=True, preexec_fn=preexec,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def run(self, *arguments, preexec=None, **environment):
        process = self.start(*arguments, preexec=preexec, **environment)
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # no effect on one that has ended
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def at_terminal(self, *arguments):
        return AtTerminal(arguments, self.environment())

    def pull(self, *arguments, **environment):
        return self.run("pull", self.hub.name, *arguments, **environment)

    def pull_succeeds(self, *arguments, **environment):
        run = self.pull(*arguments, **environment)
        assert run.returncode == 0, run.stderr
        self.check_complete()
        return run

    def pull_fails(self, *words, arguments=(), **environment):
        """Runs a pull that must fail with an error that contains these words, and leave no corrupt cache."""
        run = self.pull(*arguments, **environment)
        assert run.returncode == 1, (run.stdout, run.stderr)
        assert "\npagoda: error: " in "\n" + run.stderr, run.stderr  # after what a download would take, if it comes so far
        for word in words:
            assert word in run.stderr, run.stderr
        self.check_hashes()
        return run

    def snapshot(self):
        return self.repository / "snapshots" / COMMIT

    def check_hashes(self):
        """Checks that every blob with a final name has the hash that is its name."""
        for blob in self.repository.glob("blobs/*"):
            if blob.suffix != ".incomplete":
                data = blob.read_bytes()
                git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                assert blob.name in (git, hashlib.sha256(data).hexdigest()), f"{blob} is not what its name says"
        for link in self.repository.glob("snapshots/*/**/*"):
            assert link.is_dir() or link.exists(), f"{link} leads nowhere"
        for ref in self.repository.glob("refs/*"):
            assert (self.repository / "snapshots" / ref.read_text()).is_dir()

    def check_complete(self):
        self.check_hashes()
        assert (self.repository / "refs/main").read_text() == COMMIT
        for path, file in self.hub.files.items():
            assert (self.snapshot() / path).read_bytes() == file.data, path
            assert os.readlink(self.snapshot() / path) == f"../../blobs/{file.etag}"
        assert not list(self.repository.glob("**/*.incomplete")) and not list(self.repository.glob("**/*.link"))


@pytest.fixture
def harness(tmp_path):
    hub = Hub(MINI)
    yield Harness(hub, tmp_path)
    hub.stop()


def listed(harness):
    return [model for model in json.loads(harness.run("list", "--json").stdout) if "revisions" in model]
