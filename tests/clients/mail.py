"""Reads the mails that the CRM's stand-in received: one a lead, each with a valid ADF document."""

import email
import email.policy
import subprocess
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import product

DTD = Path(__file__).parents[1] / "data" / "adf" / "adf.dtd"


def read(folder):
    """Every received mail. A file that is still being written has another name."""
    parse = email.message_from_bytes
    return [parse(path.read_bytes(), policy=email.policy.default) for path in sorted(Path(folder).glob("*.eml"))]


def document(message):
    """The ADF document of a mail: its body or an attachment."""
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_content()
        content = content if isinstance(content, bytes) else content.encode()
        if b"<adf" in content:
            return content.lstrip()
    return None


def of(messages, address):
    """The mails about this address's owner, each with its ADF document, if it has one."""
    return [(message, document(message)) for message in messages if address in words(message)]


def words(message):
    """Everything that a mail says, decoded."""
    parts = [part.get_content() for part in message.walk() if not part.is_multipart()]
    return "\n".join(p if isinstance(p, str) else p.decode("utf-8", "replace") for p in parts)


def wait_for(folder, addresses, seconds):
    """Waits until a mail for each address has come."""

    def all_here():
        messages = read(folder)
        return messages if all(of(messages, address) for address in addresses) else None

    return product.until(all_here, seconds) or read(folder)


# AAP-561 AAP-563 AAP-571 AAP-576 AAP-577
def check_mail(messages, request, car, checks, scratch):
    """Exactly one mail for this lead, strictly valid, and saying what the lead said."""
    address = request["customer"]["email"]
    found = of(messages, address)
    if not checks.equal(f"one mail for {address}", len(found), 1):
        return
    message, xml = found[0]
    checks.that("it has a Message-ID", bool(message["Message-ID"]), list(message.items()))
    if not checks.that("it carries an ADF document", xml is not None, words(message)):
        return
    file = Path(scratch) / "lead.xml"
    file.write_bytes(xml)
    command = ["xmllint", "--nonet", "--noout", "--dtdvalid", str(DTD), str(file)]
    verdict = subprocess.run(command, capture_output=True, text=True, check=False)
    checks.that("the ADF is valid by its DTD", verdict.returncode == 0, verdict.stderr)
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        checks.that("the ADF is well-formed", False, str(error))
        return
    text = root.findtext
    customer = request["customer"]
    full = f"{customer['first_name']} {customer['last_name']}"
    checks.equal("the customer's name", name(root.find(".//customer/contact")), full)
    checks.equal("the customer's e-mail", text(".//customer/contact/email"), address)
    checks.that("the dealer's name", bool(text(".//vendor/vendorname")), xml.decode())
    checks.that("the message, unescaped by the parser", request["message"] in text(".//customer/comments", ""), xml.decode())
    checks.equal("the time of the request", instant(text(".//requestdate")), instant(request["submitted_at"]))
    checks.that("the agent's name", request["source_agent"]["name"] in name(root.find(".//provider")), xml.decode())
    if car:
        for member in ("year", "make", "model", "vin", "stock"):
            seen = text(f".//vehicle/{member}")
            checks.equal(f"the car's {member}", seen, str(car[member]) if member in car else None)


# AAP-575
def check_plain_mail(messages, request, checks):
    """An inquiry without a car, which ADF cannot carry: one mail in words, with no made-up vehicle."""
    address = request["customer"]["email"]
    found = of(messages, address)
    if checks.equal(f"one mail for {address}", len(found), 1):
        message, xml = found[0]
        checks.equal("no ADF without a car", xml, None)
        checks.that("it says the buyer's message", request["message"] in words(message), words(message))


def name(element):
    """A contact's whole name, given in one or in parts."""
    if element is None:
        return ""
    parts = [(part.get("part", "full"), part.text or "") for part in element.findall("name")]
    whole = [text for part, text in parts if part == "full"]
    return whole[0] if whole else " ".join(text for _, text in parts)


def instant(text):
    return datetime.fromisoformat(text) if text else None
