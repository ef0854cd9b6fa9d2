"""What people see before a download, in tmux, with a hub whose models are of all sizes: what it needs, whether it fits, what to take instead."""
import json
import re

import pytest
from conftest import MINI, Harness
from hub_server import Hub
from tmux import Tmux

GIB = 1 << 30


@pytest.fixture
def hub_with(tmp_path):
    """Makes a hub with one model, whose weights are listed with a size but never sent."""
    hubs = []

    def make(name, weight_bytes):
        hub = Hub(MINI, name=name)
        rows = [{"type": "file", "path": path, "size": len(file.data), "oid": file.git_hash}
                for path, file in hub.files.items() if path.endswith(".json")]
        size = weight_bytes // 2
        rows += [{"type": "file", "path": f"model-{part}.safetensors", "size": size, "oid": "0" * 40, "lfs": {"oid": f"{part:064}", "size": size}}
                 for part in (1, 2)]
        hub.tree_override = rows
        hubs.append(hub)
        return Harness(hub, tmp_path)
    yield make
    for hub in hubs:
        hub.stop()


def window(harness, *arguments, columns):
    return Tmux(harness.folder, *arguments, columns=columns, rows=60, HF_ENDPOINT=harness.hub.url, HF_HUB_CACHE=harness.cache,
                HF_HOME=harness.folder, no_proxy="127.0.0.1,localhost")


def limits(harness):
    plan = json.loads(harness.run("info", "--json").stdout)["memory_plan"]
    return plan["device_limit_bytes"]


def check_nothing_left(harness):
    assert not harness.hub.requests("/content/") and not harness.hub.requests("/resolve/"), "no file was asked for"
    assert not harness.cache.exists()
    models = json.loads(harness.run("list", "--json", HOME=str(harness.folder)).stdout)
    assert [model["model"] for model in models] == ["mini"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_model_that_fits_is_refused_without_a_trace(hub_with, columns):
    harness = hub_with("some/model", GIB)
    with window(harness, "chat", "some/model", columns=columns) as chat:
        chat.wait_for(lambda: "[Y/n]" in chat.words(), "question")
        text = chat.words()
        assert re.search(r"Download: 1\.00 GiB, [\d.]+ [GT]iB free on the disk\. ", text), text
        assert re.search(r"Memory: about 1\.00 GiB of [\d.]+ [GT]iB: fits\. Fetch it \(1\.00 GiB\)\? \[Y/n\]", text), text
        assert not chat.broken_lines(columns), chat.text()
        chat.type("n")
        chat.key("Enter")
        assert chat.wait_for_end() == 1 and "some/model was not fetched" in chat.words()
    check_nothing_left(harness)


@pytest.mark.parametrize("columns", [40, 80])
def test_the_format_that_would_be_chosen_is_named(hub_with, columns):
    name = "some/model"
    harness = hub_with(name, 1)
    limit = limits(harness)
    harness = hub_with(name, limit * 5 // 2)  # 4.5 of 16 bits per weight fit, 8.5 do not
    with window(harness, "chat", name, columns=columns) as chat:
        chat.wait_for(lambda: "[Y/n]" in chat.text() or chat.status() is not None, "question")
        text = chat.words()
        if "cannot" in text or "more on the disk" in text:
            assert "does not fit" in text  # a disk smaller than the memory
        else:
            assert "does not fit. With --quantize 4bit it fits: about" in text and "and use --quantize 4bit? [Y/n]" in text, text
            chat.type("n")
            chat.key("Enter")
        assert chat.wait_for_end() == 1 and not chat.broken_lines(columns), chat.text()
    check_nothing_left(harness)


def test_enter_does_not_fetch_what_cannot_run(hub_with):
    harness = hub_with("some/model", 1)
    harness = hub_with("some/model", limits(harness) * 4)
    with window(harness, "chat", "some/model", columns=80) as chat:
        chat.wait_for(lambda: "[y/N]" in chat.text() or chat.status() is not None, "question")
        text = chat.words()
        assert "does not fit, not even with --quantize 4bit." in text, text
        assert re.search(r"This would fit: pagoda chat qwen3\.5:\S+ --quantize 4bit \([\d.]+ [MG]iB\)", text), text
        if chat.status() is None:
            chat.key("Enter")
        assert chat.wait_for_end() == 1
    check_nothing_left(harness)


@pytest.mark.parametrize("command", ["chat", "pull"])
def test_a_disk_without_room_is_named_before_the_question(hub_with, command):
    harness = hub_with("some/model", 1 << 50)
    with window(harness, command, "some/model", columns=80) as pagoda:
        assert pagoda.wait_for_end() == 1
        text = pagoda.words()
        assert re.search(r"Download: 1024\.0 TiB, [\d.]+ [GT]iB free on the disk: does not fit\.", text), text
        assert "This would fit: pagoda chat qwen3.5:" in text and "HF_HUB_CACHE names another folder" in text, text
        assert "Fetch it" not in text and not pagoda.broken_lines(80), text
    check_nothing_left(harness)
