"""Overcooked behind the ``Game`` protocol: options, spaces, names; no rule."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import parse_text
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.render.model import Drawing

from .engine.compile import WALKABLE, compile_layouts, number_regions
from .engine.config import OvercookedConfig
from .engine.constants import (
    HORIZON,
    LETTERS,
    WAIT,
    Action,
    Change,
    Clock,
    Event,
    Kind,
    LayoutSize,
    Order,
    Path,
    Reason,
    Thing,
)
from .engine.generate import generate, read_generator_config
from .engine.observation_layout import check_view
from .engine.observe import mask_primitive
from .engine.rules import is_ready
from .engine.solvability import FLOOR
from .engine.spec import SOUPS, Layout, load_kitchen, number_of
from .engine.state import Out, State
from .engine.step import BATCH_KERNELS, DIRECTIVES
from .pool import PROCEDURAL, read_pool, refuse_generator
from .text import text
from .text.manual import OvercookedManual, Reader


class LayoutView(SeatView):
    """Knowledge of one player."""

    public_actions = True

    @property
    def objective(self) -> str:
        return self._say(plain(self._game).orders_text(int(self._state.clock[0, Clock.LAYOUT])))

    @property
    def picture_rules(self) -> str:
        return self._say(plain(self._game).picture_rules(self._state, 0, self._seat))

    def consequence(self, event: Any) -> str:
        team = plain(self._game).consequences(event)
        own = ""
        if event.event == Event.SOUP_DELIVERY.name.lower():
            own = f"It pays {event.sparse:g} points." if event.sparse else "Nobody ordered it: it pays nothing."
            own = f"Less the player's share of the loss, it pays {event.sparse:g} points." if team else own
        return self._say(" ".join([*([own] if own else []), *team]))

    @property
    def picture_manual(self) -> str:
        return self._manual_for(Reader(pictures=True))

    @property
    def lone_texts(self) -> tuple[str, str]:
        state = plain(self._game).description(self._state, 0, self._seat, (self._seat,))
        return self._manual_for(Reader(alone=True)), self._say(state)

    def _manual_for(self, reader: Reader) -> str:
        return self._say(plain(self._game).manual_for(reader, self._state, 0, self._seat))

    @cached_property
    def surroundings(self) -> str:
        return self.text.partition(self._say(text.MENU))[0].rstrip()

    @cached_property
    def wait_until_changed(self) -> Hashable | None:  # type: ignore[override]
        """Kitchen, announcement, order, hands, things, gates and possible directives; None with primitive actions."""
        if self._game.levels[self._seat] != MEDIUM:
            return None
        seen = self._game.look(self._state, 0, self._seat)
        layout = int(self._state.clock[0, Clock.LAYOUT])
        announced = plain(self._game).steps_to_change(self._state, 0) > 0
        times = self._game.compiled.tables.times[layout]
        things = seen["objects"].items()
        cells = ((name, *thing[: Thing.TICK], bool(is_ready(np.array(thing), times))) for name, thing in things)
        # The nearest counter changes with every move
        counters = f"put on {LETTERS[Kind.COUNTER]}"
        possible = (directive for directive in seen["feasible"] if not directive.startswith(counters))
        order = int(self._state.clock[0, Clock.RECIPE])
        return layout, announced, order, tuple(seen["holding"].values()), tuple(cells), tuple(possible)


class Overcooked(OvercookedManual):
    """The soup kitchens of Overcooked-AI (Carroll et al. 2019), with the gates of Overcooked-Assist (LLM-Co, 2023).

    Options by position or name are those of ``OvercookedConfig``.
    """

    id = "Overcooked-v0"
    exact_masks = True
    config_class = OvercookedConfig
    seat_view = LayoutView
    things = text.THINGS
    array_classes = (State, Out)
    reason_codes = Reason
    event_codes = Event
    events_are_bits = True
    max_cycles = HORIZON
    tutorial = (
        ("take", r"\S+ take (onion|tomato)", "crate"),
        ("pot", r"\S+ put (onion|tomato) in pot", "pot"),
        ("put_down", r"\S+ put \w+ down", "counter"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = OvercookedConfig.read(values, options)
        config = _with_size(config)
        check_view(config)
        self.kwargs = config.to_dict()
        self.kept_between_episodes = () if config.gate_reset else ("cells",)
        pool = load_pool(config.layout, config.generator, config.agents)
        if len(pool) > 1 and not config.gate_reset:
            raise ValueError("gate_reset=False is for one layout; in a pool the gates of one are not those of the next")
        self.compiled = compile_layouts(pool, config)
        self.layout_names = tuple(self.compiled.names) if len(pool) > 1 else ()
        drawn = config.random_start or bool((self.compiled.tables.frames[:, LayoutSize.RECIPES] > 1).any())
        steps_aside = config.text_rules == "strict" and self._can_block()  # players who are stuck do so by chance
        self.deterministic = len(pool) == 1 and not drawn and not steps_aside
        values = self.compiled.tables.values[:, list(map(number_of, SOUPS))]
        self.events_pay = config.order_time is None and len(np.unique(values)) == 1
        if config.reward == "sparse":
            most = float(self.compiled.tables.values.max())
            self.event_pay = [Pay("soup_delivery", team=(0, most)), *self.team_pays()]
        self.n_agents = self.compiled.n_players
        self.levels = self.compiled.levels
        self.has_macros = MEDIUM in self.levels
        self._directives = self.directive_texts if self.has_macros else ()
        sizes = {MEDIUM: len(self.compiled.tables.catalogue), PRIMITIVE: len(Action)}
        self.n_actions = max(sizes[level] for level in self.levels)
        changes = config.changes is not None
        macros = ("macro_state",) if self.has_macros else ()
        optional = {"changes": len(Change) if changes else 0, "order": len(Order) if config.order_time else 0}
        self.global_state = ("players", "cells", "clock", *macros, *(name for name, size in optional.items() if size))
        height, width = self.compiled.tables.terrain.shape[1:]
        self.sizes = {"H": height, "W": width, "layers": len(Path) if self.has_macros else 0, "kinds": 0, **optional}
        self.planes_axis = (config.axes or "whc").index("c")
        self._set_spaces(self.compiled.space)

    def _can_block(self) -> bool:
        """Return whether another player can be in the way of one that is given directives."""
        tables = self.compiled.tables
        for terrain, starts in zip(tables.terrain, tables.starts.tolist(), strict=True):
            regions = number_regions(terrain, WALKABLE)
            rooms = [int(regions[y, x]) for x, y in starts]
            directed = [room for room, level in zip(rooms, self.compiled.levels, strict=True) if level == MEDIUM]
            if any(rooms.count(room) > 1 for room in directed):
                return True
        return False

    def with_spare_planes(self, planes: int) -> Overcooked:
        drawn = copy.copy(self)
        drawn.__setstate__({"compiled": compile_layouts(self.layouts, self.compiled.config, planes)})
        return drawn

    def tutorial_for(self, seat: int) -> tuple[tuple[str, str, str], ...]:
        starts = self.compiled.tables.starts[:, seat].tolist()
        names = [name for k, (x, y) in enumerate(starts) for name in self.within_reach(k, (x, y), FLOOR)]
        gives_onions = all(layout.cells("O") for layout in self.layouts)  # taking tomatoes from dispensers is no event
        possible = {"take": gives_onions, "pot": any(name.startswith(LETTERS[Kind.POT]) for name in names)}
        return tuple(step for step in self.tutorial if possible.get(step[0], True))

    @property
    def batch_kernels(self) -> BatchKernels:  # type: ignore[override]
        return DIRECTIVES if self.has_macros else BATCH_KERNELS

    @property
    def display_names(self) -> tuple[str, ...]:
        return text.NAMES[: self.n_agents]

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        return list(self.directive_texts if self.levels[seat] == MEDIUM else text.PRIMITIVE_TEXTS)

    def parse(self, action: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        if self.levels[seat] == MEDIUM:
            return self.parse_directive(parse_text(action))
        return super().parse(action, state, i, seat)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        return text.read_answer(parse_text(plan, "plan")), []

    def idle_action(self, seat: int = 0) -> int:
        return WAIT if self.levels[seat] == MEDIUM else int(Action.STAY)

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        if self.levels[seat] == MEDIUM:
            return self.judge(state, i, seat, action)
        if action > Action.INTERACT:
            return int(Reason.NO_SUCH_ACTION)
        tables = self.compiled.tables
        k = state.clock[i, Clock.LAYOUT]
        mask = np.zeros(len(Action), np.int8)
        kitchen = state.cells[i], tables.terrain[k], tables.times[k], tables.prepare, tables.params
        mask_primitive(state.players[i, seat], *kitchen, mask)
        return int(Reason.OK if mask[action] else Reason.NO_EFFECT)

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        k = self.layout_index(scene["layout"])
        return picture(self.layouts[k], scene, self.display_names, self.object_names[k], self.coming(k))


def _with_size(config: OvercookedConfig) -> OvercookedConfig:
    """Return the config with the size of pictures of generated layouts, so that all pools of like config have it."""
    whole_maps = config.obs != "features" and config.view_radius is None
    if config.size is not None or not whole_maps or config.layout != PROCEDURAL:
        return config
    sizes = read_generator_config(config.generator)
    return replace(config, size=[sizes.width[1], sizes.height[1]])


def load_pool(source: Any, generator: Mapping[str, Any] | None = None, agents: int | None = None) -> list[Layout]:
    """Read one layout or several, or generate them.

    Raises:
        ValueError: The source has another type, or options of the generator are given without it.
        DocumentError: A file is invalid.
    """
    if source == PROCEDURAL:
        return generate(read_generator_config({**({} if agents is None else {"agents": agents}), **(generator or {})}))
    refuse_generator(source, generator)
    return read_pool(source, load_kitchen)
