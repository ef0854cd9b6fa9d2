"""Servers of tools written with the protocol's own library, and a configuration that names them, for the tests of `--mcp`."""
import json
import sys

PROGRAM = '''
import os
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")


@server.tool()
def get_weather(city: str) -> str:
    """Current weather of a city"""
    with open(__file__ + ".log", "a") as log:
        log.write(city + "\\n")
    return f"18 degrees in {city}"


@server.tool()
def fail(reason: str) -> str:
    """Always fails"""
    raise ValueError(reason)


@server.tool()
def quit() -> str:
    """Ends the program"""
    os._exit(3)


@server.tool()
def long_text(count: int) -> str:
    """A long text"""
    return "x" * count


@server.tool()
def variable(name: str) -> str:
    """A variable of the environment"""
    return os.environ.get(name, "none")


server.run("stdio")
'''


def write_tools(folder, **others):
    """Writes the program and a configuration with it and the other servers; returns the configuration."""
    program = folder / "weather.py"
    program.write_text(PROGRAM)
    weather = {"command": sys.executable, "args": [str(program)], "env": {"CITY": "Lyon"}}
    configuration = folder / "mcp.json"
    configuration.write_text(json.dumps({"mcpServers": {"weather": weather, **others}}))
    return configuration


def calls(folder):
    log = folder / "weather.py.log"
    return log.read_text().split() if log.exists() else []
