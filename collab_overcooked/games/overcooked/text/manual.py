"""Manual for language agents: rules, layout and actions; the form of answers is part of the prompt."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from collab_overcooked.kernels.macro_actions import MEDIUM

from ..engine.constants import LETTERS, MAX_INGREDIENTS, NOTHING, Clock, Frame, Kind, Object, Param, Rules
from ..engine.solvability import FLOOR
from ..engine.spec import Layout
from ..engine.state import State
from .text import MOVES, NAMES, TITLES, TURNING, OvercookedText, greeting, object_name, soup_text

Array = np.ndarray


_INTERACT = (
    "{} works on the cell that you face: it takes from a dispenser or a counter, puts what you hold on an empty "
    "counter or into a pot, loads ready soup on the dish in your hand, and delivers soup."
)
_POTS = "The state says that a pot is on while it cooks and off otherwise; `off, done`: its soup is ready."
_COUNTERS = LETTERS[Kind.SHARED] + LETTERS[Kind.COUNTER]


def orders_text(layout: Layout) -> str:
    """Return the soups that are on order in a layout, with their points."""
    soups = [f"{soup_text(soup)} pay{'s' * (sum(soup) == 1)} {layout.pays(soup)} points" for soup in layout.orders]
    return f"Soups on order: {'; '.join(soups)}."


class OvercookedManual(OvercookedText):
    """Manual of a pool of layouts."""

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        k, steps = (0, self.max_cycles) if state is None else state.clock[i, [Clock.LAYOUT, Clock.LIMIT]].tolist()
        if (k, steps, seat) not in self._manuals:
            self._manuals[k, steps, seat] = self._manual(k, steps, seat)
        return self._manuals[k, steps, seat]

    @cached_property
    def _manuals(self) -> dict[tuple[int, int, int], str]:
        return {}  # by layout, number of steps and seat

    def _manual(self, k: int, steps: int, seat: int) -> str:
        layout = self.compiled.layouts[k]
        first, *others = self._rules(layout, k)
        lines = [
            *self._goal(layout, steps, seat),
            first,
            _POTS,
            *others,
            "",
            f"The kitchen is {layout.name}, {layout.width} by {layout.height} cells. Positions as (column, row):",
        ]
        starts = [(int(x), int(y)) for x, y in self.compiled.tables.starts[k]]
        ever = {name for start in starts for name in self.within_reach(k, start, FLOOR)}
        for kind in Kind:
            named = [thing for thing in self._placed(k) if thing[Object.KIND] == kind]
            named = [thing for thing in named if kind != Kind.COUNTER or object_name(thing) in ever]
            if named:
                places = ", ".join(f"{object_name(thing)} ({thing[Object.X]}, {thing[Object.Y]})" for thing in named)
                lines.append(f"- {TITLES[kind]}: {places}")
        lines += self._reach(k, starts, seat)
        actions = self._directive_rules(k) if self.levels[seat] == MEDIUM else self._primitives(k)
        return "\n".join([*lines, "", *actions])

    def picture_rules(self, state: State, i: int, seat: int) -> str:
        """Return the rules for a player who sees pictures: without positions and the spelling of actions."""
        k, steps = state.clock[i, [Clock.LAYOUT, Clock.LIMIT]].tolist()
        layout = self.compiled.layouts[k]
        actions = self._directive_rules(k) if self.levels[seat] == MEDIUM else [TURNING, _INTERACT.format('"Use"')]
        return "\n".join([*self._goal(layout, steps, seat), *self._rules(layout, k), *actions])

    def _goal(self, layout: Layout, steps: int, seat: int) -> list[str]:
        goal = f"Earn as many points as possible as a team in {steps} steps. {orders_text(layout)}"
        return [greeting(seat, self.n_agents), goal]

    def _directive_rules(self, k: int) -> list[str]:
        strict = self.compiled.tables.params[Param.RULES] == Rules.STRICT
        shared = any(thing[Object.KIND] == Kind.SHARED for thing in self._placed(k))
        where = "on shared counters and otherwise only" if shared else "only"
        return [
            "You choose directives; each one is carried out for you, and you are asked again when it has ended.",
            "Each time you see which directives are possible. "
            f"You can put things down {where} on the nearest empty counter.",
            *(["A directive that becomes impossible ends by itself."] if strict else []),
        ]

    def _placed(self, k: int) -> list[Array]:
        return [thing for thing in self.compiled.tables.objects[k] if thing[Object.X] != NOTHING]

    def _reach(self, k: int, starts: list[tuple[int, int]], seat: int) -> list[str]:
        near, beyond = [], []
        for start in starts:
            closed, opened = (self.within_reach(k, start, floor) for floor in (" ", FLOOR))
            near.append(", ".join(closed) or "nothing")
            beyond.append(", ".join(name for name in opened if name not in closed))
        if len(set(near)) == 1 and not any(beyond):
            return [f"{'You can' if len(starts) == 1 else 'All players can'} reach {near[0]}."]
        lines = []
        for j in [seat, *(other for other in range(len(starts)) if other != seat)]:
            through = f"; only through an open gate to {beyond[j]}" if beyond[j] else ""
            lines.append(f"{'You' if j == seat else NAMES[j]} can reach {near[j]}{through}.")
        both = set(near[seat].split(", ")).intersection(*(names.split(", ") for names in near))
        counters = [name for name in near[seat].split(", ") if name in both and name[0] in _COUNTERS]
        if counters:
            lines.append(f"Counters that all players can reach, for handing things over: {', '.join(counters)}.")
        return lines

    def _primitives(self, k: int) -> list[str]:
        used = {symbol for row in self.draw_map(k) for symbol in row}
        legend = [f"{letter} {TITLES[kind]}" for kind, letter in zip(Kind, LETTERS, strict=True) if letter in used]
        legend += ["W walls"] if "W" in used else []
        return [
            MOVES,
            _INTERACT.format("interact"),
            f"Letters on the map, as in the names of objects: {', '.join(legend)}. Blank cells are floor; digits are "
            "players in seat order, starting with 1.",
        ]

    def _rules(self, layout: Layout, k: int) -> list[str]:
        tables = self.compiled.tables
        auto = tables.params[Param.AUTO_START] == 1
        times = sorted({layout.cook_times[soup] for soup in layout.orders})
        start = "It starts by itself with the third one" if auto else "Interact with an empty hand to start it; it"
        lines = [
            f"A pot takes up to {MAX_INGREDIENTS} ingredients, one at a time. {start}{' and' if auto else ''} cooks "
            f"for {' or '.join(map(str, times))} steps, during which it takes nothing.",
            "Load ready soup onto a dish from the dispenser and deliver it at a serving cell. You can hold one thing.",
            "Players cannot walk through each other, counters or stations.",
        ]
        if tables.frames[k, Frame.GATES]:
            who = "Any player" if tables.params[Param.GATE_ANYONE] == 1 else "A player with empty hands"
            lines.append(
                f"{who} can open a gate; it closes after {tables.frames[k, Frame.GATE_LIMIT]} steps in which no player "
                "is in it."
            )
        return lines
