#!/usr/bin/env python3
"""Starts the program with many deployments, and says how long that takes and what it holds: time to the first answer,
resident memory, a change of one deployment taken by reload.

Usage: many.py BINARY [DEPLOYMENTS] [VEHICLES]
"""

import http.client
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from machine import free, resident

MAPPING = """
name = "Many"
[source]
kind = "feed"
format = "csv"
[fields]
vehicle_id = "ID"
stock = "STOCK"
condition = { value = "used" }
status = { value = "available" }
year = { from = "YEAR", steps = ["number"] }
make = "MAKE"
model = "MODEL"
[updated_at]
provenance = "source_column"
from = "CHANGED"
steps = [{ datetime = { format = "%Y-%m-%d %H:%M:%S", zone = "America/Chicago" } }]
[price]
basis = "all_mandatory_included"
from = "PRICE"
steps = ["number", "whole_dollars"]
"""
COMMON = """
[server]
listen = "127.0.0.1:{port}"
admin_listen = "127.0.0.1:{admin}"
[data]
directory = "../data"
[defaults.inventory]
mapping = "../mapping.toml"
refresh_interval_s = 3600
[defaults.pap]
enabled = true
"""
ONE = """
[deployments.d{index}]
domain = "d{index}.example"
[deployments.d{index}.profile]
name = "{name}"
[[deployments.d{index}.profile.rooftops]]
name = "{name}"
timezone = "America/Chicago"
phones = [{{ name = "sales", value = "+1-312-555-0100" }}]
[deployments.d{index}.inventory]
source = {{ kind = "feed", path = "../d{index}.csv" }}
[deployments.d{index}.leads.deliveries.crm]
kind = "directory"
path = "../crm/d{index}"
"""


def asked(port, path, host="x", body=None, headers=None):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("POST" if body else "GET", path, body, {"Host": host, **(headers or {})})
    answer = client.getresponse()
    return answer.status, answer.read().decode()


def total(port, index):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "aap_inventory_search", "arguments": {"type": "inventory.search.request"}}
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    status, text = asked(port, "/mcp", f"d{index}.example", json.dumps(call), headers)
    assert status == 200, text
    return json.loads(text)["result"]["structuredContent"]["data"]["total"]


def ready(admin):
    try:
        return asked(admin, "/readyz")[0] == 200
    except OSError:
        return False


def wait(what, is_so, program, seconds=300):
    began = time.monotonic()
    while not is_so():
        assert program.poll() is None and time.monotonic() - began < seconds, what
        time.sleep(0.01)
    return time.monotonic() - began


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    vehicles = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    with tempfile.TemporaryDirectory() as kept:
        folder, port, admin = pathlib.Path(kept), free(), free()
        (folder / "conf").mkdir()
        (folder / "mapping.toml").write_text(MAPPING)
        (folder / "conf/00.toml").write_text(COMMON.format(port=port, admin=admin))
        for index in range(count):
            text = ONE.format(index=index, name=f"Dealer {index}")
            (folder / f"conf/d{index}.toml").write_text(text)
            rows = [f"d{index}-{n},S{n},2024,Toyota,Camry,2026-11-01 08:00:00,{20_000 + n}" for n in range(vehicles)]
            (folder / f"d{index}.csv").write_text("\n".join(["ID,STOCK,YEAR,MAKE,MODEL,CHANGED,PRICE", *rows]) + "\n")
        log = open(folder / "log", "w")
        for start in ("first", "second"):
            began = time.monotonic()
            command = [sys.argv[1], "serve", "--config", str(folder / "conf")]
            program = subprocess.Popen(command, stderr=log)
            try:
                wait("ready", lambda: ready(admin), program)
                took, cpu = time.monotonic() - began, cpu_of(program.pid)
                assert total(port, 0) == total(port, count - 1) == vehicles
                memory = resident(program.pid) >> 20
                print(f"{count} deployments of {vehicles} vehicles, {start} start: ready after {took:.2f} s "
                      f"({cpu:.2f} s of CPU), {memory} MiB resident, {resident(program.pid, 'VmHWM') >> 20} MiB at most, "
                      f"{memory * 1024 // count} KiB a deployment")
                if start == "second":
                    changed = ONE.format(index=7, name="Renamed Motors")
                    (folder / "conf/d7.toml").write_text(changed)
                    program.send_signal(signal.SIGHUP)
                    named = lambda: "Renamed Motors" in asked(port, "/llms.txt", "d7.example")[1]
                    reload = wait("reloaded", named, program)
                    print(f"one of them changed: served anew {reload:.2f} s after SIGHUP, {resident(program.pid) >> 20} MiB resident")
            finally:
                program.send_signal(signal.SIGTERM)
                assert program.wait(60) == 0
    print("many: 2 passed, 0 failed")


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    main()
