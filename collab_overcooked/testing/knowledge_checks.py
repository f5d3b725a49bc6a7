"""Conformance checks of scenes and of hidden information: hidden parts of a state must not affect a seat's inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.api import Out, State, clone
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.channel import quiet_arrays
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.scene_codec import Part, believed, group, kept, limited
from collab_overcooked.kernels.rng import Rng
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.testing.playing import MAX_STEPS, difference, random_legal
from collab_overcooked.testing.report import Skip, Subject, expect

STEPS = (0, 1, 4, 9, 16, 25, 36, 49)  # after which states are looked at
REDRAWN = 4  # states by state and seat, of all that is hidden
GUESSES = 3  # beliefs by state and seat
TRIES = 20  # of drawing what is hidden so that the game accepts the scene
BRANCHES = 24  # ways in which a state goes on by state and seat
AHEAD = 2  # steps that they last
LOOKED_AT = 2  # branches by state and seat of which texts and pictures are compared, too


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
    """Fail with the first difference between two states, except in some arrays.

    Raises:
        AssertionError: The states differ.
    """
    for name, one, two in zip(first._fields, first, second, strict=True):
        if name not in but and not np.array_equal(one, two):
            at = np.argwhere(one[0] != two[0])[0]
            place = place_of(game, name, at)
            before, after = (array[0][tuple(at)] for array in (one, two))
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
            state, out, _ = players.clone(i)
            where = f"in environment {i} of seed {subject.seed}"
            _expect_end(game, state, out, rng, where)
            ended += 1
    if not ended:
        raise Skip(f"no episode ended within {MAX_STEPS} steps")
    return f"after the ends of {ended} episodes, steps paid nothing and changed no array"


def _expect_end(game: CompiledGame, state: State, out: Out, rng: np.random.Generator, where: str) -> None:
    for _ in range(20):
        before = clone(state, 0)
        actions = rng.integers(0, game.n_actions, (1, game.n_agents), np.int32)
        game.step(state, actions, out)
        paid = out.rewards[0].tolist()
        expect(not any(paid), f"a step after the end pays {paid}, {where}")
        expect_same_arrays(game, before, state, f"a step after the end changes the state, {where}")
        expect(out.terminated[0] or out.truncated[0], f"a step after the end revives the episode, {where}")


def check_knowledge(subject: Subject) -> str:
    """Check that hidden state does not affect a seat's inputs, and that searches sample a belief of hidden state."""
    game = need_scenes(subject)
    subject_game = subject.need_game()
    count = 0
    pairs = 0
    rng = np.random.default_rng(subject.seed)
    for state, where in visited_states(subject, game, 1):
        scene = game.scene(state, 0)
        true = game.state_of(scene)
        for seat, agent in enumerate(game.display_names):
            _expect_belief(game.quiet, quiet_arrays(true), seat, agent)
            hidden = ", ".join(game.hidden_keys(seat)) or "future draws"
            got = _given(subject_game, true, seat)
            for other in _alternatives(game, scene, seat, rng):
                _expect_same_knowledge(got, _given(subject_game, other, seat), agent, hidden, where)
                count += 1
            mismatch = difference(got["scene"], got["believed scene"], "scene")
            expect(mismatch is None, f"beliefs of {agent} contradict what it knows, at {where}: {mismatch}")
            for _ in range(GUESSES):
                guessed = clone(true, 0)
                game.sample_belief(guessed, seat, rng)
                _expect_same_knowledge(got, _given(subject_game, guessed, seat), agent, hidden, where)
            count += GUESSES
            if _leaves_something_out(game, scene, seat):
                pairs += _expect_same_branches(subject_game, game, state, seat, rng, f"after {where}")
    branched = f", and so did {pairs} that play leads to" if pairs else ""
    return f"{count} states with something else in place of what a seat may not know gave it the same{branched}"


def _leaves_something_out(game: CompiledGame, scene: dict[str, Any], seat: int) -> bool:
    """Return whether a seat's scene lacks parts other than the random state and ``kept`` ones."""
    kept_keys = _kept_keys(game)
    return game.seat_scene(scene, seat) != {key: value for key, value in scene.items() if key not in kept_keys}


def _kept_keys(game: CompiledGame) -> list[str]:
    """Return the keys that scenes of seats lack although they hold no secret, and ``chance``."""
    return [key for key, part in group(game.scene_parts()).secrets.items() if part.belief is kept]


def _expect_same_branches(
    subject_game: Any, game: CompiledGame, state: State, seat: int, rng: np.random.Generator, where: str
) -> int:
    """Play copies of a state on with equal actions of the seat, and compare copies that look equal to the seat.

    Who may know what often changes in play, and no declaration says so; the scene that a game shows a seat does.
    """
    players, out = game.alloc(BRANCHES)
    for copies, original in zip(players, state, strict=True):
        copies[:] = original
    players.rng[:, [Rng.LOW, Rng.HIGH]] = rng.integers(0, 2**31, (BRANCHES, 2))
    game.observe(players, out)
    pairs, looked_at = 0, 0
    for step in range(AHEAD):
        waits = rng.exponential(size=out.masks.shape)
        actions = np.where(out.masks == 1, waits, np.inf).argmin(axis=2).astype(np.int32)
        actions[:, seat] = actions[0, seat]
        game.step(players, actions, out)
        game.observe(players, out)
        for one, other in _indistinguishable(game, players, out, seat):
            pairs += 1
            for name, rows in (("observation", out.observations), ("mask", out.masks)):
                same = np.array_equal(rows[one, seat], rows[other, seat])
                complaint = _leak(name, game.display_names[seat], "what its scene leaves out", where)
                expect(same, f"{complaint}, {step + 1} steps on")
            if looked_at < LOOKED_AT:
                looked_at += 1
                first, second = (_given(subject_game, clone(players, k), seat) for k in (one, other))
                agent, when = game.display_names[seat], f"{where}, {step + 1} steps on"
                _expect_same_knowledge(first, second, agent, "what its scene leaves out", when)
    return pairs


def _indistinguishable(game: CompiledGame, players: State, out: Out, seat: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of environments that differ, but look the same in the scenes of a seat."""
    first: dict[str, tuple[int, dict[str, Any]]] = {}
    kept_keys = [key for key in _kept_keys(game) if key != "chance"]
    for i in np.flatnonzero(~out.terminated & ~out.truncated).tolist():
        scene = game.scene(players, i)
        scene.pop("chance", None)
        visible = [game.seat_scene(scene, seat), [scene[key] for key in kept_keys]]
        one, original = first.setdefault(json.dumps(visible, sort_keys=True), (i, scene))
        if scene != original:
            yield one, i


def _expect_belief(game: CompiledGame, state: State, seat: int, agent: str) -> None:
    scene = game.scene(state, 0)
    if type(game).sample_belief is not CompiledGame.sample_belief:
        return
    try:
        game.sample_belief(clone(state, 0), seat, np.random.default_rng(0))
    except (ValueError, TypeError) as error:
        raise AssertionError(f"{agent} has no belief of what it may not know: {error}") from None
    left_out = limited(group(game.scene_parts()), scene, seat).keys() - game.seat_scene(scene, seat).keys()
    named = ", ".join(sorted(left_out))
    expect(not left_out, f"{agent} has no belief of {named}: declare known_to= and belief=, or define sample_belief")


def _alternatives(game: CompiledGame, scene: dict[str, Any], seat: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield states that differ in parts hidden from a seat, drawn by the parts' parsers."""
    parts, hidden = group(game.scene_parts()), game.hidden_keys(seat)
    yield from _redrawn(game, rng, REDRAWN if hidden else 1, lambda: believed(parts, scene, seat, rng, "scene", True))
    for key in hidden:  # what is drawn together may never fit together
        yield from _redrawn(game, rng, 1, partial(_with_one_redrawn, parts, scene, key, seat, rng))


def _with_one_redrawn(
    parts: Part, scene: dict[str, Any], key: str, seat: int, rng: np.random.Generator
) -> dict[str, Any]:
    return scene | {key: believed(parts.secrets[key], scene[key], seat, rng, key, True)}


def _redrawn(
    game: CompiledGame, rng: np.random.Generator, count: int, draw: Callable[[], dict[str, Any]]
) -> Iterator[Any]:
    """Yield up to ``count`` states of drawn scenes that the game accepts, with new random seeds."""
    for _ in range(TRIES):
        scene = draw()
        if "chance" in scene:
            scene["chance"] = scene["chance"] | {"seed": int(rng.integers(2**62))}
        try:
            state = game.state_of(scene)
        except ValueError:
            continue  # parts that are drawn one by one need not fit together
        yield state
        count -= 1
        if not count:
            return


def _given(game: Any, state: State, seat: int) -> dict[str, Any]:
    """Return a seat's inputs in a state by name, including the states from which its searches start."""
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
        "picture": game.drawing(seen.scene, seat),
        "drawn picture": game.render(state, 0, "ansi", seat),
        "belief": dict(zip(state._fields, simulator.fork(3, 5).state, strict=True)),
        "believed scene": game.seat_scene(game.scene(simulator.state, 0), seat),
    }


def _expect_same_knowledge(got: dict[str, Any], other: dict[str, Any], agent: str, hidden: str, where: str) -> None:
    for name, value in got.items():
        mismatch = difference(value, other[name], name)
        if mismatch is not None:
            sentence = mismatch if len(mismatch) <= 160 else f"{mismatch[:157]}..."
            raise AssertionError(f"{_leak(name, agent, hidden, where)}: {sentence}")


def _leak(name: str, agent: str, hidden: str, where: str) -> str:
    return f"the {name} of {agent} depends on what it may not know ({hidden}), at {where}"
