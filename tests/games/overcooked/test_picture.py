"""Pictures: text by comparison, drawings by size and by what changes in them."""

from __future__ import annotations

import numpy as np
import pytest
from games.collab_overcooked.world import drawn
from games.overcooked.world import open_world

from collab_overcooked.render.rgb import draw_rgb

WORLD = """
    XXPXPXX
    O 1   O
    TXWGW2X
    X3 X  P
    XXDXXSX
    1 east holds soup(onion, tomato)
    2 south holds dish
    3 west
    (2,0) onion, onion
    (4,0) onion, onion, tomato 13/20
    (6,3) onion, onion, onion ready
    (1,2) tomato
    (3,0) dish
    (3,2) open 4
"""


def test_ansi():
    rollout = open_world(WORLD, orders=[["onion"] * 3, ["tomato", "onion", "onion"]], bonus_orders=[["onion"] * 3])
    assert rollout.game.render(rollout.state, 0, "ansi") == drawn(
        """
        ##  ##  P+2 [d] P~7 ##  ##
        O   .   A>s .   .   .   O
        T   [t] %%  g4  %%  Bvd ##
        ##  C<  .   ##  .   .   P!
        ##  ##  D   ##  ##  S   ##
        Step 0 of 400  Score 0 (0 served) [..........]
        A Alice facing east; holds soup of 1 onion and 1 tomato
        B Bob facing south; holds dish
        C Carol facing west; holds nothing
        Orders; 3 onions: 40 with bonus; 2 onions and 1 tomato: 20
        (2, 0) pot with 2 onions
        (3, 0) dish
        (4, 0) soup of 2 onions and 1 tomato, cooking, 7 of 20 steps left
        (1, 2) tomato
        (6, 3) soup of 3 onions, ready
        """
    )


def test_ansi_of_any_orders():
    rollout = open_world(WORLD)
    assert "Orders; any soup: 20" in rollout.game.render(rollout.state, 0, "ansi")
    rollout = open_world(WORLD, value={"onion": 1, "tomato": 2})
    assert "2 tomatoes: 4" in rollout.game.render(rollout.state, 0, "ansi")


def test_rgb_array_keeps_its_size_and_shows_what_changes():
    rollout = open_world(WORLD)
    scene = rollout.scene
    displayed = rollout.game.drawing(scene)
    pixels, tile = draw_rgb(displayed), displayed.tile
    assert (pixels.dtype, pixels.ndim, pixels.shape[2]) == (np.uint8, 3, 3)
    for change, where in (
        ({"objects": []}, (0, 2)),
        ({"gates": []}, (2, 3)),
        ({"players": [scene["players"][0] | {"holding": None}, *scene["players"][1:]]}, (1, 2)),
    ):
        other = draw_rgb(rollout.game.drawing({**scene, **change}))
        assert other.shape == pixels.shape
        y, x = (tile * number for number in where)
        assert (other[y : y + tile, x : x + tile] != pixels[y : y + tile, x : x + tile]).any()


def test_rgb_array_of_every_tile_size():
    rollout = open_world(WORLD)
    displayed = rollout.game.drawing(rollout.scene)
    sizes = [draw_rgb(displayed, tile).shape for tile in (24, 48, 96)]
    assert sizes[0] < sizes[1] < sizes[2]
    with pytest.raises(ValueError, match="tile_size must be an integer of at least 24 pixels, not 20"):
        draw_rgb(displayed, 20)
