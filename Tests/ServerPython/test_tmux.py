"""`pagoda` in tmux, a real terminal: what people see when contexts are full, prompts long, windows narrow, and networks away."""
import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_model import write_scripted_model
from served import MODEL, wait_for
from tmux import Tmux


def test_a_first_chat_and_its_history_on_another_day(tmp_path):
    with Tmux(tmp_path, "chat", columns=60, rows=40) as chat:
        chat.wait_for_prompt()
        assert "MB demo" in chat.text() and "loading" not in chat.text()
        chat.say("What is the capital of Peru?")
        assert "Lima" in chat.text() and "tokens/s" in chat.text()
        chat.say("/set temperature warm")
        assert "temperature is 'warm'; it must be a number" in chat.words()
        chat.say("/set")
        assert "temperature = " in chat.text()
        chat.say("/help")
        chat.type("half a line")
        chat.key("C-c")
        chat.wait_for_text("Cleared. Ctrl-D or /bye leaves.")
        assert all(len(line) <= 60 for line in chat.text().split("\n"))
        chat.key("C-d")
        assert chat.wait_for_end() == 0
    with Tmux(tmp_path, "chat") as chat:
        chat.wait_for_prompt()
        chat.key("C-r")
        chat.type("Peru")
        chat.wait_for_text("(search 'Peru') What is the capital of Peru?")
        chat.key("Enter")
        chat.wait_for_text("Lima")


def test_words_are_not_broken_at_any_width_nor_after_a_change_of_it(tmp_path):
    with Tmux(tmp_path, "chat", columns=100, rows=50) as chat:
        chat.wait_for_prompt()
        chat.resize(44, 50)
        chat.say("What is continuous batching?")
        lines = chat.text().split("\n")
        answer = lines[max(i for i, line in enumerate(lines) if line.startswith("> What")) + 1:]
        assert max(map(len, answer)) <= 44 and len([line for line in answer if len(line) > 30]) > 1, chat.text()
        assert all(line == line.strip() for line in answer), "no word was broken by the terminal"


def test_the_banner_is_shown_again_as_at_the_start(tmp_path):
    with Tmux(tmp_path, "chat", columns=44, rows=60) as chat:
        chat.wait_for_prompt()
        banner = chat.text().split("\n\n>")[0]
        chat.say("/model")
        assert chat.text().split("> /model\n")[1].split("\n\n>")[0] == banner, chat.text()


def test_a_full_context_loses_its_oldest_turns_with_a_notice(tmp_path):
    with Tmux(tmp_path, "chat", "-c", "128", "-n", "24", "--temperature", "0", rows=60) as chat:
        chat.wait_for_prompt()
        for number in range(1, 9):
            chat.say(f"What is {number} plus {number}?")
        assert re.search(r"the oldest \d+ messages are no longer", chat.words()), chat.text()
        assert "8 + 8 = 16" in chat.text() and "error" not in chat.text()
        chat.say("/tokens")
        assert re.search(r"^[1-9]\d* of 128 tokens", chat.text(), re.MULTILINE)


def test_a_long_prompt_shows_its_progress_and_can_be_stopped(tmp_path):
    (tmp_path / "long.txt").write_text("\n".join(f"Line {i}: the quick brown fox jumps over the lazy dog." for i in range(300)))
    with Tmux(tmp_path, "chat", "--max-num-batched-tokens", "8", "-n", "4") as chat:  # seconds on any machine
        chat.wait_for_prompt()
        chat.say(f"/read {tmp_path / 'long.txt'}")
        chat.type("Hello!")
        chat.key("Enter")
        chat.wait_for_match(r"reading \d+ %, \d+ (s|min) left")
        chat.key("C-c")
        chat.wait_for_text("[stopped; /retry sends the message again]")
        chat.wait_for_prompt()
        assert "reading" not in chat.text() and "^C" not in chat.text()
        chat.say("/retry")
        assert "first after" in chat.text() and "reading" not in chat.text()


def test_a_load_shows_how_far_it_is(tmp_path):
    with Tmux(tmp_path, "embed", "Hi", "--shape", "qwen3.5-0.8b", "--max-model-len", "256", "--threads", "1", columns=60) as pagoda:
        text = pagoda.wait_for_match(r"loading qwen3\.5-0\.8b .*\d+ % [\d.]+ [KMG]iB of [\d.]+ GiB")
        assert len(text.split("\n")) == 1, "one line, drawn again and again"


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_thinking_is_wrapped_at_words(tmp_path, command):
    question = "What is 12 plus 30?"
    with Tmux(tmp_path, command, "--think", *([question] if command == "ask" else []), columns=24, rows=60) as pagoda:
        if command == "ask":
            assert pagoda.wait_for_end() == 0
        else:
            pagoda.wait_for_prompt()
            pagoda.say(question)
        assert "Tens: 1 + 3 = 4. Together: 42." in pagoda.words(), pagoda.text()
        assert not pagoda.broken_lines(24), pagoda.text()


def test_markdown_is_shown_with_styles(tmp_path):
    answer = ["# A list\n", "- **bold**", " and `code`", " and *more of it", " here*\n", "\n| A ", "| B |\n", "|---|", "---:|\n", "| one ", "| 2 |\n"]
    model = write_scripted_model(tmp_path / "model", answer)
    with Tmux(tmp_path, "generate", "--model", model, "--temperature", "0", "-p", "Which?", columns=30) as pagoda:
        assert pagoda.wait_for_end() == 0
        assert pagoda.text().split("\n")[:6] == ["A list", "• bold and code and more of it", "  here", "", " A   │   B", "─────┼─────"]
        styled = pagoda.text("-e")
        assert "\x1b[1mbold" in styled and "\x1b[3mmore of it" in styled and re.search(r"\x1b\[36mcode", styled), styled


def test_questions_and_slips_on_the_command_line(tmp_path):
    for arguments, text, status in [(["ask", "What is 12 plus 30?"], "42", 0), (["run", "mini", "What is 12 plus 30?"], "42", 0),
                                    (["run", "mini", "-n", "3", "-c", "128", "-t", "1", "Count to 12."], "cut after 3 tokens; --max-tokens is the limit", 0),
                                    (["ask", "-c", "64", "--ignore-eos", "Hi"], "tokens; the context is full (--max-model-len)", 0),
                                    (["chat", "mini", "-c", "99999"], "max-model-len", 1), (["chat", "mnii"], "did you mean mini?", 1),
                                    (["chat", "no-such-model"], "`pagoda list` shows the models that are here", 1),
                                    (["chta"], "did you mean 'chat'?", 64), (["ask", "--tmep", "0", "Hi"], "did you mean --temperature?", 64),
                                    (["serve", "--host", "0.0.0.0"], "--api-key", 64)]:
        with Tmux(tmp_path, *arguments, columns=60) as pagoda:
            assert pagoda.wait_for_end() == status
            assert text in pagoda.words()


@pytest.mark.parametrize("columns", [40, 120])
def test_errors_name_their_source_and_cuts_are_announced(tmp_path, columns):
    file = tmp_path / ".config/pagoda/config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "max-tokens": 4,\n  "temperature": "warm"\n}\n')
    for arguments, environment, text, status in [
            (["ask", "Hi"], {}, "config.json line 3 is 'warm'; it must be a number", 64),
            (["ask", "Hi"], {"PAGODA_TEMPERATURE": "hot"}, "PAGODA_TEMPERATURE is 'hot'; it must be a number", 64),
            (["ask", "Hi", "--temperature", "cold"], {}, "--temperature is 'cold'; it must be a number", 64),
            (["config", "set", "temperature", "tepid"], {}, "temperature is 'tepid'; it must be a number", 64),
            (["ask", "Count from 3 to 12.", "--temperature", "0"], {}, "the answer was cut after 4 tokens; --max-tokens is the limit", 0)]:
        with Tmux(tmp_path, *arguments, columns=columns, **environment) as pagoda:
            assert pagoda.wait_for_end() == status, pagoda.text()
            assert text in pagoda.words(), pagoda.text()
            assert not pagoda.broken_lines(columns), pagoda.text()


@pytest.mark.parametrize("columns", [40, 120])
def test_configuration_that_has_no_effect_is_named(tmp_path, columns):
    folder = tmp_path / ".config/pagoda"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[serve]\nport = 9000\n')
    (folder / "config.json").write_text('{\n  "max-tokens": 4,\n  "temprature": 1\n}\n')
    with Tmux(tmp_path, "ask", "Count from 3 to 12.", columns=columns) as pagoda:
        assert pagoda.wait_for_end() == 0
        text = pagoda.words()
        assert "config.toml is not read; defaults of options come from" in text and "`pagoda help config`" in text, text
        assert "config.json line 3 is not an option; did you mean temperature?" in text and "cut after 4 tokens" in text, text
        assert not pagoda.broken_lines(columns), pagoda.text()


def test_a_hub_that_is_away_is_named_at_once(tmp_path):
    with Tmux(tmp_path, "chat", "qwen3.5:0.8b", HF_ENDPOINT="http://127.0.0.1:9") as chat:
        assert chat.wait_for_end() == 1
        text = chat.words()
        assert "127.0.0.1 cannot be reached" in text and "is kept" not in text and "pagoda list" in text


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_lists_plans_and_measurements_fit_the_window(tmp_path, columns):
    quick = ["--tests", "tg8", "--repetitions", "1"]
    for arguments, text in [([], "needs no download"), (["help", "chat"], "/retry"), (["list"], "mini"), (["info"], "Memory plan"),
                            (["bench", *quick], "tg8"), (["bench", *quick, "--profile"], "matmul"), (["bench", *quick, "--count"], "tg8"), (["bench", *quick, "--predict", "m4"], "Predicted"),
                            (["bench", "spec", "--tokens", "2", "--rounds", "1"], "speed-up"), (["man", tmp_path / "man"], "pages are in"),
                            (["quantize", "mini", tmp_path / "quantised"], "matrices, all at 4 bits"), (["ps"], "pagoda serve starts one"),
                            (["config"], "not there yet")]:
        with Tmux(tmp_path, *arguments, columns=columns, rows=100) as pagoda:
            assert pagoda.wait_for_end() == 0
            assert text in pagoda.words()
            assert not pagoda.broken_lines(columns), (arguments, pagoda.text())


def busy_ticks():
    """What the processors have done; not all systems say."""
    rows = [line.split() for line in Path("/proc/stat").read_text().split("\n") if re.match(r"cpu\d", line)]
    return sum(int(number) for row in rows for number in row[1:4])


@contextlib.contextmanager
def busy_machine():
    """A load beside the program; yields whether the system shows it."""
    before = busy_ticks()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        wait_for(lambda: sum(loop_seconds(loop.pid) for loop in loops) > 1, "load")
        yield busy_ticks() > before and "Cpus_allowed_list" in Path("/proc/self/status").read_text()
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def loop_seconds(process):
    """Processor time of a process."""
    words = Path(f"/proc/{process}/stat").read_text().split(") ")[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_busy_machine_is_named(tmp_path):
    """Also where no share is above 100 per cent: the load makes the limits look lower and the speed too."""
    with busy_machine() as is_shown:
        with Tmux(tmp_path, "bench", "--tests", "tg8", "--repetitions", "1", columns=80, rows=100) as bench:
            assert bench.wait_for_end() == 0
            text = bench.words()
            line = r"tg8: machine busy: other programs used [\d.]+ of \d+ processors? while the limits were measured"
            assert bool(re.search(line, text)) == is_shown and ("measure again on an idle machine" in text) == is_shown, text
        with Tmux(tmp_path, "chat", "-n", "500", "--ignore-eos", columns=80, rows=100) as chat:
            chat.wait_for_prompt()
            chat.say("Write a story.")
            text = chat.words()
            assert bool(re.search(r"machine busy: other programs used [\d.]+ of \d+ processor", text)) == is_shown, text


@pytest.mark.parametrize("columns", [40, 80])
def test_measurements_of_a_server_fit_the_window(tmp_path, columns, server):
    at = ["--base-url", server.url, "--model", MODEL]
    for arguments, text in [(["bench", "agents", *at, "--agents", "1", "--turns", "1", "--output-len", "4"], "TTFT"),
                            (["bench", "serve", *at, "--num-prompts", "1"], "Mean TTFT (ms):"), (["top", server.url, "--count", "1"], "KV cache")]:
        with Tmux(tmp_path, *arguments, columns=columns, rows=100) as pagoda:
            assert pagoda.wait_for_end() == 0, pagoda.text()
            assert text in pagoda.words()
            assert not pagoda.broken_lines(columns), (arguments, pagoda.text())
