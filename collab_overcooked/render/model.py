"""Scene model: content of a picture, independent of the renderer.

A game converts a scene to a ``Drawing``; ``rgb`` and ``ansi`` render the drawings of all games. All parts are frozen,
so that unchanged parts of the last frame are found in the renderers' caches.
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
    """An item."""

    sprite: str = ""  # Name in ``sprites.yaml``; empty draws the first food raw
    # Names in ``sprites.yaml`` that determine the colours; colours of unknown ones derive from their letters
    foods: tuple[str, ...] = ()
    finish: str = ""  # ``""``, ``"boiled"`` or ``"baked"``: a tint and a mark in the corner
    plated: bool = False  # Whether it is drawn on a plate
    garnish: bool = False  # Whether the foods are drawn small in front of it
    faded: bool = False  # Whether it is drawn semi-transparent, as a missing item
    text: str = ""  # Text in the text picture; empty if there is text beside it


@dataclass(frozen=True)
class Cook:
    """An agent."""

    seat: int  # Index of the agent; determines the colour
    letter: str  # Letter on the coat and in the text picture
    facing: str = ""  # ``"north"``, ``"south"``, ``"east"``, ``"west"``, or empty for a portrait without a pointer
    chef: bool = True  # A tall hat instead of a cap
    held: Icon | None = None  # Held item
    mark: str = ""  # Text of the held item in the text picture

    @property
    def text(self) -> str:
        """Text of the agent in the text picture."""
        return self.letter + ARROWS[self.facing] + self.mark


@dataclass(frozen=True)
class Progress:
    """Progress of a task: completed steps, total steps, and a text."""

    done: int
    total: int
    text: str


@dataclass(frozen=True)
class BoardCell:
    """A tile of the board."""

    sprite: str  # Name in ``sprites.yaml`` of floor, counter or station; unknown names are drawn as an appliance
    text: str = ""  # Text in the text picture; empty if the board has no grid
    items: tuple[Icon, ...] = ()  # Items in the cell
    back: str = ""  # Sprite drawn under the items
    front: str = ""  # Sprite drawn over the items
    tags: tuple[str, ...] = ()  # Short names of the items, in their order, drawn on them
    # Names for the bottom of the cell in order of preference; the first that fits is drawn
    labels: tuple[str, ...] = ()
    caption: str = ""  # Name below the cell
    quiet: bool = False  # Whether pages show the caption only on demand, as the sprite says what it is
    ready: bool = False  # Whether a mark shows that the item is ready
    progress: Progress | None = None  # Bar at the bottom, instead of a label
    # Names of the place in actions, so that a page offers these actions when the cell is clicked
    targets: tuple[str, ...] = ()
    walkable: bool = False  # Whether agents can stand there

    @property
    def names(self) -> set[str]:
        """Names of the place, its targets and its items for the patterns of tutorials; ``"item"`` if there is any."""
        foods = [name for icon in self.items for name in (icon.sprite, *icon.foods, "item")]
        return {self.front or self.sprite, *self.targets, *foods}


@dataclass(frozen=True)
class Text:
    """Text in a line; ``width`` is its minimum width in font sizes, to align the spans after it."""

    text: str
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
    """A line with a bar that is filled by a share."""

    share: float
    colour: str = SHADE


@dataclass(frozen=True)
class Mark:
    """A small sign in a line: ``"ready"`` or ``"spoilt"``."""

    sprite: str
    text: str = ""


Span = Text | Dot | Mark | Icon


@dataclass(frozen=True)
class TextLine:
    """A line of texts and icons, some of them right-aligned; tall lines have larger icons."""

    left: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    tall: bool = False


TALL = 1.6  # heights of a line that a tall one takes
CARD_GAP = 0.45  # heights of a line between cards


@dataclass(frozen=True)
class Card:
    """Lines beside an icon."""

    lines: tuple[TextLine | Bar, ...]  # From top to bottom
    icon: Icon | Cook | None = None  # Icon at the left, None for none
    size: float = 0  # Height of the icon in lines; 0 for the height of all lines
    rule: bool = False  # Whether a thin line is drawn above it
    # ``"clock"``, ``"agent"``, ``"order"``, ``"station"``, ``"goal"`` or empty: its position on pages; ``"heading"`` is
    # left out there
    kind: str = ""

    @property
    def height(self) -> float:
        """Height in lines, with the gap below."""
        return max(lines_height(self.lines), self.size if self.icon else 0) + CARD_GAP


def lines_height(lines: Sequence[TextLine | Bar]) -> float:
    """Return the height of lines, in lines."""
    return sum(TALL if isinstance(line, TextLine) and line.tall else 1 for line in lines)


@dataclass(frozen=True)
class Link:
    """A line between two places of a board, below its cells."""

    start: Point  # Start in tiles
    end: Point  # End in tiles
    colour: str = SHADE  # Colour of the line
    arrow: bool = False  # Whether it leads only to its end
    crossed: bool = False  # Whether a bar is drawn across its middle


@dataclass(frozen=True)
class Overview:
    """A small map of a board, for screens that show only a part of it; places and lengths are in tiles of the board."""

    areas: tuple[tuple[float, float, float, float, str, str], ...]  # Place, width, height, colour and name of each
    marks: tuple[tuple[Point, Icon | str], ...] = ()  # Place of an item or of a named sprite; agents are added


@dataclass(frozen=True)
class Board:
    """Board from above. Places are upper left corners in tiles."""

    size: Point  # Width and height in tiles
    cells: tuple[tuple[Point, BoardCell], ...]  # Place and cell
    cooks: tuple[tuple[Point, Cook], ...]  # Place and agent
    cook_size: float = 1  # Size of an agent in tiles
    patches: tuple[tuple[float, float, float, float], ...] = ()  # Darker rectangles of floor: place, width and height
    ground: str = PAPER  # Background colour
    links: tuple[Link, ...] = ()  # Links, drawn below the cells
    overview: Overview | None = None  # Map for pages


@dataclass(frozen=True)
class PanelColumn:
    """Cards from top to bottom."""

    cards: tuple[Card, ...]  # All cards, including those that change between frames
    width: float  # Width in font sizes
    lines: float  # Reserved height in lines, the same for every frame
    ground: str = PAPER  # Background colour of the cards


@dataclass(frozen=True)
class Drawing:
    """A complete picture: boards and columns side by side, notes below."""

    parts: tuple[Board | PanelColumn, ...]  # Boards and columns from left to right
    notes: tuple[TextLine, ...] = ()  # Lines below, in as many columns as fit; their number is constant
    note_width: float = 26  # Width of a note in font sizes
    remark: tuple[str, str] | None = None  # Heading and text of up to two lines below the notes; None takes no space
    listing: tuple[str, ...] = ()  # Lines for the text picture only
    tile: int = 48  # Default size of a tile in pixels; the minimum is half of it
    font: float = 0.25  # Font size in tiles


def initials(names: Sequence[str]) -> list[str]:
    """Return a label for each agent: the initial of its name if unique, otherwise its number."""
    letters = [name[:1].upper() for name in names]
    return [c if letters.count(c) == 1 and c.isascii() else str(seat) for seat, c in enumerate(letters)]


def seat_colour(seat: int) -> str:
    """Return the colour of an agent; agents beyond the list get darker ones."""
    return mix(SEATS[seat % len(SEATS)], "#000000", 0.35 * min(2, seat // len(SEATS)))


def mix(one: str, other: str, share: float) -> str:
    """Return a mix of two colours; ``share`` is the share of the second colour."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def share_of(part: float, total: float) -> float:
    """Return part / total, clipped to the range from 0 to 1."""
    return min(1.0, max(0.0, part / max(1, total)))


def clock(title: str, counts: Sequence[tuple[str, str]], used: float, total: float | None, above: str = "") -> Card:
    """Return the card of the time: title, counts with their colours, and a bar of the elapsed time if it is limited."""
    right = tuple(Text(count, colour, bold=True) for count, colour in counts)
    heading = (TextLine((Text(above, GREY),)),) if above else ()
    bar = () if total is None else (Bar(share_of(used, total)),)
    return Card((*heading, TextLine((Text(title, bold=True),), right), *bar), kind="clock")


def agent_card(cook: Cook, name: str, state: str, *more: tuple[Span, ...]) -> Card:
    """Return the card of an agent: portrait, name and state, then more lines."""
    portrait = Cook(cook.seat, cook.letter, chef=cook.chef)
    title = TextLine((Text(name, seat_colour(cook.seat), bold=True), Text(state, GREY)))
    return Card((title, *(TextLine(spans) for spans in more)), portrait, kind="agent")


def held_spans(icon: Icon | None, text: str) -> tuple[Span, ...]:
    """Return the spans about the item held by an agent."""
    return Text("holds", GREY), *((icon,) if icon else ()), Text(text)
