"""Rule tests of OvercookedV2 as pictures: a grid with the players' letters, and a line for all else::

    WWPWW
    0a bR
    WBWXW
    a north holds onion            facing and hand; a dish is ``dish onion onion tomato``
    (2,0) soup onion onion         in a pot; behind it ``7 left`` while it cooks, or ``ready``
    (3,2) plate                    on a counter
    (3,1) button 7                 steps that it shows the recipe
    recipe onion onion tomato      a player who knows it is named behind ``known to``
    known to a

A line that a drawn world lacks means facing north, empty hands and nothing there; without a recipe it is the first one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.kernels.rng import seed_states

SHORT = {"N": "north", "S": "south", "E": "east", "W": "west", ".": "stay", "I": "interact"}
LETTERS = "abcd"
FACT = re.compile(r"[a-d] (north|south|east|west)|\(\d+,\d+\) |recipe |known to")
RECIPES = [[0, 0, 0], [0, 0, 1], [1, 1, 1]]


def thing_of(text: str) -> dict[str, Any]:
    item, *names = text.split()
    return {"item": item, **({"ingredients": names} if names else {})}


def soup_of(text: str) -> dict[str, Any]:
    text, ready = text.removesuffix(" ready"), text.endswith(" ready")
    match = re.fullmatch(r"(.*) (\d+) left", text)
    return {**thing_of(match[1] if match else text), "left": int(match[2]) if match else 0, "ready": ready}


def scene_of(rows: list[str], facts: list[str]) -> dict[str, Any]:
    cells = {symbol: [x, y] for y, row in enumerate(rows) for x, symbol in enumerate(row) if symbol in LETTERS}
    players: dict[str, Any] = {
        letter: {"position": cells[letter], "facing": "north", "holding": None} for letter in sorted(cells)
    }
    scene: dict[str, Any] = {"objects": [], "buttons": []}
    for fact in facts:
        if match := re.fullmatch(r"([a-d]) (\w+)(?: holds (.+))?", fact):
            players[match[1]] |= {"facing": match[2], "holding": thing_of(match[3]) if match[3] else None}
        elif match := re.fullmatch(r"\((\d+),(\d+)\) button (\d+)", fact):
            scene["buttons"].append({"position": [int(match[1]), int(match[2])], "left": int(match[3])})
        elif match := re.fullmatch(r"\((\d+),(\d+)\) (.+)", fact):
            thing = (soup_of if match[3].startswith("soup") else thing_of)(match[3])
            scene["objects"].append({"position": [int(match[1]), int(match[2])], **thing})
        elif fact.startswith("recipe "):
            scene["recipe"] = fact.split()[1:]
        else:
            for letter in fact.split()[2:]:
                players[letter]["knows_recipe"] = True
    return {**scene, "players": list(players.values())}


def facts_of(scene: dict[str, Any]) -> list[str]:
    facts = []
    for letter, player in zip(LETTERS, scene["players"], strict=False):
        held = f" holds {text_of(player['holding'])}" if player["holding"] else ""
        if held or player["facing"] != "north":
            facts.append(f"{letter} {player['facing']}{held}")
    for thing in scene["objects"]:
        state = " ready" if thing.get("ready") else f" {thing['left']} left" if thing.get("left") else ""
        facts.append("({},{}) ".format(*thing["position"]) + text_of(thing) + state)
    facts += ["({},{}) button {}".format(*b["position"], b["left"]) for b in scene["buttons"] if b["left"]]
    return facts


def text_of(thing: dict[str, Any]) -> str:
    return " ".join([thing["item"], *thing.get("ingredients", ())])


class Rollout:
    """A drawn world in which scripts are played; pictures, points and events of the last step can be read."""

    def __init__(self, world: str, recipes: Any = RECIPES, **options: Any) -> None:
        lines = [line.strip() for line in world.strip().split("\n")]
        rows, facts = [x for x in lines if not FACT.match(x)], [x for x in lines if FACT.match(x)]
        grid = "\n".join(re.sub("[a-d]", "A", row) for row in rows)
        recipes = [recipe for recipe in recipes if all(str(kind) in grid for kind in recipe)]
        self.game = OvercookedV2({"name": "drawn", "grid": grid, "recipes": recipes}, **options)
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([0])
        scene = {"recipe": [["onion", "tomato", "carrot"][kind] for kind in recipes[0]], **scene_of(rows, facts)}
        self.game.reset(self.state, self.out, np.ones(1, np.bool_), {"state": scene})
        self.paid: list[list[float]] = []
        self.shaped: list[list[float]] = []

    @property
    def scene(self) -> dict[str, Any]:
        return self.game.scene(self.state, 0)

    @property
    def picture(self) -> str:
        rows = [list(row) for row in self.game.layouts[0].grid]
        for letter, player in zip(LETTERS, self.scene["players"], strict=False):
            x, y = player["position"]
            rows[y][x] = letter
        return "\n".join(["".join(row) for row in rows] + facts_of(self.scene))

    @property
    def facts(self) -> list[str]:
        return facts_of(self.scene)

    @property
    def known_to(self) -> str:
        players = zip(LETTERS, self.scene["players"], strict=False)
        return "".join(letter for letter, player in players if player["knows_recipe"])

    def play(self, *scripts: str) -> Rollout:
        """Play a script such as ``"N I . I"`` for each player; who has no token left stays."""
        queues = [script.split() for script in scripts]
        for k in range(max(map(len, queues))):
            tokens = [queue[k] if k < len(queue) else "." for queue in queues]
            tokens += ["."] * (self.game.n_agents - len(tokens))
            actions = [self.game.parse(SHORT[token]) for token in tokens]
            self.game.step(self.state, np.array([actions], np.int32), self.out)
            self.paid.append(self.out.rewards[0].tolist())
            self.shaped.append(self.out.shaped[0].tolist())
        return self

    def observed(self, seat: int) -> np.ndarray:
        self.game.observe(self.state, self.out)
        observation: np.ndarray = self.out.observations[0, seat].reshape(self.game.single_observation_space.shape)
        return observation
