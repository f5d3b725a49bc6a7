"""One name for what means the same in several games: the policy of the game that is played."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from collab_overcooked.policies.api import Decision, EnvInfo, Learner, Lesson, Message, Policy, Seen
from collab_overcooked.policies.registry import read_numbers, refuse_text

GREEDY = {
    "CollabOvercooked-v0": "collab_overcooked.games.collab_overcooked.policies.greedy:GreedyPolicy",
    "CuisineWorld-v0": "collab_overcooked.games.cuisineworld.policies.greedy:GreedyPolicy",
    "KitchenRush-v0": "collab_overcooked.games.rush.policies.greedy:GreedyPolicy",
    "AlienRush-v0": "collab_overcooked.games.rush.policies.greedy:GreedyPolicy",
    "Overcooked-v0": "collab_overcooked.games.overcooked.policies.greedy:GreedyPolicy",
}
PLANNER = {
    "CollabOvercooked-v0": "collab_overcooked.games.collab_overcooked.policies.planner:PlannerPolicy",
    "Overcooked-v0": "collab_overcooked.games.overcooked.policies.planner:PlannerPolicy",
}


class ByGame:
    """Hands everything on to a policy that plays the game.

    Args:
        name: The policy's own name.
        makers: ``"package.module:class"`` by id of the game; imported when played.
        parameters: What the class is given.
    """

    needs_simulator = True  # those of today's games do

    def __init__(self, name: str, makers: Mapping[str, str], parameters: Mapping[str, int] | None = None) -> None:
        self.name = name
        self._makers = makers
        self._parameters = dict(parameters or {})
        self._made: dict[str, Policy] = {}
        self._player: Policy | None = None

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Choose the game's policy.

        Raises:
            ValueError: If there is none.
        """
        if info.game.id not in self._makers:
            raise ValueError(f"policy {self.name!r} plays {', '.join(self._makers)}, not {info.game.id}")
        if info.game.id not in self._made:
            module, _, maker = self._makers[info.game.id].partition(":")
            self._made[info.game.id] = getattr(importlib.import_module(module), maker)(**self._parameters)
        self._player = self._made[info.game.id]
        self._player.name = self.name
        self._player.reset(seat, info, seed)

    def act(self, seen: Seen) -> Decision | int | str:
        """Ask the game's policy."""
        return self._current().act(seen)

    def reply(self, seen: Seen) -> Message | None:
        """Let the game's policy answer."""
        return self._current().reply(seen)

    def between_episodes(self, lesson: Lesson) -> None:
        """Hand the lesson on to a player that learns."""
        player = self._current()
        if isinstance(player, Learner):
            player.between_episodes(lesson)

    def _current(self) -> Policy:
        if self._player is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._player


def greedy_from_text(text: str) -> ByGame:
    """Make the greedy policy; it takes no parameters."""
    refuse_text("greedy", text)
    return ByGame("greedy", GREEDY)


def planner_from_text(text: str) -> ByGame:
    """Make the planner of a spec such as ``"planner:width=500,replan=50"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or a value that is no whole number above 0.
    """
    return ByGame("planner", PLANNER, read_numbers("planner", text, ("width", "replan")))
