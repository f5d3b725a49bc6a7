"""Declared scenes: what is written comes back, what is left out stays, and what nobody declared is refused."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest
from testing.planted import Bay, beacon

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.io.schema import read
from collab_overcooked.kernels.events import NOTHING

Cook = IntEnum("Cook", "X Y HELD", start=0)
NAMES = ("onion", "dish")


class State(NamedTuple):
    cooks: np.ndarray
    stock: np.ndarray
    doors: np.ndarray
    rng: np.ndarray


@pytest.fixture
def state():
    cooks = np.array([[[1, 2, NOTHING], [3, 0, 1]]] * 2, np.int32)
    return State(cooks, np.array([[0, 2]] * 2, np.int32), np.array([[5]] * 2, np.int32), np.zeros((2, 3), np.int32))


@pytest.fixture
def scene():
    held = codec.column("cooks", Cook.HELD, codec.optional(codec.names_of(NAMES, "item")))
    cook = {"at": codec.column("cooks", slice(0, 2), codec.vector([codec.integers(0, 3)] * 2, "numbers")), "held": held}
    far = codec.Part(codec.COUNT.parser, lambda rows: sum(rows["cooks"][:2]), derived=True)
    return codec.group(
        {
            "cooks": codec.by_entry([codec.group({**cook, "far": far})] * 2, "cooks"),
            "stock": codec.row("stock", codec.counts(NAMES, 9, "item")),
            "doors": codec.bits("doors", 0, ("a", "b", "c"), "door"),
            "chance": codec.rng_state(),
        }
    )


def test_arrays_are_read_as_declared(scene, state):
    assert codec.read_scene(scene, state, 1, True) == {
        "cooks": [{"at": [1, 2], "held": None, "far": 3}, {"at": [3, 0], "held": "dish", "far": 3}],
        "stock": {"dish": 2},
        "doors": {"a": True, "b": False, "c": True},
        "chance": {"seed": 0, "draws": 0},
    }
    assert "far" not in codec.read_scene(scene, state, 1, False)["cooks"][0]


def test_what_is_left_out_stays(scene, state):
    values = {"cooks": [{"held": "onion", "far": 7}, {}], "doors": {"b": True}, "chance": {"seed": 2**40, "draws": 3}}
    before = [array[0].tolist() for array in state]
    codec.write_scene(scene, state, 1, read(scene.parser, values, "state"))
    assert [array[0].tolist() for array in state] == before
    assert state.cooks[1].tolist() == [[1, 2, 0], [3, 0, 1]] and state.doors[1, 0] == 7
    assert codec.read_scene(scene, state, 1, True)["chance"] == {"seed": 2**40, "draws": 3}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cooks": [{"at": [1, 4]}, {}]}, r"state.cooks\[0\].at\[1\] must be an integer from 0 to 3, not 4"),
        ({"cooks": [{}]}, "state.cooks lists 1 cooks; it must list 2"),
        ({"cooks": [{"held": "union"}, {}]}, "did you mean onion"),
        ({"stock": {"onion": -1}}, "state.stock.onion"),
        ({"doors": {"d": True}}, "unknown door 'd'"),
        ({"chance": {"seed": 1}}, "state.chance.draws is missing"),
    ],
)
def test_forms_follow_from_the_declaration(scene, values, message):
    with pytest.raises(ValueError, match=message):
        read(scene.parser, values, "state")


class Cards(beacon.Beacon):
    """Each seat has a card of its own, declared within a list and within a mapping."""

    def scene_parts(self):
        hands = [
            codec.span("bay", index, 0, 3, known_to=lambda seat, k=k: seat == k, belief=codec.uniform)
            for k, index in enumerate((Bay.WRECK, Bay.DIVER))
        ]
        named = {f"agent_{k}": part for k, part in enumerate(hands)}
        return super().scene_parts() | {"hands": codec.listing(hands, "hands"), "named": codec.group(named)}


def test_parts_within_parts_are_hidden_and_believed():
    game = Cards()
    scene = {"hands": [1, 2], "named": {"agent_0": 1, "agent_1": 2}, "wreck": 1, "chance": {"seed": 1, "draws": 0}}
    visible = [game.seat_scene(scene, seat) for seat in range(2)]
    assert [part["hands"] for part in visible] == [[1, None], [None, 2]]
    assert [part["named"] for part in visible] == [{"agent_0": 1}, {"agent_1": 2}]
    assert [game.hidden_keys(seat) for seat in range(2)] == [("hands", "named"), ("wreck", "hands", "named")]
    state, _ = game.alloc(40)
    state.bay[:, [Bay.WRECK, Bay.DIVER]] = 1, 2
    game.sample_belief(state, 0, np.random.default_rng(0))
    assert set(state.bay[:, Bay.WRECK].tolist()) == {1} and set(state.bay[:, Bay.DIVER].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("part", [codec.rng_state()._replace(belief=codec.uniform)])
def test_what_no_form_draws_needs_a_belief_of_its_own(part):
    with pytest.raises(TypeError, match="needs a belief of its own"):
        codec.believed(part, {}, 0, np.random.default_rng(0), "chance")


def test_drawn_values_have_the_form_of_their_part():
    names, rng = ("onion", "dish"), np.random.default_rng(0)
    values = [
        codec.integers(2, 4), codec.BOOLEAN, codec.names_of(names, "item", names[1:]), codec.COUNT,
        codec.members_of(Bay, "column"), codec.optional(codec.integers(0, 1)), codec.counts(names, 3, "item"),
        codec.vector([codec.integers(0, 1), codec.BOOLEAN], "values"), codec.sequence(codec.BOOLEAN, 3, "values", 1),
    ]  # fmt: skip
    part = codec.group({str(k): codec.column("bay", k, value) for k, value in enumerate(values)})
    listed = codec.listing([part, part], "parts")
    for _ in range(30):
        assert listed.parser(drawn := listed.draw(rng)) == drawn
