"""What the command line says about a configuration, good and bad, and about a source it cannot read."""

import shutil
import subprocess
from pathlib import Path

import product


def output(binary, *arguments):
    """Exit code and everything printed."""
    ended = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def check_commands(binary, folder, checks):
    data, log = Path(folder) / "commands", Path(folder) / "commands.log"
    demo = product.demo(binary, data, log)
    config = demo.ready["config"]
    demo.end()

    code, printed = output(binary, "check", "--config", config)
    checks.that("the demo's configuration is sound", code == 0, (code, printed))

    bad = data / "bad.toml"
    text = Path(config).read_text()
    bad.write_text(text.replace("refresh_interval_s", "refresh_intervall_s").replace('"mapping.toml"', '"absent.toml"'))
    code, printed = output(binary, "check", "--config", str(bad))
    checks.equal("a bad configuration's exit code", code, 78)
    checks.that("both faults are named at once", "refresh_intervall_s" in printed and "absent.toml" in printed, printed)
    checks.that("a misspelt key gets a suggestion", "refresh_interval_s" in printed, printed)

    # a file that is no database
    shutil.copy(config, data / "unreadable.toml")
    (data / "dms.sqlite").write_bytes(b"no database at all, but long enough to be looked at\n" * 50)
    code, printed = output(binary, "check", "--config", str(data / "unreadable.toml"))
    checks.that("check: an unreadable source's exit code", code == 69, (code, printed))
    checks.that("check: it names the source", "dms.sqlite" in printed, printed)
    checks.that("check: it gives the driver's words", "not a database" in printed, printed)
    checks.that("check: it says what becomes of it", "`serve` starts without this inventory" in printed, printed)
