"""Protected access through an official client that discovers everything itself: challenge, metadata, issuer, token."""

from pathlib import Path

import leads
import product
from client import Client
from scenario import Scenario

HERE = Path(__file__).parent
SECRET = "only-for-this-test"
SEARCH = {"type": "inventory.search.request"}


def serve(binary, first, folder, name, issuer, policy):
    """The demo's configuration with an access policy."""
    config = Path(first.ready["config"])
    text = config.read_text()
    text += f'\n[deployments.demo.oauth]\nissuer = "{issuer}"\nscopes = ["inventory"]\nlead_scopes = ["leads"]\n'
    text += f"\n[deployments.demo.mcp]\n{policy}\n"
    protected = config.with_name(f"{name}.toml")
    protected.write_text(text)
    return product.serve(binary, str(protected), first.ready["mcp"], folder / f"{name}.log")


class Access:
    def __init__(self, arguments, folder, checks):
        self.python = arguments.python_v2
        self.binary = arguments.binary
        self.node = arguments.node
        self.ts = str(Path(arguments.modules) / "ts_v2.mjs")
        self.folder = folder
        self.checks = checks

    def client(self, url, issuer, who, mode="2026-07-28"):
        command = [self.python, str(HERE / "py_oauth.py"), url, mode, issuer, who, SECRET]
        return Client(f"py-oauth-{who}", command, HERE, self.folder / f"py-oauth-{who}.log")

    # AAP-099
    def check_anonymous(self, url, what):
        """A client without credentials learns that it needs some; it does not hang or lose the reason."""
        client = Client("anonymous", [self.node, self.ts, url, "modern"], HERE, self.folder / "anonymous.log")
        answer = client.list_tools() if "ready" in client.begun else client.begun
        said = str(answer.get("failed"))
        self.checks.that(f"{what}: an anonymous client is refused", "401" in said or "Unauthorized" in said, answer)
        client.close()

    def check_everything(self, url, issuer):
        """All of MCP is protected."""
        checks = self.checks
        for mode in ("2026-07-28", "legacy"):
            client = self.client(url, issuer, "buyer", mode)
            if checks.that(f"{mode}: signs in by itself", "ready" in client.begun, client.begun):
                scenario = Scenario(client, checks)
                scenario.check_tools(client.list_tools()["tools"])
                found = scenario.done("aap_inventory_search")
                checks.that(f"{mode}: a protected call is answered", found and found["total"] > 0, found)
            client.close()

    # AAP-100 AAP-143
    def check_leads_only(self, url, issuer):
        """Reads are public; a lead needs a token, and consent all the same."""
        checks = self.checks
        stranger = Client("stranger", [self.node, self.ts, url, "modern"], HERE, self.folder / "stranger.log")
        scenario = Scenario(stranger, checks)
        scenario.check_tools(stranger.list_tools()["tools"])
        cars = scenario.done("aap_inventory_search", filters={"status": ["available"]})["vehicles"]
        refused = stranger.call("aap_lead_submit", leads.lead("stranger", leads.of_interest(cars[0])))
        said = str(refused.get("failed"))
        checks.that("a stranger's lead is refused", "401" in said or "Unauthorized" in said, refused)
        stranger.close()
        buyer = self.client(url, issuer, "buyer")
        scenario = Scenario(buyer, checks)
        request = leads.lead("signed-in", leads.of_interest(cars[0]))
        bare = {name: value for name, value in request.items() if name != "consent"}
        scenario.refused("a token is no consent", "aap_lead_submit", bare, "CONTACT_CONSENT_REQUIRED", "/consent")
        payload, is_error = scenario.call("aap_lead_submit", request)
        checks.that("a signed-in lead is accepted", payload and not is_error, payload)
        buyer.close()
        reader = self.client(url, issuer, "reader")
        refused = reader.call("aap_lead_submit", leads.lead("reader", leads.of_interest(cars[0])))
        checks.that("a lead beyond the token's scope is refused", "failed" in refused, refused)
        reader.close()

    def run(self):
        issuing = product.Product(self.python, [str(HERE / "oauth_issuer.py")], self.folder / "issuer.log")
        issuer = issuing.ready["url"]
        first = product.demo(self.binary, self.folder / "access", self.folder / "access-demo.log")
        first.end()
        try:
            for name, policy, work in (
                ("protected", 'access = "oauth"', self.check_everything),
                ("leads-only", 'lead_access = "oauth"', self.check_leads_only),
            ):
                served = serve(self.binary, first, self.folder, name, issuer, policy)
                try:
                    if name == "protected":
                        self.check_anonymous(served.ready["mcp"], name)
                    work(served.ready["mcp"], issuer)
                finally:
                    served.end()
        finally:
            issuing.kill()
