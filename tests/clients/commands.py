"""What the command line says about a configuration, good and bad, about a source it cannot read, and to a person at
a terminal."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import product


def output(binary, *arguments):
    """Exit code and everything printed."""
    ended = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def typed(binary, arguments, answers):
    """Exit code, and everything printed: a person at a terminal answers each question with the next line."""
    person, terminal = pty.openpty()
    program = subprocess.Popen(
        [binary, *arguments], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    os.close(terminal)
    try:
        # The terminal keeps what is typed ahead, line by line.
        os.write(person, "".join(f"{answer}\n" for answer in answers).encode())
        printed, _ = program.communicate(timeout=60)
    finally:
        program.kill()
        os.close(person)
    return program.returncode, printed


def check_questions(binary, folder, checks):
    """`init` asks a person for what no flag says, and takes no empty line for an answer."""
    first = Path(folder) / "first"
    flags = ["--leads-to", "leads@crm.example", "--name", "Example Motors"]
    answers = ["dealer.example", "+1-312-555-0100", "America/Chicago", "smtp.dealer.example"]
    code, printed = typed(binary, ["init", str(first), *flags], answers)
    checks.equal("init: a person who answers gets a configuration", code, 0)
    asked = ["host name: ", "telephone, with country code: ", "time zone, e.g. America/Chicago: ", "relay: "]
    checks.that("init: asks for what no flag says, in order", in_order(asked, printed), printed)
    checks.that("init: asks for nothing else", "The dealer's name" not in printed, printed)
    config = first / "forecourt.toml"
    text = config.read_text()
    checks.that("init: writes the answers", all(f'"{answer}"' in text for answer in answers), text)
    code, printed = output(binary, "check", "--offline", "--config", str(config))
    checks.that("init: what it wrote is sound", code == 0, (code, printed))

    nothing = Path(folder) / "nothing"
    for said, words in (([""], "no answer"), ([*answers[:1], "Example Motors", answers[1], "Mars"], "time zone")):
        code, printed = typed(binary, ["init", str(nothing)], said)
        checks.equal(f"init: {words}: the exit code", code, 2)
        checks.that(f"init: {words}: says so and writes nothing", words in printed and not nothing.exists(), printed)


def in_order(parts, text):
    """Whether the parts stand in a text one after another."""
    at = 0
    for part in parts:
        at = text.find(part, at) + 1
        if not at:
            return False
    return True


def check_commands(binary, folder, checks):
    check_questions(binary, folder, checks)
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
