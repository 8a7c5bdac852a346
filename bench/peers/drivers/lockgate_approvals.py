import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from every_abuse import Peer, drive

CATALOG = """
[[tool]]
name = "transfer"
description = "{description}"
kind = "record"
target = {{ file = "{file}", returns = "sent" }}
effect = "write"
permission = "ask"

[tool.input_schema]
type = "object"
required = ["to", "amount"]
additionalProperties = false
properties.to = {{ type = "string" }}
properties.amount = {{ type = "integer" }}
"""
CHANGED = CATALOG + 'properties.from_account = {{ type = "string" }}\n'
RUN_FILE = """
task = "Do it."

[model]
provider = "openai-compatible"
model = "scripted"
base_url = "{url}"

[tools]
catalog = ["{catalog}"]
"""


class Refused(Exception):
    """What the command said where it did not do what it was asked."""


class Lockgate(Peer):
    """Saved: a folder with the journal, an SQLite file. Driven by the command, each step a process of its own."""

    def __init__(self, best):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.count = 0

    async def ask(self, url, ran):
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        before = CATALOG.format(description="Sends an amount to a person.", file="before.jsonl")
        after = CHANGED.format(description="Sends an amount in thousands from an account.", file="after.jsonl")
        (folder / "before-tools.toml").write_text(before)
        (folder / "after-tools.toml").write_text(after)
        for name in ["before", "after"]:
            (folder / f"{name}.toml").write_text(RUN_FILE.format(url=url, catalog=f"{name}-tools.toml"))
        self.command(folder, "run", "before.toml", waits=True)
        questions = json.loads(self.command(folder, "approvals", "list"))
        return str(folder), [question["approval_id"] for question in questions]

    async def resume(self, url, ran, saved, decisions, changed=False):
        folder = pathlib.Path(saved)
        refused = []
        for approval, approved in decisions.items():
            try:
                self.command(folder, "approvals", "approve" if approved else "deny", approval, "--by", "reviewer")
            except Refused as error:
                refused.append(error)
        run = json.loads(self.command(folder, "runs", "list"))[0]["run_id"]
        ran_before = self.recorded(folder)
        self.command(folder, "runs", "resume", run, "after.toml" if changed else "before.toml", waits=True)
        ran.extend(self.recorded(folder)[len(ran_before) :])
        if refused:
            raise refused[0]
        return saved

    def copy(self, saved):
        self.count += 1
        return shutil.copytree(saved, self.folder / str(self.count))

    def tampered(self, saved):
        changed = 0
        with sqlite3.connect(pathlib.Path(saved) / ".lockgate/journal.db") as connection:
            # The file keeps its events from being rewritten; who can write the file can take that away.
            connection.execute("DROP TRIGGER event_is_never_rewritten")
            for table, column in [("event", "data"), ("approval", "question")]:
                for place, text in connection.execute(f"SELECT place, {column} FROM {table}").fetchall():
                    edited = text.replace('"amount":5', '"amount":9').replace('\\"amount\\":5', '\\"amount\\":9')
                    changed += edited != text
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE place = ?", (edited, place))
        assert changed, "there was nothing to change"
        return saved

    @staticmethod
    def recorded(folder):
        """What the tool wrote down, in both of its forms."""
        ran = []
        for tool, name in [("transfer", "before.jsonl"), ("transfer, changed", "after.jsonl")]:
            if (folder / name).exists():
                lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
                ran += [{"tool": tool, "arguments": json.dumps(line["arguments"])} for line in lines]
        return ran

    @staticmethod
    def command(folder, *arguments, waits=False):
        """Runs the command. `waits`: it may also end with 3, which says that a person is asked."""
        done = subprocess.run(
            [os.environ["LOCKGATE"], *arguments, "--format", "json"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode not in ({0, 3} if waits else {0}):
            raise Refused(" ".join(done.stderr.split()))
        return done.stdout


if __name__ == "__main__":
    drive(Lockgate)
