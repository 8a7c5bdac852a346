"""Takes each abuse of an approval through one peer: the part that the Python drivers share."""

import argparse
import asyncio
import json
import re

from every_case import RUN_SECONDS, said


class Inexpressible(Exception):
    """The peer's interface has no way to say this."""


class Peer:
    """How one peer asks, and goes on. What is saved between the two is the framework's own form of it."""

    def __init__(self, best):
        """`best`: with the peer's best documented options, where it has any for approvals."""

    async def ask(self, url, ran):
        """Runs until the run waits for a person; gives what is saved, and the ids of the questions in order."""
        raise NotImplementedError

    async def resume(self, url, ran, saved, decisions, changed=False):
        """Goes on with decisions (id to bool); gives what is saved then. `changed`: the tool is by now another of its name."""
        raise NotImplementedError

    def copy(self, saved):
        """What somebody who copied the saved state has."""
        return saved

    def tampered(self, saved):
        """The saved state after somebody wrote 9 for the amount of 5 into it."""
        changed = re.sub(r'(amount[\\"]*: ?)5\b', r"\g<1>9", saved)
        assert changed != saved, "there was nothing to change"
        return changed

    def tampered_answer(self, saved):
        """The saved state with 9 for 5 in what the client sends back, and only there."""
        raise Inexpressible


async def resumed_twice(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))


async def answered_twice(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    saved = await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))


async def copied_and_resumed(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    copy = peer.copy(saved)
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))
    await peer.resume(url + "one/v1", ran, copy, dict.fromkeys(ids, True))


async def denied_then_approved(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, False))
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True))


async def tampered_arguments(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, peer.tampered(saved), dict.fromkeys(ids, True))


async def tampered_answer(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, peer.tampered_answer(saved), dict.fromkeys(ids, True))


async def changed_definition(peer, url, ran):
    saved, ids = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, saved, dict.fromkeys(ids, True), changed=True)


async def unknown_id(peer, url, ran):
    saved, _ = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, saved, {"never-asked": True})


async def no_decision(peer, url, ran):
    saved, _ = await peer.ask(url + "one/v1", ran)
    await peer.resume(url + "one/v1", ran, saved, {})


async def one_of_two(peer, url, ran):
    saved, ids = await peer.ask(url + "two/v1", ran)
    await peer.resume(url + "two/v1", ran, saved, {ids[1]: True})


async def one_id_twice(peer, url, ran):
    saved, ids = await peer.ask(url + "equal/v1", ran)
    await peer.resume(url + "equal/v1", ran, saved, {ids[0]: True})


ABUSES = {
    "resumed-twice": resumed_twice,
    "answered-twice": answered_twice,
    "copied-and-resumed": copied_and_resumed,
    "denied-then-approved": denied_then_approved,
    "tampered-arguments": tampered_arguments,
    "tampered-answer": tampered_answer,
    "changed-definition": changed_definition,
    "unknown-id": unknown_id,
    "no-decision": no_decision,
    "one-of-two": one_of_two,
    "one-id-twice": one_id_twice,
}


def drive(peer):
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--out")
    parser.add_argument("--best", action="store_true")
    given = parser.parse_args()
    asyncio.run(every(peer(given.best), given))


async def every(peer, given):
    with open(given.out, "a", encoding="utf-8") as out:
        for name, abuse in ABUSES.items():
            ran, refused = [], None
            try:
                async with asyncio.timeout(4 * RUN_SECONDS):
                    await abuse(peer, f"{given.url}{name}.", ran)
            except Inexpressible:
                continue
            except Exception as error:
                refused = said(error)
            print(json.dumps({"abuse": name, "ran": ran, "refused": refused}), file=out, flush=True)
