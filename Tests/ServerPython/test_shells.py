"""What surrounds the chat: history, completions in three shells, manual pages, defaults and their errors."""
import json
import os
import re
import shutil
import stat
import subprocess

import pytest
from conftest import PROGRAM
from terminal import Terminal, run

MODELS = ["mini", "qwen3.5:4b"]


def ask_bash(script, line):
    ask = f'source {script}; COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}; _pagoda {PROGRAM}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return ["bash", "-c", ask]


def ask_zsh(script, line):
    words = " ".join(f"'{word}'" for word in [str(PROGRAM)] + line.split(" ")[1:])
    ask = ("compdef() { : }; _files() { print FILES }; compadd() { shift; print -l -- \"$@\" }; "
           f"source {script}; words=({words}); CURRENT=$#words; _pagoda")
    return ["zsh", "-f", "-c", ask]


def ask_fish(script, line):
    return ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_commands_options_values_and_models(tmp_path, shell):
    if not shutil.which(shell):
        pytest.fail(f"{shell} is not installed; Tools/setup.sh --dev installs it")
    script = tmp_path / "completions"
    script.write_text(run("completions", shell).stdout)
    (tmp_path / "pagoda").symlink_to(PROGRAM)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}

    def words(line):
        ask = {"bash": ask_bash, "zsh": ask_zsh, "fish": ask_fish}[shell](script, line)
        done = subprocess.run(ask, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)
        assert done.returncode == 0 or done.stdout, done.stderr
        return [word.split("\t")[0] for word in done.stdout.split("\n") if word]

    assert {"chat", "serve", "run", "ask"} <= set(words("pagoda ")), words("pagoda ")
    assert words("pagoda comp") == ["completions"]
    assert words("pagoda generate --max-to") == ["--max-tokens"]
    assert words("pagoda chat --quantize 4") == ["4bit"]
    assert set(words("pagoda bench ")) >= {"serve", "spec", "agents"}
    assert "mini" in words("pagoda chat m")
    colon = words("pagoda chat qwen3.5:4")
    assert colon == (["4b"] if shell == "bash" else ["qwen3.5:4b"]), colon


def test_every_command_has_a_manual_page(tmp_path):
    assert run("man", str(tmp_path)).returncode == 0
    commands = re.findall(r"^  ([a-z]+) ", run("--help").stdout.split("Commands:")[1].split("pagoda help")[0], re.MULTILINE)
    assert len(commands) > 15
    for name in commands:
        page = (tmp_path / f"pagoda-{name}.1").read_text()
        assert ".SH NAME" in page and ".SH SYNOPSIS" in page
    if shutil.which("groff"):
        for file in sorted(tmp_path.glob("*.1")):
            shown = subprocess.run(["groff", "-man", "-ww", "-Tascii", file], capture_output=True, text=True, timeout=120)
            assert shown.returncode == 0 and not shown.stderr, (file, shown.stderr)
    assert "--max\\-tokens" in (tmp_path / "pagoda-chat.1").read_text().replace("\\-\\-max", "--max")


def test_lines_are_found_again_on_another_day(tmp_path):
    here = {"PAGODA_STATE_DIR": str(tmp_path / "state")}
    with Terminal("chat", "-n", "4", **here) as chat:
        chat.wait_for_prompt()
        for index, line in enumerate(["What is the capital of Peru?", "Hello!"]):
            chat.type(line + "\r")
            chat.wait_for_prompt(index + 2)
    file = tmp_path / "state/chat_history"
    assert [json.loads(line) for line in file.read_text().splitlines()] == ["What is the capital of Peru?", "Hello!"]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    with Terminal("chat", "-n", "4", **here) as chat:
        chat.wait_for_prompt()
        chat.type("\x12capital")
        chat.wait_for_text("(search 'capital') What is the capital of Peru?")
        chat.type("\r")
        chat.wait_for_text("first after")
        assert "> What is the capital of Peru?" in chat.text(), chat.text()
        chat.wait_for_prompt(2)
        chat.type("\x1b[A\x1b[A")
        chat.wait_for(lambda: chat.lines_with_text()[-1] == "> Hello!", "older line")
    with Terminal("chat", "-n", "4", "--no-history", **here) as chat:
        chat.wait_for_prompt()
        chat.type("secret\r")
        chat.wait_for_prompt(2)
    assert "secret" not in file.read_text()


def test_a_search_can_be_given_up(tmp_path):
    with Terminal("chat", PAGODA_STATE_DIR=str(tmp_path)) as chat:
        chat.wait_for_prompt()
        chat.type("half a line\x12zzz")
        chat.wait_for_text("nothing found")
        chat.type("\x07")
        chat.wait_for(lambda: chat.lines_with_text()[-1] == "> half a line", "the line as it was")


def test_errors_name_where_a_value_came_from(tmp_path):
    here = {"PAGODA_CONFIG_DIR": str(tmp_path)}
    file = tmp_path / "config.json"
    wrong = run("ask", "Hi", PAGODA_TEMPERATURE="warm", **here)
    assert wrong.returncode == 64 and "error: PAGODA_TEMPERATURE is 'warm'; it must be a number" in wrong.stderr
    file.write_text('{\n  "max-tokens": 4,\n  "temperature": "warm"\n}\n')
    assert f"temperature in {file} line 3 is 'warm'" in run("ask", "Hi", **here).stderr
    file.write_text('{\n  "max-tokens": 4,,\n}\n')
    assert f"{file} line 2:" in run("ask", "Hi", **here).stderr
    assert "--temperature is 'hot'" in run("ask", "Hi", "--temperature", "hot").stderr


def test_configuration_without_effect_is_named_and_changes_nothing_else(tmp_path):
    here = {"PAGODA_CONFIG_DIR": str(tmp_path)}
    for name in ("config.toml", "config.yaml"):
        (tmp_path / name).write_text("max-tokens = 3\n")
    asked = run("ask", "What is 12 plus 30?", **here)
    assert asked.returncode == 0 and "42" in asked.stdout and "not read" not in asked.stdout
    for name in ("config.toml", "config.yaml"):
        assert f"{tmp_path / name} is not read; defaults of options come from {tmp_path / 'config.json'}" in asked.stderr
        (tmp_path / name).unlink()
    file = tmp_path / "config.json"
    file.write_text('{\n  "temprature": 1,\n  "prompt": "x",\n  "serve": {\n    "top-p": 1,\n    "prot": 1\n  },\n  "ask": {},\n  "max_tokens": 20\n}\n')
    remarks = run("ask", "What is 12 plus 30?", **here).stderr
    for text in (f"'temprature' in {file} line 2 is not an option; did you mean temperature?", f"prompt in {file} line 3 has no effect",
                 f"'prot' in {file} line 6 is not an option of serve; did you mean port?", f"'top-p' in {file} line 5 is not an option of serve",
                 f"'ask' in {file} line 8 is not a command's name; did you mean generate?"):
        assert text in remarks, (text, remarks)
    assert remarks.count("\n") == 5, "max_tokens is an option"
    for key in ("temprature", "prompt", "serve.prot", "serve.top-p", "ask"):
        assert run("config", "unset", key, **here).returncode == 0
    assert run("ask", "What is 12 plus 30?", **here).stderr == "" and json.loads(file.read_text()) == {"serve": {}, "max_tokens": 20}


@pytest.mark.parametrize("key,value", [("temperature", "warm"), ("serve.port", "99999"), ("quantize", "5bit"), ("raw", "maybe"),
                                       ("context-policy", "perhaps"), ("kv-cache-memory", "much"),
                                       ("prompt", "hello"), ("serve.temperature", "1")])
def test_config_refuses_what_a_command_would_refuse(tmp_path, key, value):
    here = {"PAGODA_CONFIG_DIR": str(tmp_path)}
    refused = run("config", "set", key, value, **here)
    assert refused.returncode == 64 and (value in refused.stderr or f"'{key}' is not an option" in refused.stderr), refused.stderr
    assert not (tmp_path / "config.json").exists()


def test_an_open_server_names_the_options_it_needs():
    refused = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 64
    assert all(option in refused.stderr for option in ["--api-key", "PAGODA_API_KEY", "--insecure"]), refused.stderr


def test_set_shows_the_values():
    with Terminal("chat", "--temperature", "0.5", rows=60, columns=120) as chat:
        chat.wait_for_prompt()
        chat.type("/set top-k 7\r")
        chat.wait_for_prompt(2)
        chat.type("/set\r")
        chat.wait_for_prompt(3)
        assert "temperature = 0.5" in chat.text() and "top-k = 7" in chat.text() and "top-p = default" in chat.text()


def test_a_chat_without_a_network_says_so_at_once():
    with Terminal("chat", "qwen3.5:0.8b", columns=100, HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_CACHE="/nonexistent") as chat:
        assert chat.wait_for_end() == 1
        text = " ".join(chat.text().split())
        assert "127.0.0.1 cannot be reached" in text and "attempts" not in text and "is kept" not in text, text
        assert "pagoda list" in text


def test_the_list_for_programs_has_the_embedded_model():
    models = json.loads(run("list", "--json").stdout)
    assert models[0]["model"] == "mini" and models[0]["bytes"] > 20_000_000 and models[0]["is_embedded"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_everything_is_wrapped_at_words(columns):
    with Terminal("chat", "-n", "8", columns=columns, rows=100) as chat:
        chat.wait_for_prompt()
        for index, line in enumerate(["Hello!", "/set temperature nonsense", "/load /no/such/file/that/has/a/long/name/anywhere", "/stats"]):
            chat.type(line + "\r")
            chat.wait_for_prompt(index + 2)
        output = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", chat.output).decode().replace("\r\n", "\n")
        for line in output.split("\n"):
            line = line.split("\r")[-1]  # a progress line is drawn over itself
            if not line.startswith(">"):
                assert len(line) <= columns or " " not in line.strip(), line
