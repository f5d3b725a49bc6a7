"""Sheets in the language of a lexicon: texts are translated, and sprites that would tell a translated noun replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any
from zlib import crc32

from collab_overcooked.envs.lexicon import split_text
from collab_overcooked.render.model import BoardCell, Icon, Sheet
from collab_overcooked.render.sprites import STRANGE, STRANGE_KINDS

TEXT_FIELDS = {"text", "tags", "labels", "caption", "targets", "mark", "remark", "listing"}  # of parts of a sheet


def translate_sheet(sheet: Sheet, translate: Callable[[str], str], names: Sequence[str]) -> Sheet:
    """Return a sheet in another language.

    Args:
        sheet: Sheet of the plain game.
        translate: Function that translates a plain text.
        names: Names of all objects of the plain game; the first words of different ones get different sprites.
    """
    words = sorted({word for name in names for word in split_text(name)})

    def strange(name: str) -> str:
        """Return the sprite of a noun that is translated; empty for others."""
        word = next(iter(split_text(name)), "")
        if translate(word) == word:
            return ""
        number = words.index(word) if word in words else len(words) + crc32(word.encode())
        return f"{STRANGE}{number % STRANGE_KINDS}"

    def text_of(value: Any) -> Any:
        return translate(value) if isinstance(value, str) else value and tuple(map(translate, value))

    def part_of(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(part_of, part))
        if not is_dataclass(part) or isinstance(part, type):
            return part
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        values = {name: (text_of if name in TEXT_FIELDS else part_of)(value) for name, value in values.items()}
        if isinstance(part, Icon) and (sprite := strange((part.foods or (part.sprite,))[0])):
            return Icon(sprite, faded=part.faded, text=values["text"])
        if isinstance(part, BoardCell):
            values["sprite"] = strange(part.caption) or part.sprite
        return replace(part, **values)

    translated: Sheet = part_of(sheet)
    return translated
