"""Findings of the household games: reports of an agent to its teammates, and their merging into a scene."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.house.engine.constants import Verb
from collab_overcooked.games.house.policies.subplans import Scene, held
from collab_overcooked.games.house.text.text import NAMES
from collab_overcooked.io.text import join_and
from collab_overcooked.policies.search.subplans import Finding, Findings

GOAL = "goal place"


def report_findings(scene: Scene) -> dict[str, Finding]:
    """Return an agent's findings by the names of things, containers, rooms, and the agent itself."""
    me, rooms, tick = scene["me"], scene["rooms"], scene["tick"]
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
            findings[room["name"]] = Finding(f"{room['name']} explored.", ("room", r))
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
    places, things, mates = dict(scene["places"]), dict(scene["things"]), dict(scene["mates"])
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
        "goal": {**scene["goal"], "findings": scene["goal"]["place"] in places},
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
