"""An OpenAI-compatible server on the loopback that says what a test has written down for it, errors included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Says:
    """One answer of the server.

    Attributes:
        text: Content of the message.
        status: HTTP status; anything but 200 sends ``text`` as the error's message.
        headers: Further headers.
        finish: Finish reason.
        usage: Tokens of the question, of the answer, and those of the question that were cached; None leaves them out.
        refusal: Refusal text of the message.
        body: Raw body instead of a chat completion.
        cut: Close the connection in the middle of the body.
        reset: Reset it there instead.
        drip: Seconds before each byte of the body.
        head_drip: Seconds before each byte of the headers.
        wait: Seconds before the answer, or what is called before it and returns when it may be sent.
    """

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: tuple[int, ...] | None = (10, 3)
    refusal: str | None = None
    body: str | None = None
    cut: bool = False
    reset: bool = False
    drip: float = 0.0
    head_drip: float = 0.0
    wait: float | Callable[[], object] = 0.0

    def bytes(self) -> bytes:
        if self.body is not None:
            return self.body.encode()
        if self.status != 200:
            return json.dumps({"error": {"message": self.text, "code": self.status}}).encode()
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        answer: dict[str, Any] = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": self.finish, "message": message}],
        }
        if self.usage is not None:
            prompt, completion, *cached = self.usage
            answer["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                **({"prompt_tokens_details": {"cached_tokens": cached[0]}} if cached else {}),
            }
        return json.dumps(answer).encode()

    def events(self) -> bytes:
        """The answer as server-sent events."""
        full = json.loads(self.bytes())
        usage = full.pop("usage", None)
        choice = full["choices"][0]
        message, finish = choice.pop("message"), choice.pop("finish_reason")
        full["object"] = "chat.completion.chunk"
        chunks = [
            full | {"choices": [choice | {"delta": message, "finish_reason": None}]},
            full | {"choices": [choice | {"delta": {}, "finish_reason": finish}]},
            full | {"choices": [], "usage": usage},
        ]
        return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


Script = Callable[[dict[str, Any]], "Says | str"]


class Server:
    """What the server was asked, and where it is."""

    def __init__(self, script: Script) -> None:
        self.script, self.asked, self.keys = script, [], []  # type: ignore[var-annotated]
        self.lock = threading.Lock()
        self.url = ""
        self.finished = 0  # answers that were sent to their end


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Server = self.server.endpoint  # type: ignore[attr-defined]
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.asked.append(asked)
            server.keys.append(self.headers.get("Authorization", ""))
            says = server.script(asked)
        says = Says(says) if isinstance(says, str) else says
        says.wait() if callable(says.wait) else time.sleep(says.wait)
        streamed = bool(asked.get("stream")) and says.status == 200 and says.body is None
        body = says.events() if streamed else says.bytes()
        self.send_response(says.status)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in says.headers.items():
            self.send_header(name, value)
        head = b"".join(self._headers_buffer)  # type: ignore[attr-defined]
        self._headers_buffer = []
        body = body[: len(body) // 2] if says.cut or says.reset else body
        try:
            for piece in (head[i : i + 1] for i in range(len(head))) if says.head_drip else (head,):
                time.sleep(says.head_drip)
                self.wfile.write(piece)
            self.wfile.write(b"\r\n")
            for piece in (body[i : i + 1] for i in range(len(body))) if says.drip else (body,):
                time.sleep(says.drip)
                self.wfile.write(piece)
            with server.lock:
                server.finished += 1
        except OSError:  # the client has given up
            pass
        self.close_connection = says.cut or says.reset
        if says.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # many ask at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def serving(script: Script | list[Says | str]) -> Iterator[Server]:
    """Serve a function of the request, or a list of answers of which the last is repeated."""
    if isinstance(script, list):
        left = list(script)
        function: Script = lambda asked: left.pop(0) if len(left) > 1 else left[0]  # noqa: E731
    else:
        function = script
    endpoint = Server(function)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.endpoint = endpoint  # type: ignore[attr-defined]
        endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            server.shutdown()
            thread.join()
