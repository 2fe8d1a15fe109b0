"""CRMs that misbehave on order, and count leads by what they themselves parsed of what arrived."""

import email
import email.policy
import json
import socketserver
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree


def buyer(document):
    """The customer's address in an ADF document, read by this program's own parser."""
    root = ElementTree.fromstring(document)
    return root.findtext(".//customer/contact/email")


class Listening:
    """A system on loopback that does as its `mode` says, until it is closed. What hangs waits for `let_go`."""

    def __init__(self, mode):
        self.mode = mode
        self.let_go = threading.Event()

    def listen(self, server):
        self.server = server
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()


def answer(handler, body, status=200, kind="application/json", **headers):
    """Answers one request whole."""
    handler.send_response(status)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in {"content-type": kind, "content-length": str(len(body)), **named}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class Counting(Listening):
    """What arrived: one entry a document that was received whole."""

    def __init__(self):
        super().__init__("take")
        self.lock = threading.Lock()
        self.arrived = Counter()

    def take(self, address):
        with self.lock:
            self.arrived[address] += 1

    def count(self, address):
        with self.lock:
            return self.arrived[address]

    def total(self):
        with self.lock:
            return sum(self.arrived.values())

    def twice(self):
        with self.lock:
            return sorted(address for address, count in self.arrived.items() if count > 1)


class HttpReceiver(Counting):
    """Modes: take, hang (reads the whole body and stays silent), busy (503), wrong (200 with an HTML page), ask (429
    that asks for three seconds). `posts` are the times of all posts."""

    def __init__(self):
        super().__init__()
        receiver = self
        self.posts = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                mode = receiver.mode
                receiver.posts.append(time.monotonic())
                if mode in ("take", "hang", "wrong"):
                    receiver.take(buyer(body))
                if mode == "hang":
                    receiver.let_go.wait(60)
                    return
                match mode:
                    case "busy":
                        answer(self, b"busy", 503, "text/plain")
                    case "ask":
                        answer(self, b"later", 429, "text/plain", retry_after="3")
                    case "wrong":
                        answer(self, b"<html>login</html>", kind="text/html")
                    case _:
                        answer(self, b'{"success":true}')

            def log_message(self, *_):
                pass

        self.listen(ThreadingHTTPServer(("127.0.0.1", 0), Handler))


class SmtpReceiver(Counting):
    """Modes: take, drop (goes away after the text), later (451 to RCPT), never (550 to RCPT), slow (answers the text
    after a second)."""

    def __init__(self):
        super().__init__()
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                try:
                    self.talk()
                except OSError:
                    pass

            def talk(self):
                self.say("220 crm.example")
                while line := self.rfile.readline():
                    verb = line.split(b" ")[0].strip().upper()
                    if verb in (b"EHLO", b"HELO"):
                        self.say("250 crm.example")
                    elif verb == b"RCPT" and receiver.mode == "later":
                        self.say("451 try again")
                    elif verb == b"RCPT" and receiver.mode == "never":
                        self.say("550 no such address")
                    elif verb == b"DATA":
                        self.say("354 go on")
                        text = b""
                        while (part := self.rfile.readline()) != b".\r\n":
                            if not part:
                                return
                            text += part[1:] if part.startswith(b"..") else part
                        receiver.take(buyer_of_mail(text))
                        if receiver.mode == "drop":
                            return
                        if receiver.mode == "slow":
                            receiver.let_go.wait(1)
                        self.say("250 taken")
                    elif verb == b"QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("250 fine")

        self.listen(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler))


def buyer_of_mail(text):
    message = email.message_from_bytes(text, policy=email.policy.default)
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_content()
        content = content.encode() if isinstance(content, str) else content
        if b"<adf" in content:
            return buyer(content.strip())
    return None


class Scheduling(Listening):
    """A system that books, and counts how often it is asked about each inquiry. Modes: book, hang (stays silent),
    unavailable."""

    def __init__(self):
        super().__init__("book")
        self.asked = Counter()
        system = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))
                system.asked[question["customer"]["email"]] += 1
                if system.mode == "hang":
                    system.let_go.wait(60)
                    return
                at = question["appointment"]["appointment_at"]
                said = {"state": "confirmed", "at": at} if system.mode == "book" else {"state": system.mode}
                answer(self, json.dumps(said).encode())

            def log_message(self, *_):
                pass

        self.listen(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
