"""Housework and Transport as a ``Game``: options, spaces and texts; the rules are in ``engine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.house.engine.belief import sample_belief
from collab_overcooked.games.house.engine.compile import compile_house
from collab_overcooked.games.house.engine.config import HouseConfig, HouseworkConfig, TransportConfig
from collab_overcooked.games.house.engine.constants import BLOCKS, MESSAGE, Event, Param, Verb, World
from collab_overcooked.games.house.engine.state import Out, State
from collab_overcooked.games.house.engine.step import judge_batch, observe_batch, reset_batch, step_batch
from collab_overcooked.games.house.text import text
from collab_overcooked.games.house.text.scene import check_scene, complete, known_scene, scene_parts
from collab_overcooked.games.house.text.seen import HouseView
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.bound import bind
from collab_overcooked.render.model import Sheet


class House(CompiledGame):
    """Agents search a home for things and bring them to a goal place; they know only what they have seen.

    Args:
        *values: Options by position, in the order of the game's config.
        **options: Options by name.
    """

    exact_masks = True
    seat_view = HouseView
    config_class: type[HouseConfig]
    step_kernels, observe_kernels = (step_batch,), (observe_batch,)
    reset_kernels = (reset_batch,)
    array_classes = (State, Out)
    event_codes = Event
    step_key = "tick"
    global_state = ("rooms", "places", "things", "agents", "goals", "world", "macro_state")

    def __init__(self, *values: Any, **options: Any) -> None:
        config = self.config_class.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_house(config)
        self.levels = self.compiled.levels
        self.n_agents = self.compiled.sizes.agents
        self.sizes = self.compiled.sizes.letters
        self.n_actions = self.compiled.tables.catalogue.shape[1]
        self.max_cycles = int(self.compiled.tables.params[Param.LIMIT])
        self._set_spaces(counts_to(self.compiled.highest))

    def scene_parts(self) -> dict[str, Part]:
        return scene_parts(self.compiled, self.n_actions)

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return complete(self.compiled, state, i)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_scene(self.compiled, scene)

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace what a seat does not know by a sampled belief; see ``policies.search.simulator``."""
        sample_belief(self.compiled, state, seat, rng)

    def talk_action(self, seat: int, characters: int) -> int | None:
        paying = self.talk_actions(seat)
        return paying[min(max(-(-characters // MESSAGE), 1), BLOCKS) - 1] if paying else None

    def talk_actions(self, seat: int) -> list[int]:
        if not self.compiled.tables.params[Param.PAID_TALK]:
            return []
        pairs = self.compiled.tables.catalogue[self.compiled.tables.levels[seat]].tolist()
        return [action for action, (verb, _) in enumerate(pairs) if verb == Verb.SAY]

    @property
    def display_names(self) -> tuple[str, ...]:
        return text.NAMES[: self.n_agents]

    def names(self) -> list[str]:
        return text.names()

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        return text.action_texts(self.compiled, state, i, seat)

    def parse(self, action: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        return text.parse_action(self.action_texts(state, i, seat), action)

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        reasons = np.zeros(1, np.int32)
        bind(judge_batch, self.compiled.tables, rows(state, i, i + 1), int(seat), int(action), reasons)()
        return text.judged(int(reasons[0]))

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"time {state.world[i, World.T]}"

    def describe(self, state: State, i: int, seat: int) -> str:
        running = text.running_text(state, i, seat, self.action_texts(state, i, seat))
        return text.describe(self.seat_scene(self.scene(state, i), seat), running)

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        steps = self.max_cycles if state is None else int(state.world[i, World.MAX_STEPS])
        return text.manual(self.compiled, seat, self.n_agents, steps)

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        return known_scene(scene, seat)

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [text.event_of(row, self.action_texts(seat=seat)) for seat, row in enumerate(out.events[i].tolist())]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        from collab_overcooked.games.house.text.picture import known_picture, picture

        return picture(scene, self.display_names) if seat is None else known_picture(scene, self.display_names)


class Housework(House):
    """C-WAH (Communicative Watch-And-Help) without Unity: two agents do household tasks in a home they must search.

    Options: see ``HouseworkConfig``.
    """

    id = "Housework-v0"
    config_class = HouseworkConfig
    lesson = (("look_inside", "opened .*"), ("pick_up", "grasped .*"), ("bring", "delivered .*"))


class Transport(House):
    """TDW-MAT (ThreeDWorld Multi-Agent Transport) without Unity: bring ten things to the bed, with containers.

    Options: see ``TransportConfig``.
    """

    id = "Transport-v0"
    config_class = TransportConfig
    lesson = (("look_around", "explored .*"), ("pick_up", "grasped .*"), ("bring", "delivered .*"))
