"""CuisineWorld behind the ``Game`` protocol: options, spaces, names; no rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.api import clone, rows
from collab_overcooked.envs.compiled import KernelCall
from collab_overcooked.envs.order_game import OrderGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.cuisineworld.engine.compile import compile_level
from collab_overcooked.games.cuisineworld.engine.config import CuisineWorldConfig
from collab_overcooked.games.cuisineworld.engine.constants import NOTHING, Agent, Clock, EventColumn, OrderEvent, Row
from collab_overcooked.games.cuisineworld.engine.observe import bounds
from collab_overcooked.games.cuisineworld.engine.rules import apply_command, check_command
from collab_overcooked.games.cuisineworld.engine.spec import Level, load_level
from collab_overcooked.games.cuisineworld.engine.state import Out, State, sizes_of
from collab_overcooked.games.cuisineworld.engine.step import observe_batch, queue_commands, reset_batch, step_batch
from collab_overcooked.games.cuisineworld.text import text
from collab_overcooked.games.cuisineworld.text.scene import check_scene, complete, scene_parts
from collab_overcooked.games.cuisineworld.text.seen import KitchenView
from collab_overcooked.io.checks import parse_text
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.bound import bind
from collab_overcooked.render.model import Sheet


class CuisineWorld(OrderGame):
    """The game of Gong et al. 2023, "MindAgent: Emergent Gaming Interaction".

    Options by position or name are those of ``CuisineWorldConfig``.
    """

    id = "CuisineWorld-v0"
    forced_column = Clock.FORCED
    config_class = CuisineWorldConfig
    array_classes = (State, Out)
    seat_view = KitchenView
    lesson = (
        ("ingredient", r"GET get \w+ \w+"),
        ("fill", r"PUT put (?!servingtable).*"),
        ("start", r"ACTIVATE .*"),
        ("product", r"GET get \w+"),
        ("dish_up", r"PUT put servingtable\d*"),
    )
    observe_kernels, reset_kernels = (observe_batch,), (reset_batch,)
    global_state = ("agents", "tools", "served", "orders", "clock", "wanted")

    def __init__(self, *values: Any, **options: Any) -> None:
        config = CuisineWorldConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_level(load_level(config.level), config)
        self.timing = self.compiled.timing
        self.n_agents = self.compiled.n_agents
        self.n_actions = self.compiled.n_actions
        self.max_cycles = self.level.max_cycles
        self.exact_masks = config.mask == "exact"
        self.sizes = sizes_of(self.compiled.tables, self.n_agents, self.compiled.max_open_orders)
        low, high = bounds(self.compiled.tables, self.n_agents, self.compiled.max_open_orders)
        original = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self._set_spaces(original if config.obs == "original64" else counts_to(high))

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled)

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        super()._encode(state, i, scene)
        if "accomplished" in scene:
            state.clock[i, Clock.COMPLETED] = scene.get("completed", len(scene["accomplished"]))

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return complete(self.compiled, state, i, scene)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def step_calls(self, state: State, actions: np.ndarray, out: Out) -> tuple[KernelCall, ...]:
        tables = self.compiled.tables
        return (queue_commands, (tables, actions, out)), (step_batch, (tables, state, out))

    def _advance(self, state: State, out: Out) -> None:
        bind(step_batch, self.compiled.tables, state, out)()
        self._show(state, out)

    def command(self, state: State, out: Out, commands: Sequence[str], i: int = 0) -> text.Report:
        """Advance environment ``i`` by a list of command strings, carried out in their order or voided as a whole.

        Args:
            state: Batch to change.
            out: Written.
            commands: Such as ``["goto_agent0_pan0", "noop_agent1"]``.
            i: Environment index; the others do not change.

        Returns:
            Which commands were carried out, and the original's messages about the others.
        """
        one_state, one_out = rows(state, i, i + 1), rows(out, i, i + 1)
        order_events, slots = one_out.order_events[0], one_out.events[0]
        try:
            parsed = text.read_commands(self.compiled.names, self.n_agents, commands)
        except text.Void as problem:
            order_events[OrderEvent.GIVEN] = -len(commands)
            self._advance(one_state, one_out)
            return text.Report((False,) * len(commands), tuple(str(part) for part in problem.args if part))
        for slot, command in zip(slots, parsed, strict=False):
            slot[EventColumn.AGENT], slot[EventColumn.CODE] = command
        order_events[OrderEvent.GIVEN] = len(parsed)
        self._advance(one_state, one_out)
        return text.outcome(self.compiled, slots.tolist(), len(parsed))

    def rejections(self, state: State, out: Out) -> np.ndarray:
        return out.refused

    @property
    def level(self) -> Level:
        """The level as read from its file."""
        return self.compiled.level

    @property
    def display_names(self) -> tuple[str, ...]:
        return tuple(f"agent{i}" for i in range(self.n_agents))

    def orderable(self) -> tuple[str, ...]:
        return self.compiled.names.orders

    def names(self) -> list[str]:
        names = self.compiled.names
        return [*names.items, *names.orders, *names.places, *self.level.tools]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        return list(self.compiled.names.catalogue[: self.n_actions])

    def command_text(self, seat: int, action: int) -> str:
        """Return an action as the original's command string, for example ``"goto_agent1_pan0"``."""
        return text.command_text(self.compiled.names, seat, action)

    def parse(self, action: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        return text.parse_action(self.compiled.names, parse_text(action))

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        tables, row = self.compiled.tables, self.compiled.tables.catalogue[action]
        if earlier:
            state, i = self._after(clone(state, i), seat, earlier), 0
        agent, at = state.agents[i, seat], max(int(row[Row.PLACE]), 0)
        reasons = int(
            check_command(row, agent, state.tools[i, at], tables.places[at], tables.sizes, tables.uses, tables.sold)
        )
        if reasons == 0:
            return "OK", "Accepted."
        lines = text.report(self.compiled, action, reasons, seat, int(agent[Agent.ITEM]))
        return "+".join(reason.name for reason in text.reasons_of(reasons)), "; ".join(lines)

    def _after(self, state: State, seat: int, earlier: Sequence[int]) -> State:
        tables, command = self.compiled.tables, np.zeros(len(EventColumn), np.int32)
        turns = self.compiled.turn_order
        for other in turns[: turns.index(seat)]:
            if other < len(earlier):
                row = tables.catalogue[earlier[other]]
                at = max(int(row[Row.PLACE]), 0)
                apply_command(
                    command,
                    row,
                    state.agents[0, other],
                    state.tools[0, at],
                    tables.places[at],
                    tables.sizes,
                    tables.uses,
                    tables.sold,
                    state.served[0],
                    tables.params,
                )
        return state

    def feedback(self, out: Out, i: int) -> tuple[str, ...]:
        """Return the game's messages of the last step of environment ``i``, unless its commands were voided."""
        return text.feedback(self.compiled, out.events[i].tolist(), int(out.order_events[i, OrderEvent.GIVEN]))

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def describe(self, state: State, i: int, seat: int) -> str:
        """Return the observation in the form of the original's prompts; all seats see the same."""
        return text.describe(self.compiled, self.scene(state, i))

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        events: list[dict[str, Any] | None] = [None] * self.n_agents
        for command in out.events[i, : max(int(out.order_events[i, OrderEvent.GIVEN]), 0)].tolist():
            events[command[EventColumn.AGENT]] = text.event_of(self.compiled, command)
        return events

    def order_events(self, out: Out, i: int) -> dict[str, Any]:
        """Return the events of orders in the last step of environment ``i``.

        Returns:
            ``completed`` (in queue order: ``order``, ``location`` of the table, ``remaining`` time, None for no end),
            ``expired`` (how many), ``drawn`` (the new order or None), and ``game_over``, the original's flag, which
            is true in the step after the last one only.
        """
        names, row = self.compiled.names, out.order_events[i].tolist()
        completed = [
            {
                "order": names.orders[order],
                "location": names.places[place],
                "remaining": None if remaining == NOTHING else remaining,
            }
            for order, place, remaining in out.completions[i, : row[OrderEvent.COMPLETED]].tolist()
        ]
        drawn = None if row[OrderEvent.DRAWN] == NOTHING else names.orders[row[OrderEvent.DRAWN]]
        last_call = bool(row[OrderEvent.LAST_CALL])
        return {"completed": completed, "expired": row[OrderEvent.EXPIRED], "drawn": drawn, "game_over": last_call}

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.cuisineworld.text.picture import picture

        return picture(self.level, scene, self.display_names, self.timing.lifetimes)
