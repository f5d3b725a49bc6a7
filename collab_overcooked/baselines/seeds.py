"""A training with several seeds side by side, and statistics over the seeds."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from pathlib import Path

from collab_overcooked.baselines.curves import aggregate, read_points, table_of_curves, write_report
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.train_logger import check_services
from collab_overcooked.baselines.training import train
from collab_overcooked.io.checks import OptionError
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.runner.workers import open_pool, read_workers

Say = Callable[[str], None]


def train_seeds(
    settings: TrainingSettings,
    seeds: Sequence[int],
    folder: Path,
    workers: str | None = None,
    *,
    command: str = "",
    services: Sequence[str] = (),
    say: Say = print,
) -> ResultTable:
    """Train once for each seed, in ``seed_N``, then write tables, curves with intervals and a report over all.

    Trainings that are there are continued; finished ones are left as they are.

    Args:
        settings: What to train; its own seed does not count.
        seeds: Different seeds.
        folder: Made if it does not exist.
        workers: Trainings at a time, or Ray; see ``workers.read_workers``. With one they run in this process.
        command: Kept in the policy files.
        services: See ``TrainLogger``.
        say: Called when a training has ended.

    Returns:
        The table over all seeds.

    Raises:
        ValueError: For repeated seeds, a folder that holds a training of other settings, or trainings so short that no
            episode has ended.
    """
    if len(set(seeds)) < len(seeds):
        raise OptionError("seeds", f"seeds must be different, not {list(seeds)}")
    check_services(services)
    tasks = [
        (settings.with_values({"seed": seed}), folder / f"seed_{seed}", command, tuple(services)) for seed in seeds
    ]
    chosen = read_workers(workers)
    if chosen.address is None and min(chosen.count, len(tasks)) == 1:
        for task in tasks:
            say(train_seed(*task))
    else:
        pool, _ = open_pool(chosen, min(chosen.count, len(tasks)))
        try:
            waiting: list[Future[str]] = [pool.submit(train_seed, *task) for task in tasks]
            for future in as_completed(waiting):
                say(future.result())
        except BaseException:
            for process in multiprocessing.active_children():  # their checkpoints are complete at all times
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    folders = [task[1] for task in tasks]
    if not any(map(read_points, folders)):
        raise ValueError(f"{folder}: trained, but no episode has ended; more --steps extend the trainings")
    write_report(folder, folders)
    return table_of_curves(aggregate(folders))


def train_seed(settings: TrainingSettings, folder: Path, command: str, services: Sequence[str]) -> str:
    """Train with one seed and return how it ended."""
    notes: list[str] = []
    outcome = train(settings, folder, command=command, bar=False, note=notes.append, services=services)
    mean = "no episode has ended" if outcome.mean_return is None else f"return {outcome.mean_return:.1f}"
    return "; ".join([*notes, f"{folder}: {outcome.steps:,} steps, {mean}"])
