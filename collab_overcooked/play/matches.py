"""Matches that people can play."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked.policies.registry import PERSON
from collab_overcooked.runner.match import Match


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
