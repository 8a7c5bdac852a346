"""FastMCP's client."""

import contextlib

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

import steps


class FastMcp:
    def __init__(self, client):
        self.client = client

    async def names(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments):
        result = await self.client.call_tool(name, arguments, raise_on_error=False)
        return "".join(getattr(part, "text", "") for part in result.content), result.is_error


@contextlib.asynccontextmanager
async def connect(url, headers):
    async with Client(StreamableHttpTransport(url, headers=headers)) as client:
        yield FastMcp(client)


if __name__ == "__main__":
    steps.play(connect)
