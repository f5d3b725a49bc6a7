"""The kitchen once more, slow and obvious: dicts, strings and the rules as the specification tells them.

An oracle for tests. It shares no code with the package; it reads the ``Kitchen`` of words that a YAML file holds.
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Cell = tuple[int, int]
STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
SEARCH_ORDER = ("west", "north", "east", "south")
DISPENSERS = {"ingredients": "ingredient_dispenser", "dishes": "dish_dispenser", "serving": "serving"}


class NaiveKitchen:
    """One kitchen being played.

    Args:
        kitchen: Words of the layout file.
        orders: Food names, the first one is wanted now.
        coin: Returns 0 or 1; decides what a blocked agent does.
        draw_order: Returns the next order; None where delivered orders are not replaced.
        stuck_limit: Steps without change after which an action is given up, 0 for never.
        original: Play the faults of the released code that language agents meet.
        printed: Only those who can deliver fill dishes, as in the paper's lists of actions.
    """

    def __init__(
        self,
        kitchen: Any,
        orders: list[str],
        coin: Callable[[], int],
        draw_order: Callable[[], str] | None = None,
        stuck_limit: int = 0,
        original: bool = False,
        printed: bool = False,
    ) -> None:
        self.kitchen, self.coin, self.draw_order, self.stuck_limit = kitchen, coin, draw_order, stuck_limit
        self.original, self.printed = original, printed
        self.floor = {(x, y) for y, row in enumerate(kitchen.grid) for x, s in enumerate(row) if s == " "}
        self.tiles: dict[Cell, dict[str, Any]] = {}
        self.utensils: dict[str, dict[str, Any]] = {}
        for y, row in enumerate(kitchen.grid):
            for x, symbol in enumerate(row):
                if symbol != " ":
                    self.tiles[x, y] = self.new_tile((x, y), kitchen.stations.get(symbol))
        self.counters: dict[Cell, dict[str, Any]] = {}  # in order of placement
        self.agents = [
            {"cell": tuple(a.start), "facing": a.facing, "held": None, "action": None, "timer": 0, "still": 0}
            for a in kitchen.agents
        ]
        self.homes = [self.connected(tuple(a.start)) for a in kitchen.agents]
        self.orders = list(orders)
        self.refill()
        self.timestep = self.delivered = 0

    def new_tile(self, cell: Cell, spec: Any) -> dict[str, Any]:
        if spec is None:
            return {"kind": "counter", "place": "counter", "users": None}
        if spec.kind != "utensil":
            return {"kind": spec.kind, "place": DISPENSERS[spec.kind], "users": spec.users}
        name = f"{spec.name}{sum(u['kind'] == spec.name for u in self.utensils.values())}"
        self.utensils[name] = {"cell": cell, "kind": spec.name, "capacity": spec.capacity, "verb": spec.operation}
        self.empty(name)
        return {"kind": "utensil", "place": name, "users": spec.users}

    def empty(self, name: str) -> None:
        self.utensils[name] |= {"contents": [], "product": None, "timer": 0, "time": 0}

    def connected(self, start: Cell) -> set[Cell]:
        result, queue = {start}, deque([start])
        while queue:
            x, y = queue.popleft()
            for dx, dy in STEPS.values():
                beside = (x + dx, y + dy)
                if beside in self.floor and beside not in result:
                    result.add(beside)
                    queue.append(beside)
        return result

    def may_use(self, i: int, cell: Cell) -> bool:
        """Whether an agent can get to a tile and nobody reserved it for others."""
        users = self.tiles[cell]["users"]
        beside = {(cell[0] - dx, cell[1] - dy) for dx, dy in STEPS.values()}
        return bool(beside & self.homes[i]) and (users is None or i in users)

    def users(self, cell: Cell) -> list[int]:
        return [i for i in range(len(self.agents)) if self.may_use(i, cell)]

    def cells_of(self, place: str) -> list[Cell]:
        return [cell for cell, tile in self.tiles.items() if tile["place"] == place]

    def in_reach(self, i: int, place: str) -> bool:
        return any(self.may_use(i, cell) for cell in self.cells_of(place))

    def status(self, name: str) -> str:
        utensil = self.utensils[name]
        if utensil["product"] is None:
            return "filling" if utensil["contents"] else "empty"
        return "ready" if utensil["timer"] >= utensil["time"] else "cooking"

    def needs_dish(self, food: str) -> bool:
        return bool(self.kitchen.serving.get(food, False))

    def interact(self, i: int, named: str | None) -> tuple[str, str | None, str] | None:
        """Use the faced tile; ``named`` is an item, ``"[START]"`` or None. Returns event, item and place."""
        agent = self.agents[i]
        dx, dy = STEPS[agent["facing"]]
        cell = (agent["cell"][0] + dx, agent["cell"][1] + dy)
        if cell not in self.tiles or not self.may_use(i, cell):
            return None
        tile = self.tiles[cell]
        use = {
            "counter": self.use_counter,
            "ingredients": self.use_ingredients,
            "dishes": self.use_dishes,
            "serving": self.use_serving,
            "utensil": self.use_utensil,
        }[tile["kind"]]
        done = use(agent, cell, named)
        return None if done is None else (*done, tile["place"])

    def use_counter(self, agent: dict[str, Any], cell: Cell, named: str | None) -> tuple[str, str] | None:
        if agent["held"] and cell not in self.counters:
            self.counters[cell] = agent["held"]
            agent["held"] = None
            return "PLACE", self.counters[cell]["item"]
        if not agent["held"] and cell in self.counters:
            agent["held"] = self.counters.pop(cell)
            return "PICKUP", agent["held"]["item"]
        return None

    def use_ingredients(self, agent: dict[str, Any], cell: Cell, named: str | None) -> tuple[str, str] | None:
        if agent["held"] or named not in self.kitchen.ingredients:
            return None
        agent["held"] = {"item": named, "plated": False}
        return "PICKUP", named

    def use_dishes(self, agent: dict[str, Any], cell: Cell, named: str | None) -> tuple[str, str] | None:
        if agent["held"]:
            return None
        agent["held"] = {"item": "dish", "plated": False}
        return "PICKUP", "dish"

    def use_serving(self, agent: dict[str, Any], cell: Cell, named: str | None) -> tuple[str, str] | None:
        if not agent["held"] or agent["held"]["item"] == "dish":
            return None
        item, plated = agent["held"]["item"], agent["held"]["plated"]
        agent["held"] = None
        if self.orders and self.orders[0] == item and plated == self.needs_dish(item):
            self.orders.pop(0)
            self.delivered += 1
            return "DELIVER", item
        return "DELIVER_WRONG", item

    def use_utensil(self, agent: dict[str, Any], cell: Cell, named: str | None) -> tuple[str, str | None] | None:
        name = self.tiles[cell]["place"]
        utensil, state = self.utensils[name], self.status(name)
        if named == "[START]" and state == "filling":
            self.started.add(name)
            return "START", None
        if not agent["held"]:
            return self.take_out(agent, name, named)
        item = agent["held"]["item"]
        if item == "dish":
            wrongly_logged = self.original and utensil["kind"] != "pot"
            if state != "ready":
                return ("PUT_NO_EFFECT", item) if wrongly_logged and state == "cooking" else None
            agent["held"] = {"item": utensil["product"], "plated": True}
            self.empty(name)
            return "FILL_AS_PUT" if wrongly_logged else "FILL", agent["held"]["item"]
        if state in ("cooking", "ready"):
            return None
        if len(utensil["contents"]) >= utensil["capacity"]:
            return ("PUT_NO_EFFECT", item) if self.original else None
        utensil["contents"].append(item)
        agent["held"] = None
        return "PUT", item

    def take_out(self, agent: dict[str, Any], name: str, named: str | None) -> tuple[str, str] | None:
        utensil, state = self.utensils[name], self.status(name)
        if state == "ready":
            agent["held"] = {"item": utensil["product"], "plated": False}
            self.empty(name)
            return "PICKUP", agent["held"]["item"]
        if state == "filling" and named in utensil["contents"]:
            utensil["contents"].remove(named)
            agent["held"] = {"item": named, "plated": False}
            return "PICKUP", named
        return None

    def perform(self, primitives: list[tuple[str, str | None]]) -> list[dict[str, Any] | None]:
        """Interacts in seat order, then moves all at once, then time passes. Returns events as words."""
        self.started: set[str] = set()
        done = [self.interact(i, p[1]) if p[0] == "interact" else None for i, p in enumerate(primitives)]
        self.move([p[0] for p in primitives])
        wrong = self.tick()
        self.refill()
        self.timestep += 1
        return [event and self.in_words(event, wrong) for event in done]

    def in_words(self, event: tuple[str, str | None, str], wrong: set[str]) -> dict[str, Any]:
        kind, item, place = event
        if kind == "START":
            label = f"{self.utensils[place]['verb']}({place})"
            kind = "START_WRONG" if place in wrong else "START"
        elif kind == "PICKUP":
            label = f"pickup({item},{place})"
        elif kind == "PLACE":
            label = "place_obj_on_counter()"
        elif kind in ("PUT", "FILL_AS_PUT", "PUT_NO_EFFECT"):
            label = f"put_obj_in_utensil({place})"
        elif kind == "FILL":
            label = f"fill_dish_with_food({place})"
        else:
            label = "deliver()"
        return {"event": kind, "item": item, "place": place, "label": label}

    def move(self, directions: list[str]) -> None:
        """Everybody turns; then, again and again, those who would collide or swap are told to stay."""
        before = [agent["cell"] for agent in self.agents]
        goals = list(before)
        for i, direction in enumerate(directions):
            if direction in STEPS:
                self.agents[i]["facing"] = direction
                dx, dy = STEPS[direction]
                ahead = (before[i][0] + dx, before[i][1] + dy)
                goals[i] = ahead if ahead in self.floor else before[i]
        while True:
            barred = set()
            for i in range(len(goals)):
                for j in range(len(goals)):
                    same = goals[i] == goals[j]
                    swap = goals[i] == before[j] and goals[j] == before[i]
                    if i != j and goals[i] != before[i] and (same or swap):
                        barred.add(i)
            if not barred:
                break
            for i in barred:
                goals[i] = before[i]
        for agent, goal in zip(self.agents, goals, strict=True):
            agent["cell"] = goal

    def tick(self) -> set[str]:
        wrong = set()
        for name, utensil in self.utensils.items():
            if name in self.started:
                fitting = [
                    recipe
                    for recipe in self.kitchen.recipes
                    if recipe.utensil == utensil["kind"] and Counter(recipe.inputs) == Counter(utensil["contents"])
                ]
                if fitting:
                    utensil |= {"product": fitting[0].product, "timer": 1, "time": fitting[0].time}
                else:
                    wrong.add(name)
                    self.empty(name)
            elif self.status(name) == "cooking":
                utensil["timer"] += 1
        return wrong

    def refill(self) -> None:
        while self.draw_order is not None and len(self.orders) < 3:
            self.orders.append(self.draw_order())

    def primitive_allowed(self, i: int, text: str) -> bool:
        move, named = read_primitive(text)
        if move != "interact":
            return True
        trial = copy.copy(self)
        trial.agents, trial.counters = copy.deepcopy(self.agents), copy.deepcopy(self.counters)
        trial.utensils, trial.orders, trial.started = copy.deepcopy(self.utensils), list(self.orders), set()
        return trial.interact(i, named) is not None

    def judge(self, i: int, text: str) -> str:
        agent = self.agents[i]
        if text == "continue" or agent["action"]:
            busy = agent["action"] is not None
            return "OK" if busy == (text == "continue") else "BUSY" if busy else "NOT_BUSY"
        name, args = read_call(text)
        if name == "wait":
            return "OK"
        held = agent["held"]
        if name == "pickup":
            return self.judge_pickup(i, args[0], args[1], held)
        if name == "place_obj_on_counter":
            free = [c for c in self.cells_of("counter") if self.may_use(i, c) and c not in self.counters]
            return "PLACE_EMPTY_HANDED" if not held else "OK" if free or self.original else "PLACE_NO_COUNTER"
        if name == "deliver":
            return self.judge_deliver(i, held)
        if name == "put_obj_in_utensil":
            return self.judge_put(i, args[0], held)
        if name == "fill_dish_with_food":
            return self.judge_fill(i, args[0], held)
        return self.judge_operate(i, args[0], held)

    def judge_pickup(self, i: int, item: str, place: str, held: dict[str, Any] | None) -> str:
        if place in self.utensils:
            if self.status(place) == "cooking":
                return "PICK_COOKING"
            makes = {r.product for r in self.kitchen.recipes if r.utensil == self.utensils[place]["kind"]}
            if self.needs_dish(item) and item in makes:
                return "PICK_NEEDS_DISH"
        if place == "counter":
            if not any(self.may_use(i, cell) and food["item"] == item for cell, food in self.counters.items()):
                return "PICK_NOT_ON_COUNTER"
        elif not self.in_reach(i, place):
            return "PICK_UNREACHABLE"
        if held:
            return "PICK_HANDS_FULL"
        if place in self.utensils and (self.status(place) != "ready" or self.utensils[place]["product"] != item):
            return "PICK_NOT_IN_UTENSIL"
        return "OK"

    def judge_put(self, i: int, place: str, held: dict[str, Any] | None) -> str:
        if self.status(place) in ("cooking", "ready"):
            return f"PUT_{self.status(place).upper()}"
        if not self.in_reach(i, place):
            return "PUT_UNREACHABLE"
        if not held:
            return "PUT_EMPTY_HANDED"
        if held["item"] == "dish":
            return "PUT_DISH"
        full = len(self.utensils[place]["contents"]) >= self.utensils[place]["capacity"]
        return "PUT_FULL" if full and not self.original else "OK"

    def judge_fill(self, i: int, place: str, held: dict[str, Any] | None) -> str:
        if self.printed and not self.in_reach(i, "serving"):
            return "FILL_NOT_LISTED"
        if not self.orders or not self.needs_dish(self.orders[0]):
            return "FILL_NOT_NEEDED"
        if not held or held["item"] != "dish":
            return "FILL_NO_DISH"
        if self.status(place) not in ("cooking", "ready"):
            return "FILL_NOT_READY"
        return "OK" if self.original or self.in_reach(i, place) else "FILL_UNREACHABLE"

    def judge_deliver(self, i: int, held: dict[str, Any] | None) -> str:
        if not held:
            return "DELIVER_EMPTY_HANDED"
        if self.original:
            message = (*self.kitchen.serving, "apple", "carrot", "onion", "potato", "tofu")
            return "OK" if any(word in held["item"] for word in message) else "DELIVER_NOT_FINISHED"
        if held["item"] not in self.kitchen.serving or held["plated"] != self.needs_dish(held["item"]):
            return "DELIVER_NOT_FINISHED"
        return "OK" if self.in_reach(i, "serving") else "DELIVER_UNREACHABLE"

    def judge_operate(self, i: int, place: str, held: dict[str, Any] | None) -> str:
        if not self.in_reach(i, place):
            return "OP_UNREACHABLE"
        if self.status(place) == "empty":
            return "OP_EMPTY"
        if self.status(place) != "filling":
            return "OP_BUSY"
        return "OP_HANDS_FULL" if held else "OK"

    def step(self, texts: list[str], levels: Sequence[str]) -> tuple[list[dict[str, Any] | None], list[str]]:
        """Play a step; returns events and reasons. A seat of level "medium" starts or continues, others act at once."""
        medium = [level == "medium" for level in levels]
        reasons = [self.judge(i, text) if medium[i] else "OK" for i, text in enumerate(texts)]
        for i, (agent, text) in enumerate(zip(self.agents, texts, strict=True)):
            if medium[i] and reasons[i] == "OK" and text != "continue":
                name, args = read_call(text)
                agent |= {"action": text, "timer": int(args[0]) if name == "wait" else 0, "still": 0}
        primitives = [self.next_primitive(i) if medium[i] else read_primitive(text) for i, text in enumerate(texts)]
        before = copy.deepcopy(self.agents)
        events = self.perform(primitives)
        spoiled = self.original and any(event and event["event"] == "START_WRONG" for event in events)
        for i, (agent, old) in enumerate(zip(self.agents, before, strict=True)):
            if agent["action"]:
                self.finish(i, any(agent[key] != old[key] for key in ("cell", "facing", "held")), spoiled)
            if not medium[i] and primitives[i][0] == "interact" and events[i] is None:
                reasons[i] = "NO_EFFECT"
        return events, reasons

    def finish(self, i: int, changed: bool, spoiled: bool) -> None:
        """End an action that is done, or one that has not got on for too long."""
        agent = self.agents[i]
        name, args = read_call(agent["action"])
        held = agent["held"]
        agent["timer"] -= 1
        agent["still"] = 0 if changed else agent["still"] + 1
        if name == "wait":
            done = agent["timer"] <= 0
        elif name == "pickup":
            done = held is not None and held["item"] == args[0]
        elif name == "fill_dish_with_food":
            order = self.orders[0] if self.orders else None
            done = held is not None and (held["item"] == order if self.original else held["plated"])
        elif name in ("place_obj_on_counter", "deliver", "put_obj_in_utensil"):
            done = held is None
        else:
            done = spoiled or self.status(args[0]) != "filling"
        stuck = name != "wait" and self.stuck_limit > 0 and agent["still"] >= self.stuck_limit
        if done or stuck:
            agent["action"] = None

    def next_primitive(self, i: int) -> tuple[str, str | None]:
        agent = self.agents[i]
        if not agent["action"]:
            return "stay", None
        name, args = read_call(agent["action"])
        if name == "wait":
            return "stay", None
        named = args[0] if name == "pickup" else "[START]"
        if name not in ("pickup", *(u["verb"] for u in self.utensils.values())):
            named = None
        goals = self.goals(i, name, args)
        if not goals and self.original:
            if self.coin() == 1:
                agent |= {"action": "wait(1)", "timer": 2, "still": 0}
            return "stay", None
        if not goals:
            agent["action"] = None
            return "stay", None
        others = {other["cell"] for j, other in enumerate(self.agents) if j != i}
        first = self.first_step(agent, goals, others)
        if first is None:
            first = "stay" if self.coin() == 0 else self.first_step(agent, goals, set())
        assert first is not None
        return first, named

    def goals(self, i: int, name: str, args: list[str]) -> list[tuple[Cell, str]]:
        """Poses from which the action can be done, in the order that settles ties."""
        if name == "pickup" and args[1] == "counter":
            cells = [cell for cell, food in self.counters.items() if food["item"] == args[0] and self.may_use(i, cell)]
            private = [cell for cell in cells if self.users(cell) == [i]]
            cells = private or cells
        elif name == "place_obj_on_counter":
            free = [c for c in self.cells_of("counter") if self.may_use(i, c) and c not in self.counters]
            usable = [cell for cell in self.cells_of("counter") if self.may_use(i, cell)]
            most = max(len(self.users(cell)) for cell in usable)
            shared = [cell for cell in free if len(self.users(cell)) == most > 1]
            cells = shared or free
        else:
            place = args[1] if name == "pickup" else args[0] if args else "serving"
            cells = [cell for cell in self.cells_of(place) if self.may_use(i, cell)]
        return [pose for cell in cells for pose in self.poses(i, cell)]

    def poses(self, i: int, cell: Cell) -> Iterator[tuple[Cell, str]]:
        for facing, (dx, dy) in STEPS.items():
            stand = (cell[0] - dx, cell[1] - dy)
            if stand in self.homes[i]:
                yield stand, facing

    def first_step(self, agent: dict[str, Any], goals: list[tuple[Cell, str]], taken: set[Cell]) -> str | None:
        """The first step to the nearest goal, ``"interact"`` at it, None if there is no way."""
        start = (agent["cell"], agent["facing"])
        paths: dict[tuple[Cell, str], list[str]] = {start: []}
        queue = deque([start])
        while queue:
            pose = queue.popleft()
            for direction in SEARCH_ORDER:
                dx, dy = STEPS[direction]
                ahead = (pose[0][0] + dx, pose[0][1] + dy)
                if ahead not in self.floor or ahead in taken:
                    ahead = pose[0]
                if (ahead, direction) not in paths:
                    paths[ahead, direction] = [*paths[pose], direction]
                    queue.append((ahead, direction))
        reachable = [goal for goal in goals if goal in paths]
        if not reachable:
            return None
        nearest = min(reachable, key=lambda goal: len(paths[goal]))  # the first of equals
        return paths[nearest][0] if paths[nearest] else "interact"

    def load(self, scene: dict[str, Any]) -> None:
        """Start from a scene, agents idle."""
        for agent, value in zip(self.agents, scene["agents"], strict=True):
            agent |= {"cell": tuple(value["position"]), "facing": value["facing"], "held": value["holding"]}
        for counter in scene["counters"]:
            self.counters[tuple(counter["position"])] = {"item": counter["item"], "plated": counter["plated"]}
        for name, utensil in scene["utensils"].items():
            printed = {key: utensil[key] for key in ("product", "timer", "time")}
            self.utensils[name] |= printed | {"contents": list(utensil["contents"])}

    def scene(self) -> dict[str, Any]:
        return {
            "timestep": self.timestep,
            "delivered": self.delivered,
            "orders": list(self.orders),
            "agents": [
                {
                    "position": list(agent["cell"]),
                    "facing": agent["facing"],
                    "holding": agent["held"],
                    "action": agent["action"],
                    "timer": agent["timer"],
                }
                for agent in self.agents
            ],
            "counters": [{"position": list(cell)} | food for cell, food in self.counters.items()],
            "utensils": {name: self.utensil_scene(name) for name in self.utensils},
        }

    def utensil_scene(self, name: str) -> dict[str, Any]:
        utensil = self.utensils[name]
        displayed = {key: utensil[key] for key in ("product", "timer", "time")}
        return {
            "position": list(utensil["cell"]),
            "status": self.status(name),
            "contents": utensil["contents"],
        } | displayed


def read_call(text: str) -> tuple[str, list[str]]:
    name, _, rest = text.partition("(")
    inside = rest.removesuffix(")")
    return name, inside.split(",") if inside else []


def read_primitive(text: str) -> tuple[str, str | None]:
    name, args = read_call(text)
    if name == "start":
        return "interact", "[START]"
    return name, args[0] if args else None
