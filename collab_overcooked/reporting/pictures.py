"""Pictures for pages: a seat's drawing as JSON, sprites as SVG, and changes between frames.

A picture is a flat mapping of keys to JSON values: ``board``, ``map`` for its overview, ``c:X,Y`` for a cell,
``a:SEAT`` for an agent, ``k:COLUMN:ROW`` for a card, ``n:ROW`` for a note, ``r`` for the remark, and ``s:NAME`` for a
sprite. A page keeps the mapping and is sent differences, so that a frame of a walking agent takes some hundred bytes. A
sprite travels in the frame that first shows it, hence no picture is ever drawn with one missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.render.model import (
    Bar,
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
    Span,
    Text,
    TextLine,
    initials,
)
from collab_overcooked.render.svg import cook_svg, icon_svg, mark_svg, station_svg
from collab_overcooked.reporting.naming import page_names, renaming

Picture = dict[str, Any]
SPRITE = "s:"
WALL, WALL_SHOWN = "wall", 0.25  # sprite of walls, and how much of those around a board is shown, in tiles


@lru_cache(maxsize=4096)
def sprite_of(part: Icon | Cook | str, sign: bool = False) -> tuple[str, str]:
    """Return the name of a sprite, which depends on its markup alone, and the markup.

    Args:
        part: An item, an agent with empty hands, or the name of a station.
        sign: Whether a name is that of a sign such as ``"ready"`` instead.
    """
    if isinstance(part, Icon):
        markup = icon_svg(part)
    elif isinstance(part, Cook):
        markup = cook_svg(part)
    else:
        markup = mark_svg(part) if sign else station_svg(part)
    return hashlib.sha256(markup.encode()).hexdigest()[:10], markup


class BoardDiff:
    """Collects a picture and the sprites that it needs."""

    def __init__(self, game: Any) -> None:
        self._rename, self._letters = renaming(game), initials(page_names(game))
        self._translated = plain(game) is not game
        self.picture: Picture = {}

    def sprite(self, part: Icon | Cook | str, sign: bool = False) -> str:
        """Add a sprite; returns its name."""
        name, markup = sprite_of(part, sign)
        self.picture[SPRITE + name] = markup
        return name

    def icon(self, icon: Icon) -> str:
        """Add an item, whatever the text picture calls it."""
        return self.sprite(replace(icon, text="") if icon.text else icon)

    def add(self, drawing: Drawing) -> None:
        """Add all parts of a drawing."""
        for part_number, part in enumerate(drawing.parts):
            if isinstance(part, Board):
                self._board(part)
            else:
                self._column(part_number, part)
        for row, note in enumerate(drawing.notes):
            self.picture[f"n:{row}"] = self._line(note)
        if drawing.remark:
            self.picture["r"] = list(map(self._rename, drawing.remark))

    def _board(self, board: Board) -> None:
        left, top, *size = _frame(board)

        def shifted(at: Point) -> Point:
            return at[0] - left, at[1] - top

        self.picture["board"] = {
            "size": size,
            "ground": board.ground,
            "strange": self._translated,
            "cook": board.cook_size,
            "patches": [[x - left, y - top, *sides] for x, y, *sides in board.patches],
            "links": [
                [*shifted(link.start), *shifted(link.end), link.colour, link.arrow, link.crossed]
                for link in board.links
            ],
        }
        if board.overview:
            self.picture["map"] = {
                "areas": [[*shifted((x, y)), *rest] for x, y, *rest in board.overview.areas],
                "marks": [[*shifted(at), self._mark(part)] for at, part in board.overview.marks],
            }
        for x, y, cell in ((*shifted(at), cell) for at, cell in board.cells):
            self.picture[f"c:{x:g},{y:g}"] = self._cell(x, y, cell)
        for x, y, cook in ((*shifted(at), cook) for at, cook in board.cooks):
            self.picture[f"a:{cook.seat}"] = {"x": x, "y": y, **self._cook(cook)}

    def _cook(self, cook: Cook) -> dict[str, Any]:
        bare = Cook(cook.seat, self._letters[cook.seat], cook.facing, cook.chef)
        drawn = {"s": self.sprite(bare), "f": cook.facing}
        return drawn | ({"h": self.icon(cook.held)} if cook.held else {})

    def _mark(self, part: Icon | str) -> str:
        return self.icon(part) if isinstance(part, Icon) else self.sprite(part)

    def _cell(self, x: float, y: float, cell: BoardCell) -> dict[str, Any]:
        drawn: dict[str, Any] = {"x": x, "y": y, "s": self.sprite(cell.sprite)}
        if cell.items:
            drawn["i"] = [self.icon(icon) for icon in cell.items]
        if cell.back:
            drawn["b"] = self.sprite(cell.back)
        if cell.front:
            drawn["f"] = self.sprite(cell.front)
        if cell.labels:
            drawn["l"] = list(cell.labels)
        if cell.caption:
            drawn["n"] = cell.caption
        if cell.ready:
            drawn["r"] = self.sprite("ready", sign=True)
        if cell.progress:
            drawn["p"] = [cell.progress.done, cell.progress.total, cell.progress.text]
        if cell.targets:
            drawn["t"] = list(cell.targets)
        flags = {"q": cell.quiet, "w": cell.walkable}
        return drawn | {key: 1 for key, on in flags.items() if on}

    def _column(self, number: int, column: PanelColumn) -> None:
        for row, card in enumerate(column.cards):
            self.picture[f"k:{number}:{row}"] = self._card(card)

    def _card(self, card: Card) -> dict[str, Any]:
        drawn: dict[str, Any] = {"l": [self._line(line) for line in card.lines]}
        if card.kind:
            drawn["k"] = card.kind
        if isinstance(card.icon, Cook):
            drawn |= {**self._cook(card.icon), "a": card.icon.seat}
        elif card.icon:
            drawn["s"] = self.icon(card.icon)
        return drawn

    def _line(self, line: TextLine | Bar) -> dict[str, Any]:
        if isinstance(line, Bar):
            return {"b": round(line.share, 3), "c": line.colour}
        right = {"r": [self._span(span) for span in line.right]} if line.right else {}
        return {"l": [self._span(span) for span in line.left], **right}

    def _span(self, span: Span) -> list[Any]:
        if isinstance(span, Text):
            return ["t", self._rename(span.text), span.colour, int(span.bold)]
        if isinstance(span, Dot):
            return ["d", span.colour]
        return ["s", self.sprite(span.sprite, sign=True) if isinstance(span, Mark) else self.icon(span)]


def _frame(board: Board) -> tuple[float, float, float, float]:
    """Return left, top, width and height of a board on pages, cropped of most outer walls."""
    spots = [spot for spot, cell in board.cells if cell.sprite != WALL]
    if not spots or len(spots) == len(board.cells):
        return 0, 0, *board.size
    (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*spots, strict=True))
    return left - WALL_SHOWN, top - WALL_SHOWN, right - left + 1 + 2 * WALL_SHOWN, bottom - top + 1 + 2 * WALL_SHOWN


def picture_of(game: Any, scene: dict[str, Any], seat: int | None) -> Picture:
    """Return the picture of a scene, fit for JSON.

    Args:
        game: Compiled game.
        scene: Scene as known to the seat, or the whole scene.
        seat: Index of the agent; None for all.
    """
    diff = BoardDiff(game)
    diff.add(game.drawing(scene, seat))
    return diff.picture


def places_of(game: Any, scene: dict[str, Any], seat: int, pattern: str) -> list[str]:
    """Return the keys of cells in a seat's picture with a name that matches a regular expression."""
    known = re.compile(pattern).fullmatch
    boards = [part for part in plain(game).drawing(scene, seat).parts if isinstance(part, Board)]
    frames = [(board, *_frame(board)[:2]) for board in boards]
    return [
        f"c:{x - left:g},{y - top:g}"
        for board, left, top in frames
        for (x, y), cell in board.cells
        if any(map(known, cell.names))
    ]


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the change from one picture to another: values to ``put``, keys to ``drop``; sprites are never dropped."""
    put = {key: value for key, value in after.items() if key not in before or before[key] != value}
    gone = [key for key in before if key not in after and not key.startswith(SPRITE)]
    return {"put": put, **({"drop": gone} if gone else {})}


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two successive differences into one."""
    put = {key: value for key, value in first["put"].items() if key not in second.get("drop", ())} | second["put"]
    gone = [key for key in (*first.get("drop", ()), *second.get("drop", ())) if key not in second["put"]]
    return {"put": put, **({"drop": list(dict.fromkeys(gone))} if gone else {})}
