"""The soup kitchen once more, slow and obvious: dicts, strings and the rules as the specification tells them.

An oracle for tests. It shares no code with the package; it reads the ``Layout`` of words that a layout file holds.
"""

from __future__ import annotations

import itertools
from typing import Any

Cell = tuple[int, int]
STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
BELTS = {"^": (0, -1), "v": (0, 1), ">": (1, 0), "<": (-1, 0)}
COUNTERS = ("X", *BELTS)
STATIONS = {"board": "C", "grill": "H", "blender": "M"}
DISPENSERS = {"O": "onion", "T": "tomato", "D": "dish"}


class NaiveKitchen:
    """One kitchen being played.

    Args:
        layout: Words of the layout file.
        cells: Where the players stand.
        auto: Whether pots start by themselves.
        gate_limit: Counter at which gates close.
        gate_pause: Whether it rests under somebody.
        anyone: Whether full hands open gates.
        burn: After how many steps ready soup burns, and what that costs.
        order: Soup that alone pays, the steps for which it does so, and what it costs if they pass; none for all.
    """

    burn: tuple[int, int] | None = None
    order: tuple[list[str], int, int] | None = None

    def __init__(
        self, layout: Any, cells: list[Cell], auto: bool, gate_limit: int, gate_pause: bool = True, anyone: bool = False
    ) -> None:
        self.layout, self.auto, self.anyone = layout, auto, anyone
        self.gate_limit, self.gate_pause = gate_limit, gate_pause
        self.symbols = {(x, y): symbol for y, row in enumerate(layout.grid) for x, symbol in enumerate(row)}
        self.players: list[dict[str, Any]] = [{"cell": cell, "facing": "north", "held": None} for cell in cells]
        self.lying: dict[Cell, dict[str, Any]] = {}
        self.gates: dict[Cell, int | None] = {cell: None for cell, symbol in self.symbols.items() if symbol == "G"}
        self.timestep = self.served = self.score = 0

    def load(self, scene: dict[str, Any]) -> None:
        for player, printed in zip(self.players, scene["players"], strict=True):
            player |= {
                "cell": tuple(printed["position"]),
                "facing": printed["facing"],
                "held": thing(printed["holding"]),
            }
        self.lying = {tuple(displayed["position"]): thing(displayed) for displayed in scene["objects"]}
        self.gates = {tuple(gate["position"]): gate["counter"] if gate["open"] else None for gate in scene["gates"]}

    def change(self, layout: Any) -> None:
        """Let the next layout take the kitchen's place; what is on a cell with another symbol is lost."""
        before = self.symbols
        self.layout = layout
        self.symbols = {(x, y): symbol for y, row in enumerate(layout.grid) for x, symbol in enumerate(row)}
        self.lying = {cell: lies for cell, lies in self.lying.items() if self.symbols[cell] == before[cell]}

    def time(self, soup: dict[str, Any]) -> int:
        return self.layout.cook_times[recipe(soup["ingredients"])]

    def worth(self, ingredients: list[str]) -> int:
        soup = recipe(ingredients)
        if soup not in self.layout.orders:
            return 0
        return self.layout.values[soup] * (self.layout.order_bonus if soup in self.layout.bonus_orders else 1)

    def best(self, ingredients: list[str]) -> int:
        """The most that these ingredients can become worth by adding none or more."""
        results = [0]
        for extra in range(4 - len(ingredients)):
            for added in itertools.combinations_with_replacement(("onion", "tomato"), extra):
                full = [*ingredients, *added]
                if full:
                    results.append(self.worth(full))
        return max(results)

    def stage(self, cell: Cell) -> str:
        pot = self.lying.get(cell)
        if pot is None:
            return "empty"
        if pot["tick"] < 0:
            return "full" if len(pot["ingredients"]) == 3 else "partial"
        return "ready" if pot["tick"] >= self.time(pot) else "cooking"

    def stages(self) -> list[str]:
        return [self.stage(cell) for cell, symbol in self.symbols.items() if symbol == "P"]

    def step(self, actions: list[str], next_order: Any = None) -> dict[str, list[Any]]:
        """Play one step and tell what came of it, for each player; the next order comes where one is due."""
        n = len(self.players)
        self.news = {"events": [[] for _ in range(n)], "sparse": [0] * n, "shaped": [0.0] * n, "done": [True] * n}
        before, self.fulfilled = self.stages(), False
        for i, action in enumerate(actions):
            if action == "interact":
                self.news["done"][i] = self.interact(i, before)
        self.move(actions)
        self.carry()
        self.work()
        self.timestep += 1
        self.burnt = 0
        for cell, symbol in self.symbols.items():
            if symbol == "P" and cell in self.lying:
                if self.burn and self.stage(cell) == "ready":
                    self.char(cell)
                else:
                    self.cook(self.lying[cell])
        self.share(self.burnt)
        if self.order is not None:
            self.renew(*self.order, next_order)
        standing = {player["cell"] for player in self.players}
        for cell, counter in self.gates.items():
            if counter is not None:
                self.gates[cell] = self.age(counter, cell in standing)
        self.served += sum("soup_delivery" in events for events in self.news["events"])
        self.score += sum(self.news["sparse"])
        return self.news

    def renew(self, soup: list[str], left: int, cost: int, next_order: Any) -> None:
        """The next order replaces one that was delivered or that ends, which costs points."""
        expired = left == 1 and not self.fulfilled
        if expired:
            self.share(cost)
            for events in self.news["events"]:
                events.append("order_expired")
        self.order = next_order if expired or self.fulfilled else (soup, left - 1, cost)

    def carry(self) -> None:
        """Move what lies on belts by one cell, if the next one is free or gets free in the same step."""
        moved = set()
        while True:
            going = [cell for cell in self.lying if cell not in moved and self.is_free(self.leads_to(cell))]
            if not going:
                return
            first = min(going, key=lambda cell: (cell[1], cell[0]))
            target = self.leads_to(first)
            self.lying[target] = self.lying.pop(first)
            moved.add(target)

    def leads_to(self, cell: Cell) -> Cell | None:
        step = BELTS.get(self.symbols[cell])
        return None if step is None else (cell[0] + step[0], cell[1] + step[1])

    def is_free(self, cell: Cell | None) -> bool:
        return cell is not None and self.symbols[cell] in COUNTERS and cell not in self.lying

    def share(self, points: int) -> None:
        """Take points from the team, in equal parts."""
        n = len(self.players)
        for i in range(n):
            self.news["sparse"][i] -= points * (i + 1) // n - points * i // n

    def cook(self, pot: dict[str, Any]) -> None:
        if self.auto and pot["tick"] < 0 and len(pot["ingredients"]) == 3:
            pot["tick"] = 0
        if 0 <= pot["tick"] < self.time(pot):
            pot["tick"] += 1

    def char(self, cell: Cell) -> None:
        """Ready soup gets older, and burns in the end."""
        assert self.burn is not None
        pot, (limit, cost), n = self.lying[cell], self.burn, len(self.players)
        pot["tick"] += 1
        if pot["tick"] == self.time(pot) + limit:
            del self.lying[cell]
            for i in range(n):
                self.news["events"][i].append("soup_burnt")
            self.burnt += cost

    def age(self, counter: int, occupied: bool) -> int | None:
        if counter >= self.gate_limit:
            return counter if occupied else None
        return counter if occupied and self.gate_pause else counter + 1

    def free(self, cell: Cell) -> bool:
        return self.symbols[cell] == " " or (self.symbols[cell] == "G" and self.gates[cell] is not None)

    def move(self, actions: list[str]) -> None:
        old = [player["cell"] for player in self.players]
        new = []
        for player, action in zip(self.players, actions, strict=True):
            target = player["cell"]
            if action in STEPS:
                player["facing"] = action
                beside = ahead(player)
                target = beside if self.free(beside) else target
            new.append(target)
        for i, j in itertools.combinations(range(len(old)), 2):
            if new[i] == new[j] or (new[i] == old[j] and new[j] == old[i]):
                return
        for player, cell in zip(self.players, new, strict=True):
            player["cell"] = cell

    def interact(self, i: int, before: list[str]) -> bool:
        """Let a player use the cell it faces; tells whether anything changed."""
        player = self.players[i]
        cell = ahead(player)
        symbol, held = self.symbols[cell], player["held"]
        if symbol in COUNTERS:
            return self.use_counter(i, cell, before)
        if symbol in STATIONS.values():
            return self.use_station(i, cell, before)
        if symbol in DISPENSERS and held is None:
            name = DISPENSERS[symbol]
            if name != "tomato":
                self.note_pickup(i, name, before)
            if name == "dish" and self.dish_wanted(before):
                self.news["shaped"][i] += self.layout.shaping["dish"]
            player["held"] = {"item": name, **({"work": 0} if name in self.layout.prepare else {})}
            return True
        if symbol == "P":
            return self.use_pot(i, cell, before)
        if symbol == "S" and held and held["item"] == "soup":
            is_order = self.order is not None and sorted(held["ingredients"]) == self.order[0]
            self.fulfilled |= is_order
            if is_order or self.order is None:
                self.news["sparse"][i] += self.worth(held["ingredients"])
            self.news["events"][i].append("soup_delivery")
            player["held"] = None
            return True
        if symbol == "G" and self.gates[cell] is None and (held is None or self.anyone):
            self.gates[cell] = 0
            return True
        return False

    def use_counter(self, i: int, cell: Cell, before: list[str]) -> bool:
        player = self.players[i]
        if (player["held"] is None) == (cell not in self.lying):
            return False
        if player["held"] is None:
            self.note_pickup(i, self.lying[cell]["item"], before)
            player["held"] = self.lying.pop(cell)
        else:
            self.note_drop(i, player["held"]["item"], before)
            self.lying[cell], player["held"] = player["held"], None
        return True

    def needed(self, thing: dict[str, Any]) -> int:
        """Work that an ingredient still needs."""
        station = self.layout.prepare.get(thing["item"])
        return 0 if station is None else (3 if station == "board" else 10) - thing.get("work", 0)

    def use_station(self, i: int, cell: Cell, before: list[str]) -> bool:
        player, there, symbol = self.players[i], self.lying.get(cell), self.symbols[cell]
        held = player["held"]
        if there is None:
            if not held or STATIONS.get(self.layout.prepare.get(held["item"], "")) != symbol or not self.needed(held):
                return False
            return self.use_counter(i, cell, before)
        if held or (self.needed(there) and (symbol == "H" or (symbol == "M" and there["work"]))):
            return False
        if not self.needed(there):
            return self.use_counter(i, cell, before)
        there["work"] += 1
        self.news["events"][i].append("preparation")
        return True

    def work(self) -> None:
        """Let grills and started blenders work."""
        for cell, there in self.lying.items():
            symbol = self.symbols[cell]
            if (symbol == "H" or (symbol == "M" and there["work"])) and self.needed(there):
                there["work"] += 1

    def use_pot(self, i: int, cell: Cell, before: list[str]) -> bool:
        player, stage = self.players[i], self.stage(cell)
        held = player["held"]
        if held and self.needed(held):
            return False
        if held is None:
            if self.auto or stage not in ("partial", "full"):
                return False
            self.lying[cell]["tick"] = 0
            return True
        if held["item"] == "dish" and stage == "ready":
            self.note_pickup(i, "soup", before)
            player["held"] = self.lying.pop(cell)
            player["held"]["tick"] = self.time(player["held"])
            self.news["shaped"][i] += self.layout.shaping["soup"]
            return True
        if held["item"] in ("onion", "tomato") and stage in ("empty", "partial"):
            pot = self.lying.setdefault(cell, {"item": "soup", "ingredients": [], "tick": -1})
            old = self.best(pot["ingredients"])
            pot["ingredients"] = sorted([*pot["ingredients"], held["item"]])
            self.note_potting(i, held["item"], old, self.best(pot["ingredients"]))
            player["held"] = None
            self.news["shaped"][i] += self.layout.shaping["potting"]
            return True
        return False

    def others_hold(self, i: int, name: str) -> bool:
        return any(j != i and p["held"] and p["held"]["item"] == name for j, p in enumerate(self.players))

    def dish_wanted(self, before: list[str]) -> bool:
        on_counters = any(
            lying["item"] == "dish" for cell, lying in self.lying.items() if self.symbols[cell] in COUNTERS
        )
        in_hands = sum(bool(p["held"]) and p["held"]["item"] == "dish" for p in self.players)
        pots = sum(stage in ("ready", "cooking", "partial") for stage in before)
        return not on_counters and in_hands < pots

    def all_full(self, before: list[str]) -> bool:
        return all(stage in ("cooking", "ready", "full") for stage in before)

    def note_pickup(self, i: int, name: str, before: list[str]) -> None:
        self.news["events"][i].append(f"{name}_pickup")
        if name == "dish":
            useful = self.dish_wanted(before)
        else:
            useful = name != "soup" and not (self.all_full(before) and not self.others_hold(i, "dish"))
        if useful:
            self.news["events"][i].append(f"useful_{name}_pickup")

    def note_drop(self, i: int, name: str, before: list[str]) -> None:
        self.news["events"][i].append(f"{name}_drop")
        if name == "dish":
            none_full = not any(stage in ("cooking", "ready", "full") for stage in before)
            useful = none_full and not self.others_hold(i, "onion")
        else:
            useful = name != "soup" and self.all_full(before) and not self.others_hold(i, "dish")
        if useful:
            self.news["events"][i].append(f"useful_{name}_drop")

    def note_potting(self, i: int, name: str, old: int, new: int) -> None:
        outcomes = {"optimal": old == new, "viable": new > 0, "catastrophic": old > 0 and new == 0, "useless": old == 0}
        events = self.news["events"][i]
        events.append(f"potting_{name}")
        events += [f"{outcome}_{name}_potting" for outcome, true in outcomes.items() if true]

    def scene(self) -> dict[str, Any]:
        """The moment in the words of the package's scenes, as far as it is the rules' business."""
        places = sorted(self.lying, key=lambda cell: (cell[1], cell[0]))
        return {
            "timestep": self.timestep,
            "served": self.served,
            "score": self.score,
            "players": [
                {"position": list(p["cell"]), "facing": p["facing"], "holding": self.shown(p["held"])}
                for p in self.players
            ],
            "objects": [{"position": list(cell), **self.shown(self.lying[cell]), **self.left(cell)} for cell in places],
            "gates": [
                {"position": list(cell), "open": counter is not None, "counter": counter or 0, "limit": self.gate_limit}
                for cell, counter in sorted(self.gates.items(), key=lambda gate: (gate[0][1], gate[0][0]))
            ],
        }

    def left(self, cell: Cell) -> dict[str, int]:
        """Steps until soup burns, where it may."""
        if self.burn is None or self.symbols[cell] != "P" or self.stage(cell) != "ready":
            return {}
        return {"burns_in": self.time(self.lying[cell]) + self.burn[0] - self.lying[cell]["tick"]}

    def shown(self, held: dict[str, Any] | None) -> Any:
        if held is None:
            return None
        if held["item"] in self.layout.prepare:
            station = self.layout.prepare[held["item"]]
            done = {"board": "chopped", "grill": "grilled", "blender": "blended"}[station]
            return {**held, "needs": 3 if station == "board" else 10, "preparation": done}
        if held["item"] != "soup":
            return held
        time = self.time(held)
        return {**held, "time": time, "ready": held["tick"] >= time and held["tick"] >= 0}


def recipe(ingredients: list[str]) -> tuple[int, int]:
    return ingredients.count("onion"), ingredients.count("tomato")


def thing(displayed: dict[str, Any] | None) -> Any:
    if displayed is None:
        return None
    return {key: displayed[key] for key in ("item", "ingredients", "tick", "work") if key in displayed}


def ahead(player: dict[str, Any]) -> Cell:
    (x, y), (dx, dy) = player["cell"], STEPS[player["facing"]]
    return x + dx, y + dy
