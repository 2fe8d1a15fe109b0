"""A personal agent of the AAP PAP 0.3 profile, from the text of its chapters alone.

Discovery and verification, guest grant and renewal, skill calls, revocation, server nonces, and the native
MCP endpoint by normal grant or by token exchange. Nothing here knows the company's implementation; a
deviation from the text is an error of this client."""

import base64
import dataclasses
import hashlib
import http.client
import json
import os
import socket
import ssl
import time
import urllib.parse
import uuid

import identity
import jose

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
AAP_EXTENSION = "autoagentprotocol.org/aap"


class Wrong(Exception):
    """The company broke a rule of the text; the message names it."""


def require(condition, rule: str) -> None:
    if not condition:
        raise Wrong(rule)


@dataclasses.dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        media = (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        require(media == "application/json", f"application/json, not {media!r}")
        return json.loads(self.body)


class Web:
    """Plain HTTP without redirects. `via` sends every connection for an origin elsewhere (tests)."""

    def __init__(self, ca_file=None, loopback_http=False, via=None):
        self._tls = ssl.create_default_context(cafile=ca_file)
        self._loopback_http = loopback_http
        self._via = via or {}
        # everything that must appear in no error, URL or log
        self.secrets = []

    def send(self, method, url, headers=None, body=None) -> Answer:
        parts = urllib.parse.urlsplit(url)
        require(not parts.username and not parts.password, "no credentials in a URL")
        loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
        if parts.scheme == "http":
            require(self._loopback_http and loopback, f"HTTPS, not {url}")
        else:
            require(parts.scheme == "https", f"HTTPS, not {url}")
        origin = f"{parts.scheme}://{parts.netloc}"
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        address = self._via.get(origin, (host, port))
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=20, context=self._tls)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=20)
        # the connection is made to `address`, the certificate and Host stay those of the URL
        connection._create_connection = lambda _, *rest, **named: socket.create_connection(
            address, *rest, **named
        )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        finally:
            connection.close()
        if answer.status >= 400:
            said = answer.body.decode("utf-8", "replace") + str(answer.headers)
            told = [secret for secret in self.secrets if secret in said]
            require(not told, f"an error of {parts.path} repeats no secret")
        return answer


@dataclasses.dataclass
class Company:
    """What discovery established about a company."""

    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    api_base: str
    resource: str | None
    operations: set[str]
    grants: list[str]
    mcp: "Mcp | None" = None


@dataclasses.dataclass
class Mcp:
    """A native MCP entry: its URL, and whether its tokens are bound."""

    url: str
    dpop: bool


def discover(web: Web, origin: str) -> Company:
    """Walkthrough step 1. `origin` is `https://{dealer domain}`."""
    url = f"{origin}/.well-known/poppy.json"
    for _ in range(4):
        answer = web.send("GET", url, {"Accept": "application/json"})
        if answer.status not in (301, 302, 303, 307, 308):
            break
        url = urllib.parse.urljoin(url, answer.headers["Location"])
    require(answer.status == 200, f"poppy.json answers 200, not {answer.status}")
    final = urllib.parse.urlsplit(url)
    require(final.path == "/.well-known/poppy.json" and not final.query, "the final discovery URL")
    document = answer.json()
    require(document["protocol_version"] == "0.3", "protocol_version 0.3")
    domain = document["organization"]["domain"]
    require(domain.lower() in (final.hostname, final.netloc.lower()), "organization.domain is the host")
    auth = document["auth"]
    require(not {"direct", "device", "custom_scopes"} & set(auth), "no removed 0.2 members in auth")
    bridge = document["extensions"][AAP_EXTENSION]
    require(bridge["version"] == "1" and bridge["aap_version"] == "3.0.0", "bridge 1 of AAP 3.0.0")
    require({"agent_card", "mcp", "llms_txt"} <= set(bridge), "bridge links card, MCP and llms.txt")

    entry = next(api for api in document["apis"] if api["type"] == "openapi")
    found = company(web, domain, auth["issuer"], entry["url"], entry.get("resource"))
    native = [api for api in document["apis"] if api["type"] == "mcp"]
    if native:
        require(native[0]["url"] == native[0].get("resource") == bridge["mcp"], "one MCP URL everywhere")
        found.mcp = _native_mcp(web, found, native[0]["url"])
    return found


def _native_mcp(web: Web, found: Company, url: str) -> Mcp:
    parts = urllib.parse.urlsplit(url)
    location = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    answer = web.send("GET", location, {"Accept": "application/json"})
    require(answer.status == 200, f"resource metadata at {location} answers {answer.status}")
    metadata = answer.json()
    require(metadata["resource"] == url, "resource equals the advertised URL")
    require(found.issuer in metadata["authorization_servers"], "authorization_servers has the issuer")
    dpop = "ES256" in metadata.get("dpop_signing_alg_values_supported", [])
    require(dpop or EXCHANGE in found.grants, "without DPoP the issuer offers token exchange")
    return Mcp(url, dpop)


def company(web: Web, domain: str, issuer: str, openapi: str, resource: str | None) -> Company:
    """The rest of discovery, from what poppy.json names."""
    metadata = _metadata(web, issuer, domain)
    base, operations = _openapi(web, openapi)
    return Company(
        issuer=issuer,
        token_endpoint=metadata["token_endpoint"],
        revocation_endpoint=metadata["revocation_endpoint"],
        api_base=base,
        resource=resource,
        operations=operations,
        grants=metadata["grant_types_supported"],
    )


def _metadata(web: Web, issuer: str, domain: str) -> dict:
    parts = urllib.parse.urlsplit(issuer)
    require(not parts.query and not parts.fragment, "issuer without query and fragment")
    location = (
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server"
        f"{parts.path.removesuffix('/')}"
    )
    answer = web.send("GET", location, {"Accept": "application/json"})
    require(answer.status == 200, f"issuer metadata at {location} answers {answer.status}")
    metadata = answer.json()
    require(metadata["issuer"] == issuer, "metadata issuer equals auth.issuer character for character")
    wanted = f"https://{domain}"
    authorised = [entry for entry in metadata["protected_resources"] if entry.lower() == wanted.lower()]
    require(authorised, f"protected_resources authorises {wanted}")
    grants = metadata["grant_types_supported"]
    require(JWT_BEARER in grants and "refresh_token" in grants, "both required grants")
    methods = metadata.get("token_endpoint_auth_methods_supported", ["private_key_jwt"])
    require("private_key_jwt" in methods, "private_key_jwt is supported")
    algorithms = metadata.get("dpop_signing_alg_values_supported", ["ES256"])
    require("ES256" in algorithms, "ES256 proofs are supported")
    return metadata


def _openapi(web: Web, url: str) -> tuple[str, set[str]]:
    answer = web.send("GET", url)
    require(answer.status == 200, f"the OpenAPI document answers {answer.status}")
    try:
        document = json.loads(answer.body)
    except ValueError:
        import yaml

        document = yaml.safe_load(answer.body)
    require(document["openapi"].startswith("3.1"), "OpenAPI 3.1")
    base = urllib.parse.urljoin(url, document["servers"][0]["url"]).removesuffix("/")
    paths = [path for path, item in document["paths"].items() if "post" in item]
    return base, {path.removeprefix("/skills/") for path in paths if path.startswith("/skills/")}


class Session:
    """One signed-out Session at one company: its own DPoP key, never rotated."""

    def __init__(self, web: Web, company: Company, client: identity.Served, user_id: str, agent_id=None):
        self.web, self.company, self.client = web, company, client
        self.user_id, self.agent_id = user_id, agent_id
        self.key = jose.Key()
        self.token = None
        self._keep(user_id)
        # nonces of the two servers are kept apart
        self._nonces = {"issuer": None, "api": None}

    def _keep(self, secret: str) -> str:
        self.web.secrets.append(secret)
        return secret

    def assertion(self, subject: str, **more) -> str:
        now = int(time.time())
        claims = {
            "iss": self.client.client_id,
            "sub": subject,
            "aud": self.company.issuer,
            "iat": now,
            "exp": now + 240,
            "jti": jose.b64(os.urandom(16)),
            **more,
        }
        return self._keep(self.client.key.sign({"typ": "JWT", "kid": identity.KID}, claims))

    def proof(self, url: str, nonce=None, token=None) -> str:
        claims = {"htm": "POST", "htu": url, "iat": int(time.time()), "jti": str(uuid.uuid4())}
        if nonce:
            claims["nonce"] = nonce
        if token:
            digest = hashlib.sha256(token.encode("ascii")).digest()
            claims["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
        return self._keep(self.key.sign({"typ": "dpop+jwt", "jwk": self.key.jwk()}, claims))

    def _credentials(self) -> dict:
        return {
            "client_id": self.client.client_id,
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": self.assertion(self.client.client_id),
        }

    def _form(self, url: str, fields: dict, proof: str | None = None) -> Answer:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if proof:
            headers["DPoP"] = proof
        return self.web.send("POST", url, headers, urllib.parse.urlencode(fields))

    def grant(self, resource) -> Answer:
        """A guest grant for a resource."""
        named = {"agent_id": self.agent_id} if self.agent_id else {}

        def fields():
            wanted = {"resource": resource} if resource else {}
            return {"grant_type": JWT_BEARER, "assertion": self.assertion(self.user_id, **named), **wanted}

        return self._asked(fields)

    def exchange(self, resource: str, with_proof=True) -> Answer:
        """The Session's token for a Bearer token of a resource."""

        def fields():
            return {
                "grant_type": EXCHANGE,
                "subject_token": self.token,
                "subject_token_type": ACCESS_TOKEN,
                "resource": resource,
            }

        return self._asked(fields, with_proof)

    def _asked(self, fields, with_proof=True) -> Answer:
        """One token request, all of it fresh each time; a nonce that is asked for is given once."""
        url = self.company.token_endpoint
        for attempt in range(2):
            proof = self.proof(url, self._nonces["issuer"]) if with_proof else None
            answer = self._form(url, {**fields(), **self._credentials()}, proof)
            self._remember("issuer", answer)
            challenged = answer.status == 400 and answer.json().get("error") == "use_dpop_nonce"
            if not (challenged and attempt == 0):
                break
        require(answer.headers.get("Cache-Control") == "no-store", "Cache-Control: no-store")
        if "access_token" in (body := answer.json()):
            self._keep(body["access_token"])
        return answer

    def obtain(self) -> dict:
        """The guest grant; with a key that has a Session already it is the renewal."""
        answer = self.grant(self.company.resource)
        require(answer.status == 200, f"token endpoint: {answer.status} {answer.body[:200]!r}")
        body = answer.json()
        require(body["token_type"] == "DPoP", "token_type DPoP")
        require(type(body["expires_in"]) is int and body["expires_in"] > 0, "positive expires_in")
        removed = {"scope", "session_id", "signed_in", "refresh_token"} & set(body)
        require(not removed, f"a guest response has no {removed}")
        self.token = body["access_token"]
        return body

    def call(self, skill: str, request: dict) -> Answer:
        """One skill call with a fresh proof, repeated once on a nonce challenge."""
        url = f"{self.company.api_base}/skills/{skill}"
        for attempt in range(2):
            headers = {
                "Authorization": f"DPoP {self.token}",
                "DPoP": self.proof(url, self._nonces["api"], self.token),
                "Content-Type": "application/json",
            }
            answer = self.web.send("POST", url, headers, json.dumps(request))
            self._remember("api", answer)
            challenge = answer.headers.get("WWW-Authenticate") or ""
            if not (answer.status == 401 and "use_dpop_nonce" in challenge and attempt == 0):
                break
        require("Set-Cookie" not in answer.headers, "no cookie is set")
        return answer

    def mcp(self, authorization: str | None, bound: str | None, tool: str, arguments: dict) -> Answer:
        """One tool call at the native MCP endpoint; `bound` is the token that wants a proof."""
        url = self.company.mcp.url
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        for attempt in range(2):
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
            }
            if authorization:
                headers["Authorization"] = authorization
            if bound:
                headers["DPoP"] = self.proof(url, self._nonces["api"], bound)
            answer = self.web.send("POST", url, headers, json.dumps(message))
            self._remember("api", answer)
            challenge = answer.headers.get("WWW-Authenticate") or ""
            if not (answer.status == 401 and "use_dpop_nonce" in challenge and attempt == 0):
                break
        return answer

    def shop(self, skill: str, request: dict) -> dict:
        answer = self.call(skill, request)
        require(answer.status == 200, f"{skill}: {answer.status} {answer.body[:300]!r}")
        body = answer.json()
        require(body["type"] == f"{skill}.response", f"the response type of {skill}")
        return body

    def revoke(self) -> Answer:
        """RFC 7009, client-authenticated, without a proof."""
        url = self.company.revocation_endpoint
        return self._form(url, {"token": self.token, **self._credentials()})

    def _remember(self, server: str, answer: Answer) -> None:
        nonces = answer.headers.get_all("DPoP-Nonce") or []
        require(len(nonces) <= 1, "at most one DPoP-Nonce")
        if nonces:
            self._nonces[server] = nonces[0]
