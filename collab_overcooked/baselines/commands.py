"""The command ``collab-overcooked train``, by algorithm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from collab_overcooked.baselines.cloning import Cloning, clone_policy
from collab_overcooked.baselines.pbt import read_pbt_settings, run_pbt
from collab_overcooked.baselines.settings import LEARNERS, TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.train_logger import LOG, log_line
from collab_overcooked.baselines.training import Outcome
from collab_overcooked.baselines.training import train as train_ppo
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document
from collab_overcooked.runner.records import write_atomic

Say = Callable[[str], None]
ALGORITHMS = (*LEARNERS, "pbt", "bc", "ppo-bc")


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
        resume: Whether ``--resume`` was given; trainings are continued anyway.
        command: Kept with the result.
        say: Called with how it went.

    Raises:
        ValueError: For an unknown algorithm, or a setting that is not allowed.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(near_matches("algorithm", algorithm, ALGORITHMS))
    values = read_config(config) if config else Document("command line", {}, {})
    values = values.replace({**given, "options": {**values.mapping("options", default={}), **options}})
    folder = out or Path("runs") / f"{algorithm}-{values.get('env', '')}"
    if algorithm == "bc":
        run_cloning(values, folder, resume, command, say)
        return
    if algorithm == "pbt":
        path = run_pbt(*read_pbt_settings(values), folder, command=command, say=say)
        say(f"written: {path}")
        return
    if algorithm == "ppo-bc":
        if not values.get("partners"):
            raise ValueError(
                "partners is missing: name a cloned policy, for example --hyper partners=[runs/bc/policy.npz]"
            )
        algorithm = values.get("learner", "ppo")
    outcome = train_ppo(
        settings_from(TrainingSettings, values.replace({"learner": algorithm})), folder, command=command, note=say
    )
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


def run_cloning(values: Mapping[str, Any], folder: Path, resume: bool, command: str, say: Say) -> None:
    """Clone a policy into a folder: ``policy.npz``, ``settings.json`` and ``log.jsonl``.

    Raises:
        ValueError: For a setting or data that cannot be used.
    """
    if resume:
        raise ValueError("resume: cloning takes less than a minute and keeps no checkpoints; start it again")
    if "steps" in values:
        raise ValueError("steps: cloning goes by epochs; use --hyper epochs=30")
    settings = settings_from(Cloning, values)
    _claim(folder, values)
    copy = clone_policy(settings, command, say)
    folder.mkdir(parents=True, exist_ok=True)
    copy.file.save(folder / "policy.npz")
    write_atomic(folder / "settings.json", _settings_line(values))
    write_atomic(folder / LOG, b"".join(map(log_line, copy.log)))
    best = min(copy.log, key=lambda entry: entry.get("unseen_loss", entry["known_loss"]))
    part, words = ("unseen", "held out") if "unseen_agreement" in best else ("known", "learned from")
    share = best[f"{part}_agreement"]
    found = copy.file.meta["score"]
    say(f"{copy.choices:,} choices; the likeliest action is the one taken in {share:.0%} of those {words}")
    say(f"mean return over {found['games']} games with itself: {found['return']}")
    say(f"written: {folder}/policy.npz")


def _claim(folder: Path, values: Mapping[str, Any]) -> None:
    """Refuse to write a clone over another policy.

    Raises:
        ValueError: If the folder holds a policy of other settings.
    """
    path = folder / "settings.json"
    there = path.read_bytes() if path.exists() else b""
    if (folder / "policy.npz").exists() and there != _settings_line(values):
        raise ValueError(f"{folder}: holds a policy of other settings; choose another folder")


def _settings_line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(values), indent=1).encode() + b"\n"
