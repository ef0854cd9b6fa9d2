"""Widely used libraries and tools, each used as its documentation shows: answers, streams, tools, typed values."""
import json
import os
import shutil
import subprocess
import sys
from typing import Literal

import openai
import pytest
from conftest import MODEL
from pydantic import BaseModel, Field

FRANCE = "What is the capital of France?"
WEATHER = "What is the weather in Paris?"


class Person(BaseModel):
    name: str = Field(min_length=1, max_length=12)
    age: int = Field(ge=0, le=150)


def test_langchain(server):
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    @tool
    def get_weather(city: str) -> str:
        """Current weather of a city"""

    options = {"base_url": server.url + "/v1", "api_key": "none", "model": MODEL, "max_retries": 0, "timeout": 300}
    for responses in (False, True):
        chat = ChatOpenAI(**options, use_responses_api=responses)
        answer = chat.invoke(FRANCE)
        assert "Paris" in answer.text and answer.usage_metadata["output_tokens"] > 0
        assert "".join(chunk.text for chunk in chat.stream(FRANCE)) == answer.text
        (call,) = chat.bind_tools([get_weather]).invoke(WEATHER).tool_calls
        assert call["name"] == "get_weather" and call["args"]["city"]
        for method in ("json_schema", "function_calling"):
            assert isinstance(chat.with_structured_output(Person, method=method).invoke("Hello!"), Person)
    embeddings = OpenAIEmbeddings(**options, check_embedding_ctx_length=False)
    assert len(set(map(len, embeddings.embed_documents(["A small dog.", "A big cat."])))) == 1


def test_pydantic_ai(server):
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=server.url + "/v1", api_key="none")
    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        model = kind(MODEL, provider=provider)
        cities = []
        agent = Agent(model)

        @agent.tool_plain
        def get_weather(city: str) -> str:
            """Current weather of a city"""
            cities.append(city)
            return "18 degrees, sunny"

        assert "Paris" in Agent(model).run_sync(FRANCE).output
        assert agent.run_sync(WEATHER).output and cities
        for output in (Person, NativeOutput(Person)):  # as a tool that must be called, and as a schema of the answer
            assert isinstance(Agent(model, output_type=output).run_sync("Hello!").output, Person)


def test_openai_agents(server):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    cities = []

    @function_tool
    def get_weather(city: str) -> str:
        """Current weather of a city"""
        cities.append(city)
        return "18 degrees, sunny"

    for kind in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
        model = kind(MODEL, openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300))
        cities.clear()
        result = Runner.run_sync(Agent(name="weather", model=model, tools=[get_weather]), WEATHER, max_turns=4)
        assert cities and result.final_output
        typed = Runner.run_sync(Agent(name="person", model=model, output_type=Person), "Hello!", max_turns=2)
        assert isinstance(typed.final_output, Person)


def test_outlines(server):
    import outlines

    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)
    assert Person.model_validate_json(outlines.from_openai(client, MODEL)("Hello!", Person, max_tokens=400))
    vllm = outlines.from_vllm(client, MODEL)
    assert vllm(FRANCE, Literal["Rome", "Paris"], max_tokens=20) in ("Rome", "Paris")
    assert vllm("A number:", outlines.regex("[0-9]{3}"), max_tokens=20).isdigit()


def test_llm(server, tmp_path):
    (tmp_path / "extra-openai-models.yaml").write_text(json.dumps([{
        "model_id": "pagoda", "model_name": MODEL, "api_base": server.url + "/v1", "supports_schema": True, "supports_tools": True}]))

    def llm(*arguments):
        environment = {**os.environ, "LLM_USER_PATH": str(tmp_path), "OPENAI_API_KEY": "none"}
        run = subprocess.run([sys.executable, "-m", "llm", "-m", "pagoda", *arguments], env=environment, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=300)
        assert run.returncode == 0, run.stderr
        return run

    assert "Paris" in llm(FRANCE).stdout
    assert set(json.loads(llm("Hello!", "--schema", "name, age int").stdout)) == {"name", "age"}
    code = 'def get_weather(city: str) -> str:\n    """Current weather of a city"""\n    return "18 degrees in " + city\n'
    assert "18 degrees in" in llm(WEATHER, "--functions", code, "--tools-debug").stderr  # the call and its result


def test_hey(server):
    program = shutil.which("hey")
    if not program and os.environ.get("CI") == "true":
        pytest.fail("hey is not installed (Tools/setup.sh --dev)")
    if not program:
        pytest.skip("hey is not installed (Tools/setup.sh --dev)")
    body = json.dumps({"messages": [{"role": "user", "content": FRANCE}], "max_tokens": 4})
    for more in ([server.url + "/v1/models"], ["-m", "POST", "-T", "application/json", "-d", body, server.url + "/v1/chat/completions"]):
        report = subprocess.run([program, "-n", "200", "-c", "20", *more], capture_output=True, text=True, timeout=300).stdout
        assert "[200]\t200 responses" in report and "Error distribution" not in report, report
