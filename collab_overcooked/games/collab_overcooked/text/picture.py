"""Drawing of a kitchen's scene, and icons of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from collab_overcooked.render.model import (
    FAINT,
    FILLING,
    FLOORS,
    GOOD,
    GREY,
    INK,
    WORKING,
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
)
from collab_overcooked.render.sprites import food_names

from ..engine.spec import Kitchen
from .text import spaced

CAPTIONS = {"ingredients": "food", "dishes": "dishes", "serving": "serve"}
TARGETS = {"ingredients": "ingredient_dispenser", "dishes": "dish_dispenser", "serving": "deliver"}  # of actions
AT_COUNTER = ("counter", "place_obj_on_counter")
STATUS_COLOURS = {"empty": FAINT, "filling": FILLING, "cooking": WORKING, "ready": GOOD}
NAMED_ORDERS = 3  # orders with a card of their own; later ones are icons
ORDERS_CHARS = 30  # width of the panel, font sizes

# Word of an item's name: sprite. Of several in a name the one that comes first in FORMS is the dish itself.
FORM_WORDS = {
    "stew": "stew",
    "curry": "stew",
    "soup": "soup",
    "broth": "soup",
    "patty": "patty",
    "burger": "patty",
    "cake": "patty",
    "mashed": "mashed",
    "mixture": "mashed",
    "puree": "mashed",
    "slices": "slices",
    "sliced": "slices",
    "chopped": "slices",
    "diced": "slices",
}
FORMS = tuple(dict.fromkeys(FORM_WORDS.values()))
HIDING_FORMS = ("stew", "soup", "patty")  # how their ingredients were made does not show any more
FINISH_WORDS = {
    "boiled": "boiled",
    "steamed": "boiled",
    "baked": "baked",
    "roasted": "baked",
    "grilled": "baked",
    "fried": "baked",
}

Scene = Mapping[str, Any]


@lru_cache(maxsize=4096)
def icon_of(name: str, plated: bool = False, ingredients: tuple[str, ...] = ()) -> Icon:
    """Derive the icon of an item from its name.

    Args:
        name: Item name such as ``"sliced_beef_and_mashed_peanut_stew"``, or ``"dish"``.
        plated: Whether it lies on a dish.
        ingredients: Names that count as foods besides those that have sprites.

    Returns:
        The icon; a name without any known food is a food of its own.
    """
    if name == "dish":
        return Icon("dish")
    parts = name.split("_")
    forms = {FORM_WORDS[word] for word in parts if word in FORM_WORDS}
    form = next((form for form in FORMS if form in forms), "")
    finish = next((FINISH_WORDS[word] for word in parts if word in FINISH_WORDS), "")
    known = {*food_names(), *ingredients}
    foods: list[str] = []
    start = 0
    while start < len(parts):
        ends = (end for end in range(len(parts), start, -1) if "_".join(parts[start:end]) in known)
        end = next(ends, 0)
        if end:
            foods.append("_".join(parts[start:end]))
        start = end or start + 1
    rest = [word for word in parts if word not in FORM_WORDS and word not in FINISH_WORDS]
    unknown = "_".join(rest) or name
    return Icon(form, tuple(foods) or (unknown,), "" if form in HIDING_FORMS else finish, plated)


def _icon(kitchen: Kitchen, item: Mapping[str, Any]) -> Icon:
    return icon_of(item["item"], item["plated"], tuple(kitchen.ingredients))


def _item_text(item: Mapping[str, Any] | None) -> str:
    if item is None:
        return "nothing"
    return spaced(item["item"]) + (" on a dish" if item["plated"] else "")


@lru_cache(maxsize=1024)
def labels_of(name: str) -> tuple[str, ...]:
    """Return labels of an item or place: the full name, then the name without the parts that the icon shows."""
    parts = [word for word in name.split("_") if word and word != "and"]
    short = [word for word in parts if word not in FORM_WORDS and word not in FINISH_WORDS]
    return " ".join(parts), " ".join(short or parts)


def _board(kitchen: Kitchen, scene: Scene, hidden: Collection[Point]) -> Board:
    kinds = {symbol: station.kind for symbol, station in kitchen.stations.items()}
    cells: dict[Point, BoardCell] = {
        (x, y): _plain_cell(symbol, kinds.get(symbol, ""), (x + y) % 2)
        for y, row in enumerate(kitchen.grid)
        for x, symbol in enumerate(row)
    }
    cells |= {at: BoardCell("unseen", "??") for at in hidden}
    for number, counter in enumerate(scene["counters"], start=1):
        icon, labels = _icon(kitchen, counter), labels_of(counter["item"])
        cells[tuple(counter["position"])] = BoardCell(
            "counter", f"[{number}]", (icon,), labels=labels, targets=AT_COUNTER
        )
    for name, utensil in scene["utensils"].items():
        x, y = utensil["position"]
        cells[x, y] = _utensil_cell(kitchen, name, utensil, kitchen.grid[y][x])
    cooks = tuple(
        (tuple(agent["position"]), cook) for agent, cook in zip(scene["agents"], _cooks(kitchen, scene), strict=True)
    )
    return Board((len(kitchen.grid[0]), len(kitchen.grid)), tuple(cells.items()), cooks)


@lru_cache(maxsize=256)
def _plain_cell(symbol: str, kind: str, shade: int) -> BoardCell:
    if symbol == " ":
        return BoardCell(FLOORS[shade], ".", walkable=True)
    if kind in CAPTIONS:
        return BoardCell(kind, symbol, labels=(CAPTIONS[kind],), targets=(TARGETS[kind],))
    return BoardCell("counter", "##", targets=AT_COUNTER)


def _utensil_cell(kitchen: Kitchen, name: str, utensil: Mapping[str, Any], symbol: str) -> BoardCell:
    sprite, status = kitchen.stations[symbol].name, utensil["status"]
    ingredients = tuple(kitchen.ingredients)
    if status == "empty":
        return BoardCell(sprite, symbol, labels=labels_of(name), targets=(name,))
    if status == "ready":
        icon = icon_of(utensil["product"], False, ingredients)
        return BoardCell(sprite, symbol + "!", (icon,), labels=labels_of(name), ready=True, targets=(name,))
    contents = tuple(icon_of(item, False, ingredients) for item in utensil["contents"])
    if status == "cooking":
        left = utensil["time"] - utensil["timer"]
        progress = Progress(utensil["timer"], utensil["time"], f"{left} left")
        return BoardCell(sprite, f"{symbol}~{left}", contents, progress=progress, targets=(name,))
    labels = (f"{name} {len(contents)} of {kitchen.stations[symbol].capacity}", *labels_of(name))
    return BoardCell(sprite, f"{symbol}+{len(contents)}", contents, labels=labels, targets=(name,))


def _cooks(kitchen: Kitchen, scene: Scene) -> list[Cook]:
    letters = initials([spec.name for spec in kitchen.agents])
    return [
        Cook(
            seat,
            letters[seat],
            agent["facing"],
            kitchen.agents[seat].knows_recipes,
            _icon(kitchen, agent["holding"]) if agent["holding"] else None,
            "*" if agent["holding"] else "",
        )
        for seat, agent in enumerate(scene["agents"])
    ]


def _agent_cards(kitchen: Kitchen, scene: Scene) -> list[Card]:
    cards = []
    for spec, agent, cook in zip(kitchen.agents, scene["agents"], _cooks(kitchen, scene), strict=True):
        left = f" ({agent['timer']} left)" if agent["timer"] > 0 else ""
        does = "nothing" if agent["action"] is None else f"{agent['action']}{left}"
        held = held_spans(cook.held, _item_text(agent["holding"]))
        state = f"{spec.role}, facing {agent['facing']}"
        cards.append(agent_card(cook, spec.name, state, held, (Text("does", GREY), Text(does))))
    return cards


def _order_cards(kitchen: Kitchen, orders: list[str], recipes: bool) -> list[Card]:
    if not orders:
        return [Card((TextLine((Text("No order is left.", GREY),)),))]
    named = orders if len(orders) <= NAMED_ORDERS else orders[: NAMED_ORDERS - 1]
    ingredients = tuple(kitchen.ingredients)
    cards = []
    for i, order in enumerate(named):
        plated = recipes and kitchen.serving.get(order, False)
        detail = ("Order" if i == 0 else "Next") + recipes * (", on a dish" if plated else ", without a dish")
        lines = TextLine((Text(spaced(order), bold=i == 0),)), TextLine((Text(detail, GREY),))
        cards.append(Card(lines, icon_of(order, plated, ingredients), kind="order"))
    later = orders[len(named) :]
    if later:
        icons = (icon_of(order, recipes and kitchen.serving.get(order, False), ingredients) for order in later)
        names = Text(", ".join(map(spaced, later)), GREY)
        cards.append(Card((TextLine((Text("Then", GREY), *icons, names), tall=True),), kind="order"))
    return cards


def _utensil_note(name: str, utensil: Mapping[str, Any]) -> TextLine:
    status = utensil["status"]
    state = f" ({utensil['time'] - utensil['timer']} left)" if status == "cooking" else ""
    state = " (ready)" if status == "ready" else state
    product = utensil["product"] if status in ("cooking", "ready") else None
    contents = spaced(product) if product else ", ".join(map(spaced, utensil["contents"])) or "empty"
    return TextLine((Dot(STATUS_COLOURS[status]), Text(f"{name}{state}:", GREY), Text(contents)))


def picture(kitchen: Kitchen, scene: Scene, hidden: Collection[Point] = (), recipes: bool = True) -> Drawing:
    """Return the scene model of a state.

    Args:
        kitchen: Specification of the kitchen.
        scene: A scene, see ``CollabOvercookedScenes``; a seat's scene gives a picture of the seat's knowledge.
        hidden: Places of counters whose contents are not shown, as the seat cannot use them.
        recipes: Whether the seat knows recipes, which say what is served on a dish.
    """
    delivered = (f"Delivered: {scene['delivered']}", GOOD if scene["delivered"] else INK)
    limit = scene.get("limit")
    title = f"Timestep {scene['timestep']}" + (f" of {limit}" if limit else "")
    time = clock(title, [delivered], scene["timestep"], limit)
    cards = (time, *_agent_cards(kitchen, scene), *_order_cards(kitchen, list(scene["orders"]), recipes))
    lines = 2.5 + 3.5 * len(kitchen.agents) + 2.5 * NAMED_ORDERS
    counts = Counter(map(_item_text, scene["counters"]))
    lying = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
    return Drawing(
        (_board(kitchen, scene, hidden), PanelColumn(cards, ORDERS_CHARS, lines)),
        notes=tuple(_utensil_note(*item) for item in scene["utensils"].items()),
        note_width=28,
        remark=("On counters:", lying or "nothing"),
        listing=tuple(f"[{i}] {_item_text(counter)}" for i, counter in enumerate(scene["counters"], start=1)),
    )
