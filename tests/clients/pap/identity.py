"""A personal agent's published identity: a metadata document and a JWKS over HTTPS.

`python identity.py DIRECTORY` makes, once, an authority, a loopback certificate and an identity key.
Give `DIRECTORY/ca.pem` to the company under test as an additional authority; `Served` publishes."""

import argparse
import datetime
import http.server
import ipaddress
import json
import pathlib
import ssl
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import jose

KID = "identity-1"


def make(directory: pathlib.Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    if (directory / "identity.pem").exists():
        return
    now = datetime.datetime.now(datetime.timezone.utc)

    def builder(name: str, issuer: str, public_key):
        def named(text):
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        return (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=30))
        )

    authority = ec.generate_private_key(ec.SECP256R1())
    ca = (
        builder("Agent test authority", "Agent test authority", authority.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority, hashes.SHA256())
    )
    server = ec.generate_private_key(ec.SECP256R1())
    names = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    leaf = (
        builder("Agent on loopback", "Agent test authority", server.public_key())
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(authority, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (directory / "ca.pem").write_bytes(ca.public_bytes(pem))
    (directory / "server.pem").write_bytes(
        leaf.public_bytes(pem)
        + server.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (directory / "identity.pem").write_bytes(jose.Key().pem())


class Served:
    """Publishes the identity in `directory` on a loopback port while the block lasts."""

    def __init__(self, directory: pathlib.Path):
        self.key = jose.Key((directory / "identity.pem").read_bytes())
        # what the company asked for
        self.paths = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._answers())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "server.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        origin = f"https://127.0.0.1:{self._server.server_address[1]}"
        self.client_id = f"{origin}/client.json"
        self.documents = {
            "/client.json": {
                "client_id": self.client_id,
                "client_name": "Independent test agent",
                "jwks_uri": f"{origin}/jwks.json",
                "redirect_uris": [],
                "token_endpoint_auth_method": "private_key_jwt",
            },
            "/jwks.json": {"keys": [{**self.key.jwk(), "kid": KID, "use": "sig", "alg": "ES256"}]},
        }

    def _answers(self):
        outer = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.paths.append(self.path)
                document = outer.documents.get(self.path)
                body = json.dumps(document).encode("utf-8")
                self.send_response(404 if document is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Answers

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    make(parser.parse_args().directory)
