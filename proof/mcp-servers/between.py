"""Stands between the gateway and a server over stdio, passes everything on, and hurts what it is told to hurt.

    between.py FOLDER COMMAND…

FOLDER says what it does, by files that are there or not, looked at for each message:

    down      it ends when it hears something first, in place of starting the server
    hold      an answer to a call is kept back for ever, once the server has given it: the call is under way until somebody ends it
    noise     around each message of the server's there is what is no message, on stdout in parts, and a lot of it on stderr
    changed   the tool that is named in it is shown with another description and one more argument

A line in the pipe FOLDER/told is done at once: `kill` kills the server, and `changed` says in the server's era that its list of tools changed.
What it did and saw is in FOLDER/log, a line of JSON each: `start` (with the method that it heard first), `started` (the server was), `call` (one reached the server), `held`. `at` is
in seconds of a clock that only goes forward.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1])
CHANGED = "notifications/tools/list_changed"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
FLOOD = b"a lot is said here that nobody asked for\n" * 8192
NOISE = [
    b"Server is listening, and says so where it should not\n",
    b'{"half": "a mess',
    b'age"\n',
    b'{"jsonrpc": "2.0", "id": 987654321, "result": {}}\n',
    b"\xff\xfe\x00 is no text\n",
    b'"a text"\n',
    b"[]\n",
    b"\n",
]


def main():
    first = sys.stdin.buffer.readline()
    if not first:
        return
    note("start", first=json.loads(first).get("method"))
    if is_there("down"):
        sys.exit("it does not want to start")
    Between(sys.argv[2:], first).run()


class Between:
    def __init__(self, command, first):
        # Its stderr is a pipe of its own: a server may make the one that it is given non-blocking, for whoever else writes to it too.
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.first = first
        self.asked = {}  # what each request asks for, by its id
        self.is_legacy = False
        self.tells = True  # whether the server tells of changes by itself
        self.listening = []
        self.lock = threading.Lock()

    def run(self):
        note("started")
        for thread in (self.requests, self.telling, self.complaints):
            threading.Thread(target=thread, daemon=True).start()
        try:
            for line in self.server.stdout:
                self.answer(line)
        except OSError:
            # Nobody reads it any more.
            self.server.kill()
        # The server is gone, and so is whoever speaks for it.
        os._exit(0)

    def requests(self):
        for line in itertools.chain([self.first], sys.stdin.buffer):
            message = json.loads(line)
            method = message.get("method")
            if "id" in message and method:
                self.asked[message["id"]] = method
            self.is_legacy |= method == "initialize"
            if method == "tools/call":
                note("call", name=message["params"]["name"])
            if method == "subscriptions/listen":
                self.listening.append(message["id"])
                if not self.tells:
                    meta = {SUBSCRIPTION: message["id"]}
                    params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
                    self.say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
                    continue
            self.server.stdin.write(line)
            self.server.stdin.flush()
        self.server.stdin.close()

    def complaints(self):
        while said := self.server.stderr.read1():
            os.write(sys.stderr.fileno(), said)

    def answer(self, line):
        """Passes on what the server says, as far as it is to be heard."""
        try:
            message = json.loads(line)
        except ValueError:
            return self.write(line)
        method = self.asked.pop(message.get("id"), None) if "method" not in message else None
        if method == "tools/call" and is_there("hold"):
            return note("held")
        result = message.get("result", {})
        if method == "server/discover":
            # A server that tells of no changes gets one who does.
            tools = result.get("capabilities", {}).get("tools")
            self.tells = tools is None or tools.get("listChanged") is True
            if not self.tells:
                tools["listChanged"] = True
                return self.say(message)
        if method == "tools/list" and is_there("changed"):
            name = (FOLDER / "changed").read_text()
            for tool in result.get("tools", []):
                if tool["name"] == name:
                    change(tool)
            return self.say(message)
        return self.write(line)

    def telling(self):
        while True:
            # Each who writes opens it anew.
            with open(FOLDER / "told") as told:
                for word in told:
                    self.server.kill() if word == "kill\n" else self.tell()

    def tell(self):
        message = {"jsonrpc": "2.0", "method": CHANGED}
        if self.is_legacy:
            self.say(message)
        for subscription in self.listening:
            self.say({**message, "params": {"_meta": {SUBSCRIPTION: subscription}}})

    def say(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, line):
        parts = [line]
        if is_there("noise"):
            parts = [*NOISE, line[: len(line) // 2], line[len(line) // 2 :], *NOISE]
            sys.stderr.buffer.write(FLOOD)
            sys.stderr.buffer.flush()
        with self.lock:
            for part in parts:
                sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()


def change(tool):
    """Another definition of the same tool."""
    tool["description"] = tool.get("description", "") + " It is another one now."
    tool["inputSchema"].setdefault("properties", {})["one_more"] = {"type": "string"}


def is_there(name):
    return (FOLDER / name).exists()


def note(what, **more):
    with open(FOLDER / "log", "a") as log:
        log.write(json.dumps({"what": what, "at": time.monotonic(), **more}) + "\n")


if __name__ == "__main__":
    main()
