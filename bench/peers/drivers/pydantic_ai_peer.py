from pydantic_ai import Agent, Tool
from pydantic_ai.capabilities import Hooks
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from every_case import drive
from handlers import TIME_OUT_SECONDS, handlers


async def failed(ctx, *, call, tool_def, args, error):
    """The documented hook for what a tool raises; it gives the model a text without the exception's."""
    return "The tool failed."


async def run_one(base_url, ran, best):
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=base_url, api_key="none"))
    tools = [Tool(handler) for handler in handlers(ran, strict=best)]
    options = {"tool_timeout": TIME_OUT_SECONDS, "capabilities": [Hooks(tool_execute_error=failed)]} if best else {}
    agent = Agent(model, tools=tools, **options)
    return (await agent.run("Do it.")).output


if __name__ == "__main__":
    drive(run_one)
