"""Starts and ends the product as a person would, and waits for what it says instead of sleeping."""

import atexit
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit


RUNNING = []


def end_all():
    """Whatever happens to the tests, no process of theirs stays."""
    for process in RUNNING:
        if process.poll() is None:
            process.kill()
            process.wait()


atexit.register(end_all)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class NotReady(Exception):
    """It ended or stayed silent; the text says which."""


class Product:
    """A running `forecourt`; `ready` is the one JSON line it printed, or its URL where it prints none."""

    def __init__(self, binary, arguments, log, url=None, environment=None):
        self.log = open(log, "ab")
        # A file that may not grow is a failed write to it, not the end.
        self.process = subprocess.Popen(
            [binary, *arguments], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=os.environ | (environment or {}), restore_signals=False
        )
        RUNNING.append(self.process)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.ready = self._first_line(60) if url is None else self._listening(url, 60)

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _first_line(self, seconds):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            self.kill()
            raise NotReady(f"no line on stdout within {seconds} s; see {self.log.name}") from None
        if line is None:
            code = self.process.wait()
            raise NotReady(f"ended with exit code {code} before it was ready; see {self.log.name}")
        return json.loads(line)

    def _listening(self, url, seconds):
        parts = urlsplit(url)

        def connects():
            try:
                socket.create_connection((parts.hostname, parts.port), 1).close()
            except OSError:
                return self.process.poll() is not None
            return True

        if not until(connects, seconds) or self.process.poll() is not None:
            self.kill()
            raise NotReady(f"does not listen on {url}; see {self.log.name}")
        return {"mcp": url}

    def end(self, how=signal.SIGTERM):
        """Ends it politely; gives the exit code and the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(how)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            code = None
        return code, time.monotonic() - began

    def kill(self):
        self.process.kill()
        self.process.wait()

    def rest_of_stdout(self):
        """What it printed after the first line; only when it has ended."""
        rest = []
        while (line := self.lines.get(timeout=10)) is not None:
            rest.append(line)
        return rest


def demo(binary, data, log, *more, environment=None):
    arguments = ["demo", "--listen", "127.0.0.1:0", "--data", str(data), "--output", "json", *more]
    return Product(binary, arguments, log, environment=environment)


def serve(binary, config, like, log, *more):
    """`serve` on a free port; `like` is the MCP URL that the demo had with this configuration."""
    port = free_port()
    url = urlsplit(like)._replace(netloc=f"127.0.0.1:{port}").geturl()
    arguments = ["serve", "--config", config, "--listen", f"127.0.0.1:{port}", *more]
    return Product(binary, arguments, log, url)


def until(condition, seconds):
    """The first true answer of `condition`, or its last one when time is up."""
    ends = time.monotonic() + seconds
    pause = threading.Event()
    while not (answer := condition()) and time.monotonic() < ends:
        pause.wait(0.02)
    return answer


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
