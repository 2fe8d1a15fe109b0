"""One official client in its own process, driven by JSON lines (driver.mjs, driver.py)."""

import json
import subprocess


class Client:
    def __init__(self, name, command, folder, log):
        self.name = name
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(log, "ab"),
            text=True,
        )
        self.begun = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": {"name": "Ended", "message": "no answer"}}

    def _ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"failed": {"name": "Ended", "message": "the client has ended"}}
        return self._answer()

    def ask(self, request):
        """One request in the driver's own terms."""
        return self._ask(request)

    def list_tools(self):
        return self._ask({"op": "list"})

    def call(self, tool, arguments):
        return self._ask({"op": "call", "name": tool, "arguments": arguments})

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
