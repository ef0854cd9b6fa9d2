"""`pagoda chat` in a terminal: a full context, long prompts, stopped answers, and questions on the command line."""
import json
import re

import pytest
from served import ROOT
from terminal import Terminal, messages, run
from test_lora import write_adapter


def say(chat, line):
    """Types a line and waits for the next prompt."""
    count = chat.output.count(b"\x1b[?2004h")
    chat.type(line + "\r")
    chat.wait_for_prompt(count + 1)


@pytest.fixture
def long_file(tmp_path):
    file = tmp_path / "long.txt"
    file.write_text("\n".join(f"Line {i}: the quick brown fox jumps over the lazy dog." for i in range(300)))
    return file


def used_tokens(chat):
    say(chat, "/tokens")
    return [int(number) for number in re.findall(r"^(\d+) of \d+ tokens of context", chat.text(), re.MULTILINE)][-1]


def test_a_full_context_lets_the_oldest_turns_go(tmp_path):
    with Terminal("chat", "-c", "256", "-n", "24", "--temperature", "0", rows=100) as chat:
        chat.wait_for_prompt()
        for number in range(1, 16):
            say(chat, f"What is {number} plus {number}?")
        notices = re.findall(r"the oldest (\d+) messages", chat.text())
        assert notices and all(int(count) % 2 == 0 for count in notices), chat.text()
        assert len(notices) < 8, "each cut makes room for several turns"
        assert "error" not in chat.text() and "15 + 15 = 30" in chat.text()
        assert 0 < used_tokens(chat) <= 256
        assert len(messages(tmp_path, chat)) == 15, "the conversation keeps what the prompt leaves out"


def test_a_full_context_can_be_an_error_with_a_way_out():
    with Terminal("chat", "-c", "128", "-n", "24", "--context-policy", "stop", rows=100) as chat:
        chat.wait_for_prompt()
        for number in range(1, 9):
            say(chat, f"What is {number} plus {number}?")
        assert "/undo forgets the last turn, /reset the conversation" in " ".join(chat.text().split()), chat.text()
        assert used_tokens(chat) > 0
        say(chat, "/reset")
        say(chat, "/retry")
        assert "8 + 8 = 16" in chat.text()


def test_tokens_are_counted_after_a_load(tmp_path):
    with Terminal("chat", "-n", "8") as chat:
        chat.wait_for_prompt()
        say(chat, "/tokens")
        assert "0 of" in chat.text()
        say(chat, "Hello!")
        before = used_tokens(chat)
        say(chat, f"/save {tmp_path}/chat.json")
    with Terminal("chat", columns=200) as chat:
        chat.wait_for_prompt()
        say(chat, f"/load {tmp_path}/chat.json")
        assert used_tokens(chat) == before > 0


def test_a_long_prompt_shows_its_progress_and_leaves_no_trace_of_it(long_file):
    with Terminal("chat", "--max-num-batched-tokens", "8", "-n", "4") as chat:
        chat.wait_for_prompt()
        say(chat, f"/read {long_file}")
        chat.type("Hello!\r")
        chat.wait_for(lambda: re.search(rb"reading \d+ %, \d+ (s|min) left", chat.output), "progress")
        chat.wait_for_text("first after")
        assert "reading" not in chat.text()
    piped = run("chat", "--max-num-batched-tokens", "8", "-n", "4", text="Hello!\n")
    assert "reading" not in piped.stdout + piped.stderr


def test_a_message_stopped_before_its_answer_is_kept_for_retry(tmp_path, long_file):
    with Terminal("chat", "--max-num-batched-tokens", "8", "-n", "4", columns=100) as chat:
        chat.wait_for_prompt()
        say(chat, f"/read {long_file}")
        chat.send_and_wait_for("Hello!", b"reading")
        chat.type("\x03")
        chat.wait_for_text("[stopped; /retry sends the message again]")
        assert "^C" not in chat.text()
        chat.wait_for_prompt(3)
        say(chat, "/retry")
        assert "tokens" in chat.text()
        [sent] = messages(tmp_path, chat)
        assert sent.startswith("long.txt:") and "Line 299" in sent and sent.endswith("Hello!")


@pytest.mark.parametrize("again", ["/retry", "What is this?"])
def test_an_image_of_a_stopped_message_is_kept(tmp_path, long_file, again):
    file = tmp_path / "chat.json"
    with Terminal("chat", "--max-num-batched-tokens", "8", "-n", "4", columns=200) as chat:
        chat.wait_for_prompt()
        say(chat, f"/read {long_file}")
        say(chat, f"/image {ROOT / 'Tests/Fixtures/images/rgb.png'}")
        chat.send_and_wait_for("What is it?", b"reading")
        chat.type("\x03")
        chat.wait_for_text("[stopped; /retry sends the message again]")
        chat.wait_for_prompt(4)
        say(chat, again)
        say(chat, "And now?")  # without files
        say(chat, f"/save {file}")
    first, second = [message for message in json.loads(file.read_text())["messages"] if message["role"] == "user"]
    assert [list(part) for part in first["parts"]] == [["image"], ["text"]], first["parts"][-1]
    question = "What is it?" if again == "/retry" else again
    assert first["content"].startswith("long.txt:") and first["content"].endswith(question)
    assert second["content"] == "And now?" and "parts" not in second


def test_a_loaded_chat_keeps_its_adapter(tmp_path):
    adapter = write_adapter(tmp_path / "one", 1)
    lines = ["What is the capital of France?", "/stats", f"/save {tmp_path}/chat.json", "/undo", f"/load {tmp_path}/chat.json", "/retry"]
    answers = [run("chat", *lora, "-n", "8", "--temperature", "0", text="\n".join(lines) + "\n").stdout
               for lora in ([], ["--lora", f"one={adapter}"])]
    for answer in answers:
        first, last = answer.split("  prompt")[0].strip(), answer.split("messages are loaded.")[1].strip()
        assert first == last, answer
    assert answers[0] != answers[1]


def test_nothing_typed_appears_inside_an_answer():
    with Terminal("chat", "--temperature", "0", "-n", "7000", "--ignore-eos", columns=100) as chat:
        chat.wait_for_prompt()
        chat.send_and_wait_for("Write a story.", b"the")
        chat.type("zzz\x03")
        chat.wait_for_text("\n[stopped]")  # on a line of its own, wherever the answer was cut
        assert "^C" not in chat.text() and "zzz" not in chat.text()


def test_questions_on_the_command_line():
    answer = run("generate", "-p", "What is 12 plus 30?").stdout
    assert "42" in answer
    assert run("ask", "What is 12 plus 30?").stdout == answer
    assert run("ask", "What", "is", "12", "plus", "30?").stdout == answer
    assert run("run", "mini", "What is 12 plus 30?").stdout == answer
    assert run("run", "mini", "-n", "3", "-c", "128", "-t", "1", "Count from 3 to 12.", "--json").returncode == 0
    short = json.loads(run("ask", "-n", "3", "--json", "Count from 3 to 12.").stdout)
    assert short["usage"]["completion_tokens"] == 3
    assert "name one model" in run("run", "mini", "--model", "mini", "Hello!").stderr
    assert "pagoda run MODEL PROMPT" in run("chat", "mini", "Hello!").stderr


def test_a_cut_answer_says_so_in_a_pipe_too():
    cut = run("ask", "-n", "3", "Count from 3 to 12.")
    assert cut.returncode == 0 and "cut after 3 tokens; --max-tokens is the limit" in cut.stderr
    assert run("ask", "What is 12 plus 30?").stderr == ""
