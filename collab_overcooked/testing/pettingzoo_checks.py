"""PettingZoo's own tests as conformance checks, including rendering and step limits."""

from __future__ import annotations

import contextlib
import io
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from collab_overcooked.testing.report import Skip, Subject

CYCLES = 4  # of PettingZoo's max_cycles_test
SEEDS = 20


@contextlib.contextmanager
def _pettingzoo(test: str) -> Iterator[None]:
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
    """Run PettingZoo's parallel_api_test, with warnings as failures."""
    from pettingzoo.test import parallel_api_test

    with _pettingzoo("parallel_api_test"):
        parallel_api_test(subject.make(), num_cycles=100)
    return "PettingZoo's parallel_api_test passes without a warning"


def check_aec_api(subject: Subject) -> str:
    """Run PettingZoo's api_test on the AEC env; its warnings, for example about Dict observations, are only advice."""
    from pettingzoo.test import api_test

    with _pettingzoo("api_test"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        api_test(subject.make_aec(), num_cycles=100)
    advice = sorted({str(warning.message) for warning in caught if warning.category is UserWarning})
    return "PettingZoo's api_test passes on the AEC env" + (f" and advises: {' '.join(advice)}" if advice else "")


def check_seeds(subject: Subject) -> str:
    """Run PettingZoo's parallel_seed_test, which takes illegal actions too."""
    from pettingzoo.test import parallel_seed_test

    with _pettingzoo("parallel_seed_test"):
        parallel_seed_test(subject.make)
    return "PettingZoo's parallel_seed_test passes"


def _seeded(make: Callable[..., Any], seed: int) -> Callable[..., Any]:
    def make_seeded(**options: Any) -> Any:
        env = make(**options)
        env.reset(seed=seed)
        for number, agent in enumerate(env.possible_agents, seed):
            env.action_space(agent).seed(number)
        return env

    return make_seeded


def _lasting_seed(make: Callable[..., Any]) -> int:
    """Return a seed with which random play of the first steps, as PettingZoo plays them, does not end the game."""
    for seed in range(SEEDS):
        env = _seeded(make, seed)(max_cycles=CYCLES)
        env.reset()
        ended = False
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            ended = ended or any(env.step(actions)[2].values())
        if not ended:
            return seed
    raise Skip(f"with {SEEDS} seeds, random play ends each game within {CYCLES} steps")


def check_max_cycles(subject: Subject) -> str:
    """Run PettingZoo's max_cycles_test."""
    from pettingzoo.test import max_cycles_test

    subject.need_option("max_cycles")
    with _pettingzoo("max_cycles_test"):
        seed = _lasting_seed(subject.make)
        makers = {"parallel_env": _seeded(subject.make, seed), "env": _seeded(subject.make_aec, seed)}
        max_cycles_test(types.SimpleNamespace(**makers))
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
