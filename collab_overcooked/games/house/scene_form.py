"""What a scene of the household games may say, and how it is written into arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked._bound import bind
from collab_overcooked.core.config import MOST
from collab_overcooked.core.forms import Form, flag, list_by_seat, list_of, one_of, or_none, record, whole
from collab_overcooked.core.macro_actions import Macro
from collab_overcooked.core.rng import chance_form, set_chance
from collab_overcooked.envs.api import rows
from collab_overcooked.games.house.compile import ROOM_TYPES, THINGS, Compiled
from collab_overcooked.games.house.constants import (
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
from collab_overcooked.games.house.scene import CLOCKS, PLAIN, WALL, Scene
from collab_overcooked.games.house.state import State
from collab_overcooked.games.house.step import measure_batch

ABOUT_THINGS = (Verb.WALK_TO, Verb.GRAB)
ABOUT_PLACES = (Verb.WALK, Verb.OPEN, Verb.CLOSE, Verb.PUT_AT)


def words(kind: Any) -> list[str]:
    """Return the members of an enum as scenes write them."""
    return [member.name.lower() for member in kind]


def scene_form(compiled: Compiled, n_actions: int) -> Form:
    """Return the form of a scene."""
    sizes = compiled.sizes
    place, text = whole(0, sizes.places - 1), one_of([WALL, *map(str, range(sizes.rooms))], "cell")

    def grid_row(value: Any, where: str) -> str:
        if not isinstance(value, str) or len(value) != sizes.width:
            raise ValueError(f"{where} must be a text of {sizes.width} characters")
        return "".join(text(character, where) for character in value)

    box = list_by_seat([whole(0, size - 1) for size in (sizes.width, sizes.height) * 2], "numbers")
    return record(
        {
            "task": one_of(compiled.tasks, "task"),
            **{name: whole(0, MOST) for name in CLOCKS},
            "goal_place": place,
            "goals": list_of(
                record(
                    {"name": one_of(THINGS, "thing"), "need": whole(1, 100), "have": whole(0, 100)}, ("name", "need")
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
            "chance": chance_form(),
        }
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} must be a text")
    return value


def _at_form(compiled: Compiled) -> Form:
    return list_by_seat([whole(0, compiled.sizes.width - 1), whole(0, compiled.sizes.height - 1)], "numbers")


def _place_form(compiled: Compiled) -> Form:
    return record(
        {
            "kind": one_of(words(Kind), "kind"),
            "name": _text,
            "room": whole(0, compiled.sizes.rooms - 1),
            "at": _at_form(compiled),
            "open": flag,
            "free": whole(-100, 100),
        }
    )


def _thing_form(compiled: Compiled) -> Form:
    most = max(compiled.sizes.places, compiled.sizes.things)
    return record(
        {
            "name": one_of(THINGS, "thing"),
            "role": one_of(words(Role), "role"),
            "rel": one_of(words(Rel), "rel"),
            "parent": whole(0, most - 1),
            "in_view": flag,
        }
    )


def _agent_form(compiled: Compiled, n_actions: int) -> Form:
    sizes, count = compiled.sizes, whole(0, MOST)
    return record(
        {
            "at": _at_form(compiled),
            "hands": list_by_seat([or_none(whole(0, sizes.things - 1))] * HANDS, "hands"),
            "verb": whole(NOTHING, Verb.SAY),
            "arg": whole(0, MOST),
            "left": whole(-MOST, MOST),
            "aim": whole(0, sizes.rooms - 1),
            "room": whole(NOTHING, sizes.rooms - 1),
            "spoke": flag,
            "messages": count,
            "failed": count,
            "running": list_by_seat([whole(NOTHING, n_actions - 1), whole(-MOST, MOST), count], "numbers"),
            "ways": list_by_seat([whole(NOTHING, MOST)] * sizes.places, "ways"),
        }
    )


def _known_form(compiled: Compiled) -> Form:
    sizes, tick = compiled.sizes, whole(NOTHING, MOST)
    thing = [whole(0, len(Known) - 1), whole(NOTHING, sizes.places - 1), tick, whole(0, 1)]
    held = whole(NOTHING, sizes.things - 1)
    mate = [whole(NOTHING, sizes.rooms - 1), held, held, tick]
    return record(
        {
            "things": list_by_seat([list_by_seat(thing, "numbers")] * sizes.things, "things"),
            "rooms": list_by_seat([whole(0, len(KnownRoom) - 1)] * sizes.rooms, "rooms"),
            "places": list_by_seat([whole(0, len(KnownPlace) - 1)] * sizes.places, "places"),
            "mates": list_by_seat([list_by_seat(mate, "numbers")] * sizes.agents, "agents"),
        }
    )


# ------------------------------------------------------------------------------------------- between keys


def check_scene(compiled: Compiled, scene: Scene) -> None:
    """Refuse a scene whose parts contradict each other.

    Raises:
        ValueError: Naming the part.
    """
    places, things, agents = scene["places"], scene["things"], scene["agents"]
    edges = scene["grid"][0] + scene["grid"][-1] + "".join(row[0] + row[-1] for row in scene["grid"])
    if set(edges) != {WALL}:
        raise ValueError("state.grid must have walls all around")
    for p, place in enumerate(places):
        _expect(
            place["kind"] == "none" or _is_inside(compiled, place["at"]), f"places[{p}].at must be within the walls"
        )
    _expect(places[scene["goal_place"]]["kind"] in ("surface", "container", "bed"), "goal_place must be furniture")
    for seat, agent in enumerate(agents):
        x, y = agent["at"]
        _expect(scene["grid"][y][x] != WALL, f"agents[{seat}].at must be floor")
        for o in agent["hands"]:
            held = o is None or (things[o]["rel"] == "held" and things[o]["parent"] == seat)
            _expect(held, f"agents[{seat}].hands: thing {o} is not held by this agent")
        _expect(agent["hands"][0] is None or len(set(agent["hands"])) == HANDS, f"agents[{seat}].hands are the same")
        _check_doing(compiled, agent, seat)
    for o, thing in enumerate(things):
        _check_thing(scene, o, thing)
    for seat, known in enumerate(scene["known"]):
        _check_known(scene, seat, known)


def _expect(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(f"state.{complaint}")


def _is_inside(compiled: Compiled, at: list[int]) -> bool:
    return 0 < at[0] < compiled.sizes.width - 1 and 0 < at[1] < compiled.sizes.height - 1


def _check_doing(compiled: Compiled, agent: Scene, seat: int) -> None:
    """Refuse arguments that no verb has: kernels read arrays at them."""
    verb, arg, sizes = agent["verb"], agent["arg"], compiled.sizes
    bound = sizes.things if verb in ABOUT_THINGS else sizes.places if verb in ABOUT_PLACES else 100
    bound = HANDS if verb == Verb.PUT else bound
    _expect(arg < bound, f"agents[{seat}].arg must be below {bound}")
    running = agent["running"][Macro.ACTION]
    rows_of = compiled.tables.catalogue[compiled.tables.levels[seat]]
    _expect(running == NOTHING or rows_of[running, 0] != NOTHING, f"agents[{seat}].running is no action of the seat")
    _expect(running != NOTHING or agent["left"] <= 0, f"agents[{seat}].left must be 0 without an action")


def _check_thing(scene: Scene, o: int, thing: Scene) -> None:
    parent, rel, agents = thing["parent"], thing["rel"], scene["agents"]
    if rel == "held":
        good = parent < len(agents) and o in agents[parent]["hands"]
    elif rel == "inside":
        box = scene["things"][parent] if parent < len(scene["things"]) else None
        good = box is not None and box["role"] == "container" and box["rel"] == "held"
    elif rel == "none":
        good = True
    else:
        good = parent < len(scene["places"]) and scene["places"][parent]["kind"] not in ("none", "centre")
    _expect(good, f"things[{o}].parent must be what it is {rel}")


def _check_known(scene: Scene, seat: int, known: Scene) -> None:
    kinds = [place["kind"] for place in scene["places"]]
    for p, state in enumerate(known["places"]):
        _expect(kinds[p] != "none" or not state, f"known[{seat}].places[{p}] does not exist")
    for o, (status, place, *_) in enumerate(known["things"]):
        good = kinds[place] not in ("none", "centre") and place != NOTHING if status == Known.SEEN else True
        good = good and (status != Known.MATE or 0 <= place < len(scene["agents"]))
        _expect(good, f"known[{seat}].things[{o}] has no place")


# ------------------------------------------------------------------------------------------- into arrays


def encode(compiled: Compiled, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
    """Write a scene of the form ``scene_form`` into environment ``i``; keys left out keep what is there.

    Returns:
        Whether the episode is terminated, and whether it is truncated.
    """
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
    bind(measure_batch, compiled.tables, rows(state, i, i + 1), np.zeros((1, len(state.cells[i])), np.int32))()
    done = bool((state.goals[i, :, Goal.HAVE] >= state.goals[i, :, Goal.NEED]).all())
    late = bool(world[World.T] >= world[World.LIMIT] or world[World.STEPS] >= world[World.MOST])
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
        set_chance(state.rng[i], scene["chance"])


def _cell(compiled: Compiled, at: list[int]) -> int:
    return at[1] * compiled.sizes.width + at[0]


def _encode_place(compiled: Compiled, row: np.ndarray, place: Mapping[str, Any]) -> None:
    if "kind" in place:
        row[Place.KIND] = words(Kind).index(place["kind"])
    if "at" in place:
        row[Place.CELL] = _cell(compiled, place["at"])
    for name, column in (("room", Place.ROOM), ("open", Place.OPEN), ("free", Place.FREE)):
        row[column] = place.get(name, row[column])


def _encode_thing(row: np.ndarray, thing: Mapping[str, Any]) -> None:
    for name, column, known in (
        ("name", Thing.CLASS, THINGS),
        ("role", Thing.ROLE, words(Role)),
        ("rel", Thing.REL, words(Rel)),
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
