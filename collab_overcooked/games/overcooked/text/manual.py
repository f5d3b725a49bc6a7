"""Manual for language agents: rules, layout and actions; the form of answers is part of the prompt."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.kernels.paths import shortest_paths

from ..engine.compile import orders_drawn
from ..engine.constants import (
    BELTS,
    LETTERS,
    MAX_INGREDIENTS,
    NOTHING,
    PREPARING,
    Clock,
    Kind,
    LayoutSize,
    Object,
    Param,
    Rules,
    Stalemate,
)
from ..engine.solvability import FLOOR, flood
from ..engine.spec import Layout
from ..engine.state import State
from .text import MOVES, MOVES_SEEN, NAMES, TITLES, TURNING, OvercookedText, greeting, object_name, soup_text

Array = np.ndarray


_INTERACT = (
    "{} works on the cell that you face: it takes from a dispenser or a counter, puts what you hold on an empty "
    "counter or into a pot, loads ready soup on the dish in your hand, and delivers soup."
)
_POTS = "The state says that a pot is on while it cooks and off otherwise; `off, done`: its soup is ready."
_COUNTERS = LETTERS[Kind.SHARED] + LETTERS[Kind.COUNTER]


EFFICIENCY = (  # what LLM-Co's prompt asks for beyond the rules
    "Be efficient: while one soup cooks, get the next one ready.",
    "What lies on a counter may be nearer to you than the dispenser of the same thing.",
)


def shape_of(layout: Layout) -> str:
    """Return the shape of a kitchen's floor without gates.

    Returns:
        ``"circular"`` if a way leads around something, else ``"narrow"`` if two players can nowhere walk side by side,
        else ``"rectangular"`` if every part of the floor is, else ``"irregular"``.
    """
    floor = set(layout.cells(" "))
    rest = {(x, y) for x in range(-1, layout.width + 1) for y in range(-1, layout.height + 1)} - floor

    def around(cell: tuple[int, int]) -> list[tuple[int, int]]:
        return [near for dx, dy in product((-1, 0, 1), repeat=2) if (near := (cell[0] + dx, cell[1] + dy)) in rest]

    if rest - {*shortest_paths((-1, -1), around)}:
        return "circular"
    if not any({(x + 1, y), (x, y + 1), (x + 1, y + 1)} <= floor for x, y in floor):
        return "narrow"
    is_rectangular = all(map(_fills_its_box, {flood(layout.grid, cell, set(), " ") for cell in floor}))
    return "rectangular" if is_rectangular else "irregular"


def _fills_its_box(cells: frozenset[tuple[int, int]]) -> bool:
    columns, rows = zip(*cells, strict=True)
    return len(cells) == (max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1)


class Reader(NamedTuple):
    """Who reads a manual."""

    pictures: bool = False  # Sees pictures and no text
    alone: bool = False  # Is told nothing of other players


class OvercookedManual(OvercookedText):
    """Manual of a pool of layouts."""

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return self.manual_for(Reader(), state, i, seat)

    def manual_for(self, reader: Reader, state: State | None, i: int, seat: int) -> str:
        """Return the manual for a reader; see ``manual``."""
        k, steps = (0, self.max_cycles) if state is None else state.clock[i, [Clock.LAYOUT, Clock.LIMIT]].tolist()
        key = reader, k, steps, seat
        if key not in self._manuals:
            self._manuals[key] = self._manual(reader, k, steps, seat)
        return self._manuals[key]

    @cached_property
    def _manuals(self) -> dict[tuple[Reader, int, int, int], str]:
        return {}  # by reader, layout, number of steps and seat

    def _manual(self, reader: Reader, k: int, steps: int, seat: int) -> str:
        layout = self.compiled.layouts[k]
        first, *others = self._rules(layout, k, reader.alone)
        lines = [
            *self._goal(k, steps, seat, reader.alone),
            first,
            *([] if reader.pictures else [_POTS]),
            *others,
            "",
            f"The kitchen is {layout.name}, {shape_of(layout)}, {layout.width} by {layout.height} cells. "
            "Positions as (column, row):",
        ]
        starts = [(int(x), int(y)) for x, y in self.compiled.tables.starts[k]]
        ever = {name for start in starts for name in self.within_reach(k, start, FLOOR)}
        for kind in Kind:
            named = [thing for thing in self._placed(k) if thing[Object.KIND] == kind]
            named = [thing for thing in named if kind != Kind.COUNTER or object_name(thing) in ever]
            if named:
                places = ", ".join(f"{object_name(thing)} ({thing[Object.X]}, {thing[Object.Y]})" for thing in named)
                lines.append(f"- {TITLES[kind]}: {places}")
        lines += self.belt_rules(layout.grid, self.names_at(k)) + self.station_places(layout.grid)
        lines += self._reach(k, starts, seat, reader.alone)
        actions = self._directive_rules(k) if self.levels[seat] == MEDIUM else self._primitives(k, reader, seat)
        return "\n".join([*lines, "", *actions])

    def picture_rules(self, state: State, i: int, seat: int) -> str:
        """Return the rules for a player who sees pictures: without positions and the spelling of actions."""
        k, steps = state.clock[i, [Clock.LAYOUT, Clock.LIMIT]].tolist()
        layout = self.compiled.layouts[k]
        actions = self._directive_rules(k) if self.levels[seat] == MEDIUM else [TURNING, _INTERACT.format('"Use"')]
        return "\n".join([*self._goal(k, steps, seat), *self._rules(layout, k), *actions])

    def orders_text(self, k: int) -> str:
        """Return the soups that are on order in a layout, or that may be, with their points."""
        layout, config = self.compiled.layouts[k], self.compiled.config
        ends = config.order_time is not None
        orders = orders_drawn(layout, config) if ends else layout.orders
        soups = "; ".join(
            f"{soup_text(soup)} pay{'s' * (sum(soup) == 1)} {layout.pays(soup)} points" for soup in orders
        )
        if not ends:
            return f"Soups on order: {soups}."
        drawn = f"One soup at a time is on order, and only this one pays. It is drawn from these: {soups}."
        return " ".join([drawn, *self.order_rules()])

    def _goal(self, k: int, steps: int, seat: int, alone: bool = False) -> list[str]:
        team = " as a team" if self.n_agents > 1 and not alone else ""
        goal = f"Earn as many points as possible{team} in {steps} steps. {self.orders_text(k)}"
        return [f"You are {NAMES[seat]}, a cook." if alone else greeting(seat, self.n_agents), goal]

    def _directive_rules(self, k: int) -> list[str]:
        params = self.compiled.tables.params
        strict = params[Param.RULES] == Rules.STRICT
        asks_again = not strict and params[Param.STALEMATE] == Stalemate.PAPER
        shared = any(thing[Object.KIND] == Kind.SHARED for thing in self._placed(k))
        where = "on shared counters and otherwise only" if shared else "only"
        return [
            "You choose directives; each one is carried out for you, and you are asked again when it has ended.",
            "Each time you see which directives are possible. "
            f"You can put things down {where} on the nearest empty counter.",
            *(["A directive that becomes impossible ends by itself."] if strict else EFFICIENCY),
            *(["If you cannot go on with it, you are asked at once for another one."] if asks_again else []),
        ]

    def _placed(self, k: int) -> list[Array]:
        return [thing for thing in self.compiled.tables.objects[k] if thing[Object.X] != NOTHING]

    def _reach(self, k: int, starts: list[tuple[int, int]], seat: int, alone: bool) -> list[str]:
        near, beyond = [], []
        for start in starts:
            closed, opened = (self.within_reach(k, start, floor) for floor in (" ", FLOOR))
            near.append(", ".join(closed) or "nothing")
            beyond.append(", ".join(name for name in opened if name not in closed))
        if alone:
            return [self._reached(near[seat], beyond[seat], "You")]
        if len(set(near)) == 1 and not any(beyond):
            return [f"{'You can' if len(starts) == 1 else 'All players can'} reach {near[0]}."]
        lines = []
        for j in [seat, *(other for other in range(len(starts)) if other != seat)]:
            lines.append(self._reached(near[j], beyond[j], "You" if j == seat else NAMES[j]))
        both = set(near[seat].split(", ")).intersection(*(names.split(", ") for names in near))
        counters = [name for name in near[seat].split(", ") if name in both and name[0] in _COUNTERS]
        if counters:
            lines.append(f"Counters that all players can reach, for handing things over: {', '.join(counters)}.")
        return lines

    @staticmethod
    def _reached(near: str, beyond: str, who: str) -> str:
        return f"{who} can reach {near}{f'; only through an open gate to {beyond}' if beyond else ''}."

    def _primitives(self, k: int, reader: Reader, seat: int) -> list[str]:
        if reader.pictures:
            return [MOVES_SEEN, _INTERACT.format("interact")]
        used = {symbol for row in self.draw_map(k) for symbol in row}
        legend = [f"{letter} {TITLES[kind]}" for kind, letter in zip(Kind, LETTERS, strict=True) if letter in used]
        legend += ["W walls"] if "W" in used else []
        legend += [f"{symbol} {kind.name.lower()}s" for symbol, kind in PREPARING.items() if symbol in used]
        legend += [f"{' '.join(sorted(used & BELTS.keys()))} belts"] if used & BELTS.keys() else []
        return [
            MOVES,
            _INTERACT.format("interact"),
            f"Letters on the map, as in the names of objects: {', '.join(legend)}. Blank cells are floor; "
            + (f"{seat + 1} is you." if reader.alone else "digits are players in seat order, starting with 1."),
        ]

    def _rules(self, layout: Layout, k: int, alone: bool = False) -> list[str]:
        tables = self.compiled.tables
        auto = tables.params[Param.AUTO_START] == 1
        times = sorted({layout.cook_times[soup] for soup in layout.orders})
        start = "It starts by itself with the third one" if auto else "Interact with an empty hand to start it; it"
        lines = [
            f"A pot takes up to {MAX_INGREDIENTS} ingredients, one at a time. {start}{' and' if auto else ''} cooks "
            f"for {' or '.join(map(str, times))} steps, during which it takes nothing.",
            *self.pot_rules(),
            "Load ready soup onto a dish from the dispenser and deliver it at a serving cell. You can hold one thing.",
            "You cannot walk through counters and stations."
            if alone
            else "Players cannot walk through each other, counters or stations.",
        ]
        if tables.frames[k, LayoutSize.GATES]:
            if alone:
                who = "You" if tables.params[Param.GATE_ANYONE] == 1 else "With empty hands you"
            else:
                who = "Any player" if tables.params[Param.GATE_ANYONE] == 1 else "A player with empty hands"
            lines.append(
                f"{who} can open a gate; it closes after {tables.frames[k, LayoutSize.GATE_LIMIT]} steps in which "
                "nobody is in it."
            )
        again = "Objects are then numbered again, so the same name may mean another object."
        return [*lines, *(f"{rule} {again}" for rule in self.change_rules())]
