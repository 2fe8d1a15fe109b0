"""A private Redis, and what can happen to one."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import product


class Redis:
    """One server in a folder of its own, on a port that it keeps over restarts."""

    def __init__(self, folder, port=None, replica_of=None, watches=None, more=(), tls=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = port or product.free_port()
        self.replica_of = replica_of
        self.watches = watches
        self.more = more
        self.tls = tls
        self.process = None
        self.start()

    def start(self):
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "127.0.0.2", "--save", "", "--dir", str(self.folder)]
        command += ["--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"]
        if self.replica_of:
            command += ["--replicaof", "127.0.0.1", str(self.replica_of)]
        command += self.more
        if self.watches:
            command = self.sentinel()
        elif self.tls:
            command[1:3] = ["--port", "0", "--tls-port", str(self.port)]
            command += [word for name, value in self.tls.for_server() for word in (f"--{name}", value)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        product.RUNNING.append(self.process)
        if not product.until(self.answers, 20):
            raise product.NotReady("redis-server does not come up")

    def sentinel(self):
        """The command of a Sentinel that decides alone."""
        lines = ["port 0", f"tls-port {self.port}"] if self.tls else [f"port {self.port}"]
        lines += [f"{name} {value}" for name, value in (self.tls.for_server() if self.tls else ())]
        lines += [f"dir {self.folder}", f"sentinel monitor watched 127.0.0.1 {self.watches} 1"]
        lines += ["sentinel down-after-milliseconds watched 1000", "sentinel failover-timeout watched 3000"]
        file = self.folder / "sentinel.conf"
        file.write_text("\n".join(lines) + "\n")
        return ["redis-server", str(file), "--sentinel"]

    def answers(self):
        try:
            return self.ask("PING") == "PONG"
        except OSError:
            return False

    def connection(self):
        plain = socket.create_connection(("127.0.0.1", self.port), 5)
        if not self.tls:
            return plain
        context = ssl.create_default_context(cafile=self.tls.certificate)
        return context.wrap_socket(plain, server_hostname="localhost")

    def ask(self, *words):
        """The first line of the answer to a command."""
        with self.connection() as connection:
            parts = [f"*{len(words)}\r\n", *(f"${len(w.encode())}\r\n{w}\r\n" for w in words)]
            connection.sendall("".join(parts).encode())
            answer = connection.makefile("rb")
            line = answer.readline().decode().strip()
            if line.startswith("$") and line != "$-1":
                return answer.read(int(line[1:])).decode()
            return line[1:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def restart(self):
        self.kill()
        self.start()

    def lose_everything(self):
        """The disk is gone, too."""
        self.kill()
        shutil.rmtree(self.folder / "appendonlydir", ignore_errors=True)
        self.start()


class Authority:
    """A certificate authority of a test's own, and the certificate that it gave to `localhost`."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.certificate = self.folder / "ca.crt"
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        self.openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", f"/CN={self.folder.name}")
        self.openssl(
            "req", "-x509", "-CA", "ca.crt", "-CAkey", "ca.key", *key, "-keyout", "server.key", "-out", "server.crt",
            "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
        )

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def for_server(self):
        file = lambda name: str(self.folder / name)
        files = [("tls-cert-file", file("server.crt")), ("tls-key-file", file("server.key")), ("tls-ca-cert-file", file("ca.crt"))]
        return [*files, ("tls-auth-clients", "no"), ("tls-replication", "yes"), ("tls-cluster", "yes")]
