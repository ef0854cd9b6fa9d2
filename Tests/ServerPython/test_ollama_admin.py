"""Ollama's pull, copy and delete with its official client: for holders of an admin key, against a hub on this machine; refused for others."""
import sys

import ollama
import pytest
from conftest import MODEL, ROOT, Server, user

sys.path.insert(0, str(ROOT / "Tests/HubPython"))
from hub_server import Hub, status  # noqa: E402


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("admin")
    hub = Hub(ROOT / "Sources/MiniModel/files")
    keys = folder / "keys"
    keys.write_text("boss sk-boss - - - - admin\nana sk-ana\n")
    server = Server("--api-key-file", str(keys), environment={
        "HF_HOME": str(folder), "HF_ENDPOINT": hub.url, "no_proxy": "127.0.0.1,localhost", "HF_HUB_DOWNLOAD_TIMEOUT": "60"})
    yield server, hub, folder / "hub" / "models--pagoda--mini"
    assert server.stop() == 0
    hub.stop()


def client(server, key):
    return ollama.Client(host=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)


def test_an_administrator_pulls_and_deletes(running):
    server, hub, cached = running
    boss = client(server, "sk-boss")
    parts = list(boss.pull(hub.name, stream=True))
    assert parts[0].status == "pulling manifest" and parts[-1].status == "success"
    counted = [part for part in parts if part.total]
    assert counted[-1].completed == counted[-1].total > 1_000_000 and cached.is_dir()
    assert boss.pull(hub.name).status == "success", "it is there already"
    boss.delete(hub.name)
    assert not cached.exists()
    with pytest.raises(ollama.ResponseError) as error:
        boss.delete(hub.name)
    assert error.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="not") as error:
        boss.pull("pagoda/other")
    assert error.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="other"):
        list(boss.pull("pagoda/other", stream=True))
    hub.faults["api"] = [status(401)]
    with pytest.raises(ollama.ResponseError):
        boss.pull(hub.name)
    with pytest.raises(ollama.ResponseError, match="served") as error:
        boss.delete(MODEL)
    assert error.value.status_code == 409


def test_an_administrator_copies(running):
    server = running[0]
    boss, ana = client(server, "sk-boss"), client(server, "sk-ana")
    boss.copy(MODEL, "my-copy")
    assert "my-copy:latest" in [model.model for model in ana.list().models]
    for name in ("my-copy", "my-copy:latest"):
        assert "Paris" in ana.chat(model=name, messages=user("What is the capital of France?")).message.content
    with pytest.raises(ollama.ResponseError) as error:
        boss.copy("other", "x")
    assert error.value.status_code == 404
    with pytest.raises(ollama.ResponseError) as error:
        boss.copy(MODEL, MODEL)
    assert error.value.status_code == 409
    boss.delete("my-copy")
    with pytest.raises(ollama.ResponseError):
        ana.chat(model="my-copy", messages=user("x"))


def test_others_are_refused(running):
    server, hub, cached = running
    ana = client(server, "sk-ana")
    with pytest.raises(ollama.ResponseError, match="admin key") as error:
        ana.pull(hub.name)
    assert error.value.status_code == 404 and not cached.exists()
    for call in (lambda: ana.copy(MODEL, "x"), lambda: ana.delete(hub.name)):
        with pytest.raises(ollama.ResponseError, match="admin key") as error:
            call()
        assert error.value.status_code == 403


def test_without_keys_nobody_is_an_administrator(server):
    anyone = ollama.Client(host=server.url, timeout=300)
    for call in (lambda: anyone.copy(MODEL, "x"), lambda: anyone.delete("pagoda/mini")):
        with pytest.raises(ollama.ResponseError, match="admin key"):
            call()
