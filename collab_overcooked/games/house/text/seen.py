"""Knowledge of an agent of the household games: its own observations, without other agents' actions."""

from __future__ import annotations

import re

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.house.text.text import talk_price, thing_labels
from collab_overcooked.io.text import join_and


class HouseView(SeatView):
    """Knowledge of one agent; other agents' actions are known only by their effects."""

    public_history = False

    @property
    def aim(self) -> str:
        goals = [f"{goal['name']} ({goal['need']})" for goal in self.scene["goals"]]
        return self._say(f"Bring to the {self.scene['goal']['name']}: {join_and(goals)}.")

    @property
    def talk_price(self) -> str:
        return talk_price(self._game.compiled)

    def event_label(self, label: str) -> str:
        names = thing_labels(self._state, 0, self._seat, self._game.compiled.sizes.things)
        return re.sub(r"\bthing (\d+)", lambda number: names[int(number[1])], label)
