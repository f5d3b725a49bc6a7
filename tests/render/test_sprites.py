"""Sprites: each has strokes with colours, and every food has one."""

from __future__ import annotations

import pytest

from collab_overcooked.render import sprites


@pytest.mark.parametrize("name", sprites.sprite_names())
def test_every_sprite_has_strokes_with_colours_and_whole_shapes(name):
    sizes = {"oval": (4,), "box": (5,), "pie": (6,), "arc": (7,)}
    roles = {"main", "accent", "flesh", "shade", "dark", "light", "first", "second", "third"}
    roles |= {"coat", "coat_dark", "skin"}
    for operation, colour, *numbers in sprites.strokes_of(name):
        assert colour in roles or (colour[0] == "#" and len(colour) == 7), name
        if operation in sizes:
            assert len(numbers) in sizes[operation], (name, operation)
        else:
            assert operation in ("poly", "line", "rod") and len(numbers) % 2 == (operation != "poly"), name


@pytest.mark.parametrize("name", sprites.food_names())
def test_every_food_has_a_sprite(name):
    food = sprites.find_food(name)
    assert food.sprite in sprites.sprite_names()
    assert all(colour[0] == "#" and len(colour) == 7 for colour in food[1:])
