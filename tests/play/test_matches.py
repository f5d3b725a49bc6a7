"""Matches that people can play."""

from __future__ import annotations

import pytest
from play.world import ESCAPE, matches

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


def test_a_voice_plays_without_a_seat() -> None:
    check_matches(matches(["all=greedy"], **ESCAPE), voice=True)
