"""Stored responses: continued, read, deleted and cancelled; Codex's items and Anthropic's blocks; keys are isolated from each other."""
import json

import openai
import pytest
import requests
from conftest import MODEL, Server, user, wait_for

PARIS = "What is the capital of France?"


def shown(server, **body):
    """The prompt that a request is rendered to, as text: the number of tokens shows what reached the template."""
    return requests.post(server.url + "/v1/responses/input_tokens", json=body).json()["input_tokens"]


def test_a_response_continues_another(openai_client, server):
    first = openai_client.responses.create(model=MODEL, input=PARIS)
    assert "Paris" in first.output_text and first.store is True
    second = openai_client.responses.create(model=MODEL, input="And of Japan?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    whole = [{"role": "user", "content": PARIS}, {"role": "assistant", "content": first.output_text},
             {"role": "user", "content": "And of Japan?"}]
    same = openai_client.responses.create(model=MODEL, input=whole, store=False)
    assert second.usage.input_tokens == same.usage.input_tokens and second.output_text == same.output_text
    third = openai_client.responses.create(model=MODEL, input="And?", previous_response_id=second.id, stream=True)
    ids = {event.response.id for event in third if event.type in ("response.created", "response.completed", "response.incomplete")}
    assert len(ids) == 1
    kept = openai_client.responses.retrieve(ids.pop())
    assert kept.previous_response_id == second.id and kept.status in ("completed", "incomplete")
    items = openai_client.responses.input_items.list(kept.id).data
    assert [item.role for item in items if item.type == "message"] == ["user", "assistant", "user", "assistant", "user"]
    assert openai_client.responses.retrieve(first.id).output_text == first.output_text
    with pytest.raises(openai.NotFoundError):
        openai_client.responses.retrieve(same.id)  # store was false
    openai_client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        openai_client.responses.retrieve(first.id)
    with pytest.raises(openai.BadRequestError, match="not found"):
        openai_client.responses.create(model=MODEL, input="x", previous_response_id=first.id)
    assert openai_client.responses.retrieve(second.id).id == second.id, "what came before it was copied"
    assert requests.get(server.url + "/v1/responses/").status_code == 404


def test_a_running_response_is_cancelled(openai_client):
    stream = openai_client.responses.create(
        model=MODEL, input="Count.", stream=True, max_output_tokens=8000, extra_body={"ignore_eos": True, "speculate": False})
    events = iter(stream)
    opened = next(event for event in events if event.type == "response.created").response.id
    next(event for event in events if event.type == "response.output_text.delta")
    openai_client.responses.cancel(opened)
    last = [event for event in events][-1]
    assert last.type == "response.incomplete" and last.response.status == "cancelled"
    with pytest.raises(openai.NotFoundError):
        openai_client.responses.cancel(opened)
    done = openai_client.responses.create(model=MODEL, input="Hello!", max_output_tokens=4)
    with pytest.raises(openai.BadRequestError, match="ended"):
        openai_client.responses.cancel(done.id)


def test_input_tokens_and_compact(openai_client, server):
    conversation = [*user(PARIS), {"role": "assistant", "content": "Paris."}, *user("And of Japan?")]
    count = openai_client.responses.input_tokens.count(model=MODEL, input=conversation).input_tokens
    made = openai_client.responses.create(model=MODEL, input=conversation, max_output_tokens=4)
    assert count == made.usage.input_tokens
    compact = requests.post(server.url + "/v1/responses/compact", json={"model": MODEL, "input": conversation, "max_output_tokens": 40}).json()
    assert compact["object"] == "response.compaction"
    assert [item["role"] for item in compact["output"]] == ["user", "user", "assistant"]
    assert compact["output"][0]["content"] == PARIS
    after = openai_client.responses.create(model=MODEL, input=[*compact["output"], *user("Go on.")], max_output_tokens=4)
    assert after.usage.input_tokens > 10


IGNORING = {"ignore_media": True}
CODEX = [
    {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Look: "}, {"type": "input_image", "image_url": "http://169.254.169.254/x.png"},
        {"type": "input_file", "filename": "report.pdf", "file_data": "data:application/pdf;base64,AAAA"}]},
    {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"},
    {"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "c1", "output": "a.txt"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "done"}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "swift"}},
    {"type": "function_call", "call_id": "c3", "name": "shell", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c3", "output": {"content": "ok", "success": True}},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "message", "role": "user", "content": "Go on."},
]


def test_every_item_of_codex_is_read(openai_client, server):
    answer = openai_client.responses.create(model=MODEL, input=CODEX, max_output_tokens=4, reasoning={"effort": "max"}, extra_body=IGNORING)
    assert answer.output
    with pytest.raises(openai.BadRequestError, match="image_url is not a data: URL"):
        openai_client.responses.create(model=MODEL, input=CODEX, max_output_tokens=4)
    for leave_out in (2, 4, 6, 7):  # each of them is part of the prompt
        rest = [item for index, item in enumerate(CODEX) if index != leave_out
                and item.get("call_id") != CODEX[leave_out].get("call_id", "none")]
        assert shown(server, model=MODEL, input=rest, **IGNORING) < shown(server, model=MODEL, input=CODEX, **IGNORING)
    for bad, word in ([{"type": "item_reference", "id": "msg_1"}], "previous_response_id"), ([{"type": "hologram"}], "hologram"):
        with pytest.raises(openai.BadRequestError, match=word):
            openai_client.responses.create(model=MODEL, input=[*user("x"), *bad])


def test_images_become_remarks(server):
    picture = {"type": "image_url", "image_url": {"url": "http://169.254.169.254/x.png"}}
    with_image = [{"role": "user", "content": [{"type": "text", "text": "Look: "}, picture]}]
    spelled = [{"role": "user", "content": "Look: [image]"}]
    tokens = [requests.post(server.url + "/tokenize", json={"messages": messages, **IGNORING}).json()["tokens"]
              for messages in (with_image, spelled)]
    assert tokens[0] == tokens[1]


def test_anthropics_blocks_are_read(anthropic_client):
    def count(*messages):
        return anthropic_client.messages.count_tokens(model=MODEL, messages=list(messages), extra_body=IGNORING).input_tokens

    def of_user(*blocks):
        return {"role": "user", "content": list(blocks)}

    text = {"type": "text", "text": "Hello."}
    document = {"type": "document", "title": "Notes", "source": {"type": "text", "media_type": "text/plain", "data": "A small dog. " * 5}}
    assert count(of_user(document, text)) > count(of_user(text)) + 10
    scan = {"type": "document", "title": "Scan", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert count(of_user(scan, image, text)) > count(of_user(text))
    search = {"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "dogs"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}, {"type": "text", "text": "Found."}]}
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {}}]}
    result = of_user({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "tool_reference", "tool_name": "get_weather"}]})
    answer = anthropic_client.messages.create(
        model=MODEL, max_tokens=4, extra_body=IGNORING, messages=[of_user(document, scan, image, text), search, of_user(text), use, result])
    assert answer.content


def test_keys_see_their_own_and_the_file_keeps_them(tmp_path):
    kept = tmp_path / "responses.jsonl"

    def ask(running, key, method, path, **body):
        return requests.request(method, running.url + path, headers={"Authorization": f"Bearer {key}"}, json=body or None)

    options = ("--api-key", "sk-a", "--api-key", "sk-b", "--responses-file", str(kept))
    running = Server(*options)
    try:
        first = ask(running, "sk-a", "POST", "/v1/responses", input="Hello!", max_output_tokens=4).json()["id"]
        gone = ask(running, "sk-a", "POST", "/v1/responses", input="Hello!", max_output_tokens=4).json()["id"]
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")):
            assert ask(running, "sk-b", method, f"/v1/responses/{first}{path}").status_code == 404
        refused = ask(running, "sk-b", "POST", "/v1/responses", input="x", previous_response_id=first)
        assert refused.status_code == 400 and refused.json()["error"]["code"] == "previous_response_not_found"
        assert ask(running, "sk-a", "DELETE", f"/v1/responses/{gone}").json()["deleted"] is True
    finally:
        running.stop()
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_text(kept.read_text() + '{"owner": "key-1", "resp')  # as left by a killed server
    running = Server(*options)
    try:
        assert ask(running, "sk-a", "GET", f"/v1/responses/{first}").json()["id"] == first
        assert ask(running, "sk-a", "GET", f"/v1/responses/{gone}").status_code == 404
        assert ask(running, "sk-a", "POST", "/v1/responses", input="x", previous_response_id=first, max_output_tokens=2).ok
    finally:
        running.stop()
    assert len(kept.read_text().splitlines()) >= 2 and all(json.loads(line) for line in kept.read_text().splitlines())


def test_a_response_in_the_background(openai_client, server):
    first = openai_client.responses.create(model=MODEL, input=PARIS, background=True)
    assert first.status == "queued" and first.background is True and not first.output
    wait_for(lambda: openai_client.responses.retrieve(first.id).status == "completed", "end of the response")
    done = openai_client.responses.retrieve(first.id)
    assert "Paris" in done.output_text and done.background is True and done.usage.output_tokens > 0
    assert openai_client.responses.create(model=MODEL, input="And of Japan?", previous_response_id=first.id).output_text
    endless = {"ignore_eos": True, "speculate": False}
    running = openai_client.responses.create(
        model=MODEL, input="Count.", background=True, max_output_tokens=8000, extra_body=endless)
    wait_for(lambda: requests.get(server.url + "/health").json()["running"] > 0, "running response")
    assert openai_client.responses.cancel(running.id).status == "cancelled"
    wait_for(lambda: openai_client.responses.retrieve(running.id).status == "cancelled", "end of the response")
    server.wait_until_idle()
    with pytest.raises(openai.BadRequestError, match="temperature"):
        openai_client.responses.create(model=MODEL, input="x", background=True, temperature=-1)
    with pytest.raises(openai.BadRequestError, match="stored responses cannot be streamed"):
        openai_client.responses.retrieve(first.id, stream=True)


def test_conversations(openai_client):
    conversation = openai_client.conversations.create(
        metadata={"topic": "cities"}, items=[{"type": "message", "role": "user", "content": PARIS}])
    assert conversation.metadata == {"topic": "cities"}
    first = openai_client.responses.create(model=MODEL, input="Please.", conversation=conversation.id)
    assert first.conversation.id == conversation.id
    second = openai_client.responses.create(model=MODEL, input="And of Japan?", conversation={"id": conversation.id}, stream=True)
    text = "".join(event.delta for event in second if event.type == "response.output_text.delta")
    items = openai_client.conversations.items.list(conversation.id, order="asc").data
    assert [(item.role, item.content[0].text) for item in items[1:]] == [
        ("user", "Please."), ("assistant", first.output_text), ("user", "And of Japan?"), ("assistant", text)]
    whole = [{"role": "user", "content": PARIS}, {"role": "user", "content": "Please."},
             {"role": "assistant", "content": first.output_text}, {"role": "user", "content": "And of Japan?"}]
    same = openai_client.responses.create(model=MODEL, input=whole, store=False)
    assert same.output_text == text
    assert [item.id for item in openai_client.conversations.items.list(conversation.id, limit=2, order="asc")] == [item.id for item in items]
    assert openai_client.conversations.items.retrieve(items[1].id, conversation_id=conversation.id) == items[1]
    openai_client.conversations.items.delete(items[0].id, conversation_id=conversation.id)
    added = openai_client.conversations.items.create(conversation.id, items=[{"type": "message", "role": "user", "content": "And?"}])
    left = openai_client.conversations.items.list(conversation.id, order="asc").data
    assert [item.id for item in left] == [item.id for item in items[1:] + added.data]
    assert openai_client.conversations.update(conversation.id, metadata={"a": "b"}).metadata == {"a": "b"}
    with pytest.raises(openai.BadRequestError, match="exclude"):
        openai_client.responses.create(model=MODEL, input="x", conversation=conversation.id, previous_response_id=first.id)
    assert openai_client.conversations.delete(conversation.id).deleted
    for read in (lambda: openai_client.conversations.retrieve(conversation.id),
                 lambda: openai_client.responses.create(model=MODEL, input="x", conversation=conversation.id)):
        with pytest.raises(openai.NotFoundError):
            read()


def test_thinking_is_sent_back_encrypted(openai_client, server):
    think = {"effort": "high"}
    first = openai_client.responses.create(model=MODEL, input="What is 12 plus 30?", reasoning=think, store=False,
                                           include=["reasoning.encrypted_content"])
    thought = next(item for item in first.output if item.type == "reasoning")
    assert thought.encrypted_content and thought.content[0].text not in thought.encrypted_content
    asked = [{"role": "user", "content": "What is 12 plus 30?"}]
    call = {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}
    rest = [call, {"type": "function_call_output", "call_id": "c", "output": "42"}]  # a turn whose thinking templates keep
    sealed = {"type": "reasoning", "id": thought.id, "summary": [], "encrypted_content": thought.encrypted_content}
    plain = {"type": "reasoning", "id": thought.id, "summary": [], "content": [{"type": "reasoning_text", "text": thought.content[0].text}]}
    assert shown(server, input=asked + [sealed] + rest) == shown(server, input=asked + [plain] + rest)
    changed = {**sealed, "encrypted_content": thought.encrypted_content[:-6] + "AAAAA="}
    with pytest.raises(openai.BadRequestError, match="has been changed"):
        openai_client.responses.create(model=MODEL, input=asked + [changed] + rest)
    foreign = requests.post(server.url + "/v1/responses", json={
        "input": asked + [{**sealed, "encrypted_content": "gAAAAAB"}] + rest, "max_output_tokens": 2})
    assert foreign.status_code == 200 and "input.encrypted_content" in foreign.headers["x-pagoda-ignored-fields"]
    events = openai_client.responses.create(model=MODEL, input="What is 12 plus 30?", reasoning=think, stream=True,
                                            include=["reasoning.encrypted_content"])
    done = [event.item for event in events if event.type == "response.output_item.done" and event.item.type == "reasoning"]
    assert done[0].encrypted_content
