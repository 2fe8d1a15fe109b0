#!/usr/bin/env python3
"""Holds docs/errors.md to the code.

The tables that people write there must name every code, number, check and reason that the program can give, each
once, and none that it cannot. The lists of findings at the end are made from the places in the source that say
them. With --check, fails when a list on the page is not what would be written; without, writes the lists anew.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "errors.md"
MARK = "<!-- What follows is made by tests/rules/errors.py from the places that say it. -->\n"
ANYTHING = "…"
# A file of findings, and what its keys lie below.
SECTIONS = [
    ("Files, variables, flags, secrets", ["config/load.rs", "config/tree.rs", "config/tree/mistake.rs", "config/secret.rs", "config/compile/scope.rs"]),
    ("`[server]`, `[data]`, `[keys]`", ["config/compile/server.rs", "config/compile/mod.rs"]),
    ("`[telemetry]`", ["config/compile/telemetry.rs"]),
    ("`[store]`", ["config/compile/store.rs"]),
    ("`[deployments.ID]`: itself and its addresses", ["config/compile/deployment.rs", "config/compile/together.rs", "config/compile/urls.rs", "config/compile/website.rs"]),
    ("`[deployments.ID.profile]`", ["config/compile/profile.rs"]),
    ("`[deployments.ID.inventory]`", ["config/compile/inventory.rs", "config/compile/source.rs"]),
    ("`[deployments.ID.sellers]`", ["config/compile/aggregate.rs"]),
    ("`[deployments.ID.leads]`", ["config/compile/leads.rs", "config/compile/delivery.rs", "config/compile/http.rs", "leads/check.rs"]),
    ("`[deployments.ID.mcp]`, `a2a`, `oauth`", ["config/compile/access.rs", "config/compile/oauth.rs"]),
    ("`[deployments.ID.pap]`", ["config/compile/pap.rs"]),
    ("A mapping", [*(f"mapping/compile/{path.name}" for path in sorted((ROOT / "src/mapping/compile").glob("*.rs"))), "mapping/mod.rs"]),
]
# What a finding is made by, and which of its arguments are key, reason and remedy.
MAKERS = {
    r"\.fault\(": (0, 1, 2),
    r"\.need\(": (0, None, 2),
    r"\.finding\(": (0, 1, 2),
    r"\.idle\(": (0, 1, 2),
    r"findings\s*\.add\(": (0, 1, 2),
    r"Finding::new\(": (0, 1, 2),
}
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)


def source(name):
    text = (ROOT / "src" / name).read_text(encoding="utf-8")
    text = text.split("#[cfg(test)]\nmod ")[0]
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


def arguments(text, start):
    """The arguments of a call whose bracket opens just before `start`."""
    found, depth, begin, at = [], 0, start, start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = TEXT.match(text, at).end()
            continue
        if c == "'" and (quoted := re.match(r"'(\\.|[^'\\])'", text[at:])):
            at += quoted.end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                found.append(text[begin:at])
                return [one.strip() for one in found if one.strip()]
            depth -= 1
        elif c == "," and depth == 0:
            found.append(text[begin:at])
            begin = at + 1
        at += 1
    raise ValueError(text[start : start + 80])


def plain(literal):
    literal = re.sub(r"\\\n\s*", "", literal)
    return literal.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ")


def template(literal):
    """A format's text, with what is filled in left open."""
    return re.sub(r"\{[^{}]*\}", ANYTHING, literal.replace("{{", "\x00").replace("}}", "\x01")).replace("\x00", "{").replace("\x01", "}")


def texts(expression, before):
    """What an expression can say, as far as the source shows."""
    expression = expression.strip().removeprefix("&").strip()
    if re.fullmatch(r"\w+", expression):
        return bound(expression, before)
    if re.fullmatch(r"[A-Z_]+", expression):
        return [ANYTHING]
    out = []
    for found in TEXT.finditer(expression):
        ahead = expression[: found.start()].rstrip()
        if ahead.endswith(".join(") or ahead.endswith("key(") or ahead.endswith("join("):
            continue
        text = plain(found.group(1))
        out.append(template(text) if ahead.endswith("format!(") else text)
    return out or [ANYTHING]


def bound(name, before):
    """What the nearest `let` of this name in the same function says."""
    function = max(before.rfind("\nfn "), before.rfind("\n    fn "), before.rfind("\npub(super) fn "), before.rfind("\n    pub(super) fn "), before.rfind("\npub fn "))
    here = before[max(function, 0) :]
    if name.isupper():
        constant = re.search(rf"const {name}[^=]*=(.*?);", before, re.S)
        return texts(constant.group(1), "") if constant else [ANYTHING]
    lets = list(re.finditer(rf"let (\(?[\w, ]*\b{name}\b[\w, ]*\)?)(?::[^=]*)? =\s*", here))
    if not lets:
        return [ANYTHING]
    last = lets[-1]
    # A pattern that binds the name anew hides the `let`.
    if re.search(rf"(?:Err|Some|Ok)\({name}\)|\({name},|, {name}\) =>|for {name} in", here[last.end() :]):
        return [ANYTHING]
    value = until_semicolon(here, last.end())
    names = [one.strip() for one in last.group(1).strip("()").split(",")]
    if len(names) == 1:
        return texts(value, here[: last.start()])
    # Pairs: the texts come in turn.
    every = texts(value, here[: last.start()])
    at = names.index(name)
    return every[at :: len(names)] or [ANYTHING]


def until_semicolon(text, start):
    depth, at = 0, start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = TEXT.match(text, at).end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == ";" and depth == 0:
            return text[start:at]
        at += 1
    return text[start:]


def tells(key, reason, remedy):
    """Whether a row says more than that something is wrong somewhere."""
    key = "" if key == ANYTHING else key
    return (key or reason != ANYTHING or remedy[0] != "d") and (key or remedy != ANYTHING)


def key_of(expression, before):
    if member := re.fullmatch(r'key\("(\w+)"\)', expression):
        return f"deliveries.{ANYTHING}.{member.group(1)}"
    said = texts(expression, before)
    return said[0].strip(".") if said else ANYTHING


def findings(name):
    text = source(name)
    for maker, places in MAKERS.items():
        for call in re.finditer(maker, text):
            before = text[: call.start()]
            if re.search(r"fn\s*$", before[-40:]) or before.rstrip().endswith("fn"):
                continue
            given = arguments(text, call.end())
            if len(given) < 3:
                continue
            key, reason, remedy = ((None if at is None else given[at]) for at in places)
            # The keys of a list say the same.
            key = "`, `".join(texts(key, before)) if "idle" in maker else key_of(key, before)
            reasons = ["is missing"] if reason is None else texts(reason, before)
            remedies = texts(remedy, before)
            for index, one in enumerate(reasons):
                yield key, one, remedies[min(index, len(remedies) - 1)]


def rows_of_a_mapping():
    """What is said of a cell that cannot become what its field takes."""
    names = [name for name in ("mapping/field.rs", "mapping/finish.rs", "mapping/vin.rs") if (ROOT / "src" / name).exists()]
    names += [f"mapping/steps/{path.name}" for path in sorted((ROOT / "src/mapping/steps").glob("*.rs"))]
    said = []
    for name in names:
        for found in TEXT.finditer(source(name)):
            text = template(plain(found.group(1)))
            if re.match(r"(is|has|lies|names) .", text) and text not in said:
                said.append(text)
    return said


def units_of_the_index():
    """Why the index leaves a mapped vehicle out."""
    text = source("inventory/build.rs") + source("inventory/admission.rs")
    return list(dict.fromkeys(re.findall(r'(?:count\(|Err\()"([^"]+)"', text)))


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip() or ANYTHING


def lists():
    out = []
    for title, names in SECTIONS:
        rows = []
        for name in names:
            if (ROOT / "src" / name).exists():
                rows += [row for row in findings(name) if tells(*row)]
        if not rows:
            continue
        out.append(f"\n### {title}\n\n| key | what is said | what to do |\n|---|---|---|\n")
        for key, reason, remedy in dict.fromkeys(rows):
            key = "" if key in ("", ANYTHING) else f"`{cell(key)}`"
            said = "*the words of what refused it*" if reason == ANYTHING else cell(reason)
            out.append(f"| {key} | {said} | {cell(remedy)} |\n")
    for title, said in (("A cell, in `mappings check` and `explain`", rows_of_a_mapping()), ("A vehicle that the index leaves out", units_of_the_index())):
        out.append(f"\n### {title}\n\n")
        out += [f"- {cell(text)}\n" for text in said]
    return "".join(out)


def table(page, title):
    """The first cells of the table under a heading."""
    part = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    if not part:
        sys.exit(f"docs/errors.md has no section {title!r}")
    rows = re.findall(r"^\| (.+?) \|(.*)\|$", part.group(1), re.M)
    return [(first, rest) for first, rest in rows if first.startswith("`")]


def read(*names):
    return "\n".join((ROOT / "src" / name).read_text(encoding="utf-8") for name in names)


def held(faults, page, title, wanted):
    shown = [re.match(r"`([^`]+)`", first).group(1) for first, _ in table(page, title)]
    for name in sorted(set(wanted) - set(shown)):
        faults.append(f"{title}: {name} is missing")
    for name in sorted(set(shown) - set(wanted)):
        faults.append(f"{title}: {name} is not in the code")
    for name in {name for name in shown if shown.count(name) > 1}:
        faults.append(f"{title}: {name} stands twice")


def codes(faults, page):
    rows = re.findall(r'Row\(\s*"([A-Z_]+)",\s*(-\d+),\s*(\d+),\s*(\w+)\s*\)', read("contract/error.rs"))
    held(faults, page, "AAP codes", [name for name, *_ in rows])
    shown = dict(table(page, "AAP codes"))
    for name, a2a, pap, retryable in rows:
        cells = [one.strip() for one in shown.get(f"`{name}`", "").split("|")]
        wanted = [a2a, pap, "yes" if retryable == "true" else "no"]
        if cells[:3] != wanted:
            faults.append(f"AAP codes: {name} is {wanted}, the page says {cells[:3]}")


def oauth(faults, page):
    text = read("oauth/refusal.rs")
    ids = dict(re.findall(r'Self::(\w+) => "([a-z_]+)"', text))
    held(faults, page, "OAuth errors at issuer, native API and MCP", ids.values())
    shown = dict(table(page, "OAuth errors at issuer, native API and MCP"))

    def status(function, code):
        body = re.search(rf"fn {function}\(.*?\n    }}\n", text, re.S).group(0)
        arms = re.findall(r"((?:\|?\s*Self::\w+\s*)+)=> (\d+)", body)
        return next(number for names, number in arms if code in re.findall(r"Self::(\w+)", names))

    for code, name in ids.items():
        cells = [one.strip() for one in shown.get(f"`{name}`", "").split("|")]
        wanted = [status("status_at_issuer", code), status("status_at_api", code)]
        if cells[:2] != wanted:
            faults.append(f"OAuth: {name} is {wanted}, the page says {cells[:2]}")


def numbers(faults, page):
    for title, names in (
        ("JSON-RPC numbers over MCP", ["bindings/mcp/jsonrpc.rs", "bindings/mcp/ingress.rs"]),
        ("JSON-RPC numbers over A2A", ["bindings/a2a/fault.rs"]),
    ):
        found = set(re.findall(r"-32\d{3}", read(*names)))
        if "A2A" in title:
            found |= {a2a for _, a2a, *_ in re.findall(r'Row\(\s*"([A-Z_]+)",\s*(-\d+)', read("contract/error.rs"))}
        held(faults, page, title, found)


def others(faults, page):
    config = read(*[f"config/{name}.rs" for name in ("load", "tree", "tree/mistake", "secret", "compile/scope")])
    for first, _ in re.findall(r"^\| `([a-z ]+[^`|]*)` \|(.*)\|$", re.search(r"^## Any key.*?(?=^## |\Z)", page, re.S | re.M).group(0), re.M):
        if first not in config:
            faults.append(f"Any key: {first!r} is not said")
    server = [f"server/{path.name}" for path in (ROOT / "src/server").glob("*.rs")]
    edge = set(re.findall(r'problem\(\s*[\w:]+,\s*"([a-z_]+)"', read(*server)))
    held(faults, page, "The edge", edge)
    held(faults, page, "Exit codes", re.findall(r"^\s+\w+ = (\d+),$", read("cli/failure.rs"), re.M))
    ops = [f"app/{path.name}" for path in (ROOT / "src/app").glob("*.rs")]
    held(faults, page, "Readiness reasons", re.findall(r'component: "(\w+)"', read(*ops)))
    doctor = read(*[f"cli/doctor/{path.name}" for path in (ROOT / "src/cli/doctor").glob("*.rs")])
    ids = set(re.findall(r'\((?:[A-Z]+|section|"transport"), "([\w.-]+)"', doctor))
    ids |= set(re.findall(r'\n\s+\(\n\s+"([a-z]+)",\n', doctor)) | {"mcp-REVISION"}
    read_ones = set(re.findall(r'(?:reader|self)\s*\.(?:json|fetch|openapi)\(\s*"([\w-]+)"', doctor))
    ids |= read_ones | {f"{name}-schema" for name in read_ones - {"openapi"}}
    topics = re.search(r"fn texts\(.*?\n    }\n", read("bindings/discovery/agreement/mod.rs"), re.S).group(0)
    ids |= set(re.findall(r'=> \(\s*"([a-z-]+)"', topics))
    held(faults, page, "Checks of `doctor`", ids)


def main():
    page = PAGE.read_text(encoding="utf-8")
    if MARK not in page:
        sys.exit("docs/errors.md has no place for the lists")
    people, written = page.split(MARK)
    faults = []
    for held_by in (codes, oauth, numbers, others):
        held_by(faults, people)
    made = lists()
    if "--check" in sys.argv:
        if written != made:
            faults.append("the lists of findings are not what the code says; run tests/rules/errors.py")
    else:
        PAGE.write_text(people + MARK + made, encoding="utf-8")
    for fault in faults:
        print(f"docs/errors.md: {fault}")
    print(f"errors: {made.count(chr(10) + '| ')} lines of findings, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
