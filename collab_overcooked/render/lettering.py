"""Text in images: measuring, wrapping, shortening and drawing with Pillow's built-in font."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from collab_overcooked.render.model import INK


@lru_cache(maxsize=64)
def load_font(size: int) -> Any:
    """Return Pillow's built-in font at a size in pixels."""
    return ImageFont.load_default(size)


def plain_text(text: str) -> str:
    """Convert a text to the printable ASCII characters of the built-in font; unknown characters become ``?``."""
    for fancy, simple in (("\u2018\u2019", "'"), ("\u201c\u201d", '"'), ("\u2013\u2014\u2212", "-"), ("\u2026", "...")):
        for character in fancy:
            text = text.replace(character, simple)
    folded = (c for c in unicodedata.normalize("NFKD", " ".join(text.split())) if not unicodedata.combining(c))
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in folded)


@lru_cache(maxsize=4096)
def text_width(text: str, size: int) -> float:
    """Return the width of a text in pixels."""
    return load_font(size).getlength(text)


@lru_cache(maxsize=1024)
def wrap_text(text: str, size: int, width: int) -> tuple[str, ...]:
    """Wrap a text into lines of at most ``width`` pixels; longer words are truncated."""
    lines = [""]
    for word in plain_text(text).split():
        joined = f"{lines[-1]} {word}".strip()
        if text_width(joined, size) <= width:
            lines[-1] = joined
            continue
        while text_width(word, size) > width and len(word) > 1:
            cut = max(1, next(n for n in range(len(word), 0, -1) if n == 1 or text_width(word[:n], size) <= width))
            lines.append(word[:cut])
            word = word[cut:]
        lines.append(word)
    return tuple(line for line in lines if line)


def shorten_parts(parts: Sequence[str], size: int, width: int) -> tuple[str, ...]:
    """Wrap the words of a label into at most two lines of ``width`` pixels, shortening the longest as needed."""
    kept = [len(word) for word in parts]
    short = parts
    while not fits_two_lines(short, size, width) and max(kept) > 1:
        kept[kept.index(max(kept))] -= 1
        short = [word if n >= len(word) - 1 else word[:n] + "." for word, n in zip(parts, kept, strict=True)]
    return wrap_text(" ".join(short), size, width)[:2]


def fits_two_lines(parts: Sequence[str], size: int, width: int) -> bool:
    """Return whether the words of a label fit into two lines of ``width`` pixels."""
    uncut = all(text_width(word, size) <= width for word in parts)
    return uncut and len(wrap_text(" ".join(parts), size, width)) <= 2


@lru_cache(maxsize=1024)
def fit_text(text: str, size: int, width: int) -> tuple[str, int]:
    """Fit a text into ``width`` pixels: reduce the font size by up to 2 pixels, then truncate with dots."""
    text = plain_text(text)
    smallest = max(9, size - 2)
    for smaller in range(size, smallest - 1, -1):
        if text_width(text, smaller) <= width:
            return text, smaller
    cut = text
    while cut and text_width(cut + "...", smallest) > width:
        cut = cut[:-1]
    return cut + "...", smallest


@lru_cache(maxsize=2048)
def text_image(text: str, size: int, colour: str, bold: bool = False) -> Image.Image:
    """Return one line of text as an RGBA image, as high as the font's line."""
    font = load_font(size)
    ascent, descent = font.getmetrics()
    image = Image.new("RGBA", (round(text_width(text, size)) + 2, ascent + descent), colour + "00")
    ImageDraw.Draw(image).text((0, 0), text, fill=colour, font=font, stroke_width=0.4 if bold else 0)
    return image


def write_line(
    image: Image.Image,
    text: str,
    at: tuple[float, float],
    size: int,
    width: float,
    colour: str = INK,
    bold: bool = False,
) -> int:
    """Write a line shortened to ``width`` pixels; returns the pixels used."""
    fitted, used = fit_text(text, size, int(width))
    line_image = text_image(fitted, used, colour, bold)
    image.alpha_composite(line_image, (int(at[0]), int(at[1]) + (size - used)))
    return line_image.width
