"""What every client is asked to do: its steps are the second argument, a list in JSON; what it saw of each is a list in JSON on stdout.

A step is null (list the tools) or {"name": …, "arguments": …} (call one). What is seen is a list of names, or the text that the
framework gives to a model, with `error` where the framework says that it is one.
"""

import asyncio
import json
import os
import sys

PATIENCE = 60  # seconds, for a step


def headers():
    """The caller's token, where it has one."""
    token = os.environ.get("MCP_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def play(connect):
    """Plays the steps on what `connect(url, headers)` opens: something with `names()` and `call(name, arguments)`."""
    print(json.dumps(asyncio.run(played(connect, sys.argv[1], json.loads(sys.argv[2])))))


async def played(connect, url, steps):
    seen = []
    async with connect(url, headers()) as client:
        for step in steps:
            asked = client.names() if step is None else seen_of(client.call(step["name"], step["arguments"]))
            seen.append(await asyncio.wait_for(asked, PATIENCE))
    return seen


async def seen_of(call):
    """A call that the framework fails is seen too: a model would be told of it."""
    try:
        text, is_error = await call
    except Exception as error:  # noqa: BLE001 - each framework has its own
        text, is_error = f"{type(error).__name__}: {error}", True
    return {"text": text, "error": is_error}
