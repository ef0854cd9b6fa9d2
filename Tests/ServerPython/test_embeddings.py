"""Embeddings: OpenAI's and Ollama's formats, vLLM's rerank, pagoda embed; compared with the numbers of transformers."""
import base64
import contextlib
import json
import math
import shutil
import struct
import subprocess

import ollama
import openai
import pytest
import requests
from conftest import MODEL, PROGRAM, ROOT, Server

TEXTS = ["The capital of France is Paris.", "A small dog.", "The capital of France is Paris."]


def length(vector):
    return math.sqrt(sum(value * value for value in vector))


def test_openai_s_embeddings(openai_client):
    answer = openai_client.embeddings.create(model=MODEL, input=TEXTS, encoding_format="float")
    vectors = [item.embedding for item in answer.data]
    assert [item.index for item in answer.data] == [0, 1, 2]
    assert all(math.isclose(length(vector), 1, rel_tol=1e-5) for vector in vectors)
    assert vectors[0] == vectors[2] != vectors[1]
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > 10
    assert openai_client.embeddings.create(model=MODEL, input=TEXTS[1], encoding_format="float").data[0].embedding == vectors[1]
    packed = openai_client.embeddings.create(model=MODEL, input=TEXTS[1])  # the client requests base64 by default
    assert packed.data[0].embedding == pytest.approx(vectors[1], abs=1e-7)
    short = openai_client.embeddings.create(model=MODEL, input=TEXTS[1], dimensions=8, encoding_format="float").data[0].embedding
    scale = length(vectors[1][:8])
    assert short == pytest.approx([value / scale for value in vectors[1][:8]], abs=1e-6)


def test_base64_and_token_ids(server):
    url = server.url + "/v1/embeddings"
    ids = requests.post(server.url + "/tokenize", json={"prompt": TEXTS[0]}).json()["tokens"]
    as_text = requests.post(url, json={"input": TEXTS[0]}).json()["data"][0]["embedding"]
    for given in (ids, [ids]):
        packed = requests.post(url, json={"input": given, "encoding_format": "base64"}).json()["data"][0]["embedding"]
        raw = base64.b64decode(packed)
        assert list(struct.unpack(f"<{len(raw) // 4}f", raw)) == pytest.approx(as_text, abs=1e-7)
    for body, param in (({"input": []}, "input"), ({"input": ""}, "input"), ({"input": ["a", ""]}, "input[1]"), ({}, "input"),
                        ({"input": [1e9]}, "input"), ({"input": {"a": 1}}, "input"), ({"input": "a", "dimensions": 0}, "dimensions"),
                        ({"input": "a", "encoding_format": "int8"}, "encoding_format"), ({"input": ["a"] * 2049}, "input")):
        refused = requests.post(url, json=body)
        assert refused.status_code == 400 and refused.json()["error"]["param"] == param, (body, refused.text)
    long = requests.post(url, json={"input": "word " * 40000})
    assert long.status_code == 400 and long.json()["error"]["code"] == "context_length_exceeded"


def test_rerank_puts_the_nearest_first(server):
    body = {"query": TEXTS[0], "documents": [TEXTS[1], {"text": TEXTS[0]}, "Something else."], "top_n": 2}
    answer = requests.post(server.url + "/v1/rerank", json=body).json()
    assert [result["index"] for result in answer["results"]][0] == 1 and len(answer["results"]) == 2
    first = answer["results"][0]
    assert math.isclose(first["relevance_score"], 1, rel_tol=1e-5) and first["document"]["text"] == TEXTS[0]
    assert first["relevance_score"] >= answer["results"][1]["relevance_score"]
    for change, param in (({"query": None}, "query"), ({"documents": []}, "documents"), ({"documents": [1]}, "documents[0]")):
        refused = requests.post(server.url + "/v1/rerank", json={**body, **change})
        assert refused.status_code == 400 and refused.json()["error"]["param"] == param


def test_ollama_s_embed(server):
    client = ollama.Client(host=server.url)
    answer = client.embed(model=MODEL, input=TEXTS)
    assert len(answer.embeddings) == 3 and answer.embeddings[0] == answer.embeddings[2]
    assert answer.prompt_eval_count > 10
    single = client.embed(model=MODEL, input="word " * 40000)  # truncated by default
    assert math.isclose(length(single.embeddings[0]), 1, rel_tol=1e-5)
    with pytest.raises(ollama.ResponseError):
        client.embed(model=MODEL, input="word " * 40000, truncate=False)
    assert len(client.embeddings(model=MODEL, prompt=TEXTS[1]).embedding) == len(answer.embeddings[0])


def test_the_command(server):
    wanted = [item["embedding"] for item in requests.post(server.url + "/v1/embeddings", json={"input": TEXTS}).json()["data"]]
    run = subprocess.run([PROGRAM, "embed", "--json"], input="\n".join(TEXTS) + "\n", capture_output=True, text=True, check=True)
    made = [json.loads(line) for line in run.stdout.splitlines()]
    assert [item["text"] for item in made] == TEXTS
    assert [item["embedding"] for item in made] == wanted


def bare_decoder(folder):
    """The fixture in the layout of embedding models: without the name prefix of the decoder, and without a head."""
    source = ROOT / "Tests/Fixtures/model/qwen3"
    folder.mkdir()
    shutil.copy(source / "config.json", folder)
    data = (source / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    tensors, kept = {}, b""
    for name, entry in header.items():
        if name in ("__metadata__", "lm_head.weight"):
            continue
        begin, end = entry["data_offsets"]
        tensors[name.removeprefix("model.")] = {**entry, "data_offsets": [len(kept), len(kept) + end - begin]}
        kept += body[begin:end]
    text = json.dumps(tensors).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + kept)


def test_the_numbers_are_those_of_transformers(tmp_path):
    folder = tmp_path / "embedder"
    bare_decoder(folder)
    expected = json.loads((ROOT / "Tests/Fixtures/model/qwen3/embedding.json").read_text())
    (folder / "1_Pooling").mkdir()
    for pooling in ("last", "mean"):
        flags = {"pooling_mode_lasttoken": pooling == "last", "pooling_mode_mean_tokens": pooling == "mean"}
        (folder / "1_Pooling/config.json").write_text(json.dumps(flags))
        running = Server("--model", str(folder), "--dtype", "float32")
        try:
            body = {"input": expected["ids"], "normalize": False}
            made = requests.post(running.url + "/v1/embeddings", json=body).json()["data"][0]["embedding"]
            assert made == pytest.approx(expected[pooling], abs=2e-4), pooling
        finally:
            running.stop()


def test_a_client_that_leaves_frees_the_engine(server):
    for _ in range(3):
        # Timeout while it waits, ConnectionError while it still sends; it does not matter if one was answered in time.
        with contextlib.suppress(requests.Timeout, requests.ConnectionError):
            requests.post(server.url + "/v1/embeddings", json={"input": ["word " * 300] * 64}, timeout=0.05)
    server.wait_until_idle()
    assert openai.OpenAI(base_url=server.url + "/v1", api_key="x").embeddings.create(model=MODEL, input="a").data
