#!/usr/bin/env python3
"""Holds many idle connections open and looks at what they cost: every kind of doing nothing, and one over the bound.

Usage: idle.py BINARY [CONNECTIONS]
"""

import http.client
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

from machine import DEALER, free, resident

BYTES_EACH = 64 * 1024
HALF_HEAD = b"POST /mcp HTTP/1.1\r\nHost: dealer.exa"
WHOLE = b"GET /llms.txt HTTP/1.1\r\nHost: dealer.example\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
CONFIG = """
[server]
listen = "127.0.0.1:{port}"
admin_listen = "127.0.0.1:{admin}"
max_connections = {most}
header_timeout_s = {patience}
[data]
directory = "{folder}/data"
"""
PATIENCE_S = 60


def descriptors(pid):
    return sum(1 for _ in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def served(port):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.request("GET", "/llms.txt", headers={"Host": "dealer.example", "Connection": "close"})
    return b"Example Motors" in client.getresponse().read()


def connections(admin):
    client = http.client.HTTPConnection("127.0.0.1", admin, timeout=30)
    client.request("GET", "/metrics")
    lines = client.getresponse().read().decode().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("forecourt_connections "))


def until(what, is_so):
    end = time.monotonic() + PATIENCE_S + 60
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        assert hard > count + 300, f"this machine allows {hard} descriptors"
    with tempfile.TemporaryDirectory() as folder:
        port, admin = free(), free()
        config = pathlib.Path(folder, "forecourt.toml")
        text = CONFIG.format(port=port, admin=admin, folder=folder, most=count + 10, patience=PATIENCE_S)
        config.write_text(text)
        # The program itself asks for as many descriptors as it may have.
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))
        log = open(pathlib.Path(folder, "log"), "w")
        program = subprocess.Popen(
            [sys.argv[1], "serve", "--config", DEALER, "--config", str(config)], stderr=log, preexec_fn=few
        )
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        try:
            until("it listens", lambda: socket.socket().connect_ex(("127.0.0.1", admin)) == 0)
            until("it serves", lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0 and served(port))
            before, files = resident(program.pid), descriptors(program.pid)
            began, idle = time.monotonic(), []
            for index in range(count):
                stream = socket.create_connection(("127.0.0.1", port))
                stream.sendall((b"", HALF_HEAD, WHOLE, PREFACE)[index % 4])
                idle.append(stream)
            until("all are taken", lambda: connections(admin) >= count)
            took = time.monotonic() - began
            grown = resident(program.pid) - before
            assert grown < count * BYTES_EACH, f"{grown} bytes for {count} connections"
            assert served(port), "one more is served meanwhile"
            open_now = connections(admin)
            assert open_now >= count, f"{open_now} are open, so they did not idle together"
            # Over the bound, further ones wait until others go.
            extra = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
            waiting = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            waiting.sendall(WHOLE)
            assert connections(admin) <= count + 10
            for stream in extra + idle:
                stream.close()
            assert waiting.recv(12) == b"HTTP/1.1 200"
            waiting.close()
            until("all are gone", lambda: connections(admin) == 0)
            left = descriptors(program.pid) - files
            assert left <= 2, f"{left} descriptors more than before"
            assert served(port)
        finally:
            program.send_signal(signal.SIGTERM)
            assert program.wait(30) == 0
    print(f"idle: {count} connections in {took:.1f} s, {grown // count} bytes each, all descriptors given back")
    print("idle: 6 passed, 0 failed")


if __name__ == "__main__":
    main()
