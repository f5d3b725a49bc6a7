"""Proof that a kitchen is solvable: a sequence of carrying subtasks of players until a soup is served.

The proof counts on little. Players who are not needed stay where they start and are in the way; those who act have
parts of the floor to themselves, so that none can block another, and hand things over on counters between the parts.
Each soup's ingredients, dish and soup go one after the other. A kitchen without such a proof may still be workable,
by players who step aside for each other. Gates count as open floor: a proof does not time them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.paths import shortest_paths

from .compile import belts_ahead, compile_terrain
from .constants import BELTS, PREPARING_SYMBOLS, SYMBOLS

Cell = tuple[int, int]  # x, y
FLOOR = " G"
POT, SERVING = "P", "S"
COUNTERS = ("X", *BELTS)
NO_PREPARATION: Mapping[str, str] = {}
DISPENSERS = {"onion": "O", "tomato": "T", "dish": "D"}
PLACEMENTS = 400  # of players that are tried to find one with a proof
STATION_NAMES = {POT: "pot", SERVING: "serving station"}  # by symbols
STATION_NAMES |= {symbol: f"{name} dispenser" for name, symbol in DISPENSERS.items()}


@dataclass(frozen=True)
class Subtask:
    """Take a thing at one cell and put it at another; at a pot, a dish becomes soup in the hand."""

    seat: int  # Who goes
    thing: str  # ``onion``, ``tomato``, ``dish`` or ``soup``
    source: Cell  # Cell of dispenser, counter or pot
    target: Cell  # Cell of counter, pot or serving

    def __str__(self) -> str:
        """Return the subtask as text."""
        return f"player {self.seat} carries {self.thing} from {self.source} to {self.target}"


@dataclass(frozen=True)
class Proof:
    """Subtasks that serve one soup when carried out in this order."""

    recipe: tuple[str, ...]  # Ingredients of the soup
    subtasks: tuple[Subtask, ...]  # In order; the soup has to cook before the first subtask that carries it
    zones: Mapping[int, frozenset[Cell]]  # Floor of each acting player


def prove(
    grid: Sequence[str],
    starts: Sequence[Cell],
    recipes: Sequence[tuple[str, ...]],
    prepare: Mapping[str, str] = NO_PREPARATION,
) -> Proof | None:
    """Return a proof that one of the recipes can be served, with as few acting players as possible; None without one.

    Args:
        grid: Rows of terrain, with floor where players start.
        starts: Start cells by seat.
        recipes: Ingredients of each soup that is worth something.
        prepare: Station at which an ingredient is prepared, by names.
    """
    alone = {seat: flood(grid, start, {*starts} - {start}) for seat, start in enumerate(starts)}
    for team in _teams(alone):
        hands = _Hands(grid, {seat: alone[seat] for seat in team}, prepare)
        for recipe in recipes:
            subtasks = hands.serve(recipe)
            if subtasks is not None:
                return Proof(recipe, tuple(subtasks), hands.zones)
    return None


def works_anywhere(
    grid: Sequence[str],
    floors: Sequence[frozenset[Cell]],
    recipes: Sequence[tuple[str, ...]],
    prepare: Mapping[str, str] = NO_PREPARATION,
) -> bool:
    """Return whether players can get to cells from which there is a proof, wherever they stand.

    Args:
        grid: Rows of terrain.
        floors: Cells on which each player may stand, by seat.
        recipes: Ingredients of each soup that is worth something.
        prepare: Station at which an ingredient is prepared, by names.
    """
    proved: set[tuple[Cell, ...]] = set()
    for cells in product(*map(sorted, floors)):
        if len(set(cells)) < len(cells) or cells in proved:
            continue
        tried = _walk_to_proof(grid, cells, recipes, prepare, proved)
        if not tried:
            return False
        proved |= tried
    return True


def _walk_to_proof(
    grid: Sequence[str],
    cells: tuple[Cell, ...],
    recipes: Sequence[tuple[str, ...]],
    prepare: Mapping[str, str],
    proved: set[tuple[Cell, ...]],
) -> set[tuple[Cell, ...]]:
    """Return placements from which players can walk to one with a proof, ``cells`` included; empty without a proof.

    Args:
        grid: Rows of terrain.
        cells: Where the players stand, by seat.
        recipes: Ingredients of each soup that is worth something.
        prepare: Station at which an ingredient is prepared, by names.
        proved: Placements from which players are known to get to one with a proof.
    """
    queue, tried = [cells], {cells}
    for placement in queue:
        if placement in proved or prove(grid, placement, recipes, prepare) is not None:
            return tried
        if len(queue) < PLACEMENTS:
            for seat, cell in enumerate(placement):
                for near in neighbours(cell):
                    moved = (*placement[:seat], near, *placement[seat + 1 :])
                    if _at(grid, near) in FLOOR and near not in placement and moved not in tried:
                        tried.add(moved)
                        queue.append(moved)
    return set()


def floors_in_cycle(grids: Sequence[Sequence[str]], starts: Sequence[Sequence[Cell]]) -> list[list[frozenset[Cell]]]:
    """Return where players may stand when a layout of a kitchen that changes begins, by layout and seat.

    An episode starts in any layout of the cycle; a change leaves players on floor that the next layout has, too.
    """
    floors = [[frozenset({start}) for start in cells] for cells in starts]
    grown = True
    while grown:
        grown = False
        for k, grid in enumerate(grids):
            following = (k + 1) % len(grids)
            for seat, cells in enumerate(floors[k]):
                reached = frozenset().union(*(flood(grid, cell, set()) for cell in cells))
                kept = {cell for cell in reached if _at(grids[following], cell) in FLOOR}
                grown = grown or not kept <= floors[following][seat]
                floors[following][seat] |= kept
    return floors


def flood(grid: Sequence[str], start: Cell, taken: set[Cell], floor: str = FLOOR) -> frozenset[Cell]:
    """Return the floor cells reachable from a start without entering ``taken`` cells."""

    def beside(cell: Cell) -> list[Cell]:
        return [near for near in neighbours(cell) if near not in taken and _at(grid, near) in floor]

    return frozenset(shortest_paths(start, beside))


def list_untouched(grid: Sequence[str], starts: Sequence[Cell]) -> list[tuple[str, Cell]]:
    """Return kind and cell of the dispensers, pots and serving stations that no player can ever stand beside."""
    floor = frozenset().union(*(flood(grid, start, set()) for start in starts))
    stations = [(x, y) for y, row in enumerate(grid) for x, sign in enumerate(row) if sign in STATION_NAMES]
    return [(STATION_NAMES[_at(grid, cell)], cell) for cell in stations if floor.isdisjoint(neighbours(cell))]


def _teams(zones: Mapping[int, frozenset[Cell]]) -> Iterator[tuple[int, ...]]:
    for size in range(1, len(zones) + 1):
        for team in combinations(zones, size):
            if sum(len(zones[seat]) for seat in team) == len(frozenset().union(*(zones[seat] for seat in team))):
                yield team


def neighbours(cell: Cell) -> list[Cell]:
    """Return the four cells around a cell."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in OFFSETS]


def _at(grid: Sequence[str], cell: Cell) -> str:
    x, y = cell
    return grid[y][x] if 0 <= y < len(grid) and 0 <= x < len(grid[y]) else "?"


class _Hands:
    """Reachable objects of the players' zones, and chains of subtasks between players."""

    def __init__(self, grid: Sequence[str], zones: Mapping[int, frozenset[Cell]], prepare: Mapping[str, str]) -> None:
        self.zones, self.prepare = zones, prepare
        self.grid = grid
        (self._terrain,) = compile_terrain([grid], SYMBOLS)
        self.reach = {
            seat: sorted({near for cell in zone for near in neighbours(cell)} - zone) for seat, zone in zones.items()
        }

    def serve(self, recipe: tuple[str, ...]) -> list[Subtask] | None:
        """Return the subtasks of one soup, or None if it is impossible."""
        cells = sorted({cell for reach in self.reach.values() for cell in reach})
        for pot in (cell for cell in cells if _at(self.grid, cell) == POT):
            chains = [self._supply(thing, pot) for thing in recipe]
            soup = self._fetch(pot)
            if soup is not None and None not in chains:
                return [subtask for chain in chains for subtask in chain or ()] + soup
        return None

    def _supply(self, thing: str, pot: Cell) -> list[Subtask] | None:
        """Return the subtasks of an ingredient into a pot, over the station at which it is prepared."""
        if thing not in self.prepare:
            return self._chain(thing, DISPENSERS[thing], POT, pot)
        symbol = PREPARING_SYMBOLS[self.prepare[thing]]
        for seat, reach in self.reach.items():
            for station in (cell for cell in reach if _at(self.grid, cell) == symbol):
                there = self._chain(thing, DISPENSERS[thing], symbol, station)
                on = self._chain(thing, symbol, POT, pot, first=(seat, station))
                if there is not None and on is not None:
                    return there + on
        return None

    def _fetch(self, pot: Cell) -> list[Subtask] | None:
        for seat, reach in self.reach.items():
            if pot not in reach:
                continue
            dish = self._chain("dish", DISPENSERS["dish"], POT, pot, last=seat)
            soup = self._chain("soup", POT, SERVING, None, first=(seat, pot))
            if dish is not None and soup is not None:
                return dish + soup
        return None

    def _chain(
        self,
        thing: str,
        source: str,
        target: str,
        place: Cell | None,
        first: tuple[int, Cell] | None = None,
        last: int | None = None,
    ) -> list[Subtask] | None:
        ways: dict[Cell, list[Subtask]] = {}
        queue = [cell for reach in self.reach.values() for cell in reach if _at(self.grid, cell) == source]
        queue = list(dict.fromkeys(queue)) if first is None else [first[1]]
        for cell in queue:
            for seat, reach in self.reach.items():
                if cell not in reach or (first is not None and cell == first[1] and seat != first[0]):
                    continue
                so_far = ways.get(cell, [])
                for goal in reach:
                    subtasks = [*so_far, Subtask(seat, thing, cell, goal)]
                    if _at(self.grid, goal) == target and place in (None, goal) and last in (None, seat):
                        return subtasks
                    rest = [goal, *belts_ahead("", self._terrain, goal)][-1]
                    if _at(self.grid, rest) in COUNTERS and rest not in ways and rest not in queue:
                        ways[rest] = subtasks
                        queue.append(rest)
        return None
