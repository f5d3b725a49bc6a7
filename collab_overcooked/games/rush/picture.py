"""The scene model of a round: what a picture shows of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.rush.spec import Recipe, Scenario
from collab_overcooked.render.model import (
    BAD,
    FAINT,
    FLOOR,
    FLOOR_DARK,
    GOOD,
    GREY,
    INK,
    PAPER,
    WORKING,
    Card,
    Column,
    Cook,
    Dot,
    Icon,
    Line,
    Mark,
    Sheet,
    Span,
    Text,
    clock,
    initials,
    seat_colour,
)

GOODS_IN_LINE = 3  # of an area's stock
SHOWN_SPACES = 5  # action spaces, or workers, that are drawn one by one; more are only counted
SHOWN_FLAMES = 8  # times of cooking that are drawn one by one; more are only counted
AREA, PANEL = 21, 31  # widths, font sizes; the panel grows with the longest recipe
SPRITES = {"pantry": "ingredients"}  # of areas that have another name

Scene = Mapping[str, Any]


def good_icon(name: str, is_spice: bool, missing: bool = False, text: str = "") -> Icon:
    """Return what an ingredient or a spice looks like."""
    if is_spice:
        return Icon("jar", (f"{name}_spice",), faded=missing, text=text or name)
    return Icon(foods=(name,), faded=missing, text=text or name)


# ------------------------------------------------------------------------------------------- areas


def area_card(area: Mapping[str, Any]) -> Card:
    """Return an area: free and taken action spaces, then what is in stock."""
    free, whole = area["spaces"], area["spaces_per_turn"]
    title = Line((Text(f"{area['kind']} {area['id']}", bold=True),))
    dots = tuple(Dot(GOOD if k < free else FAINT) for k in range(whole if whole <= SHOWN_SPACES else 0))
    spaces = Line((*dots, Text(f"{free} of {whole} free", INK if free else BAD)))
    goods = list(area["stock"].items())
    rows = [goods[k : k + GOODS_IN_LINE] for k in range(0, len(goods), GOODS_IN_LINE)]
    lines = [
        Line(tuple(span for name, count in row for span in _stock(name, count, area["kind"])), tall=True)
        for row in rows
    ]
    return Card((title, spaces, *lines), Icon(SPRITES.get(area["kind"], area["kind"])), size=4)


def _stock(name: str, count: int, kind: str) -> tuple[Span, ...]:
    number = Text(str(count), INK if count else BAD, bold=True, width=1.8)
    return good_icon(name, kind == "spicebag", not count), number


def _area_columns(scenario: Scenario, scene: Scene) -> list[Column]:
    """Return the areas in two columns, as high as those of the scenario's largest episode."""
    cards = [area_card(area) for area in scene["areas"]]
    shelf = max(len(scenario.ingredients), len(scenario.spices))
    highest = area_card({**scene["areas"][0], "stock": {str(k): 1 for k in range(shelf)}}).height
    most = max(len(episode.areas) for episode in scenario.episodes)
    lines = -(-most // 2) * highest
    return [Column(tuple(cards[k::2]), AREA, lines, (FLOOR, FLOOR_DARK)[k]) for k in range(2)]


# ------------------------------------------------------------------------------------------- the panel


def _turn_words(scene: Scene) -> str:
    turns = scene["turn"] + scene["turns_left"]
    used = scene["turn"] + (scene["worker"] > 0)
    return f"over in turn {used}" if scene["over"] else f"turn {scene['turn'] + 1} of {turns}"


def _clock(scenario: Scenario, scene: Scene) -> Card:
    """Return episode, turn and counts, with a bar of the time used."""
    counts = [(name, sum(order[name] for order in scene["orders"])) for name in ("finished", "ruined")]
    coloured = [
        (f"{name} {count}", GREY if not count else GOOD if name == "finished" else BAD) for name, count in counts
    ]
    episode = f"{scene['scenario']}, episode {scene['episode'] + 1} of {len(scenario.episodes)}"
    return clock(_turn_words(scene), coloured, scene["slot"], scene["limit"], above=episode)


def _seat_card(scene: Scene, seat: int, name: str, letter: str) -> Card:
    """Return an agent with its workers: done in this turn, acting now, and still to come."""
    done, workers = scene["worker"] + (seat < scene["seat"]), scene["workers"]
    acting = not scene["over"] and done < workers
    colours = [
        FAINT if worker < done or scene["over"] else WORKING if worker == done else PAPER for worker in range(workers)
    ]
    dots = tuple(Dot(colour) for colour in colours) if workers <= SHOWN_SPACES else ()
    words = f"worker {done}" if acting else "done in this turn"
    line = Line((Text(name, seat_colour(seat), bold=True), *dots, Text(words, GREY)))
    return Card((line,), Cook(seat, letter), size=1.7)


def order_card(recipe: Recipe, order: Mapping[str, Any]) -> Card:
    """Return an order: its name and state, then goods and cooks, faint where they are still missing."""
    right: tuple[Span, ...] = ()
    if order["finished"]:
        right = Text("finished", GOOD), Mark("ready")
    elif order["ruined"]:
        right = Text("ruined", BAD), Mark("spoilt")
    title = Line((Text(order["name"], GREY if right else INK, bold=True),), right)
    return Card((title, Line(tuple(_recipe_spans(recipe, order)), tall=True)), rule=True)


def _recipe_spans(recipe: Recipe, order: Mapping[str, Any]) -> list[Span]:
    """Return what a recipe needs; the text picture writes in capitals what is there."""
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
    spans += [Icon("baked", faded=k >= cooked) for k in range(needed if needed <= SHOWN_FLAMES else 0)]
    words = f"cooked {cooked}/{needed}"
    return [*spans, Text(words, BAD if cooked > needed else GREY)]


def _recipe_width(recipe: Recipe) -> float:
    """Return about how many font sizes a recipe's line takes: goods with counts, flames, marks and words."""
    flames = recipe.cook_time if recipe.cook_time <= SHOWN_FLAMES else 0
    return 3.8 * (len(recipe.ingredients) + len(recipe.spices)) + 2.6 * flames + 11


def picture(scenario: Scenario, scene: Scene, names: Sequence[str]) -> Sheet:
    """Return the scene model of a moment."""
    recipes, letters = scenario.episodes[scene["episode"]].recipes, initials(names)
    seats = [_seat_card(scene, seat, names[seat], letters[seat]) for seat in range(scene["agents"])]
    orders = [order_card(recipes[order["name"]], order) for order in scene["orders"]]
    most = max(len(episode.orders) for episode in scenario.episodes)
    lines = 3.5 + 2.2 * len(seats) + most * 3.1
    width = max(PANEL, *(_recipe_width(recipe) for each in scenario.episodes for recipe in each.recipes.values()))
    panel = Column((_clock(scenario, scene), *seats, *orders), width, lines)
    return Sheet((*_area_columns(scenario, scene), panel), tile=64, font=0.19)
