"""The kitchen with recipes once more, slow and obvious: dicts, names and the rules as the specification tells them.

An oracle for tests. It shares no code with the package; it reads the ``Layout`` of a layout file and scenes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Cell = tuple[int, int]
STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
BELTS = {"^": (0, -1), "v": (0, 1), ">": (1, 0), "<": (-1, 0)}
COUNTERS = ("W", *BELTS)
STATIONS = {"board": "C", "grill": "H", "blender": "M"}
NAMES = ("onion", "tomato", "carrot", "mushroom", "potato", "cucumber", "leek", "pea", "apple", "banana")


class NaiveKitchen:
    """One kitchen being played from a scene."""

    def __init__(self, layout: Any, scene: dict[str, Any], options: dict[str, Any]) -> None:
        self.layout, self.options = layout, options
        self.symbols = {(x, y): symbol for y, row in enumerate(layout.grid) for x, symbol in enumerate(row)}
        self.players = [
            {"cell": tuple(p["position"]), "facing": p["facing"], "held": p["holding"], "knows": p["knows_recipe"]}
            for p in scene["players"]
        ]
        things = [dict(thing) for thing in scene["objects"]]
        self.lying = {tuple(thing.pop("position")): thing for thing in things}
        self.buttons = {tuple(button["position"]): button["left"] for button in scene["buttons"]}
        self.recipe, self.score, self.served = scene["recipe"], scene["score"], scene["served"]
        self.delivered, self.left = scene["delivered"], scene.get("order_left")

    def step(self, actions: list[str], next_recipe: list[str]) -> tuple[int, list[int]]:
        """Play a step; the recipe becomes the next one where it is drawn. Returns points and shaped rewards."""
        self.move(actions)
        plates = sum(player["held"] == {"item": "plate"} for player in self.players)
        points, shaped, self.delivered = 0, [0] * len(self.players), False
        for i, (player, action) in enumerate(zip(self.players, actions, strict=True)):
            if action == "interact":
                dx, dy = STEPS[player["facing"]]
                cell = player["cell"][0] + dx, player["cell"][1] + dy
                paid, shaped[i] = self.interact(player, cell, plates)
                points += paid
        self.carry()
        self.work()
        points -= self.options.get("burn_cost", 5) * sum([self.cook(cell) for cell in list(self.lying)])
        self.buttons = {cell: max(left - 1, 0) for cell, left in self.buttons.items()}
        expired = self.left == 1 and not self.delivered
        points -= self.options.get("order_cost", 0) if expired else 0
        self.score += points
        self.left = self.left and self.left - 1
        if expired or (self.delivered and (self.options.get("redraw_recipe") or self.left is not None)):
            self.left = self.options.get("order_time")
            self.recipe = next_recipe
            for player in self.players:
                player["knows"] = False
        for player in self.players:
            displays = [cell for cell, symbol in self.symbols.items() if symbol == "R" or self.buttons.get(cell)]
            player["knows"] |= len(self.layout.recipes) == 1 or any(self.sees(player, cell) for cell in displays)
        return points, shaped

    def carry(self) -> None:
        """Move what lies on belts by one cell, those first that have room ahead."""
        moved: set[Cell] = set()
        while going := [cell for cell in self.lying if cell not in moved and self.ahead_of(cell)]:
            target = self.ahead_of(going[0])
            assert target is not None
            self.lying[target] = self.lying.pop(going[0])
            moved.add(target)

    def ahead_of(self, cell: Cell) -> Cell | None:
        """The free counter or belt to which a belt leads."""
        if self.symbols[cell] not in BELTS:
            return None
        dx, dy = BELTS[self.symbols[cell]]
        ahead = cell[0] + dx, cell[1] + dy
        return ahead if self.symbols[ahead] in COUNTERS and ahead not in self.lying else None

    def work(self) -> None:
        """Let grills and started blenders work."""
        for cell, thing in self.lying.items():
            works = self.symbols[cell] == "H" or (self.symbols[cell] == "M" and thing["work"])
            if works and thing["work"] < thing["needs"]:
                thing["work"] += 1

    def use_station(self, player: dict[str, Any], cell: Cell, symbol: str) -> None:
        held, thing = player["held"], self.lying.get(cell)
        if thing is None:
            if held and self.is_raw(held) and STATIONS[self.layout.prepare[held["item"]]] == symbol:
                self.lying[cell], player["held"] = held, None
        elif held is None and not self.is_raw(thing):
            player["held"] = self.lying.pop(cell)
        elif held is None and (symbol == "C" or (symbol == "M" and not thing["work"])):
            thing["work"] += 1

    def is_raw(self, thing: dict[str, Any]) -> bool:
        return bool(thing.get("work", 0) < thing.get("needs", 0))

    def of_pile(self, symbol: str) -> dict[str, Any]:
        name = NAMES[int(symbol)]
        station = self.layout.prepare.get(name)
        if station is None:
            return {"item": name}
        done = {"board": "chopped", "grill": "grilled", "blender": "blended"}[station]
        return {"item": name, "work": 0, "needs": 3 if station == "board" else 10, "preparation": done}

    def cook(self, cell: Cell) -> bool:
        """Let soup cook, or wait until it burns; tells whether it did."""
        thing = self.lying[cell]
        if thing.get("burns_in"):
            thing["burns_in"] -= 1
            if thing["burns_in"] == 0:
                del self.lying[cell]
                return True
        elif thing.get("left"):
            thing["left"] -= 1
            thing["ready"] = thing["left"] == 0
            if thing["ready"] and "burn" in self.options:
                thing["burns_in"] = self.options["burn"]
        return False

    def sees(self, player: dict[str, Any], cell: Cell) -> bool:
        radius = self.options.get("view_radius")
        return radius is None or all(abs(a - b) <= radius for a, b in zip(player["cell"], cell, strict=True))

    def move(self, actions: list[str]) -> None:
        old = [player["cell"] for player in self.players]
        new = list(old)
        for i, action in enumerate(actions):
            if action in STEPS:
                self.players[i]["facing"] = action
                ahead = old[i][0] + STEPS[action][0], old[i][1] + STEPS[action][1]
                if self.symbols[ahead] == " ":
                    new[i] = ahead
        while len(set(new)) < len(new):
            crowded = [i for i, cell in enumerate(new) if new.count(cell) > 1]
            new = [old[i] if i in crowded else cell for i, cell in enumerate(new)]
        for i in range(len(new)):
            for j in range(i):
                if new[i] == old[j] and new[j] == old[i] and new[i] != old[i]:
                    new[i], new[j] = old[i], old[j]
        for player, cell in zip(self.players, new, strict=True):
            player["cell"] = cell

    def interact(self, player: dict[str, Any], cell: Cell, plates: int) -> tuple[int, int]:
        symbol, held, lying = self.symbols[cell], player["held"], self.lying.get(cell)
        if symbol == "P":
            return 0, self.use_pot(player, cell, lying)
        if symbol in STATIONS.values():
            self.use_station(player, cell, symbol)
        elif symbol in COUNTERS and held and not lying:
            self.lying[cell], player["held"] = held, None
        elif symbol in COUNTERS and lying and not held:
            player["held"] = self.lying.pop(cell)
        elif symbol == "X" and held and held["item"] == "dish":
            player["held"] = None
            if held["ingredients"] == self.recipe:
                self.delivered, self.served = True, self.served + 1
                return 20, 0
            return -20 if self.options.get("negative_rewards") else 0, 0
        elif symbol == "L" and not held:
            self.buttons[cell] = 10
            return -5, 0
        elif symbol.isdigit() and not held:
            player["held"] = self.of_pile(symbol)
        elif symbol == "B" and not held:
            player["held"] = {"item": "plate"}
            pots = sum("left" in thing for thing in self.lying.values())
            return 0, 3 if plates < pots and {"item": "plate"} not in self.lying.values() else 0
        return 0, 0

    def use_pot(self, player: dict[str, Any], cell: Cell, pot: Any) -> int:
        held, explicit = player["held"], self.options.get("dynamics") == "explicit"
        if pot and pot["ready"]:
            if held != {"item": "plate"}:
                return 0
            player["held"] = {"item": "dish", "ingredients": self.lying.pop(cell)["ingredients"]}
            return 5 if pot["ingredients"] == self.recipe else 0
        if pot and pot["left"]:
            return 0
        if pot and not explicit and len(pot["ingredients"]) == 3:
            pot["left"] = 20
        elif pot and explicit and not held:
            pot["left"] = 20
            return 5 if pot["ingredients"] == self.recipe else 0
        elif held and held["item"] in NAMES and not self.is_raw(held) and (not pot or len(pot["ingredients"]) < 3):
            inside = pot["ingredients"] if pot else []
            useful = inside.count(held["item"]) < self.recipe.count(held["item"])
            inside = sorted([*inside, held["item"]], key=NAMES.index)
            left = 20 if len(inside) == 3 and not explicit else 0
            self.lying[cell] = {"item": "soup", "ingredients": inside, "left": left, "ready": False}
            player["held"] = None
            return 3 if useful else 0
        return 0

    def can_interact(self, seat: int) -> bool:
        """Return whether an interact of a player would change anything now."""
        before = self.state()
        copy = NaiveKitchen.__new__(NaiveKitchen)
        copy.__dict__ = {
            **vars(self),
            "lying": {cell: dict(thing) for cell, thing in self.lying.items()},
            "buttons": dict(self.buttons),
            "players": [dict(player) for player in self.players],
        }
        player = copy.players[seat]
        dx, dy = STEPS[player["facing"]]
        copy.interact(player, (player["cell"][0] + dx, player["cell"][1] + dy), 0)
        return bool(copy.state() != before or copy.delivered != self.delivered)

    def state(self) -> dict[str, Any]:
        """Return what a scene says of it, by the same names."""
        cells = sorted(self.lying, key=lambda cell: (cell[1], cell[0]))
        return {
            "recipe": self.recipe,
            "delivered": self.delivered,
            "served": self.served,
            "score": self.score,
            "players": [
                {
                    "position": list(player["cell"]),
                    "facing": player["facing"],
                    "holding": player["held"],
                    "knows_recipe": player["knows"],
                }
                for player in self.players
            ],
            "objects": [{"position": list(cell), **self.lying[cell]} for cell in cells],
            "buttons": [{"position": list(cell), "left": left} for cell, left in self.buttons.items()],
        }

    def counts(self, thing: Any) -> list[int]:
        """Return plate, cooked and the count of each ingredient."""
        if not thing:
            return [0] * (2 + self.layout.kinds)
        names = thing.get("ingredients", [thing["item"]])
        plate, cooked = thing["item"] in ("plate", "dish"), thing["item"] == "dish" or thing.get("ready", False)
        return [int(plate), int(cooked), *(names.count(name) for name in NAMES[: self.layout.kinds])]

    def observation(self, seat: int) -> np.ndarray:
        """Return all channels of a player's observation, without permutations."""
        height, width, kinds = len(self.layout.grid), len(self.layout.grid[0]), self.layout.kinds
        belts = tuple(BELTS) if set(self.symbols.values()) & set(BELTS) else ()
        stations = tuple(STATIONS.values()) if self.layout.prepare else ()
        clock = 25 + 5 * kinds + len(belts)  # channel of the order's steps
        planes = clock + (self.left is not None) + len(stations) + bool(stations)
        seen = np.zeros((height, width, planes), int)
        for j, player in enumerate(self.players):
            x, y = player["cell"]
            first = 0 if j == seat else 7 + kinds
            facing = [name == player["facing"] for name in ("north", "south", "east", "west")]
            seen[y, x, first : first + 7 + kinds] += [1, *facing, *self.counts(player["held"])]
        for (x, y), symbol in self.symbols.items():
            thing = self.lying.get((x, y))
            shows = symbol == "R" or self.buttons.get((x, y), 0) > 0
            cell = [symbol == name for name in "WXPRLB"] + [symbol == str(kind) for kind in range(kinds)]
            cell += self.counts(thing)
            cell += self.counts({"item": "soup", "ingredients": self.recipe}) if shows else [0] * (2 + kinds)
            times = [thing.get("burns_in", thing.get("left", 0)) if thing else 0]
            seen[y, x, 14 + 2 * kinds : clock] = [*cell, *times, *(symbol == belt for belt in belts)]
            if stations:
                work = [thing.get("work", 0) if thing else 0]
                seen[y, x, planes - 4 :] = [*(symbol == station for station in stations), *work]
        for player in self.players if stations else ():
            seen[player["cell"][1], player["cell"][0], -1] = (player["held"] or {}).get("work", 0)
        seen[..., clock : planes - len(stations) - bool(stations)] = self.left or 0
        radius = self.options.get("view_radius")
        if radius is None:
            return seen
        x, y = self.players[seat]["cell"]
        seen = np.pad(seen, ((radius, radius), (radius, radius), (0, 0)))
        seen[..., clock : planes - len(stations) - bool(stations)] = self.left or 0  # also outside the map
        return seen[y : y + 2 * radius + 1, x : x + 2 * radius + 1]
