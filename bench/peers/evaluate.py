"""What a peer did with a case, in a few words, and whether that is what the case calls right.

The words come from what was measured alone: the handler's own note of what it saw, the requests that the server got, and the
exception or status with which the run ended.
"""

import json
import re
from dataclasses import dataclass
from decimal import Decimal

import jsonschema

RIGHT, WRONG, OPEN = "right", "wrong", "open"


@dataclass
class Finding:
    words: str
    verdict: str


class NotExact(Exception):
    """The text is no JSON, or not one that says one thing."""


def exact(text):
    """A JSON text with numbers as decimals; refuses what no two readers have to agree on."""

    def once(pairs):
        if len(pairs) != len(dict(pairs)):
            raise NotExact
        return dict(pairs)

    def refuse(_):
        raise NotExact

    try:
        return json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise NotExact from error


def same(one, other):
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def seen_as_sent(sent_text, seen_text):
    """Whether a handler saw what was sent. Optional fields that were not sent may be there as null."""
    try:
        sent = exact(sent_text) if sent_text.strip() else {}
        seen = exact(seen_text)
    except NotExact:
        return False
    if not isinstance(sent, dict):
        return False
    seen = {key: value for key, value in seen.items() if key in sent or value is not None}
    return same(sent, seen)


def shortened(seen_text):
    text = re.sub(r', "?memo"?: ?null', "", seen_text)
    text = text.replace('": ', '":').replace(', "', ',"')
    return text if len(text) <= 60 else text[:57] + "…"


def told(requests):
    """The results that the model was given, in order: of the last request that the server got."""
    if len(requests) < 2:
        return []
    results = []
    for message in json.loads(requests[-1])["messages"]:
        if message["role"] == "tool":
            results.append((message["tool_call_id"], as_text(message["content"])))
        elif isinstance(message.get("content"), list):
            parts = [part for part in message["content"] if part.get("type") == "tool_result"]
            results += [(part["tool_use_id"], as_text(part["content"])) for part in parts]
    return results


def as_text(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def schemas(request):
    """Each tool's input schema as the model was shown it."""
    tools = [tool.get("function", tool) for tool in json.loads(request).get("tools", [])]
    return {tool["name"]: tool.get("parameters", tool.get("input_schema")) for tool in tools}


def ended(crash):
    """How a run ended that did not go on: the exception's type, or the reason's code."""
    if crash == "still running":
        return "still running after 6 s"
    code = re.search(r'"code": "(\w+)"', crash)
    return f"run ended: {code.group(1) if code else crash.split(':')[0]}"


def evaluate(case, result, requests, mode):
    right = case["right"]
    if isinstance(right, dict) and "output" in right:
        return of_output(case, right["output"], result, requests, mode)
    if right == "own-schema" or right == "own-schema-run":
        right = by_own_schema(case, right, requests)
    calls = case["calls"]
    wants = [right.get(call["id"], "shown") if isinstance(right, dict) else right for call in calls]
    ran, results, crash = list(result["ran"]), told(requests), result["crash"]
    as_sent = [take(ran, call) for call in calls]
    # What ran without being what was sent belongs to the calls that are left.
    altered = ran
    verdict = judged(wants, as_sent, altered, results, crash)
    return Finding(in_words(calls, as_sent, altered, results, crash), verdict)


def take(ran, call):
    for place, each in enumerate(ran):
        if each["tool"] == call["name"] and seen_as_sent(call["arguments"], each["arguments"]):
            del ran[place]
            return True
    return False


def judged(wants, as_sent, altered, results, crash):
    if set(wants) == {"shown"}:
        return OPEN
    if crash or altered or len(results) != len(wants):
        return WRONG
    for want, ran in zip(wants, as_sent):
        if (want == "refuse" and ran) or (want == "run" and not ran):
            return WRONG
    return RIGHT


def in_words(calls, as_sent, altered, results, crash):
    count = sum(as_sent)
    words = []
    if count:
        words.append("ran as sent" if len(calls) == 1 else f"{count} of {len(calls)} ran as sent")
    words += [f"ran with `{shortened(each['arguments'])}`" for each in altered[:2]]
    if crash:
        words.append(ended(crash))
    elif not results:
        words.append("run ended, nobody told")
    elif count + len(altered) < len(calls):
        refused = len(calls) - count - len(altered)
        words.append("refused, model told" if len(calls) == 1 else f"{refused} refused, model told")
    return "; ".join(words)


def by_own_schema(case, right, requests):
    """What is right as far as the schema says that this peer itself showed the model."""
    call = case["calls"][0]
    schema = schemas(requests[0])[call["name"]]
    valid = jsonschema.Draft202012Validator(schema).is_valid(json.loads(call["arguments"]))
    if not valid:
        return "refuse"
    return "run" if right == "own-schema-run" else "shown"


def of_output(case, want, result, requests, mode):
    results, crash = told(requests), result["crash"]
    text = results[0][1] if results else ""
    if want == "time-out":
        if crash:
            return Finding(ended(crash), WRONG if mode == "best" else OPEN)
        return Finding("timed out, model told", RIGHT) if results else Finding("run ended, nobody told", WRONG)
    if crash:
        return Finding(ended(crash), OPEN if want == "hide" else WRONG)
    if not results:
        return Finding("run ended, nobody told", WRONG)
    if want == "name":
        named = re.search(case["marker"], text) is not None
        return Finding("field named" if named else "field not named", RIGHT if named else WRONG)
    if want == "limit":
        return Finding(f"{len(text):,} characters passed on", OPEN)
    if re.search(case["marker"], text, re.IGNORECASE):
        if want == "hide":
            return Finding("the model reads the secret", WRONG)
        return Finding(f"passed on as `{text[:60]}`", WRONG)
    return Finding("not shown, model told" if want == "hide" else "refused, model told", RIGHT)


APPROVALS = {
    # What is done; what is right; and how that is told: the most runs, or what may not be among them. None: no verdict.
    "resumed-twice": ("what was saved at the pause is resumed twice with a yes", "runs once at most", 1),
    "answered-twice": ("the yes comes a second time, to what is saved by then", "runs once at most", 1),
    "copied-and-resumed": ("what is saved is copied; both are resumed with a yes", "no verdict", None),
    "denied-then-approved": ("what was saved at the pause is resumed with a no, then with a yes", "does not run", 0),
    "tampered-arguments": ("5 becomes 9 in all that is saved; yes", "does not run with 9", "not 9"),
    "tampered-answer": ("5 becomes 9 in what the client answers with; yes", "does not run with 9", "not 9"),
    "changed-definition": ("another tool has the name by now; yes", "that one does not run", "not changed"),
    "unknown-id": ("a yes for a question that nobody asked", "does not run", 0),
    "no-decision": ("resumed without an answer", "does not run", 0),
    "one-of-two": ("two questions, a yes for the second only", "the first does not run", "only eve"),
    "one-id-twice": ("two calls with one id, one yes", "one runs at most", 1),
}


def evaluate_approval(name, result):
    want = APPROVALS[name][2]
    ran = [(each["tool"], json.loads(each["arguments"])) for each in result["ran"]]
    amounts = [arguments["amount"] for _, arguments in ran]
    if want is None:
        verdict = OPEN
    elif want == "not 9":
        verdict = WRONG if 9 in amounts else RIGHT
    elif want == "not changed":
        verdict = WRONG if any("changed" in tool for tool, _ in ran) else RIGHT
    elif want == "only eve":
        verdict = RIGHT if amounts in ([6], []) else WRONG
    else:
        verdict = RIGHT if len(ran) <= want else WRONG
    if not ran:
        words = "did not run"
    elif name in ("tampered-arguments", "tampered-answer"):
        words = f"ran with {amounts[0]}"
    elif name == "changed-definition":
        words = "the changed tool ran" if "changed" in ran[0][0] else "the old tool ran"
    elif name in ("one-of-two", "one-id-twice"):
        words = "ran to " + ", ".join(arguments["to"] for _, arguments in ran)
    else:
        words = {1: "ran once", 2: "ran twice"}[len(ran)]
    if result["refused"]:
        words += f"; {result['refused'].split(':')[0]}"
    return Finding(words, verdict)
