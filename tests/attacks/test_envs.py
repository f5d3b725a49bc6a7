"""Batches under any actions, legal or not: within their spaces, and the same as single envs, clones and scenes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from attacks.games import GAMES, PARAMS

import collab_overcooked
from collab_overcooked.envs.api import SequentialGame
from collab_overcooked.envs.parallel import ParallelEnv

pytestmark = pytest.mark.attacks
SIZE, STEPS = 6, 60


@pytest.fixture(scope="module", params=PARAMS)
def spec(request):
    return GAMES[request.param]


def choose(rng, masks, last):
    """Return actions of all kinds: legal ones, any at all, the last one again, and one and the same for all."""
    n_actions = masks.shape[-1]
    legal = (rng.random(masks.shape) * masks).argmax(-1)
    unchecked = rng.integers(0, n_actions, masks.shape[:2])
    kinds = np.stack([legal, legal, unchecked, last, np.broadcast_to(rng.integers(0, n_actions), legal.shape)])
    kind = np.arange(len(masks)) % len(kinds)
    return np.where(rng.random(legal.shape) < 0.9, kinds[kind, np.arange(len(masks))], legal)


def check_masks(batch, actions, masks, rejected, before, snapshots):
    """Masks are 0 or 1 and never empty; where they are exact, what they forbid is refused while other seats wait.

    What another seat does in the same step may still make an action fail or possible, such as an item that it puts on
    a counter. Where seats act in turn, masks speak of the state before the first of them.
    """
    assert ((batch.out.masks == 0) | (batch.out.masks == 1)).all()
    assert (batch.out.masks.any(-1) | batch.over[:, None]).all()
    if batch.game.exact_masks and not isinstance(batch.game, SequentialGame):
        allowed = np.take_along_axis(masks, actions[..., None], 2)[..., 0] != 0
        for i, seat in np.argwhere(~allowed & (rejected == 0) & ~before[:, None]).tolist():
            alone = ParallelEnv(batch.game)
            alone.reset(seed=1)
            alone.restore_state(snapshots[i])
            waiting = {name: batch.game.idle_action(k) for k, name in enumerate(alone.possible_agents)}
            name = alone.possible_agents[seat]
            assert alone.step({**waiting, name: int(actions[i, seat])})[4][name]["rejected"]


def check_numbers(batch, observations, rewards):
    """Observations and states are in their spaces, and rewards are finite."""
    space, game = batch.single_observation_space, batch.game
    assert observations.dtype == space.dtype and np.isfinite(rewards).all()
    assert ((observations >= space.low) & (observations <= space.high)).all()
    assert game.state_space.contains(game.state_vector(batch.state, 0))


def check_single(single, batch, actions, observations, rewards, before):
    """The first environment of a batch plays as one of its own."""
    if before[0]:
        return
    names = single.possible_agents
    seen, paid, terminated, truncated, infos = single.step({name: int(actions[0, k]) for k, name in enumerate(names)})
    for k, name in enumerate(names):
        np.testing.assert_array_equal(seen[name], observations[0, k])
        np.testing.assert_array_equal(infos[name]["action_mask"], batch.out.masks[0, k])
        assert paid[name] == rewards[0, k]
        assert (terminated[name], truncated[name]) == (batch.out.terminated[0], batch.out.truncated[0])


def check_copies(game, batch, i, rng):
    """An environment, its clone and what its scene gives say and do the same for a while."""
    one, two = ParallelEnv(game), ParallelEnv(game)
    one.reset(seed=1)
    one.restore_state(batch.clone(i))
    scene = json.loads(json.dumps(batch.scene(i), allow_nan=False))
    two.reset(seed=2, options={"state": scene})
    assert json.loads(json.dumps(two.scene())) == scene
    for name in one.possible_agents:
        assert one.describe(name)
    game.render(batch.state, i, "ansi")
    for _ in range(4):
        if not one.agents:
            break
        actions = {name: int(rng.integers(game.n_actions)) for name in one.agents}
        first, second = one.step(actions), two.step(actions)
        assert first[1:4] == second[1:4] and one.scene() == two.scene()
        for name in first[0]:
            np.testing.assert_array_equal(first[0][name], second[0][name])
            np.testing.assert_array_equal(first[4][name]["action_mask"], second[4][name]["action_mask"])


def test_any_actions_leave_batches_legal_and_the_same_as_single_envs(spec, attack_seed):
    env_id, options = spec
    rng = np.random.default_rng(attack_seed)
    wrapper = {"max_cycles": int(limit)} if (limit := rng.choice([0, 1, 7, 40])) else {}
    batch = collab_overcooked.make_vec(env_id, SIZE, num_threads=int(rng.choice([1, 3])), **wrapper, **options)
    single = collab_overcooked.make(env_id, **wrapper, **options)
    game, seed = getattr(batch.game, "plain", batch.game), int(rng.integers(2**40))
    observations, infos = batch.reset(seed=seed)
    single.reset(seed=seed)
    last = np.zeros(infos["action_mask"].shape[:2], np.int64)
    for t in range(STEPS):
        masks, before = batch.out.masks.copy(), batch.over.copy()
        snapshots = [batch.clone(i) for i in range(SIZE)]
        last = choose(rng, masks, last)
        observations, rewards, _, _, infos = batch.step(last)
        check_masks(batch, last, masks, infos["rejected"], before, snapshots)
        check_numbers(batch, observations, rewards)
        check_single(single, batch, last, observations, rewards, before)
        if t % 10 == 0 and not batch.over.all():
            check_copies(game, batch, int(rng.choice(np.flatnonzero(~batch.over))), rng)
        if batch.over[1:].any() and rng.random() < 0.3:
            which = batch.over.copy()
            which[0] = False  # the single one is not started again
            batch.reset(seed=int(rng.integers(2**40)), which=which)
    batch.close()
