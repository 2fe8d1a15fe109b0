"""Drives the Python client mcp 1.x, which knows `initialize` only. Usage: py_v1.py URL"""

import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from driver import drive, dump, run, say


async def main():
    async with streamablehttp_client(sys.argv[1]) as (read, write, _), ClientSession(read, write) as session:
        begun = await session.initialize()
        say({"ready": {"protocol": begun.protocolVersion, "server": dump(begun.serverInfo)}})

        async def page(cursor):
            listed = await session.list_tools(cursor=cursor)
            return listed.tools, listed.nextCursor

        await drive(page, session.call_tool)


run(main)
