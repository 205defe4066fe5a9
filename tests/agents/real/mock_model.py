"""A scripted model for real coding agents, on loopback alone; started as a process of its own.

It listens on loopback and speaks, streaming and not, the four HTTP APIs that
coding agents use:

    OpenAI chat completions   POST /v1/chat/completions
    OpenAI Responses          POST /v1/responses
    Anthropic Messages        POST /v1/messages, /v1/messages/count_tokens
    Gemini                    POST /v1beta/models/M:generateContent,
                                   :streamGenerateContent, :countTokens

(the leading /v1 or /v1beta is optional, and GET .../models answers too).

What it answers comes from a script (JSON):

    {"workdir": "/abs/path/of/the/project",
     "rounds": [
       {"steps": [{"read": "calc.py"},
                  {"edit": "calc.py", "old": "a - b", "new": "a * b"},
                  {"text": "Fixed it."}]},
       {"steps": [{"error": 429, "times": 1, "retry_after": 1},
                  {"write": "calc.py", "content": "..."},
                  {"shell": "python -m pytest -q"},
                  {"text": "Fixed it now."}]}]}

A round is what one user prompt gets; a step is what one model request gets.
The same script serves every agent: read/edit/write/shell are turned into a
call of whichever tool the request offers for that. An agent that offers no
tools gets text: with "style": "edits" (the default, aider) one answer holds all
edits and texts of the round, since it asks only once a round; with "style":
"mswea" (mini-swe-agent's text mode, with "mode": "linear") a step is a fenced
command. A final text becomes a call where the client ends only on one
(mini-swe-agent's submit command, OpenHands' finish tool). Step kinds:

    {"text": T}                        a final answer, no tool call
    {"read": PATH}                     also "say": T beside any of these four
    {"edit": PATH, "old": O, "new": N} (N must be unique to the step)
    {"write": PATH, "content": C}
    {"shell": COMMAND}
    {"tool": NAME, "args": {...}}      a literal call, whatever is on offer
    {"reply": T}                       literal text, then the round goes on
    {"error": STATUS}                  HTTP error; "kind", "message", "times",
                                       "retry_after", "resets_in" optional
    {"hang": SECONDS}                  accept, send nothing, then close
    {"drop": N}                        send N bytes of a good answer, then close
    {"garbage": T}                     status 200 with this body

Any step may have "delay": SECONDS (before the answer starts) and
"usage": {"input": N, "output": N}.

Which round? A request is a *fresh* one if the conversation holds no model turn
after the last thing the user said. A fresh request goes to the next round as
soon as the current one has served anything but a fault; so a client's own
retries after an error stay in their round, and the next run of the agent gets
the next one. "mode": "linear" turns that off: steps are then served in order,
one a request (for clients that send tool results as user messages).

Side requests (titles, summaries, classifiers, memory) must not use up a step. A
request is one if it offers no tools although an earlier one did, or "tools":
true is in the script, or its text matches a regex in SIDE or in the script's
"side"; it is answered with "side_reply" (default "ok"), or with a minimal JSON
value if it asks for JSON.

Control, for tests: GET /_mock/log (all requests, parsed), GET /_mock/state,
POST /_mock/script (a new script; resets), POST /_mock/reset.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from model_answers import RENDER
from model_failures import error_body, minimal_json
from model_requests import parse
from model_script import Answer, Script, answer_for


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, script: dict[str, Any], log_file: str | None = None, verbose: bool = False) -> None:
        self.script = Script(script)
        self.log_file = log_file
        self.verbose = verbose
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, fmt: str, *args: Any) -> None:
        if self.server.verbose:
            sys.stderr.write(f"mock: {fmt % args}\n")

    # -- plumbing

    def _json(self, data: Any, status: int = 200, headers: dict[str, Any] | None = None) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for k, v in (headers or {}).items():
            self.send_header(k, str(v))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, chunks: Iterator[bytes], drop_after: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent = 0
        for chunk in chunks:
            if drop_after is not None and sent + len(chunk) > drop_after:
                self.close_connection = True
                return  # no last chunk: a broken stream
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
            sent += len(chunk)
        self.wfile.write(b"0\r\n\r\n")

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    # -- requests

    def do_GET(self) -> None:
        path = self.path.split("?")[0].rstrip("/")
        script = self.server.script
        if path == "/_mock/log":
            self._json(script.log)
        elif path == "/_mock/state":
            self._json(script.state())
        elif path.endswith("/models"):
            name = "mock-model"
            self._json(
                {
                    "object": "list",
                    "has_more": False,
                    "data": [
                        {
                            "id": name,
                            "object": "model",
                            "type": "model",
                            "created": 0,
                            "owned_by": "mock",
                            "display_name": name,
                        }
                    ],
                    "models": [{"name": f"models/{name}"}],
                }
            )
        else:
            self._json({"error": {"message": f"mock: no GET {path}"}}, 404)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        raw = self._read_body()
        path = self.path.split("?")[0].rstrip("/")
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._json({"error": {"message": "mock: the body is not JSON"}}, 400)
            return
        if path == "/_mock/script":
            self.server.script = Script(body)
            self._json({"ok": True})
        elif path == "/_mock/reset":
            self.server.script = Script(self.server.script.data)
            self._json({"ok": True})
        elif path.endswith("/count_tokens"):
            self._json({"input_tokens": 100})
        elif path.endswith(":countTokens"):
            self._json({"totalTokens": 100})
        elif path.endswith("/chat/completions"):
            self._model("chat", path, body)
        elif path.endswith("/responses"):
            self._model("responses", path, body)
        elif path.endswith("/messages"):
            self._model("messages", path, body)
        elif path.endswith(("generateContent", "GenerateContent")):
            self._model("gemini", path, body)
        else:
            self._note({"path": path, "side": True, "unknown": True})
            self._json({"error": {"message": f"mock: no POST {path}"}}, 404)

    def _note(self, entry: dict[str, Any], body: dict[str, Any] | None = None) -> None:
        entry["time"] = time.time()
        self.server.script.log.append(entry)
        if self.server.log_file:
            with open(self.server.log_file, "a", encoding="utf-8") as f:
                f.write(json.dumps({**entry, "body": body}) + "\n")

    def _model(self, api: str, path: str, body: dict[str, Any]) -> None:
        req = parse(api, path, body)
        script = self.server.script
        with script.lock:
            side = script.is_side(req)
            before = script.round
            step = {"text": script.data.get("side_reply", "ok")} if side else script.next_step(req)
            if side and req.wants_json:
                step = {"text": json.dumps(minimal_json(req.schema))}
            self._note(
                {
                    "api": api,
                    "path": path,
                    "model": req.model,
                    "stream": req.stream,
                    "side": side,
                    "fresh": req.fresh,
                    "round": script.round,
                    "new_round": script.round != before,
                    "step": step,
                    "tools": [t.name for t in req.tools],
                    "last_user": req.last_user,
                    "user_agent": self.headers.get("User-Agent", ""),
                    "auth": bool(
                        self.headers.get("Authorization")
                        or self.headers.get("x-api-key")
                        or self.headers.get("x-goog-api-key")
                    ),
                },
                body,
            )
        time.sleep(step.get("delay", 0))
        if "error" in step:
            extra = {"retry-after": step["retry_after"]} if "retry_after" in step else {}
            self._json(error_body(api, step), step["error"], extra)
            return
        if "hang" in step:
            time.sleep(step["hang"])
            self.close_connection = True
            return
        if "garbage" in step:
            data = step["garbage"].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        answer = Answer("partial answer " * 50) if "drop" in step else answer_for(step, req, script)
        one, many = RENDER[api]
        if req.stream:
            self._stream(many(req, answer), step.get("drop"))
        elif "drop" in step:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(json.dumps(one(req, answer)).encode()[: step["drop"]])
            self.close_connection = True
        else:
            self._json(one(req, answer))


def start(script: dict[str, Any], port: int = 0, **kwargs: Any) -> Server:
    """For use in-process: a running server; .url says where; .shutdown() stops it."""
    server = Server(port, script, **kwargs)
    threading.Thread(target=server.serve_forever, name="mock-model", daemon=True).start()
    return server


def main() -> int:
    parser = argparse.ArgumentParser(description="A scripted model server on 127.0.0.1.")
    parser.add_argument("script", help="the script, a JSON file")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--port-file", help="write the port here once listening")
    parser.add_argument("--workdir", help="the project's absolute path (overrides the script's)")
    parser.add_argument("--log", help="append each request, with its body, to this file (JSONL)")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    script = json.loads(Path(args.script).read_text(encoding="utf-8"))
    if args.workdir:
        script["workdir"] = args.workdir
    server = Server(args.port, script, args.log, args.verbose)
    if args.port_file:
        Path(args.port_file).write_text(f"{server.server_address[1]}\n", encoding="utf-8")
    print(server.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
