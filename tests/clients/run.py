"""Runs the official clients and a few rude ones against a demo.

Usage: run.py --binary FILE --node FILE --python-v1 FILE --python-v2 FILE --python-pap FILE --python-a2a FILE --modules DIR
       --rmcp FILE --inspector FILE [--only NAME…]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import a2a_scenario
import access
import codes
import commands
import crash
import faults
import inspector
import inventory
import journey
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
        "rmcp-modern": [arguments.rmcp, "URL", "modern"],
        "rmcp-auto": [arguments.rmcp, "URL", "auto"],
        "rmcp-legacy": [arguments.rmcp, "URL", "legacy"],
        "inspector-modern": "modern",
        "inspector-legacy": "legacy",
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

    def start(self, name, command, url=None):
        url = url or self.url()
        if isinstance(command, str):
            program = [self.arguments.node, self.arguments.inspector]
            return inspector.Inspector(name, program, command, url, self.folder)
        command = [url if word == "URL" else word for word in command]
        return Client(name, command, HERE, self.folder / f"{name}.log")

    def scenario(self, name, command, checks):
        client = self.start(name, command)
        scenario = Scenario(client, checks)
        scenario.run()
        client.close()
        self.accepted += scenario.accepted

    def codes(self, checks):
        known = clients(self.arguments)
        start = lambda name, url: self.start(name, known[name], url)
        # each of its requests is a process; one era of it is enough here
        names = [name for name in known if name != "inspector-legacy"]
        codes.check_codes(self.arguments.binary, self.folder, start, names, checks)

    # AAP-145 AAP-146
    def check_log(self, checks):
        """What the demo's log says of the calls of all these clients, and what it does not."""
        text = (self.folder / "demo.log").read_text()
        calls = [line for line in text.splitlines() if "call{" in line and 'binding="mcp"' in line]
        checks.that("calls are recorded", len(calls) > 100, len(calls))
        members = ("request_id=", "revision=", "deployment=", "aap_version=", "skill=", "latency_us=", "outcome=")
        bare = [line for line in calls if not all(member in line for member in members)]
        checks.that("each with who answered what, and how long it took", not bare, bare[:1])
        for revision in ("2026-07-28", "2025-11-25"):
            said = any(f'revision="{revision}"' in line for line in calls)
            checks.that(f"calls under {revision} are told apart", said)
        for request, _ in self.accepted:
            private = [request["customer"][name] for name in ("email", "phone", "last_name")]
            private += [request["message"], request["idempotency_key"]]
            leaked = [value for value in private if value in text]
            checks.that("no customer's value is recorded", not leaked, leaked)

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

    def journeys(self, known, a2a, checks):
        """Each official client, given only the dealer's host."""
        base = self.demo.ready["base_url"]
        begin = lambda name, command: lambda url: Client(name, [*command, url], HERE, self.folder / f"{name}.log")
        for name, command in a2a.items():
            took = journey.over_a2a(begin(f"{name}-alone", command), base, checks)
            print(f"  {name}: from host name to search in {took:.2f} s")
        for name in ("ts-v2-auto", "py-v2-auto", "py-v1"):
            begun = lambda url, n=name: Client(
                f"{n}-alone", [url if word == "URL" else word for word in known[n]], HERE, self.folder / f"{n}-alone.log"
            )
            took = journey.over_mcp(begun, base, checks)
            print(f"  {name}: from host name to search in {took:.2f} s")

    def openapi(self, checks):
        command = [self.arguments.python_a2a, str(HERE / "py_openapi.py"), self.demo.ready["base_url"]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        said = done.stdout.splitlines() + done.stderr.splitlines()[-3:]
        checks.that("an independent validator takes the OpenAPI document", done.returncode == 0, said)
        for begun in ("valid OpenAPI 3.1", "the YAML form is the same", "the validator refuses"):
            checks.that(f"it says {begun}", any(line.startswith(begun) for line in said), said)

    def run(self):
        known = clients(self.arguments)
        work = lambda name: lambda checks: self.scenario(name, known[name], checks)
        # Each request of an Inspector is a process, so they take their time beside the others.
        slow = [name for name, command in known.items() if isinstance(command, str)]
        beside = ThreadPoolExecutor(len(slow))
        waiting = [beside.submit(self.step, name, work(name)) for name in slow]
        for name in known:
            if name not in slow:
                self.step(name, work(name))
        js = [self.arguments.node, str(Path(self.arguments.modules) / "a2a_js.mjs")]
        self.step("a2a-js", lambda checks: self.a2a("a2a-js", js, checks))
        py = [self.arguments.python_a2a, str(HERE / "py_a2a.py")]
        self.step("a2a-py", lambda checks: self.a2a("a2a-py", py, checks))
        a2a = {"a2a-js": js, "a2a-py": py}
        self.step("journeys", lambda checks: self.journeys(known, a2a, checks))
        self.step("openapi", self.openapi)
        self.step("inventory", lambda checks: self.inventory(known["py-v1"], checks))
        self.step("codes", self.codes)
        self.step("access", lambda checks: access.Access(self.arguments, self.folder, checks).run())
        for step in waiting:
            step.result()
        self.step("log", self.check_log)
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
    for name in ("--binary", "--node", "--python-v1", "--python-v2", "--python-pap", "--python-a2a", "--modules", "--rmcp", "--inspector"):
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
