"""What every client must be able to do: list five tools, call each, and understand each refusal."""

import json
import uuid

import leads

SKILLS = {
    "aap_dealer_information": "dealer.information",
    "aap_inventory_facets": "inventory.facets",
    "aap_inventory_search": "inventory.search",
    "aap_inventory_vehicle": "inventory.vehicle",
    "aap_lead_submit": "lead.submit",
}
METADATA = "autoagentprotocol.org/aap"
# Codes that come with a hint beside the correction at the place of the problem.
HINTED = {
    "DEALER_NOT_FOUND",
    "IDEMPOTENCY_CONFLICT",
    "INVALID_CURSOR",
    "UNSUPPORTED_FILTER",
    "UNSUPPORTED_SORT",
    "VEHICLE_NOT_FOUND",
    "VEHICLE_UNAVAILABLE",
}


class Scenario:
    """Runs against one client; `accepted` collects the leads whose mail must have arrived."""

    def __init__(self, client, checks):
        self.client = client
        self.checks = checks
        self.accepted = []

    def run(self):
        client, checks = self.client, self.checks
        if not checks.that(f"{client.name} connects", "ready" in client.begun, client.begun):
            return
        listed = client.list_tools()
        if not checks.that(f"{client.name} lists tools", "tools" in listed, listed):
            return
        self.check_tools(listed["tools"])
        self.check_dealer()
        self.check_facets_and_search()
        car = self.check_paging()
        self.check_nearby()
        if car:
            self.check_vehicle(car)
            self.check_leads(car)
        self.check_bad_reads(car)
        self.check_bad_consent(car)
        self.check_unknown_tool()

    # -- answers ---------------------------------------------------------------------------------

    def call(self, tool, request):
        """The typed payload of a completed call, whatever it says, or None."""
        answer = self.client.call(tool, request)
        result = answer.get("result")
        if not self.checks.that(f"{tool} completes", isinstance(result, dict), answer):
            return None, None
        payload = result.get("structuredContent")
        texts = [c["text"] for c in result.get("content", []) if c.get("type") == "text"]
        self.checks.that(f"{tool} has structured content", isinstance(payload, dict), result)
        self.checks.equal(f"{tool}: text copies", len(texts), 1)
        if texts:
            self.checks.equal(f"{tool}: the text copy", json.loads(texts[0]), payload)
        return payload, bool(result.get("isError"))

    def done(self, tool, **members):
        """The `data` of a successful answer."""
        payload, is_error = self.call(tool, {"type": f"{SKILLS[tool]}.request", **members})
        right = payload is not None and payload.get("type") == f"{SKILLS[tool]}.response"
        if not self.checks.that(f"{tool} succeeds", right and not is_error, payload):
            return None
        return payload["data"]

    def refused(self, what, tool, request, code, pointer=None, retryable=False):
        """Asserts the code, the place and that a correction is given, without a customer's value."""
        checks = self.checks
        payload, is_error = self.call(tool, request)
        if payload is None:
            return None
        if not checks.that(f"{what}: a typed error", payload.get("type") == "aap.error", payload):
            return None
        checks.that(f"{what}: isError", is_error, payload)
        checks.equal(f"{what}: code", payload.get("code"), code)
        for member in ("error_id", "message", "created_at"):
            checks.that(f"{what}: {member}", bool(payload.get(member)), payload)
        checks.equal(f"{what}: retryable", payload.get("retryable"), retryable)
        details = payload.get("details", {})
        if code in HINTED:
            checks.that(f"{what}: a hint", bool(details.get("hint")), payload)
        if pointer is not None:
            found = [e for e in details.get("errors", []) if e["instanceLocation"] == pointer]
            checks.that(f"{what}: a problem at {pointer}", bool(found), payload)
            words = all(e.get("error") and e.get("keyword") for e in found)
            checks.that(f"{what}: a correction at {pointer}", words, payload)
        customer = request.get("customer", {})
        private = [customer[k] for k in ("email", "phone", "last_name") if k in customer]
        leaked = [v for v in private if v in json.dumps(payload, ensure_ascii=False)]
        checks.that(f"{what}: repeats no customer value", not leaked, payload)
        return details

    # -- the tools -------------------------------------------------------------------------------

    # AAP-077 AAP-078 AAP-079 AAP-081 AAP-082 AAP-084 AAP-086 AAP-087 AAP-088 AAP-090 AAP-111
    def check_tools(self, tools):
        checks = self.checks
        names = [tool["name"] for tool in tools]
        checks.equal("exactly the five tools, in order", names, list(SKILLS))
        for tool in tools:
            name = tool["name"]
            skill = SKILLS.get(name, "")
            for schema in ("inputSchema", "outputSchema"):
                checks.equal(f"{name}: {schema} is an object's", tool.get(schema, {}).get("type"), "object")
            checks.that(f"{name}: input names its type", "type" in tool["inputSchema"].get("properties", {}))
            checks.that(f"{name}: is described", len(tool.get("description") or "") > 40, tool.get("description"))
            hints = tool.get("annotations") or {}
            reads = skill != "lead.submit"
            checks.equal(f"{name}: readOnlyHint", hints.get("readOnlyHint"), reads)
            checks.equal(f"{name}: openWorldHint", hints.get("openWorldHint"), True)
            if not reads:
                checks.equal(f"{name}: destructiveHint", hints.get("destructiveHint"), False)
                checks.equal(f"{name}: idempotentHint", hints.get("idempotentHint"), False)
            about = (tool.get("_meta") or {}).get(METADATA, {})
            checks.that(f"{name}: AAP metadata", skill in json.dumps(about), about)
            if skill == "inventory.search":
                self.capabilities = about.get("capabilities", {})
                filters = self.capabilities.get("filters", [])
                checks.that(f"{name}: capabilities name filters", "make" in filters, about)
                sort = self.capabilities.get("default_sort", {}).get("field")
                checks.that(f"{name}: default sort is offered", sort in self.capabilities.get("sort_fields", []))

    # AAP-094 AAP-095
    def check_dealer(self):
        data = self.done("aap_dealer_information")
        if data:
            self.checks.that("the dealer has a name", bool(data.get("name")), data)
            names = [rooftop.get("name") for rooftop in data.get("rooftops", [])]
            self.checks.that("rooftops have different names", names and len(set(names)) == len(names), data)

    # AAP-361 AAP-377 AAP-381 AAP-409 AAP-491
    def check_facets_and_search(self):
        facets = self.done("aap_inventory_facets")
        everything = self.done("aap_inventory_search", pagination={"limit": 1})
        if not facets or not everything:
            return
        makes = {term["value"]: term["count"] for term in facets.get("makes", [])}
        self.checks.equal("makes count every unit", sum(makes.values()), everything["total"])
        self.checks.equal("nothing was filtered", everything["applied_filters"], {})
        # two makes by facet value, and the case of a value does not matter
        wanted = {"make": ["toyota", "Honda"], "condition": ["new"], "price_max": 60000}
        facets = self.done("aap_inventory_facets", filters=wanted)
        found = self.done(
            "aap_inventory_search",
            filters=wanted,
            sort={"field": "price", "order": "asc"},
            pagination={"limit": 100},
        )
        if not facets or not found:
            return
        cars = found["vehicles"]
        self.checks.that("several filters find several cars", len(cars) >= 3, found)
        self.checks.equal("the page is the whole answer", (len(cars), found["next_cursor"]), (found["total"], None))
        prices = [car.get("price") for car in cars]
        self.checks.that("sorted by price, all priced", None not in prices and prices == sorted(prices), prices)
        right = all(car["make"] in ("Toyota", "Honda") and car["condition"] == "new" for car in cars)
        self.checks.that("each unit matches", right and max(prices) <= 60000, cars)
        counted = sum(term["count"] for term in facets.get("makes", []))
        self.checks.equal("facets count the same set", counted, found["total"])
        self.checks.equal("the effective sort is told", found["sort"], {"field": "price", "order": "asc"})
        self.checks.equal("the filters are told", sorted(found["applied_filters"]), sorted(wanted))

    # AAP-413 AAP-554
    def check_paging(self):
        """Follows cursors to the end; gives one unit that can be asked for by its VIN."""
        same = {"filters": {"condition": ["used", "cpo"]}, "sort": {"field": "year", "order": "desc"}}
        pages, seen, cursor = 0, [], None
        while True:
            pagination = {"limit": 4} | ({"cursor": cursor} if cursor else {})
            data = self.done("aap_inventory_search", pagination=pagination, **same)
            if not data:
                return None
            pages += 1
            seen += data["vehicles"]
            cursor = data["next_cursor"]
            if cursor is None or pages > 40:
                break
            self.last_cursor = (cursor, same)
        self.checks.that("several pages", pages > 2, pages)
        self.checks.equal("every unit came", len(seen), data["total"])
        names = [identity(unit) for unit in seen]
        self.checks.equal("no unit came twice", len(set(names)), len(names))
        years = [unit["year"] for unit in seen]
        self.checks.that("the order held across pages", years == sorted(years, reverse=True), years)
        return next((u for u in seen if len(u.get("vin", "")) == 17 and u["status"] == "available"), None)

    def check_nearby(self):
        if "near" not in self.capabilities.get("filters", []):
            return
        data = self.done(
            "aap_inventory_search",
            filters={"near": {"latitude": 45.512, "longitude": -122.679, "radius_mi": 1.0}},
            sort={"field": "distance_mi", "order": "asc"},
            pagination={"limit": 100},
        )
        if data:
            far = [unit.get("distance_mi") for unit in data["vehicles"]]
            right = far and None not in far and far == sorted(far) and max(far) <= 1.0
            self.checks.that("nearby units tell their distance, in order", right, far)

    def check_vehicle(self, car):
        data = self.done("aap_inventory_vehicle", vin=car["vin"])
        if data:
            same = {name: data.get(name) for name in car}
            self.checks.equal("the unit says what the search said", same, car)

    # AAP-466 AAP-476 AAP-478
    def check_leads(self, car):
        checks = self.checks
        request = leads.lead(self.client.name, leads.of_interest(car))
        payload, is_error = self.call("aap_lead_submit", request)
        if not checks.that("a consented lead is accepted", payload and not is_error, payload):
            return
        checks.equal("the lead's state", payload["data"].get("status"), "received")
        checks.that("an original is no replay", payload["data"].get("replayed") is not True, payload)
        self.accepted.append((request, car))
        again, is_error = self.call("aap_lead_submit", request)
        expected = payload | {"data": payload["data"] | {"replayed": True}}
        checks.equal("a retry replays the complete answer", (again, is_error), (expected, False))
        changed = request | {"message": "Something else."}
        what, code = "the same key for another lead", "IDEMPOTENCY_CONFLICT"
        self.refused(what, "aap_lead_submit", changed, code, "/idempotency_key")

    # -- refusals --------------------------------------------------------------------------------

    # AAP-098 AAP-103 AAP-104 AAP-382 AAP-388 AAP-427
    def check_bad_reads(self, car):
        search, typed = "aap_inventory_search", {"type": "inventory.search.request"}

        def invalid(what, pointer, **members):
            self.refused(what, search, typed | members, "SCHEMA_VALIDATION_FAILED", pointer)

        invalid("unknown filter", "/filters/paint", filters={"paint": ["red"]})
        invalid("an inverted range", "/filters/price_min", filters={"price_min": 30000, "price_max": 20000})
        limit = self.capabilities.get("max_limit", 100) + 1
        invalid("a limit above the maximum", "/pagination/limit", pagination={"limit": limit})
        near = {"lat": 45.5, "lng": -122.6, "radius_mi": 10}
        invalid("short names of coordinates", "/filters/near/lat", filters={"near": near})
        if hasattr(self, "last_cursor"):
            cursor, same = self.last_cursor
            middle = len(cursor) // 2
            altered = cursor[:middle] + ("A" if cursor[middle] != "A" else "B") + cursor[middle + 1 :]
            for what, token, members in (
                ("an altered cursor", altered, same),
                ("a made-up cursor", "eyJwYWdlIjoyfQ", same),
                ("a cursor with other filters", cursor, same | {"filters": {"condition": ["new"]}}),
            ):
                request = typed | members | {"pagination": {"limit": 4, "cursor": token}}
                self.refused(what, search, request, "INVALID_CURSOR", "/pagination/cursor")
        absent = {"type": "inventory.vehicle.request", "vin": "1HGCV1F32MA999999"}
        self.refused("an unknown vehicle", "aap_inventory_vehicle", absent, "VEHICLE_NOT_FOUND")
        nothing = {"type": "inventory.vehicle.request"}
        self.refused("no identifier", "aap_inventory_vehicle", nothing, "SCHEMA_VALIDATION_FAILED", "")
        wrong = {"type": "inventory.facets.request"}
        self.refused("another tool's request", search, wrong, "SCHEMA_VALIDATION_FAILED", "/type")

    # AAP-105 AAP-461 AAP-540
    def check_bad_consent(self, car):
        good = leads.lead(self.client.name + "-refused", leads.of_interest(car) if car else None)

        def refused(what, request, code, pointer):
            request = request | {"idempotency_key": str(uuid.uuid4())}
            self.refused(what, "aap_lead_submit", request, code, pointer)

        missing = {name: value for name, value in good.items() if name != "consent"}
        refused("missing consent", missing, "CONTACT_CONSENT_REQUIRED", "/consent")
        expired = leads.with_consent(good, granted_at=leads.at(-120), expires_at=leads.at(-60))
        refused("expired consent", expired, "INVALID_CONSENT", "/consent/expires_at")
        future = leads.with_consent(good, granted_at=leads.at(60), expires_at=leads.at(120))
        refused("consent of the future", future, "INVALID_CONSENT", "/consent/granted_at")
        customer = {name: value for name, value in good["customer"].items() if name != "phone"}
        unreachable = leads.with_consent(good, allowed_channels=["email", "sms"]) | {"customer": customer}
        refused("a channel without its value", unreachable, "INVALID_CONSENT", "/customer/phone")
        scope = leads.with_consent(good, scope=["marketing"])
        refused("another scope", scope, "INVALID_CONSENT", "/consent/scope/0")
        graded = good.get("vehicle_of_interest", {}) | {"condition": "good"}
        refused("a grade as condition", good | {"vehicle_of_interest": graded}, "INVALID_CONDITION", "/vehicle_of_interest/condition")
        elsewhere = good | {"vehicle_of_interest": {"vehicle_id": "no-such-car", "condition": "used"}}
        self.refused("a lead for an unknown car", "aap_lead_submit", elsewhere, "VEHICLE_NOT_FOUND")

    # AAP-097
    def check_unknown_tool(self):
        answer = self.client.call("aap_inventory_delete", {"type": "inventory.delete.request"})
        failed = answer.get("failed", {})
        expected = getattr(self.client, "unknown_tool", -32602)
        self.checks.equal("an unknown tool is a protocol error", failed.get("code"), expected)


def identity(unit):
    return (unit.get("dealer_id"), unit.get("vehicle_id"), unit.get("vin"), unit.get("stock"))
