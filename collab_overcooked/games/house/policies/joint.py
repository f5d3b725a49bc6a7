"""Sub-plans of the household games for teams that plan together: what one agent knows of what all could do."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from collab_overcooked.core.macro_actions import Level
from collab_overcooked.games.house.config import LOADS, TASKS
from collab_overcooked.games.house.constants import CONTAINER_ROOM, HANDS, Home, Param, Verb
from collab_overcooked.games.house.policies.subplans import (
    Scene,
    SubPlans,
    has_container,
    held,
    still_wanted,
    unseen_rooms,
)
from collab_overcooked.games.house.text import describe
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.search.subplans import Moment, Study, SubPlan

DELIVER, FETCH, BOX, SEARCH = 4.0, 3.0, 2.0, 1.0  # what is worth how much; search is worth what may be found, too
RESERVE = 2  # ticks that are kept for surprises on the way home, in ways
LOST = 30  # cells to somebody, or to something, whose place is unknown
STEPS = 3
Grid = tuple[str, ...]
Cell = tuple[int, int]


@lru_cache(maxsize=4096)
def ways_from(grid: Grid, start: Cell) -> dict[Cell, int]:
    """Return the cells of path from one cell to all others."""
    ways, ahead = {start: 0}, deque([start])
    while ahead:
        x, y = ahead.popleft()
        for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if beside not in ways and grid[beside[1]][beside[0]] != "#":
                ways[beside] = ways[x, y] + 1
                ahead.append(beside)
    return ways


class HouseLook:
    """How agents of a household game see what could be done.

    Raises:
        ValueError: If a seat has primitive actions.
    """

    study: ClassVar[Mapping[str, Study]] = {
        "Housework-v0": Study(tuple((t, {"task": t}) for t in TASKS), "ticks", "lower", "steps"),
        "Transport-v0": Study(
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
        tables = game.compiled.tables
        if any(level != Level.MEDIUM for level in tables.levels):
            raise ValueError("policy 'cots' plays by sub-plans; all seats need action_level=medium")
        self.rows = tables.catalogue[Level.MEDIUM].tolist()
        self.cost = {verb: int(tables.cost[verb]) for verb in Verb if verb <= Verb.SAY}
        self.is_transport = tables.params[Param.HOME] == Home.TRANSPORT

    def __call__(self, seen: Seen) -> Moment:
        """Return the sub-plans of all agents, as one of them knows them."""
        scene = seen.scene
        own = SubPlans(self.rows, seen.mask)
        places: dict[int, Cell | None] = {seat: self._place(scene, seat) for seat in range(scene["team"])}
        grid = tuple(scene["grid"])

        def travel(here: Any, there: Any) -> float:
            if here is None or there is None:
                return LOST * self.cost[Verb.WALK]
            return ways_from(grid, here).get(there, LOST) * self.cost[Verb.WALK]

        carried = {seat: self._held(scene, seat) for seat in places}
        options = {}
        for seat, place in places.items():
            rows = self._offers(scene, own if seat == seen.seat else None, carried[seat])
            options[seat] = [
                SubPlan(text, action, travel(place, there) + work, value, uses, there, work, load, via)
                for text, action, value, uses, there, work, load, via in rows
            ]
        left = scene["limit"] - scene["tick"]
        home = scene["places"].get(scene["goal"]["place"])
        way = (home["way"] if home else LOST) * self.cost[Verb.WALK]
        hurry = carried[seen.seat] > 0 and left <= way * RESERVE + 2 * HANDS * self.cost[Verb.PUT]
        return Moment(
            options=options,
            places=places,
            held=carried,
            room=HANDS + (CONTAINER_ROOM if self.is_transport and has_container(scene) else 0),
            travel=travel,
            facts=self._facts(scene),
            urgent=frozenset({seen.seat} if hurry else ()),
            steps=STEPS,
            tell=lambda: describe(scene, ""),
        )

    def _place(self, scene: Scene, seat: int) -> Cell | None:
        """Return where an agent is, or the middle of the room where it was seen last; None if it never was."""
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
        return sum(name is not None for name in mate["hands"]) if mate else 0

    def _facts(self, scene: Scene) -> frozenset[str]:
        """Return what is a reason to look at the plan again: goal things in Housework, all finds in Transport."""
        if not self.is_transport:
            return frozenset(f"{g['name']} {k}" for g in scene["goals"] for k in range(g["seen"]))
        found = {f"{thing['name']} {o}" for o, thing in scene["things"].items()}
        return frozenset(found | ({"bed"} if scene["goal"]["found"] else set()))

    # ---------------------------------------------------------------------------------------- what can be done

    def _offers(self, scene: Scene, own: SubPlans | None, carried: int) -> Iterator[tuple[Any, ...]]:
        """Yield the sub-plans of an agent: of the seat itself with actions, of others without."""
        yield from self._fetching(scene, own)
        yield from self._searching(scene, own)
        goal = scene["places"].get(scene["goal"]["place"])
        if goal is not None:
            action = own.id(Verb.DELIVER) if own else None
            work = HANDS * self.cost[Verb.PUT] + self.cost[Verb.OPEN]
            yield "deliver", action, DELIVER, frozenset(), tuple(goal["at"]), work, -1, ""

    def _fetching(self, scene: Scene, own: SubPlans | None) -> Iterator[tuple[Any, ...]]:
        """Take wanted things, and containers for many of them; to fetch a thing is to stow it, too, where one can."""
        wanted = still_wanted(scene)
        into = own.id(Verb.PUT_IN) if own and wanted else None
        for o in held(scene) if into is not None else ():
            if scene["things"][o]["role"] == "target":
                here, work = tuple(scene["me"]["at"]), self.cost[Verb.PUT_IN]
                yield (
                    f"fetch {scene['things'][o]['name']} {o}",
                    into,
                    FETCH,
                    frozenset({f"thing {o}"}),
                    here,
                    work,
                    0,
                    "",
                )
        early = scene["tick"] < scene["limit"] // 2
        boxes = (own is None or not has_container(scene)) and early and known_targets(scene, wanted) >= HANDS
        for o, thing in scene["things"].items():
            if thing["status"] != "seen":
                continue
            target = thing["role"] == "target" and thing["name"] in wanted
            if target or (thing["role"] == "container" and boxes):
                action = own.id(Verb.FETCH, o) if own else None
                via = self._search_text(scene, thing["room"])
                value = FETCH if target else BOX
                yield (
                    f"fetch {thing['name']} {o}", action, value, frozenset({f"thing {o}"}), tuple(thing["at"]),
                    self.cost[Verb.GRAB], 1, via,
                )  # fmt: skip

    def _search_text(self, scene: Scene, room: int) -> str:
        return f"search {scene['rooms'][room]['name']}"

    def _searching(self, scene: Scene, own: SubPlans | None) -> Iterator[tuple[Any, ...]]:
        """Look into rooms and closed containers, while anything is missing."""
        wanted = still_wanted(scene)
        if not wanted:
            return
        rooms = unseen_rooms(scene)
        closed = {p: place for p, place in scene["places"].items() if is_closed(place) and p != scene["goal"]["place"]}
        missing = sum(wanted.values()) - known_targets(scene, wanted)
        value = SEARCH + missing / max(len(rooms) + len(closed), 1)  # may be anywhere, everywhere alike
        for r in rooms:
            here = own is not None and scene["me"]["room"] == r
            action = (own.id(Verb.EXPLORE) if here else own.id(Verb.GO, r)) if own else None
            work = self.cost[Verb.LOOK] if self.is_transport else 0
            text = self._search_text(scene, r)
            yield text, action, value, frozenset({text}), self._middle(scene, r), work, 0, ""
        for p, place in closed.items():
            action = own.id(Verb.CHECK, p) if own else None
            yield (
                f"check {place['name']}", action, value, frozenset({place["name"]}), tuple(place["at"]),
                self.cost[Verb.OPEN], 0, self._search_text(scene, place["room"]),
            )  # fmt: skip


def is_closed(place: Mapping[str, Any]) -> bool:
    """Tell whether something is a closed container."""
    return bool(place["kind"] == "container" and place["state"] == "closed")


def known_targets(scene: Scene, wanted: Mapping[str, int]) -> int:
    """Return how many of the things that are still wanted are known to lie somewhere."""
    seen = Counter(t["name"] for t in scene["things"].values() if t["status"] == "seen" and t["role"] == "target")
    return sum(min(count, seen[name]) for name, count in wanted.items())
