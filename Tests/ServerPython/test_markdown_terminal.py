"""Markdown at the terminal: tables are drawn, code is coloured, and pipes and NO_COLOR get the text as the model wrote it."""
import re

import pytest
from scripted_model import write_scripted_model
from terminal import Terminal, run

ANSWER = ["Two", " cities", ":\n\n", "| City ", "| Note |\n", "|---", "|:---|\n", "| Oslo | small, and far ", "in the north |\n",
          "| Tokyo", " | large |\n", "\n```", "python\n", "def ", "f(x):", "  # adds\n", "    return x + 1", "\n```\n", "That is all."]


@pytest.fixture
def model(tmp_path):
    return write_scripted_model(tmp_path / "model", ANSWER)


def test_tables_are_drawn_and_code_is_coloured(model):
    with Terminal("chat", model, "--temperature", "0", columns=80, rows=40) as chat:
        chat.wait_for_prompt()
        chat.type("Which?\r")
        chat.wait_for_prompt(2)
        lines = chat.lines_with_text()
        start = lines.index("Two cities:")
        assert lines[start + 1:start + 10] == [
            " City  │ Note", "───────┼─────────────────────────────", " Oslo  │ small, and far in the north", " Tokyo │ large",
            "```python", "def f(x):  # adds", "    return x + 1", "```", "That is all."], chat.text()
        assert b"\x1b[35mdef\x1b[39m" in chat.output and b"\x1b[35mreturn\x1b[39m" in chat.output
        assert b"table, 2 rows" in chat.output and "table," not in chat.text(), "the wait is shown, and leaves no trace"


def test_a_table_fits_a_narrow_terminal(model):
    with Terminal("generate", "--model", model, "--temperature", "0", "-p", "Which?", columns=24) as answer:
        assert answer.wait_for_end() == 0
        lines = answer.lines_with_text()
        assert " Oslo  │ small, and far" in lines and "       │ in the north" in lines, answer.text()


def test_pipes_and_plain_terminals_get_the_text_itself(model):
    text = "".join(ANSWER)
    assert run("generate", "--model", model, "--temperature", "0", "-p", "Which?").stdout == text + "\n"
    with Terminal("generate", "--model", model, "--temperature", "0", "-p", "Which?", columns=80, NO_COLOR="1") as answer:
        assert answer.wait_for_end() == 0
        assert text in answer.output.decode().replace("\r\n", "\n")
        assert not re.search(rb"\x1b\[[0-9;]*m", answer.output)
