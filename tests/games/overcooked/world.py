"""Rule tests of Overcooked as pictures: draw a small kitchen, play words in it, compare the picture that comes out.

A picture is the grid with the players' digits where they stand, then one line for everything that is not in its first
place::

    XXPXX
    O 12O
    XDXSX
    1 north holds onion              facing and hand; a soup is ``soup(onion, onion, tomato)``
    (2,0) onion, onion               ingredients in an idle pot; ``7/20`` behind them while it cooks, or ``ready``
    (4,1) dish                       what lies on a counter
    (1,3) open 4                     an open gate and its counter

A world is drawn in the same way; lines that it lacks mean facing north, empty hands and nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import yaml
from games.collab_overcooked.world import lines_of

from collab_overcooked.games.overcooked.engine.constants import Reason
from collab_overcooked.games.overcooked.engine.spec import KEYS
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.kernels.rng import seed_states

SHORT = {"N": "north", "S": "south", "E": "east", "W": "west", ".": "stay", "I": "interact"}
PLAYER = re.compile(r"(\d) (north|south|east|west)(?: holds (.+))?")
GATE = re.compile(r"\((\d+),(\d+)\) open(?: (\d+))?")
PLACE = re.compile(r"\((\d+),(\d+)\) (.+)")
SOUP = re.compile(r"soup\((.+)\)")

# Kitchens unlike the built-in ones: name -> layout, options.
ODD_KITCHENS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bistro": (  # tomatoes, orders of all sizes, bonus, times of their own, three players
        {
            "grid": "XXPXTXX\nO 1 2 O\nX  X  P\nD3    S\nXXXXXXX",
            "orders": [
                {"soup": ["onion", "onion", "tomato"], "value": 33, "cook_time": 4},
                ["tomato"],
                {"soup": ["tomato", "tomato"], "cook_time": 0},
                ["onion", "onion", "onion"],
            ],
            "bonus_orders": [["tomato"]],
            "order_bonus": 3,
            "value": {"onion": 7, "tomato": 5},
            "cook_time": {"onion": 2, "tomato": 3},
            "shaping": {"potting": 1, "dish": 2, "soup": 4},
        },
        {"dynamics": "explicit"},
    ),
    "canteen": (  # four players in each other's way, any soup of three pays
        {"grid": "XPXDXSX\nO1   2T\nX  X  X\nO3   4T\nXPXDXSX", "cook_time": 3},
        {},
    ),
    "vault": (  # three gates, one of them before the only pot, and a player alone behind one
        {
            "grid": "WXXOXWW\nX1 2  X\nWWGWWGW\nD  P 3S\nWXGXXXW\nWX   TW\nWWWWWWW",
            "gate_limit": 3,
            "orders": [["onion", "tomato", "tomato"], ["onion", "onion", "onion"]],
            "cook_time": 2,
        },
        {"gate_opener": "anyone", "gate_pause": False},
    ),
    "hermit": ({"grid": "XPXTX\nX 1 O\nXDXSX", "cook_time": 1, "orders": [["onion"] * 3]}, {}),
}


def odd_kitchen(name: str, **options: Any) -> Overcooked:
    """Compile one of ``ODD_KITCHENS``, with further options."""
    layout, entry = ODD_KITCHENS[name]
    return game_of({"name": name, **layout}, **{**entry, **options})


@lru_cache(maxsize=256)
def _game(text: str) -> Overcooked:
    return Overcooked(**yaml.safe_load(text))


def game_of(layout: Any, **options: Any) -> Overcooked:
    """Compile a layout; the same one twice is compiled once."""
    return _game(yaml.safe_dump({"layout": layout, **options}, sort_keys=False))


def split_world(world: str) -> tuple[list[str], list[str]]:
    """Tell the grid from the lines below it."""
    lines = [line for line in lines_of(world) if line]
    facts = [i for i, line in enumerate(lines) if PLAYER.match(line) or PLACE.match(line)]
    start = facts[0] if facts else len(lines)
    return lines[:start], lines[start:]


def thing_of(text: str | None) -> dict[str, Any] | None:
    """Read an object: ``onion`` or ``soup(onion, tomato)``, which is ready."""
    if text is None:
        return None
    soup = SOUP.fullmatch(text)
    return {"item": "soup", "ingredients": soup[1].split(", ")} if soup else {"item": text}


def in_pot(text: str) -> dict[str, Any]:
    """Read what a pot holds."""
    names, _, state = text.rpartition(" ")
    if state == "ready":
        return {"item": "soup", "ingredients": names.split(", ")}
    if "/" in state:
        return {"item": "soup", "ingredients": names.split(", "), "tick": int(state.partition("/")[0])}
    return {"item": "soup", "ingredients": text.split(", "), "tick": -1}


def scene_of(grid: list[str], facts: list[str]) -> dict[str, Any]:
    """Turn a drawn world into a scene to start from."""
    count = sum(symbol.isdigit() for row in grid for symbol in row)
    players: list[dict[str, Any]] = [{"facing": "north", "holding": None} for _ in range(count)]
    scene: dict[str, Any] = {"players": players, "objects": [], "gates": []}
    for fact in facts:
        if result := PLAYER.fullmatch(fact):
            players[int(result[1]) - 1] |= {"facing": result[2], "holding": thing_of(result[3])}
        elif result := GATE.fullmatch(fact):
            place = [int(result[1]), int(result[2])]
            scene["gates"].append({"position": place, "open": True, "counter": int(result[3] or 0)})
        elif result := PLACE.fullmatch(fact):
            x, y = int(result[1]), int(result[2])
            thing = in_pot(result[3]) if grid[y][x] == "P" else thing_of(result[3])
            scene["objects"].append({"position": [x, y], **(thing or {})})
        else:
            raise ValueError(f"cannot read {fact!r}")
    return scene


def thing_text(thing: Mapping[str, Any]) -> str:
    return f"soup({', '.join(thing['ingredients'])})" if thing["item"] == "soup" else thing["item"]


def pot_text(thing: Mapping[str, Any]) -> str:
    names = ", ".join(thing["ingredients"])
    if thing["ready"]:
        return f"{names} ready"
    return names if thing["tick"] == -1 else f"{names} {thing['tick']}/{thing['time']}"


def picture_of(game: Overcooked, scene: Mapping[str, Any]) -> str:
    """Draw a scene."""
    (layout,) = (layout for layout in game.layouts if layout.name == scene["layout"])
    rows = [list(row) for row in layout.grid]
    facts = []
    for i, player in enumerate(scene["players"], start=1):
        x, y = player["position"]
        rows[y][x] = str(i)
        held = f" holds {thing_text(player['holding'])}" if player["holding"] else ""
        if held or player["facing"] != "north":
            facts.append(f"{i} {player['facing']}{held}")
    for thing in scene["objects"]:
        x, y = thing["position"]
        facts.append(f"({x},{y}) {pot_text(thing) if layout.grid[y][x] == 'P' else thing_text(thing)}")
    facts += ["({},{}) open {}".format(*gate["position"], gate["counter"]) for gate in scene["gates"] if gate["open"]]
    return "\n".join(["".join(row) for row in rows] + facts)


@dataclass
class Rollout:
    """What a played script showed, step by step.

    Attributes:
        pictures: After every step; the first is the world as drawn.
        events: Per step and player, the names of the original's events.
        sparse: Per step and player.
        shaped: Per step and player.
        rewards: Per step and player.
        refusals: Per step and player, the reason code of a refused action, or None.
    """

    game: Overcooked
    state: Any
    out: Any
    pictures: list[str] = field(default_factory=list)
    events: list[list[list[str]]] = field(default_factory=list)
    sparse: list[list[float]] = field(default_factory=list)
    shaped: list[list[float]] = field(default_factory=list)
    rewards: list[list[float]] = field(default_factory=list)
    refusals: list[list[str | None]] = field(default_factory=list)

    @property
    def last(self) -> str:
        return self.pictures[-1]

    @property
    def facts(self) -> list[str]:
        """The lines below the last picture's grid."""
        return split_world(self.last)[1]

    @property
    def scene(self) -> dict[str, Any]:
        return self.game.scene(self.state, 0)

    def events_of(self, player: int) -> list[str]:
        """All events of a player, by its digit."""
        return [name for row in self.events for name in row[player - 1]]

    def step(self, actions: list[int]) -> None:
        self.game.step(self.state, np.array([actions], np.int32), self.out)
        events = self.game.events(self.out, 0)
        self.pictures.append(picture_of(self.game, self.scene))
        self.events.append([event["events"] if event else [] for event in events])
        for rollout, array in ((self.sparse, "sparse"), (self.shaped, "shaped"), (self.rewards, "rewards")):
            rollout.append(getattr(self.out, array)[0].tolist())
        reasons = self.game.rejections(self.state, self.out)[0].tolist()
        self.refusals.append([Reason(reason).name if reason else None for reason in reasons])


def open_world(world: str, **options: Any) -> Rollout:
    """Compile a drawn world and start in it.

    Options are keys of the layout file or of the game; the latter's gate_limit is called ``option_gate_limit``.
    """
    grid, facts = split_world(world)
    layout = {"name": "drawn", "grid": "\n".join(grid)}
    layout |= {key: options.pop(key) for key in KEYS if key in options}
    if "option_gate_limit" in options:
        options["gate_limit"] = options.pop("option_gate_limit")
    game = game_of(layout, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene_of(grid, facts)})
    rollout = Rollout(game, state, out)
    rollout.pictures.append(picture_of(game, rollout.scene))
    return rollout


def play(world: str, script: str, **options: Any) -> Rollout:
    """Play a script in a drawn world and return the rollout of it.

    Args:
        world: Picture.
        script: Lines ``"1: N I S"``, one token a step (``N S E W . I``); without a number all is player 1's. Players
            without a token left stay.
        **options: See ``open_world``.
    """
    rollout = open_world(world, **options)
    queues: list[list[str]] = [[] for _ in range(rollout.game.n_agents)]
    for line in script.strip().split("\n"):
        seat, colon, rest = line.strip().partition(": ")
        queues[int(seat) - 1 if colon else 0] += (rest if colon else line).split()
    for k in range(max(map(len, queues))):
        tokens = [queue[k] if k < len(queue) else "." for queue in queues]
        rollout.step([rollout.game.parse(SHORT[token]) for token in tokens])
    return rollout
