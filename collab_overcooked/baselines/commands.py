"""What ``collab-overcooked train`` does for each algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from collab_overcooked.baselines.settings import LEARNERS, read_config, settings_from
from collab_overcooked.baselines.training import Outcome
from collab_overcooked.baselines.training import train as train_ppo
from collab_overcooked.messages import near_matches

Say = Callable[[str], None]
ALGORITHMS = (*LEARNERS,)


def train(
    algorithm: str,
    config: str | None,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
    out: Path | None,
    resume: bool,
    command: str,
    say: Say,
) -> None:
    """Train, and say how it went.

    Args:
        algorithm: One of ``ALGORITHMS``.
        config: Shipped name or file; values in ``given`` and ``options`` win over it.
        given: Settings of the training.
        options: Options of the environment.
        out: Folder of the run.
        resume: Go on from its checkpoint.
        command: Kept with the result.
        say: Told how it went.

    Raises:
        ValueError: For an unknown algorithm, or a setting that is not allowed.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(near_matches("algorithm", algorithm, ALGORITHMS))
    values = read_config(config) if config else {}
    values = {**values, **given, "options": {**values.get("options", {}), **options}}
    folder = out or Path("runs") / f"{algorithm}-{values.get('env', '')}"
    outcome = train_ppo(settings_from({**values, "learner": algorithm}), folder, resume=resume, command=command)
    for line in report(outcome):
        say(line)


def report(outcome: Outcome) -> list[str]:
    """Return how a training went, in lines."""
    collect, learn = outcome.seconds
    lines = [f"{outcome.steps:,} steps; collecting took {collect:.1f} s, learning {learn:.1f} s"]
    if outcome.reached:
        lines.append(f"target reached: recent episodes return {outcome.mean_return:.1f}")
    if outcome.score is not None:
        lines.append(f"mean return over {outcome.score['games']} games: {outcome.score['return']}")
    return [*lines, "written: " + ", ".join(str(path) for path in outcome.policies)]
