"""A client of the Model Context Protocol: `mcp_client.py MODE [COMMAND…]`, where the command is the server.

Without a command it asks the URL in `WINDTUNNEL_MCP_URL`."""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters


def say(what, **seen):
    print(json.dumps({"api": "mcp", "scene": what, **seen}, ensure_ascii=False, sort_keys=True), flush=True)


def dump(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def elicited(context, parameters):
    say("elicited", message=parameters.message)
    return types.ElicitResult(action="accept", content={"unit": "°C"})


async def main():
    mode, *command = sys.argv[1:]
    if command:
        server = StdioServerParameters(command=command[0], args=command[1:])
    else:
        server = os.environ["WINDTUNNEL_MCP_URL"]
    async with Client(server, mode=mode, elicitation_callback=elicited, cache=None) as client:
        say("connected", version=client.protocol_version, server=dump(client.server_info))

        async def progress(done, total, message):
            say("progress", done=done, total=total, message=message)

        say("tools", names=[tool.name for tool in (await client.list_tools()).tools])
        say("add", **dump(await client.call_tool("add", {"a": 1, "b": 2})))
        say("count", **dump(await client.call_tool("count", {"to": 3}, progress_callback=progress)))
        if mode == "legacy":
            # In later versions servers ask nothing back while they answer.
            say("forecast", **dump(await client.call_tool("forecast", {"city": "Zürich"})))
        say("fail", **dump(await client.call_tool("fail", {"why": "it rains"})))
        say("note", **dump(await client.read_resource("note://rain")))
        say("prompt", **dump(await client.get_prompt("ask", {"topic": "rain"})))
        sums = await asyncio.gather(*(client.call_tool("add", {"a": number, "b": 0}) for number in range(8)))
        say("at once", sums=[result.structured_content for result in sums])
        if os.environ.get("UNKNOWN"):
            try:
                await client.call_tool("add", {"a": 40, "b": 2})
            except MCPError as error:
                say("unknown", code=error.error.code, text=error.error.message)


asyncio.run(main())
