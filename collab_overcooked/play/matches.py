"""Matches that people can play."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked import registry
from collab_overcooked.play.keys import clock_of
from collab_overcooked.play.settings import TICKS, PlaySettings
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.runner.match import Match

IN_REAL_TIME = {
    "max_messages": "be 0 in real time, where messages are not counted; use max_episode_chars",
    "decide_within": "be left out in real time, where nobody is asked; change the tick",
}
"""What limits questions and answers must be where there are none."""


def ignored_in_real_time(match: Match, settings: PlaySettings, counted: bool) -> str:
    """Return the option among ``IN_REAL_TIME`` that would have no effect in a match; empty if there is none.

    Args:
        match: Match with people.
        settings: Settings of play.
        counted: Whether somebody chose a number of messages other than 0.
    """
    if not (counted or settings.decide_within):
        return ""
    seats = [seat for seat, spec in enumerate(match.team) if spec == PERSON]
    if clock_of(settings, registry.make(match.env_id, **match.env_kwargs).game, seats) != TICKS:
        return ""
    return "max_messages" if counted else "decide_within"


def check_matches(matches: Sequence[Match], voice: bool = False) -> None:
    """Check that people can play matches.

    Args:
        matches: Of one session.
        voice: Whether a person without a seat speaks to the team.

    Raises:
        ValueError: If there is none, the teams differ, no person plays, or a match does not run from start to end.
    """
    if not matches:
        raise ValueError("there is no episode to play")
    if len({match.team for match in matches}) > 1:
        raise ValueError("the episodes of a session must have the same team")
    if PERSON not in matches[0].team and not voice:
        raise ValueError("no person plays: write person for a seat of the team, for example agent_0=person")
    for match in matches:
        if not match.playable:
            raise ValueError(f"people cannot play a {type(match).__name__}, only episodes from start to end")
