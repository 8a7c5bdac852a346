"""The OpenAI Agents SDK: an agent with the server's tools, and a model that calls the one it is told to."""

import contextlib
import json

from agents import Agent, RunConfig, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.mcp import MCPServerStreamableHttp
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import steps

set_tracing_disabled(True)


class Told(Model):
    """A model that calls one tool, and says what came of it."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, json.dumps(arguments)

    async def get_response(self, system_instructions, input, *_, **__):
        came = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if not came:
            call = ResponseFunctionToolCall(arguments=self.arguments, call_id="call-1", name=self.name, type="function_call")
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(text=json.dumps(came[-1]["output"]), type="output_text", annotations=[])
        said = ResponseOutputMessage(id="said", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


class OpenAiAgents:
    def __init__(self, server):
        self.server = server

    async def names(self):
        return [tool.name for tool in await self.server.list_tools()]

    async def call(self, name, arguments):
        agent = Agent(name="agent", model=Told(name, arguments), mcp_servers=[self.server])
        config = RunConfig(tool_not_found_behavior="return_error_to_model")
        # It tells its model no errors from answers.
        return (await Runner.run(agent, "Do it.", run_config=config)).final_output, None


@contextlib.asynccontextmanager
async def connect(url, headers):
    async with MCPServerStreamableHttp({"url": url, "headers": headers}, client_session_timeout_seconds=30) as server:
        yield OpenAiAgents(server)


if __name__ == "__main__":
    steps.play(connect)
