"""Runs the company cases of the package `personal-agent-protocol` (PAP 0.2) that hold unchanged for 0.3.

Its own assertions, proofs, mutations and expectations, sent to a company found by our independent client.
What differs between the drafts is written out here and nowhere else: 0.3 wants `resource`, has dropped
`signed_in`, and AAP's operations are POSTs where the cases read with GET.

    python sdk.py --identity /tmp/agent http://127.0.0.1:8080"""

import argparse
import asyncio
import pathlib
import sys
import types
import urllib.parse

import httpx
from cryptography.hazmat.primitives import serialization
from personal_agent_protocol import conformance, crypto
from personal_agent_protocol.demo.kit import AgentIdentity
from pydantic import SecretStr

import agent
import identity

SKILL_BODY = b'{"type":"dealer.information.request"}'
SWAPPED = {"GET": "POST", "POST": "GET"}
# sign-in and conversations are not offered; the last reads through a conversation endpoint
NOT_OFFERED = {"security.refusals-disclose-no-credential", "security.authorization-header-without-cookies"}


class Context(conformance.ConformanceContext):
    """The package's context without its 0.2 discovery and Sessions."""

    def __init__(self, company: agent.Company, who: AgentIdentity, http: httpx.AsyncClient):
        self._found = company
        self.http = http
        self.agent = types.SimpleNamespace(identity=who)
        self.scenario = types.SimpleNamespace(read_path="/skills/dealer.information")
        self.fixture = None
        self._keys = {}

    async def metadata(self):
        return types.SimpleNamespace(
            issuer=self._found.issuer,
            token_endpoint=self._found.token_endpoint,
            device_authorization_endpoint=None,
        )

    def url(self, path: str) -> str:
        return f"{self._found.api_base}{path}"

    def now(self):
        import datetime

        return datetime.datetime.now(datetime.timezone.utc)

    def _material(self, user: str) -> crypto.DpopKeyMaterial:
        if user not in self._keys:
            fresh = AgentIdentity(domain="session", name="session")
            jwk = {name: fresh.jwks["keys"][0][name] for name in ("kty", "crv", "x", "y")}
            self._keys[user] = crypto.DpopKeyMaterial(fresh.private_key, jwk)
        return self._keys[user]

    async def proof(self, user, method, url, *, token=None, agent=None, shift=0) -> str:
        import datetime

        async def material(_):
            return self._material(user)

        provider = crypto.JoseDpopProofProvider(
            material, now=lambda: self.now() + datetime.timedelta(seconds=shift)
        )
        at_skill = token is not None and self.fixture.id != "security.token-dpop-with-ath"
        request = types.SimpleNamespace(
            method=SWAPPED[method] if at_skill else method,
            url=url,
            access_token=getattr(token, "access_token", token),
            nonce=None,
        )
        return (await provider.create(request)).get_secret_value()

    async def session(self, user, agent=None):
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": self.assertion(self.claims(subject=user, audience=self._found.issuer)),
            **(await self.client_form()),
        }
        response = await self.token_request(user, form)
        conformance.check(response.status_code == 200, f"the Session starts: {response.text}")
        return types.SimpleNamespace(access_token=SecretStr(response.json()["access_token"]))

    async def token_request(self, user, form, *, dpop=True):
        form = {**form, "resource": self._found.resource}
        response = await super().token_request(user, form, dpop=dpop)
        positive = self.fixture.kind == "positive" and self.fixture.id.startswith("security.session")
        if response.status_code == 200 and positive:
            conformance.check("signed_in" not in response.json(), "0.3 answers no signed_in")
            return httpx.Response(200, json={**response.json(), "signed_in": False})
        return response

    async def send(self, method, url, *, headers=None, content=None):
        if method == "GET" and "/skills/" in url:
            headers = {**(headers or {}), "Content-Type": "application/json"}
            return await super().send("POST", url, headers=headers, content=SKILL_BODY)
        return await super().send(method, url, headers=headers, content=content)


async def run(company: agent.Company, who: AgentIdentity) -> int:
    # the demo is plain HTTP on loopback, which the package's proofs know nothing of
    crypto._normalized_htu = lambda url: url.split("?")[0].split("#")[0]
    send_twice = httpx.Request
    failed = 0
    async with httpx.AsyncClient(timeout=20) as http:
        context = Context(company, who, http)
        for fixture in conformance.load_fixture_cases(("security",)):
            if fixture.role != "company" or fixture.id in NOT_OFFERED:
                continue
            context.fixture = fixture
            function = conformance.CASES[fixture.id]
            if fixture.id == "security.dpop-header-twice":
                conformance.httpx.Request = with_resource(send_twice, company.resource)
            try:
                await function(context, fixture)
                print(f"holds {fixture.id}")
            except Exception as wrong:  # each case is told apart; one must not hide the others
                failed += 1
                print(f"fails {fixture.id}: {type(wrong).__name__}: {wrong}")
            finally:
                conformance.httpx.Request = send_twice
    return failed


def with_resource(request, resource):
    """That one case builds its request itself, so `resource` is added to its body."""

    def build(method, url, *, headers, content):
        return request(
            method, url, headers=headers, content=content + b"&" + urllib.parse.urlencode({"resource": resource}).encode()
        )

    return build


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("origin")
    parser.add_argument("--identity", type=pathlib.Path, required=True)
    options = parser.parse_args()
    web = agent.Web(loopback_http=True)
    company = agent.discover(web, options.origin)
    with identity.Served(options.identity) as published:
        pem = (options.identity / "identity.pem").read_bytes()
        who = AgentIdentity(
            domain=urllib.parse.urlsplit(published.client_id).netloc,
            name="Independent test agent",
            path="/client.json",
            private_key=serialization.load_pem_private_key(pem, password=None),
            kid=identity.KID,
        )
        return 1 if asyncio.run(run(company, who)) else 0


if __name__ == "__main__":
    sys.exit(main())
