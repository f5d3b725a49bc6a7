"""Scripted players of Overcooked beside stubborn strangers: who stands in the way, plays with one onion, stays put."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from collab_overcooked import make
from collab_overcooked.games.overcooked.engine.constants import Action
from collab_overcooked.games.overcooked.scoring import score_record
from collab_overcooked.policies.api import AgentView, EnvInfo, Message
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import Team, make_team

NORTH, SOUTH, EAST, WEST, STAY, INTERACT = Action
STEPS = 300

# A player in the first seat of cramped_room, which starts at the dishes; a soup can be served without its help.
SCRIPTS = {
    "stands in the middle": ([EAST], [STAY]),
    "stands before the pot for a while, again and again": ([NORTH, EAST], [NORTH] * 30 + [WEST] * 30 + [EAST]),
    "holds an onion for ever": ([NORTH, WEST, INTERACT], [STAY]),
    "puts one onion down and takes it again": ([NORTH, WEST, INTERACT, NORTH], [INTERACT]),
}


class Script:
    """Does the same over and over again after a beginning, whatever happens."""

    name = "script"

    def __init__(self, beginning: list[Action], loop: list[Action]) -> None:
        self._beginning, self._loop = beginning, loop

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._done = 0

    def act(self, seen: AgentView) -> int:
        at, self._done = self._done - len(self._beginning), self._done + 1
        return int(self._loop[at % len(self._loop)] if at >= 0 else self._beginning[at])

    def reply(self, seen: AgentView) -> Message | None:
        return None


def play(name: str, script: Script, seed: int = 0) -> dict:
    env = make("Overcooked-v0", layout="cramped_room", max_cycles=STEPS)
    return play_episode(env, Team(("script", name), (script, make_policy(name))), seed)


@pytest.mark.parametrize("what", SCRIPTS)
def test_greedy_serves_beside_somebody_who(what: str) -> None:
    assert score_record(play("greedy", Script(*SCRIPTS[what])))["score"] >= 60


def test_stepping_aside_is_drawn_from_the_seed() -> None:
    script = Script(*SCRIPTS["stands before the pot for a while, again and again"])
    assert play("greedy", script, 5) == play("greedy", script, 5)


@pytest.mark.parametrize("layout", ["cramped_room", "asymmetric_advantages", "coordination_ring"])
@pytest.mark.parametrize("order", [tuple, lambda pair: tuple(reversed(pair))], ids=["first", "second"])
def test_greedy_and_a_trained_player_serve_together(layout: str, order: Callable[..., tuple[str, ...]]) -> None:
    env = make("Overcooked-v0", layout=layout, max_cycles=400)
    team = make_team(list(order(["greedy", f"ppo:{layout}"])))
    assert score_record(play_episode(env, team, 0))["score"] >= 100
