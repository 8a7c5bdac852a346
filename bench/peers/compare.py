"""Runs every case and every abuse through Lockgate and its peers, and writes the tables of docs/comparison.md."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import threading

import document
from evaluate import APPROVALS, evaluate, evaluate_approval, told
from server import ScriptedServer

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
WORK = HERE / ".work"
DRIVERS = HERE / "drivers"
PYTHON = [sys.executable]
NODE = [str(HERE / "node_modules/.bin/node")]
EXAMPLE = [str(ROOT / "target/release/examples/peers")]

# name: the driver of the cases, that of the approvals, that of the speed; whether approvals have options of their own
PEERS = {
    "Lockgate": (EXAMPLE, "lockgate_approvals.py", [*EXAMPLE, "speed"], False),
    "pydantic-ai": ("pydantic_ai_peer.py", "pydantic_ai_approvals.py", "pydantic_ai", False),
    "openai-agents": ("openai_agents_peer.py", "openai_agents_approvals.py", "openai_agents", False),
    "agent-framework": ("agent_framework_peer.py", "agent_framework_approvals.py", "agent_framework", False),
    "langchain": ("langchain_peer.py", "langchain_approvals.py", "langchain", True),
    "Vercel AI SDK": ("vercel_ai_peer.mjs", "vercel_ai_approvals.mjs", "speed.mjs", True),
    "DeepSeek Harness": ("dsh_peer.py", None, None, False),
}
# A case may take its 6 s and its process's start.
PATIENCE_SECONDS = 30
APPROVAL_CALLS = {
    "one": [("call_1", '{"to":"bob","amount":5}')],
    "two": [("call_1", '{"to":"bob","amount":5}'), ("call_2", '{"to":"eve","amount":6}')],
    "equal": [("same", '{"to":"bob","amount":5}'), ("same", '{"to":"eve","amount":6}')],
}


def load_cases():
    cases = {}
    for line in (HERE / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        for call in case["calls"]:
            made = call.pop("arguments_made_of", None)
            if made:
                (opening, times), (closing, closings) = made["repeated"], made["then"]
                call["arguments"] = made["before"] + opening * times + closing * closings + made["after"]
        cases[case["id"]] = case
    return cases


def calls_of(cases, key):
    if key in cases:
        return cases[key]["calls"]
    asked = APPROVAL_CALLS[key.split(".")[-1]]
    return [{"id": call_id, "name": "transfer", "arguments": text} for call_id, text in asked]


def command(driver, best, url, out, names):
    """How a driver is started: by its kind."""
    if isinstance(driver, list):
        return [*driver, "best" if best else "default", url, *names]
    if driver.endswith(".mjs"):
        return [*NODE, str(DRIVERS / driver), "best" if best else "default", url, str(out), *names]
    flags = ["--best"] if best else []
    return [*PYTHON, str(DRIVERS / driver), "--url", url, "--out", str(out), *flags, *names]


def run_driver(driver, best, server, out, names):
    """Takes names through a driver; a process that dies is noted for the name it was at, and started again behind it."""
    out.unlink(missing_ok=True)
    names, results = list(names), {}
    while names:
        done = start(driver, best, server, out, names)
        lines = (out.read_text() if out.exists() else "").splitlines()
        results = {json.loads(line)["case"]: json.loads(line) for line in lines}
        left = [name for name in names if name not in results]
        if left:
            note = {"case": left[0], "ran": [], "answer": None, "crash": f"process ended: {done}"}
            with open(out, "a", encoding="utf-8") as file:
                print(json.dumps(note), file=file)
            results[left[0]] = note
        names = left[1:]
    return results


def start(driver, best, server, out, names):
    environment = {**os.environ, "LOCKGATE": str(ROOT / "target/release/lockgate"), "PYTHONWARNINGS": "ignore"}
    with open(WORK / "drivers.log", "a", encoding="utf-8") as log:
        prints = isinstance(driver, list)
        with open(out, "a", encoding="utf-8") as printed:
            try:
                process = subprocess.run(
                    command(driver, best, f"{server.url}/", out, names),
                    env=environment,
                    stdout=printed if prints else log,
                    stderr=log,
                    timeout=PATIENCE_SECONDS * max(len(names), 4),
                )
                return f"status {process.returncode}"
            except subprocess.TimeoutExpired:
                return "taken too long"


def one_peer(name, cases, server):
    """What a peer did, by mode: findings of the cases, then of the approvals."""
    driver, approvals, _, approval_options = PEERS[name]
    findings, evidence = {}, []
    for mode in ["default", "best"]:
        server.requests.clear()
        results = run_driver(driver, mode == "best", server, WORK / f"{name}.{mode}.jsonl", cases)
        for case_id, result in results.items():
            requests = server.requests.get(case_id, [])
            finding = evaluate(cases[case_id], result, requests, mode)
            findings[mode, case_id] = finding
            evidence.append(proof(name, mode, case_id, finding, result, requests))
        if approvals and (mode == "default" or approval_options):
            out = WORK / f"{name}.{mode}.approvals.jsonl"
            out.unlink(missing_ok=True)
            server.requests.clear()
            start(approvals, mode == "best", server, out, [])
            for line in out.read_text().splitlines():
                result = json.loads(line)
                abuse = result["abuse"]
                finding = findings[mode, abuse] = evaluate_approval(abuse, result)
                requests = [asked for key, asked in server.requests.items() if key.startswith(f"{abuse}.")]
                result = {"ran": result["ran"], "crash": result["refused"]}
                evidence.append(proof(name, mode, abuse, finding, result, sum(requests, [])))
        print(f"{name}, {mode}: {document.count(findings, mode, cases)}", file=sys.stderr)
    return findings, evidence


def proof(name, mode, what, finding, result, requests):
    """What a finding rests on, cut to what can be read."""
    results = [cut(text) for _, text in told(requests)[:2]]
    ran = [{**each, "arguments": cut(each["arguments"])} for each in result["ran"][:2]]
    return {
        "peer": name,
        "options": mode,
        "what": what,
        "found": finding.words,
        "verdict": finding.verdict,
        "runs": len(result["ran"]),
        "ran": ran,
        "model_read": results,
        "ended": cut(result["crash"] or ""),
    }


def cut(text):
    return text if len(text) <= 160 else f"{text[:160]}… ({len(text)} characters)"


def speed(name):
    driver = PEERS[name][2]
    if driver is None:
        return None
    if isinstance(driver, list):
        measured = driver
    elif driver.endswith(".mjs"):
        measured = [*NODE, str(DRIVERS / driver)]
    else:
        measured = [*PYTHON, str(DRIVERS / "speed.py"), driver]
    return json.loads(subprocess.run(measured, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PEERS), action="append", help="run these peers, and write nothing")
    given = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    (WORK / "drivers.log").unlink(missing_ok=True)
    cases = load_cases()
    server = ScriptedServer(lambda key: calls_of(cases, key))
    findings, evidence = {}, []
    for name in given.only or PEERS:
        findings[name], proofs = one_peer(name, cases, server)
        evidence += proofs
    if given.only:
        for line in evidence:
            print(json.dumps(line))
        return
    speeds = {name: speed(name) for name in PEERS}
    with open(HERE / "results.jsonl", "w", encoding="utf-8") as file:
        for line in evidence:
            print(json.dumps(line), file=file)
    document.write(ROOT / "docs/comparison.md", cases, APPROVALS, findings, speeds)


if __name__ == "__main__":
    # What some peers send back is nested as deeply as what they got.
    sys.setrecursionlimit(1_000_000)
    threading.stack_size(1 << 29)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
