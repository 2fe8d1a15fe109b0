"""Drives the Python client mcp 2.x. Usage: py_v2.py URL 2026-07-28|auto|legacy"""

import sys

from mcp import Client

from driver import drive, dump, run, say


async def main():
    url, mode = sys.argv[1:]
    async with Client(url, mode=mode, read_timeout_seconds=30) as client:
        say({"ready": {"protocol": client.protocol_version, "server": dump(client.server_info)}})

        async def page(cursor):
            listed = await client.list_tools(cursor=cursor)
            return listed.tools, listed.next_cursor

        await drive(page, client.call_tool)


run(main)
