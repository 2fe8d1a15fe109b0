"""Counts what held and what did not. A fault is printed at once, in full; a pass only counts."""

import json

NOTHING = object()


class Checks:
    def __init__(self):
        self.passed = 0
        self.faults = []

    def that(self, what, holds, seen=NOTHING):
        """`what` is the expectation; `seen` is shown when it does not hold."""
        if holds:
            self.passed += 1
        else:
            detail = "" if seen is NOTHING else "\n    saw: " + shorten(seen)
            self.faults.append(what)
            print(f"  FAULT {what}{detail}", flush=True)
        return holds

    def equal(self, what, seen, expected):
        return self.that(f"{what}: expected {shorten(expected)}", seen == expected, seen)

    def summary(self, name):
        return f"{name}: {self.passed} passed, {len(self.faults)} failed"


def shorten(value, limit=1500):
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= limit else text[:limit] + " …"
