"""Conformance checks of fresh results and of copies of every kind."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from collab_overcooked.testing.playing import MAX_STEPS, choose, lockstep, masks_of, moment_difference, walk_in
from collab_overcooked.testing.report import Skip, Subject, expect


def check_fresh(subject: Subject) -> str:
    """Check that callers may change what they get, and keep it."""
    rng = np.random.default_rng(subject.seed)
    kept, spoiled = subject.make(), subject.make()
    moment, other = kept.reset(seed=subject.seed), spoiled.reset(seed=subject.seed)
    history = []
    for step in range(40):
        history.append((step, moment, copy.deepcopy(moment)))
        _expect_apart(moment[0], f"observations at step {step}")
        _expect_apart(moment[-1], f"infos at step {step}")
        spoil(other)
        if not kept.agents:
            moment, other = kept.reset(), spoiled.reset()
            continue
        actions = choose(kept, masks_of(kept, moment[0], moment[-1]), rng)
        moment, other = kept.step(dict(actions)), spoiled.step(dict(actions))
        found = moment_difference(moment, other)
        expect(found is None, f"a caller's change of an earlier result reaches step {step + 1}: {found}")
    for step, moment, saved in history:
        found = moment_difference(moment, saved)
        expect(found is None, f"later steps change what step {step} returned: {found}")
    return "changing returned dictionaries and arrays changes nothing in the environment or in other results"


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _arrays(inner)


def _expect_apart(by_agent: Any, where: str) -> None:
    """Arrays of different agents must not overlap."""
    agents = list(by_agent)
    for i, agent in enumerate(agents):
        for other in agents[:i]:
            shared = any(np.shares_memory(a, b) for a in _arrays(by_agent[agent]) for b in _arrays(by_agent[other]))
            expect(not shared, f"{agent} and {other} share memory in {where}")


def spoil(value: Any) -> None:
    """Overwrite all that can be overwritten in a result, as a careless caller might."""
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
        moment = walk_in(env, rng, subject.seed + k, steps)
        twin = duplicate(env)
        lockstep(env, twin, moment, rng, 60, f"a {how} environment does not go on like the original")
    return f"{how} environments go on like the originals, over resets"


def check_pickle(subject: Subject) -> str:
    """Check that an environment survives pickling in the middle of an episode."""
    return _check_copies(subject, lambda env: pickle.loads(pickle.dumps(env)), "pickled")


def check_deepcopy(subject: Subject) -> str:
    """Check that an environment survives deepcopy in the middle of an episode."""
    return _check_copies(subject, copy.deepcopy, "deep-copied")


def check_clone(subject: Subject) -> str:
    """Check that clone_state and restore_state go back exactly, past an episode's end and into another environment."""
    env, other = subject.make(), subject.make()
    if not hasattr(env, "clone_state") or not hasattr(env, "restore_state"):
        raise Skip("the environment has no clone_state and restore_state")
    rng = np.random.default_rng(subject.seed)
    moment = walk_in(env, rng, subject.seed, 7)
    snapshot, masks = env.clone_state(), masks_of(env, moment[0], moment[-1])
    played = []
    for _ in range(MAX_STEPS):
        actions = choose(env, masks, rng)
        moment = env.step(dict(actions))
        played.append((actions, moment))
        masks = masks_of(env, moment[0], moment[-1])
        if not env.agents:
            break
    other.reset(seed=subject.seed + 1)
    for back, whose in ((env, "the same"), (other, "another")):
        back.restore_state(snapshot)
        for step, (actions, moment) in enumerate(played):
            found = moment_difference(moment, back.step(dict(actions)))
            expect(found is None, f"after restore_state in {whose} environment, {step + 1} steps on, {found}")
    return f"snapshots bring back the same {len(played)} steps, in the same environment and in another"
