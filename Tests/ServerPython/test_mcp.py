"""Tools of an MCP server: an agent library and a loop with the protocol's own client run the calls that the model writes."""
import asyncio
import json
import sys

import openai
import pytest
from conftest import MODEL, user

WEATHER = "What is the weather in Paris?"
TOOL_SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")


@server.tool()
def get_weather(city: str) -> str:
    """Current weather of a city"""
    with open(__file__ + ".log", "a") as log:
        log.write(city + "\\n")
    return f"18 degrees in {city}"


server.run("stdio")
'''


@pytest.fixture()
def tool_server(tmp_path):
    path = tmp_path / "weather.py"
    path.write_text(TOOL_SERVER)
    return path


def test_an_agent_calls_the_tools_of_an_mcp_server(server, tool_server):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio

    set_tracing_disabled(True)

    async def run(kind):
        client = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)
        async with MCPServerStdio(params={"command": sys.executable, "args": [str(tool_server)]},
                                  client_session_timeout_seconds=300) as tools:
            agent = Agent(name="weather", model=kind(MODEL, client), mcp_servers=[tools])
            return (await Runner.run(agent, WEATHER, max_turns=4)).final_output
    for number, kind in enumerate((OpenAIChatCompletionsModel, OpenAIResponsesModel), 1):
        assert asyncio.run(run(kind))
        assert len(tool_server.with_name("weather.py.log").read_text().split("\n")) > number, "the tool was not called"


def test_the_protocols_own_client_and_a_plain_loop(server, tool_server):
    """As editors do: the server's tools become functions of a streamed chat, and its results messages."""
    from mcp import Client, StdioServerParameters

    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)

    async def run():
        async with Client(StdioServerParameters(command=sys.executable, args=[str(tool_server)])) as tools:
            listed = (await tools.list_tools()).tools
            functions = [{"type": "function", "function": {"name": tool.name, "description": tool.description,
                                                           "parameters": tool.input_schema}} for tool in listed]
            messages = user(WEATHER)
            with client.chat.completions.stream(model=MODEL, messages=messages, tools=functions) as stream:
                message = stream.get_final_completion().choices[0].message
            (call,) = message.tool_calls
            result = await tools.call_tool(call.function.name, json.loads(call.function.arguments))
            messages += [message, {"role": "tool", "tool_call_id": call.id, "content": result.content[0].text}]
            answer = client.chat.completions.create(model=MODEL, messages=messages, tools=functions)
            return result.content[0].text, answer.choices[0].message.content
    result, answer = asyncio.run(run())
    assert result.startswith("18 degrees in ") and answer
