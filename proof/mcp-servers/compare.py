"""Compares what servers that others wrote say directly and through a gateway: every field of every tool, and the content of real calls.

    compare.py TARGET                      directly, twice: which era each speaks, and that the calls can be compared at all
    compare.py TARGET --through LOCKGATE   directly, and through the gateway of that program
    compare.py TARGET --only git           some of the servers

TARGET is where `cargo xtask mcp-servers` installed them; the raw lists are left there (`lists/`). Ends with an error where anything
differs.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import connection

HERE = pathlib.Path(__file__).parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", type=pathlib.Path)
    arguments.add_argument("--through", metavar="LOCKGATE")
    arguments.add_argument("--only", nargs="*", default=[])
    given = arguments.parse_args()
    target = given.target.resolve()
    servers = json.loads((HERE / "servers.json").read_text())
    print("| server | era | tools | calls | the same |\n|---|---|---|---|---|")
    differs = False
    for name, server in servers.items():
        if given.only and name not in given.only:
            continue
        direct = look(target, name, server, command(target, server))
        through = command(target, server) if given.through is None else gateway(target, name, server, given.through)
        prefix = "" if given.through is None else f"{name}__"
        found = differences(direct, look(target, name, server, through, prefix), prefix)
        differs |= bool(found)
        verdict = "yes" if not found else "NO: " + "; ".join(found)
        print(f"| {name} | {direct['era']} | {len(direct['tools'])} | {len(direct['calls'])} | {verdict} |", flush=True)
    sys.exit(1 if differs else 0)


def look(target, name, server, reached, prefix=""):
    """What a server says, from the same beginning each time."""
    begin(target, server)
    reached = connection.Connection(reached)
    try:
        tools = reached.tools()
        calls = []
        for call in server["calls"]:
            arguments = json.loads(filled(target, [json.dumps(call["arguments"])])[0])
            result = reached.call(prefix + call["name"], arguments)
            calls.append((call, result))
    finally:
        reached.close()
    lists = target / "lists"
    lists.mkdir(exist_ok=True)
    (lists / f"{name}{'-through' if prefix else ''}.json").write_text(json.dumps(tools, indent=1))
    return {"era": reached.era, "tools": tools, "calls": calls}


def begin(target, server, scratch=None):
    """Makes the beginning: a folder in which a server finds what it needs."""
    scratch = scratch or target / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for step in server.get("before", []):
        subprocess.run(filled(target, step, scratch), check=True, cwd=scratch, stdout=subprocess.DEVNULL, env=fixed())


def differences(direct, through, prefix):
    """What the two do not say alike, and what neither says as it should."""
    found = []
    theirs = {prefix + tool["name"]: tool for tool in direct["tools"]}
    ours = {tool["name"]: tool for tool in through["tools"]}
    # The order of a list is its server's own.
    found += [f"{name} is missing" for name in theirs.keys() - ours.keys()]
    found += [f"{name} is too many" for name in ours.keys() - theirs.keys()]
    if len(ours) != len(through["tools"]):
        found.append("a name stands there twice")
    for name in theirs.keys() & ours.keys():
        one, other = theirs[name], ours[name]
        for field in sorted((one.keys() | other.keys()) - {"name"}):
            if one.get(field) != other.get(field):
                found.append(f"{one['name']}.{field}")
    for (call, one), (_, other) in zip(direct["calls"], through["calls"]):
        said = json.dumps(one.get("content"), ensure_ascii=False)
        if one.get("isError") or call["holds"] not in said:
            found.append(f"{call['name']} does not say `{call['holds']}`: {said[:200]}")
        for field in ("content", "structuredContent", "isError"):
            if one.get(field) != other.get(field):
                found.append(f"the {field} of {call['name']}")
    return found


def command(target, server):
    """How a server is started."""
    return filled(target, server["command"])


def gateway(target, name, server, lockgate):
    """How the gateway is started before a server."""
    config = target / f"{name}.toml"
    # It asks nothing back, as the direct client: a server may offer more to one that can be asked.
    lines = ["[journal]", 'url = "memory:"', f"[mcp.{name}]", f"command = {json.dumps(command(target, server))}", "relay = []"]
    lines += ['permission = "allow"', 'effect = "external"']
    for tool in sorted({call["name"] for call in server["calls"]}):
        # A tool that its server calls destructive asks for approval, unless the operator says otherwise of itself.
        lines += [f'[mcp.{name}.tool."{tool}"]', 'permission = "allow"']
    config.write_text("\n".join(lines) + "\n")
    return [lockgate, "serve", "--stdio", str(config)]


def filled(target, words, scratch=None):
    """Words with the places that they stand for."""
    scratch = scratch or target / "scratch"
    places = {"{target}": str(target), "{scratch}": str(scratch), "{node}": os.environ.get("NODE", "node")}
    for place, path in places.items():
        words = [word.replace(place, path) for word in words]
    return words


def fixed():
    """An environment in which git makes the same commit each time."""
    who = {"NAME": "Ann", "EMAIL": "ann@example.com", "DATE": "2026-01-02T03:04:05Z"}
    named = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in who.items()}
    return {**os.environ, **named, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


if __name__ == "__main__":
    main()
