"""Conformance checks of scenes and of what seats may not know: it changes nothing of what they get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import Out, State, clone
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.scene_codec import believed, group, limited
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.testing.playing import MAX_STEPS, difference, random_legal
from collab_overcooked.testing.report import Skip, Subject, expect

STEPS = (0, 1, 4, 9, 16, 25, 36, 49)  # after which states are looked at
REDRAWN = 4  # states by state and seat
TRIES = 20  # of drawing what is hidden so that the game accepts the scene


def need_scenes(subject: Subject) -> CompiledGame:
    """Return the plain game, or skip the check if it declares no scenes."""
    game = plain(subject.need_game())
    if not isinstance(game, CompiledGame):
        raise Skip("the game declares no scenes")
    return game


def visited_states(subject: Subject, game: CompiledGame, count: int) -> Iterator[tuple[Any, str]]:
    """Yield states of ``count`` random episodes, each a batch of one, and where they were visited."""
    players, rng = BatchEnv(game, count), np.random.default_rng(subject.seed)
    players.reset(subject.seed)
    for step in range(STEPS[-1] + 1):
        for i in range(count) if step in STEPS else ():
            yield players.clone(i).state, f"step {step} of environment {i}"
        players.step(random_legal(players, rng))
        players.reset(which=players.over)


def place_of(game: CompiledGame, name: str, index: np.ndarray) -> str:
    """Return an entry of an array of the state by the names of its declaration, such as ``bay[WRECK]``."""
    axes = game.array_classes[0]._field_defaults[name].axes
    named = [axis(k).name if isinstance(axis, type) else str(k) for axis, k in zip(axes, index.tolist(), strict=True)]
    return f"{name}[{', '.join(named)}]"


def expect_same_arrays(game: CompiledGame, first: Any, second: Any, complaint: str, but: tuple[str, ...] = ()) -> None:
    """Fail with the first entry in which two states differ, save for some arrays."""
    for name, one, two in zip(first._fields, first, second, strict=True):
        if name not in but and not np.array_equal(one, two):
            at = np.argwhere(one[0] != two[0])[0]
            place, (before, after) = place_of(game, name, at), (array[0][tuple(at)] for array in (one, two))
            raise AssertionError(f"{complaint}: {game.id} has {place} {before} before and {after} after it")


def check_scenes(subject: Subject) -> str:
    """Check that a state which is written as a scene and read again has the same arrays and the same scene."""
    game, count = need_scenes(subject), 0
    for state, where in visited_states(subject, game, 2 * subject.episodes):
        scene = game.scene(state, 0)
        try:
            restored = game.state_of(scene)
        except ValueError as error:
            raise AssertionError(f"a scene is refused by its own game, {game.id}, at {where}: {error}") from None
        expect_same_arrays(game, state, restored, f"a scene does not restore its state at {where}", game.unsaved)
        mismatch = difference(scene, game.scene(restored, 0), "scene")
        expect(mismatch is None, f"a scene is not read as it was written at {where}: {mismatch}")
        count += 1
    return f"{count} states were restored from their scenes, array by array"


def check_end_is_final(subject: Subject) -> str:
    """Check that steps of the game after an episode's end pay nothing and change nothing in the state."""
    game, ended = need_scenes(subject), 0
    for limit in (20, None):
        players, rng = BatchEnv(game, 4, max_cycles=limit), np.random.default_rng(subject.seed)
        players.reset(subject.seed)
        for _ in range(MAX_STEPS):
            if players.over.all():
                break
            players.step(random_legal(players, rng))
        for i in np.flatnonzero(players.over).tolist():
            (state, out, _), where = players.clone(i), f"in environment {i} of seed {subject.seed}"
            _expect_end(game, state, out, rng, where)
            ended += 1
    if not ended:
        raise Skip(f"no episode ended within {MAX_STEPS} steps")
    return f"after the ends of {ended} episodes, steps paid nothing and changed no array"


def _expect_end(game: CompiledGame, state: State, out: Out, rng: np.random.Generator, where: str) -> None:
    for _ in range(20):
        before, actions = clone(state, 0), rng.integers(0, game.n_actions, (1, game.n_agents), np.int32)
        game.step(state, actions, out)
        paid = out.rewards[0].tolist()
        expect(not any(paid), f"a step after the end pays {paid}, {where}")
        expect_same_arrays(game, before, state, f"a step after the end changes the state, {where}")
        expect(out.terminated[0] or out.truncated[0], f"a step after the end revives the episode, {where}")


def check_knowledge(subject: Subject) -> str:
    """Check that what is hidden from a seat changes nothing that it gets, and that searches believe something of it."""
    game, subject_game, count = need_scenes(subject), subject.need_game(), 0
    rng = np.random.default_rng(subject.seed)
    for state, where in visited_states(subject, game, 1):
        scene = game.scene(state, 0)
        true = game.state_of(scene)
        for seat, agent in enumerate(game.display_names):
            _expect_belief(game, scene, true, seat, agent)
            got = _given(subject_game, true, seat)
            for other in _alternatives(game, scene, true, seat, rng):
                _expect_same_knowledge(got, _given(subject_game, other, seat), agent, game.hidden_keys(seat), where)
                count += 1
            mismatch = difference(got["scene"], got["believed scene"], "scene")
            expect(mismatch is None, f"beliefs of {agent} contradict what it knows, at {where}: {mismatch}")
    return f"{count} states with something else in place of what a seat may not know gave it the same"


def _expect_belief(game: CompiledGame, scene: dict[str, Any], state: State, seat: int, agent: str) -> None:
    if type(game).sample_belief is not CompiledGame.sample_belief:
        return
    try:
        game.sample_belief(clone(state, 0), seat, np.random.default_rng(0))
    except (ValueError, TypeError) as error:
        raise AssertionError(f"{agent} has no belief of what it may not know: {error}") from None
    left_out = limited(group(game.scene_parts()), scene, seat).keys() - game.seat_scene(scene, seat).keys()
    named = ", ".join(sorted(left_out))
    expect(not left_out, f"{agent} has no belief of {named}: declare known_to= and belief=, or define sample_belief")


def _alternatives(
    game: CompiledGame, scene: dict[str, Any], state: State, seat: int, rng: np.random.Generator
) -> Iterator[Any]:
    """Yield states that differ in what a seat may not know: as parts are drawn by their forms, and as it believes."""
    parts, left = group(game.scene_parts()), REDRAWN if game.hidden_keys(seat) else 1
    for _ in range(TRIES):
        other = believed(parts, scene, seat, rng, "scene", redraws=True)
        if "chance" in other:
            other["chance"] = other["chance"] | {"seed": int(rng.integers(2**62))}
        try:
            drawn = game.state_of(other)
        except ValueError:
            continue  # what is drawn part by part need not fit together
        yield drawn
        left -= 1
        if not left:
            break
    guessed = clone(state, 0)
    game.sample_belief(guessed, seat, rng)
    yield guessed


def _given(game: Any, state: State, seat: int) -> dict[str, Any]:
    """Return all that a seat gets of a state, by what it is, and what its searches start from."""
    _, out = game.alloc(1)
    game.observe(state, out)
    seen, simulator = game.seen(state, 0, seat), Simulator(game, state, seat)
    return {
        "scene": seen.scene,
        "observation": out.observations[0, seat].copy(),
        "mask": out.masks[0, seat].copy(),
        "refusal": {f"{k} {text}": game.check(state, 0, seat, k) for k, text in enumerate(seen.action_texts)},
        "text": seen.text,
        "manual": seen.manual,
        "picture": game.sheet(seen.scene, seat),
        "drawn picture": game.render(state, 0, "ansi", seat),
        "belief": dict(zip(state._fields, simulator.fork(3, 5).state, strict=True)),
        "believed scene": game.seat_scene(game.scene(simulator.state, 0), seat),
    }


def _expect_same_knowledge(
    got: dict[str, Any], other: dict[str, Any], agent: str, keys: Sequence[str], where: str
) -> None:
    for name, value in got.items():
        mismatch = difference(value, other[name], name)
        if mismatch is not None:
            what = ", ".join(keys) or "future draws"
            sentence = mismatch if len(mismatch) <= 160 else f"{mismatch[:157]}..."
            raise AssertionError(
                f"the {name} of {agent} depends on what it may not know ({what}), at {where}: {sentence}"
            )
