"""Records of people are read by every command that reads records: a game in turns, and one in real time."""

from __future__ import annotations

from pathlib import Path

import pytest
from play.world import KITCHEN, QUICK, first_legal, matches, play
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import PlaySettings

ESCAPES = {"suite": "collab-escape"}
GAMES = {
    "turns": (ESCAPES, "CollabEscape-v0", []),
    "ticks": (KITCHEN, "Overcooked-v0", ["--set", "layout=cramped_room", "obs=features"]),
}


def restless(message):
    """Somebody who holds keys in real time, and takes the last action of the menu in turns."""
    if message["type"] == "frame" and message["timestep"] % 4 == 1:
        return {"type": "key", "key": ("left", "up", "act")[message["timestep"] % 3], "down": True}
    return first_legal(message)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Two folders of each game, played beside greedy and beside random."""
    results = {}
    for clock, (what, _, _) in GAMES.items():
        folders = []
        for partner in ("greedy", "random"):
            folder = PlayFolder(tmp_path_factory.mktemp(clock) / partner, what["suite"])
            for seed in (0, 1):
                rounds = matches(["agent_0=person", f"agent_1={partner}"], seed=seed, **what)
                play(Session(rounds, PlaySettings(**QUICK), folder=folder), restless)
            folder.close()
            folders.append(folder.path)
        results[clock] = tuple(folders)
    return results


def run(*text: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in text])
    assert done.exit_code == 0, done.output
    return str(done.stdout)


@pytest.mark.parametrize("clock", GAMES)
def test_commands_read_what_people_played(played, clock) -> None:
    pytest.importorskip("scipy", reason="needs the extra stats")
    one, other = played[clock]
    assert "person" in run("score", one)
    run("replay", one, "--check")
    run("report", one)
    page = (one / "report.html").read_text("utf-8")
    assert "person" in page and 'id="player"' in page
    assert run("score", "--compare", one, other)
    assert "2 runs" in run("significance", one, other)


@pytest.mark.parametrize("clock", GAMES)
def test_policies_are_cloned_from_people(played, clock, tmp_path) -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    _, env_id, options = GAMES[clock]
    run("train", "bc", env_id, *options, "--data", played[clock][0], "--hyper", "epochs=1", "--out", tmp_path / "bc")
    assert (tmp_path / "bc" / "policy.npz").exists()
