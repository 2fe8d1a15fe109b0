"""Sends what no client library would send, and expects the error that the protocol names."""

import json
import socket
from urllib.parse import urlsplit

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
# Longer than the slowest of the server's own limits on waiting for a peer.
PATIENCE = 40


class Wire:
    """One connection; everything it sends is bytes as they stand."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host = f"{parts.hostname}:{parts.port}"
        self.path = parts.path
        self.socket = socket.create_connection((parts.hostname, parts.port), PATIENCE)

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all was sent; the answer, if any, is still to be read
        return self

    def post(self, body, headers=(), length=None):
        length = len(body) if length is None else length
        lines = [
            f"POST {self.path} HTTP/1.1",
            f"Host: {self.host}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {length}",
            "Connection: close",
            *headers,
        ]
        return self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def answer(self):
        """Status, headers and body. Status 0 when the server just closed."""
        received = b""
        try:
            while data := self.socket.recv(65536):
                received += data
        except ConnectionResetError:
            pass
        except TimeoutError:
            return -1, {}, b"no answer in time"
        finally:
            self.socket.close()
        head, _, body = received.partition(b"\r\n\r\n")
        if not head:
            return 0, {}, b""
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines)}
        return int(status.split()[1]), headers, body


def request(method, params, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META} | params}
    return json.dumps(message).encode()


def call(tool, arguments):
    return request("tools/call", {"name": tool, "arguments": arguments})


def answered(url, body, headers=()):
    return Wire(url).post(body, headers).answer()


def check_protocol_error(checks, what, seen, status, *codes):
    """A JSON-RPC error with one of these numbers, at this HTTP status, with a request id beside it."""
    got, headers, body = seen
    checks.equal(f"{what}: HTTP status", got, status)
    try:
        number = json.loads(body).get("error", {}).get("code")
    except (ValueError, AttributeError):
        number = None
    checks.that(f"{what}: error {codes}", number in codes, body.decode("utf-8", "replace"))
    checks.that(f"{what}: a request id", bool(headers.get("x-request-id")), headers)


# AAP-097
def check_malformed(url, checks):
    good = call("aap_dealer_information", {"type": "dealer.information.request"})
    twice = good.replace(b'"id": 1', b'"id": 1, "id": 2')
    deep = b"[" * 100_000 + b"]" * 100_000
    for what, body in (
        ("malformed JSON", good[:-2]),
        ("no JSON at all", b"hello"),
        ("an empty body", b""),
        ("a member twice", twice),
        ("bytes that are no UTF-8", good.replace(b"2.0", b"2.\xff")),
    ):
        check_protocol_error(checks, what, answered(url, body), 400, -32700)
    check_protocol_error(checks, "endless nesting", answered(url, deep), 400, -32700, -32600)
    check_protocol_error(checks, "a batch", answered(url, b"[" + good + b"]"), 400, -32600)


# AAP-097 AAP-098
def check_unknown_tool(url, checks):
    seen = answered(url, call("aap_inventory_delete", {"type": "inventory.delete.request"}))
    check_protocol_error(checks, "an unknown tool", seen, 200, -32602)


def check_limits(url, checks):
    status, _, body = Wire(url).post(b"{", length=200_000_000).answer()
    checks.that("a body announced too large is refused", status == 413, (status, body[:200]))
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    wire = Wire(url)
    head = f"POST {wire.path} HTTP/1.1\r\nHost: {wire.host}\r\nContent-Type: application/json\r\n"
    wire.send(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()).send(chunk * 64)
    status, _, body = wire.answer()
    checks.that("a chunked body that grows too large is refused", status in (413, 0), (status, body[:200]))
    large = [f"X-Filler-{n}: {'x' * 4000}" for n in range(40)]
    status, _, body = answered(url, request("tools/list", {}), large)
    checks.that("a head that is too large is refused", status == 431, (status, body[:200]))


def check_slowness(url, checks):
    body = call("aap_dealer_information", {"type": "dealer.information.request"})
    slow = Wire(url).post(body[:40], length=len(body))
    head = Wire(url).send(b"POST /mcp HTTP/1.1\r\nHost: ")
    status, _, seen = slow.answer()
    checks.that("a body that stops arriving is given up", status == 408, (status, seen[:200]))
    status, _, seen = head.answer()
    checks.that("a head that stops arriving is given up", status in (408, 0), (status, seen[:200]))


def check_routes(url, checks):
    wire = Wire(url)
    status, headers, _ = wire.send(
        f"GET {wire.path} HTTP/1.1\r\nHost: {wire.host}\r\nConnection: close\r\n\r\n".encode()
    ).answer()
    checks.equal("GET on the MCP endpoint", (status, headers.get("allow")), (405, "POST"))
    wire = Wire(url)
    status, _, _ = wire.send(
        f"GET /nowhere HTTP/1.1\r\nHost: {wire.host}\r\nConnection: close\r\n\r\n".encode()
    ).answer()
    checks.equal("an unknown path", status, 404)
    status, _, _ = answered(url, request("tools/list", {}), ["Origin: https://evil.example"])
    checks.equal("a foreign origin", status, 403)


def check_still_well(url, checks):
    """After all of it: one good call, answered."""
    status, _, body = answered(url, call("aap_dealer_information", {"type": "dealer.information.request"}))
    checks.that("the server is still well", status == 200 and b"dealer.information.response" in body, (status, body[:300]))


def run(url, checks):
    check_malformed(url, checks)
    check_unknown_tool(url, checks)
    check_limits(url, checks)
    check_slowness(url, checks)
    check_routes(url, checks)
    check_still_well(url, checks)
