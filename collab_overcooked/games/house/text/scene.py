"""Scenes of the household games: the meaning of each key, constraints between keys, and knowledge of one agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.api import rows
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.io import schema
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import integer, list_of, one_of, record, tuple_of
from collab_overcooked.kernels.bound import bind

from ..engine.compile import PLACES, ROOM_TYPES, THINGS, Compiled
from ..engine.constants import (
    BLOCKS,
    CONTAINER_ROOM,
    HANDS,
    MAX_NEED,
    NOTHING,
    Agent,
    Belief,
    Furniture,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Place,
    Rel,
    Role,
    Room,
    Row,
    Thing,
    Verb,
    World,
)
from ..engine.state import Sizes, State
from ..engine.step import measure_batch

Scene = dict[str, Any]
WALL = "#"


FURNISHED = ("surface", "container", "bed")  # kinds of places


def numbered(names: Sequence[str], k: int) -> str:
    """Return the name at an index of a list, numbered if the name occurs several times."""
    return names[k] if names.count(names[k]) == 1 else f"{names[k]} {names[: k + 1].count(names[k])}"


def known_scene(scene: Scene, seat: int) -> Scene:
    """Return the part of a scene that a seat knows; things and places are as the seat believes them to be.

    ``places`` and ``things`` have their numbers as keys; ``way`` is the number of cells to walk there.
    """
    known, agent = scene["known"][seat], scene["agents"][seat]
    ways, things = agent["ways"], scene["things"]
    rooms = [
        {**room, "known": KnownRoom(state).name.lower(), "way": ways[r]}
        for r, (room, state) in enumerate(zip(scene["rooms"], known["rooms"], strict=True))
    ]
    places = {
        p: {
            **{name: place[name] for name in ("name", "kind", "room", "at")},
            "state": KnownPlace(known["places"][p]).name.lower(),
            "way": ways[p],
        }
        for p, place in enumerate(scene["places"])
        if place["kind"] in FURNISHED and known["places"][p] != KnownPlace.UNKNOWN
    }
    goal = scene["goal_place"]
    believed = {
        o: _believed(scene, ways, o, row)
        for o, row in enumerate(known["things"])
        if row[Belief.STATUS] != Known.UNKNOWN
    }
    reached = all(g["have"] >= g["need"] for g in scene["goals"])  # ends the game, so all may know
    done = [thing["name"] for thing in believed.values() if thing["status"] == "done"]
    inside = [o for o, thing in enumerate(things) if thing["rel"] == "inside" and thing["parent"] in agent["hands"]]
    goals = [{"name": g["name"], "need": g["need"], "seen": done.count(g["name"])} for g in scene["goals"]]
    met = ((j, row) for j, row in enumerate(known["mates"]) if j != seat and row[Mate.TICK] != NOTHING)
    return {
        "seat": seat,
        "task": scene["task"],
        "tick": scene["tick"],
        "limit": scene["limit"],
        "grid": scene["grid"],
        "goal": {"place": goal, "name": scene["places"][goal]["name"], "found": goal in places, "reached": reached},
        "goals": goals,
        "rooms": rooms,
        "places": places,
        "things": believed,
        "me": {name: agent[name] for name in ("at", "hands", "room", "running", "left")} | {"inside": inside},
        "mates": {j: _mate(things, row) for j, row in met},
        "team": len(scene["agents"]),
    }


def _mate(things: list[dict[str, Any]], row: list[int]) -> dict[str, Any]:
    hands = [None if o == NOTHING else things[o]["name"] for o in row[Mate.LEFT_HAND : Mate.TICK]]
    return {"room": row[Mate.ROOM], "hands": hands, "tick": row[Mate.TICK]}


def _believed(scene: Scene, ways: list[int], o: int, row: list[int]) -> dict[str, Any]:
    status, place = Known(row[Belief.STATUS]), row[Belief.PLACE]
    belief = {
        "name": scene["things"][o]["name"],
        "role": scene["things"][o]["role"],
        "status": status.name.lower(),
        "tick": row[Belief.TICK],
    }
    if status == Known.SEEN:
        where = scene["places"][place]
        belief |= {"place": place, "room": where["room"], "at": where["at"], "way": ways[place]}
    elif status == Known.MATE:
        belief["agent"] = place
    return belief


CLOCKS = {
    "tick": World.T,
    "limit": World.LIMIT,
    "steps": World.STEPS,
    "most_steps": World.MAX_STEPS,
    "paid": World.BEST,
}


def _cell_codec(sizes: Sizes) -> Codec:
    position = codec.vector([codec.integers(0, sizes.width - 1), codec.integers(0, sizes.height - 1)], "numbers")
    return Codec(
        position.parser, lambda cell: [cell % sizes.width, cell // sizes.width], lambda at: at[1] * sizes.width + at[0]
    )


def _goals_codec(sizes: Sizes) -> Codec:
    fields = {"name": one_of(THINGS, "thing"), "need": integer(1, MAX_NEED), "have": integer(0, MAX_NEED)}

    def encode(goals: Sequence[Mapping[str, Any]]) -> list[list[int]]:
        listed = [[THINGS.index(goal["name"]), goal["need"], goal.get("have", 0)] for goal in goals]
        return listed + [[NOTHING, 0, 0]] * (sizes.goals - len(goals))

    return Codec(
        list_of(record(fields, ("name", "need")), 1, sizes.goals, "goals"),
        lambda rows: [{"name": THINGS[k], "need": need, "have": have} for k, need, have in rows if k != NOTHING],
        encode,
    )


def _grid_codec(sizes: Sizes) -> Codec:
    character = one_of([WALL, *map(str, range(sizes.rooms))], "cell")

    def grid_row(value: Any) -> str:
        if not isinstance(value, str) or len(value) != sizes.width:
            raise schema.refuse(value, f"a text of {sizes.width} characters")
        return "".join(map(character, value))

    def decode(cells: Sequence[int]) -> list[str]:
        letters = "".join(WALL if room == NOTHING else str(room) for room in cells)
        return [letters[k : k + sizes.width] for k in range(0, len(letters), sizes.width)]

    return Codec(
        tuple_of([grid_row] * sizes.height, "rows"),
        decode,
        lambda grid: [NOTHING if letter == WALL else int(letter) for letter in "".join(grid)],
    )


def _agent(sizes: Sizes, at: Codec, n_actions: int) -> Part:
    hand = codec.optional(codec.integers(0, sizes.things - 1))
    timer = codec.integers(-MAX_OPTION, MAX_OPTION)
    plain = {
        "verb": codec.integers(0, Verb.SAY),
        "arg": codec.COUNT,
        "left": timer,
        "aim": codec.integers(0, sizes.rooms - 1),
        "room": codec.integers(NOTHING, sizes.rooms - 1),
        "spoke": codec.BOOLEAN._replace(decode=int),
        "messages": codec.COUNT,
        "failed": codec.COUNT,
    }
    running = codec.vector([codec.integers(NOTHING, n_actions - 1), timer, codec.COUNT], "numbers")

    def ways(rows: Rows) -> list[int]:
        cell, env = rows["agents"][Agent.CELL], rows.env
        pairs = zip(env["places"], env["dist"][cell], strict=True)
        return [NOTHING if place[Place.KIND] == Kind.NONE else way for place, way in pairs]

    return codec.group(
        {
            "at": codec.column("agents", Agent.CELL, at),
            "hands": codec.column(
                "agents", slice(Agent.LEFT_HAND, Agent.LEFT_HAND + HANDS), codec.vector([hand] * HANDS, "hands")
            ),
            **{name: codec.column("agents", Agent[name.upper()], value) for name, value in plain.items()},
            "running": codec.row("macro_state", running),
            "ways": Part(tuple_of([integer(NOTHING, MAX_OPTION)] * sizes.places, "ways"), ways, derived=True),
        }
    )


def _known(sizes: Sizes) -> Part:
    tick, held = codec.integers(NOTHING, MAX_OPTION), codec.integers(NOTHING, sizes.things - 1)
    known, where = codec.integers(0, len(Known) - 1), codec.integers(NOTHING, sizes.places - 1)
    thing = codec.vector([known, where, tick, codec.integers(0, 1)], "numbers")
    mate = codec.vector([codec.integers(NOTHING, sizes.rooms - 1), held, held, tick], "numbers")
    entries = {
        "things": [thing] * sizes.things,
        "rooms": [codec.integers(0, len(KnownRoom) - 1)] * sizes.rooms,
        "places": [codec.integers(0, len(KnownPlace) - 1)] * sizes.places,
        "mates": [mate] * sizes.agents,
    }
    what = {"mates": "agents"}
    rows = {key: codec.vector(values, what.get(key, key)) for key, values in entries.items()}
    return codec.group({key: codec.row(f"know_{key}", row) for key, row in rows.items()})


def _expect(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(f"state.{complaint}")


def _is_delivered(scene: Scene, thing: Scene, name: str) -> bool:
    there = thing["rel"] == "delivered" or (thing["rel"] == "at" and thing["parent"] == scene["goal_place"])
    return bool(there and thing["name"] == name)


def _check_thing(scene: Scene, o: int, thing: Scene) -> None:
    parent = thing["parent"]
    rel = thing["rel"]
    agents = scene["agents"]
    if rel == "held":
        good = parent < len(agents) and o in agents[parent]["hands"]
    elif rel == "inside":
        box = scene["things"][parent] if parent < len(scene["things"]) else None
        good = box is not None and box["role"] == "container" and box["rel"] == "held" and thing["role"] == "target"
    elif rel == "none":
        good = True
    else:
        good = parent < len(scene["places"]) and scene["places"][parent]["kind"] not in ("none", "centre")
    _expect(good, f"things[{o}].parent must be what it is {rel}")


def _holds(scene: Scene, seat: int, o: int) -> bool:
    hands, thing = scene["agents"][seat]["hands"], scene["things"][o]
    return o in hands or (thing["rel"] == "inside" and thing["parent"] in hands)


def _check_agent(scene: Scene, seat: int, agent: Scene) -> None:
    x, y = agent["at"]
    things = scene["things"]
    place = f"agents[{seat}]"
    _expect(scene["grid"][y][x] != WALL, f"{place}.at must be floor")
    _expect(scene["grid"][y][x] == str(agent["room"]), f"{place}.room must be that of its cell")
    held = [o for o in agent["hands"] if o is not None]
    for o in held:
        is_held = things[o]["rel"] == "held" and things[o]["parent"] == seat
        _expect(is_held, f"{place}.hands: thing {o} is not held by this agent")
    boxes = [o for o in held if things[o]["role"] == "container"]
    _expect(len(set(held)) == len(held) and len(boxes) <= 1, f"{place}.hands must be different, one container at most")
    inside = sum(thing["rel"] == "inside" and thing["parent"] in boxes for thing in things)
    _expect(inside <= CONTAINER_ROOM, f"{place}.hands: a container holds {CONTAINER_ROOM} things at most")


def _has_hands_for(scene: Scene, agent: Scene, verb: int) -> bool:
    held = [scene["things"][o]["role"] for o in agent["hands"] if o is not None]
    if verb == Verb.PUT:
        return agent["hands"][agent["arg"]] is not None
    if verb == Verb.PUT_AT:
        return bool(held)
    return sorted(held) == ["container", "target"] if verb == Verb.PUT_IN else True


def _check_known(scene: Scene, seat: int, known: Scene) -> None:
    kinds = [place["kind"] for place in scene["places"]]
    tick = scene["tick"]
    where = f"known[{seat}]"
    for p, state in enumerate(known["places"]):
        _expect(kinds[p] != "none" or not state, f"{where}.places[{p}] does not exist")
    for o, (status, place, _, _) in enumerate(known["things"]):
        good = kinds[place] not in ("none", "centre") and place != NOTHING if status == Known.SEEN else True
        good = good and (status != Known.MATE or (0 <= place < len(scene["agents"]) and place != seat))
        _expect(good, f"{where}.things[{o}] has no place")
        _expect((status == Known.MINE) == _holds(scene, seat, o), f"{where}.things[{o}]: agents know what they hold")
    for j, (room, *hands, seen) in enumerate(known["mates"]):
        never = room == seen == NOTHING and set(hands) == {NOTHING}
        good = never or (j != seat and room != NOTHING and 0 <= seen <= tick)
        _expect(good, f"{where}.mates[{j}] must be seen in a room, by tick {tick}, or not at all")


class HouseScenes(CompiledGame):
    """Scenes of the household games."""

    compiled: Compiled

    def scene_parts(self) -> dict[str, Part]:
        sizes = self.compiled.sizes
        sides = [codec.integers(0, length - 1) for length in (sizes.width, sizes.height)]
        at, box = _cell_codec(sizes), codec.vector(sides * 2, "numbers")
        rooms = [
            {
                "name": codec.constant(schema.text, self.place_label(r)),
                "type": codec.column("rooms", Room.TYPE, codec.names_of(ROOM_TYPES, "room")),
                "box": codec.column("rooms", slice(Room.LEFT, Room.BOTTOM + 1), box),
            }
            for r in range(sizes.rooms)
        ]
        thing = {
            "name": codec.column("things", Thing.CLASS, codec.names_of(THINGS, "thing")),
            "role": codec.column("things", Thing.ROLE, codec.members_of(Role, "role")),
            "rel": codec.column("things", Thing.REL, codec.members_of(Rel, "rel")),
            "parent": codec.span("things", Thing.PARENT, 0, max(sizes.places, sizes.things) - 1),
            "in_view": codec.column("things", Thing.IN_VIEW, codec.BOOLEAN),
        }
        return {
            "task": codec.column("world", World.TASK, codec.names_of(self.compiled.config.tasks, "task")),
            **codec.columns("world", codec.COUNT, **CLOCKS),
            "goal_place": codec.span("world", World.GOAL, 0, sizes.places - 1),
            "goals": codec.row("goals", _goals_codec(sizes)),
            "grid": codec.row("cells", _grid_codec(sizes)),
            "rooms": codec.by_entry([codec.group(room) for room in rooms], "rooms"),
            "places": codec.by_entry([self._place(p, at) for p in range(sizes.places)], "places"),
            "things": codec.by_entry([codec.group(thing)] * sizes.things, "things"),
            "agents": codec.by_entry([_agent(sizes, at, self.n_actions)] * sizes.agents, "agents"),
            "known": codec.by_entry([_known(sizes)] * sizes.agents, "agents"),
            "chance": codec.rng_state(),
        }

    def _place(self, p: int, at: Codec) -> Part:
        return codec.group(
            {
                "kind": codec.column("places", Place.KIND, codec.members_of(Kind, "kind")),
                "name": codec.constant(schema.text, self.place_label(p)),
                "room": codec.span("places", Place.ROOM, 0, self.compiled.sizes.rooms - 1),
                "at": codec.column("places", Place.CELL, at),
                "open": codec.column("places", Place.OPEN, codec.BOOLEAN),
                "free": codec.span("places", Place.FREE, -100, 100),
            }
        )

    def place_label(self, p: int) -> str:
        """Return the name of a place: its room, or furniture, numbered if there are several of its class."""
        tables = self.compiled.tables
        rooms, classes = tables.room_types.tolist(), tables.furniture[:, Furniture.CLASS].tolist()
        for names in ([ROOM_TYPES[k] for k in rooms], [PLACES[k] for k in classes]):
            if p < len(names):
                return numbered(names, p)
            p -= len(names)
        return "spot"

    def _check_home(self, scene: Scene) -> None:
        grid, places = scene["grid"], scene["places"]
        edges = grid[0] + grid[-1] + "".join(row[0] + row[-1] for row in grid)
        _expect(set(edges) == {WALL}, "grid must have walls all around")
        for r, room in enumerate(scene["rooms"]):
            left, top, right, bottom = room["box"]
            cells = {cell for row in grid[top : bottom + 1] for cell in row[left : right + 1]}
            _expect(left <= right and top <= bottom and cells == {str(r)}, f"rooms[{r}].box must be floor of that room")
        for p, place in enumerate(places):
            room, kinds = self._place_of(p)
            _expect(place["kind"] in kinds, f"places[{p}].kind must be {' or '.join(kinds)}")
            _expect(room in (None, place["room"]), f"places[{p}].room must be {room}")
            x, y = place["at"]
            _expect(grid[y][x] == str(place["room"]), f"places[{p}].at must be floor of room {place['room']}")
        kind = places[scene["goal_place"]]["kind"]
        _expect(kind in FURNISHED, "goal_place must be furniture that there is")

    def _place_of(self, p: int) -> tuple[int | None, list[str]]:
        first, furniture = self.compiled.sizes.rooms, self.compiled.tables.furniture
        if p < first:
            return p, ["centre"]
        if p >= first + len(furniture):
            return None, ["spot", "none"]  # missing where there is no such thing
        room, kind, *_, optional = furniture[p - first].tolist()
        return room, [Kind(kind).name.lower(), *["none"] * optional]

    def _check_doing(self, scene: Scene, seat: int, agent: Scene) -> None:
        """Refuse a primitive action with an argument that its kernel cannot take, or without the hands for it."""
        place = f"agents[{seat}]"
        running, _, _ = agent["running"]
        tables = self.compiled.tables
        verb = agent["verb"]
        left = agent["left"]
        arg = agent["arg"]
        if running == NOTHING:
            _expect(verb == Verb.WAIT and left <= 0, f"{place} must wait, with nothing left of it, without an action")
            return
        is_action = tables.catalogue[tables.levels[seat], running, Row.VERB] != NOTHING
        _expect(bool(is_action), f"{place}.running is no action of the seat")
        counts = {Verb.PUT: HANDS, Verb.SAY: BLOCKS + 1} | dict.fromkeys(
            (Verb.WALK_TO, Verb.GRAB), len(scene["things"])
        )
        _expect(arg < counts.get(Verb(verb), len(scene["places"])), f"{place}.arg is no argument of verb {verb}")
        _expect(_has_hands_for(scene, agent, verb), f"{place}.verb: the hands are not those for it")
        most = int(tables.cost[verb]) * (arg if verb == Verb.SAY else 1)
        _expect(0 < left <= max(most, 1), f"{place}.left must be from 1 to {max(most, 1)}")

    def _check_scene(self, scene: Scene) -> None:
        goals = scene["goals"]
        self._check_home(scene)
        for o, thing in enumerate(scene["things"]):
            _check_thing(scene, o, thing)
        for seat, agent in enumerate(scene["agents"]):
            _check_agent(scene, seat, agent)
            self._check_doing(scene, seat, agent)
            _check_known(scene, seat, scene["known"][seat])
        _expect(len({goal["name"] for goal in goals}) == len(goals), "goals must name each kind of thing once")
        for g, goal in enumerate(goals):
            have = min(goal["need"], sum(_is_delivered(scene, thing, goal["name"]) for thing in scene["things"]))
            _expect(goal["have"] == have, f"goals[{g}].have must be {have}: so many lie at the goal place")

    def measure_home(self, state: State) -> None:
        """Measure the ways to all places in every environment of a batch."""
        scratch = np.zeros((len(state.rng), 2, state.cells.shape[1]), np.int32)
        bind(measure_batch, self.compiled.tables, state, scratch)()

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        self.measure_home(rows(state, i, i + 1))
        world = state.world[i]
        done = bool((state.goals[i, :, Goal.HAVE] >= state.goals[i, :, Goal.NEED]).all())
        late = bool(world[World.T] >= world[World.LIMIT] or world[World.STEPS] >= world[World.MAX_STEPS])
        world[World.OVER] = int(done or late)
        return done, late and not done

    def seat_scene(self, scene: Scene, seat: int) -> Scene:
        return known_scene(scene, seat)
