#!/usr/bin/env python3
"""Holds deploy/deny.toml where cargo-deny is not installed: licences, banned crates, sources."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def allows(expression, allowed):
    """Whether an SPDX expression can be satisfied; `/` is the old form of OR."""
    words = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    python = []
    for word in words:
        if word in ("(", ")"):
            python.append(word)
        elif word in ("OR", "AND"):
            python.append(word.lower())
        else:
            python.append(str(" ".join(word.split()) in allowed))
    return eval(" ".join(python), {"__builtins__": {}})  # only True, False, and, or, brackets


def faults(packages, policy):
    allowed = set(policy["licenses"]["allow"])
    banned = {entry["crate"]: entry["reason"] for entry in policy["bans"]["deny"]}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if not package["license"]:
            yield f"{name} names no licence"
        elif not allows(package["license"], allowed):
            yield f"{name}: the licence {package['license']} is not allowed"
        if package["name"] in banned:
            yield f"{name} is banned: {banned[package['name']]}"
        source = package["source"]
        if source is not None and not source.startswith("registry+"):
            yield f"{name} comes from {source}"


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    with open(ROOT / "deploy/deny.toml", "rb") as file:
        policy = tomllib.load(file)
    host = re.search(r"host: (\S+)", output("rustc", "-vV")).group(1)
    metadata = json.loads(output("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}"))
    found = list(faults(metadata["packages"], policy))
    for fault in found:
        print(fault)
    print(f"crates: {len(metadata['packages']) - len(found)} passed, {len(found)} failed")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
