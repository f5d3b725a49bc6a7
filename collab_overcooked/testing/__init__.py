"""Conformance: one call that tells whether an environment keeps what PettingZoo, trainers and searches rely on.

``check_game("CollabOvercooked-v0")`` checks one of ours with its options; ``check_game(make_env)`` checks anybody's
ParallelEnv. PettingZoo's own tests are part of it. The rest is what they leave out: whole episodes instead of single
steps, what is inside observations, masks and infos, and copies of every kind.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import math
import numbers
import pickle
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import gymnasium
import numpy as np

from collab_overcooked import errors as messages
from collab_overcooked import registry
from collab_overcooked._bound import count_versions
from collab_overcooked.core.rng import derive_seeds
from collab_overcooked.envs.api import Game, Snapshot
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.shells import split_options

Rejected = Callable[[Any, str, Any], bool]
PARTS = ("observations", "rewards", "terminations", "truncations", "infos")
LONGEST = 1000  # steps after which an episode counts as endless


# ------------------------------------------------------------------------------------------- reports


@dataclass(frozen=True)
class Result:
    """What one check found.

    Attributes:
        check: Name of the check.
        status: How it went.
        sentence: What was checked, what is wrong, or why it does not apply.
    """

    check: str
    status: Literal["passed", "failed", "skipped"]
    sentence: str


@dataclass(frozen=True)
class Report:
    """All results of one environment.

    Attributes:
        subject: Name and options of the environment.
        results: In the order of ``CHECKS``.
    """

    subject: str
    results: tuple[Result, ...]

    def having(self, status: str) -> tuple[Result, ...]:
        """Return the results of one status."""
        return tuple(result for result in self.results if result.status == status)

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.having("failed")

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.having(status))} {status}" for status in ("passed", "failed", "skipped"))
        lines = [f"  {result.status:8}{result.check:15}{result.sentence}" for result in self.results]
        return "\n".join([f"{self.subject}: {counts}", *lines])


class ConformanceError(AssertionError):
    """An environment failed checks; the message has a sentence for each.

    Attributes:
        report: All results.
    """

    def __init__(self, report: Report) -> None:
        failures = report.having("failed")
        lines = [f"  {result.check}: {result.sentence}" for result in failures]
        super().__init__("\n".join([f"{report.subject} fails {len(failures)} checks:", *lines]))
        self.report = report


class Skip(Exception):
    """A check does not apply; the message says why."""


def expect(condition: Any, sentence: str) -> None:
    """Fail the running check with a sentence unless the condition holds.

    Raises:
        AssertionError: With the sentence.
    """
    if not condition:
        raise AssertionError(sentence)


# ------------------------------------------------------------------------------------------- what is checked


@dataclass(frozen=True)
class Subject:
    """An environment under test.

    Attributes:
        name: Name and options.
        make: Makes a ParallelEnv; keyword arguments add to the options.
        make_aec: Makes the AEC form.
        game: The compiled game, of registered environments only.
        shell: Options of the shell, of registered environments only.
        is_rejected: ``is_rejected(env, agent, action)``, asked after the step in which the agent tried the action.
        seed: First seed.
        episodes: Episodes of a check.
    """

    name: str
    make: Callable[..., Any]
    make_aec: Callable[..., Any]
    game: Game | None
    shell: dict[str, Any]
    is_rejected: Rejected | None
    seed: int
    episodes: int

    def need_game(self) -> Game:
        """Return the compiled game, or skip."""
        if self.game is None:
            raise Skip("only environments registered with this package have a compiled game behind them")
        return self.game

    def need_exact_masks(self) -> None:
        """Skip if the masks are not meant to be what the environment accepts."""
        if self.game is not None and not self.game.exact_masks:
            raise Skip("the game was made with masks that are not meant to be exact")

    def need_option(self, name: str) -> None:
        """Skip if the environment cannot be made with an option."""
        parameters = inspect.signature(self.make).parameters
        anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        if name not in parameters and not anything:
            raise Skip(f"the environment's maker takes no {name}")


def check_game(
    target: str | types.ModuleType | Callable[..., Any],
    *,
    is_rejected: Rejected | None = None,
    raise_on_failure: bool = True,
    checks: Sequence[str] | None = None,
    seed: int = 0,
    episodes: int = 3,
    **kwargs: Any,
) -> Report:
    """Check an environment.

    Args:
        target: Registered id, a module in PettingZoo's form (``parallel_env`` and ``env``), or a callable that returns
            a ParallelEnv.
        is_rejected: Tells, right after a step, whether the action that an agent took in it was refused:
            ``is_rejected(env, agent, action) -> bool``. Without it ``info["rejected"]`` is read; without that the
            masks are not checked against what the environment does.
        raise_on_failure: Raise if a check fails.
        checks: Names of the checks to run, see ``CHECKS``; all if None.
        seed: First seed of the checks.
        episodes: Random episodes of a check; more find more.
        **kwargs: Options of the environment.

    Returns:
        The report.

    Raises:
        ConformanceError: If a check failed; it lists all failures.
        ValueError: For an unknown id, option or check.
    """
    chosen = list(CHECKS if checks is None else checks)
    for name in chosen:
        if name not in CHECKS:
            raise ValueError(messages.near_matches("check", name, CHECKS))
    subject = _subject(target, kwargs, is_rejected, seed, episodes)
    report = Report(subject.name, tuple(_run(name, CHECKS[name], subject) for name in chosen))
    if raise_on_failure and not report.ok:
        raise ConformanceError(report)
    return report


def _subject(target: Any, kwargs: dict[str, Any], is_rejected: Rejected | None, seed: int, episodes: int) -> Subject:
    options = ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
    game: Game | None = None
    shell: dict[str, Any] = {}
    if isinstance(target, str):
        record = registry.find(target)
        shell, rules = split_options(kwargs)
        game = registry.load_game(record.id, **rules)
        name = record.id
        make, make_aec = (
            partial(registry.make, record.id, **kwargs),
            partial(registry.pettingzoo_module(record.id).env, **kwargs),
        )
    elif isinstance(target, types.ModuleType):
        name, make, make_aec = target.__name__, partial(target.parallel_env, **kwargs), partial(target.env, **kwargs)
    else:
        name, make = getattr(target, "__name__", repr(target)), partial(target, **kwargs)
        make_aec = partial(_as_aec, make)
    name = f"{name}({options})" if options else name
    return Subject(name, make, make_aec, game, shell, is_rejected, seed, episodes)


def _as_aec(make: Callable[..., Any], **kwargs: Any) -> Any:
    from pettingzoo.utils.conversions import parallel_to_aec

    return parallel_to_aec(make(**kwargs))


def _run(name: str, check: Callable[[Subject], str], subject: Subject) -> Result:
    try:
        return Result(name, "passed", check(subject))
    except Skip as reason:
        return Result(name, "skipped", str(reason))
    except AssertionError as error:
        return Result(name, "failed", _one_line(error) or "an assertion without a message failed")
    except Exception as error:  # whatever an environment raises is its fault, and the other checks still run
        return Result(name, "failed", f"raised {type(error).__name__}: {_one_line(error)}")


def _one_line(value: Any) -> str:
    return " ".join(str(value).split())


# ------------------------------------------------------------------------------------------- playing and comparing


def mask_of(observation: Any, info: Any) -> np.ndarray | None:
    """Return an agent's action mask from its observation or its info, None if there is none."""
    for place in (observation, info):
        if isinstance(place, dict) and "action_mask" in place:
            return np.asarray(place["action_mask"])
    return None


def masks_of(env: Any, observations: Any, infos: Any) -> dict[str, np.ndarray | None]:
    """Return the masks of all living agents."""
    return {agent: mask_of(observations[agent], infos.get(agent)) for agent in env.agents}


def choose(env: Any, masks: dict[str, np.ndarray | None], rng: np.random.Generator) -> dict[str, Any]:
    """Return a random action of every living agent, inside its mask if it has one."""
    actions = {}
    for agent in env.agents:
        space, mask = env.action_space(agent), masks[agent]
        if isinstance(space, gymnasium.spaces.Discrete) and mask is not None and mask.any():
            actions[agent] = int(rng.choice(np.flatnonzero(mask)) + space.start)
        else:
            space.seed(int(rng.integers(2**31)))
            actions[agent] = space.sample()
    return actions


def episode(env: Any, rng: np.random.Generator, seed: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Play an episode of random legal actions.

    Yields:
        Observations and infos of the reset, then the five dictionaries of each step.
    """
    observations, infos = env.reset(seed=seed)
    yield observations, infos
    for _ in range(LONGEST):
        if not env.agents:
            return
        moment = env.step(choose(env, masks_of(env, observations, infos), rng))
        observations, infos = moment[0], moment[4]
        yield moment


def play_to_end(subject: Subject, env: Any, rng: np.random.Generator, seed: int | None = None) -> int:
    """Play an episode and return its length; skip if it does not end."""
    length = sum(1 for _ in episode(env, rng, seed)) - 1
    if env.agents:
        raise Skip(f"no episode of {subject.name} ended within {LONGEST} steps")
    return length


def difference(first: Any, second: Any, path: str) -> str | None:
    """Return where two results differ, in words; None if they are equal to the bit."""
    if type(first) is not type(second):
        return f"{path} is {type(first).__name__} in one and {type(second).__name__} in the other"
    if isinstance(first, dict):
        if first.keys() != second.keys():
            return f"{path} has keys {sorted(map(str, first))} in one and {sorted(map(str, second))} in the other"
        return next(filter(None, (difference(first[key], second[key], f"{path}[{key!r}]") for key in first)), None)
    if isinstance(first, (list, tuple)):
        if len(first) != len(second):
            return f"{path} has length {len(first)} in one and {len(second)} in the other"
        pairs = enumerate(zip(first, second, strict=True))
        return next(filter(None, (difference(a, b, f"{path}[{i}]") for i, (a, b) in pairs)), None)
    if isinstance(first, np.ndarray):
        return None if _same_array(first, second) else f"{path} differs"
    return None if first == second or first != first else f"{path} is {first!r} in one and {second!r} in the other"


def _same_array(first: np.ndarray, second: np.ndarray) -> bool:
    inexact = first.dtype.kind in "fc"
    return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=inexact)


def moment_difference(first: tuple[Any, ...], second: tuple[Any, ...]) -> str | None:
    """Return where two moments differ; moments are what reset (two parts) or step (five parts) returns."""
    names = PARTS if len(first) == len(PARTS) else ("observations", "infos")
    found = (difference(a, b, name) for name, a, b in zip(names, first, second, strict=True))
    return next(filter(None, found), None)


def lockstep(
    first: Any, second: Any, moment: tuple[Any, ...], rng: np.random.Generator, steps: int, complaint: str
) -> None:
    """Play two environments with the same actions and expect the same of both, over ends and unseeded resets.

    Args:
        first: Environment whose masks are used.
        second: Environment in the same state.
        moment: What ``first`` returned last.
        rng: Chooses the actions.
        steps: Steps to play.
        complaint: Begins the sentence of a failure.
    """
    for step in range(steps):
        if first.agents:
            actions = choose(first, masks_of(first, moment[0], moment[-1]), rng)
            moment, other = first.step(dict(actions)), second.step(dict(actions))
        else:
            moment, other = first.reset(), second.reset()
        found = moment_difference(moment, other)
        expect(found is None, f"{complaint}; {step + 1} calls on, {found}")
        expect(first.agents == second.agents, f"{complaint}; {step + 1} calls on, the living agents differ")


def walk_in(env: Any, rng: np.random.Generator, seed: int, steps: int) -> tuple[Any, ...]:
    """Play some steps of an episode and return the last moment with living agents."""
    moment: tuple[Any, ...] = env.reset(seed=seed)
    for _ in range(steps):
        following = env.step(choose(env, masks_of(env, moment[0], moment[-1]), rng))
        if not env.agents:
            return env.reset(seed=seed)
        moment = following
    return moment


# ------------------------------------------------------------------------------------------- PettingZoo's own tests


@contextlib.contextmanager
def _pettingzoo(test: str) -> Iterator[None]:
    """Run a test of PettingZoo's quietly; it warns where it should fail, and its assertions often have no message."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("error", UserWarning)
        try:
            yield
        except UserWarning as warning:
            raise AssertionError(f"PettingZoo's {test} warns: {warning}") from warning
        except AssertionError as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise AssertionError(f"PettingZoo's {test} fails at `{place.line}`: {error}".rstrip(": ")) from error


def check_parallel_api(subject: Subject) -> str:
    """Run PettingZoo's parallel_api_test, its warnings as failures."""
    from pettingzoo.test import parallel_api_test

    with _pettingzoo("parallel_api_test"):
        parallel_api_test(subject.make(), num_cycles=100)
    return "PettingZoo's parallel_api_test passes without a warning"


def check_aec_api(subject: Subject) -> str:
    """Run PettingZoo's api_test on the AEC form; its warnings are matters of taste, such as Dict observations."""
    from pettingzoo.test import api_test

    with _pettingzoo("api_test"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        api_test(subject.make_aec(), num_cycles=100)
    advice = sorted({str(warning.message) for warning in caught if warning.category is UserWarning})
    return "PettingZoo's api_test passes on the AEC form" + (f" and advises: {' '.join(advice)}" if advice else "")


def check_seeds(subject: Subject) -> str:
    """Run PettingZoo's parallel_seed_test, which takes illegal actions too."""
    from pettingzoo.test import parallel_seed_test

    with _pettingzoo("parallel_seed_test"):
        parallel_seed_test(subject.make)
    return "PettingZoo's parallel_seed_test passes"


def _seeded(make: Callable[..., Any]) -> Callable[..., Any]:
    """Make environments that play the same at every run: actions drawn anew might, rarely, end an episode early."""

    def make_seeded(**options: Any) -> Any:
        env = make(**options)
        env.reset(seed=0)
        for number, agent in enumerate(env.possible_agents):
            env.action_space(agent).seed(number)
        return env

    return make_seeded


def check_max_cycles(subject: Subject) -> str:
    """Run PettingZoo's max_cycles_test."""
    from pettingzoo.test import max_cycles_test

    subject.need_option("max_cycles")
    with _pettingzoo("max_cycles_test"):
        max_cycles_test(types.SimpleNamespace(parallel_env=_seeded(subject.make), env=_seeded(subject.make_aec)))
    return "PettingZoo's max_cycles_test passes: episodes are cut off after max_cycles steps"


def check_render(subject: Subject) -> str:
    """Run PettingZoo's render_test over all declared render modes."""
    from pettingzoo.test import render_test

    modes = getattr(subject.make(), "metadata", {}).get("render_modes")
    if not modes:
        raise Skip("the environment's metadata declares no render_modes")
    subject.need_option("render_mode")
    with _pettingzoo("render_test"):
        render_test(subject.make_aec)
    return f"PettingZoo's render_test passes for {', '.join(modes)}"


# ------------------------------------------------------------------------------------------- whole episodes


def check_determinism(subject: Subject) -> str:
    """Play the same seed and actions in two environments, one of them used before, and expect the same."""
    for k in range(subject.episodes):
        seed = subject.seed + k
        rng = np.random.default_rng(seed)
        first, second = subject.make(), subject.make()
        walk_in(second, rng, seed + 1000, 5)
        moment, other = first.reset(seed=seed), second.reset(seed=seed)
        found = moment_difference(moment, other)
        expect(found is None, f"two resets with seed {seed} differ: {found}")
        lockstep(first, second, moment, rng, 150, f"two environments with seed {seed} and the same actions part")
    return f"the same seed and actions give the same results, {subject.episodes} seeds, 150 calls each, over resets"


def check_observations(subject: Subject) -> str:
    """Check that every observation is in its space and has its dtype."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, moment in enumerate(episode(env, rng, subject.seed + k)):
            for agent, observation in moment[0].items():
                where = f"the observation of {agent} at step {step} of seed {subject.seed + k}"
                _expect_in_space(env.observation_space(agent), observation, where)
                seen += 1
    return f"{seen} observations of random episodes are inside their spaces and of their dtypes"


def _expect_in_space(space: Any, value: Any, where: str) -> None:
    if isinstance(space, gymnasium.spaces.Dict) and isinstance(value, dict):
        expect(value.keys() == space.keys(), f"{where} has keys {list(value)}, its space {list(space)}")
        for key in space:
            _expect_in_space(space[key], value[key], f"{where}, entry {key!r},")
        return
    if isinstance(space, gymnasium.spaces.Box):
        expect(isinstance(value, np.ndarray), f"{where} is {type(value).__name__}, not a NumPy array")
        expect(value.dtype == space.dtype, f"{where} has dtype {value.dtype}, its space {space.dtype}")
        expect(value.shape == space.shape, f"{where} has shape {value.shape}, its space {space.shape}")
    expect(space.contains(value), f"{where} is outside its space {_shortened(space)}")


def _shortened(value: Any) -> str:
    text = _one_line(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_state(subject: Subject) -> str:
    """Check that the global state is in its space at every step."""
    env = subject.make()
    space = getattr(env, "state_space", None)
    env.reset(seed=subject.seed)
    try:
        env.state()
    except (NotImplementedError, AttributeError):
        raise Skip("the environment offers no state()") from None
    if space is None:
        raise Skip("the environment declares no state_space")
    rng, count = np.random.default_rng(subject.seed), 0
    for step, _ in enumerate(episode(env, rng, subject.seed)):
        _expect_in_space(space, env.state(), f"the state at step {step}")
        count += 1
    return f"{count} global states are inside state_space and of its dtype"


def check_rewards(subject: Subject) -> str:
    """Check that rewards are finite numbers."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, moment in enumerate(episode(env, rng, subject.seed + k)):
            for agent, reward in moment[1].items() if len(moment) == len(PARTS) else ():
                number = isinstance(reward, numbers.Real) and not isinstance(reward, (bool, np.bool_))
                where = f"the reward of {agent} at step {step} of seed {subject.seed + k}"
                expect(number, f"{where} is {reward!r}, a {type(reward).__name__}, not a float")
                expect(math.isfinite(float(reward)), f"{where} is {reward!r}, not finite")
                seen += 1
    return f"{seen} rewards of random episodes are finite floats"


def check_ends(subject: Subject) -> str:
    """Check that all five dictionaries name all agents and that all agents end in the same step."""
    env, lengths = subject.make(), []
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        everyone = set(env.possible_agents)
        for step, moment in enumerate(episode(env, rng, subject.seed + k)):
            where = f"at step {step} of seed {subject.seed + k}"
            for part in moment:
                expect(set(part) == everyone, f"{where} a dictionary names {sorted(part)}, not all agents")
            if len(moment) == len(PARTS):
                _expect_same_end(env, moment, where)
        if env.agents:
            raise Skip(f"no episode ended within {LONGEST} steps")
        lengths.append(step)
    return f"all agents end together, in episodes of {min(lengths)} to {max(lengths)} steps"


def _expect_same_end(env: Any, moment: tuple[Any, ...], where: str) -> None:
    for name, flags in zip(PARTS[2:4], moment[2:4], strict=True):
        for agent, flag in flags.items():
            expect(isinstance(flag, (bool, np.bool_)), f"{where} {name} of {agent} is {flag!r}, not a bool")
    over = {agent: bool(moment[2][agent] or moment[3][agent]) for agent in moment[2]}
    ended = [agent for agent, is_over in over.items() if is_over]
    going = [agent for agent, is_over in over.items() if not is_over]
    expect(not ended or not going, f"{where} {', '.join(ended)} ended but {', '.join(going)} did not")
    expect(set(env.agents) == set(going), f"{where} agents lists {env.agents}, but {going} go on")


def check_after_end(subject: Subject) -> str:
    """Check that a step after the end revives nobody and that a reset brings all agents back."""
    env, rng = subject.make(), np.random.default_rng(subject.seed)
    play_to_end(subject, env, rng, subject.seed)
    try:
        moment = env.step({})
    except Exception as error:
        outcome = f"raises {type(error).__name__}"
    else:
        outcome = "returns empty dictionaries"
        for name, part in zip(PARTS, moment, strict=True):
            expect(not part, f"a step after the end returns {name} of {', '.join(part)}")
    expect(not env.agents, f"a step after the end revives {', '.join(env.agents)}")
    env.reset()
    expect(set(env.agents) == set(env.possible_agents), "a reset after the end does not bring all agents back")
    return f"a step after the end {outcome}, and a reset brings all agents back"


def check_spaces(subject: Subject) -> str:
    """Check that spaces are the same objects at every call, in which their seeds live."""
    env, rng = subject.make(), np.random.default_rng(subject.seed)
    first = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
    for step, _ in enumerate(episode(env, rng, subject.seed)):
        for agent, (observation_space, action_space) in first.items():
            expect(
                env.observation_space(agent) is observation_space, f"{agent} has a new observation space at step {step}"
            )
            expect(env.action_space(agent) is action_space, f"{agent} has a new action space at step {step}")
    return "observation and action spaces are the same objects throughout an episode"


# ------------------------------------------------------------------------------------------- fresh results


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


# ------------------------------------------------------------------------------------------- masks


def check_mask_form(subject: Subject) -> str:
    """Check shape, dtype and values of masks, and that everybody can always do something."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, moment in enumerate(episode(env, rng, subject.seed + k)):
            for agent, mask in masks_of(env, moment[0], moment[-1]).items():
                where = f"the mask of {agent} at step {step} of seed {subject.seed + k}"
                _expect_mask(mask, env.action_space(agent), where)
                seen += 1
    return f"{seen} masks are int8, of 0 and 1, one number an action, never all 0"


def _expect_mask(mask: np.ndarray | None, space: Any, where: str) -> None:
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise Skip("action spaces are not Discrete")
    if mask is None:
        raise Skip("neither observations nor infos have an action_mask")
    expect(mask.dtype == np.int8, f"{where} has dtype {mask.dtype}; Gymnasium's sample(mask=...) wants int8")
    expect(mask.shape == (space.n,), f"{where} has shape {mask.shape}, not ({space.n},)")
    expect(np.isin(mask, (0, 1)).all(), f"{where} has values other than 0 and 1")
    expect(mask.any(), f"{where} allows nothing")


class Rewind:
    """Goes back to one moment of an environment, by its own snapshots or else by deepcopy."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.by_snapshot = hasattr(env, "clone_state") and hasattr(env, "restore_state")
        self.saved = env.clone_state() if self.by_snapshot else copy.deepcopy(env)

    def __call__(self) -> Any:
        """Return an environment at that moment."""
        if not self.by_snapshot:
            return copy.deepcopy(self.saved)
        self.env.restore_state(self.saved)
        return self.env


def check_masks(subject: Subject) -> str:
    """Try masked-in and masked-out actions in many states and compare with what the environment does.

    Teammates take their first legal action meanwhile. An agent that acts earlier in the same step may still change
    what is possible, so a contradiction counts only if it stays with other legal actions of the teammates too.
    """
    subject.need_exact_masks()
    env, states, tried = subject.make(), 0, 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        moment = env.reset(seed=subject.seed + k)
        for step in range(45):
            if not env.agents:
                moment = env.reset()
            masks = masks_of(env, moment[0], moment[-1])
            _need_rejections(subject, env, masks, moment[-1])
            if step % 3 == 0:
                rewind = Rewind(env)
                tried += _expect_masks_true(subject, rewind, masks, rng, f"step {step} of seed {subject.seed + k}")
                env = rewind()
                states += 1
            moment = env.step(choose(env, masks, rng))
    return f"{tried} actions in {states} states were accepted or refused as the masks said"


def _need_rejections(subject: Subject, env: Any, masks: dict[str, Any], infos: Any) -> None:
    for agent in env.agents:
        if masks[agent] is None or not isinstance(env.action_space(agent), gymnasium.spaces.Discrete):
            raise Skip("there are no action masks over Discrete action spaces")
        if subject.is_rejected is None and "rejected" not in infos.get(agent, {}):
            raise Skip("no way to see refusals: infos have no 'rejected', and is_rejected was not given")


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
                    said, done = ("allows", "refuses") if allowed else ("forbids", "accepts")
                    number = int(action) + int(rewind.env.action_space(agent).start)
                    raise AssertionError(
                        f"the mask of {agent} {said} action {number}, the environment {done} it, {where}"
                    )
    return tried


def _behaves(
    subject: Subject, rewind: Rewind, masks: dict[str, Any], agent: str, action: int, allowed: bool, rng: Any
) -> bool:
    """Tell whether an action is accepted if and only if it is allowed, with one of some actions of the teammates."""
    for attempt in range(4):
        env = rewind()
        actions = {}
        for other in env.agents:
            legal = np.flatnonzero(masks[other])
            pick = action if other == agent else legal[0] if attempt == 0 else rng.choice(legal)
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
    """Try every action of every agent in many states at once, through the batched kernels."""
    subject.need_exact_masks()
    game, states = subject.need_game(), 0
    rng = np.random.default_rng(subject.seed)
    players = BatchEnv(game, 8, max_cycles=200)  # long enough for states that short random episodes do not reach
    probes = BatchEnv(game, game.n_agents * game.n_actions)
    players.reset(subject.seed)
    probes.reset(subject.seed)
    offered = np.zeros(game.n_actions)  # how often each action was in a mask
    for step in range(100 * subject.episodes):
        for i in range(8) if step % 5 == 0 else ():
            _expect_all_masks_true(probes, players.clone(i), rng, f"step {step} of environment {i}")
            states += 1
        offered += players.out.masks.sum(axis=(0, 1))
        players.step(random_legal(players, rng, 1 / (1 + offered)))
        players.reset(which=players.over)
    return (
        f"all {game.n_actions} actions of all agents were accepted or refused as the masks said, in {states} states "
        f"with {np.count_nonzero(offered)} actions allowed somewhere"
    )


def random_legal(batch: BatchEnv, rng: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """Return random legal actions (E, N) of a batch.

    Args:
        batch: Environments with at least one legal action for each agent.
        rng: Source of chance.
        weights: float (A,), how likely actions are beside each other; all alike if None. Small weights of common
            actions lead to states that evenly random play hardly ever reaches.
    """
    masks = batch.out.masks
    # The shortest of exponential waits is a draw by rate (Efraimidis and Spirakis, 2006).
    waits = rng.exponential(size=masks.shape) / (1.0 if weights is None else weights)
    return np.where(masks == 1, waits, np.inf).argmin(axis=2)


def _expect_all_masks_true(probes: BatchEnv, moment: Snapshot, rng: np.random.Generator, where: str) -> None:
    game, masks = probes.game, moment.out.masks[0]
    seats = np.repeat(np.arange(game.n_agents), game.n_actions)
    tried = np.tile(np.arange(game.n_actions), game.n_agents)
    everything = np.arange(len(seats))
    wrong = np.ones(len(seats), np.bool_)
    for attempt in range(4):
        for array, saved in zip((*probes.state, *probes.out), (*moment.state, *moment.out), strict=True):
            array[:] = saved
        actions = np.tile(masks.argmax(axis=1), (len(seats), 1)) if attempt == 0 else random_legal(probes, rng)
        actions[everything, seats] = tried
        infos = probes.step(actions)[4]
        accepted = infos["rejected"][everything, seats] == 0
        wrong &= accepted != (masks[seats, tried] == 1)
        if not wrong.any():
            return
    row = np.flatnonzero(wrong)[0]
    agent, text = probes.possible_agents[seats[row]], game.action_texts(moment.state)[tried[row]]
    said = "allows" if masks[seats[row], tried[row]] else "forbids"
    raise AssertionError(
        f"the mask of {agent} {said} action {tried[row]}, {text}, and the game does otherwise, at {where}"
    )


# ------------------------------------------------------------------------------------------- copies


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
    for _ in range(LONGEST):
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


# ------------------------------------------------------------------------------------------- compiled games


def check_observe(subject: Subject) -> str:
    """Check that ``observe`` shows a copied state, in a fresh out, as the environment does."""
    game, env = subject.need_game(), subject.make()
    rng = np.random.default_rng(subject.seed)
    for steps in (0, 5, 9):
        walk_in(env, rng, subject.seed, steps)
        snapshot, (_, out) = env.clone_state(), game.alloc(1)
        game.observe(snapshot.state, out)
        for name in ("observations", "masks"):
            same = np.array_equal(getattr(out, name), getattr(snapshot.out, name))
            expect(same, f"after {steps} steps, observe writes other {name} than the step did")
    return "copied states are shown as steps and resets show them"


def check_batch(subject: Subject) -> str:
    """Compare batches of several sizes and thread counts with single environments of the derived seeds."""
    game = subject.need_game()
    for size, threads, max_cycles in ((1, 1, None), (4, 1, 6), (4, 3, None), (7, 2, 9)):
        limit = subject.shell.get("max_cycles") if max_cycles is None else max_cycles
        batch = BatchEnv(game, size, threads, limit)
        singles = [ParallelEnv(game, **{**subject.shell, "max_cycles": limit}) for _ in range(size)]
        _expect_batch_equals(batch, singles, subject.seed + size)
        batch.close()
    return "environments of batches of 1, 4 and 7, with 1 to 3 threads, equal single ones of the derived seeds"


def _expect_batch_equals(batch: BatchEnv, singles: list[Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch.reset(seed)
    moments = [env.reset(seed=own) for env, own in zip(singles, derive_seeds(seed, len(singles)), strict=True)]
    for step in range(70):
        where = f"batch of {batch.num_envs} with {batch.num_threads} threads, call {step}"
        _expect_rows_equal(batch, moments, where)
        actions = random_legal(batch, rng)
        moments = _step_singles(singles, actions)
        batch.step(actions)
        _expect_rows_equal(batch, moments, where)
        again = batch.over | (rng.random(batch.num_envs) < 0.03)
        batch.reset(which=again)
        for i in np.flatnonzero(again):
            moments[i] = singles[i].reset()


def _step_singles(singles: list[Any], actions: np.ndarray) -> list[Any]:
    return [
        env.step(dict(zip(env.agents, row, strict=True))) for env, row in zip(singles, actions.tolist(), strict=True)
    ]


def _expect_rows_equal(batch: BatchEnv, moments: list[Any], where: str) -> None:
    out, shape = batch.out, batch.single_observation_space.shape
    for i, moment in enumerate(moments):
        for seat, agent in enumerate(batch.possible_agents):
            whose = f"{where}: {agent} in environment {i}"
            observation, mask = moment[0][agent], mask_of(moment[0][agent], moment[-1][agent])
            same = np.array_equal(out.observations[i, seat].reshape(shape), _plain(observation))
            expect(same, f"{whose} observes something else than in the single one")
            expect(mask is not None and np.array_equal(out.masks[i, seat], mask), f"{whose} has another mask")
            if len(moment) == len(PARTS):
                row = (float(out.rewards[i, seat]), bool(out.terminated[i]), bool(out.truncated[i]))
                single = (moment[1][agent], moment[2][agent], moment[3][agent])
                expect(row == single, f"{whose} gets {row}, in the single one {single}")


def _plain(observation: Any) -> np.ndarray:
    """Return the array of an observation that may have its mask beside it."""
    if isinstance(observation, dict):
        return next(value for key, value in observation.items() if key != "action_mask")
    return observation


def check_signatures(subject: Subject) -> str:
    """Count the compiled versions of each kernel; one too many means arrays of another layout or dtype."""
    game: Any = subject.need_game()
    if not hasattr(game, "step_calls"):
        raise Skip("the game is not stepped by kernels")
    state, out = game.alloc(1)
    actions = np.zeros((1, game.n_agents), np.int32)
    calls = (*game.step_calls(state, actions, out), *game.observe_calls(state, out))
    counts = {kernel.__name__: count_versions(kernel, *given) for kernel, given in calls}
    if not any(counts.values()):
        raise Skip("kernels are not compiled: JIT is off, or nothing was played yet")
    for name, count in counts.items():
        sentence = f"{name} was compiled {count} times, so somebody passes arrays of another layout"
        expect(count <= 1, sentence)
    return f"{', '.join(counts)} were compiled once each"


CHECKS: dict[str, Callable[[Subject], str]] = {
    "parallel_api": check_parallel_api,
    "aec_api": check_aec_api,
    "seeds": check_seeds,
    "max_cycles": check_max_cycles,
    "render": check_render,
    "determinism": check_determinism,
    "observations": check_observations,
    "state": check_state,
    "rewards": check_rewards,
    "ends": check_ends,
    "after_end": check_after_end,
    "spaces": check_spaces,
    "fresh": check_fresh,
    "mask_form": check_mask_form,
    "masks": check_masks,
    "all_masks": check_all_masks,
    "pickle": check_pickle,
    "deepcopy": check_deepcopy,
    "clone": check_clone,
    "observe": check_observe,
    "batch": check_batch,
    "signatures": check_signatures,
}
