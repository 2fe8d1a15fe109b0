#!/usr/bin/env python3
"""Prints what a release is made of, as CycloneDX 1.6 JSON: every crate that the locked release build links for this
machine's platform, with licence, checksum and who needs whom. No date or random id: the same lock gives the same text.

Usage: sbom.py >forecourt.cdx.json
"""

import hashlib
import json
import pathlib
import re
import subprocess
import tomllib
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(metadata):
    """Ids of the packages that are linked or run while building; what only tests need is none of them."""
    edges = {}
    for node in metadata["resolve"]["nodes"]:
        kinds = {dep["pkg"]: {kind["kind"] for kind in dep["dep_kinds"]} for dep in node["deps"]}
        edges[node["id"]] = sorted(name for name, found in kinds.items() if found - {"dev"})
    seen, open_ = set(), [metadata["resolve"]["root"]]
    while open_:
        name = open_.pop()
        if name not in seen:
            seen.add(name)
            open_.extend(edges[name])
    return {name: edges[name] for name in seen}


def licence(expression):
    # `/` is the old form of OR
    return re.sub(r"\s*/\s*", " OR ", expression)


def component(package, checksums, kind):
    name, version = package["name"], package["version"]
    found = {
        "type": kind,
        "bom-ref": f"pkg:cargo/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:cargo/{name}@{version}",
        "licenses": [{"expression": licence(package["license"])}],
    }
    if package["description"]:
        found["description"] = " ".join(package["description"].split())
    if checksum := checksums.get((name, version)):
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"].strip()}]
    return found


def main():
    host = re.search(r"host: (\S+)", output("rustc", "-vV")).group(1)
    text = output("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}")
    metadata, lock = json.loads(text), (ROOT / "Cargo.lock").read_bytes()
    locked = tomllib.loads(lock.decode())["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in locked}
    packages, edges = {one["id"]: one for one in metadata["packages"]}, linked(metadata)
    reference = lambda name: f"pkg:cargo/{packages[name]['name']}@{packages[name]['version']}"
    root = metadata["resolve"]["root"]
    others = sorted((packages[name] for name in edges if name != root), key=lambda one: (one["name"], one["version"]))
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(lock).digest()[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": component(packages[root], checksums, "application"),
            "properties": [{"name": "forecourt:target", "value": host}],
        },
        "components": [component(one, checksums, "library") for one in others],
        "dependencies": [
            {"ref": reference(name), "dependsOn": sorted({reference(below) for below in edges[name]})}
            for name in sorted(edges, key=reference)
        ],
    }
    print(json.dumps(bom, indent=1))


if __name__ == "__main__":
    main()
