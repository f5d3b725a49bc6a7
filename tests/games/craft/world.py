"""Rule tests of CraftKitchen in a few words: write a yard down, give commands, compare what comes out.

A yard is one line for everything that is not as at the start::

    bot1 at furnace: 2 oak_log, 1 chicken
    furnace: fuel 1 oak_log, input 2 chicken, output 1 cooked_mutton, progress 1
    chest: 1 cooked_chicken
    gone sheep 2
    order cooked_chicken 3

After the commands of each step ``Yard.play`` gives the same lines back; commands stand behind their agent's number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import yaml
from support.scenes import write_scene

from collab_overcooked.games.craft.env import CraftKitchen
from collab_overcooked.kernels.rng import seed_states

LEVEL = """
name: yard
chest: [[0, 0]]
furnace: [[4, 0]]
blocks: {oak_log: {at: [[0, 7]]}}
mobs: {chicken: {at: [[10, 0], [9, 1]]}, sheep: {at: [[20, 0]], gives: mutton}}
fuel: [oak_log]
dishes: {cooked_chicken: chicken, cooked_mutton: mutton}
starts: [[100, 0], [100, 0], [100, 0]]
"""
PLACES = {"start": (100, 0), "chest": (0, 0), "furnace": (4, 0), "oak_log": (0, 7), "chicken1": (10, 0),
          "chicken2": (9, 1), "sheep": (20, 0)}  # fmt: skip
COUNT = re.compile(r"(\d+) (\w+)")


@lru_cache
def game_of(options: str) -> CraftKitchen:
    return CraftKitchen(**yaml.safe_load(options))


class Yard:
    """A yard that starts as written, at a step at which no order comes soon unless options say otherwise."""

    def __init__(self, text: str = "", seed: int = 0, **options: Any) -> None:
        default = {"level": yaml.safe_load(LEVEL), "agents": 2, "interval": 10, "lifetime": 30}
        self.game = game_of(yaml.safe_dump(default | options))
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([seed])
        write_scene(self.game, self.state, self.out, self.read(text), limit=10**5)
        self.feedback: tuple[str, ...] = ()
        self.obeyed: tuple[bool, ...] = ()

    def read(self, text: str) -> dict[str, Any]:
        scene: dict[str, Any] = {
            "agents": [{"at": PLACES["start"], "bag": {}} for _ in range(self.game.n_agents)],
            "orders": [], "gone": {}, "chest": {}, "furnaces": {},
        }  # fmt: skip
        for line in filter(None, map(str.strip, text.splitlines())):
            head, _, rest = line.partition(":")
            counts = {name: int(count) for count, name in COUNT.findall(rest)}
            texts = head.split()
            if texts[0] == "order":
                scene["orders"].append({"name": texts[1], "remaining": int(texts[2])})
            elif texts[0] == "gone":
                scene["gone"][texts[1]] = int(texts[2])
            elif texts[0] == "chest":
                scene["chest"] = counts
            elif texts[0] == "furnace":
                result = re.findall(r"(fuel|input|output) (\d+) (\w+)", rest)
                slots = {slot: {"item": item, "count": int(count)} for slot, count, item in result}
                times = {name: int(value) for name, value in re.findall(r"(heat|progress) (\d+)", rest)}
                scene["furnaces"]["furnace"] = slots | times
            else:
                where = texts[2]
                at = [int(part) for part in where.split(",")] if "," in where else PLACES[where]
                scene["agents"][int(texts[0][3:]) - 1] = {"at": at, "bag": counts}
        return scene

    def play(self, *steps: str) -> str:
        """Give the commands of each step, such as ``"1 goto(chest); 2 wait()"``, and return the yard then."""
        for step in steps:
            commands = []
            for part in filter(None, map(str.strip, step.split(";"))):
                number, _, command = part.partition(" ")
                commands.append(command.replace("(", f"(bot{number}, " if "()" not in command else f"(bot{number}"))
            report = self.game.command(self.state, self.out, commands)
            self.feedback, self.obeyed = report.feedback, report.obeyed
        return self.written()

    def reason(self, seat: int = 0) -> str:
        return self.game.reason_codes(int(self.game.rejections(self.state, self.out)[0, seat])).name

    @property
    def scene(self) -> dict[str, Any]:
        return self.game.scene(self.state, 0)

    def written(self) -> str:
        scene, names, lines = self.scene, {at: name for name, at in PLACES.items()}, []
        for k, agent in enumerate(scene["agents"]):
            at = tuple(agent["at"])
            where = names.get(at, f"{at[0]},{at[1]}")
            if where != "start" or agent["bag"]:
                lines.append(f"bot{k + 1} at {where}" + (f": {counted(agent['bag'])}" if agent["bag"] else ""))
        for name, furnace in scene["furnaces"].items():
            slots = [
                f"{s} {furnace[s]['count']} {furnace[s]['item']}" for s in ("fuel", "input", "output") if furnace[s]
            ]
            slots += [f"{key} {furnace[key]}" for key in ("heat", "progress") if furnace[key]]
            lines += [f"{name}: {', '.join(slots)}"] if slots else []
        lines += [f"chest: {counted(scene['chest'])}"] if scene["chest"] else []
        lines += [f"gone {name} {steps}" for name, steps in scene["gone"].items()]
        lines += [f"order {order['name']} {order['remaining']}" for order in scene["orders"]]
        return "\n".join(lines)


def counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def yard(text: str) -> str:
    """Return a yard as ``Yard.written`` writes it."""
    return "\n".join(filter(None, map(str.strip, text.splitlines())))
