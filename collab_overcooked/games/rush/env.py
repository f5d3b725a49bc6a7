"""Kitchen Rush and Alien Rush as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.api import BoundBatch, clone
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.schema import Parser, integer
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import blocks_of, highest_of
from collab_overcooked.kernels.bound import bind, bind_all
from collab_overcooked.render.model import Drawing

from .engine.compile import compile_scenario
from .engine.config import PAPER_TEXTS, RushConfig
from .engine.constants import NO_ACTION, NOTHING, Clock, EventColumn, Order, Param, Reason, Verb
from .engine.rules import why_invalid, would_ruin
from .engine.spec import load_scenario
from .engine.state import Out, State, sizes_of
from .engine.step import BATCH_KERNELS, TENTHS, act_batch
from .text.scene import RushScene
from .text.text import (
    COOKED_TOO_EARLY,
    COOKED_TOO_OFTEN,
    FINISHED,
    GOAL,
    IDLE_LABEL,
    LABELS,
    LIST,
    PICTURE_RULES,
    RushText,
)


class BoardView(SeatView):
    """Knowledge of one agent: the whole state, as the board is open."""

    public_choices = plays_in_turns = True

    @property
    def objective(self) -> str:
        return self._say(GOAL)

    @property
    def picture_rules(self) -> str:
        return self._say(plain(self._game).filled(PICTURE_RULES, self._state, 0))

    def event_label(self, label: str) -> str:
        verb, _, place = label.partition("(")
        area, _, order = place.removesuffix(")").partition(", ")
        return self._say(LABELS[Verb[verb]].format(order=order, area=area) if order else IDLE_LABEL)

    def consequence(self, event: Any) -> str:
        if event.order is None or event.finished:
            return self._say(FINISHED.format(order=event.order)) if event.finished else ""
        game = plain(self._game)
        episode = self._game.scenario.episodes[int(self._state.clock[0, Clock.EPISODE])]
        number = episode.orders.index(event.order)
        if event.ruined:
            order = self._state.orders[0, number]
            times = int(order[Order.COOKED]) - 1  # before it was ruined
            return self._say((COOKED_TOO_OFTEN if order[Order.INGREDIENTS] else COOKED_TOO_EARLY).format(times=times))
        if event.reason == Reason.OK.name:
            return ""
        return self._say(game.refusal(episode, game.compiled.action(event.area, number), Reason[event.reason]))

    @cached_property
    def unlikely(self) -> frozenset[int]:
        if plain(self._game) is not self._game:
            return frozenset()
        actions = range(1, self._game.n_actions)
        return frozenset(action for action in actions if self._game.ruins_order(self._state, 0, action))

    @property
    def idle_last(self) -> bool:
        return bool(self._game.kwargs["texts"] == PAPER_TEXTS)

    @property
    def vocabulary(self) -> Sequence[str]:
        n_areas, n_orders = len(self.scene["areas"]), len(self.scene["orders"])
        actions = (plain(self._game).compiled.action(at, o) for at in range(n_areas) for o in range(n_orders))
        return [self.action_texts[action] for action in (NO_ACTION, *actions)]

    @cached_property
    def surroundings(self) -> str:
        return self.text.partition(self._say(LIST))[0].rstrip()


STRANGE = "strange_"


class KitchenRush(RushText, RushScene):
    """Kitchen Rush, from "Collaborative Tasks with Heterogenous LLM Students", sections 3 and 4.

    A step is one slot: every agent acts with its current worker, in seat order. The AEC form plays it agent by agent.

    Takes the options of ``RushConfig`` by position or name.
    """

    id = "KitchenRush-v0"
    config_class = RushConfig
    seat_view = BoardView
    array_classes = (State, Out)
    event_codes, reason_codes = Verb, Reason
    batch_kernels = BATCH_KERNELS
    global_state = ("orders", "stock", "spaces", "clock")
    step_key = "slot"
    unsaved = ("rng",)  # nothing is drawn
    deterministic = True
    tutorial: tuple[tuple[str, str, str], ...] = (
        ("ingredients", "TAKE_INGREDIENTS .* advanced.*", r"pantry\d*"),
        ("cook", "COOK_MEAL .* advanced.*", r"stove\d*"),
        ("spices", "TAKE_SPICES .* advanced.*", r"spicebag\d*"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = RushConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_scenario(load_scenario(config.scenario), config)
        self.scenario, params = self.compiled.scenario, self.compiled.tables.params
        self.n_agents = int(params[Param.N_AGENTS])
        self.n_actions = self.compiled.n_actions
        self.max_cycles = int(params[Param.MAX_TURNS] * params[Param.WORKERS])
        self.exact_masks = config.mask == "valid"
        self.sizes = sizes_of(self.compiled.tables)
        self._set_spaces(counts_to(highest_of(blocks_of(self.compiled.features))))

    def pay_bounds(self, out: Out) -> tuple[np.ndarray, np.ndarray]:
        """A finished order pays all agents 1, a ruined one costs 1; steps towards an order pay what they declare."""
        orders = out.events[..., EventColumn.FINISHED] - out.events[..., EventColumn.RUINED]
        steps = out.events[..., EventColumn.TENTHS] / TENTHS if self.kwargs["reward"] == "shaped" else 0
        paid = np.repeat((orders + steps).sum(1, keepdims=True), self.n_agents, 1).astype(np.float64)
        return paid, paid

    def tutorial_for(self, seat: int) -> tuple[tuple[str, str, str], ...]:
        recipes = [recipe for episode in self.scenario.episodes for recipe in episode.recipes.values()]
        needed = {
            "ingredients": any(recipe.ingredients for recipe in recipes),
            "cook": any(recipe.cook_time for recipe in recipes),
            "spices": any(recipe.spices for recipe in recipes),
        }
        return tuple(step for step in self.tutorial if needed[step[0].removeprefix(STRANGE)])

    def reset_parsers(self) -> dict[str, Parser]:
        return {"episode": integer(0, len(self.scenario.episodes) - 1), **super().reset_parsers()}

    def _choose(self, state: State, which: np.ndarray, options: Mapping[str, Any]) -> None:
        state.clock[which, Clock.EPISODE] = options.get("episode", options.get("state", {}).get("episode", NOTHING))

    def seat_to_act(self, state: State, i: int) -> int:
        return int(state.clock[i, Clock.SEAT])

    def bind(self, state: State, actions: np.ndarray, out: Out) -> BoundBatch:
        act = bind(act_batch, self.compiled.tables, state, actions, out)
        show = [bind(kernel, *arguments) for kernel, arguments in self.observe_calls(state, out)]
        return super().bind(state, actions, out)._replace(act=bind_all(act, *show))

    def act_seat(self, state: State, actions: np.ndarray, out: Out) -> None:
        """Let the current seat act in every environment; ``step`` lets the remaining seats act and ends the slot."""
        act_batch(self.compiled.tables, state, actions, out)
        self._show(state, out)

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        if action == NO_ACTION:
            return int(Reason.OK)
        tables, episode = self.compiled.tables, self._episode_number(state, i)
        at, order = self.compiled.parts(action)
        reason = why_invalid(
            state.orders[i, order],
            state.stock[i, at],
            state.spaces[i, at],
            tables.dishes[episode, order],
            tables.needs[episode, order],
            tables.areas[episode, at],
            tables.params[Param.N_INGREDIENTS],
        )
        return int(reason)

    def _why_refused_after(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int]) -> int:
        if earlier and action != NO_ACTION:
            state, i = self._after(state, i, earlier[:seat]), 0
        return self.why_refused(state, i, seat, action)

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        episode = self.scenario.episodes[self._episode_number(state, i)]
        return self.refusal(episode, action, reason) if reason else super()._explain(state, i, seat, action, reason)

    def ruins_order(self, state: State, i: int, action: int) -> bool:
        """Return whether an action would ruin its order if the rules accept it."""
        tables, episode = self.compiled.tables, self._episode_number(state, i)
        at, order = self.compiled.parts(action)
        return bool(would_ruin(state.orders[i, order], tables.dishes[episode, order], tables.areas[episode, at]))

    def _after(self, state: State, i: int, earlier: Sequence[int]) -> State:
        after, (_, out) = clone(state, i), self.alloc(1)
        actions = np.zeros((1, self.n_agents), np.int32)
        actions[0, : len(earlier)] = earlier
        for _ in range(self.seat_to_act(state, i), len(earlier)):
            act_batch(self.compiled.tables, after, actions, out)
        return after

    def event_numbers(self, out: Out) -> np.ndarray:
        kinds: np.ndarray = out.events[..., EventColumn.CODE] * (out.events[..., EventColumn.REASON] == Reason.OK)
        return kinds

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self.scenario, scene, self.display_names)


class AlienRush(KitchenRush):
    """Kitchen Rush, with all its options, in the vocabulary of the lexicon ``alien``."""

    id = "AlienRush-v0"
    language = "alien"
    # Texts that name no place, as those of Kitchen Rush would translate the alien names
    tutorial = tuple((STRANGE + name, event, place) for name, event, place in KitchenRush.tutorial)
