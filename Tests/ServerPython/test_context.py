"""Conversations longer than the context, and the progress of long prompts: only what a client asks for changes."""
import json

import pytest
import requests
from conftest import Server, user


@pytest.fixture(scope="module")
def small():
    server = Server("--max-model-len", "256", "--max-num-batched-tokens", "16")
    yield server
    server.stop()


def conversation(turns):
    messages = [{"role": "system", "content": "Answer briefly."}]
    for number in range(turns):
        messages += user(f"What is {number} plus {number}?") + [{"role": "assistant", "content": f"{number} + {number} = {2 * number}."}]
    return messages + user("What is the capital of France?")


def post(server, **body):
    return requests.post(server.url + "/v1/chat/completions", json=body, timeout=300)


def test_a_long_conversation_is_refused_unless_the_client_allows_the_cut(small):
    for body in [{}, {"truncation": "disabled"}]:
        refused = post(small, messages=conversation(20), max_tokens=16, **body)
        assert refused.status_code == 400 and refused.json()["error"]["code"] == "context_length_exceeded"
    cut = post(small, messages=conversation(20), max_tokens=16, truncation="auto")
    assert cut.status_code == 200 and "Paris" in cut.json()["choices"][0]["message"]["content"]
    assert int(cut.headers["x-pagoda-omitted-messages"]) % 2 == 0
    short = post(small, messages=conversation(1), max_tokens=16, truncation="auto")
    assert "x-pagoda-omitted-messages" not in short.headers
    assert post(small, messages=conversation(1), truncation="sometimes").status_code == 400


def chunks(server, **body):
    answer = post(server, messages=conversation(5), max_tokens=4, stream=True, **body)
    lines = [line[6:] for line in answer.text.split("\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_progress_is_reported_only_to_clients_that_ask(small):
    salt = {"cache_salt": "a"}
    assert not any("prompt_progress" in chunk for chunk in chunks(small, **salt))
    reports = [chunk for chunk in chunks(small, return_progress=True, cache_salt="b") if "prompt_progress" in chunk]
    assert reports and all(chunk["choices"] == [] for chunk in reports)
    progress = reports[0]["prompt_progress"]
    assert 0 < progress["processed"] < progress["total"] and progress["cache"] == 0 and progress["time_ms"] >= 0
