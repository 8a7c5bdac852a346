"""Writes the tables between the markers of docs/comparison.md."""

import datetime
import json
import pathlib
import platform
import sys
import tomllib
from importlib.metadata import version

from evaluate import OPEN, RIGHT, WRONG

HERE = pathlib.Path(__file__).parent
BEGIN = "<!-- measured: begin; written by bench/peers/run.sh -->"
END = "<!-- measured: end -->"
RULES = {
    "refuse": "refused",
    "run": "runs as sent",
    "exact": "runs as sent, or refused",
    "shown": "no verdict",
    "own-schema": "as its own schema says",
    "own-schema-run": "as its own schema says",
}
OUTPUT_RULES = {
    "refuse": "refused",
    "hide": "not shown",
    "name": "field named",
    "limit": "no verdict",
    "time-out": "timed out, with an option",
}
PYTHON_PACKAGES = {
    "pydantic-ai": ["pydantic-ai-slim", "pydantic"],
    "openai-agents": ["openai-agents"],
    "agent-framework": ["agent-framework-core", "agent-framework-openai"],
    "langchain": ["langchain", "langchain-core", "langchain-openai", "langgraph"],
    "DeepSeek Harness": ["deepseek-harness-sdk", "deepseek-harness-runtime-bin"],
}


def versions(peer):
    if peer == "Lockgate":
        with open(HERE.parent.parent / "Cargo.toml", "rb") as file:
            return "this checkout, " + tomllib.load(file)["workspace"]["package"]["version"]
    if peer == "Vercel AI SDK":
        packages = json.loads((HERE / "package-lock.json").read_text())["packages"]
        names = ["ai", "@ai-sdk/openai-compatible", "zod", "node"]
        return ", ".join(f"{name} {packages['node_modules/' + name]['version']}" for name in names)
    return ", ".join(f"{name} {version(name)}" for name in PYTHON_PACKAGES[peer])


def count(findings, mode, cases):
    verdicts = [finding.verdict for (of, case), finding in findings.items() if of == mode and case in cases]
    return {verdict: verdicts.count(verdict) for verdict in [RIGHT, WRONG, OPEN]}


def cell(finding):
    """Wrong in bold, without a verdict in italics."""
    if finding is None:
        return "—"
    words = finding.words.replace("|", "\\|")
    mark = {RIGHT: "", WRONG: "**", OPEN: "*"}[finding.verdict]
    return f"{mark}{words}{mark}"


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def rule(case):
    right = case["right"]
    if isinstance(right, dict) and "output" in right:
        return OUTPUT_RULES[right["output"]]
    return ", ".join(map(RULES.get, right.values())) if isinstance(right, dict) else RULES[right]


def summary(findings, cases, approvals):
    rows = []
    for peer, found in findings.items():
        row = [peer, versions(peer)]
        for mode in ["default", "best"]:
            counts = count(found, mode, cases)
            row.append(f"{counts[RIGHT]} / {counts[WRONG]} / {counts[OPEN]}")
        asked = count(found, "default", approvals)
        best = count(found, "best", approvals)
        row.append(f"{asked[RIGHT]} / {asked[WRONG]} / {asked[OPEN]}" if sum(asked.values()) else "—")
        row.append(f"{best[RIGHT]} / {best[WRONG]} / {best[OPEN]}" if sum(best.values()) else "—")
        rows.append(row)
    head = ["", "versions", "cases, defaults", "cases, best options", "approvals, defaults", "approvals, best options"]
    return table(head, rows)


def by_case(findings, cases):
    parts = []
    for group in dict.fromkeys(case["group"] for case in cases.values()):
        rows = []
        for case_id, case in cases.items():
            if case["group"] == group:
                cells = [cell(found.get(("default", case_id))) for found in findings.values()]
                rows.append([f"`{case_id}`", rule(case), *cells])
        parts.append(f"### {group.capitalize()}\n\n" + table(["case", "right", *findings], rows))
    return "\n\n".join(parts)


def with_options(findings, cases):
    rows = []
    for peer, found in findings.items():
        for case_id in cases:
            before, after = found.get(("default", case_id)), found.get(("best", case_id))
            if before and after and before.verdict != after.verdict:
                rows.append([peer, f"`{case_id}`", cell(before), cell(after)])
    return table(["", "case", "defaults", "best options"], rows)


def of_approvals(findings, approvals):
    columns = {}
    for peer, found in findings.items():
        for mode, title in [("default", peer), ("best", f"{peer}, best options")]:
            if any((mode, name) in found for name in approvals):
                columns[title] = (found, mode)
    rows = []
    for name, (what, right, _) in approvals.items():
        cells = [cell(found.get((mode, name))) for found, mode in columns.values()]
        rows.append([f"`{name}`: {what}", right, *cells])
    return table(["", "right", *columns], rows)


def of_speed(speeds):
    rows = [
        [peer, f"{speed['median']:.1f} µs", f"{speed['p95']:.1f} µs"] for peer, speed in speeds.items() if speed is not None
    ]
    return table(["", "median", "95th percentile"], rows)


def write(path, cases, approvals, findings, speeds):
    today = datetime.datetime.now(datetime.UTC).date()
    where = f"Python {platform.python_version()}, {platform.system()} on {platform.machine()}"
    measured = f"Measured on {today} with {len(cases)} cases and {len(approvals)} abuses of approvals; {where}."
    legend = "Counts are right / wrong / no verdict."
    parts = [
        f"{measured} {legend}",
        summary(findings, cases, approvals),
        "## Cases, with defaults\n\nPlain: right. **Bold: wrong.** *Italics: no verdict.*",
        by_case(findings, cases),
        "## What the best options change\n\nOnly cases whose verdict changes.",
        with_options(findings, cases),
        "## Approvals",
        of_approvals(findings, approvals),
        "## Time of one call\n\nA tool with three fields, in the process, from the arguments' text to the result.",
        of_speed(speeds),
    ]
    text = path.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(before + BEGIN + "\n\n" + "\n\n".join(parts) + "\n\n" + END + after)
    print(f"wrote {path}", file=sys.stderr)
