"""CuisineWorld behind the ``Game`` protocol: options, spaces, names; no rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.api import clone, rows
from collab_overcooked.envs.order_game import OrderReport
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import blocks_of, highest_of
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.render.model import Drawing

from .engine.compile import catalogue_of, compile_level
from .engine.config import CuisineWorldConfig
from .engine.constants import NOTHING, UNLIMITED, Agent, Clock, Completion, EventColumn, OrderEvent, Reason, Row
from .engine.observe import original_bounds
from .engine.rules import FIRST_HELD, FIRST_MADE, apply_command, check_command
from .engine.spec import load_level
from .engine.state import Out, State, sizes_of
from .engine.step import ALL_ACCEPTED, BATCH_KERNELS, COMPLETION, LISTED, STEP_COST
from .text.scene import CuisineScene
from .text.seen import KitchenView
from .text.text import CuisineText, Void

TOOL = r"(?!storage|servingtable)[a-z]+\d+"  # names of tools on the board


class CuisineWorld(CuisineText, CuisineScene):
    """The game of Gong et al. 2024, "MindAgent: Emergent Gaming Interaction".

    Options by position or name are those of ``CuisineWorldConfig``.
    """

    id = "CuisineWorld-v0"
    forced_column, over_column = Clock.FORCED, Clock.OVER
    config_class = CuisineWorldConfig
    array_classes = (State, Out)
    reason_codes = Reason
    seat_view = KitchenView
    tutorial = (
        ("ingredient", r"GET get \w+ \w+", r"storage\d+"),
        ("fill", r"PUT put (?!servingtable).*", TOOL),
        ("start", r"(team: )?ACTIVATE .*", TOOL),
    )
    batch_kernels = BATCH_KERNELS
    global_state = ("agents", "tools", "served", "orders", "clock", "wanted")

    def __init__(self, *values: Any, **options: Any) -> None:
        config = CuisineWorldConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_level(load_level(config.level), config)
        self.level, tables = self.compiled.level, self.compiled.tables
        self.timing = self.level.timing(config.alpha, config.beta)
        possible, idle = catalogue_of(self.level)
        self.catalogue = [text for _, _, _, text in (*possible, *idle)]
        self.n_agents, self.n_actions = len(tables.turns), len(possible)
        self.max_cycles = self.level.max_cycles
        self.exact_masks = config.mask == "exact"
        max_open_orders = config.max_open_orders or self.level.max_open_orders
        self.sizes = sizes_of(tables, self.n_agents, max_open_orders)
        if config.obs == "original64":
            low, high = original_bounds(tables, max_open_orders)
            self._set_spaces(gymnasium.spaces.Box(low, high, dtype=np.float64))
        else:
            self._set_spaces(counts_to(highest_of(blocks_of(self.compiled.features))))

    @property
    def default_turns(self) -> tuple[int, ...]:
        return tuple(self.compiled.tables.turns.tolist())

    def _advance(self, state: State, out: Out) -> None:
        self.step(state, np.full((1, self.n_agents), LISTED, np.int32), out)

    def command(self, state: State, out: Out, commands: Sequence[str], i: int = 0) -> OrderReport:
        """Advance environment ``i`` by a list of command strings, carried out in their order or voided as a whole.

        Args:
            state: Batch to change.
            out: Written.
            commands: Such as ``["goto_agent0_pan0", "noop_agent1"]``.
            i: Environment index; the others do not change.

        Returns:
            Which commands were carried out, and one of the original's messages about each of the others.
        """
        one_state, one_out = rows(state, i, i + 1), rows(out, i, i + 1)
        order_events, slots = one_out.order_events[0], one_out.events[0]
        try:
            parsed = self.read_commands(commands)
        except Void as problem:
            order_events[OrderEvent.GIVEN] = -len(commands)
            self._advance(one_state, one_out)
            messages = tuple(str(part) for part in problem.args if part)
            return OrderReport((False,) * len(commands), messages, self.collect_finish(one_out, 0))
        for slot, command in zip(slots, parsed, strict=False):
            slot[EventColumn.AGENT], slot[EventColumn.CODE] = command
        order_events[OrderEvent.GIVEN] = len(parsed)
        self._advance(one_state, one_out)
        obeyed = tuple(slot[EventColumn.REASON] == Reason.OK for slot in slots[: len(parsed)].tolist())
        return OrderReport(obeyed, self.feedback(one_out, 0), self.collect_finish(one_out, 0))

    def pay_bounds(self, out: Out) -> tuple[np.ndarray, np.ndarray]:
        """Completed orders pay all agents, steps cost them; acceptance and shaped rewards add to that, never less."""
        numbers = out.order_events[:, OrderEvent.COMPLETED]
        remaining = out.completions[..., Completion.REMAINING]
        completed = np.arange(remaining.shape[1]) < numbers[:, None]
        least = STEP_COST + ((COMPLETION + remaining) * completed).sum(1, keepdims=True)
        shaped = FIRST_HELD * self.n_agents + FIRST_MADE * len(self.compiled.tables.places)
        least = np.repeat(least, self.n_agents, 1)
        return least, least + ALL_ACCEPTED + shaped

    def rejections(self, state: State, out: Out) -> np.ndarray:
        return out.refused

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables, row = self.compiled.tables, self.compiled.tables.catalogue[action]
        at = max(int(row[Row.PLACE]), 0)
        return int(check_command(tables, row, state.agents[i, seat], state.tools[i, at], tables.places[at]))

    def _why_refused_after(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int]) -> int:
        if earlier:
            state, i = self._after(clone(state, i), seat, earlier), 0
        return self.why_refused(state, i, seat, action)

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        return self.report(action, reason, seat, int(state.agents[i, seat, Agent.ITEM]))

    def _after(self, state: State, seat: int, earlier: Sequence[int]) -> State:
        command = np.zeros(len(EventColumn), np.int32)
        turns = self.turn_order(state, 0)
        for other in turns[: turns.index(seat)]:
            if other < len(earlier) and earlier[other] >= 0:
                command[EventColumn.AGENT], command[EventColumn.CODE] = other, earlier[other]
                apply_command(self.compiled.tables, row_at(state, 0), command)
        return state

    def order_events(self, out: Out, i: int) -> dict[str, Any]:
        """Return the events of orders in the last step of environment ``i``.

        Returns:
            ``completed`` (in queue order: ``order``, ``location`` of the table, ``remaining`` time, None for no end),
            ``collect_finish`` (whether there are any; the paper's signal), ``expired`` (how many), ``drawn`` (the new
            order or None), and ``game_over``, the original's flag, which is true in the step after the last one only.
        """
        names, row = self.level.order_names, out.order_events[i].tolist()
        completed = [
            {
                "order": names[order],
                "location": self.level.locations[place],
                "remaining": None if remaining == UNLIMITED else remaining,
            }
            for order, place, remaining in out.completions[i, : row[OrderEvent.COMPLETED]].tolist()
        ]
        drawn = None if row[OrderEvent.DRAWN] == NOTHING else names[row[OrderEvent.DRAWN]]
        last_call = bool(row[OrderEvent.LAST_CALL])
        return {
            "completed": completed,
            "collect_finish": self.collect_finish(out, i),
            "expired": row[OrderEvent.EXPIRED],
            "drawn": drawn,
            "game_over": last_call,
        }

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self.level, scene, self.display_names, self.timing.lifetimes)
