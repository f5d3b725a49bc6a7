"""Pools of layouts, of which an episode plays one or all in turn, in Overcooked and in OvercookedV2."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.io.checks import quote_value
from collab_overcooked.io.schema import Parser, one_of
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.grid import Direction

from .engine.constants import (
    BELTS,
    BOARD_WORK,
    FIRST_BELT,
    MACHINE_WORK,
    NOTHING,
    PREPARING,
    Change,
    ChangeTime,
    Clock,
    EventColumn,
    KitchenEvent,
    LayoutSize,
    Order,
    Param,
    Terrain,
)
from .engine.rules import next_layout
from .engine.state import Out, State

Layout = TypeVar("Layout")
PREPARED = {Terrain.BOARD: "chopped", Terrain.GRILL: "grilled", Terrain.BLENDER: "blended"}
PROCEDURAL = "procedural"  # layout of a pool that is generated


def refuse_generator(source: Any, generator: Mapping[str, Any] | None) -> None:
    """Refuse options of the generator for layouts that are not generated.

    Raises:
        ValueError: There are some.
    """
    if generator is not None:
        raise ValueError(f"generator is for layout {PROCEDURAL!r}, not {quote_value(source)}")


def read_pool(source: Any, load: Callable[[Any], Layout]) -> list[Layout]:
    """Read one layout, or a list of several.

    Args:
        source: Value of the option ``layout``.
        load: Reads one layout.

    Raises:
        ValueError: The source has another type.
        DocumentError: A file is invalid.
    """
    if isinstance(source, (str, Path, Mapping)):
        return [load(source)]
    if not isinstance(source, Sequence) or not source:
        raise ValueError(
            f"layout must be a name, a path, a mapping or a list of at least one of them, not {quote_value(source)}"
        )
    return [load(entry) for entry in source]


class KitchenPool(CompiledGame):
    """A pool of kitchens that ``compiled`` holds; an episode starts in one of them, and may change into the others."""

    kinds_of_cells: ClassVar[Mapping[Terrain, str]]  # Names with an article, of what a change may bring
    order_noun: ClassVar[str] = "order"  # What soup is cooked for
    event_codes: type[KitchenEvent]

    def reset_parsers(self) -> dict[str, Parser]:
        return {"layout": one_of(self.compiled.names, "layout"), **super().reset_parsers()}

    def _choose(self, state: State, which: np.ndarray, options: Mapping[str, Any]) -> None:
        """Choose the layout that the options name; otherwise one is drawn."""
        name = options.get("layout", options.get("state", {}).get("layout"))
        if name is not None:
            state.clock[which, Clock.LAYOUT] = self.layout_index(name)

    @property
    def layouts(self) -> tuple[Any, ...]:
        """Specifications of the layouts in the pool."""
        layouts: tuple[Any, ...] = self.compiled.layouts
        return layouts

    def layout_index(self, name: str) -> int:
        """Return the number of a layout in the pool."""
        number: int = self.compiled.names.index(name)
        return number

    def layout_numbers(self, state: State) -> np.ndarray:
        """Return the number of the layout in which each episode started, int32 (B,)."""
        has_changes = self.compiled.config.changes is not None
        numbers: np.ndarray = state.changes[:, Change.FIRST] if has_changes else state.clock[:, Clock.LAYOUT]
        return numbers

    def known_to(self, seat: int) -> KitchenPool:
        """Return the game without what nobody can foresee; see ``policies.search.simulator``.

        These are orders that are still to be drawn, and changes that are secret or come at random times. A change that
        is already announced comes all the same.
        """
        return self._foreseen

    @cached_property
    def _foreseen(self) -> KitchenPool:
        config, tables = self.compiled.config, self.compiled.tables
        hides_changes = config.changes is not None and (not config.notice or "random" in config.changes)
        if not hides_changes and config.order_time is None:
            return self
        params = tables.params.copy()
        if hides_changes:
            params[Param.CHANGES] = ChangeTime.NEVER
        if config.order_time is not None:
            params[Param.REDRAW] = 0
        foreseen = copy.copy(self)
        foreseen.__setstate__({"compiled": replace(self.compiled, tables=tables._replace(params=params))})
        return foreseen

    def change_parts(self) -> dict[str, Part]:
        """Declare the changes of a kitchen: the layout of its start, and times; nobody is told of secret ones."""
        if self.compiled.config.changes is None:
            return {}
        notice = self.compiled.config.notice
        parts = {
            "first": codec.column("changes", Change.FIRST, codec.names_of(self.compiled.names, "layout")),
            "since": codec.column("changes", Change.SINCE, codec.COUNT),
            "left": codec.span("changes", Change.LEFT, 0, max(notice, 1)),
        }
        changes = codec.group(parts)
        return {"changes": changes if notice else changes._replace(known_to=(), belief=codec.uniform)}

    def steps_to_change(self, state: Any, i: int) -> int:
        """Return the steps to a change that is announced, 0 where none is."""
        return int(state.changes[i, Change.LEFT]) if self.compiled.config.notice else 0

    def coming(self, k: int) -> list[tuple[tuple[int, int], Terrain]]:
        """Return the cells (x, y) of the next layout change with their new kinds, row by row."""
        terrain = self.compiled.tables.terrain
        following = terrain[next_layout(k, terrain)]
        return [((x, y), Terrain(following[y, x])) for y, x in np.argwhere(following != terrain[k]).tolist()]

    def names_at(self, k: int) -> Mapping[tuple[int, int], str]:
        """Return the names of objects in texts, by position; none by default."""
        return {}

    def change_lines(self, state: Any, i: int, standing: Collection[tuple[int, int]]) -> list[str]:
        """Return the announcement of a change, if there is one, given the cells on which players are seen."""
        left = self.steps_to_change(state, i)
        if not left:
            return []
        k = int(state.clock[i, Clock.LAYOUT])
        names, coming = self.names_at(k), self.coming(k)
        places = {cell: f"{names.get(cell, '')} ({cell[0]}, {cell[1]})".lstrip() for cell, _ in coming}
        cells = [f"{places[cell]} becomes {self.kinds_of_cells[kind]}" for cell, kind in coming]
        blocked = sorted(places.keys() & standing)
        when = f"In {plural(left, 'step')}"
        if blocked:
            when += f", once no player stands at {' or '.join(map(str, blocked))},"
        return [f"{when} the kitchen changes: {', '.join(cells) or 'no cell'}."]

    @property
    def moves_floor(self) -> bool:
        """Whether changes of the kitchen move floor, not only stations."""
        is_floor = self.compiled.tables.floor != NOTHING
        return bool((is_floor != is_floor[0]).any())

    def change_rules(self) -> list[str]:
        """Return the rules of changes of the kitchen, but for secret ones."""
        changes, notice = self.compiled.config.changes, self.compiled.config.notice
        if not changes or not notice:
            return []
        steps = plural(notice, "step")
        times = {
            "every": f"Every {changes.get('every')} steps",
            "random": "From time to time",
            "after": f"{steps} after a delivery",
        }
        (when,) = (text for key, text in times.items() if key in changes)
        moves = "stations move to other cells"
        if self.moves_floor:
            moves = "stations or walls move to other cells, as soon as no player stands on a cell that changes"
        return [
            f"{when} the kitchen changes: {moves}. What is on a cell that changes is lost; "
            f"everything else stays. The state tells you {steps} ahead which cells change."
        ]

    def pot_rules(self) -> list[str]:
        """Return the rules of what pots take, if ingredients need preparation, and of what becomes of their soup."""
        rules: list[str] = self.compiled.config.soup_rules()
        return self._prepare_rules() + rules

    def team_pays(self) -> list[Pay]:
        """Return what events of the team may cost it in a step."""
        pots = int(self.compiled.tables.frames[:, LayoutSize.POTS].max())
        lost = self.compiled.config.most_lost(pots)
        return [Pay(name.lower(), team=(-float(points), 0.0)) for name, points in lost.items()]

    def order_parts(self) -> dict[str, Part]:
        """Declare the steps for which the order stands, where it ends; everybody knows them."""
        time = self.compiled.config.order_time
        return {} if time is None else {"order_left": codec.span("order", Order.LEFT, 1, time)}

    def order_rules(self) -> list[str]:
        """Return the rule of orders that end, if they do."""
        time, cost = self.compiled.config.order_time, self.compiled.config.order_cost
        if time is None:
            return []
        costs = f"it costs {plural(cost, 'point')} and " if cost else ""
        steps = plural(time, "step")
        following = "the next one replaces it, which may be the same"
        return [f"The {self.order_noun} stands for {steps}. If nobody delivers it in this time, {costs}{following}."]

    @cached_property
    def _told(self) -> list[tuple[int, str, str]]:
        """Code, name and label of the events that are told, those of the team last."""
        told = sorted((code for code in self.event_codes if code.label), key=lambda code: bool(code.loss))
        return [(int(code), code.name.lower(), code.label) for code in told]

    def event_of(self, row: Sequence[int] | np.ndarray, sparse: float, shaped: float) -> dict[str, Any] | None:
        """Return a player's event, None if nothing is to be told.

        Args:
            row: See ``EventColumn``.
            sparse: Points that it brought the team.
            shaped: Shaped reward.

        Returns:
            ``event`` (what the player did, else what happened to the team), ``label`` (all, as listed in histories),
            ``sparse`` and ``shaped``.
        """
        bits = int(row[EventColumn.CODE])
        found = [(name, label) for code, name, label in self._told if bits >> code & 1]
        if not found:
            return None
        label = ", ".join(label for _, label in found)
        return {"event": found[0][0], "label": label, "sparse": float(sparse), "shaped": float(shaped)}

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [self.event_of(*row) for row in zip(out.events[i], out.sparse[i], out.shaped[i], strict=True)]

    def consequences(self, event: Any) -> list[str]:
        """Return what happened to the team in an event of a player, beside what the player did."""
        lost, labels = self.compiled.config.most_lost(pots=1), event.label.split(", ")
        sentences = []
        for code in self.event_codes:
            if code.loss and code.label in labels:
                points = lost[code.name]
                cost = f", which costs the team {plural(points, 'point')}" if points else ""
                sentences.append(f"{code.loss}{cost}.")
        return sentences

    def belt_rules(self, grid: Sequence[str], names: Mapping[tuple[int, int], str]) -> list[str]:
        """Return the rule of belts with their cells and directions, if a layout has any."""
        cells = [(x, y) for y, row in enumerate(grid) for x, symbol in enumerate(row) if symbol in BELTS]
        if not cells:
            return []
        ways = [Direction(BELTS[grid[y][x]] - FIRST_BELT).name.lower() for x, y in cells]
        places = [f"{names.get(cell, '')} {cell} {way}".lstrip() for cell, way in zip(cells, ways, strict=True)]
        rule = "belts > < ^ v, counters that move what lies on them by a cell in each step if the next one is free"
        return [f"- {rule}: {', '.join(places)}"]

    def station_places(self, grid: Sequence[str]) -> list[str]:
        """Return the cells of the stations that prepare ingredients, a line for each kind."""
        lines = []
        for symbol, kind in PREPARING.items():
            cells = [(x, y) for y, row in enumerate(grid) for x, cell in enumerate(row) if cell == symbol]
            if cells:
                lines.append(f"- {kind.name.lower()}s: {', '.join(map(str, cells))}")
        return lines

    def _prepare_rules(self) -> list[str]:
        rules = {
            "board": f"put it on a board, interact with it {BOARD_WORK} times with empty hands, and take it back",
            "grill": f"put it on a grill, and take it back after {MACHINE_WORK} steps",
            "blender": f"put it into a blender, start it with empty hands, take it back after {MACHINE_WORK - 1} steps",
        }
        lines = []
        for name, station in self.layouts[0].prepare.items():
            article = "an" if name[0] in "aeiou" else "a"
            done = PREPARED[Terrain[station.upper()]]
            lines.append(f"A pot takes {article} {name} only if it is {done}: {rules[station]}.")
        return lines
