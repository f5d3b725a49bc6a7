"""Questions about Overcooked: texts of their scenes, and the choice that was played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.questions.items import FACT, PAPER, Item, Scene
from collab_overcooked.questions.source import OTHER, asked_seat

from . import text
from .kitchen import WAIT, load_kitchen

State = Mapping[str, Any]


class OvercookedQuestions:
    """Source of the questions, see ``questions.source.QuestionSource``."""

    word, patience = "onion", 30

    def rules(self, item: Item) -> str:
        """Return the text of the rules."""
        return text.rules(load_kitchen(item.scene.options["layout"]))

    def describe(self, item: Item) -> str:
        """Return the description of the state.

        For an action in the paper's part it has the paper's form, too: distances and possible directives.
        """
        kitchen = load_kitchen(item.scene.options["layout"])
        described = text.describe(kitchen, item.scene.state, item.seat)
        plain = item.part != PAPER or item.kind == FACT
        return described if plain else f"{described}\n\n{kitchen.told(item.scene.state, item.seat)}"

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Let language models choose directives, other policies primitive actions."""
        return {**scene.options, "action_level": "medium"} if language else scene.options

    def chosen(self, item: Item, scenes: Sequence[State], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the chosen directive, or the one that matches the first use of the hands."""
        kitchen, seat = load_kitchen(item.scene.options["layout"]), asked_seat(item)
        action = actions[-1][seat]
        before = scenes[-2]
        after = scenes[-1]
        cell = kitchen.cells.get(action, kitchen.used(before, after, seat))
        if action == WAIT or cell is None:
            still = all(_pose(scene, seat) == _pose(scenes[0], seat) for scene in scenes)
            waited = action == WAIT or (still and kitchen.used(before, after, 1 - seat) is not None)
            if waited and WAIT in item.choices:
                return item.choices.index(WAIT)
            return OTHER if action == WAIT else None
        matching = [i for i, choice in enumerate(item.choices) if choice != WAIT and kitchen.cell(choice) == cell]
        return matching[0] if matching else OTHER


def _pose(state: State, seat: int) -> tuple[Any, Any]:
    player = state["players"][seat]
    return player["position"], player["facing"]


SOURCE = OvercookedQuestions()
