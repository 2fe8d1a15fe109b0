"""Shops at a company end to end: discovery, token, search, lead, renewal, replayed lead, revocation.

    python identity.py /tmp/agent            # once; trust /tmp/agent/ca.pem on the company's side
    python shop.py --identity /tmp/agent https://dealer.example

Exit code 0 when every step holds. Prints steps, never a token, assertion, proof or User ID."""

import argparse
import datetime
import os
import pathlib
import sys
import urllib.parse
import uuid

import agent
import identity
import jose


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("origin", help="https://{dealer domain}")
    parser.add_argument("--identity", type=pathlib.Path, required=True)
    parser.add_argument("--ca", help="authority of the company's own certificate")
    parser.add_argument("--loopback-http", action="store_true", help="allow http: on loopback")
    parser.add_argument("--connect", help="HOST:PORT that stands in for the origin")
    parser.add_argument("--secrets", type=pathlib.Path, help="a file for all that no log may hold, one a line")
    parser.add_argument("--issuer", help="begin here instead of at poppy.json, while that is not published")
    options = parser.parse_args()
    via = {}
    if options.connect:
        host, _, port = options.connect.rpartition(":")
        via[options.origin] = (host, int(port))
    web = agent.Web(options.ca, options.loopback_http, via)
    identity.make(options.identity)
    with identity.Served(options.identity) as published:
        if options.issuer:
            domain = urllib.parse.urlsplit(options.issuer).hostname
            openapi = f"{options.issuer}/openapi.json"
            company = agent.company(web, domain, options.issuer, openapi, options.issuer)
        else:
            company = agent.discover(web, options.origin)
        try:
            walk(web, company, published)
        finally:
            if options.secrets:
                key = (options.identity / "identity.pem").read_text().splitlines()[1]
                options.secrets.write_text("\n".join([*web.secrets, key]) + "\n")
        agent.require(set(published.paths) <= {"/client.json", "/jwks.json"}, "two documents are asked for")
    print("every step holds")
    return 0


def walk(web: agent.Web, company: agent.Company, published: identity.Served) -> None:
    print(f"discovered {company.issuer} with {len(company.operations)} operations")
    session = agent.Session(web, company, published, user_id=jose.b64(os.urandom(24)))
    first = session.obtain()
    print(f"token for {first['expires_in']} s")

    found = session.shop(
        "inventory.search", {"type": "inventory.search.request", "pagination": {"limit": 5}}
    )
    print("search answered")
    assert "data" in found

    lead = lead_request()
    accepted = session.shop("lead.submit", lead)
    print(f"lead: {accepted['data']['status']}")

    before = session.token
    session.obtain()
    agent.require(session.token != before, "renewal returns a new token")
    session.shop("dealer.information", {"type": "dealer.information.request"})
    print("renewed with the same key")

    replayed = session.shop("lead.submit", lead)
    agent.require(replayed["data"].get("replayed") is True, "the repeated lead is a replay")
    conflict = session.call("lead.submit", {**lead, "message": "Another question."})
    agent.require(conflict.status == 409, f"a changed repetition conflicts, not {conflict.status}")
    agent.require(conflict.json()["type"] == "aap.error", "skill errors are a plain aap.error")

    refused(session, company)
    if company.mcp:
        native_mcp(session, company)
    agent.require(session.revoke().status == 200, "revocation answers 200")
    gone = session.call("dealer.information", {"type": "dealer.information.request"})
    agent.require(gone.status == 401, "a revoked token is refused")
    print("revoked")


def refused(session: agent.Session, company: agent.Company) -> None:
    """What the company must refuse."""
    url = f"{company.api_base}/skills/dealer.information"
    body = '{"type":"dealer.information.request"}'
    headers = {"Content-Type": "application/json"}
    proof = session.proof(url, session._nonces["api"], session.token)
    cases = {
        "no credentials": {},
        "a Bearer token": {"Authorization": f"Bearer {session.token}", "DPoP": proof},
        "no proof": {"Authorization": f"DPoP {session.token}"},
    }
    for what, more in cases.items():
        answer = session.web.send("POST", url, {**headers, **more}, body)
        challenge = answer.headers.get("WWW-Authenticate") or ""
        agent.require(answer.status == 401, f"{what} answers 401, not {answer.status}")
        agent.require(challenge.startswith("DPoP"), f"{what} is challenged with DPoP")
    print(f"refused: {', '.join(cases)}")


INFORMATION = {"type": "dealer.information.request"}
TOOL = "aap_dealer_information"


def native_mcp(session: agent.Session, company: agent.Company) -> None:
    """The MCP endpoint by the way its metadata names, and by no other."""
    url = company.mcp.url
    exchanged, granted = session.exchange(url), session.grant(url)
    right, wrong = (granted, exchanged) if company.mcp.dpop else (exchanged, granted)
    agent.require(wrong.status == 400, f"the other way answers 400, not {wrong.status}")
    agent.require(wrong.json()["error"] == "invalid_target", "the other way is invalid_target")
    agent.require(right.status == 200, f"a token for MCP: {right.status} {right.body[:200]!r}")
    body = right.json()
    token, kind = body["access_token"], "DPoP" if company.mcp.dpop else "Bearer"
    agent.require(body["token_type"] == kind, f"token_type {kind}")
    agent.require(body["expires_in"] > 0 and "scope" not in body, "a lifetime and no scope")
    if not company.mcp.dpop:
        agent.require(body["issued_token_type"] == agent.ACCESS_TOKEN, "issued_token_type")
        bare = session.exchange(url, with_proof=False)
        agent.require(bare.json()["error"] == "invalid_dpop_proof", "no proof is no way to Bearer")
    bound = token if company.mcp.dpop else None
    answer = session.mcp(f"{kind} {token}", bound, TOOL, INFORMATION)
    agent.require(answer.status == 200, f"MCP with its token: {answer.status} {answer.body[:200]!r}")
    result = answer.json()["result"]["structuredContent"]
    agent.require(result["type"] == "dealer.information.response", "the typed response over MCP")
    # no token serves anywhere else, or in another way
    for authorization, proof_of in (
        (f"Bearer {session.token}", None),
        (f"DPoP {session.token}", session.token),
        (f"Bearer {token}" if company.mcp.dpop else f"DPoP {token}", token),
    ):
        refusal = session.mcp(authorization, proof_of, TOOL, INFORMATION)
        challenge = refusal.headers.get("WWW-Authenticate") or ""
        agent.require(refusal.status == 401, f"a token of another kind answers 401, not {refusal.status}")
        agent.require(challenge.startswith(kind) and "resource_metadata=" in challenge, "its challenge")
    own, session.token = session.token, token
    astray = session.call("dealer.information", INFORMATION)
    session.token = own
    agent.require(astray.status == 401, "a token for MCP opens no API")
    anonymous = session.mcp(None, None, TOOL, INFORMATION)
    agent.require(anonymous.status == 200, "public MCP needs no token")
    print(f"native MCP: {kind}")


def lead_request() -> dict:
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    return {
        "type": "lead.submit.request",
        "customer": {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email": "ada@example.com",
            "preferred_contact": "email",
        },
        "consent": {
            "granted_at": now.isoformat().replace("+00:00", "Z"),
            "allowed_channels": ["email"],
            "scope": ["lead_submission"],
            "consent_text": "Please send my inquiry and email address to the dealer so they can reply by email.",
        },
        "source_agent": {"name": "example-buyer", "url": "https://buyer.example"},
        "message": "Could you email me about your available hybrid SUVs?",
        "idempotency_key": str(uuid.uuid4()),
    }


if __name__ == "__main__":
    sys.exit(main())
