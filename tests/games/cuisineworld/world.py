"""Rule tests of CuisineWorld in a few words: write a kitchen down, give commands, compare what comes out.

A kitchen is one line for everything that is not in its first place::

    0 pan0 beef               agent 0 stands at pan0 and holds beef; `0 pan0` with empty hands; `busy 1` may follow
    pan0: sauteedBeef ready busy 2
    servingtable0: MaxJr, MaxJr
    order MaxJr 12            open orders with their time

The kitchen is that of ``LEVEL``. After the commands of each step ``Kitchen.play`` gives the same lines back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import yaml
from support.scenes import write_scene

from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.kernels.rng import seed_states

LEVEL = """
extends: cookbook
name: test
kitchen: [storage, pan, pan, mixer, chopboard, blender, servingtable, servingtable]
orders: {cheeseBurger: , MaxJr: , salmonMeatcake: , mixedSashimi: {items: [MaxJr, MaxJr, cheeseBurger]}}
lifetime: 20
interval: 30
"""
LINE = re.compile(r"(\w+): ?([\w, ]*?)(?: (ready))?(?: busy (\d+))?")
AGENT = re.compile(r"(\d) (\w+)(?: (?!busy)(\w+))?(?: busy (\d+))?")


@lru_cache
def game_of(level: str, options: str) -> CuisineWorld:
    return CuisineWorld(level=yaml.safe_load(level), **yaml.safe_load(options))


def plain_game(level: str = LEVEL, **options: Any) -> CuisineWorld:
    return game_of(level, yaml.safe_dump({"agents": 2, "alpha": None, **options}))


class Kitchen:
    """A kitchen that starts as written."""

    def __init__(self, text: str = "", level: str = LEVEL, seed: int = 0, scene: Any = None, **options: Any) -> None:
        self.game = plain_game(level, **options)
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([seed])
        write_scene(self.game, self.state, self.out, self.read(text) | (scene or {}), limit=10**6)
        self.feedback: tuple[str, ...] = ()
        self.obeyed: tuple[bool, ...] = ()

    def read(self, text: str) -> dict[str, Any]:
        agents, tools = [{"location": "servingtable0"} for _ in range(self.game.n_agents)], {}
        orders = []
        for line in filter(None, map(str.strip, text.splitlines())):
            if line.startswith("order "):
                _, name, time = line.split()
                orders.append({"name": name, "remaining": None if time == "-1" else int(time)})
            elif result := AGENT.fullmatch(line):
                agents[int(result[1])] = {"location": result[2], "holding": result[3], "busy": int(result[4] or 0)}
            elif result := LINE.fullmatch(line):
                content = [name.strip() for name in result[2].split(",") if name.strip()]
                ready = bool(result[3]) or result[1].startswith(("chopboard", "storage"))
                tools[result[1]] = {"content": content, "ready": ready, "busy": int(result[4] or 0)}
            else:
                raise ValueError(f"{line!r} is no line of a kitchen")
        return {"agents": agents, "tools": tools, "orders": orders}

    def play(self, *steps: str) -> str:
        """Give the commands of each step, separated by blanks, and return the kitchen then."""
        for commands in steps:
            report = self.game.command(self.state, self.out, commands.split())
            self.feedback, self.obeyed = report.feedback, report.obeyed
        return self.written()

    @property
    def scene(self) -> Mapping[str, Any]:
        return self.game.scene(self.state, 0)

    @property
    def reward(self) -> float:
        return float(self.out.rewards[0, 0])

    def written(self) -> str:
        scene, lines = self.scene, []
        for i, agent in enumerate(scene["agents"]):
            held = f" {agent['holding']}" if agent["holding"] else ""
            lines.append(f"{i} {agent['location']}{held}" + (f" busy {agent['busy']}" if agent["busy"] else ""))
        for name, tool in scene["tools"].items():
            if tool["content"] or tool["busy"]:
                ready = " ready" if tool["ready"] and not name.startswith("chopboard") else ""
                busy = f" busy {tool['busy']}" if tool["busy"] else ""
                lines.append(f"{name}: {', '.join(tool['content'])}{ready}{busy}")
        for order in scene["orders"]:
            lines.append(f"order {order['name']} {-1 if order['remaining'] is None else order['remaining']}")
        return "\n".join(lines)


def picture(text: str) -> str:
    """Return a kitchen as ``Kitchen.written`` writes it."""
    return "\n".join(filter(None, map(str.strip, text.splitlines())))
