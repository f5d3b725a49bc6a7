"""Build the picture of a scene, and icons of items.

The game knows places but no distances, so the tools stand along two walls of a room. A product's sprite follows from
its name where that says what it is (a salad, a burger), and from the tool it is made in otherwise, so that new level
files have one too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from collab_overcooked.render.lettering import plain_text
from collab_overcooked.render.model import (
    BAD,
    FAINT,
    FLOOR,
    GOOD,
    GREY,
    TALL,
    WORKING,
    Bar,
    Board,
    BoardCell,
    Card,
    Cook,
    Dot,
    Drawing,
    Icon,
    PanelColumn,
    Point,
    Progress,
    Text,
    TextLine,
    agent_card,
    clock,
    held_spans,
    initials,
    share_of,
)

from ..engine.spec import Level
from .text import recipes_below

COOK = 0.86  # tiles
CAPTION = 0.35  # tiles below a tool, for its name
PANEL = 25  # width, font sizes
HURRY, LATE = 0.5, 0.25  # shares of an order's time below which its bar changes colour
STATIONS = {"servingtable": "serving", "storage": "ingredients", "chopboard": "chopping_board"}

FILLERS = ("flour", "rice", "pasta", "dough", "bread", "tortilla")  # never what tells two dishes apart
# Pattern of a name: sprite. The first that fits is taken; "" is the raw food itself, changed in colour only.
FORM_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"[Mm]eatcake$", "patty"),
    (r"[Cc]ake$", "cake"),
    (r"[Gg]round|[Ss]mashed", "mashed"),
    (r"Slice$", "slices"),
    (r"Sashimi$", "fillets"),
    (r"Fries$", "fries"),
    (r"Salad$", "salad"),
    (r"^cooked", "heap"),
    (r"^sauteed|^boiled", ""),
    (r"Pasta$", "noodles"),
    (r"Sushi$", "sushi"),
    (r"Roll$", "roll"),
    (r"Sauce$", "soup"),
    (r"Pizza$", "pizza"),
    (r"Soup$", "stew"),
    (r"Dumpling$", "dumplings"),
    (r"[Bb]urger$|^MaxJr$|^Hopper$", "burger"),
    (r"^Burrito", "burrito"),
)
MIXED = ("fillets",)  # forms that are a salad once they are made of several foods
TOOL_FORMS = {"chopboard": "slices", "blender": "mashed", "pot": "stew", "pan": "", "fryer": "fries", "oven": "pizza"}
FINISHES = {"pan": "baked", "pot": "boiled", "steamer": "boiled"}  # by tool; shown on food that keeps its shape
PLAIN_FORMS = ("", "mashed", "slices")  # forms that show how their food was cooked

Scene = Mapping[str, Any]
Lifetimes = Mapping[str, int] | None


def icon_of(level: Level, name: str) -> Icon:
    """Return the icon of an item of a level's cookbook."""
    recipe = level.recipes.get(name)
    if recipe is None:
        return Icon(foods=(name,))
    base = [item for item in reversed(level.tree(name)) if item not in level.recipes]
    named = [item for item in base if item.lower() in name.lower()]
    others = [item for item in base if item not in named and item not in FILLERS]
    foods = tuple([item for item in named if item not in FILLERS] + others + [item for item in base if item in FILLERS])
    form = next((form for pattern, form in FORM_PATTERNS if re.search(pattern, name)), None)
    if form is None:
        form = TOOL_FORMS.get(recipe.tool, "salad")
    if form in MIXED and len(foods) > 1:
        form = "salad"
    if form == "pizza":  # its ground is the same everywhere; the topping is what counts
        foods = ("tomato", *(food for food in foods if food not in ("tomato", "cheese")), "cheese")
    return Icon(form, foods[:3], FINISHES.get(recipe.tool, "") if form in PLAIN_FORMS else "")


def split_name(name: str) -> str:
    """Split an item's name: ``tomatoLettuceSalad`` becomes ``tomato lettuce salad``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain_text(name)).lower()


def spots(level: Level, agents: int) -> tuple[Point, list[tuple[Point, Point, int]]]:
    """Return the size of the room; by location the corner of its tool, the place before it, and the way from the wall.

    Half of the tools stand along the upper wall, half along the lower one, two tiles apart.
    """
    count = len(level.kitchen)
    upper = -(-count // 2)
    bottom = round(1 + CAPTION + COOK * (-(-agents // 2) + 1) + 0.1, 2)
    places: list[tuple[Point, Point, int]] = []
    for at in range(count):
        if at < upper:
            x = 0.5 + 2 * at
            places.append(((x, 0.0), (x + 0.5, 1 + CAPTION), 1))
        else:
            x = 0.5 + 2 * (at - upper) + (2 * upper - count)
            places.append(((x, bottom), (x + 0.5, bottom - COOK), -1))
    return (2.0 * upper, bottom + 1 + CAPTION), places


def _board(level: Level, scene: Scene, cooks: Sequence[Cook]) -> Board:
    size, places = spots(level, len(cooks))
    tools = {
        corner: _tool_cell(level, at, name, scene["tools"][name])
        for at, (name, (corner, _, _)) in enumerate(zip(level.locations, places, strict=True))
    }
    bottom = round(size[1] - 1 - CAPTION, 2)
    walls = [(k - 0.5, y) for y in (0.0, bottom) for k in range(round(size[0]) + 1)]
    cells = (*tools.items(), *((at, BoardCell("counter")) for at in walls if at not in tools))
    rows = [(y, min(1.0, bottom - y)) for y in range(1, -(-round(100 * bottom) // 100))]
    patches = tuple((x, y, 1.0, high) for y, high in rows for x in range(round(size[0])) if (x + y) % 2)
    return Board(size, cells, tuple(_standing(level, scene, cooks, places)), COOK, patches, FLOOR)


def _tool_cell(level: Level, at: int, name: str, tool: Mapping[str, Any]) -> BoardCell:
    kind = level.kitchen[at]
    sprite = STATIONS.get(kind, kind)
    content = tool["content"]
    items = tuple(icon_of(level, item) for item in content)
    if tool["busy"]:
        total = level.tools[kind].busy
        progress = Progress(total - tool["busy"], total, f"{tool['busy']} left")
        return BoardCell(sprite, items=items, caption=name, progress=progress, targets=(name,))
    if content and tool["ready"]:
        labels = (split_name(content[0]),)
        return BoardCell(
            sprite, items=items, labels=labels, caption=name, ready=is_finished(level, at, content), targets=(name,)
        )
    return BoardCell(sprite, items=items, caption=name, targets=(name,))


def is_finished(level: Level, at: int, content: Sequence[str]) -> bool:
    """Tell whether a tool holds a product of its own, and not raw food that may be taken back."""
    recipe = level.recipes.get(content[0])
    return len(content) == 1 and recipe is not None and recipe.tool == level.kitchen[at]


def _standing(level: Level, scene: Scene, cooks: Sequence[Cook], places: Sequence[tuple[Point, Point, int]]) -> Any:
    for location, (_, (middle, top), way) in zip(level.locations, places, strict=True):
        here = [cook for cook, agent in zip(cooks, scene["agents"], strict=True) if agent["location"] == location]
        for i, cook in enumerate(here):
            beside = 1 if i == len(here) - 1 and i % 2 == 0 else 2  # a last one alone stands in the middle
            left = middle - beside * COOK / 2 + i % 2 * COOK
            yield (round(left, 2), round(top + way * (i // 2) * COOK, 2)), cook


def _order_card(level: Level, order: Mapping[str, Any], lifetimes: Lifetimes) -> Card:
    remaining, share = order["remaining"], _share(order, lifetimes)
    status = "no limit" if remaining is None else "too late" if remaining == 0 else f"{remaining} left"
    colour = time_colour(order, lifetimes)
    title = TextLine((Text(split_name(order["name"]), bold=True),), (Text(status, colour),))
    bar = () if share is None else (Bar(share, colour),)
    return Card((title, *bar, *_needs(level, order["name"])), icon_of(level, order["name"]), 1.9, kind="order")


def _needs(level: Level, name: str) -> tuple[TextLine, ...]:
    items = next(order.items for order in level.orders if order.name == name)
    recipes = recipes_below(level, items)
    names = [item for recipe in recipes.values() for item in recipe.ingredients if item not in recipes]
    tools = ", ".join(dict.fromkeys(recipe.tool for recipe in reversed(recipes.values())))
    icons = (replace(icon_of(level, name), text=split_name(name)) for name in dict.fromkeys(names))
    return (TextLine((*icons, Text(tools, GREY)), tall=True),) if names else ()


def _share(order: Mapping[str, Any], lifetimes: Lifetimes) -> float | None:
    if order["remaining"] is None or lifetimes is None:
        return None
    return share_of(order["remaining"], lifetimes.get(order["name"], 1))


def time_colour(order: Mapping[str, Any], lifetimes: Lifetimes) -> str:
    """Return the colour of an order's time: from green to red while it runs out."""
    share = _share(order, lifetimes)
    if share is None:
        return GREY
    return GOOD if share > HURRY else WORKING if share > LATE else BAD


def _agent_card(cook: Cook, name: str, agent: Mapping[str, Any]) -> Card:
    held = agent["holding"]
    state = f"{'busy ' if agent['busy'] else ''}at {agent['location']}"
    return agent_card(cook, name, state, held_spans(cook.held, "nothing" if held is None else split_name(held)))


def _tool_note(name: str, tool: Mapping[str, Any]) -> TextLine:
    colour = WORKING if tool["busy"] else GOOD if tool["ready"] and tool["content"] else FAINT
    state = f" ({tool['busy']} left)" if tool["busy"] else ""
    status = ", ".join(map(split_name, tool["content"])) or "empty"
    return TextLine((Dot(colour), Text(f"{name}{state}:", GREY), Text(status)))


def picture(level: Level, scene: Scene, names: Sequence[str], lifetimes: Lifetimes = None) -> Drawing:
    """Return the picture of a scene.

    Args:
        level: The level.
        scene: A scene, see ``CuisineScene``.
        names: Names of the agents.
        lifetimes: Full time of each order by name, for the bars; without it there are numbers only.
    """
    letters = initials(names)
    held = [None if agent["holding"] is None else icon_of(level, agent["holding"]) for agent in scene["agents"]]
    cooks = [Cook(seat, letters[seat], held=icon) for seat, icon in enumerate(held)]
    counts = [(f"{name} {scene[key]}", colour if scene[key] else GREY) for name, key, colour in COUNTS]
    cards = [clock(f"Step {scene['timestep']} of {scene['limit']}", counts, scene["timestep"], scene["limit"])]
    cards += [_agent_card(*row) for row in zip(cooks, names, scene["agents"], strict=True)]
    heading = "heading" if scene["orders"] else "order"
    cards += [Card((TextLine((Text("Orders" if scene["orders"] else "No order is open.", GREY),)),), kind=heading)]
    cards += [_order_card(level, order, lifetimes) for order in scene["orders"]]
    lines = 2.5 + 2.5 * len(cooks) + 1.5 + (2.5 + TALL) * level.max_open_orders
    kinds = zip(level.locations, level.kitchen, strict=True)
    notes = tuple(_tool_note(name, scene["tools"][name]) for name, kind in kinds if level.tools[kind].role != "storage")
    return Drawing((_board(level, scene, cooks), PanelColumn(tuple(cards), PANEL, lines)), notes, tile=64, font=0.19)


COUNTS = (("completed", "completed", GOOD), ("failed", "expired", BAD))
