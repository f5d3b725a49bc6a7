"""What agents see as numbers, and which actions their masks allow."""

from __future__ import annotations

import numpy as np
from games.rush.world import Round, plain_game

from collab_overcooked.games.rush.engine.constants import Clock

GAME = plain_game()
GOODS = GAME.scenario.goods
ORDER_FEATURES = 7  # in addition to the goods: exists, cook time, ingredients, spices, times cooked, finished, ruined
AREA_FEATURES = 5  # in addition to the stock: pantry, spicebag, stove, action spaces left, action spaces per turn
CLOCK_FEATURES = 4  # in addition to the seats: turn, turns left, worker, slots left in the turn


def of_order(view, o):
    """Return goods and other features of an order slot."""
    size = len(GOODS) + ORDER_FEATURES
    row = view[o * size : (o + 1) * size].tolist()
    return {name: count for name, count in zip(GOODS, row, strict=False) if count}, row[len(GOODS) :]


def of_area(view, at):
    size = len(GOODS) + AREA_FEATURES
    start = GAME.compiled.n_orders * (len(GOODS) + ORDER_FEATURES) + at * size
    row = view[start : start + size].tolist()
    return {name: count for name, count in zip(GOODS, row, strict=False) if count}, row[len(GOODS) :]


def of_clock(view, n_agents=2):
    return view[len(view) - n_agents - CLOCK_FEATURES :].tolist()


def views(game):
    return game.out.observations[0]


def test_the_start_in_numbers():
    first, second = views(Round())
    assert of_order(first, 0) == ({"carrot": 2, "green": 1}, [1, 2, 0, 0, 0, 0, 0])
    assert of_order(first, 2) == ({"lettuce": 1}, [1, 0, 0, 1, 0, 0, 0])
    assert of_area(first, 0) == ({"carrot": 3, "lettuce": 1, "bread": 2, "cheese": 1}, [1, 0, 0, 2, 2])
    assert of_area(first, 2) == ({"green": 1, "red": 2}, [0, 1, 0, 1, 1])
    assert of_area(first, 4) == ({}, [0, 0, 1, 1, 1])
    assert of_clock(first) == [0, 4, 0, 2, 1, 0]
    assert of_clock(second) == [0, 4, 0, 2, 0, 1]
    np.testing.assert_array_equal(first[:-2], second[:-2])


def test_what_was_done_shows():
    game = Round()
    game.play("0 Soup | 1 Soup", "2 Soup | 2 Toast", "2 Soup | -")
    view = views(game)[1]
    assert of_order(view, 0)[1] == [1, 2, 1, 1, 2, 1, 0]
    assert of_order(view, 1)[1] == [1, 1, 0, 0, 1, 0, 1]
    assert of_area(view, 0) == ({"carrot": 1, "lettuce": 1, "bread": 2, "cheese": 1}, [1, 0, 0, 2, 2])
    assert of_area(view, 3)[1] == [0, 0, 1, 1, 2]
    assert of_clock(view) == [1, 3, 1, 1, 0, 1]


def test_what_an_episode_lacks_is_zero():
    view = views(Round(episode=1))[0]
    assert of_order(view, 0) == ({"pasta": 1}, [1, 1, 0, 1, 0, 0, 0])
    assert [of_order(view, o) for o in (1, 2)] == [({}, [0, 0, 0, 1, 0, 0, 0])] * 2
    assert [of_area(view, at) for at in (3, 4)] == [({}, [0] * 5)] * 2


def test_large_numbers_stop_at_255():
    scenario = """
    name: large
    max_turns: 300
    episodes:
      - recipes: {Stew: {ingredients: {carrot: 999}, cook_time: 400}}
        pantries: [{spaces: 300, stock: {carrot: 9999}}]
        spicebags: [{spaces: 0}]
        stoves: [{spaces: 256}]
    """
    game = Round(scenario=scenario)
    view = views(game)[0]
    assert of_clock(view)[:2] == [0, 255]
    assert (view <= 255).all() and (view == 255).sum() == 8
    assert game.game.max_cycles == 600


def test_masks_hold_what_is_possible_ruinous_or_not():
    everything = {"-", "0 Soup", "0 Toast", "0 Salad", "1 Soup", "1 Toast"}
    cooks = {f"{stove} {name}" for stove in (2, 3) for name in ("Soup", "Toast", "Salad")}
    game = Round()
    assert game.mask() == everything | cooks
    game.play("1 Soup | 3 Toast")
    assert game.mask() == {"-", "0 Soup", "0 Salad", "2 Soup", "2 Salad"}
    game.play("0 Salad | 0 Soup")
    assert game.mask() == {"-"} | {"2 Soup", "3 Soup"}


def test_safe_masks_lack_what_ruins():
    game = Round(mask="safe")
    assert game.mask() == {"-", "0 Soup", "0 Toast", "0 Salad", "1 Soup", "1 Toast"}
    game.play("0 Soup | 0 Toast", "2 Soup | 2 Toast")
    assert game.mask() == {"-", "0 Salad", "1 Soup", "1 Toast", "2 Soup", "3 Soup"}
    game.play("2 Soup | 2 Toast")  # what ruins can still be done
    assert game.reasons == ["OK", "OK"]
    assert game.reward == -1


def test_all_seats_have_the_same_mask_and_nothing_is_left_at_the_end():
    game = Round("Soup: ruined\nToast: ruined", agents=3)
    for _ in range(2):
        masks = game.out.masks[0]
        assert (masks == masks[0]).all()
        game.play("0 Salad | - | -")
    assert game.mask() == {"-"}
    assert game.state.clock[0, Clock.OVER] == 1
