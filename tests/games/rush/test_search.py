"""The beam search and its bounds against looking at every joint action of every state."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collab_overcooked.games.rush.engine.compile import Compiled, compile_scenario
from collab_overcooked.games.rush.engine.constants import Clock, Dish, EventColumn, Order
from collab_overcooked.games.rush.engine.search import BeamSearch, start_of
from collab_overcooked.games.rush.engine.spec import load_scenario
from collab_overcooked.games.rush.engine.state import Out, State, sizes_of
from collab_overcooked.games.rush.engine.step import BATCH_KERNELS
from collab_overcooked.kernels.arrays import allocate
from collab_overcooked.kernels.jit import row_at

GOODS = {"ingredients": ["meat", "bread"], "spices": ["green", "black"]}
few = st.integers(0, 2)


def counts(names: list[str], high: int) -> Any:
    return st.fixed_dictionaries({name: st.integers(0, high) for name in names})


RECIPES = st.fixed_dictionaries(
    {
        "ingredients": counts(GOODS["ingredients"], 2).filter(lambda expected: any(expected.values())),
        "spices": counts(GOODS["spices"], 1),
        "cook_time": few,
    }
)
PANTRIES = st.fixed_dictionaries({"spaces": few, "stock": counts(GOODS["ingredients"], 4)})
SPICEBAGS = st.fixed_dictionaries({"spaces": few, "stock": counts(GOODS["spices"], 2)})
STOVES = st.fixed_dictionaries({"spaces": few})


@st.composite
def small_scenarios(draw: Any) -> Compiled:
    """Scenarios with few enough states to look at all of them."""
    n_orders = draw(st.integers(1, 3))
    areas = {"pantries": PANTRIES, "spicebags": SPICEBAGS, "stoves": STOVES}
    spare = draw(st.sampled_from((None, *areas) if n_orders < 3 else (None,)))  # of which kind there are two
    episode = {"recipes": {f"dish {o}": draw(RECIPES) for o in range(n_orders)}}
    episode |= {kind: [draw(area) for _ in range(1 + (kind == spare))] for kind, area in areas.items()}
    size = {name: draw(st.integers(1, 2)) for name in ("agents", "workers")} | {"max_turns": draw(st.integers(1, 3))}
    return compile_scenario(load_scenario({"name": "small", "episodes": [episode], **GOODS, **size}))


def alloc(compiled: Compiled, batch_size: int) -> tuple[State, Out]:
    result = {"N": compiled.config.agents, "A": compiled.n_actions, "numbers": 0} | sizes_of(compiled.tables)
    return allocate(State, result, batch_size), allocate(Out, result, batch_size)


def columns(state: State) -> np.ndarray:
    """All that the future of a state depends on, a row for each environment."""
    return np.concatenate([array.reshape(len(array), -1) for array in state[:-1]], axis=1)


def look_at_all(compiled: Compiled, mine: tuple[bool, ...], start: State) -> tuple[int, int]:
    """Return the most orders that can be finished, and the fewest turns for all but ruined ones, 0 if they cannot."""
    tables, every = compiled.tables, range(compiled.n_actions)
    joint = np.array(list(product(*(every if is_mine else (0,) for is_mine in mine))), np.int32)
    frontier, _ = alloc(compiled, 1)
    for array, given_row in zip(frontier, start, strict=True):
        array[0] = given_row
    exists = tables.dishes[0, :, Dish.EXISTS] == 1
    most, fewest, goal = 0, 0, int(exists.sum() - frontier.orders[0, :, Order.RUINED].sum())
    while True:
        done = frontier.orders[:, exists, Order.FINISHED].sum(axis=1)
        most = max(most, int(done.max()))
        if done.max() == goal:
            clock = frontier.clock[done.argmax()]
            return most, int(clock[Clock.TURN] + (clock[Clock.WORKER] > 0))
        going = frontier.clock[:, Clock.OVER] == 0
        if not going.any():
            return most, fewest
        state, out = alloc(compiled, int(going.sum()) * len(joint))
        for array, old in zip(state, frontier, strict=True):
            array[:] = np.repeat(old[going], len(joint), axis=0)
        BATCH_KERNELS.step(tables, state, np.tile(joint, (int(going.sum()), 1)), out)
        _, kept = np.unique(columns(state), axis=0, return_index=True)
        frontier = State(*(array[kept] for array in state))


def play(compiled: Compiled, start: State, plan: tuple[tuple[int, ...], ...]) -> State:
    """Carry out a plan by the game's own steps."""
    state, out = alloc(compiled, 1)
    for array, given_row in zip(state, start, strict=True):
        array[0] = given_row
    for row in plan:
        BATCH_KERNELS.step(compiled.tables, state, np.array([row], np.int32), out)
        assert not out.events[0, :, [EventColumn.REASON, EventColumn.RUINED]].any(), "nothing is refused or ruined"
    return state


def compare(compiled: Compiled, mine: tuple[bool, ...], start: State) -> None:
    most, fewest = look_at_all(compiled, mine, start)
    solution = BeamSearch(compiled.tables, 0, mine).search(start)
    assert solution.finished == most <= solution.at_most
    assert solution.at_least <= fewest and (solution.at_least > 0) == (fewest > 0)
    end = play(compiled, start, solution.plan)
    assert end.orders[0, :, Order.FINISHED].sum() == most
    if fewest:
        assert solution.turns == fewest == int(end.clock[0, Clock.TURN] + (end.clock[0, Clock.WORKER] > 0))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(compiled=small_scenarios())
def test_it_finds_what_looking_at_everything_finds(compiled: Compiled) -> None:
    compare(compiled, (True,) * compiled.config.agents, start_of(compiled.tables, 0))


@settings(max_examples=100, deadline=None)
@given(compiled=small_scenarios(), data=st.data())
def test_from_any_moment_and_for_any_seats(compiled: Compiled, data: Any) -> None:
    state, out = alloc(compiled, 1)
    for array, row in zip(state, start_of(compiled.tables, 0), strict=True):
        array[0] = row
    actions = st.lists(
        st.integers(0, compiled.n_actions - 1), min_size=compiled.config.agents, max_size=compiled.config.agents
    )
    for row in data.draw(st.lists(actions, max_size=3)):
        BATCH_KERNELS.step(compiled.tables, state, np.array([row], np.int32), out)
    agents = compiled.config.agents
    result = data.draw(st.lists(st.booleans(), min_size=agents, max_size=agents).filter(any))
    if not state.clock[0, Clock.OVER]:
        compare(compiled, tuple(result), row_at(state, 0))
