"""A real terminal for tests: `pagoda` in a window of tmux, whose text can be read at any time."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROGRAM = Path(os.environ.get("PAGODA", Path(__file__).resolve().parents[2] / ".build/debug/pagoda")).absolute()
PATIENCE = 300  # seconds until a program counts as stuck: far more than a busy machine needs
CONFIGURATION = """\
set -g default-shell /bin/sh
set -g default-terminal tmux-256color
set -g history-limit 5000
"""


class Tmux:
    """A tmux server with one window that runs `pagoda`, with settings and files of its own."""

    def __init__(self, folder, *arguments, columns=80, rows=24, **environment):
        if not shutil.which("tmux"):
            pytest.fail("tmux is not installed; Tools/setup.sh --dev installs it")
        (folder / "tmux.conf").write_text(CONFIGURATION)
        # Nothing of the caller's, whose NO_COLOR or XDG_STATE_HOME would change what is tested.
        variables = {"PATH": os.environ["PATH"], "TERM": "tmux-256color", "HOME": str(folder), "LANG": "C.UTF-8",
                     "HF_HUB_CACHE": str(folder / "models"), **environment}
        command = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in variables.items()), str(PROGRAM), *map(str, arguments)])
        # The status is written behind the last output, as the window's title: a window whose command has ended loses what tmux
        # has not read of it yet.
        command += r"; printf '\033]2;ended %d\007' $?; exec sleep 86400"
        # Short, as names of sockets must be, and not that of a server that is just ending.
        self.sockets = tempfile.TemporaryDirectory(prefix="tmux")
        self.socket = self.sockets.name + "/s"
        self.tmux("-f", folder / "tmux.conf", "new-session", "-d", "-x", columns, "-y", rows, command)

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def text(self, *options):
        """The whole text with what has scrolled away; `-e` keeps the styles."""
        return self.tmux("capture-pane", "-p", "-S", "-", *options).rstrip()

    def words(self):
        """The whole text as one line, also where the terminal had to break a path."""
        return " ".join(self.text("-J").split())

    def wait_for(self, condition, what):
        """Waits until the condition is true, and returns its value."""
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            assert time.monotonic() < end, f"no {what} in:\n{self.text()}"
            time.sleep(0.05)  # between two looks at the screen
        return value

    def wait_for_match(self, pattern):
        """Waits until the text has the pattern, and returns that text: the next look may see another one."""
        return self.wait_for(lambda: (match := re.search(pattern, self.text())) and match.string, repr(pattern))

    def wait_for_text(self, text):
        self.wait_for(lambda: text in self.text(), repr(text))

    def wait_for_prompt(self, count=1):
        """The prompt is the last line, and at least `count` lines are prompts, those with typed text included."""
        def is_there():
            lines = self.text().split("\n")
            return lines[-1] == ">" and sum(line.startswith(">") for line in lines) >= count
        self.wait_for(is_there, "prompt")

    def status(self):
        """The program's exit status, of which tmux has read all output then; None while it runs."""
        ended = re.fullmatch(r"ended (\d+)", self.tmux("display", "-p", "#{pane_title}").strip())
        return int(ended[1]) if ended else None

    def wait_for_end(self):
        self.wait_for(lambda: self.status() is not None, "end")
        return self.status()

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def resize(self, columns, rows):
        """Returns when the program's terminal has the new size, which tmux sets some time after the window's."""
        self.tmux("resize-window", "-x", columns, "-y", rows)
        terminal = self.tmux("display", "-p", "#{pane_tty}").strip()

        def size():
            with open(terminal) as file:
                return os.get_terminal_size(file.fileno())
        self.wait_for(lambda: size() == (columns, rows), "new size")

    def say(self, line):
        """Types a line, and waits for the prompt after its answer."""
        count = sum(line.startswith(">") for line in self.text().split("\n"))
        self.type(line)
        self.key("Enter")
        self.wait_for_prompt(count + 1)

    def broken_lines(self, columns):
        """Lines that the terminal had to break: -J joins their parts, which are longer than the window. A path may be longer."""
        return [line for line in self.text("-J").split("\n") if len(line) > columns and " " in line.strip()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, timeout=60)
        self.sockets.cleanup()
