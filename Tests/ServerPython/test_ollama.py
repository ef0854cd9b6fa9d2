"""The official ollama client drives Ollama's API: chat, generate, tools, thinking, formats, options, and apps' first requests."""
import json

import ollama
import pytest
import requests
from conftest import MODEL, user
from test_tools import PERSON, QUESTION, TOOLS

FRANCE = "What is the capital of France?"


@pytest.fixture(scope="session")
def client(server):
    return ollama.Client(host=server.url, timeout=300)


def test_chat_answers_whole_and_streamed(client, openai_client):
    whole = client.chat(model=MODEL, messages=user(FRANCE))
    assert "Paris" in whole.message.content and whole.done and whole.done_reason == "stop"
    direct = openai_client.chat.completions.create(model=MODEL, messages=user(FRANCE))
    assert whole.message.content == direct.choices[0].message.content
    assert whole.prompt_eval_count == direct.usage.prompt_tokens and whole.eval_count == direct.usage.completion_tokens
    assert whole.total_duration >= whole.eval_duration > 0
    parts = list(client.chat(model=MODEL, messages=user(FRANCE), stream=True))
    assert len(parts) > 2 and [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert "".join(part.message.content for part in parts) == whole.message.content
    assert parts[-1].done_reason == "stop" and parts[-1].eval_count == whole.eval_count


def test_streams_are_lines_of_json(server):
    body = {"model": MODEL, "messages": user(FRANCE), "options": {"num_predict": 4}}
    answer = requests.post(server.url + "/api/chat", json=body)
    assert answer.headers["content-type"] == "application/x-ndjson", "a stream by default"
    lines = answer.text.split("\n")
    assert lines[-1] == "" and [json.loads(line)["done"] for line in lines[:-1]][-1]
    assert requests.post(server.url + "/api/chat", json={**body, "stream": False}).json()["done_reason"] == "length"


def test_generate_puts_the_prompt_into_the_template_unless_raw(client, openai_client):
    answer = client.generate(model=MODEL, prompt=FRANCE)
    assert "Paris" in answer.response and answer.done_reason == "stop"
    parts = list(client.generate(model=MODEL, prompt=FRANCE, stream=True))
    assert "".join(part.response for part in parts) == answer.response
    raw = client.generate(model=MODEL, prompt=FRANCE, raw=True, options={"num_predict": 8, "temperature": 0})
    direct = openai_client.completions.create(model=MODEL, prompt=FRANCE, max_tokens=8, temperature=0)
    assert raw.response == direct.choices[0].text
    system = client.generate(model=MODEL, prompt=FRANCE, system="Answer briefly.")
    assert system.prompt_eval_count > answer.prompt_eval_count


def test_options_decide_the_answer(client):
    def ask(**options):
        return client.chat(model=MODEL, messages=user("Write a 2-sentence apple story."), options=options)

    assert ask(num_predict=3).eval_count == 3 and ask(num_predict=3).done_reason == "length"
    assert ask(num_predict=-1, num_ctx=4096, num_gpu=1, num_thread=2).done_reason == "stop"
    assert "." not in ask(stop=["."]).message.content
    hot = {"temperature": 1.5, "top_k": 50, "top_p": 0.95, "repeat_penalty": 1.1, "seed": 7}
    assert ask(**hot).message.content == ask(**hot).message.content
    assert len({ask(**{**hot, "seed": seed}).message.content for seed in range(4)}) > 1
    with pytest.raises(ollama.ResponseError, match="options.num_predict"):
        ask(num_predict=0)
    with pytest.raises(ollama.ResponseError, match="options.repeat_penalty"):
        ask(repeat_penalty=-1)


def test_tools_are_called_and_their_results_read(client):
    answer = client.chat(model=MODEL, messages=user(QUESTION), tools=TOOLS)
    (call,) = answer.message.tool_calls
    assert call.function.name == "get_weather" and call.function.arguments["city"]
    streamed = [c for part in client.chat(model=MODEL, messages=user(QUESTION), tools=TOOLS, stream=True)
                for c in part.message.tool_calls or []]
    assert [c.function for c in streamed] == [call.function]
    turns = [*user(QUESTION), answer.message, {"role": "tool", "tool_name": "get_weather", "content": "18 degrees"}]
    assert client.chat(model=MODEL, messages=turns, tools=TOOLS).message.content
    with pytest.raises(ollama.ResponseError, match="no tool was called"):
        client.chat(model=MODEL, messages=[*user("Hello!"), {"role": "tool", "content": "18"}])


def test_a_python_function_is_a_tool(client):
    def get_weather(city: str) -> str:
        """Current weather of a city

        Args:
            city: the city
        """
        return city

    answer = client.chat(model=MODEL, messages=user(QUESTION), tools=[get_weather])
    assert answer.message.tool_calls[0].function.name == "get_weather"


def test_thinking_comes_apart(client):
    on = client.chat(model=MODEL, messages=user(FRANCE), think=True, options={"num_predict": 200})
    off = client.chat(model=MODEL, messages=user(FRANCE), think=False)
    assert not off.message.thinking and "<think>" not in off.message.content
    assert on.message.thinking and "think>" not in on.message.content
    parts = list(client.chat(model=MODEL, messages=user(FRANCE), think="high", stream=True, options={"num_predict": 200}))
    assert "".join(part.message.thinking or "" for part in parts) == on.message.thinking
    answer = client.generate(model=MODEL, prompt=FRANCE, think=True, options={"num_predict": 200})
    assert answer.thinking == on.message.thinking and answer.response == on.message.content
    history = [*user(FRANCE), on.message, *user("And of Japan?")]
    assert client.chat(model=MODEL, messages=history).message.content


def test_formats_are_enforced(client):
    schema = client.chat(model=MODEL, messages=user("Describe Ann."), format=PERSON, options={"num_predict": 300})
    assert set(json.loads(schema.message.content)) == {"name", "age", "tags"}
    free = client.generate(model=MODEL, prompt="A person", format="json", options={"num_predict": 400, "temperature": 0})
    assert free.response.startswith("{") and (free.done_reason == "length" or isinstance(json.loads(free.response), dict))
    with pytest.raises(ollama.ResponseError, match="format"):
        client._request(ollama.ChatResponse, "POST", "/api/chat", json={
            "model": MODEL, "messages": user("x"), "format": "yaml"})


def test_log_probabilities(client):
    answer = client.chat(model=MODEL, messages=user(FRANCE), logprobs=True, top_logprobs=2, options={"num_predict": 4})
    assert "".join(entry.token for entry in answer.logprobs) == answer.message.content
    assert all(entry.logprob <= 0 and len(entry.top_logprobs) == 2 for entry in answer.logprobs)
    parts = list(client.chat(
        model=MODEL, messages=user(FRANCE), logprobs=True, top_logprobs=2, options={"num_predict": 4}, stream=True))
    assert [entry for part in parts for entry in part.logprobs or []] == list(answer.logprobs)


def test_requests_that_apps_send_before_they_chat(client, server):
    names = [model.model for model in client.list().models]
    assert names == [MODEL + ":latest", "mini:latest"]
    for name in (*names, MODEL, "mini"):
        assert client.chat(model=name, messages=user(FRANCE), options={"num_predict": 1}).model == name
    (first, _) = client.ps().models
    assert first.context_length > 0 and first.size > 0 and len(first.digest) == 64
    shown = client.show(MODEL)
    assert set(shown.capabilities) == {"completion", "tools", "thinking", "vision"}
    family = shown.modelinfo["general.architecture"]
    assert shown.modelinfo[f"{family}.context_length"] == first.context_length
    assert client.pull(MODEL).status == "success"
    assert int(requests.get(server.url + "/api/version").json()["version"].split(".")[1]) >= 9
    assert client.chat(model=MODEL, messages=[]).done_reason == "load"
    assert client.generate(model=MODEL, prompt="", keep_alive="5m").done_reason == "load"


def test_refusals_have_ollamas_shape(client, server):
    for call in (lambda: client.chat(model="other", messages=user("x")), lambda: client.show("other"),
                 lambda: client.pull("other")):
        with pytest.raises(ollama.ResponseError, match="'other' not found") as error:
            call()
        assert error.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="pagoda pull"):
        client.pull("other")
    for field, value in (("template", "{{ .Prompt }}"), ("context", [1, 2]), ("images", ["aGVsbG8="])):
        with pytest.raises(ollama.ResponseError, match=field):
            client.generate(model=MODEL, prompt="x", **{field: value})
    answer = requests.post(server.url + "/api/chat", data="{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and list(answer.json()) == ["error"]
    assert list(requests.get(server.url + "/api/nothing").json()) == ["error"]


def test_the_type_may_be_left_out_unless_a_page_asks(server):
    body = json.dumps({"model": MODEL, "messages": user(FRANCE), "stream": False, "options": {"num_predict": 2}})

    def status(path, headers):
        return requests.post(server.url + path, data=body.encode(), headers=headers).status_code

    form = {"Content-Type": "application/x-www-form-urlencoded"}  # what curl -d adds
    assert [status("/api/chat", headers) for headers in ({}, form)] == [200, 200]
    assert status("/api/chat", {"Content-Type": "text/plain"}) == 415
    for page in ({"Origin": server.url}, {"Referer": server.url + "/"}, {"Sec-Fetch-Site": "cross-site"}):
        assert [status("/api/chat", {**headers, **page}) for headers in ({}, form)] == [415, 415]
    assert [status("/v1/chat/completions", headers) for headers in ({}, form)] == [415, 415]
