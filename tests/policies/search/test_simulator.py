"""What a policy may simulate: copies of the present moment whose chance is not the env's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.hidden import hides

import collab_overcooked
from collab_overcooked.envs.api import clone
from collab_overcooked.games.cuisineworld.engine.constants import OrderEvent
from collab_overcooked.kernels.orders import Queue
from collab_overcooked.policies.search.simulator import Fork, Simulator, empty_fork
from collab_overcooked.registry import registered

IDS = registered()
STEPS = 12


def started(env_id: str, seed: int = 0, **options: Any) -> Any:
    env = collab_overcooked.make(env_id, **options)
    env.reset(seed=seed)
    return env


def simulator_of(env: Any, seat: int = 0) -> Simulator:
    return Simulator(env.game, env.arrays[0], seat)


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def legal(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.argmax(rng.random(masks.shape) * masks, axis=2).astype(np.int32)


def play(fork: Fork, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        fork.step(legal(fork.masks, rng))


@pytest.mark.parametrize("env_id", IDS)
def test_a_fork_leaves_the_env_as_it_is(env_id):
    env = started(env_id)
    before = clone(env.arrays[0], 0)
    play(simulator_of(env).fork(3, seed=1), STEPS, 0)
    assert same(before, env.arrays[0])


@pytest.mark.parametrize("env_id", IDS)
def test_copies_are_the_present_moment_with_its_masks(env_id):
    env = started(env_id)
    simulator = simulator_of(env)
    env.step({agent: int(np.flatnonzero(env.action_mask(agent))[-1]) for agent in env.agents})
    for masks in simulator.fork(2, seed=0).masks:
        seats = slice(simulator.seat, simulator.seat + 1) if hides(env.game) else slice(None)
        assert np.array_equal(masks[seats], env.arrays[1].masks[0, seats])  # of what others know only a belief is had
    seen = [env.game.seat_scene(scene, simulator.seat) for scene in (env.game.scene(simulator.state, 0), env.scene())]
    assert seen[0] == seen[1]
    if not hides(env.game):
        assert np.array_equal(*(env.game.state_vector(state, 0) for state in (simulator.state, env.arrays[0])))


@pytest.mark.parametrize("env_id", IDS)
def test_nothing_that_the_env_is_going_to_draw_shows_in_a_fork(env_id):
    ends = []
    for text in ((1, 2, 3), (4, 5, 6)):
        env = started(env_id)
        env.arrays[0].rng[0] = text
        fork = simulator_of(env).fork(3, seed=7)
        play(fork, STEPS, 0)
        ends.append(fork.state)
    assert same(*ends)


@pytest.mark.parametrize("env_id", IDS)
def test_taken_rows_go_on_like_their_source(env_id):
    source = simulator_of(started(env_id)).fork(4, seed=3)
    play(source, 3, 1)
    memory = empty_fork(source.game, 5)
    taken = memory.take(source, [3, 1])
    other = source.repeat([3, 1])
    assert len(memory) == 5 and len(taken) == len(other) == 2
    for fork in (taken, other):
        play(fork, STEPS, 2)
    assert same(taken.state, other.state)
    assert same(rows_of(memory.state, 2), taken.state)


def rows_of(arrays: Any, count: int) -> Any:
    return [array[:count] for array in arrays]


def test_copies_differ_in_chance_and_a_seed_fixes_it():
    simulator = simulator_of(started("CuisineWorld-v0"))
    orders = []
    for seed in (5, 5, 6):
        fork = simulator.fork(8, seed=seed)
        for _ in range(40):
            fork.step(np.zeros((8, fork.game.n_agents), np.int32))
        orders.append(fork.state.orders[:, :, Queue.ORDER].copy())
    assert np.array_equal(orders[0], orders[1]) and not np.array_equal(orders[0], orders[2])
    assert len(np.unique(orders[0], axis=0)) > 1


def test_orders_that_a_reset_forces_are_known_to_cheats_only():
    env = collab_overcooked.make("CuisineWorld-v0", level="level_3")
    names = env.game.orderable()
    env.reset(seed=0, options={"orders": [names[0]] * 20})
    simulator = simulator_of(env)

    def coming(cheat: bool) -> set[int]:
        fork = simulator.fork(6, seed=1, cheat=cheat)
        drawn = set()
        for _ in range(40):
            fork.step(np.zeros((6, fork.game.n_agents), np.int32))
            drawn |= {order for order in fork.out.order_events[:, OrderEvent.DRAWN].tolist() if order >= 0}
        return drawn

    assert coming(cheat=True) == {0}
    assert len(coming(cheat=False)) > 1


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (1, -1)])
def test_bad_numbers_are_refused(n, seed):
    with pytest.raises(ValueError, match="integer"):
        simulator_of(started("CuisineWorld-v0")).fork(n, seed)


def test_copies_take_actions_of_the_action_space_only() -> None:
    env = collab_overcooked.make("Overcooked-v0")
    env.reset(seed=0)
    fork = Simulator(env.game, env.arrays[0], 0).fork(2, 0)
    for step in (fork.step, fork.advance, fork.act_seat):
        with pytest.raises(ValueError, match="agent_1 in environment 1 is 5000, outside Discrete"):
            step(np.array([[0, 0], [0, 5000]]))
        with pytest.raises(ValueError, match="shape"):
            step(np.zeros((1, 2), np.int32))
