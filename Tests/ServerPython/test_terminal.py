"""`pagoda` in a terminal: typed text arrives, nothing floods the screen, and every way to leave works."""
import json
import re
import subprocess

import pytest
from conftest import ROOT
from terminal import Terminal, messages, run

LEFT, RIGHT, BACKSPACE = "\x1b[D", "\x1b[C", "\x7f"


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX", "C"])
def test_every_character_arrives_in_every_locale(tmp_path, locale):
    with Terminal("chat", "--max-tokens", "4", columns=200, LANG=locale, LC_ALL=locale) as chat:
        chat.wait_for_prompt()
        chat.type("Zoë 東京 👩‍👩‍👧 naïve\r")
        chat.wait_for_prompt(2)
        assert messages(tmp_path, chat) == ["Zoë 東京 👩‍👩‍👧 naïve"]


def test_wide_characters_are_edited_as_one(tmp_path):
    with Terminal("chat", "--max-tokens", "4", columns=200) as chat:
        chat.wait_for_prompt()
        chat.type("東京 👩‍👩‍👧 Zoë")
        chat.type(LEFT * 4 + BACKSPACE)  # the family is deleted as a whole
        chat.type(LEFT * 2 + BACKSPACE + "北" + RIGHT)
        chat.type("\r")
        chat.wait_for_prompt(2)
        assert messages(tmp_path, chat) == ["北京  Zoë"]
        assert "> 北京" in chat.text().replace("北 ", "北").replace("京 ", "京")


def test_a_pasted_text_is_one_message(tmp_path):
    with Terminal("chat", "--max-tokens", "4", columns=100) as chat:
        chat.wait_for_prompt()
        chat.type("\x1b[200~one\ntwo\nthree\nfour\nfive\x1b[201~\r")
        chat.wait_for_prompt(2)
        chat.type('"""six\rseven"""\r')
        chat.wait_for_prompt(4)
        assert messages(tmp_path, chat) == ["one\ntwo\nthree\nfour\nfive", "six\nseven"]


def test_ctrl_c_clears_the_line_and_ctrl_d_leaves(tmp_path):
    with Terminal("chat", "--max-tokens", "4") as chat:
        chat.wait_for_prompt()
        chat.type("half a line\x03")
        chat.wait_for_text("Cleared. Ctrl-D or /bye leaves.")
        chat.type("Hello!\r")
        chat.wait_for_prompt(2)
        assert messages(tmp_path, chat) == ["Hello!"]
        chat.type("\x04")
        assert chat.wait_for_end() == 0


def test_ctrl_d_during_an_answer_leaves_after_it():
    with Terminal("chat", "--temperature", "0", "--max-tokens", "200") as chat:
        chat.wait_for_prompt()
        chat.type("Write a story.\r")
        chat.wait_for(lambda: chat.output.count(b"\x1b[?2004l") == 1, "end of the line")
        chat.type("\x04")
        assert chat.wait_for_end() == 0
        assert "tokens/s" in chat.text(), "the answer was cut short"


@pytest.mark.parametrize("word", ["exit", "quit", "/bye", "/quit"])
def test_words_that_leave(word):
    with Terminal("chat") as chat:
        chat.wait_for_prompt()
        chat.type(word + "\r")
        assert chat.wait_for_end() == 0


def test_the_first_screen_leads_to_a_real_model():
    with Terminal("chat") as chat:
        chat.wait_for_prompt()
        assert re.search(r"mini, the \d+ MB demo", chat.text())
        assert re.search(r"pagoda chat qwen3\.5:\S+ --quantize 4bit\s+[\d.]+ [MG]iB of [\d.]+ GiB", chat.text()), chat.text()


def test_commands_of_a_chat(tmp_path):
    note = tmp_path / "note.txt"
    note.write_text("The code is 7741.\n")
    with Terminal("chat", "--max-tokens", "8", columns=120) as chat:
        chat.wait_for_prompt()
        for line in ["/help", "/set temperature 0", "/set tempreature 1", "/set top-p 7", f"/read {note}", "Hello!", "/retry", "/tokens one two",
                     "/undo", "/undo", "/think off", "/frobnicate"]:
            count = chat.output.count(b"\x1b[?2004h")
            chat.type(line + "\r")
            chat.wait_for_prompt(count + 1)
        text = chat.text()
        assert "/retry" in text and "temperature is 0." in text and "did you mean temperature?" in text
        assert "top-p is '7'; it must be a number above 0 and at most 1" in text
        assert "goes before the next message" in text and "tokens/s" in text or "first after" in text
        assert re.search(r"^\d+ tokens$", text, re.MULTILINE)
        assert "The last message and its answer are forgotten." in text and "there is no message yet" in text
        assert "Unknown command /frobnicate" in text
        assert messages(tmp_path, chat) == []


def test_a_chat_is_saved_and_loaded(tmp_path):
    file = tmp_path / "chat.json"
    with Terminal("chat", "--max-tokens", "8") as chat:
        chat.wait_for_prompt()
        chat.type("Hello!\r")
        chat.wait_for_prompt(2)
        chat.type(f"/save {file}\r")
        chat.wait_for_prompt(3)
    with Terminal("chat", columns=200) as chat:
        chat.wait_for_prompt()
        chat.type(f"/load {file}\r")
        chat.wait_for_text("2 messages are loaded.")
        assert messages(tmp_path, chat) == ["Hello!"]


def test_answers_are_wrapped_at_words():
    with Terminal("generate", "-p", "What is continuous batching?", columns=40) as answer:
        answer.wait_for_end()
        words = [word for line in answer.lines_with_text() for word in line.split()]
        assert len(answer.lines_with_text()) > 2
        piped = run("generate", "-p", "What is continuous batching?").stdout.split()
        assert words == piped


@pytest.mark.parametrize("columns", [40, 80])
def test_progress_and_help_stay_within_the_terminal(columns):
    with Terminal("help", "serve", columns=columns, rows=200) as help_text:
        help_text.wait_for_end()
        widest = max(len(line) for line in help_text.output.decode().replace("\r", "").split("\n"))
        assert widest <= columns
    name = "loading /a/very/long/path/that/is/longer/than/the/whole/terminal/and/then/some/more/of/it"
    with Terminal("generate", "-p", "Hi", "--model", name[8:], columns=columns) as progress:
        progress.wait_for_end()
        assert sum("loading" in line for line in progress.lines()) <= 1


def test_an_empty_list_is_wrapped_at_words(tmp_path):
    with Terminal("list", columns=40, HF_HUB_CACHE=str(tmp_path / "models"), HOME=str(tmp_path)) as models:
        models.wait_for_end()
        lines = models.output.decode().replace("\r", "").split("\n")
        words = " ".join(lines).split()
        assert "qwen3.5:4b" in words and all(len(line) <= 40 or " " not in line for line in lines), lines


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(environment):
    with Terminal("chat", "--max-tokens", "8", **environment) as chat:
        chat.wait_for_text("/help shows the commands")
        chat.type("Hello!\r")
        chat.wait_for_text("first after")
        chat.type("/bye\r")
        chat.wait_for_end()
        assert not re.search(rb"\x1b\[[0-9;]*m", chat.output), chat.output
        if "TERM" in environment:
            assert b"\x1b" not in chat.output, chat.output


def test_thinking_and_answer_are_apart():
    with Terminal("generate", "--think", "-p", "What is 12 plus 30?", columns=100) as answer:
        answer.wait_for_end()
        assert "" in answer.text().strip().split("\n"), answer.text()
        last = answer.lines_with_text()[-1]
        assert "42" in last and run("generate", "--think", "-p", "What is 12 plus 30?").stdout.strip() == last


def test_a_cut_schema_is_an_error():
    schema = '{"type": "object", "properties": {"text": {"type": "string", "minLength": 200}}, "required": ["text"]}'
    for extra in [[], ["--json"]]:
        cut = run("generate", "-p", "Hello!", "--json-schema", schema, "--max-tokens", "5", *extra)
        assert cut.returncode == 1 and "raise --max-tokens" in cut.stderr, cut.stderr


def test_an_empty_prompt_is_refused():
    for arguments in (["-p", ""], ["-p", "  \n"], []):
        empty = run("generate", *arguments)
        assert empty.returncode == 64 and "the prompt is empty" in empty.stderr


@pytest.mark.parametrize("command", ["ask", "tokenize", "embed"])
def test_a_command_without_a_text_does_not_wait_in_silence(command):
    with Terminal(command) as waiting:
        assert waiting.wait_for_end() == 64
        assert f'pagoda {command} "..."' in " ".join(waiting.text().split()), waiting.text()
    assert run(command, text="What is 12 plus 30?\n").returncode == 0


def test_a_load_without_a_server_names_the_command_that_starts_one():
    for command in ("serve", "agents"):
        failed = run("bench", command, "--base-url", "http://127.0.0.1:9")
        assert failed.returncode == 1 and "pagoda serve" in failed.stderr and "--base-url" in failed.stderr, failed.stderr


def test_a_prompt_comes_from_standard_input():
    for arguments in (["ask"], ["generate", "-f", "-"]):
        assert "42" in run(*arguments, text="What is 12 plus 30?\n").stdout


def test_mini_needs_no_download():
    for command in ("pull", "rm"):
        refused = run(command, "mini")
        assert refused.returncode == 64 and "mini is inside the program" in refused.stderr


def test_names_that_people_try():
    assert run("generate", "-p", "Hi", "--temp", "0", "--max-tokens", "2").returncode == 0
    assert "did you mean --temperature?" in run("generate", "--temprature", "0").stderr
    assert "did you mean --temperature?" in run("generate", "--tmep", "0").stderr
    assert "did you mean" not in run("generate", "--frobnicate", "0").stderr
    version = run("version").stdout
    assert version.startswith("pagoda ") and run("-v").stdout == run("--version").stdout == version
    assert run("help", "chat").stdout.startswith("usage: pagoda chat")
    assert run("ls").stdout == run("list").stdout and "mini" in run("ls").stdout
    assert run("run", "--help").stdout == run("chat", "--help").stdout
    assert "did you mean 'serve'?" in run("serv").stderr and "did you mean 'chat'?" in run("chta").stderr
    assert "pagoda ask" in run("What is 12 plus 30?").stderr
    assert run("info", "mini").stdout == run("info", "--model", "mini").stdout
    refused = run("chat", "qwen3.5:5b")
    assert refused.returncode == 64 and "qwen3.5:4b" in refused.stderr


def test_a_pull_without_a_network_says_so_at_once():
    environment = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    with Terminal("pull", "a/b", "--retries", "2", **environment) as pull:
        pull.wait_for_output(b"asking 127.0.0.1")
        assert pull.wait_for_end() == 1
        assert b"trying again (2 of 2)" in pull.output
    offline = run("pull", "a/b", HF_HUB_OFFLINE="1")
    assert offline.returncode == 1 and "unset HF_HUB_OFFLINE" in offline.stderr and "pagoda pull" not in offline.stderr


def test_a_model_that_is_too_large_names_the_form_that_fits():
    refused = run("info", "--shape", "qwen3.5-27b", "--dtype", "float32", "--kv-cache-memory", "8TiB")  # more than any machine has
    assert refused.returncode == 1 and re.search(r"No form of it fits this machine; qwen3\.5:\S+ with --quantize", refused.stderr), refused.stderr
    assert re.search(r"weights 100\.2 GiB, .* in all 8\.\d+ TiB; the device allows [\d.]+ [MGT]iB\n", refused.stderr), refused.stderr
    some = run("info", "--shape", "qwen3.5-27b", "--dtype", "float32", "--max-model-len", "4096")  # 106 GiB, which some machines have
    assert some.returncode == 0 or re.search(r"fit with --quantize|qwen3\.5:\S+ with --quantize", some.stderr), some.stderr


def test_models_of_other_programs_are_found(tmp_path):
    manifest = tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/qwen3/4b"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:ab"}]}))
    blobs = tmp_path / ".ollama/models/blobs"
    blobs.mkdir()
    (blobs / "sha256-ab").write_bytes((ROOT / "Tests/Fixtures/gguf/qwen35.gguf").read_bytes())
    studio = tmp_path / ".lmstudio/models/org/name"
    studio.mkdir(parents=True)
    (studio / "name-Q4.gguf").write_bytes(b"x" * 1024)
    listed = run("list", HOME=str(tmp_path)).stdout
    assert re.search(r"^ollama:qwen3:4b +35\.6 KiB$", listed, re.MULTILINE), listed
    assert re.search(r"^lmstudio:org/name +1\.00 KiB$", listed, re.MULTILINE), listed
    info = run("info", "ollama:qwen3:4b", "--json", HOME=str(tmp_path))
    assert json.loads(info.stdout)["family"] == "qwen3_5", info.stderr
    assert sorted(file.name for file in blobs.iterdir()) == ["sha256-ab"]


def test_defaults_come_from_a_file_and_the_environment(tmp_path):
    here = {"PAGODA_CONFIG_DIR": str(tmp_path)}
    assert run("config", "set", "max-tokens", "3", **here).returncode == 0
    assert run("config", "set", "nonsense", "3", **here).returncode == 64
    assert json.loads((tmp_path / "config.json").read_text()) == {"max-tokens": 3}
    answer = json.loads(run("generate", "-p", "Count from 3 to 12.", "--json", **here).stdout)
    assert answer["usage"]["completion_tokens"] == 3
    answer = json.loads(run("generate", "-p", "Count from 3 to 12.", "--json", PAGODA_MAX_TOKENS="5", **here).stdout)
    assert answer["usage"]["completion_tokens"] == 5
    assert "PAGODA_MAX_TOKENS=5" in run("config", PAGODA_MAX_TOKENS="5", **here).stdout
    run("config", "unset", "max-tokens", **here)
    assert json.loads((tmp_path / "config.json").read_text()) == {}


def test_servers_are_listed_watched_and_stopped(tmp_path):
    from conftest import Server, wait_for
    here = {"XDG_RUNTIME_DIR": str(tmp_path)}
    server = Server(environment=here)
    listed = json.loads(run("ps", "--json", **here).stdout)
    assert [row["process"] for row in listed] == [server.process.pid] and listed[0]["url"].rstrip("/") == server.url
    top = run("top", server.url, **here).stdout
    assert "0 running, 0 waiting" in top and "KV cache" in top and "states kept" in top
    with server.endless():
        def lanes():
            return [line.split()[1] for line in run("top", server.url, **here).stdout.splitlines() if line.startswith("#")]

        wait_for(lambda: lanes() == ["answering"], "lane")
    assert "has ended" in run("stop", **here).stdout
    assert server.process.wait(timeout=60) == 0
    assert run("ps", **here).stdout == "No server is running; pagoda serve starts one.\n"
    assert run("top", server.url, **here).returncode == 1


def test_a_reused_process_id_is_not_a_server(tmp_path):
    folder = tmp_path / "pagoda" / "servers"
    folder.mkdir(parents=True)
    other = subprocess.Popen(["sleep", "600"])
    try:
        record = {"process": other.pid, "url": "http://localhost:1", "model": "m", "started": 1}
        (folder / f"{other.pid}.json").write_text(json.dumps(record))
        assert run("ps", "--json", XDG_RUNTIME_DIR=str(tmp_path)).stdout.strip() == "[]"
        run("stop", XDG_RUNTIME_DIR=str(tmp_path))
        assert other.poll() is None
    finally:
        other.kill()
