"""Ask models of several providers through LiteLLM, at a server that speaks their protocols; prints what happened."""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.runner.records import read_records

KEY = "sk-local-0123456789"
MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-pro",
    "bedrock": "bedrock/converse/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "ollama_chat": "ollama_chat/llama3",
    "hosted_vllm": "hosted_vllm/qwen",
}
asked: list[tuple[str, dict[str, Any]]] = []
busy = [529]  # statuses of the first answers


def answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in the form of the provider that has such a path."""
    text = '{"answer": "A"}'
    if path.endswith("/messages"):
        usage = {"input_tokens": 10, "output_tokens": 3}
        content = [{"type": "text", "text": text}]
        return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "usage": usage} | {
            "stop_reason": "end_turn",
            "stop_sequence": None,
        }
    if path.endswith(":generateContent"):
        parts = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
        return {"candidates": [parts], "usageMetadata": usage}
    if path.endswith("/converse"):
        usage = {"inputTokens": 10, "outputTokens": 3, "totalTokens": 13}
        message = {"role": "assistant", "content": [{"text": text}]}
        return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
    if path.endswith("/api/chat"):
        done = {"done": True, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 3}
        return {
            "model": "m",
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
        } | done
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked.append((self.path.partition("?")[0], body))
        status = busy.pop() if busy else 200
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
        data = json.dumps(answer(*asked[-1]) if status == 200 else error).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def run(provider: str, url: str, folder: Path) -> dict[str, Any]:
    """Answer six questions and return what was asked and recorded."""
    asked.clear()
    base = url + "/v1" if provider == "hosted_vllm" else url
    spec = f"llm:{MODELS[provider]}?api=providers,base_url={base},key_variable=LOCAL_KEY"
    texts = ["evaluate", "questions", "--games", "CollabCapture-v0", "--parts", "paper", "--kinds", "fact"]
    done = CliRunner().invoke(app, [*texts, "--team", spec, "--workers", "1", "--no-report", "--out", str(folder)])
    records = read_records(folder) if (folder / "records.jsonl").exists() else []
    bodies = [json.dumps(body) for _, body in asked]
    return {
        "exit_code": done.exit_code,
        "output": done.output[-2000:],
        "letters": [record.answer["letter"] for record in records],
        "tokens": [account["prompt_tokens"] for record in records for account in record.accounts.values()],
        "paths": sorted({path for path, _ in asked}),
        "marked": any('"cache_control"' in body or '"cachePoint"' in body for body in bodies),
        "retried": sum(line.count("asking again") for line in done.output.splitlines()),
        "files": "".join(path.read_text() for path in folder.iterdir() if path.is_file()),
    }


def main() -> None:
    os.environ |= {
        "LOCAL_KEY": KEY,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_REGION_NAME": "us-east-1",
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print(json.dumps({provider: run(provider, url, Path(sys.argv[1]) / provider) for provider in MODELS}))


main()
