"""One call of a three-field tool through each Python peer's own entry for it: from the arguments' text to the result."""

import asyncio
import json
import statistics
import sys
import time

WARM_UP, CALLS = 300, 3_000
ARGUMENTS = '{"to": "bob", "amount": 1999, "memo": "second attempt, see ticket 7"}'


async def transfer(to: str, amount: int, memo: str | None = None) -> str:
    """Sends an amount to a person."""
    return f"sent {amount}"


async def pydantic_ai():
    from pydantic_ai import RunContext, RunUsage
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.toolsets import FunctionToolset

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), max_retries=1)
    toolset = FunctionToolset([transfer])
    tool = (await toolset.get_tools(context))["transfer"]

    async def call():
        arguments = tool.args_validator.validate_json(ARGUMENTS)
        return await toolset.call_tool("transfer", arguments, context, tool)

    return call


async def openai_agents():
    from agents import function_tool
    from agents.tool_context import ToolContext

    tool = function_tool(transfer)

    async def call():
        context = ToolContext(None, tool_name="transfer", tool_call_id="call_1", tool_arguments=ARGUMENTS)
        return await tool.on_invoke_tool(context, ARGUMENTS)

    return call


async def agent_framework():
    from agent_framework import tool

    made = tool(transfer)

    async def call():
        return (await made.invoke(arguments=json.loads(ARGUMENTS)))[0].text

    return call


async def langchain():
    from langchain_core.tools import tool

    made = tool(transfer)

    async def call():
        arguments = json.loads(ARGUMENTS)
        return await made.ainvoke({"type": "tool_call", "id": "call_1", "name": "transfer", "args": arguments})

    return call


async def measure(name):
    call = await globals()[name]()
    assert "sent 1999" in str(await call()), await call()
    times = []
    for index in range(WARM_UP + CALLS):
        begun = time.perf_counter_ns()
        await call()
        if index >= WARM_UP:
            times.append((time.perf_counter_ns() - begun) / 1_000)
    times.sort()
    print(json.dumps({"median": statistics.median(times), "p95": times[CALLS * 95 // 100], "calls": CALLS}))


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1]))
