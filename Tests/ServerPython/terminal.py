"""A terminal for tests: a program behind a pseudo-terminal, and the screen that it draws."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pyte

from conftest import PROGRAM
from tmux import PATIENCE


def run(*arguments, text="", **environment):
    variables = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment}
    return subprocess.run([str(PROGRAM), *arguments], input=text, capture_output=True, text=True, env=variables, timeout=300)


def messages(tmp_path, chat):
    """The chat's memory, read from a saved file."""
    file = tmp_path / "saved.json"
    chat.type(f"/save {file}\r")
    chat.wait_for_text("messages are in")
    return [message["content"] for message in json.loads(file.read_text())["messages"] if message["role"] == "user"]


class Terminal:
    """Runs `pagoda` with a terminal of the given columns and rows."""

    def __init__(self, *arguments, columns=80, rows=24, **environment):
        controller, device = pty.openpty()
        fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm-256color", "LANG": "C.UTF-8",
                     "PAGODA_STATE_DIR": "/dev/null"}  # no folder even for root: tests must not share a history
        variables |= environment
        self.process = subprocess.Popen([str(PROGRAM), *arguments], stdin=device, stdout=device, stderr=device,
                                        env=variables, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(device)
        self.file = controller
        self.screen = pyte.HistoryScreen(columns, rows, history=5000)
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""

    def read(self, seconds):
        """Reads the output that arrives within that time; False at the end of the program."""
        if not select.select([self.file], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.file, 65536)
        except OSError:
            return False
        self.output += data
        self.stream.feed(data)
        return bool(data)

    def lines(self):
        """The whole text, including scrolled lines, without trailing spaces."""
        old = ["".join(line[x].data for x in range(self.screen.columns)) for line in self.screen.history.top]
        return [line.rstrip() for line in old + list(self.screen.display)]

    def text(self):
        return "\n".join(self.lines())

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            alive = self.read(0.2)
            assert time.monotonic() < end and (alive or condition()), f"no {what} in:\n{self.text()}"

    def wait_for_text(self, text):
        self.wait_for(lambda: text in self.text(), repr(text))

    def wait_for_output(self, text):
        """For text that may be overwritten before the screen is looked at."""
        self.wait_for(lambda: text in self.output, repr(text))

    def send_and_wait_for(self, line, text):
        """Types a line and waits until `text` has come after it: only then do keys reach the answer, not the line."""
        before = len(self.output)
        self.type(line + "\r")
        self.wait_for(lambda: text in self.output[before:].split(b"\x1b[?2004l")[-1] and b"\x1b[?2004l" in self.output[before:], repr(text))

    def wait_for_prompt(self, count=1):
        """The prompt is the last line with text, for the count-th time."""
        self.wait_for(lambda: self.output.count(b"\x1b[?2004h") >= count and self.lines_with_text()[-1:] == [">"], "prompt")

    def lines_with_text(self):
        return [line for line in self.lines() if line]

    def type(self, text):
        os.write(self.file, text if isinstance(text, bytes) else text.encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.file)

    def wait_for_end(self):
        end = time.monotonic() + PATIENCE
        while self.read(0.2):
            assert time.monotonic() < end, self.text()
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
