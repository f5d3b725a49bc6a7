"""Floor plans: the whole home, or one agent's knowledge of the home."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot
from typing import Any

from collab_overcooked.render.model import (
    FLOORS,
    GOOD,
    GREY,
    INK,
    Board,
    BoardCell,
    Card,
    Cook,
    Drawing,
    Icon,
    Overview,
    PanelColumn,
    Text,
    TextLine,
    agent_card,
    clock,
    held_spans,
    initials,
)

from .scene import FURNISHED, WALL

Scene = Mapping[str, Any]
PANEL = 30  # width, font sizes
SHADED = {"none": "unseen", "part": FLOORS[0], "all": FLOORS[1]}  # floors by what is known of a room
KNOWN = {"none": "#c8c0b3", "part": "#e8e2d5", "all": "#fbf8f2"}  # colours of rooms on the map
SHAPES = {  # sprites by thing; their colours come from the names
    "plate": "dish", "fork": "strands", "bowl": "bowl", "tray": "sheet", "plastic basket": "sack",
    "wooden basket": "sack", "wicker basket": "sack", "cupcake": "cake", "poundcake": "loaf", "pancake": "discs",
    "pudding": "ball", "juice": "jar", "wine": "jar", "coffeepot": "soup", "banana": "baton", "orange": "round",
    "loaf": "loaf", "burger": "burger", "calculator": "sheet", "mouse": "ball", "pen": "stalk", "lighter": "baton",
    "purse": "sack", "phone": "block",
}  # fmt: skip
BROKEN = {"dishwasher": "dish washer", "microwave": "micro wave"}  # names that are too long for one line
FURNITURE = {  # sprites by name, without numbers
    "kitchen cabinet": "cabinet", "cabinet": "cabinet", "bathroom cabinet": "bathroom_cabinet", "fridge": "fridge",
    "stove": "stove", "dishwasher": "dishwasher", "microwave": "microwave", "coffee table": "coffee_table",
    "kitchen table": "table", "bench": "bench", "bed": "bed",
}  # fmt: skip
OPEN = "open_doors"
FOLD = 5  # rows or columns of empty floor that are drawn as one
WIDE = 30  # cells from which on they are drawn small
LISTED = 8  # lines of a goal or of rooms


def icon_of(name: str) -> Icon:
    """Return the icon of a thing."""
    return Icon(SHAPES.get(name, ""), foods=(name,), text=name)


def folded(scene: Scene, people: str) -> dict[str, Any]:
    """Return a scene without most of its empty floor, which is drawn shorter than it is.

    Rows and columns like those before them, without furniture, are drawn one for ``FOLD``. What lies there moves along.

    Args:
        scene: Scene with all places, or the known ones.
        people: Key of the agent, or of the agents.
    """
    grid, places = scene["grid"], scene["places"]
    listed = places.values() if isinstance(places, Mapping) else places
    built = [place["at"] for place in listed if place["kind"] in FURNISHED]
    columns = _fold(["".join(column) for column in zip(*grid, strict=True)], {x for x, _ in built})
    lines = _fold(grid, {y for _, y in built})
    kept = [[new.index(k) for k in range(new[-1] + 1)] for new in (columns, lines)]

    def moved(thing: Mapping[str, Any]) -> dict[str, Any]:
        return {**thing, "at": [columns[thing["at"][0]], lines[thing["at"][1]]]} if "at" in thing else dict(thing)

    def all_moved(things: Any) -> Any:
        if isinstance(things, Mapping):
            return {key: moved(thing) for key, thing in things.items()}
        return list(map(moved, things))

    boxes = [room["box"] for room in scene["rooms"]]
    folded = [[columns[left], lines[top], columns[right], lines[bottom]] for left, top, right, bottom in boxes]
    kept_columns, kept_lines = kept
    drawn = ["".join(grid[y][x] for x in kept_columns) for y in kept_lines]
    rooms = [{**room, "box": box} for room, box in zip(scene["rooms"], folded, strict=True)]
    return {
        **scene,
        "grid": drawn,
        "rooms": rooms,
        "places": all_moved(places),
        "things": all_moved(scene["things"]),
        people: moved(scene[people]) if isinstance(scene[people], Mapping) else all_moved(scene[people]),
    }


def _fold(lines: Sequence[str], built: set[int]) -> list[int]:
    """Return the new number of each line."""
    runs: list[list[int]] = []
    for k, line in enumerate(lines):
        if runs and k not in built and runs[-1][-1] not in built and line == lines[k - 1]:
            runs[-1].append(k)
        else:
            runs.append([k])
    numbers: list[int] = []
    for run in runs:
        first, shown = numbers[-1] + 1 if numbers else 0, -(-len(run) // FOLD)
        numbers += [first + j * shown // len(run) for j in range(len(run))]
    return numbers


def _floor(
    grid: Sequence[str],
    shades: Mapping[int, str],
    rooms: Sequence[Mapping[str, Any]],
    placed: Mapping[tuple[int, int], Sequence[BoardCell]],
) -> dict[tuple[int, int], BoardCell]:
    cells, inside = {}, defaultdict(list)
    for y, row in enumerate(grid):
        for x, c in enumerate(row):
            cells[x, y] = BoardCell("wall", "#") if c == WALL else _ground(shades[int(c)], rooms[int(c)]["name"])
            if c != WALL:
                inside[int(c)].append((x, y))
    for room, spots in inside.items():
        middle = [sum(spot[k] for spot in spots) / len(spots) for k in (0, 1)]
        # Names need room at both sides
        free = [(x, y) for x, y in spots if not any((x + k, y) in placed for k in (-2, -1, 0, 1, 2))]
        spot = min(free or spots, key=lambda at: hypot(at[0] - middle[0], at[1] - middle[1]))
        cells[spot] = replace(cells[spot], labels=(rooms[room]["name"],))
    return cells


def _ground(sprite: str, room: str) -> BoardCell:
    return BoardCell(sprite, " " if sprite == SHADED["none"] else ".", targets=(room,), walkable=True)


def _furniture(place: Mapping[str, Any], state: str, items: Sequence[tuple[str, int]], goal: bool) -> BoardCell:
    letter = place["name"][0].upper() if state in ("closed", "checked") else place["name"][0]
    mark = "!" if goal else ""
    title = BROKEN.get(place["name"], place["name"])
    parts = title.split()
    label = (title, " ".join(parts[-2:]), "".join(part[0] for part in parts))
    sprite = FURNITURE.get(place["name"].rstrip("0123456789 "), "counter")
    back = OPEN if place["kind"] == "container" and state == "open" else ""
    front = "goal_flag" if goal else ""
    icons = tuple(icon_of(name) for name, _ in items)
    tags = tuple(str(number) for _, number in items)
    targets = (place["name"], *(f"{name} {number}" for name, number in items))
    return BoardCell(sprite, letter + mark, icons, back, front, tags, labels=label, targets=targets)


def _spot(items: Sequence[tuple[str, int]]) -> BoardCell:
    names = tuple(f"{name} {number}" for name, number in items)
    icons = tuple(icon_of(name) for name, _ in items)
    tags = tuple(str(number) for _, number in items)
    return BoardCell(FLOORS[1], names[0][0], icons, tags=tags, labels=(", ".join(names),), targets=names)


def _together(cells: Sequence[BoardCell]) -> BoardCell:
    first, *others = cells
    for cell in others:
        first = replace(
            first,
            items=first.items + cell.items,
            tags=first.tags + cell.tags,
            back=first.back or cell.back,
            front=first.front or cell.front,
            labels=tuple(f"{a} {b}" for a, b in zip(first.labels, cell.labels, strict=False)),
            targets=first.targets + cell.targets,
        )
    return first


def _person(scene: Scene, agent: Mapping[str, Any], seat: int, names: Sequence[str]) -> tuple[Cook, Card]:
    held = [f"{scene['things'][o]['name']} {o}" for o in agent["hands"] if o is not None]
    icon = icon_of(held[0].rpartition(" ")[0]) if held else None
    cook = Cook(seat, initials(names)[seat], chef=False, held=icon, mark=held[0][0] if held else "")
    room = scene["rooms"][agent["room"]]["name"] if agent["room"] >= 0 else ""
    return cook, agent_card(cook, names[seat], room, held_spans(icon, " and ".join(held) or "nothing"))


def _goal_card(scene: Scene, goals: Sequence[tuple[str, int, int]], place: str) -> Card:
    lines = [TextLine((Text(f"Goal: {place}", bold=True), Text(scene["task"].replace("_", " "), GREY)))]
    for name, have, need in goals[:LISTED]:
        count = Text(f"{name} {min(have, need)} of {need}", GOOD if have >= need else INK)
        lines.append(TextLine((replace(icon_of(name), text=""), count)))
    return Card(tuple(lines), kind="goal")


def _home_drawing(
    scene: Scene,
    ground: Mapping[tuple[int, int], BoardCell],
    placed: Mapping[tuple[int, int], Sequence[BoardCell]],
    cooks: Sequence[tuple[Any, Cook]],
    cards: Sequence[Card],
    counts: Sequence[tuple[str, str]],
    team: int,
    *,
    listing: Sequence[str] = (),
    overview: Overview | None = None,
) -> Drawing:
    grid = scene["grid"]
    cells = {**ground, **{spot: _together(there) for spot, there in placed.items()}}
    time = clock(f"Time {scene['tick']} of {scene['limit']}", counts, scene["tick"], scene["limit"])
    board = Board((len(grid[0]), len(grid)), tuple(cells.items()), tuple(cooks), overview=overview)
    column = PanelColumn((time, *cards), PANEL, 4.0 + 2.5 * team + LISTED + 2)
    return Drawing((board, column), listing=tuple(listing), tile=44 if len(grid[0]) <= WIDE else 36, font=0.42)


def picture(scene: Scene, names: Sequence[str]) -> Drawing:
    """Return the picture of a scene."""
    scene = folded(scene, "agents")
    placed: dict[tuple[int, int], list[BoardCell]] = defaultdict(list)
    things, places = scene["things"], scene["places"]
    for p, place in enumerate(places):
        lying = [(t["name"], o) for o, t in enumerate(things) if t["rel"] == "at" and t["parent"] == p]
        if place["kind"] in FURNISHED:
            shut = place["kind"] == "container" and not place["open"]
            cell = _furniture(place, "closed" if shut else "open", lying, p == scene["goal_place"])
            placed[tuple(place["at"])].append(cell)
        elif place["kind"] == "spot" and lying:
            placed[tuple(place["at"])].append(_spot(lying))
    ground = _floor(scene["grid"], dict.fromkeys(range(len(scene["rooms"])), FLOORS[1]), scene["rooms"], placed)
    people = [_person(scene, agent, seat, names) for seat, agent in enumerate(scene["agents"])]
    cooks = [(tuple(agent["at"]), cook) for agent, (cook, _) in zip(scene["agents"], people, strict=True)]
    goals = [(goal["name"], goal["have"], goal["need"]) for goal in scene["goals"]]
    done = sum(min(have, need) for _, have, need in goals)
    total = sum(need for _, _, need in goals)
    cards = [*(card for _, card in people), _goal_card(scene, goals, places[scene["goal_place"]]["name"])]
    rooms = [(place["name"], scene["rooms"][place["room"]]["name"]) for place in places if place["kind"] in FURNISHED]
    listing = [f"{name}: {room}" for name, room in rooms]
    return _home_drawing(
        scene, ground, placed, cooks, cards, [(f"{done} of {total}", GOOD)], len(people), listing=listing
    )


def known_picture(scene: Scene, names: Sequence[str]) -> Drawing:
    """Draw one agent's knowledge, a ``known_scene``; rooms that the agent has not entered are shaded."""
    scene = folded(scene, "me")
    placed: dict[tuple[int, int], list[BoardCell]] = defaultdict(list)
    things, me = scene["things"], scene["me"]
    for p, place in scene["places"].items():
        lying = [(thing["name"], o) for o, thing in things.items() if thing.get("place") == p]
        placed[tuple(place["at"])].append(_furniture(place, place["state"], lying, p == scene["goal"]["place"]))
    for o, thing in things.items():
        if thing["status"] == "seen" and thing["place"] not in scene["places"]:
            placed[tuple(thing["at"])].append(_spot([(thing["name"], o)]))
    shades = {r: SHADED[room["known"]] for r, room in enumerate(scene["rooms"])}
    ground = _floor(scene["grid"], shades, scene["rooms"], placed)
    cook, card = _person(scene, me, scene["seat"], names)
    cooks, cards = [(tuple(me["at"]), cook)], [card]
    for j in range(scene["team"]):
        portrait, mate = Cook(j, initials(names)[j], chef=False), scene["mates"].get(j)
        if mate:
            room = scene["rooms"][mate["room"]]["name"]
            hands = " and ".join(name for name in mate["hands"] if name) or "nothing"
            cooks.append((_spot_of_mate(scene, mate["room"], tuple(me["at"])), portrait))
            cards.append(agent_card(portrait, names[j], f"{room}, time {mate['tick']}", held_spans(None, hands)))
        elif j != scene["seat"]:
            cards.append(agent_card(portrait, names[j], "not seen yet"))
    reached = scene["goal"]["reached"]
    goals = [(goal["name"], goal["need"] if reached else goal["seen"], goal["need"]) for goal in scene["goals"]]
    cards.append(_goal_card(scene, goals, scene["goal"]["name"]))
    return _home_drawing(scene, ground, placed, cooks, cards, [], scene["team"], overview=_overview(scene))


def _spot_of_mate(scene: Scene, room: int, taken: tuple[int, int]) -> tuple[int, int]:
    """Return a cell in the middle of the room where a mate was last seen, but not that of the seat itself."""
    left, top, right, bottom = scene["rooms"][room]["box"]
    inside = [(x, y) for y in range(top, bottom + 1) for x in range(left, right + 1) if (x, y) != taken]
    middle = (left + right) / 2, (top + bottom) / 2
    return min(inside or [taken], key=lambda at: hypot(at[0] - middle[0], at[1] - middle[1] + 1))


def _overview(scene: Scene) -> Overview:
    """Return the map of one agent's knowledge: rooms, the goal place and goal things; pages add the agents."""
    boxes = [room["box"] for room in scene["rooms"]]
    areas = tuple(
        (left, top, right - left + 1, bottom - top + 1, KNOWN[room["known"]], room["name"])
        for room, (left, top, right, bottom) in zip(scene["rooms"], boxes, strict=True)
    )
    goal, needed = scene["goal"], [goal["name"] for goal in scene["goals"]]
    marks: list[tuple[Any, Icon | str]] = [
        (tuple(thing["at"]), icon_of(thing["name"]))
        for thing in scene["things"].values()
        if thing["status"] == "seen" and thing["name"] in needed
    ]
    if goal["found"]:
        marks.append((tuple(scene["places"][goal["place"]]["at"]), "goal_flag"))
    return Overview(areas, tuple(marks))
