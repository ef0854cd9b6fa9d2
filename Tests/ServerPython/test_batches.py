"""Files and batches with the official clients: every line is answered or refused by itself, keys see their own, and they can be ended."""
import json

import anthropic
import openai
import pytest
import requests
from conftest import LONG, MODEL, Server, user, wait_for

PARIS = "What is the capital of France?"


def line(name, body, url="/v1/chat/completions"):
    return json.dumps({"custom_id": name, "method": "POST", "url": url, "body": body})


def chat(text=PARIS, **more):
    return {"model": MODEL, "messages": user(text), **more}


def upload(client, *lines):
    return client.files.create(file=("input.jsonl", "\n".join(lines).encode()), purpose="batch")


def start(client, *lines, endpoint="/v1/chat/completions"):
    return client.batches.create(input_file_id=upload(client, *lines).id, endpoint=endpoint, completion_window="24h",
                                 metadata={"a": "b"})


def ended(client, batch):
    wait_for(lambda: client.batches.retrieve(batch.id).status not in ("in_progress", "cancelling"), "end of the batch")
    return client.batches.retrieve(batch.id)


def results(client, file):
    return {value["custom_id"]: value for value in map(json.loads, client.files.content(file).text.splitlines())}


def test_files_are_stored_listed_read_and_deleted(openai_client):
    content = b"{\"custom_id\": \"1\"}\r\n--boundary\r\n\r\n" + bytes(range(256))
    file = openai_client.files.create(file=("two words.jsonl", content), purpose="batch")
    assert file.bytes == len(content) and file.filename == "two words.jsonl" and file.purpose == "batch"
    assert openai_client.files.retrieve(file.id) == file
    assert file.id in [each.id for each in openai_client.files.list(purpose="batch")]
    assert openai_client.files.content(file.id).read() == content
    more = [openai_client.files.create(file=b"x", purpose="batch").id for _ in range(3)]
    pages = [each.id for each in openai_client.files.list(limit=2, order="asc")]
    assert [each for each in pages if each in (file.id, *more)] == [file.id, *more], "the client follows the pages"
    for each in (file.id, *more):
        assert openai_client.files.delete(each).deleted
    with pytest.raises(openai.NotFoundError):
        openai_client.files.content(file.id)
    with pytest.raises(openai.BadRequestError, match="purpose"):
        openai_client.files.create(file=b"x", purpose="assistants")
    with pytest.raises(openai.BadRequestError, match="limit"):
        openai_client.files.list(limit=0)


def test_every_line_of_a_batch_is_answered_by_itself(openai_client):
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    lines = [
        line("one", chat()), line("two", chat("What is the capital of Japan?")), "this is not JSON", "",
        line("wrong", chat(temperature=-1)), line("stream", chat(stream=True)), line("one", chat()),
        line("path", chat(), url="/v1/completions"), line("tool", chat(tools=[tool], tool_choice="required")),
        line("model", {**chat(), "model": "other"}), line("several", chat(n=2)),
    ]
    batch = start(openai_client, *lines)
    assert batch.status == "in_progress" and batch.metadata == {"a": "b"} and batch.request_counts.total == 10
    done = ended(openai_client, batch)
    assert done.status == "completed" and done.completed_at and not done.errors
    answers, errors = results(openai_client, done.output_file_id), results(openai_client, done.error_file_id)
    assert set(answers) == {"one", "two", "tool", "several"} and set(errors) == {None, "wrong", "stream", "one", "path", "model"}
    assert (done.request_counts.completed, done.request_counts.failed) == (4, 6)
    direct = openai_client.chat.completions.create(**chat())
    body = answers["one"]["response"]["body"]
    assert body["choices"][0]["message"]["content"] == direct.choices[0].message.content and answers["one"]["error"] is None
    assert answers["one"]["response"]["status_code"] == 200 and len(answers["several"]["response"]["body"]["choices"]) == 2
    assert answers["tool"]["response"]["body"]["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert errors["wrong"]["response"]["status_code"] == 400
    assert errors["wrong"]["response"]["body"]["error"]["param"] == "temperature"
    assert errors["model"]["response"]["status_code"] == 404 and "more than once" in errors["one"]["error"]["message"]
    assert "line 3" in errors[None]["error"]["message"]
    listed = [each.id for each in openai_client.batches.list(limit=1)]
    assert batch.id in listed
    assert {done.output_file_id, done.error_file_id} <= {each.id for each in openai_client.files.list(purpose="batch_output")}
    with pytest.raises(openai.ConflictError):
        openai_client.batches.cancel(batch.id)


@pytest.mark.parametrize("endpoint, body", [
    ("/v1/completions", {"prompt": "One, two,", "max_tokens": 4}), ("/v1/embeddings", {"input": ["a", "b"]}),
    ("/v1/responses", {"input": PARIS})])
def test_other_endpoints_answer_lines(openai_client, endpoint, body):
    done = ended(openai_client, start(openai_client, line("a", body, endpoint), endpoint=endpoint))
    answer = results(openai_client, done.output_file_id)["a"]["response"]["body"]
    assert answer["object"] in ("text_completion", "list", "response")


def test_a_batch_is_cancelled(openai_client, server):
    batch = start(openai_client, *(line(str(number), chat(**LONG)) for number in range(30)))
    wait_for(lambda: requests.get(server.url + "/health").json()["running"] > 0, "running line")
    with pytest.raises(openai.ConflictError, match="reads the file"):
        openai_client.files.delete(batch.input_file_id)
    assert openai_client.batches.cancel(batch.id).cancelling_at
    done = ended(openai_client, batch)
    assert done.status == "cancelled" and done.request_counts.completed < 30
    errors = results(openai_client, done.error_file_id)
    assert len(errors) + done.request_counts.completed == 30
    assert {each["error"]["code"] for each in errors.values()} == {"batch_cancelled"}
    server.wait_until_idle()


def test_clients_that_wait_go_first(openai_client):
    """With one place for answers the lines of a batch are in the queue before the request, which still does not wait for them."""
    small = Server("--max-num-seqs", "1")
    client = openai.OpenAI(base_url=small.url + "/v1", api_key="none", max_retries=0, timeout=300)
    batch = start(client, *(line(str(number), chat(max_tokens=200, ignore_eos=True)) for number in range(40)))
    wait_for(lambda: client.batches.retrieve(batch.id).request_counts.completed > 0, "answered line")
    assert "Paris" in client.chat.completions.create(**chat()).choices[0].message.content
    left = 40 - client.batches.retrieve(batch.id).request_counts.completed
    assert left > 20, "the request was answered before most of the batch"
    client.batches.cancel(batch.id)
    assert small.stop() == 0


def test_keys_see_their_own(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("ana a\nben b\n")
    running = Server("--api-key-file", str(keys))
    ana, ben = (openai.OpenAI(base_url=running.url + "/v1", api_key=key, max_retries=0) for key in "ab")
    batch = start(ana, line("1", chat()))
    done = ended(ana, batch)
    assert "Paris" in results(ana, done.output_file_id)["1"]["response"]["body"]["choices"][0]["message"]["content"]
    for read in (lambda: ben.batches.retrieve(batch.id), lambda: ben.batches.cancel(batch.id),
                 lambda: ben.files.content(done.output_file_id), lambda: ben.files.delete(batch.input_file_id),
                 lambda: ben.batches.create(input_file_id=batch.input_file_id, endpoint="/v1/chat/completions",
                                            completion_window="24h")):
        with pytest.raises(openai.NotFoundError):
            read()
    assert not ben.batches.list().data and not ben.files.list().data
    other = anthropic.Anthropic(base_url=running.url, api_key="b", max_retries=0)
    request = {"custom_id": "a", "params": {"model": MODEL, "max_tokens": 5, "messages": user(PARIS)}}
    message = other.messages.batches.create(requests=[request])
    with pytest.raises(anthropic.NotFoundError):
        anthropic.Anthropic(base_url=running.url, api_key="a", max_retries=0).messages.batches.retrieve(message.id)
    assert running.stop() == 0


def test_anthropic_batches(anthropic_client):
    def request(name, text=PARIS, **more):
        return {"custom_id": name, "params": {"model": MODEL, "max_tokens": 50, "messages": user(text), **more}}

    batches = anthropic_client.messages.batches
    batch = batches.create(requests=[request("one"), request("wrong", temperature=-1), request("two", "What is the capital of Japan?")])
    assert batch.processing_status == "in_progress" and batch.results_url is None
    wait_for(lambda: batches.retrieve(batch.id).processing_status == "ended", "end of the batch")
    done = batches.retrieve(batch.id)
    assert (done.request_counts.succeeded, done.request_counts.errored, done.request_counts.processing) == (2, 1, 0)
    found = {each.custom_id: each.result for each in batches.results(batch.id)}
    assert "Paris" in found["one"].message.content[0].text and "Tokyo" in found["two"].message.content[0].text
    assert found["wrong"].type == "errored" and found["wrong"].error.error.type == "invalid_request_error"
    assert batch.id in [each.id for each in batches.list(limit=1)]
    assert batches.delete(batch.id).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError):
        batches.retrieve(batch.id)
    for wrong in ([request("a"), request("a")], [request("a b")], []):
        with pytest.raises(anthropic.BadRequestError):
            batches.create(requests=wrong)


def test_an_anthropic_batch_is_cancelled(anthropic_client, server):
    batches = anthropic_client.messages.batches
    long = {"model": MODEL, "max_tokens": 8000, "messages": user("Count to a thousand."), "temperature": 1, "top_k": 0}
    batch = batches.create(requests=[{"custom_id": str(number), "params": long} for number in range(200)])
    with pytest.raises(anthropic.BadRequestError, match="not ended"):
        batches.delete(batch.id)
    assert batches.cancel(batch.id).cancel_initiated_at
    wait_for(lambda: batches.retrieve(batch.id).processing_status == "ended", "end of the batch")
    kinds = [each.result.type for each in batches.results(batch.id)]
    assert len(kinds) == 200 and kinds.count("canceled") == batches.retrieve(batch.id).request_counts.canceled > 0
    server.wait_until_idle()
