"""CraftKitchen as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.envs.order_game import OrderGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.craft.engine.compile import compile_level
from collab_overcooked.games.craft.engine.config import CraftConfig
from collab_overcooked.games.craft.engine.constants import NOTHING, Clock, EventColumn, Place, Reason, Role, Verb
from collab_overcooked.games.craft.engine.observe import observe_batch
from collab_overcooked.games.craft.engine.rules import target_of, why_refused
from collab_overcooked.games.craft.engine.spec import Level
from collab_overcooked.games.craft.engine.state import Out, State
from collab_overcooked.games.craft.engine.step import reset_batch, step_batch
from collab_overcooked.games.craft.text import text
from collab_overcooked.games.craft.text.scene import check_scene, complete, scene_parts
from collab_overcooked.games.craft.text.seen import CraftView
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.render.model import Sheet


class CraftKitchen(OrderGame):
    """The Minecraft task of Gong et al. 2023 (MindAgent, section 7), re-implemented without Minecraft.

    Takes the options of ``CraftConfig`` by position or name.
    """

    id = "CraftKitchen-v0"
    config_class = CraftConfig
    array_classes = (State, Out)
    seat_view = CraftView
    step_kernels, observe_kernels, reset_kernels = (step_batch,), (observe_batch,), (reset_batch,)
    event_codes, reason_codes = Verb, Reason
    global_state = ("agents", "bags", "gone", "furnaces", "chest", "served", "orders", "clock")
    exact_masks = True
    forced_column = Clock.FORCED
    lesson = (
        ("hunt", "KILL .*"),
        ("chop", "MINE .*"),
        ("fuel", "FUEL .*"),
        ("roast", "INPUT .*"),
        ("meal", "TAKE .*"),
        ("chest", r"STORE putInChest\(cooked_\w+\)"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = CraftConfig.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compiled = compile_level(config)
        self.n_agents, self.n_actions = compiled.n_agents, len(compiled.tables.catalogue)
        self.max_cycles = compiled.level.max_cycles
        self.sizes = {
            "I": len(compiled.names.items),
            "P": len(compiled.names.places),
            "F": sum(place.role == "furnace" for place in compiled.level.places),
            "D": len(compiled.names.orders),
            "Q": compiled.slots,
            "K": 1 + max(Role.CHEST, int(compiled.tables.places[:, Place.KIND].max())),
        }
        self._set_spaces(counts_to(compiled.highest))

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled)

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return complete(self.compiled, state, i, scene)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def command(self, state: State, out: Out, commands: Sequence[str], i: int = 0) -> text.Report:
        """Step environment ``i`` with a list of simultaneous commands such as ``"goto(bot1, 'chest')"``.

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
        parsed, problems, unknown = text.read_list(self.compiled, commands)
        if unknown and self.compiled.config.strict_lists:
            parsed = {}
        one_state, one_out = rows(state, i, i + 1), rows(out, i, i + 1)
        actions = np.zeros((1, self.n_agents), np.int32)
        for seat, (_, action) in parsed.items():
            actions[0, seat] = action
        self.step(one_state, actions, one_out)
        reasons = self.rejections(one_state, one_out)[0].tolist()
        refused = [
            text.refusal(self.compiled, seat, action, reasons[seat]) for seat, (_, action) in sorted(parsed.items())
        ]
        obeyed = {k for seat, (k, _) in parsed.items() if not reasons[seat]}
        return text.Report(tuple(k in obeyed for k in range(len(commands))), (*problems, *filter(None, refused)))

    @property
    def level(self) -> Level:
        """The level as read from its file."""
        return self.compiled.level

    @property
    def display_names(self) -> tuple[str, ...]:
        return text.agent_names(self.n_agents)

    def names(self) -> list[str]:
        return [*self.compiled.names.items, *self.compiled.names.kinds]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        return [text.action_text(self.compiled, action) for action in range(self.n_actions)]

    def command_text(self, seat: int, action: int) -> str:
        """Return an action as a command of the paper, for example ``"goto(bot1, 'chest')"``."""
        return text.command_text(self.compiled, seat, action)

    def parse(self, action: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        return text.read_command(self.compiled, action)[1]

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables = self.compiled.tables
        agent, bag = state.agents[i, seat], state.bags[i, seat]
        row = tables.catalogue[action]
        p = target_of(row, agent, tables.places, state.gone[i])
        return int(why_refused(tables, row, p, agent, bag, state.furnaces[i]))

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        reason = self.why_refused(state, i, seat, action)
        return Reason(reason).name, text.refusal(self.compiled, seat, action, reason) or "Accepted."

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def describe(self, state: State, i: int, seat: int) -> str:
        return text.describe(self.compiled, self.scene(state, i))

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        return text.manual(self.compiled)

    def event_numbers(self, out: Out) -> np.ndarray:
        """Return the codes of commands that were carried out, NOTHING for refused ones, which are no ``wait``."""
        numbers: np.ndarray = np.where(out.events[..., EventColumn.REASON], NOTHING, super().event_numbers(out))
        return numbers

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [text.event_of(self.compiled, row) for row in out.events[i].tolist()]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.craft.text.picture import picture

        return picture(self.compiled, scene, self.display_names)
