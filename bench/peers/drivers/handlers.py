"""The tools of the comparison, as plain annotated functions, for the Python peers. Each notes what reached it."""

import asyncio
import json
from typing import Annotated, Literal

from pydantic import BaseModel, Field

TIME_OUT_SECONDS = 1


class Mean(BaseModel):
    mean: float


class Receipt(BaseModel):
    id: str


def handlers(ran, strict):
    """The functions; every run of one is appended to `ran`. `strict` asks Pydantic to convert nothing, and for finite numbers."""
    Text = Annotated[str, Field(strict=True)] if strict else str
    Integer = Annotated[int, Field(strict=True)] if strict else int
    Number = Annotated[float, Field(strict=True, allow_inf_nan=False)] if strict else float

    def seen(tool, **arguments):
        ran.append({"tool": tool, "arguments": json.dumps(arguments)})

    async def transfer(to: Text, amount: Integer, memo: Text | None = None) -> str:
        """Sends an amount to a person."""
        seen("transfer", to=to, amount=amount, memo=memo)
        return f"sent {amount}"

    async def refund(
        order: Annotated[str, Field(pattern="^A-[0-9]+$")],
        currency: Literal["EUR", "USD"],
        cents: Annotated[int, Field(ge=1, strict=strict)],
    ) -> str:
        """Pays an order back."""
        seen("refund", order=order, currency=currency, cents=cents)
        return "paid back"

    async def get_ad(id: Integer) -> str:
        """Reads an advertisement."""
        seen("get_ad", id=id)
        return "an advertisement"

    async def convert(value: Number) -> str:
        """Converts a value."""
        seen("convert", value=value)
        return "converted"

    async def set_todos(todos: list[str], note: str) -> str:
        """Writes the list of things to do."""
        seen("set_todos", todos=todos, note=note)
        return "written"

    async def ping() -> str:
        """Answers."""
        seen("ping")
        return "pong"

    async def stats() -> Mean:
        """Computes a mean."""
        seen("stats")
        return {"mean": float("nan")}

    async def shape() -> Receipt:
        """Returns a receipt."""
        seen("shape")
        return {"unexpected": "of another shape"}

    async def leak() -> str:
        """Looks something up."""
        seen("leak")
        raise RuntimeError("no access with sk-live-EXAMPLE at /srv/app/internal.py")

    async def slow() -> str:
        """Takes its time."""
        seen("slow")
        await asyncio.sleep(20)
        return "late"

    async def huge() -> str:
        """Returns much."""
        seen("huge")
        return "x" * 5_000_000

    return [transfer, refund, get_ad, convert, set_todos, ping, stats, shape, leak, slow, huge]
