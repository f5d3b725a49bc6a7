"""The conformance suite accepts what is right and names what is wrong, in other people's environments too."""

from __future__ import annotations

import copy
import sys
import types
from functools import partial
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from pettingzoo import ParallelEnv
from testing.planted import LanternOfGlass, beacon, plant, quota, relay

from collab_overcooked import registry
from collab_overcooked.envs.aec import to_aec
from collab_overcooked.envs.parallel import ParallelEnv as GameEnv
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.jit import is_compiled, kernel
from collab_overcooked.testing import CHECKS, ConformanceError, Report, Result, check_game, difference

WAIT, ADD, TAKE, DOUBLE = range(4)
HIGHEST = 9


class Tally(ParallelEnv):
    """Somebody else's environment: two agents count, with chance adding to the first; all correct."""

    metadata: ClassVar = {"name": "tally_v0", "render_modes": ["ansi"]}

    def __init__(self, max_cycles=12, render_mode=None):
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.possible_agents = ["left", "right"]
        self.agents = []
        self.rng = np.random.default_rng()
        self.refused = {}
        self.seen = gymnasium.spaces.Box(0, HIGHEST, (3,), np.uint8)
        self.choices = {agent: gymnasium.spaces.Discrete(4) for agent in self.possible_agents}

    def observation_space(self, agent):
        return self.seen

    def action_space(self, agent):
        return self.choices[agent]

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.counts = dict.fromkeys(self.agents, 0)
        self.time = 0
        self.refused = {}
        return self.observe(), self.inform()

    def mask(self, agent):
        count = self.counts[agent]
        return np.array([1, count < HIGHEST, count > 0, 0 < count < HIGHEST - 1], np.int8)

    def observe(self):
        counts = list(self.counts.values())
        return {agent: np.array([self.counts[agent], *counts], np.uint8) for agent in self.agents}

    def inform(self):
        return {agent: {"action_mask": self.mask(agent)} for agent in self.agents}

    def rewards(self):
        return {agent: float(self.counts[agent]) for agent in self.agents}

    def accepts(self, agent, action):
        count = self.counts[agent]
        return (True, count < HIGHEST, count > 0, 0 < count < HIGHEST - 1)[action]

    def move(self, agent, action):
        self.refused[agent] = not self.accepts(agent, action)
        if not self.refused[agent]:
            self.counts[agent] += (0, 1, -1, 2)[action]

    def step(self, actions):
        if not self.agents:
            return {}, {}, {}, {}, {}
        for agent in self.agents:
            self.move(agent, actions[agent])
        self.counts["left"] = min(HIGHEST, self.counts["left"] + int(self.rng.integers(2)))
        self.time += 1
        results = self.observe(), self.rewards(), *self.ends(), self.inform()
        self.agents = [agent for agent in self.agents if not results[2][agent] and not results[3][agent]]
        return results

    def ends(self):
        over = self.time >= self.max_cycles
        return dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, over)

    def render(self):
        return str(self.counts)

    def state(self):
        return np.array(list(self.counts.values()), np.int32)

    state_space = gymnasium.spaces.Box(0, HIGHEST, (2,), np.int32)


def was_refused(env, agent, action):
    return env.refused[agent]


def test_a_correct_environment_of_somebody_else_passes():
    report = check_game(Tally, is_rejected=was_refused)
    assert report.ok
    reasons = {result.check: result.sentence for result in report.having("skipped")}
    of_games = {"kernels", "global_state", "events", "pay", "scenes", "knowledge", "end_is_final"}
    assert set(reasons) == {"all_masks", "batch", "observe", "signatures", "clone", "texts"} | of_games
    assert "registered with this package" in reasons["batch"]
    assert "no clone_state" in reasons["clone"]


def test_what_cannot_be_seen_is_skipped_with_a_reason():
    class Bare(Tally):
        metadata: ClassVar = {"name": "bare_v0"}

        def inform(self):
            return {agent: {} for agent in self.agents}

        def state(self):
            raise NotImplementedError

    report = check_game(lambda: Bare(), checks=["render", "max_cycles", "mask_form", "masks", "state"])
    sentences = [result.sentence for result in report.having("skipped")]
    assert sentences == [
        "the environment's metadata declares no render_modes",
        "the environment does not accept the option max_cycles",
        "neither observations nor infos have an action_mask",
        "there are no action masks over Discrete action spaces",
        "the environment has no state()",
    ]
    (result,) = check_game(Tally, checks=["masks"]).results
    assert result.status == "skipped"
    assert "is_rejected is not set" in result.sentence


def test_modules_in_pettingzoos_form_can_be_checked():
    module = types.ModuleType("tally_v0")
    module.parallel_env = Tally
    module.env = lambda **kwargs: to_aec(Tally(**kwargs), wrapped=True)
    report = check_game(module, max_cycles=5, checks=["parallel_api", "aec_api", "max_cycles", "render", "ends"])
    assert report.subject == "tally_v0(max_cycles=5)"
    assert len(report.having("passed")) == 5
    assert "5 to 5 steps" in report.results[-1].sentence


# ------------------------------------------------------------------------------------------- broken on purpose


class AllowsTooMuch(Tally):
    def mask(self, agent):
        return np.ones(4, np.int8)


class AllowsTooLittle(Tally):
    def mask(self, agent):
        mask = super().mask(agent)
        mask[DOUBLE] = 0
        return mask


class BoolMask(Tally):
    def mask(self, agent):
        return super().mask(agent).astype(bool)


class EmptyMask(Tally):
    def mask(self, agent):
        return np.zeros(4, np.int8)


class SharedInfos(Tally):
    def inform(self):
        self.infos = getattr(self, "infos", {})
        self.infos.update(super().inform())
        return self.infos


class ReusedBuffer(Tally):
    def observe(self):
        self.buffers = getattr(self, "buffers", {agent: np.zeros(3, np.uint8) for agent in self.possible_agents})
        for agent, row in super().observe().items():
            self.buffers[agent][:] = row
        return dict(self.buffers)


class ArraysSharedByAgents(Tally):
    def observe(self):
        both = np.array([0, *self.counts.values()], np.uint8)
        return dict.fromkeys(self.agents, both)


class ForgetsItsSeed(Tally):
    def reset(self, seed=None, options=None):
        return super().reset(None, options)


class RemembersEarlierEpisodes(Tally):
    lifetime = 0

    def step(self, actions):
        self.lifetime += 1
        if self.lifetime == 4:
            self.counts["right"] = 3
        return super().step(actions)


class OutOfSpace(Tally):
    def observe(self):
        return {agent: row + np.uint8(8) for agent, row in super().observe().items()}


class OtherDtype(Tally):
    def observe(self):
        return {agent: row.astype(np.float32) for agent, row in super().observe().items()}


class EndsApart(Tally):
    def ends(self):
        terminated, truncated = super().ends()
        return {**terminated, **({"left": self.time >= 6} if "left" in self.agents else {})}, truncated


class PaysNan(Tally):
    def rewards(self):
        return dict.fromkeys(self.agents, float("nan") if self.time == 7 else 0.0)


class PaysArrays(Tally):
    def rewards(self):
        return dict.fromkeys(self.agents, np.zeros(1))


class NewSpaces(Tally):
    def action_space(self, agent):
        return gymnasium.spaces.Discrete(4)


class NewSpacesAfterReset(Tally):
    def reset(self, seed=None, options=None):
        self.seen = copy.deepcopy(self.seen)
        return super().reset(seed, options)


class Revives(Tally):
    def step(self, actions):
        if not self.agents:
            self.reset()
            return super().step(dict.fromkeys(self.agents, WAIT))
        return super().step(actions)


class HoldsAFunction(Tally):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.log = lambda text: None


class CopiesShareTheirCounts(Tally):
    def __deepcopy__(self, memo):
        twin = copy.copy(self)
        twin.agents = list(self.agents)
        return twin


class PicklesForget(Tally):
    def __getstate__(self):
        return {**self.__dict__, "rng": np.random.default_rng(0)}


class SnapshotsAreAlive(Tally):
    def clone_state(self):
        return self.counts, self.time, list(self.agents), copy.deepcopy(self.rng)

    def restore_state(self, snapshot):
        self.counts, self.time, self.agents, self.rng = *snapshot[:2], list(snapshot[2]), copy.deepcopy(snapshot[3])


class IgnoresMaxCycles(Tally):
    def ends(self):
        return dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, self.time >= 12)


class DrawsNumbers(Tally):
    def render(self):
        return 7


class StateOutOfSpace(Tally):
    def state(self):
        return super().state() - 1


class StepsRaise(Tally):
    def move(self, agent, action):
        if not self.accepts(agent, action):
            raise RuntimeError("no")
        super().move(agent, action)


@pytest.mark.parametrize(
    ("env", "check", "sentence"),
    [
        (AllowsTooMuch, "masks", "the mask of left allows action 2, the environment refuses it, step 0 of seed"),
        (AllowsTooLittle, "masks", r"the mask of \w+ forbids action 3, the environment accepts it"),
        (BoolMask, "mask_form", "the mask of left at step 0 of seed 0 has dtype bool"),
        (EmptyMask, "mask_form", "allows nothing"),
        (SharedInfos, "fresh", r"reaches step 1: infos has keys|later steps change what step 0 returned: infos"),
        (ReusedBuffer, "fresh", r"later steps change what step \d+ returned: observations\['left'\] differs"),
        (ArraysSharedByAgents, "fresh", "right and left share memory in observations at step 0"),
        (ForgetsItsSeed, "determinism", "two environments with seed 0 and the same actions diverge"),
        (RemembersEarlierEpisodes, "determinism", r"differs|is .* in one and .* in the other"),
        (OutOfSpace, "observations", r"the observation of left at step \d+ of seed 0 is outside its space Box"),
        (OtherDtype, "observations", "the observation of left at step 0 of seed 0 has dtype float32, its space uint8"),
        (EndsApart, "ends", "at step 6 of seed 0 left ended but right did not"),
        (PaysNan, "rewards", "the reward of left at step 7 of seed 0 is nan, not finite"),
        (PaysArrays, "rewards", "a ndarray, not a float"),
        (NewSpaces, "spaces", "left has a new action space at step 0"),
        (NewSpaces, "parallel_api", "exact same space object"),
        (NewSpacesAfterReset, "spaces", "left has a new observation space at step 0"),
        (Revives, "after_end", "a step after the end returns observations of left, right"),
        (HoldsAFunction, "pickle", "raised .*lambda"),
        (CopiesShareTheirCounts, "deepcopy", "a deep-copied environment does not continue like the original"),
        (PicklesForget, "pickle", "a pickled environment does not continue like the original"),
        (SnapshotsAreAlive, "clone", "after restore_state in the same environment, 1 steps on, observations"),
        (IgnoresMaxCycles, "max_cycles", "PettingZoo's max_cycles_test fails at `assert max_cycles == pstep`"),
        (DrawsNumbers, "render", "PettingZoo's render_test fails at `assert isinstance"),
        (StateOutOfSpace, "state", "the state at step 0 is outside its space"),
        (StepsRaise, "seeds", "raised RuntimeError: no"),
    ],
)
def test_a_broken_environment_is_rejected_with_a_sentence(env, check, sentence):
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game(env, is_rejected=was_refused, checks=[check])
    assert [result.check for result in caught.value.report.having("failed")] == [check]


def test_all_failures_are_listed_at_once():
    class Broken(PaysNan, AllowsTooMuch, OtherDtype):
        pass

    with pytest.raises(ConformanceError) as caught:
        check_game(Broken, is_rejected=was_refused)
    report = caught.value.report
    assert {"rewards", "masks", "observations"} <= {result.check for result in report.having("failed")}
    assert str(caught.value).count("\n") == len(report.having("failed"))
    quiet = check_game(Broken, is_rejected=was_refused, raise_on_failure=False)
    assert not quiet.ok
    assert len(quiet.results) == len(CHECKS)


# ------------------------------------------------------------------------------------------- broken games of our own


class Game(CollabOvercooked):
    id = "Broken-v0"


class LeakyMasks(Game):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.masks[:, 0, -1] = 1


class DependsOnTheBatch(Game):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.rewards[:] += len(state.rng) - 1


@kernel
def touch(numbers):
    numbers[0] = 0


class CompiledTwice(Game):
    def step_calls(self, state, actions, out):
        numbers = np.zeros(10)
        mine = numbers[::2] if len(actions) > 1 else numbers
        return (*super().step_calls(state, actions, out), (touch, (mine,)))


@pytest.mark.parametrize(
    ("game", "check", "sentence"),
    [
        (Game, "batch", None),
        (LeakyMasks, "all_masks", r"the mask of agent_0 allows action \d+, .*, but the game disagrees, at step 5"),
        (LeakyMasks, "masks", "the mask of agent_0 allows action"),
        (DependsOnTheBatch, "batch", "batch of 4 with 1 threads, call 0: agent_0 in environment 0 gets"),
        pytest.param(
            CompiledTwice,
            ["batch", "signatures"],
            "touch was compiled 2 times",
            marks=pytest.mark.skipif(not is_compiled(touch), reason="kernels are not compiled"),
        ),
    ],
)
def test_a_broken_game_is_rejected(monkeypatch, game, check, sentence):
    """As a user's own game would be, it is registered first."""
    module = types.ModuleType("broken_v0")
    module.game = game
    module.parallel_env = partial(parallel, game)
    module.env = lambda **kwargs: to_aec(parallel(game, **kwargs), wrapped=True)
    monkeypatch.setitem(sys.modules, "broken_v0", module)
    record = registry.GameSpec("Broken-v0", "broken_v0:game", "A broken game.", module="broken_v0")
    monkeypatch.setattr(registry, "GAMES", (*registry.GAMES, record))
    checks = check if isinstance(check, list) else [check]
    if sentence is None:
        assert check_game("Broken-v0", checks=checks).ok
        return
    with pytest.raises(ConformanceError, match=sentence):
        check_game("Broken-v0", checks=checks, episodes=2)


def parallel(game, **kwargs):
    wrapper, rules = split_options(kwargs)
    return GameEnv(game(**rules), **wrapper)


# ------------------------------------------------------------------------------------------- reports


def test_unknown_targets_and_checks_get_near_matches():
    with pytest.raises(ValueError, match="unknown check 'mask'; did you mean masks"):
        check_game(Tally, checks=["mask"])
    with pytest.raises(ValueError, match="unknown environment id 'CollabOvercooked'"):
        check_game("CollabOvercooked")
    with pytest.raises(ValueError, match="unknown option 'taks'"):
        check_game("CollabOvercooked-v0", taks="boiled_egg")


def test_a_report_reads_like_a_table():
    report = Report("tally", (Result("ends", "passed", "all is well"), Result("masks", "skipped", "no masks")))
    assert str(report).splitlines() == [
        "tally: 1 passed, 0 failed, 1 skipped",
        "  passed  ends           all is well",
        "  skipped masks          no masks",
    ]


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (1, 1, None),
        (float("nan"), float("nan"), None),
        (1, 1.0, "x is int in one and float in the other"),
        ({"a": 1}, {"b": 1}, "x has keys ['a'] in one and ['b'] in the other"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "x['a'][1] is 2 in one and 3 in the other"),
        ((1,), (1, 2), "x has length 1 in one and 2 in the other"),
        (np.zeros(2), np.zeros(2, np.float32), "x differs"),
        (np.array(["a"]), np.array(["b"]), "x differs"),
    ],
)
def test_differences_are_told_in_words(first, second, result):
    assert difference(first, second, "x") == result


def test_every_check_has_a_docstring():
    assert all(check.__doc__ for check in CHECKS.values())


ALL = [check for check in CHECKS if check != "signatures"]  # counted for all games of a process together


@pytest.mark.parametrize("game", [relay.Relay, beacon.Beacon, quota.Quota, LanternOfGlass])
def test_games_without_a_fault_pass(monkeypatch, game):
    plant(monkeypatch, game)
    assert check_game("Planted-v0", checks=ALL, episodes=1).ok
