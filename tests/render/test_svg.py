"""Sprites as SVG."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from collab_overcooked.render import sprites
from collab_overcooked.render.model import Cook, Icon
from collab_overcooked.render.svg import cook_svg, icon_svg, station_svg, svg_strokes


def parsed(markup: str) -> Any:
    return ElementTree.fromstring(f"<svg>{markup}</svg>")


def test_strange_sprites_differ() -> None:
    markups = {svg_strokes(sprites.strange_strokes(number), {}) for number in range(sprites.STRANGE_KINDS)}
    assert len(markups) == sprites.STRANGE_KINDS


@pytest.mark.parametrize("name", sprites.sprite_names())
def test_every_sprite_is_svg_with_a_colour_for_every_shape(name: str) -> None:
    colours = dict.fromkeys(
        ("main", "accent", "flesh", "shade", "dark", "light", "coat", "coat_dark", "skin"), "#123456"
    )
    colours |= dict.fromkeys(("first", "second", "third"), "#123456")
    shapes = [
        entry
        for entry in parsed(svg_strokes(sprites.strokes_of(name), colours)).iter()
        if entry.tag not in ("svg", "g")
    ]
    assert len(shapes) == 2 * len(sprites.strokes_of(name))
    for shape in shapes:
        painted = [shape.get("fill"), shape.get("stroke")]
        assert any(colour and re.fullmatch(r"#[0-9a-fA-F]{6}", colour) for colour in painted), (name, shape.attrib)
        assert "nan" not in str(shape.attrib) and "style" not in shape.attrib


def test_items_and_agents_look_different_and_letters_are_escaped() -> None:
    foods = [Icon(foods=("onion",), **how) for how in ({}, {"finish": "boiled"}, {"plated": True}, {"faded": True})]
    markup = [icon_svg(icon) for icon in (*foods, Icon(foods=("glimmer",)), Icon("soup", ("onion",), garnish=True))]
    markup += [cook_svg(Cook(0, "A", facing)) for facing in ("", "north", "west")] + [station_svg("wok_of_doom")]
    assert len(set(markup)) == len(markup) and all(map(len, map(parsed, markup)))
    assert "<b>" not in cook_svg(Cook(0, "<b>"))
