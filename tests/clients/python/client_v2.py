"""The Python client, second line, as it comes: it asks `server/discover` and
initializes if that fails.
"""

from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters
from session import session


class Connected:
    """A client in the shape `session` asks for."""

    error = MCPError

    def __init__(self, client):
        self._client = client
        self.version = client.protocol_version

    async def tools(self):
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, name, arguments):
        result = await self._client.call_tool(name, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        return bool(result.is_error), text, result.structured_content


@asynccontextmanager
async def connect(command):
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        yield Connected(client)


session(connect)
