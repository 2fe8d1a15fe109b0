#!/usr/bin/env python3
"""Holds the bill of materials to CycloneDX's own schema, to the lock file, and to itself."""

import json
import pathlib
import subprocess
import sys
import tomllib

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made():
    script = str(ROOT / "deploy/sbom.py")
    return subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    text, checks = made(), []
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    found = validator.validate_str(text)
    checks.append(("it fits the schema", found is None, found))
    bom = json.loads(text)
    planted = json.dumps(bom | {"strange": True})
    checks.append(("the schema finds a planted fault", validator.validate_str(planted) is not None, ""))
    checks.append(("twice the same", made() == text, ""))
    names = {one["name"] for one in bom["components"]}
    checks.append(("what is linked is in it", {"hyper", "rustls", "aws-lc-sys", "sqlx"} <= names, names))
    checks.append(("what only tests need is not", not {"proptest", "criterion", "adf"} & names, ""))
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sums = {(one["name"], one["version"]): one.get("checksum") for one in locked}
    wrong = [one["bom-ref"] for one in bom["components"]
             if one.get("hashes") != [{"alg": "SHA-256", "content": sums[one["name"], one["version"]]}]]
    checks.append(("every component has its checksum", not wrong, wrong))
    for what, fine, more in checks:
        if not fine:
            print(f"{what}: {more}")
    failed = sum(not fine for _, fine, _ in checks)
    print(f"sbom: {len(bom['components'])} components, {len(checks) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
