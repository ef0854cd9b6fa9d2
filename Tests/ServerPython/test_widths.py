"""Every command's output stays within the terminal, broken between words, at any width; and mini has one size."""
import json
import re

import pytest
from conftest import ROOT
from terminal import Terminal, run

ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


def lines_of(*arguments, columns, **environment):
    with Terminal(*arguments, columns=columns, rows=200, **environment) as command:
        command.wait_for_end()
        text = ESCAPES.sub(b"", command.output).decode().replace("\r\n", "\n")
        return [line.split("\r")[-1] for line in text.split("\n")]  # a progress line is drawn over itself


@pytest.mark.parametrize("columns", [30, 40, 64, 100])
def test_commands_fit_the_terminal(columns, server, tmp_path):
    refused = ["chat", "--temperature", "warm"], ["serve", "--host", "0.0.0.0"], ["info", "/no/such/folder"], ["quantize", "mini"]
    for arguments in (["top", server.url, "--count", "2", "--interval", "50"], ["list"], ["ps"], ["info"], ["config"], *refused):
        for line in lines_of(*arguments, columns=columns, HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path)):
            assert len(line) <= columns or " " not in line.strip(), (arguments, line)


def test_mini_has_one_size():
    files = sum(file.stat().st_size for file in (ROOT / "Sources/MiniModel/files").glob("*.safetensors"))
    assert json.loads(run("list", "--json").stdout)[0]["bytes"] == files
    shown = f"{round(files / 1e6)} MB"
    assert shown in run("list").stdout
    with Terminal("chat") as chat:
        chat.wait_for_prompt()
        assert f"the {shown} demo" in chat.text()
    row = next(line for line in run("bench", "--tests", "tg4", "--repetitions", "1").stdout.split("\n") if "tg4" in line)
    millions = json.loads(run("info", "--json").stdout)["num_parameters"] / 1e6
    assert [cell.strip() for cell in row.split("|")[1:4]] == ["mini", shown, f"{millions:.2f} M"], row
    for page in ("README.md", "docs/faq.md", "Sources/ServerPage/files/messages.js"):
        assert shown in (ROOT / page).read_text(), page
