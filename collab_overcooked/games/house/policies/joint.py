"""Sub-plans of the household games for teams that plan jointly: one agent's knowledge of all agents' options."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from collab_overcooked.io.text import join_and
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.paths import shortest_paths
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.search.subplans import Finding, Findings, PlanningView, SubPlan, SubplanStudy

from ..engine.config import LOADS, TASKS
from ..engine.constants import CONTAINER_ROOM, HANDS, GameKind, Param, Verb
from ..text.text import NAMES, describe
from .planner import Scene, SubPlans, has_container, held, still_wanted, unseen_rooms

GOAL = "goal place"


def report_findings(scene: Scene) -> dict[str, Finding]:
    """Return an agent's findings by the names of things, containers, rooms, and the agent itself."""
    me = scene["me"]
    rooms = scene["rooms"]
    tick = scene["tick"]
    findings: dict[str, Finding] = {}
    for o, thing in scene["things"].items():
        mine = thing["status"] == "mine"
        data = {**{k: v for k, v in thing.items() if k not in ("way", "tick")}, "id": o}
        if mine:
            data |= {"status": "mate", "agent": scene["seat"]}
        name = f"{thing['name']} {o}"
        place = scene["places"].get(thing.get("place"))
        where = {
            "mine": f"I have {name}",
            "mate": f"{NAMES[thing.get('agent', 0)]} has {name}",
            "done": f"{name} is at the goal place",
            "gone": f"{name} is gone",
            "seen": f"{name} is in the {rooms[thing['room']]['name']}" if "room" in thing else "",
        }[thing["status"]]
        beside = f" ({place['name']})" if place else ""
        findings[name] = Finding(where + beside + ".", ("thing", _fixed(data)), tick if mine else thing["tick"])
    for p, place in scene["places"].items():
        goal = p == scene["goal"]["place"]
        if place["kind"] == "container" or goal:
            data = {k: v for k, v in place.items() if k != "way"} | {"id": p}
            state = {"closed": "not checked", "open": "checked", "checked": "checked"}[place["state"]]
            note = "goal place" if goal else state
            text = f"{place['name']}: {rooms[place['room']]['name']}, {note}."
            findings[place["name"]] = Finding(text, ("place", _fixed(data)), int(place["state"] != "closed"))
    for r, room in enumerate(rooms):
        if room["known"] == "all":
            findings[room["name"]] = Finding(f"{room['name']} searched.", ("room", r))
    hands = join_and([f"{scene['things'][o]['name']} {o}" for o in held(scene)]) or "nothing"
    data = {"room": me["room"], "at": tuple(me["at"]), "count": len(held(scene)) + len(me["inside"])}
    text = f"{NAMES[scene['seat']]} is in the {rooms[me['room']]['name']} and holds {hands}."
    findings[NAMES[scene["seat"]]] = Finding(text, ("agent", _fixed({**data, "id": scene["seat"]})), tick)
    return findings


def _fixed(data: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in sorted(data.items()))


def merge_findings(scene: Scene, findings: Findings) -> Scene:
    """Return a seat's scene with teammates' findings; later observations of the seat itself take precedence.

    ``told`` of the result holds the sub-plans, as verb and argument, that the seat knows only from reports.
    """
    rooms = [dict(room) for room in scene["rooms"]]
    places = dict(scene["places"])
    things = dict(scene["things"])
    mates = dict(scene["mates"])
    reported: set[tuple[Verb, int]] = set()
    for finding in findings.values():
        kind, values = finding.data
        if kind == "room":
            rooms[values]["known"] = "all"
            continue
        data = dict(values)
        number = data.pop("id")
        if kind == "place":
            _merge_place(scene, places, number, data, reported)
        elif kind == "thing":
            _merge_thing(scene, things, number, data | {"tick": finding.since}, reported)
        elif number != scene["seat"]:
            mine = scene["mates"].get(number)
            if mine is None or mine["tick"] <= finding.since:
                mates[number] = {"hands": [], **data, "tick": finding.since}
    done = [thing["name"] for thing in things.values() if thing["status"] == "done"]
    return {
        **scene,
        "rooms": rooms,
        "places": places,
        "things": things,
        "mates": mates,
        "goal": {**scene["goal"], "found": scene["goal"]["place"] in places},
        "goals": [{**goal, "seen": done.count(goal["name"])} for goal in scene["goals"]],
        "told": reported,
    }


def _merge_place(
    scene: Scene, places: dict[int, Any], p: int, data: dict[str, Any], reported: set[tuple[Verb, int]]
) -> None:
    known = scene["places"].get(p)
    if known is None:
        places[p] = {**data, "way": scene["rooms"][data["room"]]["way"]}
        reported.add((Verb.DELIVER, 0) if p == scene["goal"]["place"] else (Verb.CHECK, p))
    elif known["state"] == "closed" and data["state"] != "closed":
        places[p] = {**known, "state": "checked"}


def _merge_thing(
    scene: Scene, things: dict[int, Any], o: int, data: dict[str, Any], reported: set[tuple[Verb, int]]
) -> None:
    known = scene["things"].get(o)
    if known is not None and (known["status"] in ("mine", "done") or known["tick"] > data["tick"]):
        return
    if data["status"] == "mate" and data["agent"] == scene["seat"]:
        return
    if data["status"] == "seen":
        if known is not None and known["status"] == "seen":
            return
        room = data["room"]
        if scene["me"]["room"] == room and scene["rooms"][room]["known"] == "all":
            return  # it would be seen
        data["way"] = scene["rooms"][room]["way"]
        reported.add((Verb.FETCH, o))
    things[o] = data


DELIVER, FETCH, BOX = 4.0, 3.0, 2.0  # values; a search has the expected value of its finds
HIDDEN = 4  # estimated number of hiding places in an unseen room
GOAL_VALUE = 2.0  # value of finding the goal place
RESERVE = 2  # safety margin on the way to the goal, as a multiple of its ticks
LOST = 30  # estimated cells to an agent or thing at an unknown place
STEPS = 3
SCALE = 20.0  # cells walked that discount a gain by a factor of e
BY_MESSAGE = "If you know of something only from a message, you walk to its room first."
NOTES = {
    False: "`search ROOM` walks into a room, where you see everything that is not in a closed "
    "container; `check CONTAINER` walks there and opens it, which needs a free hand; `pick up THING` walks there and "
    f"takes it; `transport` brings the things in both hands to the goal place. {BY_MESSAGE}",
    True: "`search ROOM` walks into a room and looks at all of it; `pick up THING` walks there, takes it "
    "and puts it into a container that you carry; `transport` brings everything that you carry to the bed. "
    + BY_MESSAGE,
}
Grid = tuple[str, ...]
Cell = tuple[int, int]


@lru_cache(maxsize=4096)
def ways_from(grid: Grid, start: Cell) -> dict[Cell, int]:
    """Return the path lengths, in cells, from one cell to all cells."""

    def beside(cell: Cell) -> list[Cell]:
        x, y = cell
        return [(x, y) for x, y in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if grid[y][x] != "#"]

    return {cell: length for cell, (length, _) in shortest_paths(start, beside).items()}


class HouseSubplans:
    """Provider of sub-plans in the household games."""

    study: ClassVar[Mapping[str, SubplanStudy]] = {
        "Housework-v0": SubplanStudy(tuple((t, {"task": t}) for t in TASKS), "ticks", "lower", "steps"),
        "Transport-v0": SubplanStudy(
            tuple(
                (f"{task}, {rooms} rooms", {"task": task, "rooms": rooms, "containers": boxes})
                for task in LOADS
                for rooms, boxes in ((8, 5), (6, 5), (6, 2))
            ),
            "ticks",
            "lower",
            "frames",
        ),
    }

    def __init__(self, game: Any) -> None:
        self.game = game
        self._reported: dict[int, tuple[AgentView, Findings]] = {}
        tables = game.compiled.tables
        if any(level != Level.MEDIUM for level in tables.levels):
            raise ValueError("policy 'cots' plays by sub-plans; all seats need action_level=medium")
        self.rows = tables.catalogue[Level.MEDIUM].tolist()
        self.cost = {verb: int(tables.cost[verb]) for verb in Verb if verb <= Verb.SAY}
        self.is_transport = tables.params[Param.GAME] == GameKind.TRANSPORT

    def __call__(self, seen: AgentView, reports: Findings | None = None) -> PlanningView:
        """Return the sub-plans of all agents, as one agent knows them from its observations and teammates' reports."""
        scene = merge_findings(seen.scene, reports) if reports else seen.scene
        plans = SubPlans(self.rows, seen.mask)
        places: dict[int, Cell | None] = {seat: self._place(scene, seat) for seat in range(scene["team"])}
        grid = tuple(scene["grid"])

        def travel(here: Any, there: Any) -> float:
            if here is None or there is None:
                return LOST * self.cost[Verb.WALK]
            return ways_from(grid, here).get(there, LOST) * self.cost[Verb.WALK]

        carried = {seat: self._held(scene, seat) for seat in places}
        options = {}
        for seat, place in places.items():
            rows = self._offers(scene, plans if seat == seen.seat else None, seat)
            options[seat] = [dataclasses.replace(row, cost=travel(place, row.place) + row.work) for row in rows]
        left = scene["limit"] - scene["tick"]
        goal = scene["places"].get(scene["goal"]["place"])
        way = (goal["way"] if goal else LOST) * self.cost[Verb.WALK]
        hurry = carried[seen.seat] > 0 and left <= way * RESERVE + 2 * HANDS * self.cost[Verb.PUT]
        return PlanningView(
            options=options,
            places=places,
            held=carried,
            room=HANDS,
            rooms={seat: HANDS + CONTAINER_ROOM for seat in places if self._has_container(scene, seat)},
            travel=travel,
            triggers=self._triggers(scene),
            urgent=frozenset({seen.seat} if hurry else ()),
            steps=STEPS,
            scale=SCALE * self.cost[Verb.WALK],
            findings=self._findings(seen),
            unit="frames" if self.is_transport else "steps",
            notes=f"In a joint plan, sub-plans replace the actions above: {NOTES[self.is_transport]}",
            describe=lambda: describe(seen.scene, ""),
        )

    def _findings(self, seen: AgentView) -> Findings:
        """Return the seat's findings, cached because planning asks for them repeatedly."""
        last = self._reported.get(seen.seat)
        if last is None or last[0] is not seen:
            last = self._reported[seen.seat] = (seen, report_findings(seen.scene))
        return last[1]

    def _has_container(self, scene: Scene, seat: int) -> bool:
        if seat == scene["seat"]:
            return self.is_transport and has_container(scene)
        return any(t["role"] == "container" and t.get("agent") == seat for t in scene["things"].values())

    def _place(self, scene: Scene, seat: int) -> Cell | None:
        if seat == scene["seat"]:
            return tuple(scene["me"]["at"])
        mate = scene["mates"].get(seat)
        return None if mate is None else self._middle(scene, mate["room"])

    def _middle(self, scene: Scene, room: int) -> Cell:
        left, top, right, bottom = scene["rooms"][room]["box"]
        x, y = (left + right) // 2, (top + bottom) // 2
        return x, y

    def _held(self, scene: Scene, seat: int) -> int:
        if seat == scene["seat"]:
            return len(held(scene)) + len(scene["me"]["inside"])
        mate = scene["mates"].get(seat)
        return 0 if mate is None else mate.get("count", sum(name is not None for name in mate["hands"]))

    def _triggers(self, scene: Scene) -> frozenset[str]:
        if not self.is_transport:
            return frozenset(f"{g['name']} {k}" for g in scene["goals"] for k in range(g["seen"]))
        names = {f"{thing['name']} {o}" for o, thing in scene["things"].items()}
        return frozenset(names | ({"bed"} if scene["goal"]["found"] else set()))

    def _offers(self, scene: Scene, plans: SubPlans | None, seat: int) -> Iterator[SubPlan]:
        missing = team_wants(scene)
        yield from self._fetching(scene, plans, seat, missing)
        yield from self._searching(scene, plans, seat, missing)
        goal = scene["places"].get(scene["goal"]["place"])
        if goal is not None:
            action = self._towards(scene, plans, Verb.DELIVER, 0, goal["room"])
            work = float(HANDS * self.cost[Verb.PUT] + self.cost[Verb.OPEN])
            via = self._search_text(scene, goal["room"])
            yield SubPlan("transport", action, value=DELIVER, place=tuple(goal["at"]), work=work, load=-1, via=via)

    def _towards(self, scene: Scene, plans: SubPlans | None, verb: Verb, arg: int, room: int) -> int | None:
        if plans is None:
            return None
        action = plans.id(verb, arg)
        known = verb == Verb.DELIVER and not held(scene)
        if action is None and not known and (verb, arg) in scene.get("told", frozenset()):
            action = plans.id(Verb.GO, room)
            return plans.id(Verb.EXPLORE) if action is None else action
        return action

    def _fetching(
        self, scene: Scene, plans: SubPlans | None, seat: int, missing: Mapping[str, int]
    ) -> Iterator[SubPlan]:
        into = plans.id(Verb.PUT_IN) if plans and missing else None
        for o in held(scene) if into is not None else ():
            if scene["things"][o]["role"] == "target":
                text = f"pick up {scene['things'][o]['name']} {o}"
                here, work = tuple(scene["me"]["at"]), float(self.cost[Verb.PUT_IN])
                yield SubPlan(text, into, value=FETCH, uses=frozenset({f"thing {o}"}), place=here, work=work)
        early = scene["tick"] < scene["limit"] // 2
        boxes = not self._has_container(scene, seat) and early and known_targets(scene, missing) >= HANDS
        for o, thing in scene["things"].items():
            if thing["status"] != "seen":
                continue
            target = thing["role"] == "target" and thing["name"] in missing
            if target or (thing["role"] == "container" and boxes):
                yield SubPlan(
                    text=f"pick up {thing['name']} {o}",
                    action=self._towards(scene, plans, Verb.FETCH, o, thing["room"]),
                    value=FETCH if target else BOX,
                    uses=frozenset({f"thing {o}"}),
                    place=tuple(thing["at"]),
                    work=float(self.cost[Verb.GRAB]),
                    load=1,
                    widens=0 if target else CONTAINER_ROOM,
                    via=self._search_text(scene, thing["room"]),
                )

    def _search_text(self, scene: Scene, room: int) -> str:
        return f"search {scene['rooms'][room]['name']}"

    def _searching(
        self, scene: Scene, plans: SubPlans | None, seat: int, missing: Mapping[str, int]
    ) -> Iterator[SubPlan]:
        unknown = sum(missing.values()) - known_targets(scene, missing)
        rooms = unseen_rooms(scene)
        closed = {p: place for p, place in scene["places"].items() if is_closed(place) and p != scene["goal"]["place"]}
        hidden = unknown / max(HIDDEN * len(rooms) + len(closed), 1)  # expected finds per hiding place
        lost = 0.0 if scene["goal"]["found"] else 1.0
        for r in rooms:
            value = FETCH * hidden + lost * GOAL_VALUE / len(rooms)
            if value > 0:
                action: int | None = None
                if plans:
                    action = plans.id(Verb.EXPLORE) if scene["me"]["room"] == r else plans.id(Verb.GO, r)
                work = float(self.cost[Verb.LOOK]) if self.is_transport else 0.0
                text = self._search_text(scene, r)
                full = lost > 0 and self._held(scene, seat) >= HANDS  # it goes there to bring things, too
                uses = frozenset() if full else frozenset({text})
                yield SubPlan(text, action, value=value, uses=uses, place=self._middle(scene, r), work=work)
        for p, place in closed.items() if hidden > 0 else ():
            yield SubPlan(
                text=f"check {place['name']}",
                action=self._towards(scene, plans, Verb.CHECK, p, place["room"]),
                value=FETCH * hidden,
                uses=frozenset({place["name"]}),
                place=tuple(place["at"]),
                work=float(self.cost[Verb.OPEN]),
                hands=1,
                via=self._search_text(scene, place["room"]),
            )


def team_wants(scene: Scene) -> dict[str, int]:
    """Return the missing number of each kind, without things at the goal place or carried by teammates."""
    carried = Counter(
        t["name"] for t in scene["things"].values() if t["status"] == "mate" and t["agent"] != scene["seat"]
    )
    counts = {name: count - carried[name] for name, count in still_wanted(scene).items()}
    return {name: count for name, count in counts.items() if count > 0}


def is_closed(place: Mapping[str, Any]) -> bool:
    """Return whether a place is a closed container."""
    return bool(place["kind"] == "container" and place["state"] == "closed")


def known_targets(scene: Scene, missing: Mapping[str, int]) -> int:
    """Return the number of missing things whose place is known."""
    seen = Counter(t["name"] for t in scene["things"].values() if t["status"] == "seen" and t["role"] == "target")
    return sum(min(count, seen[name]) for name, count in missing.items())
