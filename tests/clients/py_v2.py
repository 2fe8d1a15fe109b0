"""Drives the Python client mcp 2.x. Usage: py_v2.py URL 2026-07-28|auto|legacy"""

import sys

from mcp import Client

from driver import drive_v2, run


async def main():
    url, mode = sys.argv[1:]
    async with Client(url, mode=mode, read_timeout_seconds=30) as client:
        await drive_v2(client)


run(main)
