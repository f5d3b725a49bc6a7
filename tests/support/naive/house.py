"""The household games once more, slow and obvious: names, sets and the rules as specified.

An oracle for tests. It shares no code with the package; it starts from a scene and reads the texts of actions.
"""

from __future__ import annotations

import copy
import re
from typing import Any

UNITS = {  # ticks of primitive actions, and cells within which they work
    True: {"cost": {}, "reach": 1, "near": 1, "put near": 1, "put reach": 1},
    False: {
        "cost": {"wait": 50, "walk": 6, "walk thing": 6, "take": 6, "put": 15, "put at": 15, "put in": 100, "look": 32},
        "reach": 4, "near": 2, "put near": 3, "put reach": 6,
    },
}  # fmt: skip
PLANS = ("go", "explore", "check", "fetch", "deliver")
TURNS = ("open", "close")


class NaiveHouse:
    """One episode being played, a step at a time.

    Args:
        scene: Its start.
        home: Whether it is Housework.
        options: ``stepping``, ``preempt``, ``auto_open``, ``talk`` and ``container_lost``, where they are not usual.
    """

    def __init__(self, scene: dict[str, Any], home: bool, options: dict[str, Any]) -> None:
        scene = copy.deepcopy(scene)
        self.home, self.unit = home, UNITS[home]
        self.events = options.get("stepping", "event") == "event"
        self.preempt, self.auto_open = options.get("preempt", False), options.get("auto_open", True)
        self.paid_talk, self.lost = options.get("talk", "paid") == "paid", options.get("container_lost", True)
        self.floor = {
            (x, y): int(room) for y, row in enumerate(scene["grid"]) for x, room in enumerate(row) if room != "#"
        }
        self.places, self.things, self.goals = scene["places"], scene["things"], scene["goals"]
        self.rooms, self.bed = len(scene["rooms"]), scene["goal_place"]
        self.tick, self.limit, self.best = scene["tick"], scene["limit"], scene["paid"]
        self.steps, self.most = scene["steps"], scene["most_steps"]
        self.agents = [
            {
                "cell": tuple(item["at"]),
                "hands": item["hands"],
                "plan": None,
                "left": 0,
                "spoke": False,
                "room": item["room"],
            }
            for item in scene["agents"]
        ]
        self.known = scene["known"]
        self.ways: dict[int, dict[tuple[int, int], int]] = {}
        self.conflicts = 0

    def room(self, i: int) -> int:
        return self.floor[self.agents[i]["cell"]]

    def way(self, cell: tuple[int, int], p: int) -> int:
        if p not in self.ways:
            start = tuple(self.places[p]["at"])
            outcome, queue = {start: 0}, [start]
            for x, y in queue:
                for beside in ((x, y - 1), (x, y + 1), (x + 1, y), (x - 1, y)):
                    if beside in self.floor and beside not in outcome:
                        outcome[beside] = outcome[x, y] + 1
                        queue.append(beside)
            self.ways[p] = outcome
        return self.ways[p][cell]

    def near(self, i: int, p: int, reach: str) -> bool:
        here = self.places[p]["room"] == self.room(i)
        return here and self.way(self.agents[i]["cell"], p) <= self.unit[reach]

    def box(self, i: int) -> int | None:
        return next(
            (o for o in self.agents[i]["hands"] if o is not None and self.things[o]["role"] == "container"), None
        )

    def loose(self, i: int) -> int | None:
        return next((o for o in self.agents[i]["hands"] if o is not None and self.things[o]["role"] == "target"), None)

    def inside(self, box: int) -> list[int]:
        return [o for o, part in enumerate(self.things) if part["rel"] == "inside" and part["parent"] == box]

    def read(self, text: str) -> tuple[str, int]:
        """Return verb and number of an action's text."""
        labels = [entry["name"] for entry in self.places]
        number = re.search(r"(\d+)$", text)
        for message, verb in (("go to ", "go"), ("check ", "check"), ("open ", "open"), ("close ", "close"),
                            ("put down at ", "put at"), ("walk to ", "walk")):  # fmt: skip
            if text.startswith(message) and text.removeprefix(message) in labels:
                return verb, labels.index(text.removeprefix(message))
        for message, verb in (("walk to ", "walk thing"), ("take ", "take"), ("pick up ", "fetch")):
            if text.startswith(message):
                return verb, int(number[1])
        if text.startswith("say"):
            return "say", int(number[1]) if number else 1
        hands = {"put down left hand": ("put", 0), "put down right hand": ("put", 1), "look around": ("look", 0),
                 "search": ("explore", 0), "transport": ("deliver", 0)}  # fmt: skip
        return hands.get(text, (text, 0))

    def allows(self, i: int, verb: str, k: int) -> bool:
        """Whether an agent that is free may begin an action, by what it knows."""
        agent, known = self.agents[i], self.known[i]
        full = None not in agent["hands"]
        if verb in ("wait", "say"):
            return verb == "wait" or (self.paid_talk and not agent["spoke"])
        if verb == "go":
            return self.room(i) != k
        if verb in ("explore", "look"):
            return known["rooms"][self.room(i)] != 2
        if verb in ("fetch", "take", "walk thing"):
            status, p = known["things"][k][:2]
            if verb == "walk thing":
                return status == 1 and known["places"][p] != 0 and self.way(agent["cell"], p) > 0
            second = self.things[k]["role"] == "container" and self.box(i) is not None
            free = status == 1 and not full and not second
            return free and (verb == "fetch" or (self.near(i, p, "reach") and known["places"][p] == 2))
        if verb == "put in":
            box = self.box(i)
            return box is not None and self.loose(i) is not None and len(self.inside(box)) < 3
        if verb == "deliver":
            return agent["hands"] != [None, None] and known["places"][self.bed] != 0
        return self.allows_at_place(i, verb, k, full)

    def allows_at_place(self, i: int, verb: str, k: int, full: bool) -> bool:
        agent, known = self.agents[i], self.known[i]["places"]
        if verb == "put":
            here = self.near(i, self.bed, "put reach") and known[self.bed] == 2 and self.places[self.bed]["free"] > 0
            return agent["hands"][k] is not None and here
        if verb == "put at":
            here = self.near(i, k, "reach") and known[k] == 2 and self.places[k]["free"] > 0
            return agent["hands"] != [None, None] and here
        if known[k] == 0:
            return False
        if verb == "walk":
            return self.way(agent["cell"], k) > 0
        if verb == "check":
            return known[k] == 1 and k != self.bed and not full
        if self.places[k]["kind"] != "container" or not self.near(i, k, "reach"):
            return False
        if verb == "close":
            return known[k] == 2
        return known[k] != 2 and (not full or (self.auto_open and k == self.bed))

    def menu(self, i: int, texts: list[str]) -> set[str]:
        """Return which texts may be chosen now."""
        if self.agents[i]["plan"] is not None and not self.preempt:
            return {"wait"}
        return {text for text in texts if self.allows(i, *self.read(text))}

    def play(self, texts: list[str], favour: int = 0) -> float:
        """Play a step; where two handle one thing in the same tick, the favoured one has it. Returns what it pays."""
        self.favour, self.paid, started = favour, 0, self.tick
        self.saw, self.why = [0] * len(self.agents), [""] * len(self.agents)
        for i, text in enumerate(texts):
            self.begin(i, *self.read(text))
        while True:
            stop = self.done() or self.tick >= self.limit or not self.events
            for i, agent in enumerate(self.agents):
                if agent["left"] <= 0 and agent["plan"] is not None:
                    self.go_on(i)
                stop = stop or agent["plan"] is None
            if stop and self.tick > started:
                break
            self.pass_time()
        for agent in self.agents:
            if agent["plan"] == ("wait", 0):
                agent |= {"plan": None, "left": 0}
        self.steps += 1
        return self.paid

    def begin(self, i: int, verb: str, k: int) -> None:
        agent = self.agents[i]
        if agent["plan"] is not None and (verb == "wait" or not self.preempt or agent["plan"] == (verb, k)):
            return
        if not self.allows(i, verb, k):
            if agent["plan"] is not None:
                return
            verb, k = "wait", 0
        agent |= {"plan": (verb, k), "first": True, "aim": self.room(i), "left": 0}
        agent["spoke"] = agent["spoke"] and verb == "say"

    def go_on(self, i: int) -> None:
        """Find the next movement of an agent's action, or end it."""
        agent = self.agents[i]
        first, agent["first"] = agent["first"], False
        move = self.next_move(i, *agent["plan"], first)
        if move is None:
            agent |= {"plan": None, "move": None, "left": 0}
            return
        verb, k = move
        cost = 1 if verb == "wait" and not self.events else self.unit["cost"].get(verb, 1)
        agent |= {"move": move, "left": cost * (k if verb == "say" else 1)}

    def next_move(self, i: int, verb: str, k: int, first: bool) -> tuple[str, int] | None:
        agent, known = self.agents[i], self.known[i]
        if verb not in PLANS:
            return (verb, k) if first else None
        if verb == "go":
            there = self.room(i) == k or (not self.home and self.saw[i] and not first)
            return None if there else ("walk", k)
        if verb == "explore":
            if known["rooms"][agent["aim"]] == 2:
                return None
            return ("look", 0) if self.near(i, agent["aim"], "near") else ("walk", agent["aim"])
        if verb == "check":
            if known["places"][k] != 1:
                return None
            return ("open", k) if self.near(i, k, "near") else ("walk", k)
        if verb == "fetch":
            if known["things"][k][0] == 2 or not self.allows(i, "fetch", k):
                return None
            p = known["things"][k][1]
            if not self.near(i, p, "near"):
                return "walk", p
            return ("open", p) if self.places[p]["kind"] == "container" and known["places"][p] != 2 else ("take", k)
        return self.next_of_delivery(i)

    def next_of_delivery(self, i: int) -> tuple[str, int] | None:
        hands = self.agents[i]["hands"]
        full = [hand for hand in (0, 1) if hands[hand] is not None]
        if not full:
            return None
        if not self.near(i, self.bed, "put near"):
            return "walk", self.bed
        if self.why[i] == "no room":
            return None
        if self.known[i]["places"][self.bed] != 2:
            return None if len(full) == 2 and not self.auto_open else ("open", self.bed)
        return "put", full[0]

    def pass_time(self) -> None:
        """Let ticks pass until somebody is through with a movement, or one."""
        ticks = min([self.limit - self.tick, *(single["left"] for single in self.agents)]) if self.events else 1
        ticks = max(ticks, 1)
        self.tick += ticks
        for agent in self.agents:
            agent["left"] -= ticks
        ready = [i for i, result in enumerate(self.agents) if result["left"] == 0 and result["plan"] is not None]
        for i in ready:
            self.why[i] = self.carry_out(i, ready)
        for i in ready:
            self.agents[i]["looked"] = self.agents[i]["move"] == ("look", 0)
        for i, agent in enumerate(self.agents):
            self.perceive(i, agent.pop("looked", False))
        self.score()

    def carry_out(self, i: int, ready: list[int]) -> str:
        agent = self.agents[i]
        verb, k = agent["move"]
        rivals = [j for j in ready if self.moved(j, verb, k)]
        if verb in ("take", *TURNS) and len(rivals) > 1:
            self.conflicts += 1
            if i != (self.favour if self.favour in rivals else rivals[0]):
                return "conflict"
        if verb in ("walk", "walk thing"):
            self.walk(agent, k if verb == "walk" else max(self.known[i]["things"][k][1], 0))
        elif verb == "take":
            return self.take(i, k)
        elif verb in TURNS:
            if self.places[k]["open"] == (verb == "open"):
                return "as it was"
            self.places[k]["open"] = verb == "open"
        elif verb in ("put", "put at"):
            hand = k if verb == "put" else int(agent["hands"][0] is None)
            return self.put(agent, hand, self.bed if verb == "put" else k)
        elif verb == "put in":
            o, box = self.loose(i), self.box(i)
            agent["hands"][agent["hands"].index(o)] = None
            self.things[o] |= {"rel": "inside", "parent": box}
        elif verb == "say":
            agent["spoke"] = True
        return ""

    def moved(self, j: int, verb: str, k: int) -> bool:
        """Whether an agent does the same to the same thing."""
        other, thing = self.agents[j]["move"]
        return thing == k and (other == verb or (other in TURNS and verb in TURNS))

    def walk(self, agent: dict[str, Any], p: int) -> None:
        x, y = agent["cell"]
        for beside in ((x, y - 1), (x, y + 1), (x + 1, y), (x - 1, y)):
            if beside in self.floor and self.way(beside, p) < self.way((x, y), p):
                agent["cell"] = beside
                return

    def take(self, i: int, o: int) -> str:
        thing, p, agent = self.things[o], self.known[i]["things"][o][1], self.agents[i]
        if (thing["rel"], thing["parent"]) != ("at", p) or not self.places[p]["open"]:
            return "gone"
        agent["hands"][agent["hands"].index(None)] = o
        thing |= {"rel": "held", "parent": i}
        self.places[p]["free"] += 1
        return ""

    def put(self, agent: dict[str, Any], hand: int, p: int) -> str:
        place, o = self.places[p], agent["hands"][hand]
        if not place["open"]:
            return "shut"
        if place["free"] <= 0:
            return "no room"
        agent["hands"][hand] = None
        place["free"] -= 1
        stays = place["kind"] == "bed"
        if stays and self.things[o]["role"] == "container":
            stays = self.lost
            for other in self.inside(o):
                self.things[other] |= {"rel": "delivered", "parent": p}
        self.things[o] |= {"rel": "delivered" if stays else "at", "parent": p}
        return ""

    def there(self, goal: dict[str, Any]) -> int:
        results = [thing for thing in self.things if thing["name"] == goal["name"]]
        count = sum(t["rel"] == "delivered" or (t["rel"], t["parent"]) == ("at", self.bed) for t in results)
        return min(count, goal["need"])

    def score(self) -> None:
        for goal in self.goals:
            goal["have"] = self.there(goal)
        total = sum(goal["have"] for goal in self.goals)
        self.paid += max(total - self.best, 0)
        self.best = max(total, self.best)

    def done(self) -> bool:
        return all(goal["have"] >= goal["need"] for goal in self.goals)

    def perceive(self, i: int, looked: bool) -> None:
        known, room = self.known[i], self.room(i)
        known["rooms"][room] = 2 if self.home or looked else max(known["rooms"][room], 1)
        if known["places"][self.bed] == 0 and self.places[self.bed]["room"] == room:
            self.saw[i] += 1
        for p, place in enumerate(self.places):
            if place["room"] == room and place["kind"] in ("surface", "container", "bed"):
                opened = place["kind"] != "container" or place["open"]
                known["places"][p] = 2 if opened else {0: 1, 1: 1, 2: 3, 3: 3}[known["places"][p]]
        for o, thing in enumerate(self.things):
            if thing["rel"] != "none":
                known["things"][o] = self.look_at(i, room, o, known["things"][o])
        for j, other in enumerate(self.agents):
            if j != i and self.room(j) == room:
                hands = [-1 if o is None else o for o in other["hands"]]
                known["mates"][j] = [room, *hands, self.tick]

    def shown(self, room: int, p: int) -> bool:
        place = self.places[p]
        return place["room"] == room and (place["kind"] != "container" or place["open"])

    def look_at(self, i: int, room: int, o: int, belief: list[int]) -> list[int]:
        """Return what an agent believes of a thing now: status, place, tick and whether it was noticed."""
        thing = self.things[o]
        status, place, _, noticed = belief
        carrier = self.things[thing["parent"]] if thing["rel"] == "inside" else thing
        rel, parent = carrier["rel"], carrier["parent"]
        if rel == "held" and (parent == i or self.room(parent) == room):
            return [2 if parent == i else 3, parent, self.tick, 1]
        if rel in ("at", "delivered") and self.shown(room, parent):
            done = rel == "delivered" or (parent == self.bed and self.home)
            sees = noticed or thing["in_view"] or self.known[i]["rooms"][room] == 2
            if done or sees:
                self.saw[i] += not done and status in (0, 4)
                return [5 if done else 1, parent, self.tick, noticed if done else 1]
        here = self.shown(room, place) if status == 1 else status == 3 and self.room(place) == room
        return [4, -1, self.tick, noticed] if here else belief
