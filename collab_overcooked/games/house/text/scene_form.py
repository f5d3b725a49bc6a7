"""Form of a scene of the household games, and its conversion into state arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.games.house.engine.belief import measure_home
from collab_overcooked.games.house.engine.compile import ROOM_TYPES, THINGS, Compiled
from collab_overcooked.games.house.engine.constants import (
    CONTAINER_ROOM,
    HANDS,
    NOTHING,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Place,
    Rel,
    Role,
    Thing,
    Verb,
    World,
)
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.games.house.text.scene import CLOCKS, PLAIN, WALL, Scene
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.forms import Form, boolean, integer, list_by_seat, list_of, one_of, optional, record, rng_form
from collab_overcooked.kernels.rng import restore_rng

ABOUT_PLACES = (Verb.WALK, Verb.OPEN, Verb.CLOSE, Verb.PUT_AT)


def member_names(kind: Any) -> list[str]:
    """Return the names of an enum's members as in scenes."""
    return [member.name.lower() for member in kind]


def scene_form(compiled: Compiled, n_actions: int) -> Form:
    """Return the form of a scene."""
    sizes = compiled.sizes
    place, text = integer(0, sizes.places - 1), one_of([WALL, *map(str, range(sizes.rooms))], "cell")

    def grid_row(value: Any, where: str) -> str:
        if not isinstance(value, str) or len(value) != sizes.width:
            raise ValueError(f"{where} must be a text of {sizes.width} characters")
        return "".join(text(character, where) for character in value)

    box = list_by_seat([integer(0, size - 1) for size in (sizes.width, sizes.height) * 2], "numbers")
    return record(
        {
            "task": one_of(compiled.tasks, "task"),
            **{name: integer(0, MAX_OPTION) for name in CLOCKS},
            "goal_place": place,
            "goals": list_of(
                record(
                    {"name": one_of(THINGS, "thing"), "need": integer(1, 100), "have": integer(0, 100)},
                    ("name", "need"),
                ),
                1,
                sizes.goals,
                "goals",
            ),
            "grid": list_by_seat([grid_row] * sizes.height, "rows"),
            "rooms": list_by_seat(
                [record({"name": _text, "type": one_of(ROOM_TYPES, "room"), "box": box})] * sizes.rooms, "rooms"
            ),
            "places": list_by_seat([_place_form(compiled)] * sizes.places, "places"),
            "things": list_by_seat([_thing_form(compiled)] * sizes.things, "things"),
            "agents": list_by_seat([_agent_form(compiled, n_actions)] * sizes.agents, "agents"),
            "known": list_by_seat([_known_form(compiled)] * sizes.agents, "agents"),
            "chance": rng_form(),
        }
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} must be a text")
    return value


def _at_form(compiled: Compiled) -> Form:
    return list_by_seat([integer(0, compiled.sizes.width - 1), integer(0, compiled.sizes.height - 1)], "numbers")


def _place_form(compiled: Compiled) -> Form:
    return record(
        {
            "kind": one_of(member_names(Kind), "kind"),
            "name": _text,
            "room": integer(0, compiled.sizes.rooms - 1),
            "at": _at_form(compiled),
            "open": boolean,
            "free": integer(-100, 100),
        }
    )


def _thing_form(compiled: Compiled) -> Form:
    most = max(compiled.sizes.places, compiled.sizes.things)
    return record(
        {
            "name": one_of(THINGS, "thing"),
            "role": one_of(member_names(Role), "role"),
            "rel": one_of(member_names(Rel), "rel"),
            "parent": integer(0, most - 1),
            "in_view": boolean,
        }
    )


def _agent_form(compiled: Compiled, n_actions: int) -> Form:
    sizes, count = compiled.sizes, integer(0, MAX_OPTION)
    return record(
        {
            "at": _at_form(compiled),
            "hands": list_by_seat([optional(integer(0, sizes.things - 1))] * HANDS, "hands"),
            "verb": integer(0, Verb.SAY),
            "arg": integer(0, MAX_OPTION),
            "left": integer(-MAX_OPTION, MAX_OPTION),
            "aim": integer(0, sizes.rooms - 1),
            "room": integer(NOTHING, sizes.rooms - 1),
            "spoke": boolean,
            "messages": count,
            "failed": count,
            "running": list_by_seat(
                [integer(NOTHING, n_actions - 1), integer(-MAX_OPTION, MAX_OPTION), count], "numbers"
            ),
            "ways": list_by_seat([integer(NOTHING, MAX_OPTION)] * sizes.places, "ways"),
        }
    )


def _known_form(compiled: Compiled) -> Form:
    sizes, tick = compiled.sizes, integer(NOTHING, MAX_OPTION)
    thing = [integer(0, len(Known) - 1), integer(NOTHING, sizes.places - 1), tick, integer(0, 1)]
    held = integer(NOTHING, sizes.things - 1)
    mate = [integer(NOTHING, sizes.rooms - 1), held, held, tick]
    return record(
        {
            "things": list_by_seat([list_by_seat(thing, "numbers")] * sizes.things, "things"),
            "rooms": list_by_seat([integer(0, len(KnownRoom) - 1)] * sizes.rooms, "rooms"),
            "places": list_by_seat([integer(0, len(KnownPlace) - 1)] * sizes.places, "places"),
            "mates": list_by_seat([list_by_seat(mate, "numbers")] * sizes.agents, "agents"),
        }
    )


# ------------------------------------------------------------------------------------------- between keys


def check_scene(compiled: Compiled, scene: Scene) -> None:
    """Refuse a scene whose parts contradict each other; kernels read arrays at the numbers that it holds.

    Raises:
        ValueError: Naming the part.
    """
    goals = scene["goals"]
    _expect(scene["steps"] <= scene["most_steps"], f"steps must be at most most_steps, {scene['most_steps']}")
    _check_home(compiled, scene)
    for o, thing in enumerate(scene["things"]):
        _check_thing(scene, o, thing)
    for seat, agent in enumerate(scene["agents"]):
        _check_agent(scene, seat, agent)
        _check_doing(compiled, scene, seat, agent)
        _check_known(scene, seat, scene["known"][seat])
    _expect(len({goal["name"] for goal in goals}) == len(goals), "goals must name each kind of thing once")
    for g, goal in enumerate(goals):
        have = min(goal["need"], sum(_is_delivered(scene, thing, goal["name"]) for thing in scene["things"]))
        _expect(goal["have"] == have, f"goals[{g}].have must be {have}: so many lie at the goal place")
    low, high = (sum(goal[key] for goal in goals) for key in ("have", "need"))
    _expect(low <= scene["paid"] <= high, f"paid must be from {low} to {high}, as goals say")


def _expect(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(f"state.{complaint}")


def _is_delivered(scene: Scene, thing: Scene, name: str) -> bool:
    there = thing["rel"] == "delivered" or (thing["rel"] == "at" and thing["parent"] == scene["goal_place"])
    return bool(there and thing["name"] == name)


def _check_home(compiled: Compiled, scene: Scene) -> None:
    """Rooms are filled rectangles within walls; every place is in its room and of the kind that its number has."""
    grid, rooms, places = scene["grid"], scene["rooms"], scene["places"]
    edges = grid[0] + grid[-1] + "".join(row[0] + row[-1] for row in grid)
    _expect(set(edges) == {WALL}, "grid must have walls all around")
    for r, room in enumerate(rooms):
        left, top, right, bottom = room["box"]
        cells = {cell for row in grid[top : bottom + 1] for cell in row[left : right + 1]}
        _expect(left <= right and top <= bottom and cells == {str(r)}, f"rooms[{r}].box must be floor of that room")
    for p, place in enumerate(places):
        kind, room, optional = _place_of(compiled, p)
        kinds = [kind, "none"] if optional else [kind]
        _expect(place["kind"] in kinds, f"places[{p}].kind must be {' or '.join(kinds)}")
        _expect(place["open"] or kind == "container", f"places[{p}].open must be true: only containers can be closed")
        _expect(room is None or place["room"] == room, f"places[{p}].room must be {room}")
        x, y = place["at"]
        _expect(grid[y][x] == str(place["room"]), f"places[{p}].at must be floor of room {place['room']}")
    kind = places[scene["goal_place"]]["kind"]
    _expect(kind in ("surface", "container", "bed"), "goal_place must be furniture that there is")


def _place_of(compiled: Compiled, p: int) -> tuple[str, int | None, bool]:
    """Return the kind and room that a place has by its number, and whether it may be missing."""
    first, furniture = compiled.sizes.rooms, compiled.tables.furniture
    if p < first:
        return "centre", p, False
    if p >= first + len(furniture):
        return "spot", None, True  # missing where there is no such thing
    room, kind, *_, optional = furniture[p - first].tolist()
    return member_names(Kind)[kind], room, bool(optional)


def _check_thing(scene: Scene, o: int, thing: Scene) -> None:
    parent, rel, agents = thing["parent"], thing["rel"], scene["agents"]
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
    """Return whether an agent holds a thing, or a container with it."""
    hands, thing = scene["agents"][seat]["hands"], scene["things"][o]
    return o in hands or (thing["rel"] == "inside" and thing["parent"] in hands)


def _check_agent(scene: Scene, seat: int, agent: Scene) -> None:
    """Agents stand on floor and have seen where they are; their hands hold one container at most, of three things."""
    (x, y), things, place = agent["at"], scene["things"], f"agents[{seat}]"
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


def _check_doing(compiled: Compiled, scene: Scene, seat: int, agent: Scene) -> None:
    """A busy agent is in the middle of a primitive action that its running action can come to, an idle one waits."""
    place, (running, timer, still) = f"agents[{seat}]", agent["running"]
    verb, left = agent["verb"], agent["left"]
    _expect(still == 0, f"{place}.running: the last number must be 0")
    if running == NOTHING:
        _expect(verb == Verb.WAIT and left <= 0, f"{place} must wait, with nothing left of it, without an action")
        return
    plan, aim = compiled.tables.catalogue[compiled.tables.levels[seat], running].tolist()
    _expect(plan != NOTHING, f"{place}.running is no action of the seat")
    _expect(timer > 0, f"{place}.running: the second number must count the begun primitive actions")
    doing = (verb, agent["arg"])
    _expect(doing in _doings(scene, agent, plan, aim), f"{place} cannot do {doing} in the action that is running")
    _expect(_has_hands_for(scene, agent, verb), f"{place}.verb: the hands are not those for it")
    most = int(compiled.tables.cost[verb]) * (agent["arg"] if verb == Verb.SAY else 1)
    _expect(0 < left <= max(most, 1), f"{place}.left must be from 1 to {max(most, 1)}")


def _doings(scene: Scene, agent: Scene, plan: int, aim: int) -> set[tuple[int, int]]:
    """Return the primitive actions, verb and argument, that an action may come to."""
    goal, there = scene["goal_place"], [p for p, place in enumerate(scene["places"]) if place["kind"] != "none"]
    if plan <= Verb.SAY:
        is_place = plan in ABOUT_PLACES
        return {(plan, aim)} if not is_place or aim in there else set()
    if plan == Verb.GO:
        return {(Verb.WALK, aim)}
    if plan == Verb.EXPLORE:
        return {(verb, agent["aim"]) for verb in (Verb.WALK, Verb.LOOK)}
    if plan == Verb.CHECK:
        return {(verb, aim) for verb in (Verb.WALK, Verb.OPEN) if aim in there}
    if plan == Verb.FETCH:  # beliefs may have changed on the way
        return {(Verb.GRAB, aim), *((verb, p) for verb in (Verb.WALK, Verb.OPEN) for p in there)}
    hands = [hand for hand, o in enumerate(agent["hands"]) if o is not None]
    return {(Verb.WALK, goal), (Verb.OPEN, goal), *((Verb.PUT, hand) for hand in hands)}


def _has_hands_for(scene: Scene, agent: Scene, verb: int) -> bool:
    """Hands change by what their agent does only, so they stay as they were when it began."""
    held = [scene["things"][o]["role"] for o in agent["hands"] if o is not None]
    if verb == Verb.PUT:
        return agent["hands"][agent["arg"]] is not None
    if verb == Verb.PUT_AT:
        return bool(held)
    return sorted(held) == ["container", "target"] if verb == Verb.PUT_IN else True


def _check_known(scene: Scene, seat: int, known: Scene) -> None:
    """Agents believe in places that there are, know what they hold, and have seen nothing in the future."""
    kinds, tick, where = [place["kind"] for place in scene["places"]], scene["tick"], f"known[{seat}]"
    for p, state in enumerate(known["places"]):
        _expect(kinds[p] != "none" or not state, f"{where}.places[{p}] does not exist")
    for o, (status, place, seen, _) in enumerate(known["things"]):
        good = kinds[place] not in ("none", "centre") and place != NOTHING if status == Known.SEEN else True
        good = good and (status != Known.MATE or (0 <= place < len(scene["agents"]) and place != seat))
        _expect(good, f"{where}.things[{o}] has no place")
        _expect(seen <= tick, f"{where}.things[{o}] was seen after tick {tick}")
        _expect((status == Known.MINE) == _holds(scene, seat, o), f"{where}.things[{o}]: agents know what they hold")
        _expect(scene["things"][o]["rel"] != "none" or not status, f"{where}.things[{o}]: there is no such thing")
    for j, (room, *hands, seen) in enumerate(known["mates"]):
        never = room == seen == NOTHING and set(hands) == {NOTHING}
        good = never or (j != seat and room != NOTHING and 0 <= seen <= tick)
        _expect(good, f"{where}.mates[{j}] must be seen in a room, by tick {tick}, or not at all")


# ------------------------------------------------------------------------------------------- into arrays


def encode(compiled: Compiled, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene of the form ``scene_form`` into environment ``i``; keys left out keep what is there."""
    world = state.world[i]
    if "task" in scene:
        world[World.TASK] = compiled.tasks.index(scene["task"])
    for name, column in CLOCKS.items():
        world[column] = scene.get(name, world[column])
    world[World.GOAL] = scene.get("goal_place", world[World.GOAL])
    if "goals" in scene:
        state.goals[i] = [NOTHING, 0, 0]
        for row, goal in zip(state.goals[i], scene["goals"], strict=False):
            row[:] = THINGS.index(goal["name"]), goal["need"], goal.get("have", 0)
    if "grid" in scene:
        state.cells[i] = [NOTHING if c == WALL else int(c) for c in "".join(scene["grid"])]
    _encode_lists(compiled, state, i, scene)


def complete(compiled: Compiled, state: State, i: int) -> tuple[bool, bool]:
    """Measure the ways through a checked home in environment ``i``.

    Returns:
        Whether the episode is terminated, and whether it is truncated.
    """
    measure_home(compiled, rows(state, i, i + 1))
    world = state.world[i]
    done = bool((state.goals[i, :, Goal.HAVE] >= state.goals[i, :, Goal.NEED]).all())
    late = bool(world[World.T] >= world[World.LIMIT] or world[World.STEPS] >= world[World.MAX_STEPS])
    world[World.OVER] = int(done or late)
    return done, late and not done


def _encode_lists(compiled: Compiled, state: State, i: int, scene: Mapping[str, Any]) -> None:
    for row, room in zip(state.rooms[i], scene.get("rooms", ()), strict=False):
        row[0] = ROOM_TYPES.index(room["type"]) if "type" in room else row[0]
        row[1:] = room.get("box", row[1:])
    for row, place in zip(state.places[i], scene.get("places", ()), strict=False):
        _encode_place(compiled, row, place)
    for row, thing in zip(state.things[i], scene.get("things", ()), strict=False):
        _encode_thing(row, thing)
    for seat, agent in enumerate(scene.get("agents", ())):
        _encode_agent(compiled, state, i, seat, agent)
    for seat, known in enumerate(scene.get("known", ())):
        for name, values in known.items():
            getattr(state, f"know_{name}")[i, seat] = values
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])


def _cell(compiled: Compiled, at: list[int]) -> int:
    return at[1] * compiled.sizes.width + at[0]


def _encode_place(compiled: Compiled, row: np.ndarray, place: Mapping[str, Any]) -> None:
    if "kind" in place:
        row[Place.KIND] = member_names(Kind).index(place["kind"])
    if "at" in place:
        row[Place.CELL] = _cell(compiled, place["at"])
    for name, column in (("room", Place.ROOM), ("open", Place.OPEN), ("free", Place.FREE)):
        row[column] = place.get(name, row[column])


def _encode_thing(row: np.ndarray, thing: Mapping[str, Any]) -> None:
    for name, column, known in (
        ("name", Thing.CLASS, THINGS),
        ("role", Thing.ROLE, member_names(Role)),
        ("rel", Thing.REL, member_names(Rel)),
    ):
        if name in thing:
            row[column] = known.index(thing[name])
    row[Thing.PARENT] = thing.get("parent", row[Thing.PARENT])
    row[Thing.IN_VIEW] = thing.get("in_view", row[Thing.IN_VIEW])


def _encode_agent(compiled: Compiled, state: State, i: int, seat: int, agent: Mapping[str, Any]) -> None:
    row = state.agents[i, seat]
    if "at" in agent:
        row[0] = _cell(compiled, agent["at"])
    if "hands" in agent:
        row[1 : 1 + HANDS] = [NOTHING if o is None else o for o in agent["hands"]]
    for column, name in enumerate(PLAIN, start=1 + HANDS):
        row[column] = agent.get(name, row[column])
    if "running" in agent:
        state.macro_state[i, seat] = agent["running"]
