"""Rush once more, slow and obvious: dicts, strings and the rules as the specification tells them.

An oracle for tests. It shares no code with the package; it reads the ``Scenario`` of words that a YAML file holds.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class NaiveRush:
    """One episode being played, one worker's action after the other.

    Args:
        episode: Words of the scenario file.
        n_agents: Number of agents.
        workers: Workers of each.
        max_turns: Turns of the episode.
    """

    def __init__(self, episode: Any, n_agents: int, workers: int, max_turns: int) -> None:
        self.episode, self.n_agents, self.workers, self.max_turns = episode, n_agents, workers, max_turns
        self.turn = self.worker = self.seat = 0
        self.stock = {area.id: Counter(area.stock) for area in episode.areas}
        self.kinds = {area.id: area.kind for area in episode.areas}
        self.names = {}
        for shelf in (episode.pantries, episode.spicebags, episode.stoves):
            for number, area in enumerate(shelf, start=1):
                self.names[area.id] = area.kind + str(number) * (len(shelf) > 1)
        self.free = {area.id: area.spaces for area in episode.areas}
        self.orders = {
            name: {"has": [] if episode.recipes[name].spices else ["spices"], "cooked": 0, "is": "open", "paid": 0}
            for name in episode.orders
        }
        self.rewards = self.shaped = 0.0

    def problem(self, area: int, name: str) -> str:
        """Return why a worker cannot use an area for an order, ``"OK"`` if it can."""
        order, recipe = self.orders[name], self.episode.recipes[name]
        if order["is"] != "open":
            return f"ORDER_{order['is'].upper()}"
        goods = {"pantry": "ingredients", "spicebag": "spices"}.get(self.kinds[area])
        if goods in order["has"]:
            return "ALREADY_COLLECTED"
        if self.free[area] == 0:
            return "NO_SPACE"
        if goods and Counter(getattr(recipe, goods)) - self.stock[area]:
            return "OUT_OF_STOCK"
        return "OK"

    def ruins(self, area: int, name: str) -> bool:
        order, recipe = self.orders[name], self.episode.recipes[name]
        return self.kinds[area] == "stove" and not (
            "ingredients" in order["has"] and order["cooked"] + 1 <= recipe.cook_time
        )

    def act(self, area: int | None = None, name: str = "") -> str:
        """Let the next worker act and return ``"OK"`` or why it cannot."""
        problem = "OK"
        if area is not None:
            problem = self.problem(area, name)
            if problem == "OK":
                self.carry_out(area, name)
        self.seat += 1
        return problem

    def carry_out(self, area: int, name: str) -> None:
        order, recipe = self.orders[name], self.episode.recipes[name]
        self.free[area] -= 1
        if self.kinds[area] == "stove":
            if self.ruins(area, name):
                order["is"] = "ruined"
                self.rewards -= 1
            order["cooked"] += 1
        else:
            goods = "ingredients" if self.kinds[area] == "pantry" else "spices"
            self.stock[area] -= Counter(getattr(recipe, goods))
            order["has"].append(goods)
        if order["is"] == "open":
            if order["paid"] < 9:
                order["paid"] += 1
                self.shaped += 1
            if sorted(order["has"]) == ["ingredients", "spices"] and order["cooked"] == recipe.cook_time:
                order["is"] = "finished"
                self.rewards += 1

    def end_slot(self) -> tuple[float, float]:
        """Go on to the next worker or turn, and return what the slot paid: sparsely, and in tenths beside that."""
        paid = self.rewards, self.shaped
        self.rewards = self.shaped = 0.0
        self.seat = 0
        self.worker += 1
        if self.worker == self.workers:
            self.worker = 0
            self.turn += 1
            self.free = {area.id: area.spaces for area in self.episode.areas}
        return paid

    @property
    def decided(self) -> bool:
        return all(order["is"] != "open" for order in self.orders.values())

    @property
    def out_of_turns(self) -> bool:
        return self.turn == self.max_turns

    def valid(self) -> set[tuple[int, str]]:
        return {(area, name) for area in self.kinds for name in self.orders if self.problem(area, name) == "OK"}

    def scene(self) -> dict[str, Any]:
        """Return what the package's scene should say."""
        return {
            "turn": self.turn,
            "worker": self.worker,
            "seat": self.seat,
            "turns_left": self.max_turns - self.turn,
            "over": self.decided or self.out_of_turns,
            "orders": [
                {
                    "name": name,
                    "ingredients": "ingredients" in order["has"],
                    "spices": "spices" in order["has"],
                    "cooked": order["cooked"],
                    "finished": order["is"] == "finished",
                    "ruined": order["is"] == "ruined",
                    "rewarded": order["paid"],
                }
                for name, order in self.orders.items()
            ],
            "areas": [
                {
                    "id": area.id,
                    "name": self.names[area.id],
                    "kind": area.kind,
                    "stock": {name: count for name, count in sorted(self.stock[area.id].items()) if count},
                    "spaces": self.free[area.id],
                    "spaces_per_turn": area.spaces,
                }
                for area in self.episode.areas
            ],
        }
