"""MCP Inspector's command line as a client: one process a request. Must not know what is asked."""

import json
import os
import subprocess


class Inspector:
    """Looks like `client.Client`."""

    # it looks into the list and asks nothing
    unknown_tool = "tool_not_found"

    def __init__(self, name, command, era, url, home):
        self.name = name
        self.command = [*command, "--cli", "--server-url", url, "--transport", "http", "--protocol-era", era]
        self.command += ["--format", "json", "--stored-auth-only"]
        # it keeps a catalogue in the home folder
        self.environment = os.environ | {"HOME": str(home)}
        self.begun = {"ready": {"era": era}}

    def _run(self, *options):
        return subprocess.run(
            [*self.command, *options], capture_output=True, text=True, timeout=60, env=self.environment
        )

    def list_tools(self):
        """With --strict: a schema that some client could not use is a failure."""
        done = self._run("--method", "tools/list", "--strict")
        if done.returncode != 0:
            return {"failed": {"code": done.returncode, "message": done.stderr[-2000:]}}
        return {"tools": json.loads(done.stdout)["result"]["tools"]}

    def call(self, tool, arguments):
        done = self._run("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        # 5 is its exit code for a result with isError, too
        if done.returncode in (0, 5) and done.stdout.strip():
            return {"result": json.loads(done.stdout)["result"]}
        last = done.stderr.strip().splitlines()[-1:]
        said = json.loads(last[0]) if last and last[0].startswith("{") else {}
        return {"failed": {"code": said.get("error", {}).get("code"), "message": done.stderr[-2000:]}}

    def close(self):
        """Nothing is open between two requests."""
