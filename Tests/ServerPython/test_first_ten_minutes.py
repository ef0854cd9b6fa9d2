"""A newcomer's first ten minutes, in a home folder that Pagoda has never seen: help, a question, a chat with its accidents, a pipe,
defaults, a server, and what is left on the disk afterwards."""
import json
import subprocess
import urllib.request

import pytest
from conftest import PROGRAM, user
from terminal import Terminal


@pytest.fixture
def home(tmp_path):
    (tmp_path / "run").mkdir()
    return {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run"), "LANG": "C.UTF-8",
            "HF_ENDPOINT": "http://127.0.0.1:9"}


def pagoda(home, *arguments, text=""):
    return subprocess.run([str(PROGRAM), *arguments], input=text, capture_output=True, text=True, env=home, timeout=300)


def at_terminal(home, *arguments, **size):
    return Terminal(*arguments, **size, **home | {"PAGODA_STATE_DIR": ""})


def say(chat, line):
    count = chat.output.count(b"\x1b[?2004h")
    chat.type(line + "\r")
    chat.wait_for_prompt(count + 1)


def look_around(home):
    overview = pagoda(home).stdout
    assert all(word in overview for word in ["chat", "serve", "pagoda ask"])
    asked = pagoda(home, "ask", "What is the capital of France?")
    assert "Paris" in asked.stdout and asked.stderr == "" and asked.returncode == 0
    assert "did you mean 'chat'?" in pagoda(home, "chta").stderr
    assert "mini" in pagoda(home, "list").stdout
    assert "Memory plan" in pagoda(home, "info").stdout
    real = pagoda(home, "chat", "qwen3.5:0.8b")
    assert real.returncode == 1 and "pagoda pull Qwen/Qwen3.5-0.8B" in real.stderr


def chat(home, folder):
    note = folder / "note.txt"
    note.write_text("The meeting is at noon.\n" * 900)
    with at_terminal(home, "chat", "--max-num-batched-tokens", "8", columns=80) as session:
        session.wait_for_prompt()
        say(session, "What is 12 plus 30?")
        assert "42" in session.text()
        say(session, "/hlep")
        assert "did you mean /help?" in session.text()
        say(session, "/help")
        say(session, f"/read {note}")
        session.send_and_wait_for("When is the meeting?", b"reading")
        session.type("\x03")  # changes their mind
        session.wait_for_text("/retry sends the message again")
        say(session, "/undo")
        session.type("\x1b[A\x03")  # looks at an earlier line, clears it
        session.wait_for_text("Cleared.")
        say(session, "/tokens")
        say(session, f"/save {folder / 'chat.md'}")
        session.type("\x04")
        assert session.wait_for_end() == 0
    assert "42" in (folder / "chat.md").read_text()


def use_in_scripts(home):
    piped = pagoda(home, "ask", text="What is 12 plus 30?\n")
    assert "42" in piped.stdout and "\x1b" not in piped.stdout
    answer = json.loads(pagoda(home, "ask", "--json", "What is 12 plus 30?").stdout)
    assert "42" in answer["text"]
    cut = pagoda(home, "ask", "-n", "3", "Count from 3 to 12.")
    assert "--max-tokens is the limit" in cut.stderr
    refused = pagoda(home, "ask", "--tmep", "0", "Hi").stderr
    assert "did you mean --temperature?" in refused and "Try 'pagoda ask --help'" in refused
    assert pagoda(home, "config", "set", "temperature", "warm").returncode == 64
    assert pagoda(home, "config", "set", "max-tokens", "3").returncode == 0
    assert json.loads(pagoda(home, "ask", "--json", "Count from 3 to 12.").stdout)["usage"]["completion_tokens"] == 3
    assert pagoda(home, "config", "unset", "max-tokens").returncode == 0


def serve(home):
    server = subprocess.Popen([str(PROGRAM), "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=home)
    try:
        line = server.stdout.readline()
        url = line.split(" at ")[1].strip().rstrip("/")
        assert url in pagoda(home, "ps").stdout
        body = json.dumps({"messages": user("What is the capital of Japan?")}).encode()
        request = urllib.request.Request(url + "/v1/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            assert "Tokyo" in json.load(response)["choices"][0]["message"]["content"]
        with urllib.request.urlopen(url + "/", timeout=300) as page:
            assert b"<title>" in page.read()
        assert "requests" in pagoda(home, "top").stdout
        assert "has ended" in pagoda(home, "stop").stdout
        assert server.wait(timeout=120) == 0
    finally:
        server.kill()
        server.wait()


def test_the_first_ten_minutes(home, tmp_path):
    look_around(home)
    chat(home, tmp_path)
    use_in_scripts(home)
    serve(home)
    left = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert left == [".config/pagoda/config.json", ".local/state/pagoda/chat_history", "chat.md", "note.txt"], left
