"""CraftKitchen as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.order_game import OrderReport, OrderView
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import blocks_of, highest_of
from collab_overcooked.render.model import Drawing

from .engine.compile import CraftConfig, catalogue_of, compile_level
from .engine.constants import NOTHING, Clock, EventColumn, OrderEvent, Reason, Verb
from .engine.rules import target_of, why_refused
from .engine.state import Out, State, sizes_of
from .engine.step import BATCH_KERNELS
from .text.text import CHOSEN, VERBS, CraftText


class CraftView(OrderView):
    """Knowledge of one agent."""

    goto = Verb.GOTO

    @property
    def objective(self) -> str:
        lifetime = self._game.compiled.config.lifetime
        return self._say(f"Every order that is served within {plural(lifetime, 'step')} counts 1.")

    def own_event_label(self, label: str) -> str:
        verb, _, place = label.removesuffix(")").partition("(")
        gathered = verb in (VERBS[Verb.KILL], VERBS[Verb.MINE])  # commands name a kind, events the one that is gone
        return super().own_event_label(f"{verb}({place.rstrip('0123456789')})" if gathered else label)

    @property
    def picture_rules(self) -> str:
        return self._say(plain(self._game).rules_text(CHOSEN))


class CraftKitchen(CraftText):
    """The Minecraft task of Gong et al. 2024 (MindAgent, section 7), re-implemented without Minecraft.

    Takes the options of ``CraftConfig`` by position or name.
    """

    id = "CraftKitchen-v0"
    config_class = CraftConfig
    array_classes = (State, Out)
    seat_view = CraftView
    batch_kernels = BATCH_KERNELS
    event_codes, reason_codes = Verb, Reason
    global_state = ("agents", "bags", "gone", "furnaces", "chest", "served", "orders", "clock")
    exact_masks = True
    forced_column, over_column = Clock.FORCED, Clock.OVER
    tutorial = (("hunt", "KILL .*", "mob"), ("chop", "MINE .*", "log"), ("furnace", "(INPUT|FUEL) .*", "furnace"))

    def __init__(self, *values: Any, **options: Any) -> None:
        config = CraftConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_level(config)
        self.level, tables = self.compiled.level, self.compiled.tables
        self.commands = [(verb, word) for verb, word, _, _ in catalogue_of(self.level)]
        self.texts = tuple(f"{VERBS[verb]}({word})" for verb, word in self.commands)
        self.n_agents, self.n_actions = len(tables.starts), len(self.commands)
        self.max_cycles = self.level.max_cycles
        self.sizes = sizes_of(tables)
        self._set_spaces(counts_to(highest_of(blocks_of(self.compiled.features))))

    def pay_bounds(self, out: Out) -> tuple[np.ndarray, np.ndarray]:
        """Every completed order pays all agents 1."""
        paid = np.repeat(out.order_events[:, [OrderEvent.COMPLETED]], self.n_agents, 1).astype(np.float64)
        return paid, paid

    def orderable(self) -> tuple[str, ...]:
        return tuple(self.level.dishes)

    def command(self, state: State, out: Out, commands: Sequence[str], i: int = 0) -> OrderReport:
        """Step environment ``i`` with a list of simultaneous commands such as ``"goto(bot1, 'chest')"``.

        If several agents want the same thing, the one whose command comes first in the list gets it.

        Agents without a command do nothing. A command that cannot be parsed is reported and skipped; one with an
        unknown name voids the whole list unless option ``strict_lists`` is off.

        Args:
            state: Batch to change.
            out: Written.
            commands: At most one per agent.
            i: Environment index; the others do not change.

        Returns:
            Which commands were carried out, and messages about the others.
        """
        parsed, problems, unknown = self.read_list(commands)
        if unknown and self.compiled.config.strict_lists:
            parsed = {}
        one_state, one_out = rows(state, i, i + 1), rows(out, i, i + 1)
        actions = np.zeros((1, self.n_agents), np.int32)
        for seat, (_, action) in parsed.items():
            actions[0, seat] = action
        self.set_turn_order(one_state, 0, [*parsed, *(seat for seat in range(self.n_agents) if seat not in parsed)])
        self.step(one_state, actions, one_out)
        reasons = self.rejections(one_state, one_out)[0].tolist()
        given = [(seat, action) for seat, (_, action) in sorted(parsed.items()) if reasons[seat]]
        refused = [self.refusal(seat, action, reasons[seat]) for seat, action in given]
        obeyed = {k for seat, (k, _) in parsed.items() if not reasons[seat]}
        return OrderReport(
            tuple(k in obeyed for k in range(len(commands))), (*problems, *refused), self.collect_finish(one_out, 0)
        )

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables = self.compiled.tables
        agent, bag = state.agents[i, seat], state.bags[i, seat]
        row = tables.catalogue[action]
        p = target_of(row, agent, tables.places, state.gone[i])
        return int(why_refused(tables, row, p, agent, bag, state.furnaces[i]))

    def event_numbers(self, out: Out) -> np.ndarray:
        """Return the codes of executed commands; NOTHING for refused ones, which must not count as ``wait``."""
        numbers: np.ndarray = np.where(out.events[..., EventColumn.REASON], NOTHING, super().event_numbers(out))
        return numbers

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self, scene)
