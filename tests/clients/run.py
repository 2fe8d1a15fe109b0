"""Runs the official clients and a few rude ones against a demo.

Usage: run.py --binary FILE --node FILE --python-v1 FILE --python-v2 FILE --python-pap FILE --python-a2a FILE --modules DIR [--only NAME…]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import a2a_scenario
import commands
import crash
import faults
import inventory
import mail
import pap_runs
import product
import raw
import replicas
from checks import Checks
from client import Client
from redis_server import Redis
from scenario import Scenario

HERE = Path(__file__).parent


def clients(arguments):
    """Name → command, without the URL's arguments."""
    node = lambda script, *more: [arguments.node, str(Path(arguments.modules) / script), "URL", *more]
    python = lambda program, script, *more: [program, str(HERE / script), "URL", *more]
    return {
        "ts-v2-modern": node("ts_v2.mjs", "modern"),
        "ts-v2-auto": node("ts_v2.mjs", "auto"),
        "ts-v2-legacy": node("ts_v2.mjs", "legacy"),
        "ts-v1": node("ts_v1.mjs"),
        "py-v2-modern": python(arguments.python_v2, "py_v2.py", "2026-07-28"),
        "py-v2-auto": python(arguments.python_v2, "py_v2.py", "auto"),
        "py-v2-legacy": python(arguments.python_v2, "py_v2.py", "legacy"),
        "py-v1": python(arguments.python_v1, "py_v1.py"),
    }


class Session:
    """One demo, the clients that met it, and the leads it accepted."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.accepted = []
        self.totals = []
        self.demo = product.demo(arguments.binary, folder / "data", folder / "demo.log")

    def a2a(self, name, command, checks):
        client = Client(name, [*command, self.demo.ready["base_url"]], HERE, self.folder / f"{name}.log")
        scenario = a2a_scenario.A2aScenario(client, checks)
        scenario.run()
        client.close()
        self.accepted += scenario.accepted

    def url(self):
        return self.demo.ready["mcp"]

    def step(self, name, work):
        only = self.arguments.only
        if only and name not in only:
            return
        began = time.monotonic()
        checks = Checks()
        print(f"-- {name}", flush=True)
        try:
            work(checks)
        except Exception as error:  # a fault of one step must not hide the others
            checks.that(f"{name} runs to its end", False, repr(error))
        self.totals.append(checks)
        print(f"{checks.summary(name)} ({time.monotonic() - began:.1f} s)", flush=True)

    def start(self, name, command):
        command = [self.url() if word == "URL" else word for word in command]
        return Client(name, command, HERE, self.folder / f"{name}.log")

    def scenario(self, name, command, checks):
        client = self.start(name, command)
        scenario = Scenario(client, checks)
        scenario.run()
        client.close()
        self.accepted += scenario.accepted

    def inventory(self, command, checks):
        client = self.start("inventory", command)
        if checks.that("connects", "ready" in client.begun, client.begun):
            inventory.check_inventory(client, checks)
        client.close()

    def mails(self, checks):
        folder = self.demo.ready["leads_dir"]
        addresses = [request["customer"]["email"] for request, _ in self.accepted]
        messages = mail.wait_for(folder, addresses, 60)
        checks.equal("one mail for each accepted lead, none for a refused one", len(messages), len(self.accepted))
        for request, car in self.accepted:
            mail.check_mail(messages, request, car, checks, self.folder)

    def pap_on_redis(self, checks):
        """The personal agent at a demo whose leads and Sessions lie in a Redis of this test's own."""
        redis = Redis(self.folder / "pap-redis")
        settings = {"FORECOURT_STORE__KIND": "redis", "FORECOURT_STORE__URL": f"redis://127.0.0.1:{redis.port}"}
        try:
            with mock.patch.dict(os.environ, settings):
                pap_runs.check_pap(self.arguments, self.folder, "pap-on-redis", {}, checks)
            checks.that("its leads are there", redis.ask("ZCARD", "{forecourt}:leads") != "0")
        finally:
            redis.kill()

    def run(self):
        known = clients(self.arguments)
        for name, command in known.items():
            self.step(name, lambda checks, n=name, c=command: self.scenario(n, c, checks))
        js = [self.arguments.node, str(Path(self.arguments.modules) / "a2a_js.mjs")]
        self.step("a2a-js", lambda checks: self.a2a("a2a-js", js, checks))
        py = [self.arguments.python_a2a, str(HERE / "py_a2a.py")]
        self.step("a2a-py", lambda checks: self.a2a("a2a-py", py, checks))
        self.step("inventory", lambda checks: self.inventory(known["py-v1"], checks))
        self.step("mail", self.mails)
        self.step("raw", lambda checks: raw.run(self.url(), checks))
        self.step("commands", lambda checks: commands.check_commands(self.arguments.binary, self.folder, checks))
        for name, settings in pap_runs.RUNS.items():
            self.step(name, lambda checks, n=name, s=settings: pap_runs.check_pap(self.arguments, self.folder, n, s, checks))
        self.step("pap-on-redis", self.pap_on_redis)
        self.step("faults", lambda checks: faults.check_all(self.arguments.binary, self.folder, checks))
        self.step("replicas", lambda checks: replicas.check_replicas(self.arguments.binary, self.folder, checks))
        self.step("crash", lambda checks: crash.check_crash(self.arguments.binary, self.folder, checks))


def parsed():
    parser = argparse.ArgumentParser()
    for name in ("--binary", "--node", "--python-v1", "--python-v2", "--python-pap", "--python-a2a", "--modules"):
        parser.add_argument(name, type=os.path.abspath, required=True)
    parser.add_argument("--only", nargs="*")
    return parser.parse_args()


def main():
    folder = Path(tempfile.mkdtemp(prefix="forecourt-clients-"))
    try:
        session = Session(parsed(), folder)
    except product.NotReady as error:
        sys.exit(f"clients: 0 passed, 1 failed: the demo {error}")
    try:
        session.run()
    finally:
        code, _ = session.demo.end()
    passed = sum(checks.passed for checks in session.totals)
    failed = sum(len(checks.faults) for checks in session.totals)
    print(f"clients: {passed} passed, {failed} failed")
    if failed or code != 0:
        print(f"logs: {folder}; the demo ended with {code}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
