"""What every A2A client must be able to do, knowing the dealer's host only: find the card, use each skill, and decode
each error."""

import leads

SKILLS = ("dealer.information", "inventory.facets", "inventory.search", "inventory.vehicle", "lead.submit")
INFO = "type.googleapis.com/google.rpc.ErrorInfo"
STRUCT = "type.googleapis.com/google.protobuf.Struct"


def media(skill, end):
    stem = "vehicle-detail" if skill == "inventory.vehicle" else skill.replace(".", "-")
    return f"application/vnd.autoagent.{stem}-{end}+json"


def whole(value):
    """A listing with whole numbers as such: a client that speaks protobuf holds every number as a double."""
    if isinstance(value, dict):
        return {name: whole(member) for name, member in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class A2aScenario:
    def __init__(self, client, checks):
        self.client = client
        self.checks = checks
        self.accepted = []

    def send(self, skill, **members):
        request = {"data": {"type": f"{skill}.request"} | members}
        request |= {"media": media(skill, "request"), "modes": [media(skill, "response")]}
        return self.client.ask(request)

    def done(self, skill, **members):
        answer = self.send(skill, **members)
        data = answer.get("data") or {}
        self.checks.equal(f"{skill} succeeds", data.get("type"), f"{skill}.response")
        message = answer.get("message", {})
        self.checks.that(f"{skill}: a context id", bool(message.get("contextId")), answer)
        self.checks.equal(f"{skill}: role", message.get("role"), "ROLE_AGENT")
        return data.get("data", {})

    def refused(self, what, skill, number, code, pointer=None, **members):
        checks = self.checks
        answer = self.send(skill, **members)
        error = answer.get("error")
        if not checks.that(f"{what}: a JSON-RPC error", isinstance(error, dict), answer):
            return
        checks.equal(f"{what}: number", error.get("code"), number)
        checks.equal(f"{what}: details decode", answer.get("undecoded", []), [])
        details = error.get("data") or [{}]
        checks.equal(f"{what}: ErrorInfo first", details[0].get("@type"), INFO)
        checks.equal(f"{what}: reason", details[0].get("reason"), code)
        typed = next((d["value"] for d in details if d.get("@type") == STRUCT), {})
        checks.equal(f"{what}: typed code", typed.get("code"), code)
        problems = typed.get("details", {}).get("errors", [])
        if pointer:
            places = [problem["instanceLocation"] for problem in problems]
            checks.that(f"{what}: names {pointer}", pointer in places, places)
            checks.that(f"{what}: says what to correct", all(problem["error"] for problem in problems), problems)

    def run(self):
        checks = self.checks
        ready = self.client.begun.get("ready")
        if not checks.that("finds the card from the host alone", bool(ready), self.client.begun):
            return
        ids = [skill["id"] for skill in ready["card"].get("skills", [])]
        checks.equal("the card's skills", ids, list(SKILLS))
        self.check_skills()
        self.check_errors()

    def check_skills(self):
        checks = self.checks
        checks.equal("dealer", self.done("dealer.information").get("name"), "Harbor Point Motors")
        facets = self.done("inventory.facets")
        checks.that("facets name makes", len(facets.get("makes", [])) > 5, facets)
        page = self.done("inventory.search", filters={"price_max": 50000}, pagination={"limit": 2})
        checks.equal("a page of two", len(page.get("vehicles", [])), 2)
        again = {"filters": page["applied_filters"], "sort": page["sort"]}
        pagination = {"limit": 2, "cursor": page["next_cursor"]}
        following = self.done("inventory.search", pagination=pagination, **again)
        seen = [car["vehicle_id"] for car in page["vehicles"] + following["vehicles"]]
        checks.equal("pages do not overlap", len(set(seen)), 4)
        car = page["vehicles"][0]
        found = self.done("inventory.vehicle", vehicle_id=car["vehicle_id"])
        checks.equal("the vehicle", found.get("vehicle_id"), car["vehicle_id"])
        lead = leads.lead(self.client.name, leads.of_interest(car))
        lead.pop("type")
        first = self.done("lead.submit", **lead)
        checks.equal("received", first.get("status"), "received")
        self.accepted.append((lead | {"type": "lead.submit.request"}, whole(car)))
        retried = self.done("lead.submit", **lead)
        checks.equal("the retry", retried, first | {"replayed": True})
        self.refused("a changed retry", "lead.submit", -32000, "IDEMPOTENCY_CONFLICT", **(lead | {"message": "other"}))

    def check_errors(self):
        search = lambda what, code, pointer, **members: self.refused(
            what, "inventory.search", -32602, code, pointer, **members
        )
        search("unknown filter", "SCHEMA_VALIDATION_FAILED", "/filters/colour", filters={"colour": ["red"]})
        search("inverted range", "SCHEMA_VALIDATION_FAILED", None, filters={"price_min": 2, "price_max": 1})
        search("large page", "SCHEMA_VALIDATION_FAILED", "/pagination/limit", pagination={"limit": 101})
        search("bad cursor", "INVALID_CURSOR", None, pagination={"cursor": "altered"})
        search("unknown feature", "UNSUPPORTED_FILTER", "/filters/features_all/0", filters={"features_all": ["no_such"]})
        self.refused("no vehicle", "inventory.vehicle", -32000, "VEHICLE_NOT_FOUND", vehicle_id="none")
        self.refused("no dealer", "dealer.information", -32000, "DEALER_NOT_FOUND", dealer_id="none")
        lead = leads.lead(f"{self.client.name}-refused")
        lead.pop("type")
        without = {name: value for name, value in lead.items() if name != "consent"}
        self.refused("no consent", "lead.submit", -32000, "CONTACT_CONSENT_REQUIRED", "/consent", **without)
        late = leads.with_consent(lead, granted_at=leads.at(-60), expires_at=leads.at(-30))
        self.refused("expired consent", "lead.submit", -32000, "INVALID_CONSENT", None, **late)
