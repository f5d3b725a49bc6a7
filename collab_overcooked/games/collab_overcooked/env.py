"""Collab-Overcooked as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.io.schema import Parser, one_of
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.render.model import Drawing

from .engine.compile import compile_kitchen, with_spare_planes, without_recipes
from .engine.config import CollabOvercookedConfig, choose_orders, time_limit_of
from .engine.constants import DISH, Event, Param, Reason
from .engine.observe import knows_recipes
from .engine.spec import load_kitchen
from .engine.state import Out, State, agents_can_meet, sizes_of
from .engine.step import BATCH_KERNELS
from .text.seen import CookView
from .text.text import CollabOvercookedText


class CollabOvercooked(CollabOvercookedText):
    """The game of Sun et al. 2025, "Collab-Overcooked" (EMNLP 2025).

    Options by position or name are those of ``CollabOvercookedConfig``.
    """

    id = "CollabOvercooked-v0"
    exact_masks = True
    config_class = CollabOvercookedConfig
    array_classes = (State, Out)
    event_codes, reason_codes = Event, Reason
    seat_view = CookView
    tutorial = (
        ("collect", r"PICKUP pickup\(.+,ingredient_dispenser\)", "ingredients"),
        ("hand_over", r"PLACE .*", "counter"),
        ("receive", r"PICKUP pickup\(.+,counter\)", "counter"),
        ("utensil", r"PUT .*", r"(pot|oven|chopping_board|blender)\d*"),
    )
    batch_kernels = BATCH_KERNELS
    hint_keys = ("placed",)
    global_state = ("agents", "macro_state", "tiles", "orders", "clock")

    def __init__(self, *values: Any, **options: Any) -> None:
        config = CollabOvercookedConfig.read(values, options)
        self.kwargs = config.to_dict()
        loaded = load_kitchen(config.kitchen)
        self.config, self.pool = config, choose_orders(loaded, config)
        self.compiled = compile_kitchen(loaded, config, self.pool)
        self.n_agents = len(loaded.agents)
        self.levels = self.compiled.levels
        self.n_actions = self.compiled.n_actions
        self.max_cycles = max(self.pool.time_limits.values())
        self.deterministic = len(self.pool.tasks) == 1 and not self._may_draw()
        team, single = self.compiled.tables.rewards.tolist()
        self.event_pay = [Pay(event.name.lower(), (single[event],) * 2, (team[event],) * 2) for event in Event]
        self.sizes = sizes_of(self.compiled.tables)
        self._set_spaces(self.compiled.space)

    def _may_draw(self) -> bool:
        """Medium-level seats draw where a teammate may block their way, and in the original also without a goal."""
        tables = self.compiled.tables
        return MEDIUM in self.levels and (agents_can_meet(tables) or bool(tables.params[Param.ORIGINAL]))

    def with_spare_planes(self, planes: int) -> CollabOvercooked:
        drawn = copy.copy(self)
        drawn.__setstate__({"compiled": with_spare_planes(self.compiled, planes)})
        return drawn

    def tutorial_for(self, seat: int) -> tuple[tuple[str, str, str], ...]:
        texts = self.vocabulary(seat)
        collects = any("ingredient_dispenser" in label for label in texts)
        delivers = "deliver()" in texts
        possible = {
            "collect": collects,
            "hand_over": collects and not delivers,
            "receive": delivers and not collects,
            "utensil": delivers,
        }
        return tuple(step for step in self.tutorial if possible[step[0]])

    def reset_parsers(self) -> dict[str, Parser]:
        return {
            "task": one_of(self.compiled.names.items[DISH + 1 :], "task"),
            "orders": self.orders_codec(least=1).parser,
            **super().reset_parsers(),
        }

    def _read_options(self, options: Any) -> dict[str, Any]:
        checked = super()._read_options(options)
        if "task" in checked:
            if "orders" in checked:
                raise ValueError("reset options task and orders exclude each other")
            checked["orders"] = [checked.pop("task")]
        return checked

    def _choose(self, state: State, which: np.ndarray, options: Mapping[str, Any]) -> None:
        if (orders := options.get("orders")) is not None:
            state.orders[which] = self.orders_codec().encode(orders)

    def _default_limit(self, options: Mapping[str, Any]) -> int:
        orders = options.get("orders")
        return 0 if orders is None or self.pool.refill else sum(map(self._limit_of, orders))

    def known_to(self, seat: int) -> CollabOvercooked:
        """Return the game without recipes for a seat that does not know them; see ``policies.search.simulator``.

        What stays is what every seat is told by the names of actions and by refusals: which kind of utensil makes a
        product, and what is served on a dish.
        """
        if knows_recipes(seat, self.compiled.tables.params):
            return self
        known = copy.copy(self)
        known.__setstate__({"compiled": without_recipes(self.compiled)})
        return known

    def _limit_of(self, order: str) -> int:
        if order in self.kitchen.tasks:
            return time_limit_of(self.kitchen, order, self.config.gamma, self.config.time_limit)
        return self.max_cycles

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        hidden = () if seat is None else {(x, y) for x, y in map(self._position, self.hidden_counters(seat))}
        recipes = seat is None or bool(knows_recipes(seat, self.compiled.tables.params))
        return picture(self.kitchen, scene, hidden, recipes)
