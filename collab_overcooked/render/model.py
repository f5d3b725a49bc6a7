"""The scene model: what a picture shows, before anything is drawn.

A game turns a scene into a ``Sheet``; ``rgb`` and ``ansi`` draw sheets of every game. All parts are frozen, so that
what did not change since the last frame is found in the renderer's caches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PAPER, INK, GREY, FAINT, SHADE = "#fbf8f2", "#2b2a28", "#77726a", "#ddd6c8", "#8f877a"
FLOOR, FLOOR_DARK = "#e9e3d6", "#e0d9c9"
FLOORS = ("floor_dark", "floor")  # sprites of a chequered floor
GOOD, WORKING, FILLING, BAD = "#2f9c4a", "#e08a1e", "#5b8fc7", "#cc3a2f"
SEATS = ("#2f6fb5", "#d1622b", "#2f9c6e", "#b0528f", "#8a6d1f", "#5c5fc4", "#b33a3a", "#4d7f8c")
ARROWS = {"north": "^", "south": "v", "east": ">", "west": "<", "": ""}

Point = tuple[float, float]


@dataclass(frozen=True)
class Icon:
    """An item.

    Attributes:
        sprite: Name in ``sprites.yaml``; empty draws the first food raw.
        foods: Names in ``sprites.yaml`` that give the colours; unknown names get colours derived from their letters.
        finish: ``""``, ``"boiled"`` or ``"baked"``: a tint and a mark in the corner.
        plated: Whether a plate lies under it.
        garnish: Whether the foods are drawn small in front of it.
        faded: Whether it is drawn half transparent, as something that is still missing.
        text: How the text picture writes it; empty where words stand beside it anyway.
    """

    sprite: str = ""
    foods: tuple[str, ...] = ()
    finish: str = ""
    plated: bool = False
    garnish: bool = False
    faded: bool = False
    text: str = ""


@dataclass(frozen=True)
class Cook:
    """An agent.

    Attributes:
        seat: Index of the agent; decides the colour.
        letter: Written on the coat, and in the text picture.
        facing: ``"north"``, ``"south"``, ``"east"``, ``"west"``, or empty for a portrait without a pointer.
        chef: A tall hat instead of a cap.
        held: What it holds.
        mark: Stands for what it holds in the text picture.
    """

    seat: int
    letter: str
    facing: str = ""
    chef: bool = True
    held: Icon | None = None
    mark: str = ""

    @property
    def text(self) -> str:
        """How the text picture writes the agent."""
        return self.letter + ARROWS[self.facing] + self.mark


@dataclass(frozen=True)
class Progress:
    """How far something is: steps done of a whole, and words about it."""

    done: int
    whole: int
    words: str


@dataclass(frozen=True)
class Cell:
    """A tile of the board.

    Attributes:
        sprite: Name in ``sprites.yaml`` of floor, counter or station; unknown names are drawn as an appliance.
        text: How the text picture writes the cell; empty if the board has no grid.
        items: What lies there.
        back: Sprite drawn under the items.
        front: Sprite drawn over the items.
        labels: Names for the bottom of the cell, the preferred one first; the first that fits is written.
        caption: Name written below the cell.
        ready: Whether a mark says that the item is ready.
        progress: A bar at the bottom, in place of a label.
        targets: Words under which actions name the place, so that a page offers these actions where it is clicked.
        walkable: Whether agents can stand there.
    """

    sprite: str
    text: str = ""
    items: tuple[Icon, ...] = ()
    back: str = ""
    front: str = ""
    labels: tuple[str, ...] = ()
    caption: str = ""
    ready: bool = False
    progress: Progress | None = None
    targets: tuple[str, ...] = ()
    walkable: bool = False


@dataclass(frozen=True)
class Text:
    """Words in a line; ``width`` is the least width in font sizes, which aligns what follows."""

    words: str
    colour: str = INK
    bold: bool = False
    width: float = 0


@dataclass(frozen=True)
class Dot:
    """A coloured dot in a line."""

    colour: str
    text: str = ""


@dataclass(frozen=True)
class Bar:
    """A line that is a bar of which a share is filled."""

    share: float
    colour: str = SHADE


@dataclass(frozen=True)
class Mark:
    """A small sign in a line: ``"ready"`` or ``"spoilt"``."""

    sprite: str
    text: str = ""


Span = Text | Dot | Mark | Icon


@dataclass(frozen=True)
class Line:
    """A line of words and icons, some of them at the right end; tall lines have larger icons."""

    left: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    tall: bool = False


TALL = 1.6  # heights of a line that a tall one takes
CARD_GAP = 0.45  # heights of a line between cards


@dataclass(frozen=True)
class Card:
    """Lines beside an icon.

    Attributes:
        lines: From top to bottom.
        icon: Drawn at the left, empty for none.
        size: Height of the icon in lines; as high as all lines if 0.
        rule: Whether a thin line stands above it.
        kind: ``"clock"``, ``"agent"``, ``"order"``, ``"station"``, ``"goal"`` or empty: where pages put it.
    """

    lines: tuple[Line | Bar, ...]
    icon: Icon | Cook | None = None
    size: float = 0
    rule: bool = False
    kind: str = ""

    @property
    def height(self) -> float:
        """Height in lines, with the gap below."""
        return max(lines_height(self.lines), self.size if self.icon else 0) + CARD_GAP


def lines_height(lines: Sequence[Line | Bar]) -> float:
    """Return the height of lines, in lines."""
    return sum(TALL if isinstance(line, Line) and line.tall else 1 for line in lines)


@dataclass(frozen=True)
class Link:
    """A line between two places of a board, below its cells.

    Attributes:
        start: In tiles.
        end: In tiles.
        colour: Of the line.
        arrow: Whether it leads to its end only.
        crossed: Whether a bar lies across its middle.
    """

    start: Point
    end: Point
    colour: str = SHADE
    arrow: bool = False
    crossed: bool = False


@dataclass(frozen=True)
class Board:
    """The kitchen from above. Places are upper left corners in tiles.

    Attributes:
        size: Width and height in tiles.
        cells: Place and cell.
        cooks: Place and agent.
        cook_size: Size of an agent in tiles.
        patches: Darker rectangles of floor: place, width and height.
        ground: Colour of what no cell covers.
        links: Drawn below the cells.
    """

    size: Point
    cells: tuple[tuple[Point, Cell], ...]
    cooks: tuple[tuple[Point, Cook], ...]
    cook_size: float = 1
    patches: tuple[tuple[float, float, float, float], ...] = ()
    ground: str = PAPER
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class PanelColumn:
    """Cards from top to bottom.

    Attributes:
        cards: What changes from frame to frame included.
        width: In font sizes.
        lines: Height to keep free in lines, the same for every frame.
        ground: Colour behind the cards.
    """

    cards: tuple[Card, ...]
    width: float
    lines: float
    ground: str = PAPER


@dataclass(frozen=True)
class Sheet:
    """A whole picture: boards and columns side by side, notes below.

    Attributes:
        parts: From left to right.
        notes: Lines below, in as many columns as fit; always the same number of them.
        note_width: Width of a note in font sizes.
        remark: Heading and words of up to two lines below the notes; None takes no room.
        listing: Lines that only the text picture has.
        tile: Pixels of a tile unless another size is asked for; half of it is the least.
        font: Font size in tiles.
    """

    parts: tuple[Board | PanelColumn, ...]
    notes: tuple[Line, ...] = ()
    note_width: float = 26
    remark: tuple[str, str] | None = None
    listing: tuple[str, ...] = ()
    tile: int = 48
    font: float = 0.25


def initials(names: Sequence[str]) -> list[str]:
    """Return a letter for each agent: its name's first if no other agent shares it, else its number."""
    letters = [name[:1].upper() for name in names]
    return [c if letters.count(c) == 1 and c.isascii() else str(seat) for seat, c in enumerate(letters)]


def seat_colour(seat: int) -> str:
    """Return the colour of an agent; further agents than listed get darker ones."""
    return mix(SEATS[seat % len(SEATS)], "#000000", 0.35 * min(2, seat // len(SEATS)))


def mix(one: str, other: str, share: float) -> str:
    """Return a colour with a share of another in it."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def share_of(part: float, whole: float) -> float:
    """Return a part's share of a whole, between 0 and 1."""
    return min(1.0, max(0.0, part / max(1, whole)))


def clock(words: str, counts: Sequence[tuple[str, str]], used: float, whole: float | None, above: str = "") -> Card:
    """Return the card of the time: words, counts with their colours, and a bar of the time used if the end is told."""
    right = tuple(Text(count, colour, bold=True) for count, colour in counts)
    title = (Line((Text(above, GREY),)),) if above else ()
    bar = () if whole is None else (Bar(share_of(used, whole)),)
    return Card((*title, Line((Text(words, bold=True),), right), *bar), kind="clock")


def agent_card(cook: Cook, name: str, state: str, *more: tuple[Span, ...]) -> Card:
    """Return the card of an agent: portrait, name and state, then further lines."""
    portrait = Cook(cook.seat, cook.letter, chef=cook.chef)
    title = Line((Text(name, seat_colour(cook.seat), bold=True), Text(state, GREY)))
    return Card((title, *(Line(spans) for spans in more)), portrait, kind="agent")


def held_spans(icon: Icon | None, words: str) -> tuple[Span, ...]:
    """Return the spans that say what an agent holds."""
    return Text("holds", GREY), *((icon,) if icon else ()), Text(words)
