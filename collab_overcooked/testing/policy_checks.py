"""Conformance checks of policies, and ``check_policy``: nothing of an episode lasts into the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collab_overcooked import registry
from collab_overcooked.io.text import single_spaced
from collab_overcooked.runner.batched import play_batch
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing.playing import difference
from collab_overcooked.testing.report import ConformanceError, Report, Result, Skip, expect


def check_policy(
    policy: str | Sequence[str], env_id: str, seeds: Sequence[int] = (0, 1, 2), steps: int = 60, **options: Any
) -> Report:
    """Check that a policy decides in every episode as if it were the first.

    Episodes are played one after the other by the same policies in one environment, and each by new policies in a new
    environment; if the policy plays many episodes at once, these are compared, too. Options with a pool of layouts or
    tasks find most: each seed begins in another one.

    Args:
        policy: Spec of all seats, or the specs by seat.
        env_id: Registered id.
        seeds: Seeds of the episodes.
        steps: Length of each episode at most.
        **options: Options of the environment.

    Returns:
        The report.

    Raises:
        ConformanceError: If decisions differ.
        ValueError: For an unknown id, option or policy.
    """

    def make() -> Any:
        return registry.make(env_id, **{"max_cycles": steps, **options})

    env = make()
    specs = [policy] * env.game.n_agents if isinstance(policy, str) else list(policy)
    apart = [play_episode(make(), make_team(specs), seed).steps for seed in seeds]

    def episodes() -> str:
        team = make_team(specs)
        for seed, alone in zip(seeds, apart, strict=True):
            _compare(seed, play_episode(env, team, seed).steps, alone, "after other episodes")
        return f"{len(seeds)} episodes in one environment are those in new ones"

    def batch() -> str:
        played = play_batch(env_id, {"max_cycles": steps, **options}, specs, seeds)
        pairs = [(seed, many, alone) for seed, many, alone in zip(seeds, played, apart, strict=True) if many]
        if not pairs:
            raise Skip("the policy plays these episodes one by one")
        for seed, many, alone in pairs:
            actions = many.actions.tolist()
            _compare(seed, actions, [step.actions for step in alone], "beside other episodes")
        return f"{len(pairs)} episodes at once are those played one by one"

    name = f"{', '.join(dict.fromkeys(specs))} in {env_id}"
    report = Report(name, (_run("episodes", episodes), _run("batch", batch)))
    if not report.ok:
        raise ConformanceError(report)
    return report


def _run(name: str, check: Callable[[], str]) -> Result:
    try:
        return Result(name, "passed", check())
    except Skip as reason:
        return Result(name, "skipped", str(reason))
    except AssertionError as error:
        return Result(name, "failed", single_spaced(error))


def _compare(seed: int, steps: Sequence[Any], alone: Sequence[Any], where: str) -> None:
    for t, (step, other) in enumerate(zip(steps, alone, strict=False)):
        mismatch = difference(step, other, "the step")
        expect(mismatch is None, f"seed {seed} {where} differs from a new environment at step {t}: {mismatch}")
    expect(len(steps) == len(alone), f"seed {seed} {where} takes {len(steps)} steps, {len(alone)} in a new environment")
