"""Tool calls, structured output and thinking budgets through the official clients."""
import json
import re

import openai
import pytest
from conftest import MODEL, user

WEATHER = {
    "name": "get_weather", "description": "Current weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = [{"type": "function", "function": WEATHER}]
QUESTION = "What is the weather in Paris?"
MARKUP = ("<tool_call", "<function", "<parameter", "</")
PERSON = {
    "type": "object", "additionalProperties": False, "required": ["name", "age", "tags"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
    },
}


def test_a_call_is_parsed_and_its_result_read(openai_client):
    answer = openai_client.chat.completions.create(model=MODEL, messages=user(QUESTION), tools=TOOLS)
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls", choice
    (call,) = choice.message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments)["city"]
    assert not any(mark in (choice.message.content or "") for mark in MARKUP)
    turns = [*user(QUESTION), choice.message, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees, sunny"}]
    final = openai_client.chat.completions.create(model=MODEL, messages=turns, tools=TOOLS)
    assert final.choices[0].message.content


def test_a_streamed_call_equals_the_whole_one(openai_client):
    whole = openai_client.chat.completions.create(model=MODEL, messages=user(QUESTION), tools=TOOLS).choices[0]
    arguments, names, text, finish = "", [], "", None
    for chunk in openai_client.chat.completions.create(model=MODEL, messages=user(QUESTION), tools=TOOLS, stream=True):
        delta = chunk.choices[0].delta
        text += delta.content or ""
        finish = chunk.choices[0].finish_reason or finish
        for call in delta.tool_calls or []:
            names += [call.function.name] if call.function.name else []
            arguments += call.function.arguments or ""
    assert finish == "tool_calls" and names == ["get_weather"]
    assert arguments == whole.message.tool_calls[0].function.arguments
    assert not any(mark in text for mark in MARKUP)


CODE = {"type": "grammar", "syntax": "lark", "definition": 'start: LETTER~3 "-" DIGIT\nLETTER: "a".."c"\n%import common.DIGIT'}


def test_custom_tools_get_text_in_their_format(openai_client):
    form = {"type": "grammar", "grammar": {key: CODE[key] for key in ("syntax", "definition")}}
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=user("Hello!"), tools=[{"type": "custom", "custom": {"name": "code", "format": form}}],
        tool_choice={"type": "custom", "custom": {"name": "code"}}, max_tokens=200).choices[0]
    (call,) = answer.message.tool_calls
    assert call.type == "custom" and re.fullmatch("[abc]{3}-[0-9]", call.custom.input), call
    tool = {"type": "custom", "name": "code", "format": CODE}
    choice = {"type": "custom", "name": "code"}
    options = {"model": MODEL, "input": "Hello!", "tools": [tool], "tool_choice": choice, "max_output_tokens": 200}
    item = openai_client.responses.create(**options).output[-1]
    assert item.type == "custom_tool_call" and re.fullmatch("[abc]{3}-[0-9]", item.input)
    events = list(openai_client.responses.create(**options, stream=True))
    assert "".join(event.delta for event in events if event.type == "response.custom_tool_call_input.delta") == item.input
    result = {"type": "custom_tool_call_output", "call_id": item.call_id, "output": "done"}
    after = openai_client.responses.create(
        model=MODEL, input=[*user("Hello!"), item.model_dump(exclude_none=True), result], tools=[tool], max_output_tokens=4)
    assert after.output


def test_calls_can_be_forced_and_forbidden(openai_client):
    def ask(choice):
        return openai_client.chat.completions.create(
            model=MODEL, messages=user("What is the weather in Rome?"), tools=TOOLS, tool_choice=choice, max_tokens=200).choices[0]

    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        forced = ask(choice)
        assert forced.finish_reason == "tool_calls" and forced.message.tool_calls[0].function.name == "get_weather"
    assert ask("none").message.tool_calls is None
    with pytest.raises(openai.BadRequestError):
        ask({"type": "function", "function": {"name": "unknown"}})


def test_responses_and_messages_call_tools(openai_client, anthropic_client):
    tools = [{"type": "function", **WEATHER}, {"type": "web_search"}]
    answer = openai_client.responses.create(model=MODEL, input=QUESTION, tools=tools)
    (call,) = [item for item in answer.output if item.type == "function_call"]
    assert call.name == "get_weather" and json.loads(call.arguments)["city"]
    turns = [{"role": "user", "content": QUESTION}, *answer.output,
             {"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"}]
    assert openai_client.responses.create(model=MODEL, input=turns, tools=tools).output_text
    with openai_client.responses.stream(model=MODEL, input=QUESTION, tools=tools) as stream:
        kinds = {event.type for event in stream}
    assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= kinds

    anthropic_tools = [{"name": WEATHER["name"], "description": WEATHER["description"], "input_schema": WEATHER["parameters"]}]
    message = anthropic_client.messages.create(model=MODEL, max_tokens=300, messages=user(QUESTION), tools=anthropic_tools)
    assert message.stop_reason == "tool_use"
    (use,) = [block for block in message.content if block.type == "tool_use"]
    assert use.name == "get_weather" and use.input["city"]
    turns = [*user(QUESTION), {"role": "assistant", "content": message.content},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "18 degrees"}]}]
    assert anthropic_client.messages.create(model=MODEL, max_tokens=100, messages=turns, tools=anthropic_tools).content
    with anthropic_client.messages.stream(model=MODEL, max_tokens=300, messages=user(QUESTION), tools=anthropic_tools) as stream:
        final = stream.get_final_message()
    assert final.content[-1].input == use.input


@pytest.mark.parametrize("stream", [False, True])
def test_json_schema_is_enforced(openai_client, stream):
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=user("Hello!"), response_format=form, seed=3, temperature=1.5, max_tokens=400, stream=stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in answer) if stream else answer.choices[0].message.content
    person = json.loads(text)
    assert set(person) == {"name", "age", "tags"} and 0 <= person["age"] <= 150 and 1 <= len(person["name"]) <= 12


def test_json_object_is_enforced_after_thinking(openai_client):
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=user("What is 12 plus 30?"), response_format={"type": "json_object"}, max_tokens=1500,
        extra_body={"enable_thinking": True, "thinking_budget": 40})
    message = answer.choices[0].message
    assert message.reasoning_content
    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(message.content), dict)


def test_responses_take_a_schema(openai_client):
    form = {"type": "json_schema", "name": "person", "schema": PERSON, "strict": True}
    answer = openai_client.responses.create(model=MODEL, input="Hello!", text={"format": form}, max_output_tokens=400)
    assert set(json.loads(answer.output_text)) == {"name", "age", "tags"}


@pytest.mark.parametrize("schema", [
    {"type": "alien"}, {"$ref": "#/nowhere"}, {"type": "object", "properties": 5}, {"type": "string", "pattern": "(a+)+(?=b)"},
])
def test_schemas_that_cannot_be_enforced_are_refused(openai_client, schema):
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    with pytest.raises(openai.BadRequestError) as caught:
        openai_client.chat.completions.create(model=MODEL, messages=user("Hello!"), response_format=form)
    assert caught.value.param == "response_format"


def test_a_budget_closes_the_thinking(openai_client):
    def ask(budget):
        answer = openai_client.chat.completions.create(
            model=MODEL, messages=user("What is 12 plus 30?"), extra_body={"enable_thinking": True, "thinking_budget": budget})
        return answer.choices[0].message

    free, short = ask(4000), ask(5)
    assert len(short.reasoning_content) < len(free.reasoning_content)
    assert short.content and "think>" not in short.content
