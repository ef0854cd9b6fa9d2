"""Clients that need an openai package before version 3, each used as its documentation shows."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import MODEL, user
from pydantic import BaseModel, Field

FRANCE = "What is the capital of France?"
WEATHER = "What is the weather in Paris?"
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Current weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


class Person(BaseModel):
    name: str = Field(min_length=1, max_length=12)
    age: int = Field(ge=0, le=150)


@pytest.mark.parametrize("provider, path", [("openai", "/v1"), ("hosted_vllm", "/v1"), ("anthropic", ""),
                                            ("ollama_chat", ""), ("ollama", "")])
def test_litellm(server, provider, path, monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no requests to other servers
    import litellm

    def ask(question, **more):
        return litellm.completion(model=f"{provider}/{MODEL}", api_base=server.url + path, api_key="none", messages=user(question),
                                  num_retries=0, timeout=300, **more)

    answer = ask(FRANCE)
    assert "Paris" in answer.choices[0].message.content and answer.usage.completion_tokens > 0
    assert "".join(chunk.choices[0].delta.content or "" for chunk in ask(FRANCE, stream=True)) == answer.choices[0].message.content
    if provider != "ollama":  # its tools are plain text in the prompt, which this model does not understand
        call = ask(WEATHER, tools=TOOLS).choices[0].message.tool_calls[0]
        assert call.function.name == "get_weather" and json.loads(call.function.arguments)["city"]
    if provider != "anthropic":
        assert Person.model_validate_json(ask("Hello!", response_format=Person, max_tokens=400).choices[0].message.content)


def test_instructor(server):
    import instructor
    import openai

    plain = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
        client = instructor.from_openai(plain, mode=mode)
        person = client.chat.completions.create(response_model=Person, model=MODEL, messages=user("Hello!"), max_retries=1)
        assert isinstance(person, Person)
        # It names the type PartialPerson: another prompt, so maybe another answer than the one above.
        *_, last = client.chat.completions.create_partial(response_model=Person, model=MODEL, messages=user("Hello!"))
        assert isinstance(last.name, str) and isinstance(last.age, int)


def test_aider(server, tmp_path):
    (tmp_path / "hello.py").write_text("print('Hello')\n")
    (tmp_path / ".aider/caches").mkdir(parents=True)  # with a model list, so that it downloads none
    (tmp_path / ".aider/caches/model_prices_and_context_window.json").write_text(json.dumps({f"openai/{MODEL}": {"mode": "chat"}}))
    environment = {**os.environ, "HOME": str(tmp_path), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-m", "aider", "--model", f"openai/{MODEL}", "--openai-api-base", server.url + "/v1", "--openai-api-key",
               "none", "--no-git", "--yes-always", "--no-show-model-warnings", "--no-check-update", "--no-analytics", "--no-pretty",
               "--map-tokens", "0", "--edit-format", "ask", "--message", FRANCE, "hello.py"]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert run.returncode == 0, run.stderr
    assert re.search(r"^Tokens: \d+ sent, [1-9]\d* received", run.stdout, re.MULTILINE) and "Error" not in run.stdout, run.stdout


def test_llama_index(server):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike

    def get_weather(city: str) -> str:
        """Current weather of a city"""

    llm = OpenAILike(model=MODEL, api_base=server.url + "/v1", api_key="none", is_chat_model=True, is_function_calling_model=True,
                     should_use_structured_outputs=True, context_window=4096, max_tokens=400, max_retries=0, timeout=300)
    question = [ChatMessage(role="user", content=FRANCE)]
    answer = llm.chat(question).message.content
    assert "Paris" in answer
    assert "".join(part.delta or "" for part in llm.stream_chat(question)) == answer
    (call,) = llm.get_tool_calls_from_response(llm.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg=WEATHER))
    assert call.tool_name == "get_weather" and call.tool_kwargs["city"]
    typed = llm.as_structured_llm(Person).chat([ChatMessage(role="user", content="Hello!")])
    assert isinstance(typed.raw, Person)
