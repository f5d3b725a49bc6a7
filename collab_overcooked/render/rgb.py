"""RGB renderer of drawings, for all games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import hypot

import numpy as np
from PIL import Image, ImageDraw

from collab_overcooked.io.checks import parse_integer
from collab_overcooked.render.lettering import (
    fits_two_lines,
    load_font,
    plain_text,
    shorten_parts,
    text_image,
    text_width,
    wrap_text,
    write_line,
)
from collab_overcooked.render.model import (
    CARD_GAP,
    FAINT,
    FLOOR_DARK,
    GREY,
    INK,
    PAPER,
    TALL,
    Bar,
    Board,
    BoardCell,
    Card,
    Cook,
    Dot,
    Drawing,
    Link,
    Mark,
    PanelColumn,
    Progress,
    Span,
    Text,
    TextLine,
    lines_height,
)
from collab_overcooked.render.sprites import cook_image, icon_image, paint, station_image, strokes_of

LABELLED_TILE = 36  # minimum pixels of a cell with room for its name
SHOWN_ITEMS = 6  # maximum number of items drawn in a cell; further ones are counted
REMARK_LINES = 2
LIGHT = "#fffdf6"


@dataclass(frozen=True)
class Measures:
    """Text measures in pixels: font size, height of a line, margin."""

    tile: int
    text: int
    line: int
    pad: int


def measure(drawing: Drawing, tile: int) -> Measures:
    """Return the measures of a drawing for a tile size in pixels."""
    text = max(11, round(tile * drawing.font))
    return Measures(tile, text, round(text * 1.3), round(text * 0.6))


def draw_rgb(drawing: Drawing, tile_size: int | None = None) -> np.ndarray:
    """Render a drawing.

    Args:
        drawing: Drawing to render.
        tile_size: Pixels of a tile, at least half of the drawing's default; texts scale with it.

    Returns:
        uint8 (H, W, 3), the same H and W for drawings of equal measures.
    """
    tile = drawing.tile if tile_size is None else parse_integer("tile_size", tile_size, drawing.tile // 2, "pixels")
    m = measure(drawing, tile)
    boxes = part_boxes(drawing, m)
    width, body = boxes[-1][2], boxes[-1][3]
    strip = _strip_rows(drawing, width, m) * m.line + 2 * m.pad if drawing.notes or drawing.remark else 0
    image = Image.new("RGB", (width, body + strip), PAPER)
    pen = ImageDraw.Draw(image)
    for part, (left, top, right, bottom) in zip(drawing.parts, boxes, strict=True):
        pen.rectangle((left, top, right - 1, bottom - 1), fill=part.ground)
        if left:
            pen.line((left, top, left, bottom), fill=FAINT, width=2)
        if isinstance(part, Board):
            _draw_board(image, pen, part, left, bottom, m)
        else:
            _draw_column(image, part, left, right, m)
    if strip:
        pen.line((0, body, width, body), fill=FAINT, width=2)
        _draw_strip(image, drawing, width, body + m.pad, m)
    return np.asarray(image)


def part_boxes(drawing: Drawing, m: Measures) -> list[tuple[int, int, int, int]]:
    """Return left, top, right and bottom of the parts; all have the height of the highest one."""
    boxes, left = [], 0
    height = max(
        round(part.size[1] * m.tile) if isinstance(part, Board) else round(part.lines * m.line) + m.pad
        for part in drawing.parts
    )
    for part in drawing.parts:
        width = round(part.size[0] * m.tile if isinstance(part, Board) else part.width * m.text)
        boxes.append((left, 0, left + width, height))
        left += width
    return boxes


def _draw_board(
    image: Image.Image, pen: ImageDraw.ImageDraw, board: Board, shift: int, bottom: int, m: Measures
) -> None:
    for x, y, width, height in board.patches:
        left, top, end = (round(value * m.tile) for value in (x, y, y + height))
        end = bottom if y + height >= board.size[1] else end  # the last row extends to the bottom
        pen.rectangle((shift + left, top, shift + left + round(width * m.tile) - 1, end - 1), fill=FLOOR_DARK)
    for link in board.links:
        _draw_link(pen, link, shift, m.tile)
    for (x, y), cell in board.cells:
        left, top = shift + round(x * m.tile), round(y * m.tile)
        picture = cell_image(cell, m.tile)
        image.paste(picture, (left, top), picture)
        if cell.caption:
            label = label_image((cell.caption,), label_size(m.tile), round(1.6 * m.tile))
            image.paste(label, (left - round(0.3 * m.tile), top + m.tile + 2), label)
    size = round(board.cook_size * m.tile)
    for (x, y), cook in board.cooks:
        figure = cook_image(cook, size)
        image.paste(figure, (shift + round(x * m.tile), round(y * m.tile)), figure)


def _draw_link(pen: ImageDraw.ImageDraw, link: Link, shift: int, tile: int) -> None:
    (x, y), (end_x, end_y) = ((shift + px * tile, py * tile) for px, py in (link.start, link.end))
    length, width = hypot(end_x - x, end_y - y) or 1.0, max(2, round(0.06 * tile))
    pen.line((x, y, end_x, end_y), fill=link.colour, width=width)
    along = ((end_x - x) / length, (end_y - y) / length)
    middle = ((x + end_x) / 2, (y + end_y) / 2)
    across, size = (-along[1], along[0]), 0.12 * tile

    def point(forward: float, sideways: float) -> tuple[float, float]:
        return tuple(middle[k] + size * (forward * along[k] + sideways * across[k]) for k in (0, 1))  # type: ignore

    if link.arrow:
        pen.polygon((point(1.2, 0), point(-1, 1), point(-1, -1)), fill=link.colour)
    if link.crossed:
        pen.line((point(0, 1.5), point(0, -1.5)), fill=link.colour, width=2 * width)


@lru_cache(maxsize=1024)
def cell_image(cell: BoardCell, tile: int) -> Image.Image:
    """Return a cell with its items, RGBA (tile, tile); where its station leaves it free, the ground shows."""
    image = station_image(cell.sprite, tile).copy()
    if cell.back:
        image.alpha_composite(station_image(cell.back, tile))
    label = _cell_label(cell, tile)
    used = label.height if label else label_size(tile) + 5 if cell.progress else 0
    _draw_items(image, cell, tile, max(used, round(0.3 * tile) if cell.front else 0))
    if cell.front:
        image.alpha_composite(station_image(cell.front, tile))
    if label:
        image.alpha_composite(label, (1, tile - label.height))
    if cell.progress:
        _draw_progress(image, cell.progress, tile)
    if cell.ready:
        mark = _mark("ready", round(tile * 0.33))
        image.alpha_composite(mark, (tile - mark.width - 1, 1))
    return image


def _cell_label(cell: BoardCell, tile: int) -> Image.Image | None:
    if not cell.labels or tile < LABELLED_TILE:
        return None
    size, width = label_size(tile), tile - 2
    return label_image(short_label(cell.labels, size, width), size, width)


def short_label(labels: Sequence[str], size: int, width: int) -> tuple[str, ...]:
    """Return the first label that fits into two lines of ``width`` pixels, or the last one shortened to fit."""
    label_parts = [plain_text(label).split() or [label] for label in labels]
    fitting = next((parts for parts in label_parts if fits_two_lines(parts, size, width)), label_parts[-1])
    return shorten_parts(fitting, size, width)


def _draw_items(image: Image.Image, cell: BoardCell, tile: int, used: int) -> None:
    items = cell.items
    if not items:
        return
    visible = items if len(items) <= SHOWN_ITEMS else items[: SHOWN_ITEMS - 1]
    n = len(visible)
    largest = 0.74 if cell.ready or cell.sprite == "counter" else 0.6  # leaves the pot visible behind its content
    side = min(round(tile * largest), tile - used) if n == 1 else round(tile * min(0.5, 1.3 / n))
    step = min(side, (tile - 2 - side) / max(1, n - 1))
    left = (tile - side - step * (n - 1)) / 2
    top = max(0, (tile - max(used, 0.2 * tile * (n > 1)) - side) / 2)
    for i, icon in enumerate(visible):
        drop = 0.06 * tile * (1 if i % 2 else -1) if n > 2 else 0
        spot = round(left + i * step), max(0, round(top + drop))
        image.alpha_composite(icon_image(icon, side), spot)
        if tile >= LABELLED_TILE and i < len(cell.tags):
            size = label_size(tile)
            image.alpha_composite(label_image((cell.tags[i],), size, round(text_width(cell.tags[i], size)) + 4), spot)
    if n < len(items):
        count_image = text_image(f"+{len(items) - n}", label_size(tile) + 2, INK, bold=True)
        image.alpha_composite(count_image, (tile - count_image.width - 2, tile - count_image.height - 1))


def _draw_progress(image: Image.Image, progress: Progress, tile: int) -> None:
    size = label_size(tile)
    height = size + 3
    x, y = 2, tile - height - 2
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((x, y, tile - 3, y + height), radius=3, fill=LIGHT, outline=INK)
    share = max(0, progress.done) / max(1, progress.total)
    pen.rectangle((x + 1, y + 1, x + 1 + round((tile - 7) * share), y + height - 1), fill="#f3b24f")
    text = progress.text if tile >= LABELLED_TILE else progress.text.split()[0]
    line = text_image(text, size, INK)
    baseline = y + height - round(size * 0.16) - line.height + load_font(size).getmetrics()[1]
    image.alpha_composite(line, ((tile - line.width) // 2 + 1, min(baseline - 1, y + 1)))


def label_size(tile: int) -> int:
    """Return the font size of the names in cells of ``tile`` pixels."""
    return max(8, round(tile * 0.21))


@lru_cache(maxsize=1024)
def label_image(lines: tuple[str, ...], size: int, width: int) -> Image.Image:
    """Return lines on a light plate, centred, RGBA."""
    image = Image.new("RGBA", (width, size * len(lines) + 2))
    widest = max(text_width(line, size) for line in lines)
    left = max(0, (width - widest) / 2 - 2)
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((left, 0, width - 1 - left, image.height - 1), radius=3, fill=LIGHT + "dd")
    for i, line in enumerate(lines):
        x = (width - text_width(line, size)) / 2
        pen.text((x, 1 + i * size + 0.78 * size), line, fill=INK, font=load_font(size), anchor="ls")
    return image


@lru_cache(maxsize=64)
def _mark(name: str, size: int) -> Image.Image:
    return paint(strokes_of(name), size, {})


def _draw_column(image: Image.Image, column: PanelColumn, left: int, right: int, m: Measures) -> None:
    top = float(m.pad)
    for card in column.cards:
        picture = card_image(card, right - left - 2 * m.pad, column.ground, m)
        image.paste(picture, (left + m.pad, round(top)))
        top += card.height * m.line


@lru_cache(maxsize=512)
def card_image(card: Card, width: int, ground: str, m: Measures) -> Image.Image:
    """Return a card, RGB, ``width`` pixels wide."""
    image = Image.new("RGBA", (width, round(card.height * m.line)), ground)
    left = 0
    if card.rule:
        ImageDraw.Draw(image).line((0, 0, width, 0), fill=FAINT)
    y = 0.4 * CARD_GAP * m.line * card.rule
    if card.icon:
        side = round((card.size or lines_height(card.lines)) * m.line) - 2
        icon = cook_image(card.icon, side) if isinstance(card.icon, Cook) else icon_image(card.icon, side)
        image.alpha_composite(icon, (0, round(y)))
        left = side + m.pad
    for line in card.lines:
        if isinstance(line, Bar):
            _draw_bar(image, (left, round(y + 0.2 * m.line)), width - left - 1, line)
            y += m.line
        else:
            draw_line(image, line, (left, round(y)), width - left, m)
            y += m.line * (TALL if line.tall else 1)
    return image.convert("RGB")


def draw_line(image: Image.Image, line: TextLine, at: tuple[int, int], width: int, m: Measures) -> None:
    """Draw a line into ``width`` pixels: the right end first, the rest into the remaining space."""
    x, y = at
    right = sum(_span_width(span, line.tall, m) + m.text for span in line.right)
    end = x + width
    for span in reversed(line.right):
        end -= _span_width(span, line.tall, m)
        _draw_span(image, span, (end, y), width, line.tall, m)
        end -= m.text
    for span in line.left:
        x += _draw_span(image, span, (x, y), at[0] + width - right - x, line.tall, m) + round(0.35 * m.text)


def _span_width(span: Span, tall: bool, m: Measures) -> int:
    if isinstance(span, Text):
        return round(max(text_width(plain_text(span.text), m.text) + 2, span.width * m.text))
    return m.text + 2 if isinstance(span, Dot | Mark) else _icon_side(tall, m)


def _icon_side(tall: bool, m: Measures) -> int:
    return round(m.line * (TALL if tall else 1)) + (0 if tall else 2)


def _draw_span(image: Image.Image, span: Span, at: tuple[int, int], room: int, tall: bool, m: Measures) -> int:
    x, y = at
    middle = y + round((TALL - 1) / 2 * m.line) if tall else y
    if isinstance(span, Text):
        used = write_line(image, span.text, (x, middle), m.text, max(1, room), span.colour, span.bold)
        return max(used, round(span.width * m.text))
    if isinstance(span, Dot):
        box = (x, middle + 0.2 * m.text, x + 0.8 * m.text, middle + m.text)
        ImageDraw.Draw(image).ellipse(box, fill=span.colour, outline=GREY)
        return round(0.85 * m.text)
    if isinstance(span, Mark):
        image.alpha_composite(_mark(span.sprite, m.text + 2), (x, middle + 1))
        return m.text + 2
    side = _icon_side(tall, m)
    if side <= room:
        image.alpha_composite(icon_image(span, side), (x, max(0, y - (0 if tall else 1))))
    return side


def _draw_bar(image: Image.Image, at: tuple[int, int], width: int, bar: Bar) -> None:
    x, y = at
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((x, y, x + width, y + 5), radius=2, fill=FAINT)
    if bar.share:
        pen.rounded_rectangle((x, y, x + max(4, round(width * bar.share)), y + 5), radius=2, fill=bar.colour)


def _note_columns(drawing: Drawing, width: int, m: Measures) -> int:
    return max(1, int(width // (drawing.note_width * m.text)))


def _strip_rows(drawing: Drawing, width: int, m: Measures) -> int:
    return -(-len(drawing.notes) // _note_columns(drawing, width, m)) + REMARK_LINES * (drawing.remark is not None)


def _draw_strip(image: Image.Image, drawing: Drawing, width: int, top: int, m: Measures) -> None:
    columns = _note_columns(drawing, width, m)
    room = (width - 2 * m.pad) // columns
    for i, note in enumerate(drawing.notes):
        place = m.pad + i % columns * room, top + i // columns * m.line
        image.paste(_note_image(note, room - m.pad, m), place)
    if drawing.remark:
        place = m.pad, top + -(-len(drawing.notes) // columns) * m.line
        image.paste(_remark_image(*drawing.remark, width - 2 * m.pad, m), place)


@lru_cache(maxsize=512)
def _note_image(note: TextLine, width: int, m: Measures) -> Image.Image:
    image = Image.new("RGBA", (width, m.line), PAPER)
    draw_line(image, note, (0, 0), width, m)
    return image.convert("RGB")


@lru_cache(maxsize=64)
def _remark_image(heading: str, text: str, width: int, m: Measures) -> Image.Image:
    image = Image.new("RGBA", (width, REMARK_LINES * m.line), PAPER)
    left = write_line(image, heading, (0, 0), m.text, width, GREY) + 4
    lines = wrap_text(text, m.text, width - left)
    if len(lines) > REMARK_LINES:
        second = lines[1]
        while second and text_width(second + " ...", m.text) > width - left:
            second = second.rpartition(" ")[0]
        lines = (lines[0], second + " ...")
    for i, line in enumerate(lines):
        image.alpha_composite(text_image(line, m.text, INK), (left, i * m.line))
    return image.convert("RGB")
