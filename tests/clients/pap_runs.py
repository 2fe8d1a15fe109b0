"""Our independent personal agent and the cases of the package `personal-agent-protocol`, at demos of several
kinds that log all they can; and that nothing secret stands in those logs."""

import os
import subprocess
from pathlib import Path
from unittest import mock

import product

HERE = Path(__file__).parent
KEY = "FORECOURT_DEPLOYMENTS__DEMO__PAP__"
RUNS = {
    "pap": {},
    "pap-mcp-dpop": {"NATIVE_MCP": "dpop", "NONCES": "required"},
    "pap-mcp-bearer": {"NATIVE_MCP": "bearer", "NONCES": "optional"},
}
STEPS = ("discovered", "token", "search", "lead", "renewed", "refused", "revoked", "every")


# AAP-342 AAP-501 AAP-552
def check_pap(arguments, folder, name, settings, checks):
    agent, log, secrets = folder / "agent", folder / f"{name}.log", folder / f"{name}.secrets"
    script = lambda file, *more: [arguments.python_pap, str(HERE / "pap" / file), *more]
    subprocess.run(script("identity.py", str(agent)), check=True, timeout=60)
    wanted = {f"{KEY}{key}": value for key, value in settings.items()}
    with mock.patch.dict(os.environ, {**wanted, "FORECOURT_LOG": "trace"}):
        trust = ("--trust-agent-ca", str(agent / "ca.pem"))
        demo = product.demo(arguments.binary, folder / name, log, *trust)
    try:
        base = demo.ready["base_url"]
        walk = script("shop.py", "--identity", str(agent), "--loopback-http", "--secrets", str(secrets), base)
        done = subprocess.run(walk, capture_output=True, text=True, timeout=120)
        cases = None
        if not settings:
            sdk = script("sdk.py", "--identity", str(agent), base)
            cases = subprocess.run(sdk, capture_output=True, text=True, timeout=120)
    finally:
        demo.end()
    said = done.stdout.splitlines() + done.stderr.splitlines()[-1:]
    checks.that("the independent agent shops end to end", done.returncode == 0, said)
    native = ("native MCP",) if "NATIVE_MCP" in settings else ()
    for begun in (*STEPS, *native):
        checks.that(f"it says {begun}", any(line.startswith(begun) for line in said), said)
    if cases is not None:
        lines = cases.stdout.splitlines()
        checks.that("the package's cases run to their end", cases.returncode == 0, lines + cases.stderr.splitlines()[-1:])
        checks.equal("all of the package's cases hold", sum(line.startswith("holds") for line in lines), 32)
    text = log.read_text()
    checks.that("the log tells what happened", "stage" in text and "caller" in text)
    kept = secrets.read_text().split()
    checks.that("there are secrets to look for", len(kept) > 10, len(kept))
    # a JWT betrays itself by its signature as well as by its whole
    parts = {part for secret in kept for part in (secret, *secret.split(".")) if len(part) > 24}
    told = [part for part in parts | {"Lovelace", "ada@example.com"} if part in text]
    checks.that("the log holds no secret", not told, f"{len(told)} of {len(parts)}")
