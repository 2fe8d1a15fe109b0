"""Runs MCP's official conformance suite and holds its failures to those that are expected, each with a reason.

Usage: conformance.py --plain BINARY --with-tools BINARY --node FILE --suite FILE
The plain build is run as it is delivered. The build with the suite's own tools is run with both switches on: strict
headers, for AAP's compatibility ingress accepts what upstream's header scenarios want refused, and legacy sessions.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import product

HERE = Path(__file__).parent
REVISIONS = ("2026-07-28", "2025-11-25")
# Scenarios outside of both sets that apply; each must pass without a warning.
STRICT = ("http-header-validation", "json-schema-2020-12")
# Revisions of which only the handshake and the tools are asked.
OLDER = (("server-initialize", "2025-06-18"), ("ping", "2025-06-18"), ("tools-list", "2025-06-18"))


def expected(revision, build):
    """The suite's own form of the list, for one run."""
    with open(HERE / "expected-failures.tsv", newline="") as file:
        rows = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
    bare = [row for row in rows if not row["reason"]]
    if bare:
        sys.exit(f"conformance: rows without a reason: {bare}")
    rows = [row for row in rows if row["revision"] == revision and row["build"] in ("every", build)]
    return "server:\n" + "".join(f"  - {row['scenario']}\n" for row in rows)


class Suite:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.pool = ThreadPoolExecutor(4)
        self.runs = []

    def run(self, name, url, *options):
        """One run of the suite, beside the others."""
        folder = self.folder / name
        folder.mkdir()
        command = [self.arguments.node, self.arguments.suite, "server", "--url", url, "-o", str(folder / "out"), *options]

        def work():
            return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)

        self.runs.append((name, self.pool.submit(work)))

    def requirements(self, build, url):
        for revision in REVISIONS:
            file = self.folder / f"{build}-{revision}.yml"
            file.write_text(expected(revision, build))
            options = ("--requirements", revision, "--expected-failures", str(file))
            self.run(f"{build}, required for {revision}", url, *options)

    def single(self, scenario, url, *options):
        """A scenario that must pass; an empty list makes a warning a failure."""
        file = self.folder / "nothing.yml"
        file.write_text("server: []\n")
        name = " ".join([scenario, *options])
        self.run(name, url, "--scenario", scenario, *options, "--expected-failures", str(file))

    def failed(self):
        count = 0
        for name, run in self.runs:
            done = run.result()
            print(f"-- {name}: exit {done.returncode}")
            if done.returncode != 0:
                count += 1
                print(done.stdout[-6000:] + done.stderr[-2000:])
        return count


def strict(binary, folder):
    """The demo's configuration with strict headers and legacy sessions, served by the build with the suite's tools."""
    first = product.demo(binary, folder / "strict", folder / "strict-demo.log")
    first.end()
    file = Path(first.ready["config"])
    file.write_text(file.read_text() + "\n[deployments.demo.mcp]\nstrict_headers = true\nlegacy_sessions = true\n")
    return product.serve(binary, str(file), first.ready["mcp"], folder / "strict.log")


def parsed():
    parser = argparse.ArgumentParser()
    for name in ("--plain", "--with-tools", "--node", "--suite"):
        parser.add_argument(name, type=os.path.abspath, required=True)
    return parser.parse_args()


def main():
    arguments = parsed()
    folder = Path(tempfile.mkdtemp(prefix="forecourt-conformance-"))
    suite = Suite(arguments, folder)
    plain = product.demo(arguments.plain, folder / "plain", folder / "plain.log")
    tools = strict(arguments.with_tools, folder)
    try:
        suite.requirements("plain", plain.ready["mcp"])
        suite.requirements("tools", tools.ready["mcp"])
        for scenario in STRICT:
            suite.single(scenario, tools.ready["mcp"])
        for scenario, revision in OLDER:
            suite.single(scenario, plain.ready["mcp"], "--spec-version", revision)
        failed = suite.failed()
    finally:
        plain.end()
        tools.end()
    print(f"conformance: {len(suite.runs) - failed} runs as expected, {failed} not")
    if failed:
        sys.exit(f"logs: {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
