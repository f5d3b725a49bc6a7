"""Matches that people can play."""

from __future__ import annotations

from pathlib import Path

import pytest
from play.world import ESCAPE, matches
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.play.matches import check_matches


@pytest.mark.parametrize(
    ("team", "what", "message"),
    [(["all=greedy"], ESCAPE, "no person plays"), (["agent_0=person"], {"suite": "initiations"}, "cannot play")],
)
def test_what_people_cannot_play_is_refused(team, what, message) -> None:
    with pytest.raises(ValueError, match=message):
        check_matches(matches(team, **what))


def test_the_matches_of_a_session_are_some_and_have_one_team() -> None:
    with pytest.raises(ValueError, match="no episode to play"):
        check_matches([])
    mixed = [*matches(["agent_0=person", "agent_1=greedy"], **ESCAPE), *matches(["all=person"], **ESCAPE)]
    with pytest.raises(ValueError, match="must have the same team"):
        check_matches(mixed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-messages", "2"], "max_messages: must be 0 in real time"),
        (["--decide-within", "5"], "decide_within: must be left out in real time"),
    ],
)
def test_limits_without_effect_in_real_time_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    command = ["play", "overcooked", "--layouts", "cramped_room", "--no-open", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, [*command, *options])
    assert done.exit_code == 2 and message in done.stderr and "--clock turns" in done.stderr, done.output
    assert not (tmp_path / "run").exists()


def test_a_voice_plays_without_a_seat() -> None:
    check_matches(matches(["all=greedy"], **ESCAPE), voice=True)
