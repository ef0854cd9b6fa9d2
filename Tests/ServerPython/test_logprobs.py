"""Log probabilities of prompts: echo, prompt_logprobs, and lm-eval's requests for multiple choice and perplexity."""
import json
import math

import openai
import pytest
import requests
from conftest import MODEL, user
from test_tools import PERSON, TOOLS

TEXT = "The capital of France is Paris. The capital of Japan is Tokyo."


def ids_of(server, text):
    return requests.post(server.url + "/tokenize", json={"prompt": text}).json()["tokens"]


def score(client, prompts, **options):
    """A request of lm-eval's local-completions: token ids, echoed with their log probabilities, and one more token."""
    answer = client.completions.create(
        model=MODEL, prompt=prompts, temperature=0, max_tokens=1, logprobs=1, echo=True, seed=1, **options)
    return sorted(answer.choices, key=lambda choice: choice.index)


def test_echoed_log_probabilities_are_those_of_the_generation(openai_client, server):
    question = "<|im_start|>user\nWrite a 2-sentence apple story.<|im_end|>\n<|im_start|>assistant\n"
    made = openai_client.completions.create(model=MODEL, prompt=question, temperature=0, max_tokens=12, logprobs=2)
    prompt = ids_of(server, question)
    whole = prompt + ids_of(server, made.choices[0].text)
    assert len(whole) >= len(prompt) + 10, "the text has the tokens that were made"
    (scored,) = score(openai_client, [whole])
    lists = scored.logprobs
    assert len(lists.tokens) == len(lists.token_logprobs) == len(lists.top_logprobs) == len(whole) + 1
    assert lists.token_logprobs[0] is None and lists.top_logprobs[0] is None
    assert lists.token_logprobs[len(prompt):-1] == made.choices[0].logprobs.token_logprobs[:len(whole) - len(prompt)]
    assert scored.text.startswith(question) and "".join(lists.tokens) == scored.text
    assert lists.text_offset[1] == len(lists.tokens[0])


def test_only_the_prompt(openai_client):
    answer = openai_client.completions.create(model=MODEL, prompt=TEXT, max_tokens=0, logprobs=0, echo=True)
    (choice,) = answer.choices
    assert choice.text == TEXT and "".join(choice.logprobs.tokens) == TEXT
    assert answer.usage.completion_tokens == 0 and choice.finish_reason == "length"
    with pytest.raises(openai.BadRequestError):
        openai_client.completions.create(model=MODEL, prompt=TEXT, max_tokens=0)


def test_multiple_choice_and_perplexity_as_lm_eval_asks(openai_client, server):
    context = "The capital of France is"
    choices = [" Paris", " banana", " seventeen"]
    prompts = [ids_of(server, context + choice) for choice in choices]
    start = len(ids_of(server, context))
    sums = []
    for scored in score(openai_client, prompts):
        sums.append(sum(scored.logprobs.token_logprobs[start:-1]))
        greedy = [max(top, key=top.get) for top in scored.logprobs.top_logprobs[start:-1]]
        assert len(greedy) == len(scored.logprobs.tokens[start:-1]) > 0
    alone = [sum(score(openai_client, [ids])[0].logprobs.token_logprobs[start:-1]) for ids in prompts]
    assert sums == alone, "the same bits alone and in a batch"
    assert sums[0] == max(sums)
    shuffled = " ".join(sorted(TEXT.split()))

    def perplexity(text):
        values = score(openai_client, [ids_of(server, text)])[0].logprobs.token_logprobs[1:-1]
        return math.exp(-sum(values) / len(values))

    assert 1 < perplexity(TEXT) < perplexity(shuffled)


def test_prompt_logprobs_in_vllms_shape(openai_client, server):
    body = {"model": MODEL, "prompt": TEXT, "max_tokens": 1, "prompt_logprobs": 2}
    answer = requests.post(server.url + "/v1/completions", json=body).json()["choices"][0]
    ids = ids_of(server, TEXT)
    assert answer["logprobs"] is None and len(answer["prompt_logprobs"]) == len(ids)
    assert answer["prompt_logprobs"][0] is None
    for token, entry in zip(ids[1:], answer["prompt_logprobs"][1:]):
        own = entry[str(token)]
        assert own["logprob"] <= 0 and own["rank"] >= 1 and 2 <= len(entry) <= 3
        assert all(other["logprob"] >= own["logprob"] for other in entry.values() if other["rank"] < own["rank"])
    chat = requests.post(server.url + "/v1/chat/completions", json={
        "model": MODEL, "messages": user("Hello!"), "max_tokens": 1, "prompt_logprobs": 0}).json()
    assert len(chat["prompt_logprobs"]) == chat["usage"]["prompt_tokens"]
    for more in ({"stream": True}, {"stream": True, "prompt_logprobs": None, "echo": True, "logprobs": 1}):
        refused = requests.post(server.url + "/v1/completions", json={**body, **more})
        assert refused.status_code == 400 and "stream" in refused.json()["error"]["message"]


def test_allowed_tools_and_vllms_schemas(openai_client, server):
    other = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}

    def choose(name, mode):
        return {"type": "allowed_tools", "allowed_tools": {
            "mode": mode, "tools": [{"type": "function", "function": {"name": name}}]}}

    for name in ("get_weather", "get_time"):
        answer = openai_client.chat.completions.create(
            model=MODEL, messages=user("What is the weather in Rome?"), tools=[*TOOLS, other], max_tokens=200,
            tool_choice=choose(name, "required"))
        assert [call.function.name for call in answer.choices[0].message.tool_calls] == [name]
    with pytest.raises(openai.BadRequestError, match="none of tools"):
        openai_client.chat.completions.create(
            model=MODEL, messages=user("x"), tools=TOOLS, tool_choice=choose("nothing", "auto"))
    for more in ({"guided_json": PERSON}, {"guided_json": json.dumps(PERSON)}, {"structured_outputs": {"json": PERSON}}):
        answer = openai_client.chat.completions.create(
            model=MODEL, messages=user("Describe Ann."), max_tokens=300, extra_body=more)
        assert set(json.loads(answer.choices[0].message.content)) == {"name", "age", "tags"}, more
