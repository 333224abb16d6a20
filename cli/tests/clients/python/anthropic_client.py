"""The SDK of Anthropic, as its users call it."""

import asyncio
import json
import os

import anthropic
from observing import DESCRIPTION, PARAMETERS, RESULT, TOOL, play, scenes

MODEL = "claude-opus-4-6"
TOOLS = [{"name": TOOL, "description": DESCRIPTION, "input_schema": PARAMETERS}]
# As those do who ask through a gateway: with a token beside the key.
HEADERS = {"Authorization": f"Bearer {os.environ['ANTHROPIC_AUTH_TOKEN']}"}
client = anthropic.Anthropic(default_headers=HEADERS)


def user(prompt):
    return [{"role": "user", "content": prompt}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def usage(seen, message):
    seen["usage"] = message.usage.model_dump(exclude_none=True)
    seen["stop_reason"] = message.stop_reason


def ask(prompt, seen, **rest):
    raw = client.messages.with_raw_response.create(model=MODEL, max_tokens=100, messages=user(prompt), **rest)
    message = raw.parse()
    seen["retries"] = raw.retries_taken
    seen["request_id"] = message._request_id
    seen["left"] = raw.headers.get("anthropic-ratelimit-requests-remaining")
    seen["text"] = text_of(message)
    usage(seen, message)


def stream(prompt, seen):
    seen["texts"] = []
    with client.messages.stream(model=MODEL, max_tokens=100, messages=user(prompt)) as stream:
        for text in stream.text_stream:
            seen["texts"].append(text)
        usage(seen, stream.get_final_message())
    seen["text"] = "".join(seen["texts"])


def raw_stream(prompt, seen):
    """Every event, with those that say nothing."""
    with client.messages.create(model=MODEL, max_tokens=100, messages=user(prompt), stream=True) as stream:
        seen["events"] = [event.type for event in stream]


def tool(prompt, seen):
    messages = user(prompt)
    message = client.messages.create(model=MODEL, max_tokens=100, messages=messages, tools=TOOLS)
    go_on(messages, message, seen)


def tool_stream(prompt, seen):
    messages = user(prompt)
    with client.messages.stream(model=MODEL, max_tokens=100, messages=messages, tools=TOOLS) as stream:
        message = stream.get_final_message()
    go_on(messages, message, seen)


def go_on(messages, message, seen):
    calls = [block for block in message.content if block.type == "tool_use"]
    seen["calls"] = [[call.name, json.dumps(call.input, ensure_ascii=False, separators=(",", ":"))] for call in calls]
    uses = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in calls]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT} for call in calls]
    history = [*messages, {"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    seen["text"] = text_of(client.messages.create(model=MODEL, max_tokens=100, messages=history, tools=TOOLS))


def parallel(prompt, seen):
    async def ask(client, number):
        message = await client.messages.create(model=MODEL, max_tokens=100, messages=user(f"{prompt} {number}"))
        return text_of(message)

    async def all():
        async with anthropic.AsyncAnthropic() as client:
            return await asyncio.gather(*(ask(client, number) for number in range(8)))

    seen["texts"] = asyncio.run(all())


SCENES = {**scenes(ask, stream, tool, tool_stream), "raw stream": raw_stream, "parallel": parallel}

play("messages", SCENES, {"unknown": ask, "unknown stream": stream})
