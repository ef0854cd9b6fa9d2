"""`pagoda pull` with a working hub: the cache, the network traffic, names, patterns, list, info and rm."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import MINI, PATIENCE, QUESTION, ROOT, SHARD, Harness, listed
from hub_server import COMMIT, Hub, HubFile


def test_a_pulled_model_answers_by_its_name(harness):
    run = harness.pull_succeeds()
    assert "9 files" in run.stdout and COMMIT[:12] in run.stdout
    assert f"pagoda chat {harness.hub.name}" in run.stdout.splitlines()[-1], "the next command ends what it says"
    answer = harness.run("generate", "--model", harness.hub.name, "-p", QUESTION, HF_HUB_OFFLINE="1")
    assert "Paris" in answer.stdout, answer.stderr
    pinned = harness.run("tokenize", "--model", f"{harness.hub.name}@{COMMIT}", "hello")
    assert pinned.returncode == 0, pinned.stderr


def test_huggingface_hub_loads_the_same_cache_offline(harness):
    harness.pull_succeeds()
    code = ("from huggingface_hub import snapshot_download, hf_hub_download, scan_cache_dir as s\n"
            f"print(snapshot_download({harness.hub.name!r}))\n"
            f"print(hf_hub_download({harness.hub.name!r}, 'tokenizer.json'))\n"
            "r = s(); print(len(r.warnings), [(x.repo_id, x.nb_files) for x in r.repos])")
    run = subprocess.run([sys.executable, "-c", code], env=harness.environment(HF_HUB_OFFLINE="1"), capture_output=True,
                         text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.split("\n")
    assert lines[0] == str(harness.snapshot()) and lines[1] == str(harness.snapshot() / "tokenizer.json")
    assert lines[2] == f"0 [({harness.hub.name!r}, {len(harness.hub.files)})]"


def test_pagoda_answers_from_what_huggingface_hub_fetched(harness):
    code = f"from huggingface_hub import snapshot_download\nsnapshot_download({harness.hub.name!r})"
    run = subprocess.run([sys.executable, "-c", code], env=harness.environment(HF_HUB_DISABLE_XET="1"), capture_output=True,
                         text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    fetched = len(harness.hub.requests("/content/"))
    answer = harness.run("generate", "--model", harness.hub.name, "-p", QUESTION)
    assert "Paris" in answer.stdout, answer.stderr
    harness.pull_succeeds()
    assert len(harness.hub.requests("/content/")) == fetched, "what is there is not fetched again"
    assert listed(harness)[0]["revisions"][0]["is_complete"]


def test_a_second_pull_fetches_no_content(harness):
    harness.pull_succeeds()
    before = len(harness.hub.requests("resolve"))
    harness.pull_succeeds()
    assert len(harness.hub.requests("resolve")) == before


def test_verify_finds_a_damaged_blob(harness):
    harness.pull_succeeds()
    blob = harness.repository / "blobs" / harness.hub.files[SHARD].etag
    data = bytearray(blob.read_bytes())
    data[1000] ^= 4
    blob.write_bytes(data)
    assert harness.pull().returncode == 0 and blob.read_bytes() == data
    harness.pull_succeeds("--verify")


def test_the_list_may_come_in_pages(harness):
    harness.hub.page_size = 2
    harness.pull_succeeds()


def test_patterns_choose_files(harness):
    run = harness.pull("--include", "*.json", "--exclude", "tokenizer*", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["num_files"] == 4
    assert sorted(os.listdir(harness.snapshot())) == [
        "config.json", "generation_config.json", "model.safetensors.index.json", "preprocessor_config.json"]
    missing = harness.run("generate", "--model", harness.hub.name, "-p", "x")
    assert missing.returncode == 1 and f"pagoda pull {harness.hub.name}" in missing.stderr and SHARD in missing.stderr
    assert not listed(harness)[0]["revisions"][0]["is_complete"]
    harness.pull_fails("*.bin", "config.json", arguments=["--include", "*.bin"])


def test_one_of_several_gguf_files_must_be_chosen(harness):
    harness.hub.files = {name: HubFile(name.encode()) for name in ["a-Q4_K_M.gguf", "a-Q8_0.gguf", "mmproj.gguf", "README.md"]}
    harness.pull_fails("--include", "a-Q4_K_M.gguf", "a-Q8_0.gguf")
    assert harness.pull("--include", "*Q8_0*").returncode == 0
    assert os.listdir(harness.snapshot()) == ["a-Q8_0.gguf"]


def test_a_gguf_is_found_by_its_hub_name(harness):
    harness.hub.files = {"small.gguf": HubFile((ROOT / "Tests/Fixtures/gguf/qwen2.gguf").read_bytes()), "README.md": HubFile(b"x")}
    assert harness.pull().returncode == 0 and os.listdir(harness.snapshot()) == ["small.gguf"]
    run = harness.run("info", harness.hub.name, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["family"] == "qwen2"


def test_other_formats_and_subfolders_are_left_out(harness):
    harness.hub.files |= {name: HubFile(b"x") for name in ["pytorch_model.bin", "consolidated.safetensors", "original/a.json"]}
    assert harness.pull().returncode == 0
    assert len(os.listdir(harness.snapshot())) == 9


def test_an_absent_model_is_named_with_the_command_that_fetches_it(harness):
    for command in [["generate", "-p", "x"], ["tokenize", "x"], ["serve", "--port", "0"], ["bench"], ["chat"]]:
        run = harness.run(*command, "--model", "some/model")
        assert run.returncode == 1 and "pagoda pull some/model" in run.stderr, (command, run.stderr)
    assert not harness.hub.log, "nothing is fetched unless asked for"


def test_chat_offers_to_fetch_a_model_and_continues_into_the_chat(harness):
    with harness.at_terminal("chat", harness.hub.name) as chat:
        assert re.search(rb"Fetch it \([\d.]+ MiB\)\? \[Y/n\]", chat.wait_for(b"[Y/n]"))
        chat.type("n\n")
        assert b"was not fetched" in chat.wait_for_end() and chat.process.wait(timeout=PATIENCE) == 1
    assert not harness.hub.requests("/content/"), "nothing is fetched unless asked for"
    with harness.at_terminal("chat", harness.hub.name, "--temperature", "0") as chat:
        chat.wait_for(b"[Y/n]")
        chat.type("y\n")
        chat.wait_for(b"\x1b[?2004h")  # the chat reads a line
        chat.type(QUESTION + "\r")
        chat.wait_for(b"Paris")
        chat.type("/bye\r")
        chat.wait_for_end()
        assert chat.process.wait(timeout=PATIENCE) == 0
    harness.check_complete()


def test_a_download_shows_disk_and_memory_before_it_begins(harness):
    with harness.at_terminal("chat", harness.hub.name) as chat:
        text = chat.wait_for(b"[Y/n]").decode()
        assert re.search(r"Download: [\d.]+ MiB, [\d.]+ [GT]iB free on the disk\.", text), text
        assert re.search(r"Memory: about [\d.]+ [MG]iB of [\d.]+ [GT]iB: fits\.", text), text
        chat.type("n\n")
        chat.wait_for_end()
    assert not harness.cache.exists() and listed(harness) == [], "a refused download leaves nothing"


def test_info_describes_the_model_on_the_hub_or_in_the_cache(harness):
    remote = harness.run("info", harness.hub.name)
    assert remote.returncode == 0 and SHARD in remote.stdout and "pagoda pull" in remote.stdout
    harness.pull_succeeds()
    assert "Qwen3_5ForConditionalGeneration" in harness.run("info", harness.hub.name).stdout
    assert "Qwen3_5ForConditionalGeneration" in harness.run("info", "mini").stdout


def test_info_of_a_model_that_the_hub_lacks_names_both(harness):
    for arguments in [["some/model"], ["--model", "some/model"]]:
        run = harness.run("info", *arguments)
        assert run.returncode == 1 and "some/model: not found at" in run.stderr, run.stderr


def test_offline_fetches_nothing(harness):
    run = harness.pull(HF_HUB_OFFLINE="1")
    assert run.returncode == 1 and "HF_HUB_OFFLINE" in run.stderr and not harness.hub.log
    harness.pull_succeeds()
    before = len(harness.hub.log)
    assert harness.pull(HF_HUB_OFFLINE="1").returncode == 0 and len(harness.hub.log) == before


def test_list_and_rm(harness):
    assert "pagoda pull" in harness.run("list").stdout
    harness.pull_succeeds()
    assert harness.hub.name in harness.run("list").stdout
    assert listed(harness)[0]["bytes"] == sum(len(file.data) for file in harness.hub.files.values())
    assert harness.run("rm", harness.hub.name + "@other").returncode == 1
    other = harness.repository / "snapshots" / ("f" * 40)
    other.mkdir()
    (other / "config.json").symlink_to(os.readlink(harness.snapshot() / "config.json"))
    run = harness.run("rm", harness.hub.name + "@main")
    assert run.returncode == 0, run.stderr
    assert os.listdir(harness.repository / "blobs") == [harness.hub.files["config.json"].etag], "a shared blob stays"
    harness.check_hashes()
    assert harness.run("rm", harness.hub.name).returncode == 0 and not harness.repository.exists()
    assert harness.run("rm", harness.hub.name).returncode == 1
    harness.pull_succeeds()


@pytest.mark.parametrize("name", ["mini", "a/b/c", "../x", "a/..", "org/na me", "org/name@", "org/name@../x", "-x/y", ""])
def test_names_that_are_none_are_refused(harness, name):
    run = harness.run("pull", "--", name)
    assert run.returncode == 64 and "ORG/NAME" in run.stderr
    assert not harness.hub.log and not harness.cache.exists()


@pytest.mark.parametrize("source", ["variable", "file", "path"])
def test_the_token_goes_to_the_hub_and_nowhere_else(tmp_path, source):
    hub = Hub(MINI, token="hf_secret")
    harness = Harness(hub, tmp_path)
    environment = {"variable": {"HF_TOKEN": "hf_secret\n"}, "file": {}, "path": {"HF_TOKEN_PATH": str(tmp_path / "t")}}[source]
    (tmp_path / {"variable": "none", "file": "token", "path": "t"}[source]).write_text("hf_secret\n")
    harness.pull_succeeds(**environment)
    assert all(entry[3].get("authorization") == "Bearer hf_secret" for entry in hub.requests("", "hub"))
    stored = hub.requests("", "storage")
    assert len(stored) >= 3 and all("authorization" not in entry[3] for entry in stored)
    hub.stop()


def test_a_pull_may_not_follow_a_folder_out_of_the_cache(harness):
    row = {"type": "file", "path": "../../../evil.json", "size": 1, "oid": "0" * 40}
    for change in [{}, {"path": "/evil"}, {"path": "a\\..\\b"}, {"path": "a", "oid": "../x"}, {"path": "a", "size": -1},
                   {"path": "a", "lfs": {"oid": "../" * 21, "size": 1}}]:
        harness.hub.tree_override = [row | change]
        harness.pull_fails(harness.hub.name)
    assert not list(harness.folder.glob("**/evil*"))
