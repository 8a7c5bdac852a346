from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from every_case import drive
from handlers import TIME_OUT_SECONDS, handlers

set_tracing_disabled(True)


async def run_one(base_url, ran, best):
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    options = {"timeout": TIME_OUT_SECONDS} if best else {}
    tools = [function_tool(handler, **options) for handler in handlers(ran, strict=best)]
    agent = Agent(name="agent", model=OpenAIChatCompletionsModel("scripted", client), tools=tools)
    config = RunConfig(tool_not_found_behavior="return_error_to_model") if best else None
    return (await Runner.run(agent, "Do it.", run_config=config)).final_output


if __name__ == "__main__":
    drive(run_one)
