"""The MCP inspector's command line: one start a step."""

import contextlib
import json
import os
import subprocess

import steps


class Inspector:
    def __init__(self, url, headers):
        self.command = [os.environ["NODE"], os.environ["INSPECTOR"], "--cli", url, "--transport", "http"]
        for name, value in headers.items():
            self.command += ["--header", f"{name}: {value}"]

    async def names(self):
        return [tool["name"] for tool in self.run("tools/list")["tools"]]

    async def call(self, name, arguments):
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in arguments.items()]
        result = self.run("tools/call", "--tool-name", name, *(["--tool-arg", *pairs] if pairs else []))
        return "".join(part.get("text", "") for part in result["content"]), bool(result.get("isError"))

    def run(self, method, *words):
        done = subprocess.run([*self.command, "--method", method, *words], capture_output=True, text=True, timeout=steps.PATIENCE)
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            raise RuntimeError(f"{done.stdout}{done.stderr}".strip()) from error


@contextlib.asynccontextmanager
async def connect(url, headers):
    yield Inspector(url, headers)


if __name__ == "__main__":
    steps.play(connect)
