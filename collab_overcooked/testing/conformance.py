"""Conformance checks by name, and ``check_game``."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.io import checks as messages
from collab_overcooked.io.text import single_spaced
from collab_overcooked.testing.batch_checks import check_batch, check_observe, check_signatures, kernel_versions
from collab_overcooked.testing.compile_check import check_kernels
from collab_overcooked.testing.copy_checks import check_clone, check_deepcopy, check_fresh, check_pickle
from collab_overcooked.testing.episode_checks import (
    check_after_end,
    check_determinism,
    check_ends,
    check_observations,
    check_rewards,
    check_spaces,
    check_state,
)
from collab_overcooked.testing.knowledge_checks import check_end_is_final, check_knowledge, check_scenes
from collab_overcooked.testing.mask_checks import check_all_masks, check_mask_form, check_masks, check_texts
from collab_overcooked.testing.pettingzoo_checks import (
    check_aec_api,
    check_max_cycles,
    check_parallel_api,
    check_render,
    check_seeds,
)
from collab_overcooked.testing.report import ConformanceError, Rejected, Report, Result, Skip, Subject
from collab_overcooked.testing.reset_checks import check_draws, check_resets
from collab_overcooked.testing.state_checks import check_events, check_global_state, check_pay


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
        is_rejected: Function ``is_rejected(env, agent, action) -> bool``, called after a step, that returns whether the
            agent's action was refused. By default ``info["rejected"]`` is used; without either, masks are not compared
            with the environment's behaviour.
        raise_on_failure: Raise if a check fails.
        checks: Names of the checks to run, see ``CHECKS``; all if None. Whatever is chosen, a game whose kernels do not
            compile fails ``kernels`` alone.
        seed: First seed of the checks.
        episodes: Number of random episodes per check.
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
    report = Report(subject.name, tuple(_results(chosen, subject)))
    if raise_on_failure and not report.ok:
        raise ConformanceError(report)
    return report


def _subject(target: Any, kwargs: dict[str, Any], is_rejected: Rejected | None, seed: int, episodes: int) -> Subject:
    options = ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
    game: FullGame | None = None
    wrapper: dict[str, Any] = {}
    if isinstance(target, str):
        record = registry.find(target)
        wrapper, rules = split_options(kwargs)
        game = registry.load_game(record.id, **rules)
        name = record.id
        make = partial(registry.make, record.id, **kwargs)
        make_aec = partial(registry.pettingzoo_module(record.id).env, **kwargs)
    elif isinstance(target, types.ModuleType):
        name = target.__name__
        make = partial(target.parallel_env, **kwargs)
        make_aec = partial(target.env, **kwargs)
    else:
        name, make = getattr(target, "__name__", repr(target)), partial(target, **kwargs)
        make_aec = partial(_as_aec, make)
    name = f"{name}({options})" if options else name
    versions = kernel_versions(game) if game is not None else {}
    return Subject(name, make, make_aec, game, wrapper, is_rejected, seed, episodes, versions)


def _as_aec(make: Callable[..., Any], **kwargs: Any) -> Any:
    from pettingzoo.utils.conversions import parallel_to_aec

    return parallel_to_aec(make(**kwargs))


def _results(chosen: Sequence[str], subject: Subject) -> Iterator[Result]:
    if subject.game is not None:
        first = _run(KERNELS, CHECKS[KERNELS], subject)
        if first.status == "failed":  # every other check would fail by the same error
            yield first
            return
    for name in chosen:
        yield _run(name, CHECKS[name], subject)


def _run(name: str, check: Callable[[Subject], str], subject: Subject) -> Result:
    try:
        return Result(name, "passed", check(subject))
    except Skip as reason:
        return Result(name, "skipped", str(reason))
    except AssertionError as error:
        return Result(name, "failed", single_spaced(error) or "an assertion without a message failed")
    except Exception as error:  # any exception is a failure of the environment; the other checks still run
        return Result(name, "failed", f"raised {type(error).__name__}: {single_spaced(error)}")


KERNELS = "kernels"
CHECKS: dict[str, Callable[[Subject], str]] = {
    KERNELS: check_kernels,
    "parallel_api": check_parallel_api,
    "aec_api": check_aec_api,
    "seeds": check_seeds,
    "max_cycles": check_max_cycles,
    "render": check_render,
    "determinism": check_determinism,
    "draws": check_draws,
    "resets": check_resets,
    "observations": check_observations,
    "state": check_state,
    "rewards": check_rewards,
    "ends": check_ends,
    "after_end": check_after_end,
    "end_is_final": check_end_is_final,
    "spaces": check_spaces,
    "fresh": check_fresh,
    "mask_form": check_mask_form,
    "masks": check_masks,
    "all_masks": check_all_masks,
    "texts": check_texts,
    "pickle": check_pickle,
    "deepcopy": check_deepcopy,
    "clone": check_clone,
    "observe": check_observe,
    "global_state": check_global_state,
    "events": check_events,
    "pay": check_pay,
    "scenes": check_scenes,
    "knowledge": check_knowledge,
    "batch": check_batch,
    "signatures": check_signatures,
}
