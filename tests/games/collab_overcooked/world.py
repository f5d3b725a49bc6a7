"""Rule tests as pictures: draw a small kitchen, play words in it, compare the picture that comes out.

A picture is the grid with the agents' digits where they stand, then one line for everything that is not in its first
place::

    XXPXX       P pot, O oven, C chopping board, B blender, I ingredients, D dishes, S serving, X counter
    X 0 X
    XXIXS
    0 north holds egg                      facing, hand, and `does <action>` while an action runs
    pot0 egg, egg                          filling;  `pot0 boiled_egg 2/3` cooking;  `pot0 boiled_egg ready`
    (0,1) bean_stew on a dish              counters, in the order of placement

A world is drawn in the same way; lines that it lacks mean facing north and nothing there.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from support.scenes import write_scene

from collab_overcooked.games.collab_overcooked.engine.constants import EventColumn, Reason
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.rng import seed_states

STATIONS: dict[str, dict[str, Any]] = {
    "P": {"utensil": "pot", "operation": "cook"},
    "O": {"utensil": "oven", "operation": "bake"},
    "C": {"utensil": "chopping_board", "operation": "cut"},
    "B": {"utensil": "blender", "operation": "stir"},
    "I": {"dispenser": "ingredients"},
    "D": {"dispenser": "dishes"},
    "S": {"serving": True},
}
INGREDIENTS = ["egg", "corn", "bean"]
RECIPES: dict[str, dict[str, Any]] = {
    "pot": {"boiled_egg": ["egg"], "bean_stew": ["corn", "bean", "bean"]},
    "oven": {"baked_corn": ["corn"]},
    "chopping_board": {"corn_slices": ["corn"]},
    "blender": {"bean_paste": ["bean"]},
}
PLATED = ["bean_stew"]
# Kitchens unlike the built-in ones: name -> drawn grid and changes.
ODD_KITCHENS: dict[str, tuple[str, dict[str, Any]]] = {
    "crowd": (  # three on one small floor, everything for everybody
        """
        XPXCXOX
        I 0 1 S
        X  2  D
        XXBXXXX
        """,
        {"stuck_limit": 6},
    ),
    "hermit": ("XPXCX\nX 0 D\nXIXSX", {"cook_time": 1}),
    "four": (  # two floors with two cooks each, four utensils of a kind, hands meet at x = 4
        """
        XPXPXPXPX
        I 0 X 2 S
        D 1 X 3 B
        XCXCXCXCX
        """,
        {"cook_time": 2, "stations": {"C": {"users": [1, 2]}}, "stuck_limit": 9},
    ),
    "cauldron": (  # one utensil of capacity 5 and another verb, times of its own
        """
        XXKXXX
        I0X1SX
        D X  X
        XXXXXX
        """.replace("XXKXXX", "XKXKXX"),
        {
            "stations": {"K": {"utensil": "cauldron", "operation": "brew", "capacity": 5}},
            "recipes": {
                "cauldron": {
                    "potion": {"inputs": ["egg", "egg", "corn", "corn", "bean"], "time": 5},
                    "broth": {"inputs": ["egg"], "time": 1},
                    "mash": {"inputs": ["broth", "corn"], "time": 2},
                }
            },
            "plated": ["potion"],
        },
    ),
}
SHORT = {"N": "north", "S": "south", "E": "east", "W": "west", ".": "stay", "I": "interact"}
AGENT = re.compile(r"(\d) (north|south|east|west)(?: holds (\w+)( on a dish)?)?(?: does (\S+) (\d+))?")
COUNTER = re.compile(r"\((\d+),(\d+)\) (\w+)( on a dish)?")
UTENSIL = re.compile(r"([a-z_]+\d+) (?:(\w+) (\d+)/(\d+)|(\w+) ready|(.+))")


def kitchen_values(grid: list[str], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what a drawn grid leaves open: stations, foods and recipes of the utensils that it shows."""
    drawn = "".join(grid)
    stations = {symbol: dict(values) for symbol, values in STATIONS.items() if symbol in drawn}
    for symbol, extra in changes.get("stations", {}).items():
        stations[symbol] = stations.get(symbol, {}) | extra
    kinds = [values["utensil"] for values in stations.values() if "utensil" in values]
    recipes = changes.get("recipes", {kind: RECIPES[kind] for kind in kinds if kind in RECIPES})
    products = [product for table in recipes.values() for product in table]
    plated = [name for name in changes.get("plated", PLATED) if name in products and "D" in drawn]
    plain = [name for name in [*INGREDIENTS, *products] if name not in plated]
    count = sum(symbol.isdigit() for symbol in drawn)
    values = {
        "name": "drawn",
        "grid": "\n".join(grid) + "\n",
        "agents": [{"name": f"Cook{i}", "role": "cook", "knows_recipes": i == 0} for i in range(count)],
        "stations": stations,
        "ingredients": INGREDIENTS,
        "recipes": recipes,
        "serving": {"plain": plain} | ({"plated": plated} if plated else {}),
        "reference_times": {1: 100},
        "tasks": {name: {"level": 1} for name in [*plain, *plated]},
    }
    return values | {key: value for key, value in changes.items() if key not in ("stations", "recipes", "plated")}


@lru_cache(maxsize=256)
def _game(text: str, options: str) -> CollabOvercooked:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.yaml"
        path.write_text(text, "utf-8")
        return CollabOvercooked(kitchen=path, **yaml.safe_load(options))


def game_of(values: Mapping[str, Any], **options: Any) -> CollabOvercooked:
    """Compile a kitchen given as values; the same one twice is compiled once."""
    return _game(yaml.safe_dump(dict(values), sort_keys=False), yaml.safe_dump(options, sort_keys=False))


def lines_of(picture: str) -> list[str]:
    return [line.strip() for line in picture.strip().split("\n")]


def drawn(picture: str) -> str:
    """Return a picture without the indentation of the test it stands in."""
    return "\n".join(lines_of(picture))


def split_world(world: str) -> tuple[list[str], list[str]]:
    """Tell the grid from the lines below it."""
    lines = [line for line in lines_of(world) if line]
    facts = [i for i, line in enumerate(lines) if any(kind.match(line) for kind in (AGENT, COUNTER, UTENSIL))]
    start = facts[0] if facts else len(lines)
    return lines[:start], lines[start:]


def scene_of(grid: list[str], facts: list[str]) -> dict[str, Any]:
    """Turn a drawn world into a scene to start from."""
    starts = {int(s): [x, y] for y, row in enumerate(grid) for x, s in enumerate(row) if s.isdigit()}
    agents: list[dict[str, Any]] = [{"position": starts[i], "facing": "north"} for i in range(len(starts))]
    scene: dict[str, Any] = {"agents": agents, "counters": [], "utensils": {}}
    for fact in facts:
        if result := AGENT.fullmatch(fact):
            agent = agents[int(result[1])]
            agent["facing"] = result[2]
            agent["holding"] = None if result[3] is None else {"item": result[3], "plated": bool(result[4])}
            agent |= {"action": result[5], "timer": int(result[6] or 0)}
        elif result := COUNTER.fullmatch(fact):
            position = [int(result[1]), int(result[2])]
            scene["counters"].append({"position": position, "item": result[3], "plated": bool(result[4])})
        elif result := UTENSIL.fullmatch(fact):
            scene["utensils"][result[1]] = utensil_of(result)
        else:
            raise ValueError(f"cannot read {fact!r}")
    return scene


def utensil_of(result: re.Match[str]) -> dict[str, Any]:
    if result[2]:
        return {"contents": [], "product": result[2], "timer": int(result[3]), "time": int(result[4])}
    if result[5]:
        return {"contents": [], "product": result[5], "timer": 3, "time": 3}
    return {"contents": result[6].split(", "), "product": None}


def food_text(thing: Mapping[str, Any]) -> str:
    return thing["item"] + (" on a dish" if thing["plated"] else "")


def utensil_text(utensil: Mapping[str, Any]) -> str:
    if utensil["status"] == "filling":
        return ", ".join(utensil["contents"])
    if utensil["status"] == "ready":
        return f"{utensil['product']} ready"
    return f"{utensil['product']} {utensil['timer']}/{utensil['time']}"


def picture_of(game: CollabOvercooked, scene: Mapping[str, Any]) -> str:
    """Draw a scene."""
    rows = [list(row) for row in game.kitchen.grid]
    facts = []
    for i, agent in enumerate(scene["agents"]):
        x, y = agent["position"]
        rows[y][x] = str(i)
        held = f" holds {food_text(agent['holding'])}" if agent["holding"] else ""
        doing = f" does {agent['action']} {agent['timer']}" if agent["action"] else ""
        facts.append(f"{i} {agent['facing']}{held}{doing}")
    for name, utensil in scene["utensils"].items():
        if utensil["status"] != "empty":
            facts.append(f"{name} {utensil_text(utensil)}")
    facts += ["({},{}) ".format(*counter["position"]) + food_text(counter) for counter in scene["counters"]]
    return "\n".join(["".join(row).rstrip() for row in rows] + facts)


@dataclass
class Rollout:
    """What a played script showed, step by step.

    Attributes:
        pictures: After every step; the first is the world as drawn.
        labels: Per step and agent, the label of what happened, or None.
        events: Per step and agent, the event's name, or None.
        refusals: Per step and agent, the reason code of a refused action, or None.
        rewards: Per step and agent.
        over: Whether the episode has ended.
    """

    game: CollabOvercooked
    state: Any
    out: Any
    pictures: list[str] = field(default_factory=list)
    labels: list[list[str | None]] = field(default_factory=list)
    events: list[list[str | None]] = field(default_factory=list)
    refusals: list[list[str | None]] = field(default_factory=list)
    ended: list[list[int]] = field(default_factory=list)
    rewards: list[list[float]] = field(default_factory=list)

    @property
    def last(self) -> str:
        return self.pictures[-1]

    @property
    def over(self) -> bool:
        return bool(self.out.terminated[0] or self.out.truncated[0])

    @property
    def scene(self) -> dict[str, Any]:
        return self.game.scene(self.state, 0)

    def labels_of(self, seat: int) -> list[str]:
        return [row[seat] for row in self.labels if row[seat] is not None]

    def events_of(self, seat: int) -> list[str]:
        return [row[seat] for row in self.events if row[seat] is not None]

    def refusals_of(self, seat: int) -> list[str]:
        return [row[seat] for row in self.refusals if row[seat] is not None]

    def step(self, actions: list[int]) -> None:
        self.game.step(self.state, np.array([actions], np.int32), self.out)
        events = self.game.events(self.out, 0)
        self.pictures.append(picture_of(self.game, self.scene))
        self.labels.append([event and event["label"] for event in events])
        self.events.append([event and event["event"] for event in events])
        reasons = self.game.rejections(self.state, self.out)[0]
        self.refusals.append([Reason(reason).name if reason else None for reason in reasons])
        self.ended.append(self.out.events[0, :, EventColumn.ENDED].tolist())
        self.rewards.append(self.out.rewards[0].tolist())


def odd_kitchen(name: str, **options: Any) -> CollabOvercooked:
    """Compile one of ``ODD_KITCHENS``."""
    picture, changes = ODD_KITCHENS[name]
    return game_of(kitchen_values(split_world(picture)[0], changes), **options)


def open_world(
    world: str, *, level: str = "primitive", orders: tuple[str, ...] = ("boiled_egg",), seed: int = 0, **changes: Any
) -> Rollout:
    """Compile a drawn world and start in it.

    Args:
        world: Picture.
        level: Action level.
        orders: Forced orders.
        seed: Of the environment's generator.
        **changes: Keys of the kitchen file to replace; `stations` adds to a symbol's values, `options` go to the game.
    """
    grid, facts = split_world(world)
    options = changes.pop("options", {})
    game = game_of(kitchen_values(grid, changes), action_level=level, **options)
    known = [name for name in orders if name in game.kitchen.serving] or [next(iter(game.kitchen.serving))]
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    write_scene(game, state, out, scene_of(grid, facts), {"orders": known})
    rollout = Rollout(game, state, out)
    rollout.pictures.append(picture_of(game, rollout.scene))
    return rollout


def read_script(script: str, n_agents: int) -> list[list[str]]:
    """Read lines ``"0: N I(egg) S"``, one token an action; without a number all is agent 0's."""
    queues: list[list[str]] = [[] for _ in range(n_agents)]
    for line in script.strip().split("\n"):
        seat, colon, rest = line.strip().partition(": ")
        tokens = rest.split() if colon else line.split()
        queues[int(seat) if colon else 0] += tokens
    return queues


def primitive(token: str) -> str:
    name, bracket, rest = token.partition("(")
    return SHORT.get(name, name) + bracket + rest


def next_token(rollout: Rollout, seat: int, queue: list[str]) -> str:
    if not queue:
        return "wait(1)"
    patient = queue[0].startswith("?")
    if patient and not rollout.out.masks[0, seat, rollout.game.parse(queue[0][1:])]:
        return "wait(1)"
    return queue.pop(0).removeprefix("?")


def play(world: str, script: str, steps: int | None = None, **options: Any) -> Rollout:
    """Play a script in a drawn world and return the rollout of it.

    Primitive agents take one token a step (``N S E W . I I(egg) start``) and then stay. Medium-level agents take a
    token whenever they are idle, and the rollout ends when nothing is left to do; agents without tokens wait. A token
    such as ``?pickup(egg,counter)`` waits until the mask allows the action.

    Args:
        world: Picture.
        script: Actions, see ``read_script``.
        steps: Stop after so many steps.
        **options: See ``open_world``.
    """
    rollout = open_world(world, **options)
    game = rollout.game
    queues = read_script(script, game.n_agents)
    medium = game.config.action_level == "medium"
    limit = steps if steps is not None else 80 if medium else max(map(len, queues))
    while len(rollout.labels) < limit and not rollout.over:
        busy = [agent["action"] is not None for agent in rollout.scene["agents"]]
        if medium and steps is None and not any(busy) and not any(queues):
            break
        actions = []
        for seat, queue in enumerate(queues):
            if medium:
                text = "continue" if busy[seat] else next_token(rollout, seat, queue)
            else:
                text = primitive(queue.pop(0)) if queue else "stay"
            actions.append(game.parse(text))
        rollout.step(actions)
    return rollout
