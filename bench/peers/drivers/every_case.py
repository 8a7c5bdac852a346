"""Takes each case through one peer: the part that the Python drivers share."""

import argparse
import asyncio
import json

RUN_SECONDS = 6


def drive(run_one):
    """`await run_one(base_url, ran, best)` makes one run of the peer and gives its last text."""
    asyncio.run(every(run_one, arguments()))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", help="what a case's id and /v1 are put behind")
    parser.add_argument("--best", action="store_true", help="with the peer's best documented options")
    parser.add_argument("--out", help="the file that results are appended to")
    parser.add_argument("cases", nargs="+")
    return parser.parse_args()


async def every(run_one, given):
    with open(given.out, "a", encoding="utf-8") as out:
        for case in given.cases:
            result = await one(run_one, f"{given.url}{case}/v1", given.best)
            print(json.dumps({"case": case, **result}), file=out, flush=True)


async def one(run_one, base_url, best):
    ran, answer, crash = [], None, None
    try:
        async with asyncio.timeout(RUN_SECONDS) as limit:
            answer = await run_one(base_url, ran, best)
    except TimeoutError as error:
        crash = "still running" if limit.expired() else said(error)
    except Exception as error:
        crash = said(error)
    return {"ran": ran, "answer": answer, "crash": crash}


def said(error):
    text = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
    return text if len(text) < 400 else text[:400] + "…"
