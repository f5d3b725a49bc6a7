"""Processes that are killed at random moments: what was over is there, and it goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from play.crash import BOTS
from play.world import ESCAPE

from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference

pytest.importorskip("uvicorn", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
TESTS = Path(__file__).resolve().parent.parent
KILLS = [2, pytest.param(20, marks=pytest.mark.nightly)]
pytestmark = pytest.mark.attacks


def start(kind: str, folder: Path) -> subprocess.Popen[str]:
    """Start a process and wait for its first words."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    texts = [sys.executable, "-m", "play.crash", kind, str(folder)]
    process = subprocess.Popen(texts, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths})
    assert process.stdout is not None and process.stdout.readline()
    return process


def kill(process: subprocess.Popen[str], after: float) -> str:
    """Kill a process after some seconds; returns what it has said."""
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    return process.communicate()[0]


@pytest.mark.parametrize("kills", KILLS)
def test_no_finished_episode_is_lost(tmp_path: Path, attack_seed: int, kills: int) -> None:
    draw, message, checked = random.Random(attack_seed), 0, 0
    for _ in range(kills):
        message += 1 + kill(start("session", tmp_path), draw.uniform(0, 0.5)).count("over")
        PlayFolder(tmp_path, ESCAPE["suite"]).close()  # repairs the last line
        records = read_records(tmp_path)
        assert len(records) >= message
        assert not any(map(first_difference, records[checked:]))
        checked = len(records)
    assert sorted(record.episode for record in records) == list(range(len(records)))


@pytest.mark.parametrize("kills", KILLS)
def test_a_study_goes_on_after_every_crash(tmp_path: Path, attack_seed: int, kills: int) -> None:
    draw = random.Random(attack_seed)
    for _ in range(kills):
        kill(start("study", tmp_path), draw.uniform(0, 4 / kills))
    reply, _ = start("study", tmp_path).communicate(timeout=120)
    assert reply.splitlines() == [str({"done": BOTS})]
