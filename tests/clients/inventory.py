"""The demo's vehicles must be what a right mapping makes of its database, in every field it holds."""

import json
from pathlib import Path

import scenario

EXPECTED = Path(__file__).parents[1] / "data" / "inventory" / "expected-canonical.json"

# Fields compared as they stand.
FIELDS = [
    "stock", "vin", "year", "make", "trim", "condition", "vehicle_type", "body", "fuel", "transmission",
    "driveline", "mileage", "msrp", "list_price", "price", "fees", "status", "updated_at", "rooftop",
    "electric_range_mi", "battery_kwh", "charge_port", "dc_fast_charge", "displacement_cc",
]  # fmt: skip

# What this source cannot know, by stock number and field, and what may stand there instead.
CANNOT_KNOW = {
    # The advertised amount hides a rebate that not everyone gets; no column holds the price without it.
    # A unit without a price need not tell the fees that would be inside it.
    ("N24126", "price"): [None],
    ("N24126", "fees"): [[{"name": "Documentation fee", "amount": 499}], None],
    # Its own row takes the rooftop's only fee away: the source knows that there is none, which an empty list says.
    ("C10123", "fees"): [[], None],
    # Half past one on the night the clocks went back happened twice, and the column has no zone.
    ("U10129", "updated_at"): ["2026-11-01T08:30:00Z", "2026-11-01T09:30:00Z"],
}
KILOWATTS_PER_HORSEPOWER = 0.745699872


def folded(value):
    """The source holds model names and options in capitals only, so their case is not its to know."""
    if isinstance(value, list):
        return sorted(folded(item) for item in value)
    return value.casefold() if isinstance(value, str) else value


def traverse(client, checks):
    """Every listing, by cursor, in pages that end inside a rooftop's and a make's run."""
    listings, cursor = [], None
    walk = scenario.Scenario(client, checks)
    while True:
        pagination = {"limit": 7} | ({"cursor": cursor} if cursor else {})
        data = walk.done("aap_inventory_search", pagination=pagination)
        if not data:
            return listings
        listings += data["vehicles"]
        cursor = data["next_cursor"]
        if cursor is None or len(listings) > 1000:
            checks.equal("the total is what was walked", data["total"], len(listings))
            return listings


# AAP-361 AAP-380 AAP-385 AAP-554
def check_inventory(client, checks):
    expected = [unit for unit in json.loads(EXPECTED.read_text()) if unit["visible"]]
    listings = traverse(client, checks)
    names = sorted((unit.get("vin", ""), unit["stock"]) for unit in expected)
    found = sorted((unit.get("vin", ""), unit.get("stock", "")) for unit in listings)
    checks.equal("the visible units and no others", found, names)
    by_name = {(unit.get("vin", ""), unit.get("stock", "")): unit for unit in listings}
    for unit in expected:
        listing = by_name.get((unit.get("vin", ""), unit["stock"]))
        if listing:
            check_unit(unit, listing, checks)


def check_unit(unit, listing, checks):
    stock = unit["stock"]
    for field in FIELDS:
        seen = listing.get(field)
        allowed = CANNOT_KNOW.get((stock, field))
        if allowed:
            checks.that(f"{stock} {field} is one of {allowed}", seen in allowed, seen)
        else:
            checks.equal(f"{stock} {field}", seen, unit.get(field))
    for field in ("model", "features"):
        checks.equal(f"{stock} {field}, whatever its case", folded(listing.get(field)), folded(unit.get(field)))
    kilowatts, horsepower = unit.get("motor_kw"), listing.get("motor_power_hp")
    if kilowatts is None:
        checks.equal(f"{stock} motor_power_hp", horsepower, None)
    else:
        near = horsepower is not None and abs(horsepower * KILOWATTS_PER_HORSEPOWER - kilowatts) < 0.5
        checks.that(f"{stock} motor_power_hp is {kilowatts} kW", near, horsepower)
