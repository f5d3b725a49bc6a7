"""Build the picture of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.render.model import (
    BAD,
    FAINT,
    FLOOR,
    GOOD,
    GREY,
    INK,
    PAPER,
    WORKING,
    Board,
    BoardCell,
    Card,
    Cook,
    Dot,
    Drawing,
    Icon,
    Mark,
    PanelColumn,
    Point,
    Progress,
    Span,
    Text,
    TextLine,
    clock,
    initials,
    seat_colour,
)

from ..engine.spec import Recipe, Scenario

STOVE = "stove"  # kind of areas without a stock
GOODS_IN_LINE = 6  # goods per row of an area's stock
LEFT, TOP = 0, 0.15  # tiles beside and above the areas
MIN_WIDTH = 6.4  # tiles
CAPTION = 0.4  # tiles below an area, for the name of its station
COOK = 1.2  # tiles
SHOWN_SPACES = 5  # limit of action spaces, or workers, drawn one by one; more are only counted
PANEL = 31  # minimum width, in font sizes; it grows with the longest recipe
SPRITES = {"pantry": "ingredients"}  # of areas that have another name

Scene = Mapping[str, Any]


def good_icon(name: str, is_spice: bool, missing: bool = False, text: str = "") -> Icon:
    """Return the icon of an ingredient or a spice."""
    if is_spice:
        return Icon("jar", (f"{name}_spice",), faded=missing, text=text or name)
    return Icon(foods=(name,), faded=missing, text=text or name)


def area_size(scenario: Scenario, kind: str) -> tuple[int, int]:
    """Return the columns and rows of tiles of an area: its station, and its stock beside it."""
    if kind == STOVE:
        return 2, 1  # room for a name
    shelf = max(len(scenario.ingredients), len(scenario.spices))
    return 1 + min(GOODS_IN_LINE, shelf), max(1, -(-shelf // GOODS_IN_LINE))


def area_corners(scenario: Scenario, kinds: Sequence[str]) -> list[Point]:
    """Return the upper left corners of areas: those with a stock one below the other, then stoves side by side."""
    width = _width(scenario)
    corners: list[Point] = []
    x, y = LEFT, TOP
    for kind in kinds:
        wide, high = area_size(scenario, kind)
        if x > LEFT and x + wide > width:
            x, y = LEFT, y + 1 + CAPTION
        corners.append((x, round(y, 2)))
        if kind == STOVE:
            x += wide
        else:
            y += high + CAPTION
    return corners


def _width(scenario: Scenario) -> float:
    return max(2 * LEFT + area_size(scenario, "pantry")[0], MIN_WIDTH)


def _bottom(scenario: Scenario, kinds: Sequence[str]) -> float:
    return max(y + area_size(scenario, kinds[k])[1] for k, (_, y) in enumerate(area_corners(scenario, kinds))) + CAPTION


def _beside(scenario: Scenario, agents: int) -> float | None:
    """Return the left edge of the cooks beside the last stoves, None where these leave too little room."""
    ends = set()
    for episode in scenario.episodes:
        kinds = [area.kind for area in episode.areas]
        x, y = area_corners(scenario, kinds)[-1]
        ends.add((x + area_size(scenario, kinds[-1])[0], y, kinds[-1] == STOVE))
    left = max(x for x, _, _ in ends)
    same = len({y for _, y, _ in ends}) == 1 and all(stove for _, _, stove in ends)
    return left if same and left + COOK * agents <= _width(scenario) else None


def _board(scenario: Scenario, scene: Scene, letters: Sequence[str]) -> Board:
    bottom = max(_bottom(scenario, [area.kind for area in episode.areas]) for episode in scenario.episodes)
    kinds = [area["kind"] for area in scene["areas"]]
    corners, sizes = area_corners(scenario, kinds), [area_size(scenario, kind) for kind in kinds]
    placed = list(zip(scene["areas"], corners, sizes, strict=True))
    cells = tuple(cell for area, at, size in placed for cell in _area_cells(area, at, size))
    width = _width(scenario)
    left = _beside(scenario, scene["agents"])
    top = bottom if left is None else bottom - CAPTION - COOK
    step = (width - (left or LEFT)) / max(1, scene["agents"])
    middles = [(left or LEFT) + (seat + 0.5) * step for seat in range(scene["agents"])]
    cooks = tuple(
        ((round(x - COOK / 2, 2), round(top, 2)), Cook(seat, letters[seat])) for seat, x in enumerate(middles)
    )
    patches = tuple(
        (x - 0.1, y - 0.05, wide + (0.2 if kind != STOVE else -0.4), high + 0.1)
        for kind, (x, y), (wide, high) in zip(kinds, corners, sizes, strict=True)
    )
    return Board((width, round(max(bottom, top + COOK + 0.05), 2)), cells, cooks, COOK, patches, FLOOR)


def _area_cells(area: Mapping[str, Any], at: Point, size: tuple[int, int]) -> list[tuple[Point, BoardCell]]:
    name, (left, top), (_, high) = area["name"], at, size
    free, total = area["spaces"], area["spaces_per_turn"]
    station = BoardCell(
        SPRITES.get(area["kind"], area["kind"]),
        caption=name,
        progress=Progress(free, total, f"{free} of {total} free"),
        targets=(name,),
    )
    last = round(top + high - 1, 2)  # nothing is beside the caption below the last row
    middle = 0.3 if area["kind"] == STOVE else 0
    cells = [((round(left + middle, 2), last), station)]
    for k, (good, count) in enumerate(area["stock"].items()):
        icon = good_icon(good, area["kind"] == "spicebag", not count, " ")
        place = round(left + 1 + k % GOODS_IN_LINE, 2), round(top + k // GOODS_IN_LINE, 2)
        cells.append(
            (place, BoardCell("counter", items=(icon,), labels=(f"{good} {count}", f"×{count}"), targets=(name,)))
        )
    return cells


def area_line(area: Mapping[str, Any]) -> str:
    """Return a line of text on an area."""
    goods = [f"{name} {count}" for name, count in area["stock"].items()]
    rows = [" ".join(goods[k : k + GOODS_IN_LINE]) for k in range(0, len(goods), GOODS_IN_LINE)]
    spaces = f"{area['spaces']} of {area['spaces_per_turn']} free"
    return "; ".join((area["name"], spaces, *rows))


def _turn_text(scene: Scene) -> str:
    turns = scene["turn"] + scene["turns_left"]
    used = scene["turn"] + (scene["worker"] > 0)
    return f"over in turn {used}" if scene["over"] else f"turn {scene['turn'] + 1} of {turns}"


def _clock(scenario: Scenario, scene: Scene) -> Card:
    counts = [(name, sum(order[name] for order in scene["orders"])) for name in ("finished", "ruined")]
    coloured = [
        (f"{name} {count}", GREY if not count else GOOD if name == "finished" else BAD) for name, count in counts
    ]
    episode = f"{scene['scenario']}, episode {scene['episode'] + 1} of {len(scenario.episodes)}"
    return clock(_turn_text(scene), coloured, scene["slot"], scene["limit"], above=episode)


def _seat_card(scene: Scene, seat: int, name: str, letter: str) -> Card:
    done, workers = scene["worker"] + (seat < scene["seat"]), scene["workers"]
    acting = not scene["over"] and done < workers
    colours = [FAINT if worker < done or scene["over"] else PAPER for worker in range(workers)]
    if acting:
        colours[done] = WORKING
    dots = tuple(Dot(colour) for colour in colours) if workers <= SHOWN_SPACES else ()
    status = f"worker {done + 1} of {workers}" if acting else "done in this turn"
    line = TextLine((Text(name, seat_colour(seat), bold=True), *dots, Text(status, GREY)))
    return Card((line,), Cook(seat, letter), size=1.7, kind="agent")


def order_card(recipe: Recipe, order: Mapping[str, Any]) -> Card:
    """Return the card of an order: its name and status, then goods and cooking, faint while missing."""
    right: tuple[Span, ...] = ()
    if order["finished"]:
        right = Text("finished", GOOD), Mark("ready")
    elif order["ruined"]:
        right = Text("ruined", BAD), Mark("spoilt")
    title = TextLine((Text(order["name"], GREY if right else INK, bold=True),), right)
    return Card((title, TextLine(tuple(_recipe_spans(recipe, order)), tall=True)), rule=True, kind="order")


def _recipe_spans(recipe: Recipe, order: Mapping[str, Any]) -> list[Span]:
    spans: list[Span] = []
    for key in ("ingredients", "spices"):
        goods, collected = getattr(recipe, key), order[key]
        for name, count in goods.items():
            text = name.upper() if collected else name
            spans += [
                good_icon(name, key == "spices", not collected, text),
                Text(str(count), INK if collected else GREY, width=0.9),
            ]
        if collected and goods:
            spans.append(Mark("ready"))
    cooked, needed = order["cooked"], recipe.cook_time
    status = f"cooked {cooked}/{needed}"
    return [*spans, Icon("baked", faded=cooked < needed), Text(status, BAD if cooked > needed else GREY)]


def _recipe_width(recipe: Recipe) -> float:
    return 3.8 * (len(recipe.ingredients) + len(recipe.spices)) + 14


def picture(scenario: Scenario, scene: Scene, names: Sequence[str]) -> Drawing:
    """Return the picture of a scene."""
    recipes, letters = scenario.episodes[scene["episode"]].recipes, initials(names)
    seats = [_seat_card(scene, seat, names[seat], letters[seat]) for seat in range(scene["agents"])]
    orders = [order_card(recipes[order["name"]], order) for order in scene["orders"]]
    most = max(len(episode.orders) for episode in scenario.episodes)
    lines = 3.5 + 2.2 * len(seats) + most * 3.1
    width = max(PANEL, *(_recipe_width(recipe) for episode in scenario.episodes for recipe in episode.recipes.values()))
    panel = PanelColumn((_clock(scenario, scene), *seats, *orders), width, lines)
    listing = tuple(map(area_line, scene["areas"]))
    return Drawing((_board(scenario, scene, letters), panel), listing=listing, tile=64, font=0.19)
