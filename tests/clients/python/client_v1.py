"""The Python client, first line, as it comes: it initializes."""

from contextlib import asynccontextmanager

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from session import session


class Connected:
    """A client in the shape `session` asks for."""

    error = McpError

    def __init__(self, client, version):
        self._client = client
        self.version = version

    async def tools(self):
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, name, arguments):
        result = await self._client.call_tool(name, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        return result.isError, text, result.structuredContent


@asynccontextmanager
async def connect(command):
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
        agreed = await client.initialize()
        yield Connected(client, agreed.protocolVersion)


session(connect)
