"""Random scenes, and scenes that differ from another in a single change."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import Terrain
from collab_overcooked.games.overcooked.questions.kitchen import Kitchen

LIMIT = 60  # steps of a scene's episode, for policies that play on
HANDS = (None, "onion", "dish", "soup")
HAND_WEIGHTS = (0.45, 0.2, 0.2, 0.15)
POT_WEIGHTS = {"empty": 0.15, "one": 0.15, "two": 0.25, "cooking": 0.25, "ready": 0.2}
LYING = 0.4  # probability that something lies on a counter
ELSEWHERE = 0.3  # probability that a player stands beyond a gate
FACINGS = ("north", "south", "east", "west")
FIRST_TICK, LAST_TICK, FULL = 8, 19, 3
Scene = dict[str, Any]


def draw_scene(
    kitchen: Kitchen, rng: np.random.Generator, hands: Mapping[int, str] | None = None, pot: str = ""
) -> Scene:
    """Return a random state of a kitchen.

    Args:
        kitchen: Kitchen of the scene.
        rng: Source of randomness.
        hands: Seat -> held item; drawn for other seats.
        pot: One of ``POT_WEIGHTS`` for all pots; drawn if empty.
    """
    gates = [_gate(kitchen, place, rng) for place in _cells(kitchen, Terrain.GATE)]
    scene: Scene = {"timestep": 0, "limit": LIMIT, "served": 0, "score": 0, "layout": kitchen.layout}
    objects = [soup for place in _cells(kitchen, Terrain.POT) if (soup := _pot(place, rng, pot)) is not None]
    if rng.random() < LYING:
        objects += _lying(kitchen, rng)
    objects.sort(key=lambda thing: thing["position"][::-1])
    players = _players(kitchen, rng)
    for seat, item in (hands or {}).items():
        players[seat]["holding"] = _thing(item)
    return scene | {"players": players, "objects": objects, "gates": gates}


def change(kitchen: Kitchen, scene: Scene, rng: np.random.Generator) -> Scene:
    """Return a scene that differs in one thing: a hand, a player's place, a pot, what lies on counters, or a gate."""
    other, changed = draw_scene(kitchen, rng), copy.deepcopy(scene)
    kinds = ["hand", "place", "pot", "counter", *(["gate", "gate"] if scene["gates"] else [])]
    kind, seat = kinds[rng.integers(len(kinds))], int(rng.integers(2))
    player, drawn = changed["players"][seat], other["players"][seat]
    if kind == "hand":
        player["holding"] = drawn["holding"]
    elif kind == "place" and drawn["position"] != changed["players"][1 - seat]["position"]:
        player["position"], player["facing"] = drawn["position"], drawn["facing"]
    elif kind == "gate":
        gate = int(rng.integers(len(scene["gates"])))
        changed["gates"][gate] = other["gates"][gate]
    elif kind in ("pot", "counter"):
        pots = [list(place) for place in _cells(kitchen, Terrain.POT)]
        places = [pots[rng.integers(len(pots))]] if kind == "pot" else None

        def is_kept(thing: Scene) -> bool:
            return thing["position"] in places if places else thing["position"] not in pots

        changed["objects"] = [thing for thing in scene["objects"] if not is_kept(thing)]
        changed["objects"] += [thing for thing in other["objects"] if is_kept(thing)]
        changed["objects"].sort(key=lambda thing: thing["position"][::-1])
    return changed


def _cells(kitchen: Kitchen, terrain: int) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for y, x in np.argwhere(kitchen.terrain == terrain)]


def _thing(item: str | None) -> Scene | None:
    if item is None:
        return None
    if item != "soup":
        return {"item": item}
    return {"item": "soup", "ingredients": ["onion"] * FULL, "tick": 20, "time": 20, "ready": True}


def _players(kitchen: Kitchen, rng: np.random.Generator) -> list[Scene]:
    players: list[Scene] = []
    for x, y in kitchen.compiled.tables.starts[0].tolist():
        cells = kitchen.floor(None if rng.random() < ELSEWHERE else int(kitchen.regions[y, x]))
        if not len(kitchen.compiled.tables.gates[0]):  # no player ever gets into the other region
            cells = kitchen.floor(int(kitchen.regions[y, x]))
        free = [cell for cell in cells if list(cell) not in [player["position"] for player in players]]
        players.append(
            {
                "position": list(free[rng.integers(len(free))]),
                "facing": FACINGS[rng.integers(4)],
                "holding": _thing(HANDS[rng.choice(len(HANDS), p=HAND_WEIGHTS)]),
            }
        )
    return players


def _pot(place: tuple[int, int], rng: np.random.Generator, stage: str) -> Scene | None:
    stage = stage or list(POT_WEIGHTS)[rng.choice(len(POT_WEIGHTS), p=list(POT_WEIGHTS.values()))]
    count = {"empty": 0, "one": 1, "two": 2}.get(stage, FULL)
    if not count:
        return None
    tick = {"cooking": int(rng.integers(FIRST_TICK, LAST_TICK + 1)), "ready": 20}.get(stage, -1)
    soup = {"item": "soup", "ingredients": ["onion"] * count, "tick": tick, "time": 20, "ready": stage == "ready"}
    return {"position": list(place), **soup}


def _lying(kitchen: Kitchen, rng: np.random.Generator) -> list[Scene]:
    names = [name for name in kitchen.objects if name[0] == "s"] or [n for n in kitchen.objects if n[0] == "k"]
    reached = [name for name in names if _is_reached(kitchen, kitchen.place(name))]
    if not reached:
        return []
    place, item = kitchen.place(reached[rng.integers(len(reached))]), HANDS[rng.choice((1, 2, 3), p=(0.4, 0.4, 0.2))]
    return [{"position": list(place), **(_thing(item) or {})}]


def _is_reached(kitchen: Kitchen, place: tuple[int, int]) -> bool:
    return any(abs(x - place[0]) + abs(y - place[1]) == 1 for x, y in kitchen.floor())


def _gate(kitchen: Kitchen, place: tuple[int, int], rng: np.random.Generator) -> Scene:
    limit = int(kitchen.compiled.layouts[0].gate_limit)
    is_open = bool(rng.random() < 0.35)
    counter = int(rng.integers(0, limit)) if is_open else 0
    return {"position": list(place), "open": is_open, "counter": counter, "limit": limit}
