"""Requests of clients that do not run here, editors and large programs: each gets the stream that its client reads."""
import json

import pytest
import requests
from conftest import MODEL, ROOT

CASES = [(path.stem, case) for path in sorted((ROOT / "Tests/Fixtures/clients").glob("*.json"))
         for case in json.loads(path.read_text())["requests"]]


def read_stream(response):
    """The chunks of a stream, which must end with its mark."""
    events = [line[6:] for line in response.iter_lines(decode_unicode=True) if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


@pytest.mark.parametrize("client, case", CASES, ids=[f"{client}: {case['name']}" for client, case in CASES])
def test_a_request_of_a_client_is_answered(server, client, case):
    path = case.get("path", "/v1/chat/completions")
    body = {"model": MODEL, **case["body"]}
    with requests.post(server.url + path, json=body, headers=case["headers"], stream=True, timeout=600) as response:
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "x-pagoda-ignored-fields" not in response.headers, "every field has its effect"
        chunks = read_stream(response)
    assert len({chunk["id"] for chunk in chunks}) == 1 and {chunk["model"] for chunk in chunks} == {MODEL}
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    finishes = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    assert len(finishes) == 1 and finishes[0] in ("stop", "length", "tool_calls")
    asks_for_usage = body.get("stream_options", {}).get("include_usage", False)
    assert any(chunk.get("usage") for chunk in chunks) == asks_for_usage
    if path == "/v1/completions":
        text = "".join(choice["text"] for choice in choices)
        assert text and not any(stop in text for stop in body["stop"] or [])
        return
    assert choices[0]["delta"]["role"] == "assistant"
    calls = {}
    for choice in choices:
        for delta in choice["delta"].get("tool_calls") or []:
            call = calls.setdefault(delta["index"], {"arguments": "", **delta})
            call["arguments"] += delta["function"].get("arguments") or ""
    names = {tool["function"]["name"] for tool in body.get("tools", [])}
    for call in calls.values():
        assert call["id"] and call["function"]["name"] in names and isinstance(json.loads(call["arguments"]), dict)
    assert (finishes[0] == "tool_calls") == bool(calls)
    text = "".join(choice["delta"].get("content") or choice["delta"].get("reasoning_content") or "" for choice in choices)
    assert text or calls
