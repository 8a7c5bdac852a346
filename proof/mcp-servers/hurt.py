"""Hurts servers that others wrote, one after the other, while all of them stand behind one gateway, and looks at what a caller is told.

    hurt.py TARGET LOCKGATE [--only git]

TARGET is where `cargo xtask mcp-servers` installed them. Between the gateway and each server there is `between.py`, so that what happens in the
middle of a call happens there each time. Prints a line for each server, and ends with an error where anything is other than it has to be.
"""

import argparse
import json
import os
import pathlib
import queue
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time

import compare
import connection

PATIENCE = 60  # seconds, for anything that has to come
# A call is settled by the loss of its server long before its own time is up.
TIMEOUT = "10m"
# The shortest pauses after the first two starts that lead to nothing, in seconds: they grow.
PAUSES = [0.5, 1]


class Differs(Exception):
    """Something is other than it has to be."""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", type=pathlib.Path)
    arguments.add_argument("lockgate")
    arguments.add_argument("--only", nargs="*", default=[])
    given = arguments.parse_args()
    servers = json.loads((compare.HERE / "servers.json").read_text())
    folder = given.target.resolve() / "hurt"
    shutil.rmtree(folder, ignore_errors=True)
    differs = False
    with Gateway(given.target.resolve(), folder, servers, pathlib.Path(given.lockgate).resolve()) as gateway:
        print("| server | " + " | ".join(HURTS) + " |\n" + "|---" * (len(HURTS) + 1) + "|", flush=True)
        for name in servers:
            if given.only and name not in given.only:
                continue
            server = Hurt(gateway, name)
            cells = []
            for hurt in HURTS.values():
                try:
                    cells.append(hurt(server))
                except (Differs, connection.Ended, connection.Refused, queue.Empty, TimeoutError, LookupError) as error:
                    cells.append(f"NO: {type(error).__name__}: {error}")
                    differs = True
                    server.heals()
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    sys.exit(1 if differs else 0)


class Gateway:
    """One gateway before all servers, each behind a `between.py`."""

    def __init__(self, target, folder, servers, lockgate):
        self.folder, self.servers, self.lockgate = folder, {}, lockgate
        address = free_address()
        self.url = f"http://{address}/mcp"
        lines = ["[server]", f'bind = "{address}"', "[journal]", f"url = {json.dumps(self.journal())}"]
        lines += ["[auth]", "anonymous = true", 'run_key_file = "run.key"']
        for name, server in servers.items():
            (folder / name).mkdir(parents=True)
            os.mkfifo(folder / name / "told")
            scratch = folder / f"{name}-scratch"
            compare.begin(target, server, scratch)
            self.servers[name] = json.loads(compare.filled(target, [json.dumps(server["hurt"])], scratch)[0])
            between = [sys.executable, "-B", str(compare.HERE / "between.py"), str(folder / name)]
            command = between + compare.filled(target, server["command"], scratch)
            lines += [f"[mcp.{name}]", f"command = {json.dumps(command)}", "relay = []", f'timeout = "{TIMEOUT}"', "restarts = 100"]
            for call, effect in (("reads", "read"), ("shows", "read"), ("changes", "external")):
                if call in server["hurt"]:
                    tool = server["hurt"][call]["name"]
                    lines += [f'[mcp.{name}.tool."{tool}"]', f'effect = "{effect}"', 'permission = "allow"']
        (folder / "gateway.toml").write_text("\n".join(lines) + "\n")

    def journal(self):
        return f"sqlite:{self.folder / 'journal.db'}"

    def __enter__(self):
        # The key of tokens of runs has to be there before anybody is let in by it.
        with open(self.folder / "run.key", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as key:
            key.write(secrets.token_hex(32) + "\n")
        self.serve = subprocess.Popen(
            [self.lockgate, "serve", "gateway.toml"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(self.folder / "gateway.log", "wb"),
        )
        try:
            until("the gateway and its servers", lambda: all(one["state"] == "ready" for one in self.statuses()))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.serve.terminate()
        self.serve.wait()

    def lockgate_says(self, *words):
        return subprocess.run([self.lockgate, *words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE).stdout

    def statuses(self):
        """What `lockgate mcp status` says of each server; of one that does not listen yet, that it is not ready."""
        said = self.lockgate_says("mcp", "status", "--running", "--format", "json", "gateway.toml")
        if self.serve.poll() is not None:
            raise Differs("the gateway has ended: " + (self.folder / "gateway.log").read_text()[-500:])
        return json.loads(said) if said else [{"name": name, "state": "unknown"} for name in self.servers]

    def status(self, name):
        return next(status for status in self.statuses() if status["name"] == name)

    def run_of(self, run):
        """What a credential for one run reaches."""
        token = self.lockgate_says("token", "run", run, "--key", "run.key", "--journal", self.journal()).strip()
        url = self.url.removesuffix("/mcp") + f"/runs/{run}/mcp"
        return connection.Connection(url, {"Authorization": f"Bearer {token}"})


class Hurt:
    """One of the servers, and somebody who calls it through the gateway."""

    def __init__(self, gateway, name):
        self.gateway, self.name, self.calls = gateway, name, gateway.servers[name]
        self.folder = gateway.folder / name
        self.client = connection.Connection(gateway.url)
        self.other = next(other for other in gateway.servers if other != name)
        self.bound = None
        self.starts = 0  # how often it had started when it was killed

    # What is done to it, each with what a caller is to be told.

    def dies_in_a_read(self):
        said = self.dies_in("reads")
        self.bound = said["run_id"]
        expect("the outcome", outcome(said), "environment_error, retryable")
        self.is_back()
        return outcome(said)

    def dies_in_a_change(self):
        said = self.dies_in("changes")
        expect("the outcome", outcome(said), "outcome_unknown, effect unknown")
        self.is_back()
        if "shows" in self.calls:
            shown = json.dumps(self.answer("shows").get("content"))
            expect("that what it did is there", self.calls["shows"]["holds"] in shown, True)
        # Nobody sent it again, though it had been under way.
        return outcome(said)

    def does_not_start(self):
        """It is gone, and its first starts lead to nothing."""
        restarts = self.status()["restarts"]
        before = len(self.tries())
        self.does("down")
        self.dies()
        until("starts", lambda: len(self.tries()) >= before + len(PAUSES))
        status = until("a failure", lambda: self.status_where(lambda status: status["state"] == "failed"))
        expect("a reason", "does not want to start" in status["reason"], True)
        said = until("a refusal", self.refused)
        expect("the outcome", outcome(said), "environment_error, retryable")
        self.others_go_on()
        tools = [tool["name"] for tool in self.client.tools()]
        expect("its tools in the list", self.tool("reads") in tools, True)
        self.does("down", False)
        self.is_back()
        expect("restarts in the status", self.status()["restarts"] >= restarts + len(PAUSES), True)
        begun = self.tries()[before:]
        pauses = [later - earlier for earlier, later in zip(begun, begun[1:])]
        expect(f"growing pauses {pauses}", all(pause >= least for pause, least in zip(pauses, PAUSES)), True)
        return f"{outcome(said)}; back"

    def makes_noise(self):
        before, tools = self.answer("reads"), self.client.tools()
        self.does("noise")
        expect("the answer", same(self.answer("reads")), same(before))
        # From its first line on, too.
        self.dies()
        self.is_back()
        expect("the answer of a noisy start", same(self.answer("reads")), same(before))
        expect("the tools", self.client.tools(), tools)
        self.others_go_on()
        until("the noise in the status", lambda: any("no message" in said for said in self.status().get("warnings", [])))
        self.does("noise", False)
        return "the same answers; in `warnings`"

    def changes_a_tool(self):
        self.does("changed", self.calls["reads"]["name"])
        return self.another_definition(True, lambda: self.tells("changed"))

    def starts_with_another_tool(self):
        """The definition is another one after a start, of which the server says nothing. The first one comes back."""
        self.does("changed", False)
        return self.another_definition(False, self.dies)

    def another_definition(self, is_changed, happens):
        with Listening(self.gateway.url) as listening:
            happens()
            listening.changed()
        shown = next(tool for tool in self.client.tools() if tool["name"] == self.tool("reads"))
        expect("the new definition in the list", "one_more" in shown["inputSchema"]["properties"], is_changed)
        self.is_back()
        if self.bound is None:
            raise Differs("there is no run from before")
        run = self.gateway.run_of(self.bound)
        listed = [tool["name"] for tool in run.tools()]
        expect("what the run sees", listed, [] if is_changed else [self.tool("reads")])
        said = run.call(self.tool("reads"), self.calls["reads"]["arguments"])
        if not is_changed:
            expect("the answer in the run", same(said), same(self.answer("reads")))
            return "told `list_changed`; a run bound to it: ok"
        expect("the outcome in the run", said["structuredContent"]["code"], "definition_changed")
        return "told `list_changed`; a run bound before: definition_changed"

    # Parts of it.

    def dies_in(self, what):
        """Kills the server while a call of it is under way, and gives what its caller is told."""
        calls, held = self.log("call"), len(self.log("held"))
        self.does("hold")
        told = queue.Queue()
        # Its own connection: it waits for the answer.
        threading.Thread(target=lambda: told.put(self.answer(what, connection.Connection(self.gateway.url))), daemon=True).start()
        until("the call", lambda: len(self.log("held")) > held)
        self.others_go_on()
        self.does("hold", False)
        self.dies()
        said = told.get(timeout=PATIENCE)
        self.others_go_on()
        expect("isError", said.get("isError"), True)
        self.is_back(answers=False)
        expect("how often it was sent", len(self.log("call")) - len(calls), 1)
        return said["structuredContent"]

    def dies(self):
        self.starts = len(self.log("started"))
        self.tells("kill")

    def is_back(self, answers=True):
        until("a start", lambda: len(self.log("started")) > self.starts)
        until("a ready server", lambda: self.status_where(lambda status: status["state"] == "ready"))
        if answers:
            expect("isError", bool(self.answer("reads").get("isError")), False)

    def tries(self):
        """When the gateway tried to start it. One that ends at once is started as a server of either era."""
        return [line["at"] for line in self.log("start") if line["first"] == "server/discover"]

    def refused(self):
        said = self.answer("reads")
        return said["structuredContent"] if said.get("isError") else None

    def others_go_on(self):
        call = self.gateway.servers[self.other]["reads"]
        said = self.client.call(f"{self.other}__{call['name']}", call["arguments"])
        expect(f"isError of {self.other}", bool(said.get("isError")), False)

    def heals(self):
        for what in ("down", "hold", "noise", "changed"):
            self.does(what, False)
        until("a ready server", lambda: self.status_where(lambda status: status["state"] == "ready"))

    def tells(self, word):
        # Only who stands between can kill it: the numbers of its processes may be of another world than ours.
        with open(self.folder / "told", "w") as told:
            told.write(word + "\n")

    def does(self, what, word=""):
        place = self.folder / what
        if word is False:
            place.unlink(missing_ok=True)
        else:
            place.write_text(word)

    def answer(self, what, client=None):
        call = self.calls[what]
        return (client or self.client).call(self.tool(what), call["arguments"])

    def tool(self, what):
        return f"{self.name}__{self.calls[what]['name']}"

    def status(self):
        return self.gateway.status(self.name)

    def status_where(self, is_right):
        status = self.status()
        return status if is_right(status) else None

    def log(self, what):
        lines = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        return [line for line in lines if line["what"] == what]


HURTS = {
    "killed in a call that reads": Hurt.dies_in_a_read,
    "killed in a call that changes something": Hurt.dies_in_a_change,
    "killed, and does not start twice": Hurt.does_not_start,
    "noise": Hurt.makes_noise,
    "another definition, as it says": Hurt.changes_a_tool,
    "another definition, after a start": Hurt.starts_with_another_tool,
}


class Listening:
    """Hears what the gateway says by itself."""

    def __init__(self, url):
        self.heard = queue.Queue()
        self.wire = connection.Http(url, {})
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for message in self.wire.listen({"toolsListChanged": True}, PATIENCE):
            self.heard.put(message.get("method", "an end"))

    def __enter__(self):
        expect("what is heard first", self.heard.get(timeout=PATIENCE), "notifications/subscriptions/acknowledged")
        return self

    def __exit__(self, *_):
        pass

    def changed(self):
        expect("what is heard", self.heard.get(timeout=PATIENCE), "notifications/tools/list_changed")


def outcome(said):
    """What a caller is told of a failure, in short."""
    retryable = ", retryable" if said["retryable"] else ""
    # Where nothing happened, nothing is said of an effect.
    effect = f", effect {said['effect_state']}" if "effect_state" in said else ""
    return said["code"] + retryable + effect


def same(result):
    return {field: result.get(field) for field in ("content", "structuredContent", "isError")}


def expect(what, found, expected):
    if found != expected:
        raise Differs(f"{what}: {json.dumps(found)} in place of {json.dumps(expected)}")


def until(what, found):
    """Waits for something, and gives it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if it := found():
            return it
        time.sleep(0.02)
    raise TimeoutError(f"{what} did not come")


def free_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


if __name__ == "__main__":
    main()
