"""Runs: the jobs of an evaluation on workers, their records in a run folder that can be continued."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from collab_overcooked.runner.jobs import Evaluation, clear_env_cache
from collab_overcooked.runner.records import RunFolder, key_of
from collab_overcooked.runner.teams import MakePolicy, make_team
from collab_overcooked.runner.workers import read_workers, run_jobs

Progress = Callable[[int, int, int], None]
"""Called with episodes done, episodes in all, and successes among those done."""


def evaluate(
    plan: Evaluation,
    out: str | Path,
    *,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    facts: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Run what is missing in a run folder.

    Args:
        plan: What to run.
        out: Run folder; a run of the same plan that was interrupted there is continued.
        workers: See ``workers.read_workers``; the number of processor cores if None.
        make: Turns policy texts into policies, for policies outside the registry or that share something. The workers
            are threads of this process then, 1 if ``workers`` is None.
        facts: What else must be equal for a run to be continued, fit for JSON.
        stop: Called when the evaluation ends early, so that policies in other threads need not be waited for.
        progress: Called after every episode.
        note: Called with what was repaired or continued.

    Returns:
        The records of the whole run, in the order of tasks and episodes, whatever ``workers`` is.

    Raises:
        ValueError: For an unknown policy, bad workers, or a folder with another run in it.
        OSError: If the folder cannot be written to, or another process writes to it.
    """
    chosen = read_workers(workers, default=None if make is None else 1)
    for team in plan.teams():
        make_team(team, make)  # refuses unknown policies before the folder is touched
    with RunFolder(out, {**plan.config(), **(facts or {})}, note) as folder:
        clear_env_cache()
        wanted = [key for job in plan.jobs for key in job.keys]
        pending = [job for job in plan.jobs if any(key not in folder.records for key in job.keys)]
        if folder.records:
            note(f"{folder.path}: continuing, {len(folder.records)} of {len(wanted)} episodes are there")
        successes = sum(record["success"] for record in folder.records.values())
        for record in run_jobs([[pending]], chosen, make, stop):
            if key_of(record) in folder.records:  # of a job that was stopped half way
                continue
            folder.append(record)
            successes += record["success"]
            if progress is not None:
                progress(len(folder.records), len(wanted), successes)
        return folder.finish(wanted)
