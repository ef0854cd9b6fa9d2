"""LoRA adapters: chosen by `model` or `lora`, listed, loaded and unloaded while the server runs."""
import json
import random
import struct

import pytest
import requests
from served import MODEL, ROOT, Server, user

MINI = ROOT / "Sources/MiniModel/files"


def write_adapter(folder, seed):
    """An adapter of the embedded model on every MLP, large enough to change an answer."""
    config = json.loads((MINI / "config.json").read_text())
    config = config.get("text_config", config)
    hidden, inner, rank = config["hidden_size"], config["intermediate_size"], 2
    numbers = random.Random(seed)
    header, data = {}, b""
    for layer in range(config["num_hidden_layers"]):
        for half, shape in (("A", [rank, inner]), ("B", [hidden, rank])):
            raw = struct.pack(f"<{shape[0] * shape[1]}f", *(numbers.gauss(0, 0.5) for _ in range(shape[0] * shape[1])))
            header[f"base_model.model.model.layers.{layer}.mlp.down_proj.lora_{half}.weight"] = {
                "dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
    folder.mkdir()
    text = json.dumps(header).encode()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": 4}))
    return folder


@pytest.fixture(scope="module")
def adapters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapters")
    return [write_adapter(folder / name, seed) for seed, name in enumerate(("one", "two"))]


@pytest.fixture(scope="module")
def lora_server(adapters):
    server = Server("--lora", f"one={adapters[0]}", "--lora-memory", "4MiB", "--allow-lora-loading")
    yield server
    server.stop()


def answer(server, **fields):
    body = {"messages": user("What is the capital of France?"), "temperature": 0, "max_tokens": 12, **fields}
    response = requests.post(server.url + "/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def text(server, **fields):
    return answer(server, **fields)["choices"][0]["message"]["content"]


def post(server, path, **body):
    return requests.post(server.url + path, json=body)


def test_requests_choose_an_adapter_by_model_or_field(lora_server):
    plain, adapted = text(lora_server), text(lora_server, model="one")
    assert plain != adapted
    assert text(lora_server, lora="one") == adapted
    assert answer(lora_server, model="one")["model"] == "one"
    assert text(lora_server, model=MODEL) == plain
    refused = post(lora_server, "/v1/chat/completions", messages=user("Hi"), lora="none")
    assert refused.status_code == 404 and refused.json()["error"]["param"] == "lora"


def test_models_list_adapters_with_their_parent(lora_server):
    models = {model["id"]: model for model in requests.get(lora_server.url + "/v1/models").json()["data"]}
    assert models["one"]["parent"] in models and "parent" not in models[models["one"]["parent"]]
    assert requests.get(lora_server.url + "/v1/models/one").json()["id"] == "one"


def test_adapters_load_and_unload_while_the_server_runs(lora_server, adapters):
    assert post(lora_server, "/v1/chat/completions", messages=user("Hi"), model="two").status_code == 404
    loaded = post(lora_server, "/v1/load_lora_adapter", lora_name="two", lora_path=str(adapters[1]))
    assert loaded.status_code == 200, loaded.text
    assert text(lora_server, model="two") not in (text(lora_server), text(lora_server, model="one"))
    again = post(lora_server, "/v1/load_lora_adapter", lora_name="two", lora_path=str(adapters[1]))
    assert again.status_code == 400 and "two" in again.json()["error"]["message"]
    assert post(lora_server, "/v1/unload_lora_adapter", lora_name="two").status_code == 200
    assert post(lora_server, "/v1/unload_lora_adapter", lora_name="two").status_code == 404
    assert post(lora_server, "/v1/chat/completions", messages=user("Hi"), model="two").status_code == 404


def test_bad_adapters_are_refused_by_name(lora_server, adapters, tmp_path):
    missing = post(lora_server, "/v1/load_lora_adapter", lora_name="x", lora_path=str(tmp_path))
    assert missing.status_code in (400, 404) and "adapter_config.json" in missing.json()["error"]["message"]
    dora = tmp_path / "dora"
    dora.mkdir()
    (dora / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "use_dora": True}))
    refused = post(lora_server, "/v1/load_lora_adapter", lora_name="x", lora_path=str(dora))
    assert refused.status_code == 400 and "DoRA" in refused.json()["error"]["message"]
    assert post(lora_server, "/v1/load_lora_adapter", lora_name=MODEL, lora_path=str(adapters[1])).status_code == 400
    assert post(lora_server, "/v1/load_lora_adapter", lora_name="x").status_code == 400


def test_loading_needs_permission(server, adapters):
    refused = post(server, "/v1/load_lora_adapter", lora_name="x", lora_path=str(adapters[0]))
    assert refused.status_code == 403 and "--allow-lora-loading" in refused.json()["error"]["message"]
