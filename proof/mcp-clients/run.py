"""Real clients against a server or the gateway: each lists, calls, is asked for approval, and fails, and none of them needs a model.

    run.py TARGET --url URL [--token TOKEN] PLAN.json       the clients that `cargo xtask mcp-clients` installed into TARGET
    run.py TARGET --url URL PLAN.json --only fastmcp        some of them

PLAN.json says what there is to call: `{"calls": {name, arguments, holds}, "fails": {…}, "asks": {…, "approve": [command…]}}`. What
a text has to hold is the same for every client. `asks` needs an approval first: its text says the URL of the page on which a person
decides; the command, with that URL for `{url}` and the end of its path for `{id}`, approves; then the same call holds what it should.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CLIENTS = {
    "fastmcp": "venv",
    "openai_agents": "venv",
    "pydantic_ai": "venv",
    "langchain": "venv-langchain",
    "inspector": "venv",
}
UNKNOWN = {"name": "no_such_tool", "arguments": {}}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", type=pathlib.Path)
    arguments.add_argument("plan", type=pathlib.Path)
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--token")
    arguments.add_argument("--only", nargs="*", default=[])
    given = arguments.parse_args()
    plan = json.loads(given.plan.read_text())
    print("| client | list | call | failure | unknown tool | approval |\n|---|---|---|---|---|---|")
    is_well = True
    for client, environment in CLIENTS.items():
        if given.only and client not in given.only:
            continue
        try:
            found = verdicts(Client(given, client, environment), plan)
        except (subprocess.SubprocessError, ValueError, OSError) as error:
            found = [f"NO: {error}"]
        is_well &= all(verdict in ("yes", "-") for verdict in found)
        print(f"| {client} | " + " | ".join(found) + " |", flush=True)
    sys.exit(0 if is_well else 1)


def verdicts(client, plan):
    """What one client saw, a column each."""
    names, called, failed, unknown = client.play([None, plan["calls"], plan["fails"], UNKNOWN])
    return [
        said(plan["calls"]["name"] in names, names),
        said(plan["calls"]["holds"] in called["text"] and not called["error"], called),
        said(plan["fails"]["holds"] in failed["text"] and failed["error"] is not False, failed),
        said(unknown["error"] is not False, unknown),
        approved(client, plan["asks"]) if "asks" in plan else "-",
    ]


def approved(client, asks):
    """Whether a call waits for its approval, and then happens."""
    [before] = client.play([asks])
    page = re.search(r"https?://[\w.:/-]+/approvals/[\w-]+", before["text"])
    if page is None or before["error"] is False:
        return f"NO: {before}"
    places = {"{url}": page[0], "{id}": page[0].rsplit("/", 1)[-1]}
    command = [places.get(word, word) for word in asks["approve"]]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    [after] = client.play([asks])
    return said(asks["holds"] in after["text"], after)


def said(is_right, seen):
    return "yes" if is_right else f"NO: {seen}"


class Client:
    """One of the clients, which is started for each play."""

    def __init__(self, given, name, environment):
        self.python = given.target / environment / "bin/python"
        self.command = [self.python, "-B", HERE / f"client_{name}.py", given.url]
        inspector = given.target / "node_modules/.bin/mcp-inspector"
        self.environment = {**os.environ, "INSPECTOR": str(inspector), "MCP_TOKEN": given.token or ""}

    def play(self, steps):
        steps = [step and {"name": step["name"], "arguments": step["arguments"]} for step in steps]
        done = subprocess.run(
            [*self.command, json.dumps(steps)], env=self.environment, capture_output=True, text=True, timeout=300
        )
        if done.returncode:
            raise ValueError(done.stderr.strip().splitlines()[-1:])
        return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
