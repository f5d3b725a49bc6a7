"""The command ``collab-overcooked train``, by algorithm."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from collab_overcooked.baselines.cloning import Cloning, clone_policy
from collab_overcooked.baselines.ego import e3t_settings, ego_settings, single_pool, train_responses
from collab_overcooked.baselines.pbt import read_pbt_settings, run_pbt
from collab_overcooked.baselines.population import read_population_settings, run_population
from collab_overcooked.baselines.seeds import train_seeds
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.state_augmented import read_round_settings, run_rounds
from collab_overcooked.baselines.train_logger import BUSY, check_services, send_logs, write_log
from collab_overcooked.baselines.training import TrainingOutcome, claim_folder
from collab_overcooked.baselines.training import train as train_ppo
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document
from collab_overcooked.runner.run import only_writer, resumable

logger = logging.getLogger(__name__)

ALGORITHMS = ("ppo", "pbt", "bc", "ppo-bc", "population", "ego", "e3t", "sa", "response")


def train(
    algorithm: str,
    config: str | None,
    overrides: Mapping[str, Any],
    options: Mapping[str, Any],
    out: Path | None,
    command: str,
    *,
    services: Sequence[str] = (),
    seeds: Sequence[int] = (),
    workers: str | None = None,
) -> None:
    """Train, and say how it went.

    Args:
        algorithm: One of ``ALGORITHMS``.
        config: Name of a built-in configuration, or a file; ``overrides`` and ``options`` take precedence.
        overrides: Settings of the training that replace those of the file.
        options: Options of the environment.
        out: Folder of the run.
        command: Kept with the result.
        services: Services that get the log, see ``train_logger.SERVICES``.
        seeds: Seeds of several trainings, each in a folder of its own below ``out``.
        workers: Number of these trainings at a time, see ``workers.read_workers``.

    Raises:
        ValueError: The algorithm is unknown, or options do not belong together.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(near_matches("algorithm", algorithm, ALGORITHMS))
    values = read_config(config) if config else Document("command line", {}, {})
    values = values.replace({**overrides, "options": {**values.mapping("options", default={}), **options}})
    folder = out or Path("runs") / f"{algorithm}-{values.get('env', '')}"
    check_services(services)
    if workers and not seeds:
        raise ValueError("workers: they are for several trainings; name --seeds, for example --seeds 0 1 2")
    if seeds and algorithm == "response":
        raise ValueError("seeds: response writes the best response of one training into the pool; leave --seeds out")
    run = TrainingRun(algorithm, values, command, tuple(services))
    with resumable(folder, "**/*.pt"):
        if not seeds:
            run.train(folder)
            return
        run.check()
        table = train_seeds(run, seeds, folder, workers, env_id=values.get("env"))
    if table is not None:
        logger.info(table.markdown().rstrip())
        logger.info(f"written: {folder}/table.md, table.csv, curves.svg, report.html")


@dataclass(frozen=True)
class TrainingRun:
    """Training by any algorithm, which workers can run with several seeds."""

    algorithm: str  # One of ``ALGORITHMS``
    values: Document  # Settings
    command: str  # Kept with the result
    # Services that get the log: of a single training by PPO line by line, of others when they have ended
    services: tuple[str, ...]

    def __call__(self, seed: int, folder: Path) -> None:
        """Train with a seed."""
        replace(self, values=self.values.replace({"seed": seed})).train(folder, bar=False)

    def check(self) -> None:
        """Check the settings of a single training before any worker starts."""
        if self.algorithm not in RUNS and self.algorithm != "bc":
            training_settings(self.algorithm, self.values)

    def train(self, folder: Path, bar: bool = True) -> None:
        """Train in a folder."""
        if self.algorithm in RUNS:
            RUNS[self.algorithm](self.values, folder, self.command)
        elif self.algorithm == "bc":
            run_cloning(self.values, folder, self.command)
        else:
            settings = training_settings(self.algorithm, self.values)
            outcome = train_ppo(settings, folder, command=self.command, bar=bar, services=self.services)
            for line in report(outcome):
                logger.info(line)
            return
        send_logs(folder, self.services, dict(self.values))


def training_settings(algorithm: str, values: Document) -> TrainingSettings:
    """Return the settings of a single training.

    Raises:
        ValueError: A setting is invalid, or one that the algorithm needs is missing.
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
    return settings_from(TrainingSettings, values)


def run_population_based(values: Document, folder: Path, command: str) -> None:
    """Train a population by selection."""
    logger.info(f"written: {run_pbt(*read_pbt_settings(values), folder, command=command)}")


def run_partners(values: Document, folder: Path, command: str) -> None:
    """Train a pool of partners."""
    logger.info(f"written: {run_population(*read_population_settings(values), folder, command=command)}")


def run_state_augmented(values: Document, folder: Path, command: str) -> None:
    """Train several seeds whose episodes start from states that the other seeds reached."""
    paths = run_rounds(*read_round_settings(values), folder, command=command)
    logger.info("written: " + ", ".join(map(str, paths)))


def run_responses(values: Document, folder: Path, command: str) -> None:
    """Train a response to each partner of a pool."""
    path = train_responses(values.replace({"pool": []}), single_pool(values), folder, command=command)
    logger.info(f"written: {path}")


RUNS: dict[str, Callable[[Document, Path, str], None]] = {
    "pbt": run_population_based,
    "population": run_partners,
    "sa": run_state_augmented,
    "response": run_responses,
}


def report(outcome: TrainingOutcome) -> list[str]:
    """Return how a training went, in lines."""
    collect, learn = outcome.seconds
    lines = [f"{outcome.steps:,} steps; collecting took {collect:.1f} s, learning {learn:.1f} s"]
    if outcome.reached:
        lines.append(f"target reached: recent episodes return {outcome.mean_return:.1f}")
    if outcome.score is not None:
        lines.append(f"mean return over {outcome.score['games']} games: {outcome.score['return']}")
    return [*lines, "written: " + ", ".join(str(path) for path in outcome.policies)]


def run_cloning(values: Mapping[str, Any], folder: Path, command: str) -> None:
    """Clone a policy into a folder: ``policy.npz``, ``settings.json`` and ``log.jsonl``; one that is there is kept.

    Raises:
        ValueError: ``steps`` is set; cloning takes ``epochs``.
    """
    if "steps" in values:
        raise ValueError("steps: cloning goes by epochs; use --hyper epochs=30")
    with only_writer(folder, BUSY):
        settings = settings_from(Cloning, values)
        if (folder / "settings.json").exists():
            claim_folder(folder, asdict(settings))
        if (folder / "policy.npz").exists():
            logger.info(f"{folder}: the policy is there")
            return
        copy = clone_policy(settings, command)
        claim_folder(folder, asdict(settings))  # last, as data that are refused leave no folder
        write_log(folder, copy.log)
        copy.file.save(folder / "policy.npz")
        best = min(copy.log, key=lambda entry: entry.get("unseen_loss", entry["known_loss"]))
        part, description = ("unseen", "held out") if "unseen_agreement" in best else ("known", "learned from")
        share = best[f"{part}_agreement"]
        measured = copy.file.meta["score"]
        logger.info(
            f"{copy.choices:,} choices; the likeliest action is the one taken in {share:.0%} of those {description}"
        )
        logger.info(f"mean return over {measured['games']} games with itself: {measured['return']}")
        logger.info(f"written: {folder}/policy.npz")
