"""Policies decide once before people wait for them, as the first decision compiles kernels, which takes long."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from collab_overcooked import registry
from collab_overcooked.play.settings import LEAVING
from collab_overcooked.policies.api import AgentView, Decision, PolicyBase
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import MakePolicy, Team, make_team

STEPS = 2


class _Idle(PolicyBase):
    """Sits in the seats that are left out."""

    name = "idle"

    def reset(self, seat: int, info: object, seed: int) -> None:
        """Do nothing."""

    def act(self, seen: AgentView) -> Decision:
        """Do nothing for a step."""
        return Decision(action=seen.idle_action)


def decide_once(match: Match, make: MakePolicy, on_leave: str) -> None:
    """Play the first steps of a match with policies and an environment of their own.

    Args:
        match: The match; people idle in it, and language models, whose answers cost money, are not asked.
        make: Makes the policies.
        on_leave: See ``PlaySettings``; a policy that would take over from a person decides too.
    """
    teams = [(match.team, make)]
    if on_leave not in LEAVING:
        teams.append((tuple(on_leave if spec == PERSON else PERSON for spec in match.team), make_known_policy))
    for specs, maker in teams:
        with contextlib.suppress(Exception):  # which the game itself will meet, and report
            env = registry.make(match.env_id, **match.env_kwargs)
            team = _team(specs, maker)
            play_episode(env, team, match.seed, ends_after=STEPS, task=match.keys[0][0], limits=match.limits)


def _team(specs: Sequence[str], make: MakePolicy) -> Team:
    return make_team(
        specs, lambda spec: _Idle() if spec == PERSON or PolicySpec.parse(spec).is_language else make(spec)
    )
