"""Every registered environment keeps the whole contract, in all its option sets."""

from __future__ import annotations

import numpy as np
import pytest
from support.option_sets import CHANNELS, OPTIONS

from collab_overcooked import make, registered
from collab_overcooked.testing import CHECKS, check_game

EVERY_RUN = {"CollabOvercooked-v0": 2, "CuisineWorld-v0": 2, "Overcooked-v0": 2, "Transport-v0": 0}
"""How many option sets of an id are tried with every slow run, one of the others; the rest at night. Transport and
Housework are one engine.

With every commit, all sets are played as plain Python (``tests/envs/test_plain_python.py``)."""


CHANNELS_EVERY_COMMIT, CHANNELS_EVERY_RUN = 2, 8  # of the ids in ``CHANNELS``; the rest at night

AT_NIGHT = {"Transport-v0": "knowledge"}
"""The check that takes longest of an id whose engine another id has, which is checked whole with every commit."""


def cases(env_id):
    yield {}, ()
    for k, options in enumerate(OPTIONS.get(env_id, [])):
        yield options, pytest.mark.slow if k < EVERY_RUN.get(env_id, 1) else pytest.mark.nightly
    number = list(CHANNELS).index(env_id)
    marks = pytest.mark.slow if number < CHANNELS_EVERY_RUN else pytest.mark.nightly
    yield CHANNELS[env_id], () if number < CHANNELS_EVERY_COMMIT else marks


CASES = [
    pytest.param(
        env_id, options, id="-".join([env_id, *(f"{key}={value}" for key, value in options.items())]), marks=marks
    )
    for env_id in registered()
    for options, marks in cases(env_id)
]


@pytest.mark.parametrize(("env_id", "options"), CASES)
def test_registered_environments_conform(env_id, options):
    later = set() if options else {AT_NIGHT.get(env_id)}
    report = check_game(env_id, checks=[check for check in CHECKS if check not in later], **options)
    passed = {result.check for result in report.having("passed")}
    skipped = {"signatures"}  # where JIT is off
    skipped |= {"masks", "all_masks"} if options.get("mask") in ("original", "safe") else set()
    skipped |= {"pay"} if options else set()  # perhaps too rarely in random play
    skipped |= {"global_state"} if options.get("agents") == 1 else set()  # no part of some scenes can change alone
    assert passed | skipped == set(CHECKS) - later, str(report)


@pytest.mark.nightly
@pytest.mark.parametrize(("env_id", "check"), AT_NIGHT.items())
def test_checks_that_take_long_pass_too(env_id, check):
    assert check_game(env_id, checks=[check]).having("passed")


@pytest.mark.parametrize("env_id", registered())
def test_a_scene_brings_a_moment_back_with_its_future(env_id):
    env, other, rng = make(env_id), make(env_id), np.random.default_rng(3)
    env.reset(seed=3)
    for t in range(24):
        if t == 12:
            other.reset(seed=4, options={"state": env.scene()})
        actions = {agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents}
        for one in (env, other) if t >= 12 else (env,):
            one.step(actions)
        if t >= 12:
            assert other.scene() == env.scene() and other.agents == env.agents
            np.testing.assert_array_equal(other.arrays[1].observations, env.arrays[1].observations)
            np.testing.assert_array_equal(other.arrays[1].masks, env.arrays[1].masks)
        if not env.agents:
            break
