"""CraftKitchen once more, slow and obvious: names, dicts and the rules as specified.

An oracle for tests. It shares no code with the package; it reads the values that a level file holds.
"""

from __future__ import annotations

import random
from collections import Counter
from math import dist
from typing import Any

STACK = 64


class NaiveCraft:
    """One episode being played, a step at a time.

    Args:
        values: Of the level file.
        seed: Of the orders.
        options: Of the game: agents, interval, lifetime, walk, respawn, cook_steps, items_per_fuel, reach, max_cycles.
    """

    def __init__(self, values: dict[str, Any], seed: int, options: dict[str, Any]) -> None:
        self.values, self.options, self.random = values, options, random.Random(seed)
        self.spots: dict[str, tuple[str, str, tuple[int, int], str]] = {}  # name -> kind, role, point, what it gives
        self._place("chest", "chest", values["chest"], "")
        self._place("furnace", "furnace", values["furnace"], "")
        for role, key in (("block", "blocks"), ("mob", "mobs")):
            for kind, value in values[key].items():
                self._place(kind, role, value["at"], value.get("gives", kind))
        self.at = [tuple(start) for start in values["starts"][: options["agents"]]]
        self.bags = [Counter() for _ in self.at]
        self.away: dict[str, int] = {}
        self.furnaces = {
            name: {"fuel": None, "input": None, "output": None, "half": 0, "cooked": 0}
            for name in self.spots
            if self.spots[name][1] == "furnace"
        }
        self.chest: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.orders: list[list[Any]] = []  # name, remaining
        self.step, self.completed, self.expired = 0, 0, 0
        self._order()

    def _place(self, kind: str, role: str, points: Any, gives: str) -> None:
        for k, point in enumerate(points, 1):
            self.spots[kind if len(points) == 1 else f"{kind}{k}"] = (kind, role, tuple(point), gives)

    def _order(self) -> None:
        if self.step % self.options["interval"] == 0 and self.step < self.options["max_cycles"]:
            self.orders.append([self.random.choice(list(self.values["dishes"])), self.options["lifetime"]])

    def play(self, commands: list[tuple[str, str]]) -> list[bool]:
        """Carry out verb and word of each agent; return which were accepted."""
        judged = [self.allowed(i, *command) for i, command in enumerate(commands)]
        done = []
        for i, command in enumerate(commands):
            done.append(judged[i] and self.allowed(i, *command))
            if done[-1]:
                self.carry_out(i, *command)
        for furnace in self.furnaces.values():
            self.cook(furnace)
        self.away = {name: steps - 1 for name, steps in self.away.items() if steps > 1}
        for order in list(self.orders):
            if self.chest[order[0]] > self.served[order[0]]:
                self.served[order[0]] += 1
                self.completed += 1
                self.orders.remove(order)
        for order in self.orders:
            order[1] -= 1
        self.expired += sum(order[1] == 0 for order in self.orders)
        self.orders = [order for order in self.orders if order[1] > 0]
        self.step += 1
        self._order()
        return done

    def find(self, i: int, kind: str) -> str | None:
        if kind in self.spots and self.spots[kind][0] != kind:
            return kind  # named by its number
        there = [name for name, spot in self.spots.items() if spot[0] == kind and name not in self.away]
        return min(there, key=lambda name: dist(self.at[i], self.spots[name][2]), default=None)

    def near(self, i: int, name: str) -> bool:
        far, role = dist(self.at[i], self.spots[name][2]), self.spots[name][1]
        if self.options["reach"] == "code" and role == "mob":
            return far < 6
        return far <= (8 if self.options["reach"] == "code" and role == "chest" else 6)

    def target(self, i: int, verb: str, word: str) -> str | None:
        if verb in ("goto", "killMob", "mineBlock"):
            return self.find(i, word)
        return self.find(i, "chest" if verb == "putInChest" else "furnace")

    def allowed(self, i: int, verb: str, word: str) -> bool:
        if verb == "wait":
            return True
        name = self.target(i, verb, word)
        if name is None or verb == "goto":
            return name is not None
        if not self.near(i, name) and not (verb == "takeOutFurnace" and self.options["reach"] == "code"):
            return False
        if verb == "takeOutFurnace":
            return self.furnaces[name]["output"] is not None
        if verb.startswith("put") and self.bags[i][word] == 0:
            return False
        if verb in ("putFuelFurnace", "putItemFurnace"):
            return self.fits(self.furnaces[name]["fuel" if verb == "putFuelFurnace" else "input"], word)
        return True

    def fits(self, slot: tuple[str, int] | None, item: str) -> bool:
        return slot is None or (slot[0] == item and slot[1] < STACK)

    def carry_out(self, i: int, verb: str, word: str) -> None:
        name = self.target(i, verb, word)
        if verb == "goto":
            goal, walk = self.spots[name][2], self.options["walk"] or 10**9
            self.at[i] = tuple(
                here + max(-walk, min(walk, there - here)) for here, there in zip(self.at[i], goal, strict=True)
            )
        elif verb in ("killMob", "mineBlock"):
            self.bags[i][self.spots[name][3]] += 1
            self.away[name] = self.options["respawn"]
        elif verb in ("putFuelFurnace", "putItemFurnace"):
            slot = "fuel" if verb == "putFuelFurnace" else "input"
            self.bags[i][word] -= 1
            held = self.furnaces[name][slot]
            self.furnaces[name][slot] = (word, 1 + (held[1] if held else 0))
        elif verb == "takeOutFurnace":
            item, count = self.furnaces[name]["output"]
            self.bags[i][item] += count
            self.furnaces[name]["output"] = None
            if not self.near(i, name):
                self.at[i] = self.spots[name][2]
        elif verb == "putInChest":
            self.bags[i][word] -= 1
            self.chest[word] += 1

    def cook(self, furnace: dict[str, Any]) -> None:
        halves = int(2 * self.options["items_per_fuel"])
        fuel = furnace["fuel"][1] if furnace["fuel"] else 0
        raw = furnace["input"]
        product = next((dish for dish, dishe in self.values["dishes"].items() if raw and dishe == raw[0]), None)
        if not raw or furnace["half"] + halves * fuel < 2 or not self.fits(furnace["output"], product):
            furnace["cooked"] = 0
            return
        furnace["cooked"] += 1
        if furnace["cooked"] < self.options["cook_steps"]:
            return
        furnace["cooked"] = 0
        while furnace["half"] < 2:
            furnace["half"] += halves
            fuel -= 1
        furnace["half"] -= 2
        furnace["fuel"] = (furnace["fuel"][0], fuel) if fuel else None
        furnace["input"] = (raw[0], raw[1] - 1) if raw[1] > 1 else None
        furnace["output"] = (product, 1 + (furnace["output"][1] if furnace["output"] else 0))

    def scene(self) -> dict[str, Any]:
        """Return what a scene of the game says, without history and chance."""
        return {
            "timestep": self.step,
            "completed": self.completed,
            "expired": self.expired,
            "orders": [{"name": name, "remaining": remaining} for name, remaining in self.orders],
            "agents": [{"at": list(at), "bag": dict(+bag)} for at, bag in zip(self.at, self.bags, strict=True)],
            "gone": self.away,
            "furnaces": {
                name: {
                    **{
                        slot: None if entry[slot] is None else {"item": entry[slot][0], "count": entry[slot][1]}
                        for slot in ("fuel", "input", "output")
                    },
                    "heat": entry["half"],
                    "progress": entry["cooked"],
                }
                for name, entry in self.furnaces.items()
            },
            "chest": dict(+self.chest),
            "served": dict(+self.served),
        }
