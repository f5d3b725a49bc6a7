"""Collab-Overcooked as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import ActionError
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.collab_overcooked.engine.compile import (
    compile_kitchen,
    primitive_texts,
    without_recipes,
)
from collab_overcooked.games.collab_overcooked.engine.config import CollabOvercookedConfig, choose_orders, time_limit_of
from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    FIRST_NAMED,
    NOTHING,
    Agent,
    Clock,
    Event,
    Param,
    Primitive,
    Reason,
)
from collab_overcooked.games.collab_overcooked.engine.macro_actions import check_action
from collab_overcooked.games.collab_overcooked.engine.observe import knows_recipes
from collab_overcooked.games.collab_overcooked.engine.rules import effect, faced_station, named_by
from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen, load_kitchen
from collab_overcooked.games.collab_overcooked.engine.state import Out, State, Tables, sizes_of
from collab_overcooked.games.collab_overcooked.engine.step import observe_batch, reset_batch, step_batch
from collab_overcooked.games.collab_overcooked.text import text
from collab_overcooked.games.collab_overcooked.text.scene import check_scene, orders_codec, scene_parts
from collab_overcooked.games.collab_overcooked.text.seen import CookView, forget_hidden, hidden_counters, seat_scene
from collab_overcooked.io.checks import near_matches, parse_text
from collab_overcooked.io.schema import Form, one_of
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.render.model import Sheet


def judge(tables: Tables, state: State, i: int, seat: int, action: int) -> Reason:
    """Return the reason code of a medium-level action of a seat in environment ``i``."""
    if action >= len(tables.catalogue):
        return Reason.NO_SUCH_ACTION
    reason = check_action(
        tables.catalogue[action],
        state.agents[i, seat],
        state.macro_state[i, seat],
        state.tiles[i],
        state.orders[i],
        tables.stations,
        tables.groups,
        tables.access[seat],
        tables.foods,
        tables.params[Param.ORIGINAL] == 1,
    )
    return Reason(reason)


class CollabOvercooked(CompiledGame):
    """The game of Sun et al. 2025, "Collab-Overcooked" (EMNLP 2025).

    Options by position or name are those of ``CollabOvercookedConfig``.
    """

    id = "CollabOvercooked-v0"
    exact_masks = True
    config_class = CollabOvercookedConfig
    array_classes = (State, Out)
    event_codes = Event
    seat_view = CookView
    lesson = (
        ("collect", r"PICKUP pickup\(.+,ingredient_dispenser\)"),
        ("hand_over", r"PLACE .*"),
        ("receive", r"PICKUP pickup\(.+,counter\)"),
        ("deliver", r"DELIVER .*"),
    )
    step_kernels, observe_kernels, reset_kernels = (step_batch,), (observe_batch,), (reset_batch,)
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
        self.sizes = sizes_of(self.compiled.tables)
        self._set_spaces(self.compiled.space)

    def lesson_for(self, seat: int) -> tuple[tuple[str, str], ...]:
        texts = text.vocabulary(self.compiled, seat)
        collects, delivers = any("ingredient_dispenser" in label for label in texts), "deliver()" in texts
        possible = {
            "collect": collects,
            "hand_over": collects and not delivers,
            "receive": delivers and not collects,
            "deliver": delivers,
        }
        return tuple(step for step in self.lesson if possible[step[0]])

    def reset_forms(self) -> dict[str, Form]:
        return {
            "task": one_of(self.compiled.names.items[DISH + 1 :], "task"),
            "orders": orders_codec(self.compiled, least=1).form,
            **super().reset_forms(),
        }

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled)

    def _read_options(self, options: Any) -> dict[str, Any]:
        checked = super()._read_options(options)
        if "task" in checked:
            if "orders" in checked:
                raise ValueError("reset options task and orders exclude each other")
            checked["orders"] = [checked.pop("task")]
        return checked

    def _choose(self, state: State, which: np.ndarray, options: Mapping[str, Any]) -> None:
        if (orders := options.get("orders")) is not None:
            state.orders[which] = orders_codec(self.compiled).encode(orders)

    def _default_limit(self, options: Mapping[str, Any]) -> int:
        orders = options.get("orders")
        return 0 if orders is None or self.pool.refill else sum(map(self._limit_of, orders))

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        clock = state.clock[i]
        decided, late = bool(state.orders[i, 0] == NOTHING), bool(clock[Clock.T] >= clock[Clock.LIMIT])
        clock[Clock.OVER] = decided or late
        return decided, late and not decided

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace what a seat does not know by a sampled belief; see ``policies.search.simulator``."""
        forget_hidden(self.compiled, state, seat)

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

    @property
    def kitchen(self) -> Kitchen:
        """The kitchen as read from its file."""
        return self.compiled.kitchen

    @property
    def display_names(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self.kitchen.agents)

    def names(self) -> list[str]:
        names = self.compiled.names
        return [*names.items, *names.places, *names.operations, *(task.title for task in self.kitchen.tasks.values())]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        if self.levels[seat] == PRIMITIVE:
            return primitive_texts(self.compiled.names.items)
        return list(self.compiled.names.catalogue[: self.compiled.n_possible])

    def parse(self, action: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        if self.levels[seat] == MEDIUM:
            return text.parse_action(self.compiled, parse_text(action))
        texts, normalized = self.action_texts(seat=seat), parse_text(action).strip().lower()
        if normalized not in texts:
            raise ActionError("F_NOT_FUNCTION", near_matches("action", action, texts))
        return texts.index(normalized)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        parsed = text.parse_plan(parse_text(plan, "plan"))
        actions = [single for action in parsed.actions for single in self._single_waits(action, seat)]
        return actions, list(parsed.requests)

    def _single_waits(self, action: str, seat: int) -> list[str]:
        call = text.CALL.fullmatch(action.strip().lower())
        if not call or call[1] != "wait" or self.levels[seat] != MEDIUM:
            return [action]
        try:
            self.parse(action, seat=seat)
        except ActionError:
            return [action]  # refused, with a reason, when its turn comes
        return ["wait(1)"] * int(call[2])

    def join_plan(self, actions: Sequence[str]) -> tuple[str, ...]:
        joined, most = list[str](), self.kitchen.max_wait
        for action, same in itertools.groupby(actions):
            count = len(list(same))
            waits = [most] * (count // most) + [count % most] * (count % most > 0)
            joined += [f"wait({n})" for n in waits] if action == "wait(1)" else [action] * count
        return tuple(joined)

    def idle_action(self, seat: int = 0) -> int:
        return self.parse("wait(1)" if self.levels[seat] == MEDIUM else "stay", seat=seat)

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        tables = self.compiled.tables
        if self.levels[seat] == PRIMITIVE:
            return self._check_primitive(state.agents[i, seat], state.tiles[i], state.orders[i], seat, action)
        reason = judge(tables, state, i, seat, action)
        agent = self._decode(state, i, False)["agents"][seat]
        return reason.name, text.explain(self.compiled, agent, seat, action, reason)

    def _check_primitive(
        self, agent: np.ndarray, tiles: np.ndarray, orders: np.ndarray, seat: int, action: int
    ) -> tuple[str, str]:
        tables = self.compiled.tables
        s = faced_station(agent, tables.access[seat], tables.cells)
        held, plated = agent[Agent.ITEM], agent[Agent.PLATED]
        if action >= FIRST_NAMED + len(tables.foods):
            return Reason.NO_SUCH_ACTION.name, text.REASONS[Reason.NO_SUCH_ACTION]
        idle = action >= Primitive.INTERACT and (
            s < 0
            or effect(held, plated, named_by(action), tiles[s], tables.stations[s], orders, tables.foods) == Event.NONE
        )
        reason = Reason.NO_EFFECT if idle else Reason.OK
        return reason.name, text.REASONS[reason]

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return text.RULES

    def describe(self, state: State, i: int, seat: int) -> str:
        scene = self.seat_scene(self.scene(state, i), seat)
        return text.describe(self.compiled, scene, seat, self.config.knowledge == "full")

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        return seat_scene(self.compiled, super().seat_scene(scene, seat), seat)

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [text.event_of(self.compiled, row) for row in out.events[i]]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.collab_overcooked.text.picture import picture

        hidden = () if seat is None else hidden_counters(self.compiled, seat)
        recipes = seat is None or bool(knows_recipes(seat, self.compiled.tables.params))
        return picture(self.kitchen, scene, hidden, recipes)
