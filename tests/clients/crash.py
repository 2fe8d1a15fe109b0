"""Ends the product the hard way between accepting a lead and delivering it: the mail must still come, once."""

import json
from pathlib import Path

import leads
import mail
import product
import raw


def call(url, tool, request):
    """Calls over the bare wire; the typed payload of the result."""
    status, _, body = raw.answered(url, raw.call(tool, request))
    return json.loads(body)["result"]["structuredContent"] if status == 200 else {"status": status}


def a_car(url):
    found = call(url, "aap_inventory_search", {"type": "inventory.search.request", "filters": {"make": ["Tesla"]}})
    return found["data"]["vehicles"][0]


def submit(url, request):
    return call(url, "aap_lead_submit", request)


# AAP-577
def check_crash(binary, folder, checks):
    data, log = Path(folder) / "crash", Path(folder) / "crash.log"
    first = product.demo(binary, data, log)
    config, folder_of_mails = first.ready["config"], first.ready["leads_dir"]
    code, seconds = first.end()
    checks.equal("SIGTERM ends the demo with exit code", code, 0)
    checks.that("SIGTERM ends it within two seconds", seconds < 2, seconds)
    checks.equal("exactly one line on stdout", first.rest_of_stdout(), [])

    # the same configuration, with nobody at the CRM's mail address
    nobody = f"deployments.demo.leads.deliveries.crm.port={product.free_port()}"
    alone = product.serve(binary, config, first.ready["mcp"], log, "--set", nobody)
    car = a_car(alone.ready["mcp"])
    request = leads.lead("crash", leads.of_interest(car))
    payload = submit(alone.ready["mcp"], request)
    checks.equal("accepted while the CRM is away", payload.get("data", {}).get("status"), "received")
    alone.kill()
    checks.equal("nothing was delivered", len(mail.read(folder_of_mails)), 0)

    again = product.demo(binary, data, log)
    address = request["customer"]["email"]
    messages = mail.wait_for(again.ready["leads_dir"], [address], 60)
    mail.check_mail(messages, request, car, checks, folder)
    retried = submit(again.ready["mcp"], request)
    expected = payload | {"data": payload.get("data", {}) | {"replayed": True}}
    checks.equal("a retry after the crash replays", retried, expected)
    again.kill()

    last = product.demo(binary, data, log)
    # a second lead, about no car, shows that the worker has been through its queue
    marker = leads.lead("after-crash")
    submit(last.ready["mcp"], marker)
    messages = mail.wait_for(last.ready["leads_dir"], [marker["customer"]["email"]], 30)
    checks.equal("still one mail for the first", len(mail.of(messages, address)), 1)
    mail.check_plain_mail(messages, marker, checks)
    last.end()
