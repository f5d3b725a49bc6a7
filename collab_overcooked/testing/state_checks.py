"""Conformance checks of a compiled game's state: global state, events and their rewards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from collab_overcooked.envs.api import State, clone
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.testing.knowledge_checks import need_scenes, visited_states
from collab_overcooked.testing.playing import random_legal
from collab_overcooked.testing.report import Skip, Subject, expect

TRIES = 10  # of drawing a part of a scene so that the game accepts it
TOLERANCE = 1e-5  # of rewards, which are float32


def check_global_state(subject: Subject) -> str:
    """Check that the global state differs between states whose scenes differ in one part, for every part."""
    game, rng = need_scenes(subject), np.random.default_rng(subject.seed)
    differs: dict[str, bool] = {}
    for state, _ in visited_states(subject, game, 1):
        before, scene = game.state_vectors(state)[0], game.scene(state, 0)
        for key, other in _changed(game, scene, rng, [key for key in scene if not differs.get(key)]):
            differs[key] = differs.get(key, False) or not np.array_equal(before, game.state_vectors(other)[0])
    left_out = ", ".join(key for key, is_shown in differs.items() if not is_shown)
    expect(not left_out, f"state() leaves out {left_out}: add the array that holds it to global_state")
    if not differs:
        raise Skip("no part of a scene could be changed alone")
    return f"state() differs with each of {', '.join(differs)}"


def _changed(
    game: CompiledGame, scene: dict[str, Any], rng: np.random.Generator, keys: list[str]
) -> Iterator[tuple[str, State]]:
    """Yield states whose scene differs in one part; draws of the future are no part of the state that counts."""
    for key, part in game.scene_parts().items():
        for _ in range(TRIES if key in keys and key not in ("chance", "limit") and part.draw else 0):
            assert part.draw is not None
            value = part.draw(rng)
            if value == scene[key]:
                continue
            try:
                other = game.state_of(scene | {key: value})
            except ValueError:
                continue  # parts need not fit together
            if game.scene(other, 0)[key] == value:
                yield key, other
                break


def check_events(subject: Subject) -> str:
    """Check that no refused action acts, and that equal events of a step pay the same unless open orders decide."""
    game = plain(subject.need_game())
    if not isinstance(game, CompiledGame):
        raise Skip("the game has no kernels")
    players, rng = BatchEnv(game, 16), np.random.default_rng(subject.seed)
    players.reset(subject.seed)
    paid: dict[bytes, tuple[tuple[float, ...], str]] = {}
    refused = 0
    for step in range(60 * subject.episodes):
        where = f"step {step} of seed {subject.seed}"
        if step % 10 == 0:
            refused += _expect_refusals_agree(game, players, rng, where)
        players.step(random_legal(players, rng))
        for i in np.flatnonzero(~players.over):
            events, rewards = players.out.events[i], tuple(players.out.rewards[i].tolist())
            earlier, there = paid.setdefault(events.tobytes(), (rewards, where))
            expect(
                earlier == rewards or not game.events_pay,
                f"events {game.events(players.out, int(i))} pay {list(rewards)} at {where} and {list(earlier)} at "
                f"{there}: one of them says something else than what happened",
            )
        players.reset(which=players.over)
    return f"{len(paid)} different events pay what they say, and {refused} refused actions acted alike"


def check_pay(subject: Subject) -> str:
    """Check that rewards agree with the pay that the game declares for events: seat, sign and amount."""
    game = plain(subject.need_game())
    if not isinstance(game, CompiledGame):
        raise Skip("the game has no kernels")
    players = BatchEnv(game, 16)
    rng = np.random.default_rng(subject.seed)
    paid = 0
    players.reset(subject.seed)
    offered = np.ones(game.n_actions)
    for step in range(100 * subject.episodes):
        offered += players.out.masks.sum(axis=(0, 1))
        players.step(random_legal(players, rng, 1 / offered))
        bounds = game.pay_bounds(players.out)
        if bounds is None:
            raise Skip("the game declares no event_pay")
        rewards = players.out.rewards
        wrong = (rewards < bounds[0] - TOLERANCE) | (rewards > bounds[1] + TOLERANCE)
        for i, seat in np.argwhere(wrong).tolist():
            least, most = float(bounds[0][i, seat]), float(bounds[1][i, seat])
            allowed = least if least == most else f"{least} to {most}"
            raise AssertionError(
                f"agent_{seat} is paid {float(rewards[i, seat])}, not {allowed} as declared, for events "
                f"{game.events(players.out, i)} at step {step} of environment {i}"
            )
        paid += int(((bounds[0] != 0) | (bounds[1] != 0)).any(1).sum())
        players.reset(which=players.over)
    if not paid:
        raise Skip("random play brings about no event that pays")
    return f"{paid} times events paid whom and what the game declares, and all others nothing"


def _expect_refusals_agree(game: CompiledGame, players: BatchEnv, rng: np.random.Generator, where: str) -> int:
    """Try refused actions of a seat in one state: all actions without effect must lead to equal observations."""
    count = 0
    for i in range(len(players.out.masks)):
        snapshot = players.clone(i)
        for seat in range(game.n_agents):
            first: tuple[np.ndarray, int] | None = None
            forbidden = np.flatnonzero(snapshot.out.masks[0, seat] == 0)
            for action in rng.permutation(forbidden)[:4].tolist():
                state, out = clone(snapshot.state, 0), clone(snapshot.out, 0)
                actions = snapshot.out.masks.argmax(2).astype(np.int32)
                actions[0, seat] = action
                game.step(state, actions, out)
                if not game.rejections(state, out)[0, seat]:
                    continue
                observed, other = first = first or (out.observations.copy(), action)
                texts = game.action_texts(snapshot.state, 0, seat)
                what = f"agent_{seat} is refused {texts[other : other + 1]} and {texts[action : action + 1]}"
                same = np.array_equal(observed, out.observations)
                expect(same, f"{what}, but observations after them differ: one of them acts, at {where}")
                count += 1
    return count
