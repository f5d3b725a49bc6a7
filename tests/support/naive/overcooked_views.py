"""What players of Overcooked see, once more: drawn from a scene in words, channel by channel, as the papers list them.

An oracle for tests. It shares no code with the package.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

Cell = tuple[int, int]
FACINGS = ("north", "south", "east", "west")
STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


def things(scene: dict[str, Any]) -> list[tuple[Cell, dict[str, Any], bool]]:
    """All objects with their cells, and whether a player holds them."""
    lying = [(tuple(thing["position"]), thing, False) for thing in scene["objects"]]
    return lying + [(tuple(p["position"]), p["holding"], True) for p in scene["players"] if p["holding"]]


class Picture:
    """Channels of one player, x first, drawn one after the other."""

    def __init__(self, grid: tuple[str, ...], scene: dict[str, Any], seat: int) -> None:
        self.grid, self.scene = grid, scene
        players = scene["players"]
        self.order = [players[(seat + k) % len(players)] for k in range(len(players))]
        self.channels: list[np.ndarray] = []

    def draw(self, *marks: tuple[Cell, int]) -> None:
        channel = np.zeros((len(self.grid[0]), len(self.grid)), int)
        for (x, y), value in marks:
            channel[x, y] += value
        self.channels.append(channel)

    def draw_symbol(self, symbol: str) -> None:
        self.draw(*(((x, y), 1) for y, row in enumerate(self.grid) for x, letter in enumerate(row) if letter == symbol))

    def draw_players(self) -> None:
        for player in self.order:
            self.draw((tuple(player["position"]), 1))
        for player in self.order:
            for facing in FACINGS:
                self.draw(*([(tuple(player["position"]), 1)] if player["facing"] == facing else []))

    def in_pot(self, cell: Cell) -> bool:
        return self.grid[cell[1]][cell[0]] == "P"

    def draw_items(self, item: str) -> None:
        self.draw(*((cell, 1) for cell, thing, _ in things(self.scene) if thing["item"] == item))

    def draw_gates(self) -> None:
        gates = [gate for gate in self.scene["gates"] if gate["open"]]
        self.draw(*((tuple(gate["position"]), 1) for gate in gates))
        self.draw(*((tuple(gate["position"]), gate["counter"]) for gate in gates))

    def stack(self) -> np.ndarray:
        return np.stack(self.channels, axis=-1)


def lossless(grid: tuple[str, ...], scene: dict[str, Any], seat: int, extended: bool) -> np.ndarray:
    """Channels of ``lossless``; the last four on maps with walls or gates."""
    picture = Picture(grid, scene, seat)
    picture.draw_players()
    for symbol in "PXOTDS":
        picture.draw_symbol(symbol)
    soups = [(cell, soup) for cell, soup, _ in things(scene) if soup["item"] == "soup"]
    idle = [(cell, soup) for cell, soup in soups if picture.in_pot(cell) and soup["tick"] == -1]
    others = [(cell, soup) for cell, soup in soups if (cell, soup) not in idle]
    for group in (idle, others):
        for name in ("onion", "tomato"):
            picture.draw(*((cell, soup["ingredients"].count(name)) for cell, soup in group))
    picture.draw(*((cell, soup["time"] - soup["tick"]) for cell, soup in others if picture.in_pot(cell)))
    picture.draw(*((cell, 1) for cell, soup in others if soup["ready"] or not picture.in_pot(cell)))
    for item in ("dish", "onion", "tomato"):
        picture.draw_items(item)
    late = scene["limit"] - scene["timestep"] < 40
    picture.draw(*(((x, y), 1) for y, row in enumerate(grid) for x in range(len(row)) if late))
    if extended:
        picture.draw_symbol("W")
        picture.draw_symbol("G")
        picture.draw_gates()
    return picture.stack()


def jaxmarl(grid: tuple[str, ...], scene: dict[str, Any], seat: int) -> np.ndarray:
    """The same for two players, y first, without counters on which something lies."""
    picture = lossless(grid, scene, seat, extended=False)
    for thing in scene["objects"]:
        picture[*thing["position"], 11] = 0
    return picture.transpose(1, 0, 2)


def gates(grid: tuple[str, ...], scene: dict[str, Any], seat: int) -> np.ndarray:
    picture = Picture(grid, scene, seat)
    picture.draw_players()
    for symbol in "PXODSG":
        picture.draw_symbol(symbol)
    soups = [(cell, soup) for cell, soup, _ in things(scene) if soup["item"] == "soup"]
    picture.draw(*((cell, len(soup["ingredients"])) for cell, soup in soups if picture.in_pot(cell)))
    picture.draw(*((cell, max(soup["tick"], 0)) for cell, soup in soups if picture.in_pot(cell)))
    picture.draw(*((cell, 1) for cell, _ in soups if not picture.in_pot(cell)))
    picture.draw_items("dish")
    picture.draw_items("onion")
    picture.draw_gates()
    return picture.stack()


def window(picture: np.ndarray, position: list[int], radius: int) -> np.ndarray:
    """Cut a square around a player out of a picture, zeros outside the map."""
    x, y = position
    padded = np.pad(picture, ((radius, radius), (radius, radius), (0, 0)))
    return padded[x : x + 2 * radius + 1, y : y + 2 * radius + 1]


def steps_to_face(grid: tuple[str, ...], player: dict[str, Any]) -> dict[Cell, int]:
    """Fewest actions after which a player, alone on the map, faces each cell."""
    start = (*player["position"], player["facing"])
    queue, far = deque([start]), {start: 0}
    faced: dict[Cell, int] = {}
    while queue:
        x, y, facing = queue.popleft()
        ahead = (x + STEPS[facing][0], y + STEPS[facing][1])
        faced.setdefault(ahead, far[x, y, facing])
        for turn, (dx, dy) in STEPS.items():
            free = grid[y + dy][x + dx] in " G"
            pose = (x + dx, y + dy, turn) if free else (x, y, turn)
            if pose not in far:
                far[pose] = far[x, y, facing] + 1
                queue.append(pose)
    return faced


def closest(faced: dict[Cell, int], cells: list[Cell]) -> list[Cell]:
    """Cells that can be reached, nearest first, in the order given among equals."""
    return sorted((cell for cell in cells if cell in faced), key=lambda cell: faced[cell])


def block(grid: tuple[str, ...], scene: dict[str, Any], player: dict[str, Any]) -> list[int]:
    x, y = player["position"]
    held = player["holding"]["item"] if player["holding"] else None
    faced = steps_to_face(grid, player)
    lying = {tuple(thing["position"]): thing for thing in scene["objects"]}

    def cells(symbol: str) -> list[Cell]:
        return [(i, j) for j, row in enumerate(grid) for i, letter in enumerate(row) if letter == symbol]

    def way(targets: list[Cell]) -> list[int]:
        outcome = closest(faced, targets)
        return [outcome[0][0] - x, outcome[0][1] - y] if outcome else [0, 0]

    numbers = [int(player["facing"] == facing) for facing in FACINGS]
    numbers += [int(held == item) for item in ("onion", "soup", "dish", "tomato")]
    for item, symbol in (("onion", "O"), ("tomato", "T"), ("dish", "D")):
        numbers += [0, 0] if held == item else way(cells(symbol))
    soup = player["holding"] if held == "soup" else None
    numbers += [0, 0]  # the way to a soup on a counter, which the original's planner does not see
    numbers += [soup["ingredients"].count(name) if soup else 0 for name in ("onion", "tomato")]
    numbers += way(cells("S"))
    numbers += [0, 0]  # the way to a free counter
    pots = closest(faced, cells("P"))
    for rank in range(2):
        numbers += pot_numbers(pots[rank], lying.get(pots[rank]), x, y) if rank < len(pots) else [0] * 10
    opened = [tuple(gate["position"]) for gate in scene["gates"] if gate["open"]]
    for dx, dy in STEPS.values():
        numbers.append(int(grid[y + dy][x + dx] != " " and (x + dx, y + dy) not in opened))
    return numbers


def pot_numbers(cell: Cell, soup: dict[str, Any] | None, x: int, y: int) -> list[int]:
    there = [cell[0] - x, cell[1] - y]
    if soup is None:
        return [1, 1, 0, 0, 0, 0, 0, 0, *there]
    cooking = soup["tick"] != -1 and not soup["ready"]
    full = soup["tick"] != -1 or len(soup["ingredients"]) == 3
    counts = [soup["ingredients"].count(name) for name in ("onion", "tomato")]
    left = soup["time"] - soup["tick"] if cooking else 0
    return [1, 0, int(full), int(cooking), int(soup["ready"]), *counts, left, *there]


def features(grid: tuple[str, ...], scene: dict[str, Any], seat: int) -> np.ndarray:
    """Own block, the others' blocks, where they stand from here, and where the player stands."""
    players = scene["players"]
    order = [players[(seat + k) % len(players)] for k in range(len(players))]
    numbers = [number for player in order for number in block(grid, scene, player)]
    x, y = order[0]["position"]
    for other in order[1:]:
        numbers += [other["position"][0] - x, other["position"][1] - y]
    return np.array([*numbers, x, y])
