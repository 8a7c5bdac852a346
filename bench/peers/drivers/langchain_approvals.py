import pathlib
import shutil
import sqlite3
import tempfile

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from every_abuse import Inexpressible, Peer, drive
from guarded import transfer

CONFIG = {"configurable": {"thread_id": "thread"}}


class LangChain(Peer):
    """Saved: the file of the SQLite checkpointer. `best`: one interrupt per call, which is answered by its id."""

    def __init__(self, best):
        self.mode = "per_call" if best else "batched"
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.count = 0

    def agent(self, url, ran, changed, saver):
        model = ChatOpenAI(model="scripted", base_url=url, api_key="none")
        middleware = HumanInTheLoopMiddleware(interrupt_on={"transfer": True}, interrupt_mode=self.mode)
        made = tool(transfer(ran, changed))
        return create_agent(model, [made], middleware=[middleware], checkpointer=saver)

    def file(self):
        self.count += 1
        return str(self.folder / f"{self.count}.db")

    async def ask(self, url, ran):
        file = self.file()
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            agent = self.agent(url, ran, False, saver)
            state = await agent.ainvoke({"messages": [("user", "Do it.")]}, CONFIG)
        interrupts = state["__interrupt__"]
        if self.mode == "per_call":
            return file, [interrupt.id for interrupt in interrupts]
        # One interrupt for all calls of a turn; its decisions stand by position.
        return file, list(range(len(interrupts[0].value["action_requests"])))

    async def resume(self, url, ran, saved, decisions, changed=False):
        if self.mode == "batched" and not all(isinstance(key, int) for key in decisions):
            raise Inexpressible
        decided = {key: {"type": "approve" if approved else "reject"} for key, approved in decisions.items()}
        if self.mode == "per_call":
            answer = decided
        else:
            answer = {"decisions": list(decided.values())}
        async with AsyncSqliteSaver.from_conn_string(saved) as saver:
            await self.agent(url, ran, changed, saver).ainvoke(Command(resume=answer), CONFIG)
        return saved

    def copy(self, saved):
        return shutil.copy(saved, self.file())

    def tampered(self, saved):
        """Writes 9 for 5 where a stored value is the amount, in MessagePack and in JSON text."""
        changed = 0
        with sqlite3.connect(saved) as connection:
            for table, column in [("checkpoints", "checkpoint"), ("writes", "value")]:
                for row, value in connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                    edited = value.replace(b"\xa6amount\x05", b"\xa6amount\x09").replace(b'amount":5', b'amount":9')
                    changed += edited != value
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (edited, row))
        assert changed, "there was nothing to change"
        return saved


if __name__ == "__main__":
    drive(LangChain)
