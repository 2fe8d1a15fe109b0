"""Drives the Python client a2a-sdk 1.x: knows the base URL only, finds the card, sends one data part a request.

One JSON request a line in ({"data", "media", "modes"}), one JSON answer a line out. The details of an error are
decoded by the official protobuf parser: "undecoded" names those that it does not take. Usage: py_a2a.py BASE
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import ClientCallContext
from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf import any_pb2, struct_pb2  # noqa: F401  (registers Struct with the parser)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.rpc import error_details_pb2  # noqa: F401  (registers ErrorInfo and BadRequest)

AAP = "https://autoagentprotocol.org/extensions/aap/v3.0"


def say(answer):
    print(json.dumps(answer), flush=True)


def undecoded(details):
    faults = []
    for detail in details or []:
        try:
            ParseDict(detail, any_pb2.Any())
        except Exception as error:  # the parser's verdict is what is being tested
            faults.append(f"{detail.get('@type')}: {error}")
    return faults


async def send(client, wire, request):
    message = {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": [{"data": request["data"], "mediaType": request["media"]}],
    }
    call = ParseDict(
        {"message": message, "configuration": {"acceptedOutputModes": request["modes"]}}, SendMessageRequest()
    )
    context = ClientCallContext(service_parameters={"A2A-Extensions": AAP})
    wire.clear()
    try:
        async for event in client.send_message(call, context=context):
            answered = MessageToDict(event)["message"]
        return {"message": answered, "data": answered["parts"][0].get("data")}
    except Exception as error:  # so is the client's
        raw = wire[-1].get("error") if wire else None
        if raw is None:
            return {"failed": {"name": type(error).__name__, "message": str(error)}}
        return {"error": raw, "undecoded": undecoded(raw.get("data"))}


async def main():
    wire = []

    async def keep(response):
        await response.aread()
        if response.request.method == "POST":
            wire.append(response.json())

    async with httpx.AsyncClient(event_hooks={"response": [keep]}, timeout=30) as http:
        config = ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=["JSONRPC"])
        card = await A2ACardResolver(http, sys.argv[1]).get_agent_card()
        client = ClientFactory(config).create(card)
        say({"ready": {"card": MessageToDict(card)}})
        while line := await asyncio.to_thread(sys.stdin.readline):
            say(await send(client, wire, json.loads(line)))


try:
    asyncio.run(main())
except Exception as error:
    say({"failed": {"name": type(error).__name__, "message": str(error)}})
    raise SystemExit(1) from None
