"""The official anthropic client drives /v1/messages: whole answers, streams, thinking, counting, errors."""
import anthropic
import pytest
from conftest import MODEL, user

FRANCE = "What is the capital of France?"


def test_message(anthropic_client):
    message = anthropic_client.messages.create(model=MODEL, max_tokens=100, system="Answer briefly.", messages=user(FRANCE))
    assert "Paris" in message.content[0].text
    assert message.stop_reason == "end_turn" and message.usage.output_tokens > 0


def test_message_stream(anthropic_client):
    whole = anthropic_client.messages.create(model=MODEL, max_tokens=200, messages=user("write a quicksort in python"))
    with anthropic_client.messages.stream(model=MODEL, max_tokens=200, messages=user("write a quicksort in python")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == whole.content[0].text == final.content[0].text
    assert final.stop_reason == "end_turn" and final.usage.output_tokens == whole.usage.output_tokens


def test_thinking(anthropic_client):
    message = anthropic_client.messages.create(
        model=MODEL, max_tokens=2000, messages=user("What is 12 plus 30?"), thinking={"type": "enabled", "budget_tokens": 1024})
    assert [block.type for block in message.content] == ["thinking", "text"]
    off = anthropic_client.messages.create(
        model=MODEL, max_tokens=2000, messages=user("What is 12 plus 30?"), thinking={"type": "disabled"})
    assert [block.type for block in off.content] == ["text"]


def test_thinking_is_signed(anthropic_client):
    def ask(messages):
        return anthropic_client.messages.create(
            model=MODEL, max_tokens=2000, messages=messages, thinking={"type": "enabled", "budget_tokens": 1024})

    question = user("What is 12 plus 30?")
    whole = ask(question)
    with anthropic_client.messages.stream(
            model=MODEL, max_tokens=2000, messages=question, thinking={"type": "enabled", "budget_tokens": 1024}) as stream:
        streamed = stream.get_final_message()
    assert whole.content[0].signature and streamed.content[0].signature == whole.content[0].signature

    def again(thinking, signature):
        block = {"type": "thinking", "thinking": thinking, "signature": signature}
        return ask([*question, {"role": "assistant", "content": [block, {"type": "text", "text": "42"}]}, *user("And 1 more?")])

    first = whole.content[0]
    assert again(first.thinking, first.signature).content
    assert again("other", "signed elsewhere").content, "of another server: it says nothing"
    with pytest.raises(anthropic.BadRequestError, match="signature"):
        again(first.thinking + "!", first.signature)


def test_limits_and_stop_sequences(anthropic_client):
    cut = anthropic_client.messages.create(model=MODEL, max_tokens=2, messages=user(FRANCE))
    assert cut.stop_reason == "max_tokens"
    stopped = anthropic_client.messages.create(model=MODEL, max_tokens=50, messages=user(FRANCE), stop_sequences=["Paris"])
    assert stopped.stop_reason == "stop_sequence" and stopped.stop_sequence == "Paris"


def test_count_tokens(anthropic_client):
    count = anthropic_client.messages.count_tokens(model=MODEL, messages=user(FRANCE)).input_tokens
    message = anthropic_client.messages.create(model=MODEL, max_tokens=5, messages=user(FRANCE))
    used = message.usage
    assert count == used.input_tokens + used.cache_read_input_tokens


def test_models_and_request_ids(anthropic_client):
    models = anthropic_client.models.list()
    assert MODEL in [model.id for model in models] and models.data[0].type == "model" and models.data[0].created_at.year > 2000
    assert anthropic_client.models.retrieve(MODEL).display_name == MODEL
    message = anthropic_client.messages.create(model=MODEL, max_tokens=2, messages=user(FRANCE))
    assert message._request_id.startswith("req_")


def test_tools_that_anthropic_defines(anthropic_client):
    bash = {"type": "bash_20250124", "name": "bash"}
    message = anthropic_client.messages.create(
        model=MODEL, max_tokens=300, messages=user("List the files."), tools=[bash], tool_choice={"type": "tool", "name": "bash"})
    if message.stop_reason == "tool_use":
        assert message.content[-1].name == "bash" and set(message.content[-1].input) <= {"command", "restart"}
    with pytest.raises(anthropic.BadRequestError, match="computer_20250124"):
        anthropic_client.messages.create(
            model=MODEL, max_tokens=5, messages=user("x"),
            extra_body={"tools": [{"type": "computer_20250124", "name": "computer", "display_width_px": 1, "display_height_px": 1}]})


@pytest.mark.parametrize("options, error", [
    ({"max_tokens": 0}, anthropic.BadRequestError),
    ({"model": "claude-unknown"}, anthropic.NotFoundError),
    ({"messages": []}, anthropic.BadRequestError),
    ({"extra_body": {"top_p": -1}}, anthropic.BadRequestError),
])
def test_errors_are_typed(anthropic_client, options, error):
    with pytest.raises(error) as caught:
        anthropic_client.messages.create(**{"model": MODEL, "max_tokens": 5, "messages": user("Hello!"), **options})
    assert caught.value.body["type"] == "error" and caught.value.body["error"]["message"]
