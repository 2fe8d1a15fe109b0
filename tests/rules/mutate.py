#!/usr/bin/env python3
"""Asks whether marked tests hold their rules: breaks the code behind a rule and demands that its test fails.

    tests/rules/mutate.py choose [--seed N] [--count N]   names rules at random, the same ones for the same seed
    tests/rules/mutate.py check                           every mutation of the table can be applied
    tests/rules/mutate.py unchanged [RULE …]              runs the tests in a copy as it is: all must pass
    tests/rules/mutate.py run [RULE …] [--round N]        applies mutations to a copy and runs their tests

The mutations stand in mutations.tsv: the rule, its round, the package's test target (`lib` or `it`), the test that
must fail, the file, what stands there and what is put in its place (`\\n` for a line's end). A round is applied to
one copy of the tree at once and built once: no mutation of a round can make the test of another one fail. It needs
the tests' programs, and builds into the usual target folder. What the last run of all rounds printed is in
mutated.tsv.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import conformance

ROOT = conformance.ROOT
TABLE = ROOT / "tests/rules/mutations.tsv"
SEED = 20261130
BUILT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def held_in_rust():
    """The rules that a test of `cargo test` holds, each with its tests."""
    held = {}
    for rule, test in conformance.marks():
        if test.split(": ")[0].endswith(".rs"):
            held.setdefault(rule, set()).add(test)
    return held


def choose(seed, count):
    return sorted(random.Random(seed).sample(sorted(held_in_rust()), count))


def table():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        for side in ("before", "after"):
            row[side] = row[side].replace("\\n", "\n")
    return rows


def mutated(row, folder):
    """The text of the row's file below `folder`, mutated; `before` must stand there once."""
    text = (folder / row["file"]).read_text(encoding="utf-8")
    count = text.count(row["before"])
    if count != 1:
        sys.exit(f"{row['rule']}: {row['file']} holds the text {count} times: {row['before']!r}")
    return text.replace(row["before"], row["after"])


def check(rows):
    held = held_in_rust()
    for row in rows:
        mutated(row, ROOT)
        name = row["test"].rsplit("::", 1)[-1]
        if not any(test.endswith(f": {name}") for test in held.get(row["rule"], ())):
            sys.exit(f"{row['rule']}: no test {name} has its mark")


def copy(folder):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            # with a new time, or cargo takes what a round before has mutated for built
            shutil.copyfile(source, target)


def outcomes(folder, rows):
    """What became of each test of the rows: ok, FAILED, or nothing where it did not run."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILT), "CARGO_TERM_COLOR": "never"}
    found = {}
    for target in ("lib", "it"):
        tests = sorted({row["test"] for row in rows if row["target"] == target})
        if not tests:
            continue
        choice = ["--lib"] if target == "lib" else ["--test", "it"]
        command = ["cargo", "test", "-j2", *choice, "--", "--exact", *tests]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        results = re.findall(r"^test (\S+) \.\.\. (ok|FAILED)$", run.stdout, re.MULTILINE)
        if not results:
            sys.exit(f"nothing ran:\n{run.stderr[-4000:]}\n{run.stdout[-2000:]}")
        found.update({(target, name): result for name, result in results})
    return found


def run(rows, mutate=True):
    """One round: how many tests did not end as they must."""
    folder = BUILT / "mutants"
    copy(folder)
    # a package of its own to cargo, or what is built of it passes for the product's
    manifest = folder / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(re.sub(r'^version = "[^"]*', r"\g<0>-mutant", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    for row in rows if mutate else ():
        # one after another: two may be of one file
        (folder / row["file"]).write_text(mutated(row, folder), encoding="utf-8")
    found = outcomes(folder, rows)
    wanted = "FAILED" if mutate else "ok"
    others = 0
    for row in rows:
        result = found.get((row["target"], row["test"]), "did not run")
        others += result != wanted
        word = {"FAILED": "killed", "ok": "SURVIVED"}.get(result, result) if mutate else result
        print(f"{row['rule']}\t{row['test']}\t{word}", flush=True)
    print(f"{len(rows)} {'mutations' if mutate else 'tests'}, {others} not as they must be")
    return others


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["choose", "check", "unchanged", "run"])
    parser.add_argument("rules", nargs="*")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--round")
    arguments = parser.parse_args()
    if arguments.what == "choose":
        held = held_in_rust()
        texts = {rule["id"]: rule["text"] for rule in conformance.rules()}
        for rule in choose(arguments.seed, arguments.count):
            print(rule, texts[rule], *sorted(held[rule]), sep="\n    ")
        return
    rows = [row for row in table() if not arguments.rules or row["rule"] in arguments.rules]
    rows = [row for row in rows if arguments.round in (None, row["round"])]
    check(rows)
    if arguments.what == "unchanged":
        sys.exit(1 if run(rows, mutate=False) else 0)
    if arguments.what == "run":
        rounds = sorted({row["round"] for row in rows})
        survived = [run([row for row in rows if row["round"] == one]) for one in rounds]
        sys.exit(1 if sum(survived) else 0)
    print(f"{len(rows)} mutations can be applied")


if __name__ == "__main__":
    main()
