"""Conformance checks of results and of copies of environments."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from collab_overcooked.testing.playing import (
    MAX_STEPS,
    choose,
    has_snapshots,
    lockstep,
    masks_of,
    result_difference,
    walk_in,
)
from collab_overcooked.testing.report import Skip, Subject, expect


def check_fresh(subject: Subject) -> str:
    """Check that callers may modify and keep results."""
    rng = np.random.default_rng(subject.seed)
    kept, spoiled = subject.make(), subject.make()
    result, other = kept.reset(seed=subject.seed), spoiled.reset(seed=subject.seed)
    history = []
    for step in range(40):
        history.append((step, result, copy.deepcopy(result)))
        _expect_apart(result[0], f"observations at step {step}")
        _expect_apart(result[-1], f"infos at step {step}")
        spoil(other)
        if not kept.agents:
            result, other = kept.reset(), spoiled.reset()
            continue
        actions = choose(kept, masks_of(kept, result[0], result[-1]), rng)
        result, other = kept.step(dict(actions)), spoiled.step(dict(actions))
        mismatch = result_difference(result, other)
        expect(mismatch is None, f"a caller's change of an earlier result reaches step {step + 1}: {mismatch}")
    for step, result, saved in history:
        mismatch = result_difference(result, saved)
        expect(mismatch is None, f"later steps change what step {step} returned: {mismatch}")
    return "changing returned dictionaries and arrays changes nothing in the environment or in other results"


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _arrays(inner)


def _expect_apart(by_agent: Any, where: str) -> None:
    agents = list(by_agent)
    for i, agent in enumerate(agents):
        for other in agents[:i]:
            shared = any(np.shares_memory(a, b) for a in _arrays(by_agent[agent]) for b in _arrays(by_agent[other]))
            expect(not shared, f"{agent} and {other} share memory in {where}")


def spoil(value: object) -> None:
    """Overwrite all mutable parts of a result."""
    if isinstance(value, tuple):
        for part in value:
            spoil(part)
    elif isinstance(value, dict):
        for inner in value.values():
            spoil(inner)
        value.clear()
        value["__all__"] = True  # RLlib does this
    elif isinstance(value, list):
        value.clear()
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        if value.dtype.kind in "iub":
            np.invert(value, out=value)
        elif value.dtype.kind == "f":
            value.fill(np.nan)


def _check_copies(subject: Subject, duplicate: Callable[[Any], Any], how: str) -> str:
    for k, steps in enumerate((0, 3, 11)):
        rng = np.random.default_rng(subject.seed + k)
        env = subject.make()
        result = walk_in(env, rng, subject.seed + k, steps)
        twin = duplicate(env)
        lockstep(env, twin, result, rng, 60, f"a {how} environment does not continue like the original")
    return f"{how} environments continue like the originals, across resets"


def check_pickle(subject: Subject) -> str:
    """Check that an environment survives pickling in the middle of an episode."""
    return _check_copies(subject, lambda env: pickle.loads(pickle.dumps(env)), "pickled")


def check_deepcopy(subject: Subject) -> str:
    """Check that an environment survives deepcopy in the middle of an episode."""
    return _check_copies(subject, copy.deepcopy, "deep-copied")


def check_clone(subject: Subject) -> str:
    """Check that restore_state restores a clone exactly, after an episode's end and in another environment."""
    env, other = subject.make(), subject.make()
    if not has_snapshots(env):
        raise Skip("the environment has no clone_state and restore_state")
    rng = np.random.default_rng(subject.seed)
    result = walk_in(env, rng, subject.seed, 7)
    snapshot, masks = env.clone_state(), masks_of(env, result[0], result[-1])
    played = []
    for _ in range(MAX_STEPS):
        actions = choose(env, masks, rng)
        result = env.step(dict(actions))
        played.append((actions, result))
        masks = masks_of(env, result[0], result[-1])
        if not env.agents:
            break
    other.reset(seed=subject.seed + 1)
    for back, whose in ((env, "the same"), (other, "another")):
        back.restore_state(snapshot)
        for step, (actions, result) in enumerate(played):
            mismatch = result_difference(result, back.step(dict(actions)))
            expect(mismatch is None, f"after restore_state in {whose} environment, {step + 1} steps on, {mismatch}")
    return f"snapshots reproduce the same {len(played)} steps, in the same environment and in another"
