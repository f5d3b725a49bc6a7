"""Conformance checks of action masks against the environment's behaviour."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.api import Snapshot, TextGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.testing.playing import choose, episode, has_snapshots, masks_of, random_legal
from collab_overcooked.testing.report import Skip, Subject, expect


def check_mask_form(subject: Subject) -> str:
    """Check shape, dtype and values of masks, and that every agent always has an allowed action."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, result in enumerate(episode(env, rng, subject.seed + k)):
            for agent, mask in masks_of(env, result[0], result[-1]).items():
                where = f"the mask of {agent} at step {step} of seed {subject.seed + k}"
                _expect_mask(mask, env.action_space(agent), where)
                seen += 1
    return f"{seen} masks are int8, of 0 and 1, one entry per action, never all 0"


def _expect_mask(mask: np.ndarray | None, space: Any, where: str) -> None:
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise Skip("action spaces are not Discrete")
    if mask is None:
        raise Skip("neither observations nor infos have an action_mask")
    expect(mask.dtype == np.int8, f"{where} has dtype {mask.dtype}; Gymnasium's sample(mask=...) needs int8")
    expect(mask.shape == (space.n,), f"{where} has shape {mask.shape}, not ({space.n},)")
    expect(np.isin(mask, (0, 1)).all(), f"{where} has values other than 0 and 1")
    expect(mask.any(), f"{where} allows nothing")


class Rewind:
    """Returns to one state of an environment, by its snapshots if it has them, else by deepcopy."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.by_snapshot = has_snapshots(env)
        self.saved = env.clone_state() if self.by_snapshot else copy.deepcopy(env)

    def __call__(self) -> Any:
        """Return an environment in that state."""
        if not self.by_snapshot:
            return copy.deepcopy(self.saved)
        self.env.restore_state(self.saved)
        return self.env


def check_masks(subject: Subject) -> str:
    """Compare masks with the acceptance of allowed and forbidden actions in many states.

    Teammates take their first legal action. As an agent that acts earlier in the same step may change what is possible,
    a contradiction counts only if it persists with other legal actions of the teammates.
    """
    subject.need_exact_masks()
    env, states, tried = subject.make(), 0, 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        result = env.reset(seed=subject.seed + k)
        for step in range(45):
            if not env.agents:
                result = env.reset()
            masks = masks_of(env, result[0], result[-1])
            _need_rejections(subject, env, masks, result[-1])
            if step % 3 == 0:
                rewind = Rewind(env)
                tried += _expect_masks_true(subject, rewind, masks, rng, f"step {step} of seed {subject.seed + k}")
                env = rewind()
                states += 1
            result = env.step(choose(env, masks, rng))
    return f"{tried} actions in {states} states were accepted or refused as the masks predict"


def _need_rejections(subject: Subject, env: Any, masks: dict[str, Any], infos: Any) -> None:
    for agent in env.agents:
        if masks[agent] is None or not isinstance(env.action_space(agent), gymnasium.spaces.Discrete):
            raise Skip("there are no action masks over Discrete action spaces")
        if subject.is_rejected is None and "rejected" not in infos.get(agent, {}):
            raise Skip("refusals are not observable: infos have no 'rejected', and is_rejected is not set")


def _expect_masks_true(
    subject: Subject, rewind: Rewind, masks: dict[str, Any], rng: np.random.Generator, where: str
) -> int:
    tried = 0
    for agent, mask in masks.items():
        for allowed in (True, False):
            actions = np.flatnonzero(mask.astype(bool) == allowed)
            for action in rng.permutation(actions)[:10]:
                tried += 1
                if not _behaves(subject, rewind, masks, agent, int(action), allowed, rng):
                    claim, done = ("allows", "refuses") if allowed else ("forbids", "accepts")
                    number = int(action) + int(rewind.env.action_space(agent).start)
                    raise AssertionError(
                        f"the mask of {agent} {claim} action {number}, the environment {done} it, {where}"
                    )
    return tried


def _behaves(
    subject: Subject, rewind: Rewind, masks: dict[str, Any], agent: str, action: int, allowed: bool, rng: Any
) -> bool:
    for attempt in range(4):
        env = rewind()
        actions = {}
        for other in env.agents:
            legal = np.flatnonzero(masks[other])
            if other == agent:
                pick = action
            else:
                pick = legal[0] if attempt == 0 else rng.choice(legal)
            actions[other] = int(pick) + int(env.action_space(other).start)
        infos = env.step(actions)[4]
        if subject.is_rejected is not None:
            rejected = subject.is_rejected(env, agent, actions[agent])
        else:
            rejected = infos[agent]["rejected"]
        if bool(rejected) != allowed:
            return True
        if len(actions) == 1:
            return False
    return False


def check_all_masks(subject: Subject) -> str:
    """Check every action of every agent in many states at once, with the batched kernels."""
    subject.need_exact_masks()
    game, states = subject.need_game(), 0
    rng = np.random.default_rng(subject.seed)
    players = BatchEnv(game, 8, max_cycles=200)  # long enough to reach states beyond short random episodes
    probes = BatchEnv(game, game.n_agents * game.n_actions)
    players.reset(subject.seed)
    probes.reset(subject.seed)
    offered = np.zeros(game.n_actions)  # number of masks that allow each action
    for step in range(100 * subject.episodes):
        for i in range(8) if step % 5 == 0 else ():
            _expect_all_masks_true(probes, players.clone(i), rng, f"step {step} of environment {i}")
            states += 1
        offered += players.out.masks.sum(axis=(0, 1))
        players.step(random_legal(players, rng, 1 / (1 + offered)))
        players.reset(which=players.over)
    return (
        f"all {game.n_actions} actions of all agents were accepted or refused as the masks predict, in {states} states "
        f"with {np.count_nonzero(offered)} actions allowed somewhere"
    )


def _expect_all_masks_true(probes: BatchEnv, snapshot: Snapshot, rng: np.random.Generator, where: str) -> None:
    game, masks = probes.game, snapshot.out.masks[0]
    seats = np.repeat(np.arange(game.n_agents), game.n_actions)
    tried = np.tile(np.arange(game.n_actions), game.n_agents)
    everything = np.arange(len(seats))
    wrong = np.ones(len(seats), np.bool_)
    for attempt in range(4):
        for array, saved in zip((*probes.state, *probes.out), (*snapshot.state, *snapshot.out), strict=True):
            array[:] = saved
        actions = np.tile(masks.argmax(axis=1), (len(seats), 1)) if attempt == 0 else random_legal(probes, rng)
        actions[everything, seats] = tried
        infos = probes.step(actions)[4]
        accepted = infos["rejected"][everything, seats] == 0
        wrong &= accepted != (masks[seats, tried] == 1)
        if not wrong.any():
            return
    row = np.flatnonzero(wrong)[0]
    agent = probes.possible_agents[seats[row]]
    texts = game.action_texts(snapshot.state, 0, int(seats[row]))
    text = texts[tried[row]] if tried[row] < len(texts) else "which the seat does not have"
    claim = "allows" if masks[seats[row], tried[row]] else "forbids"
    raise AssertionError(f"the mask of {agent} {claim} action {tried[row]}, {text}, but the game disagrees, at {where}")


def check_texts(subject: Subject) -> str:
    """Check that every action's text is parsed as the action, in lower, upper and mixed case."""
    game, count = subject.game, 0
    if not isinstance(game, TextGame):
        raise Skip("the game has no texts of actions")
    env = subject.make()
    env.reset(seed=subject.seed)
    for agent in env.agents:
        texts = game.action_texts(env.arrays[0], 0, env.seat(agent))
        for text in filter(None, texts):
            expect(texts.count(text) == 1, f"{agent} has {texts.count(text)} actions with the text {text!r}")
            for spelling in (text, text.upper(), text.lower()):
                expect(
                    texts[env.parse(spelling, agent)] == text, f"{spelling!r} of {agent} is parsed as another action"
                )
            count += 1
    return f"{count} texts are parsed as their actions, whatever their case"
