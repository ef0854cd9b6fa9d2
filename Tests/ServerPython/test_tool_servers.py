"""The routes of the chat page's tools: servers of a configuration file, their tools, calls, faults, and who may call."""
import json
import subprocess

import pytest
import requests
from conftest import PROGRAM, Server, wait_for
from mcp_tools import calls, write_tools
from test_mcp_client import address, script  # noqa: F401: fixtures

NAMES = ["get_weather", "fail", "quit", "long_text", "variable"]
GONE = {"command": "/nonexistent/program"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="module")
def running(folder):
    off = {"command": "false", "disabled": True}
    keys = folder / "keys"
    keys.write_text("ana sk-ana\n")
    server = Server("--mcp", str(write_tools(folder, gone=GONE, off=off)), "--api-key-file", str(keys))
    yield server
    assert server.stop() == 0


def listed(server, **headers):
    headers.setdefault("Authorization", "Bearer sk-ana")
    return {row["name"]: row for row in requests.get(server.url + "/tools", headers=headers).json()["servers"]}


def ready(server):
    wait_for(lambda: listed(server)["weather"]["state"] == "ready", "connection")


def call(server, name, arguments, tool_server="weather", **headers):
    headers.setdefault("Authorization", "Bearer sk-ana")
    return requests.post(server.url + "/tools/call", headers=headers, timeout=300,
                         json={"server": tool_server, "name": name, "arguments": arguments})


def test_lists_the_tools_and_what_failed(running):
    ready(running)
    wait_for(lambda: "error" in listed(running)["gone"], "failure")
    rows = listed(running)
    assert set(rows) == {"weather", "gone"}
    assert [tool["name"] for tool in rows["weather"]["tools"]] == NAMES
    weather = rows["weather"]["tools"][0]
    assert weather["description"] == "Current weather of a city" and weather["parameters"]["required"] == ["city"]
    assert rows["gone"]["tools"] == []


def test_calls_a_tool(running, folder):
    ready(running)
    assert call(running, "get_weather", {"city": "Paris"}).json() == {"content": "18 degrees in Paris", "is_error": False}
    assert calls(folder)[-1] == "Paris"
    assert call(running, "variable", {"name": "CITY"}).json()["content"] == "Lyon"
    long = call(running, "long_text", {"count": 300_000}).json()["content"]
    assert long == "x" * (256 << 10) + f"\n[{300_000 - (256 << 10)} more bytes]"


def test_errors_of_tools_are_results(running):
    ready(running)
    failed = call(running, "fail", {"reason": "no luck"}).json()
    assert failed["is_error"] and "fail" in failed["content"]
    assert call(running, "get_weather", {}).json()["is_error"], "an argument is missing"
    gone = call(running, "x", {}, tool_server="gone").json()
    assert gone["is_error"] and gone["content"].startswith("gone: ")


def test_a_program_that_ends_is_started_again(running):
    ready(running)
    ended = call(running, "quit", {}).json()
    assert ended["is_error"] and "ended" in ended["content"]
    assert call(running, "get_weather", {"city": "Rome"}).json()["content"] == "18 degrees in Rome"
    ready(running)


def test_a_server_at_an_address(address, tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"probe": {"url": address, "headers": {"X-Test": "1"}}}}))
    server = Server("--mcp", str(path))
    wait_for(lambda: listed(server)["probe"]["state"] == "ready", "connection")
    assert call(server, "add", {"a": 2, "b": 40}, tool_server="probe").json() == {"content": "42", "is_error": False}
    assert server.stop() == 0


def test_what_is_not_there_is_refused(running):
    ready(running)
    for body, status in [({"server": "weather", "name": "none"}, 404), ({"server": "off", "name": "x"}, 404), ({"name": "x"}, 400),
                         ({"server": "weather"}, 400), ({"server": "weather", "name": "fail", "arguments": "text"}, 400)]:
        answer = requests.post(running.url + "/tools/call", json=body, headers={"Authorization": "Bearer sk-ana"})
        assert answer.status_code == status and answer.json()["error"]["message"], body


def test_strangers_and_other_pages_call_nothing(running, folder):
    ready(running)
    before = calls(folder)
    body = {"server": "weather", "name": "get_weather", "arguments": {"city": "Oslo"}}
    url, key = running.url + "/tools/call", {"Authorization": "Bearer sk-ana"}
    assert requests.post(url, json=body).status_code == 401
    assert requests.get(running.url + "/tools").status_code == 401
    assert requests.post(url, json=body, headers={"Authorization": "Bearer sk-guess"}).status_code == 401
    assert requests.post(url, json=body, headers={**key, "Origin": "https://evil.example"}).status_code == 403
    assert requests.post(url, json=body, headers={**key, "Host": "evil.example"}).status_code == 403
    form = {**key, "Content-Type": "text/plain"}  # which a form of another page can send without a preflight request
    assert requests.post(url, data=json.dumps(body), headers=form).status_code == 415
    assert requests.get(url, headers=key).status_code == 405
    assert calls(folder) == before


def test_without_the_option_there_are_none(server):
    assert requests.get(server.url + "/tools").json() == {"servers": []}
    refused = requests.post(server.url + "/tools/call", json={"server": "weather", "name": "get_weather"})
    assert refused.status_code == 403 and "--mcp" in refused.json()["error"]["message"]


@pytest.mark.parametrize("text, reason", [
    ("{", "not valid JSON"), ("{}", "mcpServers"), ('{"mcpServers": {"a": {}}}', "a: it needs either command or url"),
    ('{"mcpServers": {"a": {"command": "x", "args": [1]}}}', "a: args must be"),
    ('{"mcpServers": {"a": {"command": "x", "env": {"B": 1}}}}', "a: env must be"),
    ('{"mcpServers": {"a": {"url": "ftp://x"}}}', "a: url is 'ftp://x'"),
    ('{"mcpServers": {"a": {"url": "http://x", "type": "sse"}}}', "a: the older transport"),
    ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "occurs twice"), ('{"mcpServers": {"": {"command": "x"}}}', "is empty")])
def test_a_wrong_configuration_is_named(tmp_path, text, reason):
    path = tmp_path / "mcp.json"
    path.write_text(text)
    done = subprocess.run([PROGRAM, "serve", "--port", "0", "--mcp", path], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0 and reason in done.stderr and str(path) in done.stderr, done.stderr


def test_an_open_server_runs_no_programs(tmp_path):
    options = ("--host", "0.0.0.0", "--insecure", "--mcp", write_tools(tmp_path))
    done = subprocess.run([PROGRAM, "serve", "--port", "0", *options], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0 and "API key" in done.stderr, done.stderr
