"""The command ``collab-overcooked train``, by algorithm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.baselines.cloning import Cloning, clone_policy
from collab_overcooked.baselines.ego import e3t_settings, ego_settings, single_pool, train_responses
from collab_overcooked.baselines.pbt import read_pbt_settings, run_pbt
from collab_overcooked.baselines.population import read_population_settings, run_population
from collab_overcooked.baselines.seeds import train_seeds
from collab_overcooked.baselines.settings import LEARNERS, TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.state_augmented import read_round_settings, run_rounds
from collab_overcooked.baselines.train_logger import write_log
from collab_overcooked.baselines.training import Outcome
from collab_overcooked.baselines.training import train as train_ppo
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document
from collab_overcooked.runner.records import resumable, write_atomic

Say = Callable[[str], None]
ALGORITHMS = (*LEARNERS, "pbt", "bc", "ppo-bc", "population", "ego", "e3t", "sa", "response")


def train(
    algorithm: str,
    config: str | None,
    overrides: Mapping[str, Any],
    options: Mapping[str, Any],
    out: Path | None,
    resume: bool,
    command: str,
    say: Say,
    services: Sequence[str] = (),
    seeds: Sequence[int] = (),
    workers: str | None = None,
) -> None:
    """Train, and say how it went.

    Args:
        algorithm: One of ``ALGORITHMS``.
        config: Shipped name or file; values in ``given`` and ``options`` win over it.
        overrides: Settings of the training that replace those of the file.
        options: Options of the environment.
        out: Folder of the run.
        resume: Whether ``--resume`` was given; trainings are continued anyway.
        command: Kept with the result.
        say: Called with how it went.
        services: Services that get the log, see ``train_logger.SERVICES``.
        seeds: Seeds of several trainings, each in a folder of its own below ``out``.
        workers: Of these trainings, see ``workers.read_workers``.

    Raises:
        ValueError: For an unknown algorithm, or a setting that is not allowed.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(near_matches("algorithm", algorithm, ALGORITHMS))
    values = read_config(config) if config else Document("command line", {}, {})
    values = values.replace({**overrides, "options": {**values.mapping("options", default={}), **options}})
    folder = out or Path("runs") / f"{algorithm}-{values.get('env', '')}"
    single = algorithm not in RUNS and algorithm != "bc"
    for name, value in (("log", services), ("seeds", seeds), ("workers", workers)):
        if value and not single:
            raise ValueError(f"{name}: {algorithm} is more or less than one training by PPO; leave --{name} out")
    if workers and not seeds:
        raise ValueError("workers: they are for several trainings; name --seeds, for example --seeds 0 1 2")
    with resumable(folder, "**/*.pt"):
        if single:
            _train_single(training_settings(algorithm, values), folder, command, say, services, seeds, workers)
        else:
            _train(algorithm, values, folder, resume, command, say)


def _train_single(
    settings: TrainingSettings,
    folder: Path,
    command: str,
    say: Say,
    services: Sequence[str],
    seeds: Sequence[int],
    workers: str | None,
) -> None:
    if not seeds:
        for line in report(train_ppo(settings, folder, command=command, note=say, services=services)):
            say(line)
        return
    table = train_seeds(settings, seeds, folder, workers, command=command, services=services, say=say)
    say(table.markdown().rstrip())
    say(f"written: {folder}/table.md, table.csv, curves.svg, report.html")


def _train(algorithm: str, values: Document, folder: Path, resume: bool, command: str, say: Say) -> None:
    if algorithm in RUNS:
        RUNS[algorithm](values, folder, command, say)
    else:
        run_cloning(values, folder, resume, command, say)


def training_settings(algorithm: str, values: Document) -> TrainingSettings:
    """Return the settings of a single training.

    Raises:
        ValueError: For a setting that is missing or not allowed.
    """
    if algorithm == "ego":
        return ego_settings(values)
    if algorithm == "e3t":
        return e3t_settings(values)
    if algorithm == "ppo-bc":
        if not values.get("partners"):
            raise ValueError(
                "partners is missing: name a cloned policy, for example --hyper partners=[runs/bc/policy.npz]"
            )
        algorithm = values.get("learner", "ppo")
    return settings_from(TrainingSettings, values.replace({"learner": algorithm}))


def run_population_based(values: Document, folder: Path, command: str, say: Say) -> None:
    """Train a population by selection."""
    say(f"written: {run_pbt(*read_pbt_settings(values), folder, command=command, say=say)}")


def run_partners(values: Document, folder: Path, command: str, say: Say) -> None:
    """Train a pool of partners."""
    say(f"written: {run_population(*read_population_settings(values), folder, command=command, say=say)}")


def run_state_augmented(values: Document, folder: Path, command: str, say: Say) -> None:
    """Train seeds that start from each other's states."""
    paths = run_rounds(*read_round_settings(values), folder, command=command, say=say)
    say("written: " + ", ".join(map(str, paths)))


def run_responses(values: Document, folder: Path, command: str, say: Say) -> None:
    """Train a response to each partner of a pool."""
    path = train_responses(values.replace({"pool": []}), single_pool(values), folder, command=command, say=say)
    say(f"written: {path}")


RUNS: dict[str, Callable[[Document, Path, str, Say], None]] = {
    "pbt": run_population_based,
    "population": run_partners,
    "sa": run_state_augmented,
    "response": run_responses,
}


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
    write_log(folder, copy.log)
    best = min(copy.log, key=lambda entry: entry.get("unseen_loss", entry["known_loss"]))
    part, description = ("unseen", "held out") if "unseen_agreement" in best else ("known", "learned from")
    share = best[f"{part}_agreement"]
    measured = copy.file.meta["score"]
    say(f"{copy.choices:,} choices; the likeliest action is the one taken in {share:.0%} of those {description}")
    say(f"mean return over {measured['games']} games with itself: {measured['return']}")
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
