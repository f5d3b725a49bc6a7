"""Housework and Transport as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import blocks_of, highest_of
from collab_overcooked.render.model import Drawing

from .engine.belief import Guess
from .engine.compile import compile_house
from .engine.config import HouseConfig, HouseworkConfig, TransportConfig
from .engine.constants import BLOCKS, MESSAGE, Event, EventColumn, Param, Reason, Verb
from .engine.state import Out, State
from .engine.step import BATCH_KERNELS
from .text.text import HouseText


class House(HouseText):
    """Agents search a home for things and bring them to a goal place; they know only things that they have seen.

    Takes the options of its ``config_class`` by position or name.
    """

    exact_masks = True
    config_class: type[HouseConfig]
    batch_kernels = BATCH_KERNELS
    array_classes = (State, Out)
    event_codes, reason_codes = Event, Reason
    step_key = "tick"
    global_state = ("rooms", "places", "things", "agents", "goals", "world", "macro_state")

    def __init__(self, *values: Any, **options: Any) -> None:
        config = self.config_class.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_house(config)
        tables, sizes = self.compiled.tables, self.compiled.sizes
        self.n_agents, self.n_actions = sizes.agents, tables.catalogue.shape[1]
        self.sizes = sizes.letters
        self.max_cycles = int(tables.params[Param.LIMIT])
        self._set_spaces(counts_to(highest_of(blocks_of(self.compiled.features))))

    def pay_bounds(self, out: Out) -> tuple[np.ndarray, np.ndarray]:
        """Every delivered thing pays all agents 1."""
        delivered = out.events[..., EventColumn.DELIVERED].sum(1, keepdims=True)
        paid = np.repeat(delivered, self.n_agents, 1).astype(np.float64)
        return paid, paid

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        for b in range(len(state.rng)):
            Guess(self.compiled.tables, State(*(array[b] for array in state)), seat, rng).draw()
        self.measure_home(state)

    def talk_action(self, seat: int, characters: int) -> int | None:
        paying = self.talk_actions(seat)
        return paying[min(max(-(-characters // MESSAGE), 1), BLOCKS) - 1] if paying else None

    def talk_actions(self, seat: int) -> list[int]:
        if not self.compiled.tables.params[Param.PAID_TALK]:
            return []
        pairs = self.compiled.tables.catalogue[self.compiled.tables.levels[seat]].tolist()
        return [action for action, (verb, _) in enumerate(pairs) if verb == Verb.SAY]

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import known_picture, picture

        return picture(scene, self.display_names) if seat is None else known_picture(scene, self.display_names)


class Housework(House):
    """C-WAH (Communicative Watch-And-Help) without Unity: two agents do household tasks in a home they must search."""

    id = "Housework-v0"
    config_class = HouseworkConfig
    tutorial = (
        ("look_inside", "opened .*", "cabinet|fridge|stove|dishwasher|microwave"),
        ("pick_up", "grasped .*", "item"),
        ("bring", "delivered .*", "goal_flag"),
    )


class Transport(House):
    """TDW-MAT (ThreeDWorld Multi-Agent Transport) without Unity: bring ten things to the bed, with containers."""

    id = "Transport-v0"
    config_class = TransportConfig
    tutorial = (
        ("look_around", "explored .*", ""),
        ("pick_up", "grasped .*", "item"),
        ("bring", "delivered .*", "goal_flag"),
    )
