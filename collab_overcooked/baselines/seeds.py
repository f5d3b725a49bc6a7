"""A training with several seeds side by side, and statistics over the seeds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path

from collab_overcooked.baselines.curves import RETURN, aggregate, read_points, table_of_curves, write_report
from collab_overcooked.baselines.train_logger import BUSY, LOG, read_log
from collab_overcooked.io.checks import OptionError
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.runner.registrations import JobNeeds, refuse_known_here_only
from collab_overcooked.runner.run import only_writer
from collab_overcooked.runner.workers import deaths_reported, open_pool, read_workers, terminating

logger = logging.getLogger(__name__)

Train = Callable[[int, Path], None]
"""Trains with a seed in a folder. It must be picklable for several workers."""


def train_seeds(
    train: Train, seeds: Sequence[int], folder: Path, workers: str | None = None, *, env_id: str | None = None
) -> ResultTable | None:
    """Train once for each seed, in ``seed_N``, then write tables, curves with intervals and a report over all.

    Interrupted trainings are resumed and finished ones skipped.

    Args:
        train: Function that trains one seed in a folder; see ``Train``.
        seeds: Different seeds.
        folder: Folder of all seeds; created if missing.
        workers: Number of parallel trainings, or Ray; see ``workers.read_workers``. One runs in this process.
        env_id: Game of the trainings, if known; worker processes must be able to load it.

    Returns:
        The table over all seeds; None for algorithms whose folders hold no returns by environment steps.

    Raises:
        OptionError: No seed is given, or one is given twice.
        ValueError: No training has finished an episode.
    """
    if len(set(seeds)) < len(seeds):
        raise OptionError("seeds", f"seeds must be different, not {list(seeds)}")
    tasks = [(train, seed, folder / f"seed_{seed}") for seed in seeds]
    with only_writer(folder, BUSY):
        chosen = read_workers(workers)
        if chosen.address is None and min(chosen.count, len(tasks)) == 1:
            for task in tasks:
                _train_seed(*task)
                logger.info(f"{task[2]}: trained")
        else:
            refuse_known_here_only(JobNeeds(frozenset() if env_id is None else frozenset({env_id})))
            with terminating(open_pool(chosen, min(chosen.count, len(tasks)))) as pool:
                _train_in_pool(pool, tasks)
        folders = [path for _, _, path in tasks]
        if not all(map(_logs_returns, folders)):
            return None
        if not any(map(read_points, folders)):
            raise ValueError(f"{folder}: trained, but no episode has ended; more --steps extend the trainings")
        write_report(folder, folders)
        return table_of_curves(aggregate(folders))


def _logs_returns(folder: Path) -> bool:
    return (folder / LOG).exists() and any(RETURN in line for line in read_log(folder))


def _train_in_pool(pool: Executor, tasks: Sequence[tuple[Train, int, Path]]) -> None:
    waiting: dict[Future[None], tuple[Train, int, Path]] = {}

    def advice() -> str:
        unfinished = [seed for future, (_, seed, _) in waiting.items() if not future.done() or future.exception()]
        return f"the same command resumes what is unfinished, seed {' and '.join(map(str, unfinished))}"

    with deaths_reported(advice):
        waiting |= {pool.submit(_train_seed, *task): task for task in tasks}
        for future in as_completed(waiting):
            future.result()
            logger.info(f"{waiting[future][2]}: trained")


def _train_seed(train: Train, seed: int, folder: Path) -> None:
    train(seed, folder)
