"""The files for Docker: the same start command, health check and proxy, as far as they run without Docker."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collab_overcooked.study.bots import Bot
from collab_overcooked.study.journal import JOURNAL

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SITE, PATIENCE = "study.example.org", 120.0
STUDY = ROOT / "docs" / "examples" / "studies" / "within.yaml"


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def health_check() -> list[str]:
    """Return the command of the Dockerfile's health check."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return list(json.loads(re.search(r"^HEALTHCHECK .*? CMD (\[.*\])$", text, re.MULTILINE)[1]))


def outside(word: str, mounted: dict[str, Path]) -> str:
    """Return a word of the container's command as it reads on this machine."""
    for inside, folder in mounted.items():
        if word.startswith(inside):
            return str(folder / word.removeprefix(inside))
    return {"8000": "0", "${SITE}": SITE}.get(word, word)


@contextlib.contextmanager
def started(compose: Any, folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Run the study's command of the compose file on a free port; yields the port and the process."""
    study = folder / "mounted"  # as compose mounts it: a folder with study.yaml and the files that the study names
    if not study.exists():
        study.mkdir()
        shutil.copy(STUDY, study / "study.yaml")
    texts = [outside(word, {"/data/": folder, "/study/": study}) for word in compose["services"]["study"]["command"]]
    code = "from collab_overcooked.cli import app; app()"
    entry = subprocess.Popen(
        [sys.executable, "-c", code, *texts], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        port = next(result for line in entry.stdout if (result := re.search(rf"{SITE}:(\d+)/study\?", line)))
        yield int(port[1]), entry
    finally:
        entry.send_signal(signal.SIGTERM)
        entry.communicate(timeout=PATIENCE)


@contextlib.contextmanager
def proxied(target: int, folder: Path) -> Iterator[int]:
    """Run Caddy with our Caddyfile before a port of this machine; yields its own port."""
    config = folder / "Caddyfile"
    config.write_text((DEPLOY / "Caddyfile").read_text("utf-8").replace("127.0.0.1:8000", f"127.0.0.1:{target}"))
    for _ in range(5):  # somebody else may take the port meanwhile
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        env = {**os.environ, "SITE": f":{port}", "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        text = "{\n\tadmin off\n\tauto_https off\n}\n" + config.read_text("utf-8")
        config.with_name("Test").write_text(text)
        texts = ["caddy", "run", "--adapter", "caddyfile", "--config", str(config.with_name("Test"))]
        result = subprocess.Popen(texts, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if answers(port, result):
                yield port
                return
        finally:
            result.terminate()
            result.wait(PATIENCE)
    pytest.fail("Caddy does not start")


def answers(port: int, process: subprocess.Popen[Any]) -> bool:
    """Wait until a process takes connections at a port; returns False if it ends before."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        time.sleep(0.05)
    return False


def status(port: int, path: str, name: str) -> int:
    created = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(created):
        created.request("GET", path, headers={"Host": name})
        return created.getresponse().status


def test_files_fit_together(compose: Any) -> None:
    """One port in all files; nothing but the proxy is reached from outside; results and kernels are in the volume."""
    study, caddy = compose["services"]["study"], compose["services"]["caddy"]
    message = study["command"]
    port = message[message.index("--port") + 1]
    assert f"reverse_proxy 127.0.0.1:{port}" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"http://127.0.0.1:{port}/health" in " ".join(health_check())
    assert study["network_mode"] == "service:caddy" and "ports" not in study and "--yes" not in message
    assert any("443" in entry for entry in caddy["ports"])
    mounted = {
        volume.rpartition(":")[2] if volume.endswith("/data") else volume.split(":")[-2] for volume in study["volumes"]
    }
    assert {"/data", "/study"} <= mounted and "data" in compose["volumes"]
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert re.search(r"^VOLUME /data$", text, re.MULTILINE) and "NUMBA_CACHE_DIR=/data" in text
    assert message[message.index("--out") + 1].startswith("/data/") and re.search(r"^USER study$", text, re.MULTILINE)
    built = study["build"]
    assert (DEPLOY / built["context"] / built["dockerfile"]).resolve() == DEPLOY / "Dockerfile"


def test_the_image_is_built_from_named_files_only(compose: Any) -> None:
    """The build context begins empty, so that no study, key or result beside the package gets into a layer."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    taken = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    assert patterns[0] == "*" and taken == {"collab_overcooked", "pyproject.toml", "README.md", "LICENSE"}
    assert "**/*.env" in patterns[len(taken) :]
    (keys,) = compose["services"]["study"]["env_file"]
    assert keys["path"].startswith("${STUDY}/"), "keys lie beside the study, outside the checkout"


@pytest.mark.skipif(sys.platform == "win32", reason="containers are stopped by a signal that Windows lacks")
def test_the_command_of_the_container_starts_and_goes_on(compose: Any, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra play")
    hosts = set[str]()
    for visit in range(2):
        with started(compose, tmp_path) as (port, entry):
            hosts.add(next(line for line in entry.stdout or () if line.startswith("host:")).rpartition("/")[2].strip())
            assert "people of one network at once" in next(iter(entry.stdout or ()))
            check = [word.replace(":8000", f":{port}") for word in health_check()]
            assert subprocess.run([sys.executable, *check[1:]], timeout=PATIENCE).returncode == 0
            assert status(port, "/study?PROLIFIC_PID=a", SITE) == 200
            assert status(port, "/study?PROLIFIC_PID=a", "elsewhere.example") == 403
            if visit == 0:
                created = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                created.request("POST", "/study/consent", "PROLIFIC_PID=a&agree=yes", {"Host": SITE})
                token = created.getresponse().headers["Location"]
                created.close()
            assert status(port, token, SITE) == 200, "also after a new start"
        assert entry.returncode in (0, -signal.SIGTERM)
    assert len(hosts) == 1, "the host's link survives"
    check = [word.replace(":8000", f":{port}") for word in health_check()]
    assert subprocess.run([sys.executable, *check[1:]], timeout=PATIENCE, stderr=subprocess.DEVNULL).returncode != 0


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy on this machine")
def test_people_play_through_the_proxy(compose: Any, tmp_path: Path) -> None:
    """Two bots take part behind Caddy: pages, redirections, cookies and sockets."""
    pytest.importorskip("uvicorn", reason="needs the extra play")
    with started(compose, tmp_path) as (port, _), proxied(port, tmp_path) as outside:
        assert status(outside, "/health", SITE) == 200 and status(outside, "/study?PROLIFIC_PID=a", SITE) == 200
        assert status(outside, "/study?PROLIFIC_PID=a", "elsewhere.example") == 403
        bots = [Bot(f"http://127.0.0.1:{outside}", f"/study?PROLIFIC_PID=bot{n}", n) for n in range(2)]

        async def together() -> None:
            await asyncio.wait_for(asyncio.gather(*(bot.run() for bot in bots)), PATIENCE)

        asyncio.run(together())
        assert all("C1ABC" in bot.last and bot.answers for bot in bots)
    events = [json.loads(line) for line in (tmp_path / "results" / JOURNAL).read_text("utf-8").splitlines()]
    assert [event["how"] for event in events if event["event"] == "ended"] == ["done", "done"]
