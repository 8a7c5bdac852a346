"""A plain client of MCP on raw JSON, over stdio or Streamable HTTP, in both eras: it drops no field and adds none.

It is for comparing what two connections say. It declares nothing that a server could ask back, and refuses what is asked anyway.
"""

import json
import queue
import subprocess
import threading
import urllib.error
import urllib.request

MODERN, LEGACY = "2026-07-28", "2025-11-25"
CLIENT = {"name": "compare", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 60  # seconds, for an answer
PROBE = 10  # seconds, for what an older server may not answer


class Ended(Exception):
    """The other side is gone."""


class Refused(Exception):
    """The other side answered by an error of the protocol."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.error = error


class Connection:
    """One server, with its era found out. `target` is a command (a list) or a URL (a text)."""

    def __init__(self, target, headers=None):
        self.open = lambda: Http(target, headers or {}) if isinstance(target, str) else Stdio(target)
        self.wire = self.open()
        self.last = 0
        self.era = MODERN
        if not self._is_modern():
            self.wire.close()
            self.wire = self.open()
            self.era = LEGACY
            asked = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
            self.server = self.request("initialize", asked)
            self.wire.version = self.server["protocolVersion"]
            self.wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _is_modern(self):
        try:
            self.server = self.request("server/discover", {}, PROBE)
        except (Ended, Refused, queue.Empty, TimeoutError):
            return False
        return MODERN in self.server.get("supportedVersions", [])

    def request(self, method, params, patience=PATIENCE):
        """The result of one request."""
        self.last += 1
        params = dict(params)
        if self.era == MODERN:
            params["_meta"] = META
        answer = self.wire.ask({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}, patience)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def tools(self):
        """Every tool, from every page, as it came."""
        tools, cursor = [], {}
        for _ in range(100):
            page = self.request("tools/list", cursor)
            tools += page["tools"]
            if page.get("nextCursor") is None:
                return tools
            cursor = {"cursor": page["nextCursor"]}
        raise Ended("more than a hundred pages")

    def call(self, name, arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def close(self):
        self.wire.close()


class Stdio:
    """A server that is started, and ends with its stdin."""

    version = None

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            try:
                self.lines.put(json.loads(line))
            except ValueError:
                continue
        self.lines.put(None)

    def send(self, message):
        try:
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()
        except OSError as error:
            raise Ended(str(error)) from error

    def ask(self, message, patience):
        self.send(message)
        while True:
            answer = self.lines.get(timeout=patience)
            if answer is None:
                raise Ended("stdout ended")
            if "method" in answer and "id" in answer:
                self.send(refusal(answer))
            elif answer.get("id") == message["id"] and "method" not in answer:
                return answer

    def close(self):
        try:
            self.child.stdin.close()
            self.child.wait(timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()


class Http:
    """A server at a URL. Each request is one POST; older servers may give it a session."""

    version = None

    def __init__(self, url, headers):
        self.url, self.session = url, None
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}

    def send(self, message):
        with self._post(message, PATIENCE):
            pass

    def ask(self, message, patience):
        try:
            with self._post(message, patience) as response:
                self.session = response.headers.get("Mcp-Session-Id", self.session)
                for answer in messages(response):
                    if answer.get("id") == message["id"] and "method" not in answer:
                        return answer
        except urllib.error.HTTPError as error:
            try:
                return {"error": json.loads(error.read())["error"]}
            except (ValueError, KeyError, TypeError):
                raise Ended(f"HTTP {error.code}") from error
        except urllib.error.URLError as error:
            raise Ended(str(error)) from error
        raise Ended("the stream ended without an answer")

    def listen(self, notifications, patience):
        """What a server says by itself, for as long as it says anything (2026-07-28)."""
        params = {"notifications": notifications, "_meta": META}
        with self._post({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}, patience) as response:
            yield from messages(response)

    def _post(self, message, patience):
        headers = dict(self.headers)
        meta = message.get("params", {}).get("_meta", {})
        version = meta.get("io.modelcontextprotocol/protocolVersion", self.version)
        if version:
            headers["MCP-Protocol-Version"] = version
        if meta:
            headers["Mcp-Method"] = message["method"]
        if meta and "name" in message["params"]:
            headers["Mcp-Name"] = message["params"]["name"]
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers)
        return urllib.request.urlopen(request, timeout=patience)

    def close(self):
        pass


def messages(response):
    """The messages of a body: one object, or a stream of events."""
    if "text/event-stream" not in response.headers.get("Content-Type", ""):
        yield json.loads(response.read())
        return
    data = []
    for line in response:
        line = line.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text:
                yield json.loads(text)


def refusal(asked):
    error = {"code": -32601, "message": f"`{asked['method']}` is not here"}
    return {"jsonrpc": "2.0", "id": asked["id"], "error": error}
