"""From the dealer's host name alone to a finished search, as an agent goes that never heard of the dealer; and the
official validator's word on the OpenAPI document."""

import re
import time
import urllib.request

from a2a_scenario import media

LISTED = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def read(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def over_a2a(start, base, checks):
    """`start` runs an A2A client that is told the base URL only."""
    began = time.monotonic()
    client = start(base)
    card = client.begun.get("ready", {}).get("card", {})
    skills = {skill["id"]: skill for skill in card.get("skills", [])}
    checks.that("the client lists the skills of the card", "inventory.search" in skills, client.begun)
    [extension] = card["capabilities"]["extensions"]
    abilities = extension["params"]["skills"]["inventory.search"]["capabilities"]
    request = {"data": {"type": "inventory.search.request", "pagination": {"limit": int(abilities["default_limit"])}}}
    request |= {"media": media("inventory.search", "request"), "modes": skills["inventory.search"]["outputModes"]}
    found = client.ask(request).get("data", {}).get("data", {})
    checks.that("it completes a search", found.get("total", 0) > 0 and found.get("vehicles"), found)
    client.close()
    return time.monotonic() - began


def over_mcp(start, base, checks):
    """The index leads to the MCP endpoint; `start` runs an MCP client that is told that URL."""
    began = time.monotonic()
    links = dict(LISTED.findall(read(f"{base}/llms.txt")))
    if not checks.that("llms.txt links to the MCP endpoint", "MCP endpoint" in links, links):
        return 0
    client = start(links["MCP endpoint"])
    tools = {tool["name"]: tool for tool in client.list_tools().get("tools", [])}
    checks.that("the client lists the tools", "aap_inventory_search" in tools, list(tools))
    answer = client.call("aap_inventory_search", {"type": "inventory.search.request"})
    found = answer.get("result", {}).get("structuredContent", {}).get("data", {})
    checks.that("it completes a search", found.get("total", 0) > 0 and found.get("vehicles"), answer)
    client.close()
    return time.monotonic() - began
