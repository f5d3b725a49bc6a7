"""CollabCapture and CollabEscape as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import blocks_of, highest_of
from collab_overcooked.render.model import Drawing

from .engine import rules
from .engine.compile import compile_rooms
from .engine.config import CaptureConfig, EscapeConfig, RoomsConfig
from .engine.constants import TURNS, Adversary, Clock, Event, EventColumn, Goal, Param, Reason
from .engine.state import Out, State, sizes_of
from .engine.step import BATCH_KERNELS
from .text.seen import RoomBelief, RoomView
from .text.text import RoomText


class RoomGame(RoomText, RoomBelief):
    """A game on a graph of rooms, played against a thief or a killer that no agent controls.

    Takes the options of ``config_class`` by position or name.
    """

    goal: ClassVar[Goal]
    config_class: type[RoomsConfig]
    exact_masks = True
    batch_kernels = BATCH_KERNELS
    array_classes = (State, Out)
    event_codes, reason_codes = Event, Reason
    seat_view = RoomView
    global_state = ("players", "generators", "clock")
    step_key = "turn"

    def __init__(self, *values: Any, **options: Any) -> None:
        config = self.config_class.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_rooms(self.goal, config)
        self.level = self.compiled.level
        self.n_agents = self.compiled.n_players
        self.n_actions = self.compiled.n_rooms + 2
        self.max_cycles = TURNS
        wanders = self.goal == Goal.ESCAPE and self.compiled.tables.params[Param.ADVERSARY] == Adversary.CODED
        self.deterministic = not wanders and not self.compiled.tables.params[Param.RANDOM_GENERATORS]
        self.sizes = sizes_of(self.compiled.tables)
        self.unsaved = () if config.sight == "room" else ("sightings", "known_doors", "known_repairs")
        self._set_spaces(counts_to(highest_of(blocks_of(self.compiled.features))))

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables, doors = self.compiled.tables, state.clock[i, Clock.DOORS]
        player, generators = state.players[i, seat], state.generators[i]
        return int(rules.why_refused(action, player, generators, doors, tables.passages, tables.rooms))

    def is_success(self, out: Out, i: int) -> bool:
        column = EventColumn.CAUGHT if self.goal == Goal.CAPTURE else EventColumn.ESCAPED
        return bool(out.events[i, :, column].any())

    def pay_bounds(self, out: Out) -> tuple[np.ndarray, np.ndarray]:
        """Success pays all players 1; who is caught may cost them 1, and turns cost 0.01 with ``reward="timed"``."""
        caught = out.events[..., EventColumn.CAUGHT].max(1, keepdims=True) > 0
        escaped = out.events[..., EventColumn.ESCAPED].max(1, keepdims=True) > 0
        success = caught if self.goal == Goal.CAPTURE else escaped
        turn = 0.01 if self.kwargs["reward"] == "timed" else 0.0
        most = np.repeat(success - turn, self.n_agents, 1)
        return most - (caught & ~success), most

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self.level, scene, self.display_names)


class CollabCapture(RoomGame):
    """Players catch a thief on a graph of rooms with doors."""

    id = "CollabCapture-v0"
    goal = Goal.CAPTURE
    things = ("thief", "button")
    tutorial = (("walk", "moved .*", "room"), ("catch", "(team: )?.* caught", "thief"))
    config_class = CaptureConfig


class CollabEscape(RoomGame):
    """Survivors repair generators and escape from a killer."""

    id = "CollabEscape-v0"
    goal = Goal.ESCAPE
    things = ("killer", "generator")
    tutorial = (
        ("walk", "moved .*", "room"),
        ("repair", "fixed .*", "generator"),
        ("complete", "(team: )?fixed .* completed", "generator"),
    )
    config_class = EscapeConfig
