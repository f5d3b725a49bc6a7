"""Medium-level actions of Collab-Overcooked as sub-plans of teams that plan together.

A cook who knows the recipe knows what everybody's actions are good for; one who does not knows only what it could do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.collab_overcooked.engine.constants import Group, Reason, Verb
from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.env import judge
from collab_overcooked.games.collab_overcooked.policies.greedy import Chooser
from collab_overcooked.games.collab_overcooked.policies.scene import Scene, cookbook, refuse_primitive_seats
from collab_overcooked.kernels.macro_actions import CONTINUE
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.search.subplans import PlanningView, Study, SubPlan

BASE = 20.0  # added to the urgency of an action, so that what is needed first is worth more even from afar
LESS = 0.05  # factor of worth for each rank below the first


class KitchenLook:
    """Sub-plans of cooks: possible and useful actions."""

    study: ClassVar[Mapping[str, Study]] = {
        "CollabOvercooked-v0": Study(
            tuple((task, {"task": task}) for task in load_kitchen("paper").tasks),
            "steps",
            "lower",
            "steps",
        )
    }

    def __init__(self, game: FullGame) -> None:
        self.game: Any = game
        refuse_primitive_seats(game, range(game.n_agents))
        self.book = cookbook(game)

    def __call__(self, seen: Seen) -> PlanningView:
        """Return the sub-plans of all cooks, as far as one of them knows them."""
        state = self.game.state_of(seen.scene)
        scene, texts = Scene(self.book, state), seen.view.action_texts
        possible = self._possible(scene, seen, texts)
        options = {seat: [] if seat != seen.seat else possible for seat in range(self.game.n_agents)}
        if seen.view.recipe is not None:
            for seat in options:
                useful = self._useful(scene, state, seat, seen, texts)
                known = {option.text for option in useful}
                options[seat] = useful + [option for option in options[seat] if option.text not in known]
        return PlanningView(
            options=options,
            places=dict(enumerate(scene.poses)),
            facts=frozenset({f"{len(scene.orders)} orders, the first {scene.order}"}),
            describe=lambda: seen.text,
        )

    def _possible(self, scene: Scene, seen: Seen, texts: list[str]) -> list[SubPlan]:
        plans = []
        for action in np.flatnonzero(seen.mask).tolist():
            verb, _, group = self.book.rows[action]
            if action != CONTINUE and verb != Verb.WAIT:
                stations = self.book.members[group] if verb != Verb.PLACE else self.book.members[Group.COUNTER]
                cost = self.book.steps_to(scene.poses[seen.seat], stations)
                plans.append(SubPlan(texts[action], action, cost, 0.0, frozenset({texts[action]})))
        return plans

    def _useful(self, scene: Scene, state: Any, seat: int, seen: Seen, texts: list[str]) -> list[SubPlan]:
        def accepted(action: int) -> bool:
            if seat == seen.seat:
                return bool(seen.mask[action])
            return bool(judge(self.book.tables, state, 0, seat, action) == Reason.OK)

        plans: dict[str, SubPlan] = {}
        for option in Chooser(scene, seat, accepted).options():
            text, value = texts[option.action], (BASE + option.urgency) * LESS**option.rank
            action = option.action if seat == seen.seat else None
            plan = SubPlan(text, action, option.cost, value, self._uses(option.action, text))
            plans.setdefault(text, plan)
        return list(plans.values())

    def _uses(self, action: int, text: str) -> frozenset[str]:
        return frozenset() if action == self.book.place else frozenset({text})
