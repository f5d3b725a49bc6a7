"""Renderers: every game draws with them, so what holds for all pictures is tested here on drawings of no game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from collab_overcooked.render import lettering, rgb, sprites
from collab_overcooked.render.ansi import draw_ansi
from collab_overcooked.render.draw import draw
from collab_overcooked.render.model import (
    GOOD,
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
    Progress,
    Text,
    TextLine,
    seat_colour,
)

SOUP = Icon("soup", ("tomato", "onion"), plated=True)


TALL = TextLine((SOUP, Text("1")), tall=True)


CELLS = (
    ((0, 0), BoardCell("counter", "[s]", (SOUP,), labels=("a soup of tomatoes and onions", "soup"))),
    ((1, 0), BoardCell("pot", "P~3", (Icon(foods=("onion",)),) * 3, progress=Progress(1, 4, "3 left"))),
    ((0, 1), BoardCell("floor", ".")),
    ((1, 1), BoardCell("floor_dark", ".")),
)


SHEET = Drawing(
    (
        Board((2, 2), CELLS, (((1, 1), Cook(0, "A", "east", held=SOUP, mark="s")),)),
        PanelColumn(
            (
                Card((TextLine((Text("Step 1"),), (Text("done 2", GOOD),)), Bar(0.4))),
                Card(
                    (TextLine((Dot(GOOD), Text("waits"), Mark("ready"))), TextLine((SOUP, Text("1")), tall=True)),
                    Cook(0, "A"),
                ),
            ),
            20,
            8,
        ),
    ),
    notes=(TextLine((Text("pot0:"), Text("onion"))),),
    remark=("On counters:", "soup"),
    listing=("(0, 0) soup",),
)


def test_text_says_what_the_pixels_show():
    assert draw(SHEET, "ansi").split("\n") == [
        "[s] P~3",
        ".   A>s",
        "Step 1  done 2 [####......]",
        "A waits; 1",
        "pot0: onion",
        "(0, 0) soup",
    ]


def test_icons_are_written_where_no_words_stand_beside_them():
    line = TextLine((replace(SOUP, text="soup"), Text("2")))
    assert draw_ansi(Drawing((PanelColumn((Card((line,)),), 20, 2),))) == "soup 2"


def test_equal_drawings_give_equal_pixels_also_with_empty_caches():
    first = draw(SHEET, "rgb_array")
    for function in [*vars(rgb).values(), *vars(sprites).values(), *vars(lettering).values()]:
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    np.testing.assert_array_equal(draw(SHEET, "rgb_array"), first)


def test_nothing_is_drawn_into_cached_images():
    bare = replace(SHEET, parts=(replace(SHEET.parts[0], cooks=()), SHEET.parts[1]))
    before = rgb.draw_rgb(bare)
    rgb.draw_rgb(SHEET)
    np.testing.assert_array_equal(rgb.draw_rgb(bare), before)


def test_what_did_not_change_is_drawn_once():
    rgb.draw_rgb(SHEET)
    cells, cards = rgb.cell_image.cache_info(), rgb.card_image.cache_info()
    rgb.draw_rgb(SHEET)
    assert rgb.cell_image.cache_info().misses == cells.misses and rgb.card_image.cache_info().misses == cards.misses


def test_every_cell_shows_in_its_place_only():
    pixels = rgb.draw_rgb(SHEET)
    for k, (at, cell) in enumerate(CELLS):
        changed = (*CELLS[:k], (at, replace(cell, sprite="wall", items=(), labels=())), *CELLS[k + 1 :])
        other = rgb.draw_rgb(replace(SHEET, parts=(replace(SHEET.parts[0], cells=changed), SHEET.parts[1])))
        rows, columns = np.nonzero((pixels != other).any(axis=2))
        assert {(x // 48, y // 48) for x, y in zip(columns.tolist(), rows.tolist(), strict=True)} == {at}


STATIONS = [
    name for name in sprites.sprite_names() if all(colour[0] == "#" for _, colour, *_ in sprites.strokes_of(name))
]


@pytest.mark.parametrize("name", STATIONS)
def test_the_ground_shows_where_a_station_leaves_it_free(name):
    colour = (12, 200, 34)
    board = replace(SHEET.parts[0], ground="#{:02x}{:02x}{:02x}".format(*colour), patches=(), links=(), cooks=())
    drawing = replace(SHEET, parts=(replace(board, cells=(((0, 0), BoardCell(name)),)),))
    free = np.asarray(sprites.station_image(name, 48))[..., 3] == 0
    np.testing.assert_array_equal(rgb.draw_rgb(drawing)[:48, :48][free], np.broadcast_to(colour, (free.sum(), 3)))


def test_a_remark_that_is_wider_than_the_picture_ends_in_dots():
    narrow = replace(SHEET, parts=(replace(SHEET.parts[0], cells=CELLS[:1]),), remark=("Remark", "word " * 40))
    assert rgb.draw_rgb(narrow).shape[2] == 3


def test_a_tall_list_of_items_is_counted():
    many = BoardCell("counter", items=(Icon(foods=("onion",)),) * 9)
    few = BoardCell("counter", items=(Icon(foods=("onion",)),) * 8)
    assert rgb.cell_image(many, 48).tobytes() != rgb.cell_image(few, 48).tobytes()


def test_unknown_foods_and_stations_are_drawn():
    icons = [sprites.icon_image(Icon(foods=(name,)), 28).tobytes() for name in ("glimmer", "moonrock")]
    assert icons[0] != icons[1]
    assert sprites.station_image("wok_of_doom", 48).size == (48, 48)


def test_a_held_item_a_facing_and_a_finish_show():
    cooks = [Cook(0, "A", facing, held=held) for facing in ("north", "south", "east", "west") for held in (None, SOUP)]
    assert len({sprites.cook_image(cook, 48).tobytes() for cook in cooks}) == 8
    finishes = [Icon(foods=("onion",), finish=finish) for finish in ("", "boiled", "baked")]
    assert len({sprites.icon_image(icon, 28).tobytes() for icon in finishes}) == 3


def test_agents_have_colours_of_their_own():
    assert len({seat_colour(seat) for seat in range(12)}) == 12
