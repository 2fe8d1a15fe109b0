"""The same search tool over the same database, written with the official Python SDK as its own examples do.

Only a peer to measure beside. server.py PORT DATABASE
"""

import sqlite3
import sys

from mcp.server.fastmcp import FastMCP
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel

PORT, DATABASE = int(sys.argv[1]), sys.argv[2]
LISTS = ("make", "model", "condition", "body")
BOUNDS = {"price_min": "price >= ?", "price_max": "price <= ?", "mileage_max": "mileage <= ?"}

database = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True, check_same_thread=False)
database.row_factory = sqlite3.Row
# the load's Host names no port, which the SDK's own list of hosts wants
security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
server = FastMCP(
    "peer", host="127.0.0.1", port=PORT, stateless_http=True, json_response=True, log_level="ERROR",
    transport_security=security,
)


class Filters(BaseModel):
    make: list[str] | None = None
    model: list[str] | None = None
    condition: list[str] | None = None
    body: list[str] | None = None
    price_min: int | None = None
    price_max: int | None = None
    mileage_max: int | None = None


def listing(row):
    evidence = [
        {"code": label.lower().replace(" ", "_"), "label": label, "status": "present",
         "source": "dealer's record", "text": label}
        for label in row["options"].split(",") if label
    ]
    vehicle = {
        "vehicle_id": f"v{row['id']}", "vin": row["vin"], "stock": row["stock"], "status": "available",
        "condition": row["condition"], "year": row["year"], "make": row["make"], "model": row["model"],
        "trim": row["trim"], "body": row["body"], "fuel": row["fuel"], "driveline": row["driveline"],
        "exterior_color": row["color"], "mileage": row["mileage"], "rooftop": row["rooftop"],
        "photos": [f"https://dealer.example{row['photo']}"], "feature_evidence": evidence,
        "updated_at": row["updated_at"],
    }
    if row["price"] is not None:
        vehicle["price"] = row["price"]
    return vehicle


@server.tool()
def aap_inventory_search(type: str, filters: Filters = Filters()) -> dict:
    """Search vehicles"""
    given = filters.model_dump(exclude_none=True)
    tests, values = [], []
    for name in LISTS:
        if name in given:
            tests.append(f"{name} IN ({','.join('?' * len(given[name]))})")
            values += given[name]
    for name, test in BOUNDS.items():
        if name in given:
            tests.append(test)
            values.append(given[name])
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    (total,) = database.execute(f"SELECT COUNT(*) FROM vehicle{where}", values).fetchone()
    page = database.execute(f"SELECT * FROM vehicle{where} ORDER BY price IS NULL, price, id LIMIT 20", values)
    vehicles = [listing(row) for row in page]
    data = {"total": total, "limit": 20, "applied_filters": given, "vehicles": vehicles}
    return {"type": "inventory.search.response", "data": data}


server.run(transport="streamable-http")
