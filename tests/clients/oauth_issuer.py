"""A small authorization server on loopback: metadata, keys, client credentials. Prints its URL.

Whoever knows the client's secret gets the scopes asked for, except those of leads with the `reader` client.
"""

import base64
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SECRET = "only-for-this-test"
ALLOWED = {"buyer": {"inventory", "leads"}, "reader": {"inventory"}}


class Issuer(BaseHTTPRequestHandler):
    def do_GET(self):
        url = self.server.url
        documents = {
            "/.well-known/oauth-authorization-server": {
                "issuer": url,
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/keys",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                "scopes_supported": ["inventory", "leads"],
            },
            "/keys": {"keys": [json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key())) | {"kid": "k1"}]},
        }
        document = documents.get(self.path)
        self.answer(200 if document else 404, document or {"error": "not_found"})

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        credentials = self.headers.get("Authorization", "").removeprefix("Basic ")
        client, _, secret = base64.b64decode(credentials).decode().partition(":")
        if self.path != "/token" or client not in ALLOWED or secret != SECRET:
            return self.answer(401, {"error": "invalid_client"})
        # RFC 8707: the token is for the resource that the client names, and only for it
        if "resource" not in form:
            return self.answer(400, {"error": "invalid_target"})
        wanted = form.get("scope", [""])[0].split()
        scope = " ".join(one for one in wanted if one in ALLOWED[client])
        now = int(time.time())
        claims = {"iss": self.server.url, "sub": client, "aud": form["resource"][0], "scope": scope}
        claims |= {"client_id": client, "iat": now, "exp": now + 300}
        token = jwt.encode(claims, KEY, algorithm="RS256", headers={"kid": "k1", "typ": "at+jwt"})
        said = {"access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": scope}
        return self.answer(200, said)

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing is said; standard output holds the URL only."""


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
    server.url = f"http://127.0.0.1:{server.server_port}"
    print(json.dumps({"url": server.url}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
