"""CollabCapture and CollabEscape as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part, write_scene
from collab_overcooked.games.rooms.engine import rules
from collab_overcooked.games.rooms.engine.compile import compile_rooms
from collab_overcooked.games.rooms.engine.config import CaptureConfig, EscapeConfig, RoomsConfig
from collab_overcooked.games.rooms.engine.constants import (
    TURNS,
    Adversary,
    Clock,
    Deed,
    EventColumn,
    Generator,
    Goal,
    Outcome,
    Param,
    Player,
    Reason,
)
from collab_overcooked.games.rooms.engine.solver import worst_case_values
from collab_overcooked.games.rooms.engine.spec import RoomLayout
from collab_overcooked.games.rooms.engine.state import Out, State, event_of, sizes_of
from collab_overcooked.games.rooms.engine.step import observe_batch, reset_batch, settle_batch, step_batch
from collab_overcooked.games.rooms.text import text
from collab_overcooked.games.rooms.text.scene import check_scene, check_sight, known_part, scene_parts
from collab_overcooked.games.rooms.text.seen import RoomView, limit_scene, sample_belief
from collab_overcooked.io.text import in_drawn_order
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.render.model import Sheet


class RoomGame(CompiledGame):
    """A game on a graph of rooms, played against a thief or a killer that no agent controls.

    Takes the options of ``config_class`` by position or name.
    """

    goal: ClassVar[Goal]
    config_class: type[RoomsConfig]
    exact_masks = True
    step_kernels, observe_kernels, reset_kernels = (step_batch,), (observe_batch,), (reset_batch,)
    array_classes = (State, Out)
    event_codes = Deed
    seat_view = RoomView
    global_state = ("players", "generators", "clock")
    step_key = "turn"

    def __init__(self, *values: Any, **options: Any) -> None:
        config = self.config_class.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_rooms(self.goal, config)
        self.n_agents = self.compiled.n_players
        self.n_actions = self.compiled.n_rooms + 2
        self.max_cycles = TURNS
        if self.compiled.tables.params[Param.ADVERSARY] == Adversary.WORST:
            self.compiled = worst_case_values(self.compiled)
        self.sizes = sizes_of(self.compiled.tables)
        self.unsaved = () if config.sight == "room" else ("sightings", "known_doors", "known_repairs")
        self._set_spaces(counts_to(self.compiled.highest))

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled)

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        super()._encode(state, i, scene)
        clock = state.clock[i]
        if clock[Clock.OUTCOME] == Outcome.RUNNING and clock[Clock.T] >= clock[Clock.LIMIT]:
            clock[Clock.OUTCOME] = Outcome.TIME_OUT

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        is_decided = "target" in scene.get("adversary", {})  # otherwise the killer decides again
        settle_batch(self.compiled.tables, rows(state, i, i + 1), np.array([not is_decided]))
        if "known" in scene:
            write_scene(known_part(self.compiled), state, i, scene["known"])
        outcome = state.clock[i, Clock.OUTCOME]
        return outcome not in (Outcome.RUNNING, Outcome.TIME_OUT), outcome == Outcome.TIME_OUT

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def _check_completed(self, scene: dict[str, Any]) -> None:
        check_sight(self.compiled, scene)

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace what a seat does not know by a sampled belief; see ``policies.search.simulator``."""
        sample_belief(self.compiled, state, seat, rng)

    @property
    def level(self) -> RoomLayout:
        """The layout as read from its file."""
        return self.compiled.level

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        return text.action_texts(self.compiled)

    def menu(self, state: State | None, i: int, seat: int) -> list[int]:
        """Return the valid actions of a seat, in the order of its menu; without a state, at the start."""
        if state is None:
            state, out = self.alloc(1)
            self.reset(state, out, np.ones(1, np.bool_))
        mask = [self.why_refused(state, i, seat, action) == Reason.OK for action in range(self.n_actions)]
        return text.menu(self.compiled, mask, int(state.players[i, seat, Player.ROOM]))

    def is_useless(self, state: State, i: int, seat: int) -> bool:
        """Return whether a seat's use of its room would change nothing: its generator is repaired, without a button."""
        room = int(state.players[i, seat, Player.ROOM])
        if any(door.button == room for door in self.level.doors):
            return False
        here = state.generators[i, state.generators[i, :, Generator.ROOM] == room, Generator.PROGRESS]
        return bool(len(here) and (here >= self.compiled.config.fixes).all())

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables, doors = self.compiled.tables, state.clock[i, Clock.DOORS]
        player, generators = state.players[i, seat], state.generators[i]
        return int(rules.why_refused(action, player, generators, doors, tables.passages, tables.rooms))

    def parse(self, action: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        listed = self.menu(state, i, seat) if state is None else self._listed(state, i, seat)[1]
        return text.parse_action(self.compiled, action, listed)

    def _listed(self, state: State, i: int, seat: int) -> tuple[str, list[int]]:
        scene, listed = self.seat_scene(self.scene(state, i), seat), self.menu(state, i, seat)
        if self.compiled.config.menu == "plain" and self.is_useless(state, i, seat):  # labels are those of the paper
            listed = [action for action in listed if action != self.compiled.n_rooms + 1]
        before = text.describe(self.compiled, scene, seat, self.display_names)
        is_drawn = self.compiled.config.order == "shuffled" and self.compiled.config.menu != "plain"
        return before, in_drawn_order(listed, before) if is_drawn else listed

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        reason = self.why_refused(state, i, seat, action)
        return Reason(reason).name, text.refusal(self.compiled, int(state.players[i, seat, Player.ROOM]), reason)

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"turn {timestep + 1}"

    def describe(self, state: State, i: int, seat: int) -> str:
        before, listed = self._listed(state, i, seat)
        return f"{before}\n{text.menu_text(self.compiled, listed)}"

    def names(self) -> list[str]:
        return [*self.things, *(name for name in self.level.rooms if not name.isdecimal())]

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return text.manual(self.compiled, self.max_cycles if state is None else int(state.clock[i, Clock.LIMIT]))

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        visible = super().seat_scene(scene, seat)
        return limit_scene(visible, seat) if "known" in visible else visible

    def is_success(self, out: Out, i: int) -> bool:
        column = EventColumn.CAUGHT if self.goal == Goal.CAPTURE else EventColumn.ESCAPED
        return bool(out.events[i, :, column].any())

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [event_of(self.level, event) for event in out.events[i].tolist()]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.rooms.text.picture import picture

        return picture(self.compiled, scene, self.display_names)


class CollabCapture(RoomGame):
    """Players catch a thief on a graph of rooms with doors."""

    id = "CollabCapture-v0"
    goal = Goal.CAPTURE
    things = ("thief", "button")
    lesson = (("walk", "moved .*"), ("catch", "(team: )?.* caught"))
    config_class = CaptureConfig


class CollabEscape(RoomGame):
    """Survivors repair generators and escape from a killer."""

    id = "CollabEscape-v0"
    goal = Goal.ESCAPE
    things = ("killer", "generator")
    lesson = (
        ("repair", "fixed .*"),
        ("complete", "(team: )?fixed .* completed"),
        ("escape", "(team: )?moved .* escaped"),
    )
    config_class = EscapeConfig
