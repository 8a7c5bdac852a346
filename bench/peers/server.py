"""A model server on the loopback that says what a script says, byte for byte, and keeps what it was asked.

It speaks Chat Completions, whole and streamed, and for a peer whose adapter asks for it streamed Messages; the text of the
arguments is the same in each.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedServer:
    """Answers `POST /KEY/…/chat/completions` and `/messages`: a key's first request with its calls, later ones with "done"."""

    def __init__(self, calls_of):
        """`calls_of(key)` gives a key's calls: dictionaries with `id`, `name` and `arguments`, the raw text."""
        self.calls_of = calls_of
        self.requests = {}
        self.lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def forget(self, key):
        with self.lock:
            self.requests.pop(key, None)

    def answer(self, key, body):
        with self.lock:
            asked = self.requests.setdefault(key, [])
            asked.append(body)
            first = len(asked) == 1
        return self.calls_of(key) if first else None

    def _handler(server):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                key, wire = self.path.split("/")[1], self.path.split("?")[0].split("/")[-1]
                if wire not in ("completions", "messages"):
                    self.send_error(404)
                    return
                if key == "by-task":
                    # A peer that is started with one address for all of its runs says the key in the task.
                    key = re.search(rb"Do it: ([a-z0-9-]+)", body).group(1).decode()
                # A request without tools asks for something beside the run, such as a title.
                calls = server.answer(key, body) if b'"tools"' in body else None
                # Not parsed: some bodies are nested deeper than a parser goes.
                stream = re.search(rb'"stream" ?: ?true', body) is not None
                if wire == "messages":
                    answer = messages(calls)
                else:
                    answer = streamed(calls) if stream else json.dumps(whole(calls))
                answer = answer.encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if stream else "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        return Handler


HEAD = {"id": "chatcmpl-1", "created": 1764460800, "model": "scripted"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def wire(calls):
    functions = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return [{"id": call["id"], "type": "function", "function": function} for call, function in zip(calls, functions)]


def whole(calls):
    message = {"role": "assistant", "content": None if calls else "done"}
    if calls:
        message["tool_calls"] = wire(calls)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def streamed(calls):
    delta = {"role": "assistant", "content": None if calls else "done"}
    if calls:
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(wire(calls))]
    chunks = [({"index": 0, "delta": delta, "finish_reason": None}, None)]
    chunks.append(({"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}, USAGE))
    chunks = [{**HEAD, "object": "chat.completion.chunk", "choices": [choice], "usage": usage} for choice, usage in chunks]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def messages(calls):
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": usage}
    events = [{"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None}}]
    if not calls:
        events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        events.append({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "done"}})
        events.append({"type": "content_block_stop", "index": 0})
    for index, call in enumerate(calls or []):
        block = {"type": "tool_use", "id": call["id"], "name": call["name"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call["arguments"]}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
