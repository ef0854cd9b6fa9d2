"""llama.cpp's routes and LM Studio's model list, in their formats."""
import json

import requests
from conftest import MODEL

PROMPT = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"


def complete(server, **body):
    return requests.post(server.url + "/completion", json={"prompt": PROMPT, "temperature": 0, **body})


def test_completion_whole_and_streamed(server):
    whole = complete(server, n_predict=-1, seed=-1, cache_prompt=True, return_tokens=True, n_probs=2).json()
    assert "Paris" in whole["content"] and whole["stop"] is True and whole["stop_type"] == "eos"
    assert len(whole["tokens"]) == whole["tokens_predicted"] == whole["timings"]["predicted_n"]
    assert len(whole["completion_probabilities"][0]["top_logprobs"]) == 2
    lines = complete(server, stream=True).text.split("\n\n")
    parts = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert "".join(part["content"] for part in parts) == whole["content"]
    assert [part["stop"] for part in parts] == [False] * (len(parts) - 1) + [True]
    assert complete(server, n_predict=2).json()["stop_type"] == "limit"
    word = complete(server, stop=["Paris"]).json()
    assert word["stop_type"] == "word" and word["stopping_word"] == "Paris" and "Paris" not in word["content"]


def test_grammars(server):
    assert complete(server, grammar='root ::= "yes" | "no"').json()["content"] in ("yes", "no")
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    assert set(json.loads(complete(server, json_schema=schema, n_predict=60).json()["content"])) == {"a"}
    for body, param in (({"grammar": "root ::= ("}, "grammar"), ({"n_predict": "x"}, "n_predict"), ({"prompt": ""}, "prompt"),
                        ({"grammar": "x", "json_schema": {}}, "grammar"), ({"repeat_penalty": -1}, "repeat_penalty")):
        refused = complete(server, **body)
        assert refused.status_code == 400 and refused.json()["error"]["param"] == param, (body, refused.text)
    infill = requests.post(server.url + "/infill", json={"input_prefix": "a", "input_suffix": "b"})
    assert infill.status_code == 400 and "fill-in-the-middle" in infill.json()["error"]["message"]


def test_read_routes(server):
    server.wait_until_idle()
    props = requests.get(server.url + "/props").json()
    slots = requests.get(server.url + "/slots").json()
    assert props["total_slots"] == len(slots) and props["default_generation_settings"]["n_ctx"] > 0
    assert not any(slot["is_processing"] for slot in slots)
    assert [model["id"] for model in requests.get(server.url + "/api/v0/models").json()["data"]][0] == MODEL
