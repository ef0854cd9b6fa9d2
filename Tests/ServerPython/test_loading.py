"""What cannot work is refused before a model's weights are read; a load shows bytes and seconds, and in a pipe a long one is announced."""
import re
import subprocess

import pytest
from conftest import PROGRAM, ROOT
from terminal import Terminal, run


@pytest.fixture
def mini_without(tmp_path):
    """Makes a folder with the embedded model's files, but one of them with another text, or absent."""
    def make(name, text=None):
        folder = tmp_path / "model"
        folder.mkdir()
        for file in (ROOT / "Sources/MiniModel/files").iterdir():
            if file.name != name:
                (folder / file.name).symlink_to(file)
        if text is not None:
            (folder / name).write_text(text)
        return str(folder)
    return make


def refused(*arguments):
    """The error of a command at a terminal, and how far its progress came, in per cent."""
    with Terminal(*arguments, columns=200) as command:
        assert command.wait_for_end() != 0
        return command.text(), [int(part) for part in re.findall(rb"loading .*?(\d+) %", command.output)]


def test_a_missing_template_is_noticed_before_the_weights(mini_without):
    folder = mini_without("chat_template.jinja")
    for arguments in (["chat", folder], ["ask", "--model", folder, "Hi"]):
        text, progress = refused(*arguments)
        assert "has no chat template" in text and "--raw" in text and progress == [], text
    assert run("generate", "--raw", "--model", folder, "-n", "2", "-p", "Hi").returncode == 0


def test_a_broken_template_is_named_before_the_weights(mini_without):
    folder = mini_without("chat_template.jinja", "{% nonsense %}")
    for arguments in (["chat", folder], ["ask", "--model", folder, "Hi"]):
        text, progress = refused(*arguments)
        assert "chat_template.jinja" in text and "nonsense" in text and progress == [], text


def test_a_missing_tokenizer_is_noticed_before_the_weights(mini_without):
    folder = mini_without("tokenizer.json")
    for arguments in (["chat", folder], ["generate", "--raw", "--model", folder, "Hi"], ["embed", "--model", folder, "Hi"]):
        text, progress = refused(*arguments)
        assert "has no tokenizer" in text and progress == [], text
    assert run("generate", "--model", folder, "-n", "2", "--prompt-ids", "5,9").returncode == 0


def test_a_broken_tokenizer_is_named_before_the_weights(mini_without):
    text, progress = refused("chat", mini_without("tokenizer.json", '{"model": 1}'))
    assert "tokenizer.json" in text and set(progress) <= {0}, text


@pytest.mark.parametrize("arguments,word", [
    (["ask", "Hi", "--json-schema", '{"type": "nonsense"}'], "nonsense"), (["ask", "Hi", "--json-schema", '{"type"'], "JSON"),
    (["ask", "Hi", "--receipts", "/dev/null/file"], "/dev/null/file"),
    (["embed", "Hi", "--dimensions", "100000"], "--dimensions"), (["ask", "Hi", "--speculate-max", "99"], "--speculate-max"),
    (["ask", "Hi", "--block-size", "7"], "--block-size"), (["chat", "--max-model-len", "99999999"], "max-model-len"),
])
def test_bad_options_are_refused_before_the_weights(arguments, word):
    text, progress = refused(*arguments)
    assert word in text and progress == [], text


def test_a_chat_does_not_change_to_a_model_that_cannot_chat(mini_without):
    with Terminal("chat", "-n", "16", "--temperature", "0", columns=200) as chat:
        chat.wait_for_prompt()
        before = len(chat.output)
        chat.type(f"/model {mini_without('chat_template.jinja')}\r")
        chat.wait_for_prompt(2)
        assert "has no chat template" in chat.text() and b"loading" not in chat.output[before:]
        chat.type("What is 12 plus 30?\r")
        chat.wait_for_prompt(3)
        assert "42" in chat.text()


def test_a_long_load_is_announced_in_a_pipe():
    command = [PROGRAM, "embed", "Hi", "--shape", "qwen3.5-0.8b", "--max-model-len", "256"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()  # before the weights: they would take half a minute
        assert re.fullmatch(r"pagoda: loading qwen3\.5-0\.8b, [\d.]+ GiB of weights\n", line), line
    finally:
        process.kill()
        process.communicate()


def test_a_load_shows_its_bytes_at_a_terminal():
    with Terminal("ask", "Hi", "-n", "2", columns=200) as command:
        assert command.wait_for_end() == 0
        shown = re.findall(r"loading mini [^ ]* (\d+) % ([\d.]+ \w+) of ([\d.]+ MiB)", command.output.decode())
    assert shown and shown[-1][0] == "100" and shown[-1][1] == shown[-1][2], shown


def test_a_server_logs_what_its_load_took():
    process = subprocess.Popen([PROGRAM, "serve", "--port", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert re.fullmatch(r"pagoda: loaded mini, [\d.]+ MiB of weights in \d+\.\d s\n", line), line
    finally:
        process.kill()
        process.communicate()
