"""Levels in words: what ships, the times that follow from alpha and beta, and complaints about files."""

from __future__ import annotations

import pytest

from collab_overcooked.games.cuisineworld.engine.spec import COOKBOOK, Timing, levels, load_level
from collab_overcooked.io.documents import DocumentError


def test_shipped_levels_in_natural_order():
    assert levels() == [*(f"level_{k}" for k in range(13)), "level_12_fryer"]


def test_cookbook_has_27_ingredients_63_recipes_and_33_ordered_dishes():
    level = load_level("level_0")
    assert (len(level.base_ingredients), len(level.recipes), len(level.tools)) == (27, 63, 10)
    assert len({name for level in levels() for name in load_level(level).order_names}) == 33


def test_only_recipes_that_orders_lead_to_exist_in_a_level():
    names = [recipe.product for recipe in load_level("level_5").recipes_here]
    assert sorted(names) == [
        "beefPasta",
        "cookedPasta",
        "groundBeef",
        "groundPork",
        "porkPasta",
        "sauteedGroundBeef",
        "sauteedGroundPork",
        "sauteedTomato",
        "tomatoPasta",
        "tomatoSlice",
    ]


# Interval and lifetimes of spec section 6.4, by alpha.
@pytest.mark.parametrize(
    ("level", "alpha", "timing"),
    [
        ("level_0", 1.0, Timing(3, {"salmonMeatcake": 8})),
        ("level_0", 2.2, Timing(7, {"salmonMeatcake": 17})),
        ("level_2", 1.5, Timing(7, {"salmonSashimi": 7, "tunaSashimi": 7, "mixedSashimi": 17})),
        ("level_5", 3.0, Timing(20, {"tomatoPasta": 48, "beefPasta": 50, "porkPasta": 50})),
        ("level_9", 1.0, Timing(8, {"cheeseBurger": 12, "MaxJr": 17, "Hopper": 19})),
        ("level_12", 2.5, Timing(12, {"potatoSalad": 23, "smashedPotato": 29, "frenchFries": 19})),
        ("level_12", None, Timing(5, {"potatoSalad": 10, "smashedPotato": 10, "frenchFries": 10})),
    ],
)
def test_times_by_alpha(level, alpha, timing):
    assert load_level(level).timing(alpha) == timing


def test_tree_and_steps_of_a_dish():
    level = load_level("level_12")
    assert level.tree("smashedPotato") == ("smashedPotato", "rawSmashedPotato", "potatoSlice", "potato")
    steps = [recipe.product for recipe in level.steps_of("smashedPotato")]
    assert steps == ["potatoSlice", "rawSmashedPotato", "smashedPotato"]
    assert level.work("smashedPotato") == 15


def small(**changes):
    return {
        "extends": COOKBOOK,
        "name": "x",
        "kitchen": ["storage", "servingtable", "pot"],
        "orders": ["cake"],
    } | changes


def with_recipes(**recipes):
    return small(recipes={"cake": {"pot": ["egg"]}, **recipes})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (small(kitchens=[]), "did you mean kitchen"),
        ({"extends": COOKBOOK, "name": "x", "orders": ["cake"]}, "kitchen is missing"),
        (small(kitchen=["storage", "pot"]), "needs a table"),
        (small(kitchen=["servingtable", "pot"]), "needs a storage"),
        (small(kitchen=["storage", "servingtable", "pott"]), "did you mean pot"),
        (small(orders=["cak"]), "unknown dish"),
        (small(orders=["cake", "cake"]), "listed twice"),
        (small(orders={"cake": {"items": ["tomatoSoup"]}}), "unknown dish"),
        (small(orders={"cake": {"items": ["tomatoPasta"]}}), "no order itself"),
        (small(orders={"cake": {"time": 3}}), "unknown key"),
        (small(interval=0), "integer from 1 to"),
        (small(name=3), "must be a text"),
        (with_recipes(egg={"pot": ["flour"]}), "needs no recipe"),
        (with_recipes(soup={"pot": ["egg"]}), "same ingredients"),
        (with_recipes(soup={"pot": ["flour", "flour"]}), "twice"),
        (with_recipes(soup={"pot": ["cake", "rice"]}), "cooked on"),
        (with_recipes(soup={"pot": ["flour"], "pan": ["flour"]}), "one `tool"),
        (with_recipes(soup={"storage": ["flour"]}), "unknown tool"),
        (with_recipes(a={"pan": ["b"]}, b={"oven": ["a"]}), "circle"),
        (with_recipes(soup={"chopboard": ["flour", "rice"]}), "takes 1"),
        (small(tools={"pan2": {"busy": 1}}), "ends in a digit"),
        (small(tools={"pan": {"role": "cok"}}), "must be one of cook, storage, table, not 'cok'"),
        (small(ingredients={"a": ["big_egg"]}), "is no name"),
    ],
)
def test_levels_that_cannot_work_are_refused(values, message):
    with pytest.raises(DocumentError, match=message):
        load_level(values)


def test_complaints_name_file_and_line(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: level_0\nname: mine\norders: [salmonMeatcake, cak]\n")
    with pytest.raises(DocumentError, match=r"mine\.yaml, line 3: unknown dish 'cak'"):
        load_level(path)
