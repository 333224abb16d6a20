"""The SDK of OpenAI, as its users call it: Chat Completions, Responses, models and files."""

import asyncio
import time

import openai
from observing import DESCRIPTION, PARAMETERS, RESULT, TOOL, play, scenes

MODEL = "gpt-5.2"
client = openai.OpenAI()


def usage(seen, usage):
    if usage is not None:
        seen["usage"] = usage.model_dump(exclude_none=True)


# Chat Completions

CHAT_TOOLS = [
    {
        "type": "function",
        "function": {"name": TOOL, "description": DESCRIPTION, "parameters": PARAMETERS},
    }
]


def user(prompt):
    return [{"role": "user", "content": prompt}]


def chat(prompt, seen, **rest):
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=user(prompt), **rest)
    completion = raw.parse()
    seen["retries"] = raw.retries_taken
    seen["request_id"] = completion._request_id
    seen["text"] = completion.choices[0].message.content
    usage(seen, completion.usage)


def chat_stream(prompt, seen, **rest):
    seen["texts"] = []
    options = {"include_usage": True}
    with client.chat.completions.create(
        model=MODEL, messages=user(prompt), stream=True, stream_options=options, **rest
    ) as stream:
        for chunk in stream:
            usage(seen, chunk.usage)
            seen["texts"] += [choice.delta.content for choice in chunk.choices if choice.delta.content]
    seen["text"] = "".join(seen["texts"])


def chat_timed(prompt, seen):
    """Whether a stream takes as long as the service pauses in it."""
    began = time.monotonic()
    chat_stream(prompt, seen)
    seen["is_slow"] = time.monotonic() - began >= 0.15


def chat_tool(prompt, seen):
    messages = user(prompt)
    message = client.chat.completions.create(model=MODEL, messages=messages, tools=CHAT_TOOLS).choices[0].message
    chat_go_on(messages, message, seen)


def chat_tool_stream(prompt, seen):
    messages = user(prompt)
    with client.chat.completions.stream(model=MODEL, messages=messages, tools=CHAT_TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    chat_go_on(messages, message, seen)


def chat_go_on(messages, message, seen):
    seen["calls"] = [[call.function.name, call.function.arguments] for call in message.tool_calls]
    assistant = {
        "role": "assistant",
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in message.tool_calls
        ],
    }
    results = [{"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in message.tool_calls]
    again = client.chat.completions.create(model=MODEL, messages=[*messages, assistant, *results], tools=CHAT_TOOLS)
    seen["text"] = again.choices[0].message.content


def chat_parallel(prompt, seen):
    async def ask(client, number):
        completion = await client.chat.completions.create(model=MODEL, messages=user(f"{prompt} {number}"))
        return completion.choices[0].message.content

    async def all():
        async with openai.AsyncOpenAI() as client:
            return await asyncio.gather(*(ask(client, number) for number in range(8)))

    seen["texts"] = asyncio.run(all())


# Responses

RESPONSES_TOOLS = [{"type": "function", "name": TOOL, "description": DESCRIPTION, "parameters": PARAMETERS, "strict": True}]


def responses(prompt, seen, **rest):
    raw = client.responses.with_raw_response.create(model=MODEL, input=prompt, **rest)
    response = raw.parse()
    seen["retries"] = raw.retries_taken
    seen["request_id"] = response._request_id
    seen["text"] = response.output_text
    usage(seen, response.usage)


def responses_stream(prompt, seen, **rest):
    seen["texts"] = []
    with client.responses.create(model=MODEL, input=prompt, stream=True, **rest) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                seen["texts"].append(event.delta)
            elif event.type == "response.completed":
                usage(seen, event.response.usage)
            elif event.type == "response.failed":
                seen["error"] = {"type": event.type, "text": event.response.error.message}
    seen["text"] = "".join(seen["texts"])


def responses_tool(prompt, seen):
    response = client.responses.create(model=MODEL, input=prompt, tools=RESPONSES_TOOLS)
    responses_go_on(prompt, response, seen)


def responses_tool_stream(prompt, seen):
    with client.responses.stream(model=MODEL, input=prompt, tools=RESPONSES_TOOLS) as stream:
        response = stream.get_final_response()
    responses_go_on(prompt, response, seen)


def responses_go_on(prompt, response, seen):
    calls = [item for item in response.output if item.type == "function_call"]
    seen["calls"] = [[call.name, call.arguments] for call in calls]
    history = [{"role": "user", "content": prompt}]
    for call in calls:
        history.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULT})
    seen["text"] = client.responses.create(model=MODEL, input=history, tools=RESPONSES_TOOLS).output_text


# What is no model's


def models(prompt, seen):
    seen["models"] = [model.id for model in client.models.list()]


def upload(prompt, seen):
    """A body of several parts, whose boundary is drawn anew each time."""
    file = client.files.create(file=("notes.jsonl", b'{"a": 1}\n{"\xc3\xa4": 2}\n'), purpose="batch")
    seen["file"] = file.id


def with_a_limit(ask):
    """Asks, and waits for five seconds at most."""
    return lambda prompt, seen: ask(prompt, seen, timeout=5)


CHAT = {**scenes(chat, chat_stream, chat_tool, chat_tool_stream, with_a_limit(chat)), "parallel": chat_parallel}
RESPONSES = scenes(responses, responses_stream, responses_tool, responses_tool_stream, with_a_limit(responses))
OTHER = {"models": models, "upload": upload}

# Played only if they are named.
CHAT_NAMED = {"unknown": chat, "unknown stream": chat_stream, "timed stream": chat_timed}
RESPONSES_NAMED = {"unknown": responses, "unknown stream": responses_stream}

play("chat", CHAT, CHAT_NAMED)
play("responses", RESPONSES, RESPONSES_NAMED)
play("other", OTHER, {})
