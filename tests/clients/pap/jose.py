"""Keys and compact JWTs of a personal agent: ES256 only, written against RFC 7515, 7517, 7638."""

import base64
import hashlib
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


class Key:
    """A P-256 key pair. `pem` reads one; without it a fresh one is made."""

    def __init__(self, pem: bytes | None = None):
        if pem is None:
            self._key = ec.generate_private_key(ec.SECP256R1())
        else:
            self._key = serialization.load_pem_private_key(pem, password=None)

    def pem(self) -> bytes:
        return self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def jwk(self) -> dict:
        point = self._key.public_key().public_numbers()
        return {
            "kty": "EC",
            "crv": "P-256",
            "x": b64(point.x.to_bytes(32, "big")),
            "y": b64(point.y.to_bytes(32, "big")),
        }

    def thumbprint(self) -> str:
        canonical = json.dumps(self.jwk(), sort_keys=True, separators=(",", ":"))
        return b64(hashlib.sha256(canonical.encode("ascii")).digest())

    def sign(self, header: dict, claims: dict) -> str:
        def part(value: dict) -> str:
            return b64(json.dumps(value, separators=(",", ":")).encode("utf-8"))

        message = f"{part({'alg': 'ES256', **header})}.{part(claims)}"
        der = self._key.sign(message.encode("ascii"), ec.ECDSA(hashes.SHA256()))
        r, s = decode_dss_signature(der)
        return f"{message}.{b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
