"""Every error code that a deployment's own limits, mapping and source can bring about, through every client.

The server is `serve` with the demo's data, a mapping without two fields, a quota for leads, and a source that is
taken away while the clients are connected.
"""

import sqlite3
from pathlib import Path

import leads
import product
from scenario import Scenario

SEARCH = {"type": "inventory.search.request"}


def variant(binary, folder):
    """Serves it; gives the product, the database file and the identifiers of a car that was sold just now."""
    first = product.demo(binary, folder / "codes", folder / "codes-demo.log")
    first.end()
    config = Path(first.ready["config"])
    text = config.read_text()
    text = text.replace("refresh_interval_s = 60", "refresh_interval_s = 5\nmax_age_s = 10\nlook_up_cache_ms = 0")
    config.write_text(text + "\n[deployments.demo.limits]\nleads_per_minute = 1\n")
    mapping = config.parent / "mapping.toml"
    lines = mapping.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("msrp =", "charge_port ="))]
    assert len(kept) == len(lines) - 2, "the demo's mapping has both fields"
    mapping.write_text("\n".join(kept))
    served = product.serve(binary, str(config), first.ready["mcp"], folder / "codes.log")
    return served, config.parent / "dms.sqlite"


def sell(database, vehicle_id):
    """What the dealer's system does when a car is sold."""
    record = int(vehicle_id.rsplit(":", 1)[1])
    connection = sqlite3.connect(database)
    with connection:
        changed = connection.execute("UPDATE VEHMAST SET SOLDDT = '20261130' WHERE RECNO = ?", (record,)).rowcount
    connection.close()
    assert changed == 1, "one car was sold"


def take_away(database):
    """The source cannot be read any more, in the middle of service."""
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("ALTER TABLE VEHMAST RENAME TO ARCHIVE")
    connection.close()


class Codes:
    """The part of one client; its connection outlives the source."""

    def __init__(self, client, checks):
        self.client = client
        self.scenario = Scenario(client, checks)
        self.checks = checks

    def connect(self):
        return self.checks.that(f"{self.client.name} connects", "ready" in self.client.begun, self.client.begun)

    def refused(self, what, tool, request, code, pointer=None, retryable=False):
        what = f"{self.client.name}: {what}"
        return self.scenario.refused(what, tool, request, code, pointer, retryable)

    # AAP-103 AAP-386 AAP-416
    def check_unsupported(self):
        facets = {"type": "inventory.facets.request"}
        filters = {"filters": {"charge_port": ["nacs"]}}
        what, code = "a filter that is not offered", "UNSUPPORTED_FILTER"
        self.refused(what, "aap_inventory_search", SEARCH | filters, code, "/filters/charge_port")
        self.refused(what, "aap_inventory_facets", facets | filters, code, "/filters/charge_port")
        unknown = {"filters": {"features_all": ["flying"]}}
        self.refused("an unknown feature", "aap_inventory_search", SEARCH | unknown, code, "/filters/features_all/0")
        order = {"sort": {"field": "msrp", "order": "asc"}}
        what, code = "an order that is not offered", "UNSUPPORTED_SORT"
        self.refused(what, "aap_inventory_search", SEARCH | order, code, "/sort/field")
        other = {"type": "dealer.information.request", "dealer_id": "another-dealer"}
        what, code = "another dealer", "DEALER_NOT_FOUND"
        self.refused(what, "aap_dealer_information", other, code, "/dealer_id")

    # AAP-444
    def check_sold(self, car):
        vehicle = {"type": "inventory.vehicle.request", "vehicle_id": car["vehicle_id"]}
        self.refused("a sold car", "aap_inventory_vehicle", vehicle, "VEHICLE_UNAVAILABLE")

    # AAP-102 AAP-545
    def check_limited(self, car):
        """One lead a minute for all anonymous callers together: of two, one at least is too many."""
        refused = None
        for _ in range(2):
            request = leads.lead(self.client.name + "-codes", leads.of_interest(car))
            payload, is_error = self.scenario.call("aap_lead_submit", request)
            if payload and is_error:
                refused = payload
        name = self.client.name
        if self.checks.that(f"{name}: a spent quota refuses", refused is not None):
            said = (refused["code"], refused["retryable"])
            self.checks.equal(f"{name}: a spent quota", said, ("RATE_LIMITED", True))
            wait = refused["details"].get("retry_after_ms", 0)
            self.checks.that(f"{name}: a spent quota says how long", 0 < wait <= 60_000, refused)

    # AAP-531
    def check_broken(self):
        details = self.refused("no source", "aap_inventory_search", SEARCH, "INTERNAL_ERROR", retryable=True)
        said = str(details)
        self.checks.that(f"{self.client.name}: no source: the cause stays inside", "sqlite" not in said.lower(), said)


# AAP-110 AAP-147
def check_codes(binary, folder, start, names, checks):
    """`start(name, url)` begins an official client."""
    served, database = variant(binary, folder)
    try:
        everyone = [Codes(start(name, served.ready["mcp"]), checks) for name in names]
        everyone = [one for one in everyone if one.connect()]
        cars = everyone[0].scenario.done("aap_inventory_search", filters={"status": ["available"]})["vehicles"]
        sold, kept = cars[0], cars[1]
        sell(database, sold["vehicle_id"])
        for one in everyone:
            one.check_unsupported()
            one.check_sold(sold)
            one.check_limited(kept)
        take_away(database)
        search = everyone[0].client
        gone = product.until(lambda: search.call("aap_inventory_search", SEARCH)["result"].get("isError"), 30)
        checks.that("without its source the inventory grows too old", gone)
        for one in everyone:
            one.check_broken()
            one.client.close()
    finally:
        served.end()
