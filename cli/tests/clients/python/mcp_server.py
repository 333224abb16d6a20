"""A server of the Model Context Protocol: `mcp_server.py stdio`, or `mcp_server.py http`, which prints its URL."""

import socket
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

server = MCPServer("weather")


class Answer(BaseModel):
    unit: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


@server.tool()
async def count(to: int, context: Context) -> str:
    """Counts, and says how far it is"""
    for number in range(1, to + 1):
        await context.report_progress(number, to, f"{number} ☂")
    return "done"


@server.tool()
async def forecast(city: str, context: Context) -> str:
    """Asks back before it answers"""
    asked = await context.elicit(f"Which unit for {city}?", Answer)
    return f"{city}: 11 {asked.data.unit}" if asked.action == "accept" else f"{city}: {asked.action}"


@server.tool()
def fail(why: str) -> str:
    """Fails"""
    raise ValueError(why)


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note"""
    return f"a note on {name}"


@server.prompt()
def ask(topic: str) -> str:
    """A question"""
    return f"What of {topic}?"


if sys.argv[1] == "stdio":
    server.run()
else:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
