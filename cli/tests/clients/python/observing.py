"""Plays scenes with a client, and prints what was seen as JSON, a line a scene."""

import json
import sys

TOOL = "get_weather"
DESCRIPTION = "The weather of a city, now"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
RESULT = '{"celsius": 11, "rain": true}'


def scenes(ask, stream, tool, tool_stream, cut=None):
    """The scenes that every API of a model has."""
    return {
        "plain": ask,
        "stream": stream,
        "tool": tool,
        "tool stream": tool_stream,
        "limited": ask,
        "limited stream": stream,
        "broken": ask,
        "overloaded": ask,
        "refused": ask,
        "coded": ask,
        "failing stream": stream,
        "cut": cut or ask,
        "cut stream": stream,
        "slow stream": stream,
    }


def play(api, scenes, named):
    """Plays the scenes that the command line names, else all but those that must be named.

    A scene is a function of its prompt and of what is seen so far, to which it adds; an error is seen too."""
    wanted = sys.argv[1:] or list(scenes)
    for name, scene in {**scenes, **named}.items():
        if name not in wanted:
            continue
        seen = {"api": api, "scene": name}
        try:
            scene(f"scene: {name}", seen)
        except Exception as error:
            seen["error"] = {"type": type(error).__name__, "text": str(error)}
            status = getattr(error, "status_code", None)
            if status is not None:
                seen["error"]["status"] = status
        print(json.dumps(seen, ensure_ascii=False, sort_keys=True), flush=True)
