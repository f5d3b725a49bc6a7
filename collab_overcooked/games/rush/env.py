"""Kitchen Rush and Alien Rush as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import BoundBatch, clone
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.rush.engine.compile import compile_scenario
from collab_overcooked.games.rush.engine.config import RushConfig
from collab_overcooked.games.rush.engine.constants import NO_ACTION, NOTHING, Clock, EventColumn, Param, Reason, Verb
from collab_overcooked.games.rush.engine.observe import mask_actions
from collab_overcooked.games.rush.engine.rules import why_invalid, would_ruin
from collab_overcooked.games.rush.engine.spec import Scenario, load_scenario
from collab_overcooked.games.rush.engine.state import Out, State, event_of, sizes_of
from collab_overcooked.games.rush.engine.step import act_batch, observe_batch, reset_batch, step_batch
from collab_overcooked.games.rush.text import text
from collab_overcooked.games.rush.text.scene import check_scene, complete, scene_parts, settle
from collab_overcooked.games.rush.text.seen import BoardView
from collab_overcooked.io.checks import parse_text
from collab_overcooked.io.schema import Form, integer
from collab_overcooked.io.text import in_drawn_order
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.bound import bind, bind_all
from collab_overcooked.render.model import Sheet


class KitchenRush(CompiledGame):
    """Kitchen Rush, from "Collaborative Tasks with Heterogenous LLM Students", sections 3 and 4.

    A step is one slot: every agent acts with its current worker, in seat order. The AEC form plays it agent by agent.

    Takes the options of ``RushConfig`` by position or name.
    """

    id = "KitchenRush-v0"
    config_class = RushConfig
    seat_view = BoardView
    array_classes = (State, Out)
    event_codes = Verb
    step_kernels, observe_kernels, reset_kernels = (step_batch,), (observe_batch,), (reset_batch,)
    global_state = ("orders", "stock", "spaces", "clock")
    step_key = "slot"
    unsaved = ("rng",)  # nothing is drawn
    lesson: tuple[tuple[str, str], ...] = (
        ("ingredients", "TAKE_INGREDIENTS .* advanced.*"),
        ("cook", "COOK_MEAL .* advanced.*"),
        ("spices", "TAKE_SPICES .* advanced.*"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = RushConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_scenario(load_scenario(config.scenario), config)
        self.n_agents = self.compiled.n_agents
        self.n_actions = self.compiled.n_actions
        self.max_cycles = self.compiled.max_turns * self.compiled.workers
        self.exact_masks = config.mask == "valid"
        self.sizes = sizes_of(self.compiled.tables)
        self._set_spaces(counts_to(self.compiled.highest))

    def lesson_for(self, seat: int) -> tuple[tuple[str, str], ...]:
        recipes = [recipe for episode in self.scenario.episodes for recipe in episode.recipes.values()]
        needed = {
            "ingredients": any(recipe.ingredients for recipe in recipes),
            "cook": any(recipe.cook_time for recipe in recipes),
            "spices": any(recipe.spices for recipe in recipes),
        }
        return tuple(step for step in self.lesson if needed[step[0]])

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled)

    def reset_forms(self) -> dict[str, Form]:
        return {"episode": integer(0, len(self.scenario.episodes) - 1), **super().reset_forms()}

    def _choose(self, state: State, which: np.ndarray, options: Mapping[str, Any]) -> None:
        state.clock[which, Clock.EPISODE] = options.get("episode", options.get("state", {}).get("episode", NOTHING))

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        super()._encode(state, i, scene)
        settle(self.compiled, state, i, scene)

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return complete(self.compiled.tables, state, i)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def seat_to_act(self, state: State, i: int) -> int:
        """Return the seat whose turn it is in the current slot of environment ``i``."""
        return int(state.clock[i, Clock.SEAT])

    def bind(self, state: State, actions: np.ndarray, out: Out) -> BoundBatch:
        act = bind(act_batch, self.compiled.tables, state, actions, out)
        show = [bind(kernel, *arguments) for kernel, arguments in self.observe_calls(state, out)]
        return super().bind(state, actions, out)._replace(act=bind_all(act, *show))

    def act_seat(self, state: State, actions: np.ndarray, out: Out) -> None:
        """Let the seat whose turn it is act in every environment; ``step`` lets the others act and ends the slot."""
        act_batch(self.compiled.tables, state, actions, out)
        self._show(state, out)

    @property
    def scenario(self) -> Scenario:
        """The scenario as read from its file."""
        return self.compiled.scenario

    def _episode(self, state: State | None, i: int) -> int:
        if state is not None:
            return int(state.clock[i, Clock.EPISODE])
        return max(int(self.compiled.tables.params[Param.EPISODE]), 0)

    def valid_actions(self, state: State, i: int) -> list[int]:
        """Return the actions that the mask of environment ``i`` allows, the same for all seats."""
        tables, episode = self.compiled.tables, self._episode(state, i)
        mask = np.zeros(self.n_actions, np.int8)
        mask_actions(
            state.orders[i],
            state.stock[i],
            state.spaces[i],
            tables.dishes[episode],
            tables.needs[episode],
            tables.areas[episode],
            tables.params,
            mask,
        )
        return np.flatnonzero(mask).tolist()

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        return text.action_texts(self.compiled, self._episode(state, i))

    def action_labels(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        return text.action_labels(self.compiled, self._episode(state, i))

    def parse(self, action: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        """Parse an action: the paper's dictionary, or its number in the current list of valid actions."""
        valid = list(range(self.n_actions)) if state is None else self._listed(state, i, seat)[1]
        return text.parse_action(self.compiled, self._episode(state, i), parse_text(action), valid)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        return text.parse_plan(parse_text(plan, "plan")), []

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        if action == NO_ACTION:
            return "OK", "Accepted."
        tables, episode = self.compiled.tables, self._episode(state, i)
        if earlier:
            state, i = self._after(state, i, earlier[:seat]), 0
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
        if reason == Reason.OK:
            return "OK", "Accepted."
        return Reason(reason).name, text.refusal(self.compiled, episode, action, int(reason))

    def ruins_order(self, state: State, i: int, action: int) -> bool:
        """Return whether an action would ruin its order if the rules accept it."""
        tables, episode = self.compiled.tables, self._episode(state, i)
        at, order = self.compiled.parts(action)
        return bool(would_ruin(state.orders[i, order], tables.dishes[episode, order], tables.areas[episode, at]))

    def _after(self, state: State, i: int, earlier: Sequence[int]) -> State:
        after, (_, out) = clone(state, i), self.alloc(1)
        actions = np.zeros((1, self.n_agents), np.int32)
        actions[0, : len(earlier)] = earlier
        for _ in range(self.seat_to_act(state, i), len(earlier)):
            act_batch(self.compiled.tables, after, actions, out)
        return after

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"turn {state.clock[i, Clock.TURN] + 1}"

    def describe(self, state: State, i: int, seat: int) -> str:
        before, valid = self._listed(state, i, seat)
        return f"{before}\n\n{text.list_text(self.compiled, self._episode(state, i), valid)}"

    def _listed(self, state: State, i: int, seat: int) -> tuple[str, list[int]]:
        before, valid = text.describe(self.compiled, self.scene(state, i), seat), self.valid_actions(state, i)
        return before, in_drawn_order(valid, before) if self.kwargs["order"] == "shuffled" else valid

    def names(self) -> list[str]:
        recipes = dict.fromkeys(name for episode in self.scenario.episodes for name in episode.recipes)
        return [*self.compiled.names.goods, *recipes, *text.THINGS]

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return text.manual(self.compiled, self.max_cycles if state is None else int(state.clock[i, Clock.LIMIT]))

    def event_numbers(self, out: Out) -> np.ndarray:
        kinds: np.ndarray = out.events[..., EventColumn.CODE] * (out.events[..., EventColumn.REASON] == Reason.OK)
        return kinds

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [event_of(self.compiled.names, event) for event in out.events[i].tolist()]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.rush.text.picture import picture

        return picture(self.scenario, scene, self.display_names)


class AlienRush(KitchenRush):
    """Kitchen Rush, with all its options, in the vocabulary of the lexicon ``alien``."""

    id = "AlienRush-v0"
    language = "alien"
    lesson = ()  # its texts would translate the alien words
