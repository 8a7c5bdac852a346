import inspect

from agent_framework import Agent, tool
from agent_framework_openai import OpenAIChatCompletionClient
from pydantic import ConfigDict, create_model

from every_case import drive
from handlers import handlers


def closed(handler):
    """A handler's parameters as a model that takes no others and converts nothing."""
    parameters = inspect.signature(handler).parameters.values()
    fields = {each.name: (each.annotation, ... if each.default is each.empty else each.default) for each in parameters}
    return create_model(handler.__name__, __config__=ConfigDict(extra="forbid", strict=True), **fields)


async def run_one(base_url, ran, best):
    client = OpenAIChatCompletionClient(model="scripted", base_url=base_url, api_key="none")
    made = handlers(ran, strict=best)
    tools = [tool(each, schema=closed(each)) if best else tool(each) for each in made]
    return (await Agent(client, tools=tools).run("Do it.")).text


if __name__ == "__main__":
    drive(run_one)
