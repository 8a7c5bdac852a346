"""LangChain with langchain-mcp-adapters."""

import contextlib

from langchain_mcp_adapters.client import MultiServerMCPClient

import steps


class LangChain:
    def __init__(self, tools):
        self.tools = {tool.name: tool for tool in tools}

    async def names(self):
        return list(self.tools)

    async def call(self, name, arguments):
        tool = self.tools.get(name)
        if tool is None:
            return f"there is no tool `{name}`", True
        message = await tool.ainvoke({"type": "tool_call", "id": "call-1", "name": name, "args": arguments})
        return message.text if isinstance(message.text, str) else message.text(), message.status == "error"


@contextlib.asynccontextmanager
async def connect(url, headers):
    server = {"transport": "streamable_http", "url": url, "headers": headers}
    yield LangChain(await MultiServerMCPClient({"server": server}).get_tools())


if __name__ == "__main__":
    steps.play(connect)
