"""Sheets in the language of a lexicon: texts are translated, and sprites that would tell a translated noun replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from collab_overcooked.render.model import BoardCell, Drawing, Icon
from collab_overcooked.render.sprites import STRANGE, STRANGE_KINDS

TEXT_FIELDS = {"text", "tags", "labels", "caption", "targets", "mark", "remark", "listing"}  # of parts of a drawing


def translate_drawing(
    drawing: Drawing, translate: Callable[[str], str], number_noun: Callable[[str], int | None]
) -> Drawing:
    """Return a drawing in another language.

    Args:
        drawing: Drawing of the plain game.
        translate: Function that translates a plain text.
        number_noun: Function that returns the number of the noun that a name begins with, which determines its sprite;
            None if it is not translated.
    """

    def strange(name: str) -> str:
        number = number_noun(name)
        return "" if number is None else f"{STRANGE}{number % STRANGE_KINDS}"

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

    translated: Drawing = part_of(drawing)
    return translated
