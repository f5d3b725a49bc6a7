"""CollabCapture and CollabEscape once more, slow and obvious: names, dicts and the rules as specified.

An oracle for tests. It shares no code with the package; it reads the values that a map file holds.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

FAR = 10**6
Action = tuple[str, str]  # ("stay", ""), ("go", room) or ("use", "")


class NaiveRooms:
    """One episode being played, a turn at a time.

    Args:
        values: Of the map file.
        adversary: ``"coded"``, ``"distance"`` or ``"closest"``.
        exchange: ``"never"``, ``"later"`` or ``"always"``.
        max_cycles: Turns.
        agents: How many, those of the map if 0.
        doors: Which are open, where the map is not to count.
        fixes: That a generator needs.
        fix_by: ``"room"`` or ``"player"``.
        loss: ``"any"`` or ``"all"``.
        generators: Rooms, those of the map if empty.
        one_flag: Whether only the first of two who fix together is said to.
    """

    def __init__(
        self,
        values: dict[str, Any],
        adversary: str = "coded",
        exchange: str = "never",
        max_cycles: int = 30,
        agents: int = 0,
        doors: dict[str, bool] | None = None,
        fixes: int = 2,
        fix_by: str = "room",
        loss: str = "any",
        generators: Sequence[str] = (),
        one_flag: bool = True,
    ) -> None:
        self.adversary, self.exchange, self.max_cycles = adversary, exchange, max_cycles
        self.fixes, self.fix_by, self.loss, self.one_flag = fixes, fix_by, loss, one_flag
        self.escape = values["game"] == "escape"
        self.map = {str(room): [str(other) for other in near] for room, near in values["rooms"].items()}
        self.buttons, self.doors = {}, {}
        for door in values.get("doors", []):
            a, b = map(str, door["between"])
            self.buttons[str(door["button"])] = f"{a}-{b}"
            self.doors[f"{a}-{b}"] = (doors or {}).get(f"{a}-{b}", door.get("open", True))
        self.exits = [str(room) for room in values.get("exits", [])]
        self.repairs = {str(room): 0 for room in generators or values.get("generators", [])}
        self.fixer: dict[str, int | None] = dict.fromkeys(self.repairs)
        self.at = str(values["starts"]["adversary"])
        rooms = [str(room) for room in values["starts"]["agents"]][: agents or None]
        for room in self.map:
            if len(rooms) < agents and room not in (*rooms, self.at, *self.exits):
                rooms.append(room)
        self.rooms, self.before, self.n = rooms, list(rooms), len(rooms)
        self.alive, self.seen, self.fixing = [True] * self.n, [False] * self.n, [False] * self.n
        self.turn, self.outcome, self.target, self.completed = 0, "running", None, 0
        everybody = dict(enumerate([*rooms, self.at]))
        self.known = [
            {
                "places": {k: (r, 0) for k, r in everybody.items()},
                "doors": dict(self.doors),
                "fixes": dict(self.repairs),
            }
            for _ in rooms
        ]
        self.decide()

    def ways(self, room: str, doors: dict[str, bool] | None = None) -> list[str]:
        doors = self.doors if doors is None else doors
        return [r for r in self.map[room] if doors.get(f"{room}-{r}", True) and doors.get(f"{r}-{room}", True)]

    def far(self, start: str, goal: str, doors: dict[str, bool] | None = None) -> int:
        result, queue = {start: 0}, [start]
        for room in queue:
            for r in self.ways(room, doors):
                if r not in result:
                    result[r] = result[room] + 1
                    queue.append(r)
        return result.get(goal, FAR)

    def menu(self, seat: int) -> list[Action]:
        stay: list[Action] = [("stay", "")]
        if not self.alive[seat]:
            return stay
        room = self.rooms[seat]
        use: list[Action] = [("use", "")] if room in self.buttons or room in self.repairs else []
        return stay + [("go", r) for r in self.ways(room)] + use

    def thief_goes(self) -> str:
        ways = self.start_ways
        rooms = self.before if self.adversary == "closest" else self.rooms
        names = list(self.map)
        numbers = {r: int(r) if all(map(str.isdigit, names)) else names.index(r) for r in names}

        def score(r: str) -> int:
            if self.adversary == "coded":
                return min(abs(numbers[r] - numbers[entry]) for entry in rooms)
            return min(self.far(item, r, self.start_doors) for item in rooms)

        if self.adversary == "closest":
            ways = [self.at, *ways]  # it may stay
        return max(ways, key=score) if ways else self.at  # max takes the first of equals

    def decide(self) -> None:
        """The killer chooses whom to go for by the rooms that all are in."""
        if not self.escape:
            return
        living = [n for n in range(self.n) if self.alive[n]]
        if self.adversary == "closest":
            far = {n: self.far(self.at, self.rooms[n]) for n in living}
            near = [n for n in living if far[n] == min(far.values()) < FAR]
            self.target = near[0] if near else None
            return
        near = [n for n in living if self.rooms[n] in self.ways(self.at)]
        new = [n for n in near if not self.seen[n]]
        if len(near) <= 1:
            self.target = near[0] if near else None
        elif new:
            self.target = new[0]
        self.seen = [n in near for n in range(self.n)]

    def killer_goes(self) -> str | None:
        """None if chance decides."""
        if self.target is None:
            return None if self.adversary == "coded" else self.at
        goal = self.before[self.target]
        nearer = min((self.far(r, goal, self.start_doors) for r in self.start_ways), default=FAR)
        if nearer >= self.far(self.at, goal, self.start_doors):
            return self.at
        return next(r for r in self.start_ways if self.far(r, goal, self.start_doors) == nearer)

    def play(self, actions: Sequence[Action], goes: str | None = None) -> None:
        """One turn; `goes` is where an adversary goes that chance sends."""
        actions = [a if a in self.menu(n) else ("stay", "") for n, a in enumerate(actions)]
        self.before, self.fixing = list(self.rooms), [False] * self.n
        self.start_doors, self.start_ways = dict(self.doors), self.ways(self.at)
        self.repair(actions)
        for n, (verb, room) in enumerate(actions):
            if verb == "go":
                self.rooms[n] = room
            elif verb == "use" and self.rooms[n] in self.buttons:
                name = self.buttons[self.rooms[n]]
                self.doors[name] = not self.doors[name]
        was, now = self.at, goes
        if now is None:
            now = self.killer_goes() if self.escape else self.thief_goes()
        self.at = self.at if now is None else now
        self.judge(was)
        self.turn += 1
        if self.outcome == "running" and self.turn >= self.max_cycles:
            self.outcome = "time_out"
        self.decide()
        self.look()

    def repair(self, actions: Sequence[Action]) -> None:
        """A generator that nobody goes on with starts anew."""
        self.completed = 0
        works = {g: [n for n, a in enumerate(actions) if a[0] == "use" and self.rooms[n] == g] for g in self.repairs}
        for g, workers in works.items():
            if self.repairs[g] >= self.fixes:
                self.repairs[g] += len(workers)
                continue
            if self.fix_by == "room":
                self.repairs[g] = self.repairs[g] + len(workers) if workers else 0
            elif self.fixer[g] in workers:
                self.repairs[g] += 1
            else:
                self.repairs[g], self.fixer[g] = (1, workers[0]) if workers else (0, None)
            self.completed += self.repairs[g] >= self.fixes
        for workers in works.values():
            for n in workers[:1] if self.one_flag else workers:
                self.fixing[n] = True

    def judge(self, was: str) -> None:
        met = [n for n in range(self.n) if self.alive[n] and (self.rooms[n] == self.at or self.crossed(n, was))]
        if not self.escape:
            self.outcome = "success" if met else "running"
            return
        for n in met:
            self.alive[n] = self.loss == "any"
        left = [n for n in range(self.n) if self.alive[n] and n not in met]
        gate = all(done >= self.fixes for done in self.repairs.values())
        if (met and self.loss == "any") or not left:
            self.outcome = "lost"
        elif gate and any(self.rooms[n] in self.exits for n in left):
            self.outcome = "success"

    def crossed(self, n: int, was: str) -> bool:
        counts = self.exchange == "always" or (self.exchange == "later" and self.turn > 0)
        return counts and was != self.at and self.rooms[n] == was and self.before[n] == self.at

    @property
    def reward(self) -> int:
        return {"success": 1, "lost": -1}.get(self.outcome, 0)

    def in_sight(self, seat: int) -> set[str]:
        return {self.rooms[seat], *self.ways(self.rooms[seat])}

    def look(self) -> None:
        """Rooms next door are in sight; a door is from both its sides and from its button."""
        for seat, known in enumerate(self.known):
            rooms, here = self.in_sight(seat), self.rooms[seat]
            for k, room in enumerate([*self.rooms, self.at]):
                if room in rooms:
                    known["places"][k] = (room, self.turn)
            for name in self.doors:
                if here in name.split("-") or self.buttons.get(here) == name:
                    known["doors"][name] = self.doors[name]
            known["fixes"] |= {g: done for g, done in self.repairs.items() if g in rooms}

    def copied(self) -> NaiveRooms:
        other = copy.copy(self)
        for name in ("rooms", "before", "alive", "seen", "fixing", "doors", "repairs", "fixer", "known"):
            setattr(other, name, copy.copy(getattr(self, name)))
        other.look = lambda: None  # type: ignore[method-assign]  # memory plays no part in searches
        return other

    def key(self) -> tuple[Any, ...]:
        repairs = tuple(min(done, self.fixes) for done in self.repairs.values())
        people = (tuple(self.rooms[n] if self.alive[n] else "" for n in range(self.n)), tuple(self.seen))
        late = self.turn > 0 or self.exchange != "later"
        return (*people, self.at, self.target, tuple(self.doors.values()), repairs, tuple(self.fixer.values()), late)

    def joint(self) -> Iterator[tuple[Action, ...]]:
        return itertools.product(*(self.menu(n) for n in range(self.n)))

    def after(self, joint: Sequence[Action]) -> list[NaiveRooms]:
        """All that can follow: a killer without a target takes any way."""
        by_draw = self.escape and self.adversary == "coded" and self.target is None
        ways: Sequence[str | None] = (self.ways(self.at) or [self.at]) if by_draw else [None]
        results = []
        for way in ways:
            other = self.copied()
            other.play(joint, way)
            results.append(other)
        return results
