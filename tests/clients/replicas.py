"""Two processes with one key ring serve one traversal: across a refresh, a restart, and a rotation of keys."""

import datetime
import json
import sqlite3
import subprocess
import zoneinfo
from pathlib import Path

import product
import raw

PAGE = 4


class Replica:
    """A `serve` of its own with its own data folder; configuration, keys and database are shared."""

    def __init__(self, binary, config, like, keys, folder, log):
        self.start = lambda: product.serve(
            binary, config, like, log,
            "--set", f"data.directory={folder}",
            "--set", f"keys.file={keys}",
            "--set", "deployments.demo.inventory.refresh_interval_s=1",
            "--set", "deployments.demo.inventory.shrink_guard=1.0",
        )
        Path(folder).mkdir()
        self.process = self.start()

    def restart(self):
        self.process.end()
        self.process = self.start()

    def page(self, cursor=None, **filters):
        pagination = {"limit": PAGE} | ({"cursor": cursor} if cursor else {})
        request = {
            "type": "inventory.search.request",
            "sort": {"field": "year", "order": "asc"},
            "pagination": pagination,
        }
        if filters:
            request["filters"] = filters
        status, _, body = raw.answered(self.process.ready["mcp"], raw.call("aap_inventory_search", request))
        content = json.loads(body)["result"]["structuredContent"] if status == 200 else {"status": status}
        if "data" not in content:
            return content, None
        return content["data"], content["data"].get("next_cursor")

    def total(self):
        return self.page()[0]["total"]


def ids(data):
    return [vehicle["vehicle_id"] for vehicle in data["vehicles"]]


def rest(replicas, cursor):
    """All further vehicle ids, each page from the next replica in turn."""
    seen, turn = [], 0
    while cursor:
        data, cursor = replicas[turn % len(replicas)].page(cursor)
        seen += ids(data)
        turn += 1
    return seen


def change(database, statement, *values):
    with sqlite3.connect(database, timeout=30) as connection:
        done = connection.execute(statement, values)
    connection.close()
    return done.rowcount


def wall_clock():
    """Now, as the dealer's database writes it."""
    now = datetime.datetime.now(zoneinfo.ZoneInfo("America/Los_Angeles"))
    return (now + datetime.timedelta(seconds=1)).strftime("%Y-%m-%d %H:%M:%S")


# AAP-423 AAP-425
def check_replicas(binary, folder, checks):
    folder = Path(folder) / "replicas"
    made = product.demo(binary, folder, Path(str(folder) + ".log"))
    config, like = made.ready["config"], made.ready["mcp"]
    made.end()
    keys, log, database = folder / "shared-keys", str(folder) + ".log", folder / "dms.sqlite"
    subprocess.run([binary, "keys", "generate", str(keys)], check=True, capture_output=True)
    first = Replica(binary, config, like, keys, folder / "one", log)
    second = Replica(binary, config, like, keys, folder / "two", log)
    try:
        everything = stands_still(first, second, checks)
        changes(first, second, database, everything, checks)
        rotates(first, second, binary, keys, checks)
        foreign(first, binary, config, like, folder, log, checks)
    finally:
        first.process.end()
        second.process.end()


def stands_still(first, second, checks):
    data, cursor = first.page()
    everything = ids(data) + rest([second, first], cursor)
    checks.equal("each unit once, page by page from two processes", len(set(everything)), data["total"])
    checks.equal("none twice", len(everything), len(set(everything)))
    return everything


def changes(first, second, database, everything, checks):
    data, cursor = first.page()
    begun = ids(data)
    sold, moved_back, moved_on = everything[-1], everything[0], everything[-2]
    total = first.total()
    number = lambda vehicle: vehicle.split(":")[1]
    stamp = wall_clock()
    gone = change(database, "UPDATE VEHMAST SET DELFLG='Y', LSTCHG=? WHERE RECNO=?", stamp, number(sold))
    checks.equal("the dealer sells one", gone, 1)
    # one that was shown moves to the end, one that was not moves to the front
    change(database, "UPDATE VEHMAST SET YR='2027', LSTCHG=? WHERE RECNO=?", stamp, number(moved_back))
    change(database, "UPDATE VEHMAST SET YR='1999', LSTCHG=? WHERE RECNO=?", stamp, number(moved_on))
    refreshed = product.until(lambda: first.total() == second.total() == total - 1, 30)
    checks.that("both processes have read it", refreshed, (first.total(), second.total()))
    second.restart()
    seen = begun + rest([second, first], cursor)
    checks.equal("no unit twice across a refresh and a restart", len(seen), len(set(seen)))
    checks.that("a sold unit is not shown", sold not in seen, seen)
    missing = set(everything) - set(seen) - {sold, moved_on}
    checks.equal("every unit that stayed where it was is shown", sorted(missing), [])


def rotates(first, second, binary, keys, checks):
    data, cursor = first.page()
    begun = ids(data)
    subprocess.run([binary, "keys", "rotate", str(keys)], check=True, capture_output=True)
    second.restart()
    data, sealed_anew = second.page(cursor)
    checks.that("the other process opens what the old key sealed", "vehicles" in data, data)
    first.restart()
    seen = begun + ids(data) + rest([first, second], sealed_anew)
    checks.equal("a traversal survives the rotation of keys", (len(seen), len(set(seen))), (first.total(),) * 2)


def foreign(first, binary, config, like, folder, log, checks):
    other_keys = folder / "other-keys"
    subprocess.run([binary, "keys", "generate", str(other_keys)], check=True, capture_output=True)
    stranger = Replica(binary, config, like, other_keys, folder / "three", log)
    try:
        _, cursor = first.page()
        answer, _ = stranger.page(cursor)
        checks.equal("another key ring knows no such cursor", answer.get("code"), "INVALID_CURSOR")
        answer, _ = first.page(cursor, make=["Toyota"])
        checks.equal("nor is it good for other filters", answer.get("code"), "INVALID_CURSOR")
    finally:
        stranger.process.end()
