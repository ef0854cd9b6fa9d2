"""The official openai client drives every OpenAI-compatible endpoint: whole answers, streams, log probabilities, errors."""
import concurrent.futures

import openai
import pytest
from conftest import MODEL, user

FRANCE = "What is the capital of France?"


def test_models_are_listed(openai_client):
    assert [model.id for model in openai_client.models.list()] == [MODEL, "mini"]
    assert openai_client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        openai_client.models.retrieve("other")


def test_chat_answers(openai_client):
    answer = openai_client.chat.completions.create(model=MODEL, messages=user(FRANCE))
    assert "Paris" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens_details.cached_tokens >= 0


def test_chat_streams_what_it_answers(openai_client):
    whole = openai_client.chat.completions.create(model=MODEL, messages=user("write a quicksort in python"))
    stream = openai_client.chat.completions.create(
        model=MODEL, messages=user("write a quicksort in python"), stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason] == ["stop"]
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def test_log_probabilities(openai_client):
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=user(FRANCE), logprobs=True, top_logprobs=3, max_completion_tokens=4)
    content = answer.choices[0].logprobs.content
    assert len(content) == 4 and answer.choices[0].finish_reason == "length"
    assert "".join(entry.token for entry in content) == answer.choices[0].message.content
    for entry in content:
        assert entry.logprob <= 0 and len(entry.top_logprobs) == 3
        assert bytes(entry.bytes).decode() == entry.token
        assert entry.top_logprobs[0].logprob >= entry.top_logprobs[1].logprob


def test_sampling_fields(openai_client):
    def ask(**options):
        return openai_client.chat.completions.create(
            model=MODEL, messages=user("Write a 2-sentence apple story."), **options).choices

    assert ask(stop=["."])[0].message.content.count(".") == 0
    assert [c.message.content for c in ask(n=3, seed=5, temperature=1.2)] == [
        c.message.content for c in ask(n=3, seed=5, temperature=1.2)]
    assert len(ask(n=3, seed=5, temperature=1.2)) == 3
    assert ask(max_tokens=3)[0].finish_reason == "length"
    vllm = {"top_k": 1, "min_p": 0.1, "ignore_eos": True, "min_tokens": 20, "repetition_penalty": 1.1}
    assert ask(max_tokens=20, extra_body=vllm)[0].finish_reason == "length"
    ids = openai_client.post("/../tokenize", body={"prompt": "Once"}, cast_to=dict)["tokens"]
    biased = ask(logit_bias={str(ids[0]): -100})[0].message.content
    assert not biased.startswith("Once")


def test_reasoning_is_apart(openai_client):
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=user("What is 12 plus 30?"), extra_body={"chat_template_kwargs": {"enable_thinking": True}})
    message = answer.choices[0].message
    assert message.reasoning_content and "think>" not in message.content
    stream = openai_client.chat.completions.create(
        model=MODEL, messages=user("What is 12 plus 30?"), reasoning_effort="high", stream=True)
    deltas = [chunk.choices[0].delta for chunk in stream]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == message.reasoning_content
    assert "".join(delta.content or "" for delta in deltas) == message.content


def test_completions(openai_client):
    one = openai_client.completions.create(model=MODEL, prompt="The capital of France is", max_tokens=3, logprobs=2)
    choice = one.choices[0]
    assert "".join(choice.logprobs.tokens) == choice.text and len(choice.logprobs.top_logprobs[0]) == 2
    many = openai_client.completions.create(model=MODEL, prompt=["The capital of France is"] * 2, max_tokens=3, n=2)
    assert [choice.text for choice in many.choices] == [choice.text for choice in one.choices] * 4
    stream = openai_client.completions.create(model=MODEL, prompt="The capital of France is", max_tokens=3, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream if chunk.choices) == choice.text


def test_responses(openai_client):
    answer = openai_client.responses.create(model=MODEL, input=FRANCE, instructions="Answer briefly.")
    assert "Paris" in answer.output_text and answer.status == "completed"
    assert answer.usage.output_tokens > 0
    turns = [{"role": "user", "content": "My name is Priya."}, *answer.output, {"role": "user", "content": "What is my name?"}]
    again = openai_client.responses.create(model=MODEL, input=turns, max_output_tokens=4)
    assert again.status == "incomplete" and again.incomplete_details.reason == "max_output_tokens"


def test_responses_stream(openai_client):
    with openai_client.responses.stream(model=MODEL, input="What is 12 plus 30?", reasoning={"effort": "high"}) as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert [item.type for item in final.output] == ["reasoning", "message"]
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == final.output_text
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.parametrize("options, error, code", [
    ({"max_tokens": -2}, openai.BadRequestError, None),
    ({"temperature": -1}, openai.BadRequestError, None),
    ({"messages": user("word " * 9000)}, openai.BadRequestError, "context_length_exceeded"),
    ({"model": "gpt-unknown"}, openai.NotFoundError, "model_not_found"),
])
def test_errors_are_typed(openai_client, options, error, code):
    with pytest.raises(error) as caught:
        openai_client.chat.completions.create(**{"model": MODEL, "messages": user("Hello!"), **options})
    assert caught.value.code == code and caught.value.param in [*options, None]


def test_leaving_a_stream_cancels_it(server, openai_client):
    stream = openai_client.chat.completions.create(
        model=MODEL, messages=user("Hello!"), stream=True, max_tokens=8000, extra_body={"ignore_eos": True, "speculate": False})
    for _, chunk in zip(range(5), stream):
        assert chunk.choices
    stream.close()
    server.wait_until_idle()


def test_thirty_two_at_once(openai_client):
    def ask(_):
        return openai_client.chat.completions.create(model=MODEL, messages=user(FRANCE)).choices[0].message.content

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        assert set(pool.map(ask, range(32))) == {ask(0)}
