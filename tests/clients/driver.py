"""What the Python drivers share: one JSON request a line in, one JSON answer a line out.

A client library's own exception is an answer too: {"failed": {"name", "code", "message", "data"}}.
"""

import asyncio
import json
import sys


def say(answer):
    print(json.dumps(answer, default=str), flush=True)


def dump(model):
    return None if model is None else model.model_dump(mode="json", by_alias=True, exclude_none=True)


def leaf(error):
    """The first real exception inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def failed(error):
    error = leaf(error)
    wire = getattr(error, "error", None)
    return {
        "failed": {
            "name": type(error).__name__,
            "code": getattr(wire, "code", None),
            "message": str(error),
            "data": getattr(wire, "data", None),
        }
    }


async def drive(list_tools, call_tool):
    """Answers requests until stdin ends. `list_tools` yields pages as (tools, next cursor)."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        try:
            if request["op"] == "list":
                tools, cursor = await list_tools(None)
                while cursor:
                    more, cursor = await list_tools(cursor)
                    tools += more
                say({"tools": [dump(tool) for tool in tools]})
            else:
                say({"result": dump(await call_tool(request["name"], request["arguments"]))})
        except Exception as error:  # the client's verdict is what is being tested
            say(failed(error))


async def drive_v2(client):
    """The same for a client of mcp 2.x, which says first what it agreed on."""
    say({"ready": {"protocol": client.protocol_version, "server": dump(client.server_info)}})

    async def page(cursor):
        listed = await client.list_tools(cursor=cursor)
        return listed.tools, listed.next_cursor

    await drive(page, client.call_tool)


def run(main):
    try:
        asyncio.run(main())
    except BaseException as error:
        say(failed(error))
        raise SystemExit(1) from None
