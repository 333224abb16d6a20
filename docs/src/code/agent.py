"""Refunds an order: asks a model, runs the tool that it calls, and says what came of it."""

import json
import sys

import openai

REFUND = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Pays an order back.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    },
}
client = openai.OpenAI(max_retries=0)
paid = []


def refund(order):
    paid.append(order)
    return "19.99 euros went back"


def converse():
    messages = [{"role": "user", "content": "Refund order 7."}]
    while True:
        answer = client.chat.completions.create(model="gpt-5.2", messages=messages, tools=[REFUND])
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = refund(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


for attempt in range(3):
    try:
        print(converse())
        break
    except openai.APIError as error:
        print(f"again, after {error.code or type(error).__name__}")

print(f"refunds: {len(paid)}")
sys.exit(len(paid) != 1)
