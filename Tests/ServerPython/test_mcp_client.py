"""The kit's client of the Model Context Protocol, with servers written with the protocol's own library."""
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROBE = Path(os.environ["PAGODA"]).with_name("MCPProbe")
SERVER = '''
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("probe")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers"""
    return str(a + b)


@server.tool()
def fail(reason: str) -> str:
    """Always fails"""
    raise ValueError(reason)


@server.tool()
def long_text(count: int) -> str:
    """A long text with several lines"""
    return "\\n".join(["é" * 1000] * count)


if sys.argv[1:]:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
'''


@pytest.fixture()
def script(tmp_path):
    path = tmp_path / "probe_server.py"
    path.write_text(SERVER)
    return path


def probe(target, *calls, **environment):
    done = subprocess.run([PROBE, *map(str, target), "--", *calls], capture_output=True, text=True, timeout=300,
                          env=os.environ | environment, check=False)
    return done.stdout.splitlines()


@pytest.fixture()
def address(script):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, str(script), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        for _ in range(600):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
        server.terminate()


CALLS = ["add", '{"a": 2, "b": 40}', "fail", '{"reason": "no luck"}', "long_text", '{"count": 300}', "add", "not json"]


def check(lines):
    assert [line.split()[1] for line in lines if line.startswith("tool ")] == ["add", "fail", "long_text"], lines[:5]
    assert '"a"' in lines[0] and "integer" in lines[0], lines[0]
    assert "result 42" in lines
    assert any(line.startswith("result ") and "Error executing tool fail" in line for line in lines), lines[:8]
    assert sum("é" * 1000 in line for line in lines) == 300
    assert any(line.startswith("result ") and "not a JSON object" in line for line in lines)


def test_tools_of_a_program(script):
    check(probe([sys.executable, script], *CALLS))


def test_tools_at_an_address(address):
    check(probe([address], *CALLS))


def test_a_refused_tool_is_not_called(script):
    call = ["add", '{"a": 1, "b": 1}']
    assert probe([sys.executable, script], *call)[-1] == "result 2"
    refused = probe([sys.executable, script], *call, PROBE_REFUSE="add")[-1]
    assert "refused" in refused and "2" not in refused


def test_a_program_that_ends_at_once_is_noticed(script):
    """Foundation's handler for readable files missed the end in one of sixty starts when several began at the same time."""
    with ThreadPoolExecutor(6) as pool:
        ends = list(pool.map(lambda _: probe([sys.executable, "-c", "print('no protocol')"])[-1], range(60)))
    assert all("failed probe: the program ended" in end for end in ends), ends


def test_faults_name_the_server(script):
    assert "failed probe: the program ended" in probe([sys.executable, "-c", "print('no protocol'); raise SystemExit(3)"])[-1]
    assert probe(["/nonexistent/program"])[-1].startswith("failed probe: ")
    assert "cannot be reached" in probe(["http://127.0.0.1:9/mcp"])[-1]
