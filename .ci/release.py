"""Build wheel and sdist, and use the wheel as a newcomer would: clean environments, an empty folder, no clone.

    python .ci/release.py                              # this Python: games, and what each extra is for
    python .ci/release.py --python python3.12 --only core
    python .ci/release.py --versions lowest newest     # with the lowest dependencies that are declared, and the newest
    python .ci/release.py --here --only stats          # the same commands with the package that is installed

Each extra gets an environment of its own, so that a dependency that is declared nowhere is found. Lines of
``--out``/results.jsonl say what passed with this wheel; what passed is not tried again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
GAMES = "evaluate overcooked --layouts cramped_room --episodes 3 --set max_cycles=20 --no-report".split()
PLAYED = [*GAMES, "--team", "all=random", "--out", "runs/random"]
GREEDY = [*GAMES, "--team", "all=greedy", "--out", "runs/greedy"]
LITTLE = ["environments=16", "rollout=20", "batch_size=128", "epochs=1", "trunk=[8]", "heads=[8]"]
CAPTURE = ["evaluate", "collab-capture", "--episodes", "1", "--no-report", "--workers", "1", "--base-url", "MODEL"]
PAGE = """
import subprocess, sys, urllib.request
command = [sys.executable, "-m", "collab_overcooked", "play", "collab-capture", "--port", "0", "--no-open"]
page = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = next(word for line in page.stderr for word in line.split() if word.startswith("http"))
text = urllib.request.urlopen(address, timeout=120).read().decode()
page.kill()
assert "<html" in text
"""
EXPORTED = """
import collab_overcooked
from stable_baselines3 import PPO
vec = collab_overcooked.make_vec("Overcooked-v0", num_envs=4, kind="sb3", layout="cramped_room", obs="features")
model = PPO("MlpPolicy", vec, n_steps=8, batch_size=64, device="cpu").learn(64)
collab_overcooked.export_policy(model, "runs/mine.npz")
print(collab_overcooked.evaluate("overcooked", team="all=ppo:runs/mine.npz", layouts="cramped_room", episodes=1))
"""
VERSIONS = {  # arguments of pip, or of uv, which knows lowest versions, by the versions of dependencies
    "pinned": ["pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt")],
    "newest": ["pip", "install", "--quiet"],
    "lowest": ["uv", "pip", "install", "--quiet", "--resolution", "lowest-direct"],
}
# What an extra is for, as commands of collab-overcooked or as code
CHECKS: dict[str, list[list[str] | str]] = {
    "core": [
        [str(ROOT / ".ci" / "smoke.py"), "20", "--games"],
        "compare --policies random greedy --games collab-capture --episodes 2 --out runs/c".split(),
        ["score", "runs/c", "--results", "runs/results.jsonl"],
        ["score", "runs/results.jsonl", "--check"],
    ],
    "rl": [["train", "ppo", "CollabCapture-v0", "--steps", "640", "--hyper", *LITTLE, "--out", "runs/ppo"], EXPORTED],
    "llm": [[*CAPTURE, "--team", "agent_0=llm:some-model", "agent_1=greedy", "--out", "runs/model"]],
    "local": ["import openai, xllamacpp"],
    "data": [PLAYED, *(["export", kind, "runs/random", "--out", f"runs/{kind}"] for kind in ("parquet", "minari"))],
    "providers": [[*CAPTURE, "--team", "agent_0=llm:openai/some-model?api=providers", "agent_1=greedy"]],
    "ray": [[*PLAYED, "--workers", "ray"]],
    "stats": [PLAYED, GREEDY, ["significance", "runs/random", "runs/greedy"]],
    "video": [PLAYED, ["render", "runs/random", "--out", "runs/game.mp4"]],
    "play": [PAGE],
}


class Model(BaseHTTPRequestHandler):
    """Endpoint of chat completions whose model always chooses the first action."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": '{"action": 1}'}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "some-model", "usage": usage}
        body = json.dumps(answer | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


def call(python: Path, *arguments: str, folder: Path | None = None) -> None:
    """Run Python, away from the clone; the output is shown if it fails."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    known |= {"OPENAI_API_KEY": "none", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python, *arguments], cwd=folder, env=known, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(arguments)}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")


def build(python: Path, folder: Path) -> Path:
    """Build sdist and wheel, and return the wheel."""
    call(python, "-m", "pip", "install", "--quiet", "--target", str(folder / "backend"), "hatchling>=1.27")
    backend = f"import sys; sys.path.insert(0, {str(folder / 'backend')!r}); import hatchling.build as backend; "
    for older in folder.glob("*.whl"):
        older.unlink()
    for kind in ("sdist", "wheel"):
        call(python, "-c", f"{backend}backend.build_{kind}({str(folder)!r})", folder=ROOT)
    return next(folder.glob("*.whl"))


def check(python: Path, name: str, folder: Path) -> None:
    """Run what an extra is for in an empty folder."""
    with tempfile.TemporaryDirectory(dir=folder) as empty, ThreadingHTTPServer(("127.0.0.1", 0), Model) as model:
        Thread(target=model.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{model.server_port}/v1"
        for task in CHECKS[name]:
            if isinstance(task, str):
                arguments = ["-c", task]
            elif task[0].endswith(".py"):
                arguments = task
            else:
                arguments = ["-m", "collab_overcooked", *(word.replace("MODEL", address) for word in task)]
            call(python, *arguments, folder=Path(empty))
        model.shutdown()


def main() -> None:
    """Try what is named, one environment after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environments")
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=["pinned"], help="of the dependencies")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=[*CHECKS])
    parser.add_argument("--out", type=Path, default=Path("runs/release"))
    parser.add_argument("--here", action="store_true", help="build and install nothing")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.jsonl"
    passed = {tuple(json.loads(line)) for line in results.read_text().splitlines()} if results.exists() else set()
    wheel = None if options.here else build(Path(options.python), out)
    digest = "" if wheel is None else hashlib.sha256(wheel.read_bytes()).hexdigest()
    for name, versions in product(options.only, options.versions):
        if wheel is not None and (options.python, name, digest, versions) in passed:
            continue
        with tempfile.TemporaryDirectory(dir=out) as folder:
            python = Path(options.python)
            if wheel is not None:
                call(python, "-m", "venv", folder)
                python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
                needed = f"{wheel}[{name}]" if name != "core" else str(wheel)
                if versions == "lowest":
                    call(python, "-m", "pip", "install", "--quiet", "uv")
                call(python, "-m", *VERSIONS[versions], needed)
            check(python, name, out)
        if wheel is not None:
            with results.open("a") as file:
                file.write(json.dumps([options.python, name, digest, versions]) + "\n")
        print(f"{options.python}: {name} with {versions} dependencies passed", flush=True)


if __name__ == "__main__":
    main()
