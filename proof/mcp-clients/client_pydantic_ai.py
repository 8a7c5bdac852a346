"""Pydantic AI: an agent with the server's tools, and a model that calls the one it is told to."""

import contextlib

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

import steps


class PydanticAi:
    def __init__(self, tools):
        self.tools = tools

    async def names(self):
        return [tool.name for tool in await self.tools.list_tools()]

    async def call(self, name, arguments):
        came = []

        def told(messages, _):
            """A model that calls one tool, and ends with what came of it."""
            parts = [part for message in messages for part in message.parts]
            came[:] = [part for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]
            if came:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart(name, arguments)])

        await Agent(FunctionModel(told), toolsets=[self.tools]).run("Do it.")
        part = came[-1]
        if isinstance(part, RetryPromptPart):
            return part.model_response(), True
        return part.model_response_str(), part.outcome != "success"


@contextlib.asynccontextmanager
async def connect(url, headers):
    async with MCPToolset(url, headers=headers) as tools:
        yield PydanticAi(tools)


if __name__ == "__main__":
    steps.play(connect)
