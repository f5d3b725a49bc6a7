"""Solvability of kitchens: possible handovers, and recipes and orders that no team can finish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .constants import Kind, Station
from .spec import Kitchen


def refuse_impossible(kitchen: Kitchen, stations: np.ndarray, access: np.ndarray) -> None:
    """Refuse recipes and orders that no team can ever finish."""
    team = _Team(kitchen, stations, access)
    cooks = team.cook_everything()
    team.serve_everything(cooks)


class _Team:
    """Sets of agents: users of each station, and possible holders of each item.

    Args:
        kitchen: The kitchen.
        stations: int32 (S, 11), see ``Station``.
        access: int32 (N, S), above 0 where an agent can use a station.
    """

    def __init__(self, kitchen: Kitchen, stations: np.ndarray, access: np.ndarray) -> None:
        self.kitchen = kitchen
        self.stations = stations
        self.access = access
        counters = access[:, stations[:, Station.KIND] == Kind.COUNTER] > 0
        everybody = range(len(access))
        self.meets = [{j for j in everybody if (counters[i] & counters[j]).any()} for i in everybody]
        self.hold = {name: self.spread(self.users(Kind.INGREDIENTS)) for name in kitchen.ingredients}

    def spread(self, holders: set[int]) -> set[int]:
        """Return the agents that can get a thing from its holders via shared counters."""
        grown = holders.union(*(self.meets[i] for i in holders)) if holders else holders
        return grown if grown == holders else self.spread(grown)

    def users(self, kind: Kind) -> set[int]:
        """Return the agents that can use a station of a kind."""
        usable = self.access[:, self.stations[:, Station.KIND] == kind] > 0
        return set(np.flatnonzero(usable.any(axis=1)).tolist())

    def cook_everything(self) -> dict[str, set[int]]:
        """Return the agents that can take each product from its utensil, and store all possible holders."""
        cooks: dict[str, set[int]] = {}
        pending = list(self.kitchen.recipes)
        while pending:
            for recipe in [entry for entry in pending if all(name in self.hold for name in entry.inputs)]:
                cooks[recipe.product] = self._cooks_of(recipe)
                self.hold[recipe.product] = self.spread(cooks[recipe.product])
                pending.remove(recipe)
        return cooks

    def _cooks_of(self, recipe: Any) -> set[int]:
        kinds = [utensil.name for utensil in self.kitchen.utensils]
        at: Iterable[int] = np.flatnonzero(self.stations[:, Station.UTENSIL] == kinds.index(recipe.utensil))
        groups = [set(np.flatnonzero(self.access[:, s] > 0).tolist()) for s in at]
        able = [group for group in groups if all(self.hold[name] & group for name in recipe.inputs)]
        if not able:
            why = "none stands in the grid" if not groups else "no agent that may use one can get its inputs"
            raise self.kitchen.document.error(
                f"no agent can make {recipe.product} in a {recipe.utensil}: {why}; add a shared counter or a "
                f"{recipe.utensil}, widen its users, or take the recipe out",
                "recipes",
                recipe.utensil,
                recipe.product,
            )
        return set().union(*able)

    def serve_everything(self, cooks: Mapping[str, set[int]]) -> None:
        """Reject orders that no agent can plate or bring to a serving station."""
        dishes, error = self.spread(self.users(Kind.DISHES)), self.kitchen.document.error
        for name, plated in self.kitchen.serving.items():
            if plated and not dishes:
                raise error(f"{name} needs a dish, but the grid has no dish dispenser; add one", "serving")
            if plated and not dishes & cooks.get(name, set()):
                message = f"no agent can get {name} onto a dish; list it under `plain`, or add a shared counter"
                raise error(f"{message} for the dish", "serving")
            carriers = self.spread(dishes & cooks[name]) if plated else self.hold[name]
            if not carriers & self.users(Kind.SERVING):
                raise error(f"no agent can bring {name} to a serving station; add a shared counter", "serving")
