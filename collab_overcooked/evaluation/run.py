"""Runs: the jobs of an evaluation on workers, their records in a run folder that can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.core.record import Record
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.metrics.registry import measure, tabulated
from collab_overcooked.reporting.result_table import ResultTable, table_of_mappings
from collab_overcooked.runner.batched import batch_jobs
from collab_overcooked.runner.jobs import Evaluation, clear_env_cache
from collab_overcooked.runner.records import key_of
from collab_overcooked.runner.run import Run
from collab_overcooked.runner.teams import MakePolicy, make_team, team_text
from collab_overcooked.runner.workers import read_workers, run_jobs

Progress = Callable[[int, int, int], None]
"""Called with episodes done, episodes in all, and successes among those done."""


class Episodes(list[Record]):
    """Records of a run."""

    def __repr__(self) -> str:
        played = dict.fromkeys((record.env_id, team_text(record.team.values())) for record in self)
        return f"<Episodes: {len(self)} of {'; '.join(f'{game}, {team}' for game, team in played)}>"

    def table(self) -> ResultTable:
        """Return all metrics of each episode that are numbers, or numbers by seat."""
        rows = []
        for record in self:
            row: dict[str, Any] = {"game": record.env_id, "task": record.task, "episode": record.episode}
            row["team"] = " ".join(f"{seat}={policy}" for seat, policy in record.team.items())
            for name, value in measure(record, tabulated(record)).items():
                values = {name: value} if not isinstance(value, list) else dict(_by_seat(name, value))
                row |= {
                    key: number for key, number in values.items() if number is None or isinstance(number, (int, float))
                }
            rows.append(row)
        return table_of_mappings(rows)

    def to_pandas(self) -> Any:
        """Return the metrics as a pandas DataFrame, one row for each episode."""
        return self.table().to_pandas()


def _by_seat(name: str, values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"{name}_{seat}", value) for seat, value in enumerate(values))


def evaluate(
    plan: Evaluation | str,
    out: str | Path | None = None,
    team: str | Mapping[str, str] | Sequence[str] = ("all=greedy",),
    *,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    facts: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] = print,
    **plan_options: Any,
) -> Episodes:
    """Run what is missing in a run folder.

    Args:
        plan: Name of a suite or id of its game, or a plan that ``suites.plan_evaluation`` made.
        out: Run folder; a run of the same plan that was interrupted there is continued. If None, no file is kept.
        team: If the plan is the name of a suite: a mapping of seats to policies, a list of ``seat=policy`` texts or of
            policies in seat order, or the printed line, ``"agent_0=planner agent_1=greedy"``.
        workers: See ``workers.read_workers``; the number of processor cores if None.
        make: Turns policy texts into policies, for policies outside the registry or that share something. The workers
            are threads of this process then, 1 if ``workers`` is None.
        facts: What else must be equal for a run to be continued, fit for JSON.
        stop: Called when the evaluation ends early, so that policies in other threads need not be waited for.
        progress: Called after every episode.
        note: Called with what was repaired or continued.
        **plan_options: ``seed``, ``options`` (of the environment), ``limits`` and options of the suite, if the plan is
            the name of a suite.

    Returns:
        The records of the whole run, in the order of tasks and episodes, whatever ``workers`` is. ``to_pandas()`` has
        the metrics of each.

    Raises:
        ValueError: For an unknown policy, bad workers, or a folder with another run in it.
        OSError: If the folder cannot be written to, or another process writes to it.
    """
    if isinstance(plan, str):
        plan = plan_evaluation(plan, team, **plan_options)
    elif plan_options:
        raise ValueError(f"{next(iter(plan_options))}: options of a suite belong to its plan, which is made already")
    chosen = read_workers(workers, default=None if make is None else 1)
    teams = [make_team(team, make) for team in plan.teams()]  # refuses unknown policies before the folder is touched
    run: Run[Record] = Run(out, {**plan.config(), **(facts or {})}, note)
    with run:
        clear_env_cache()
        keys = [key for job in plan.jobs for key in job.keys]
        pending = [job for job in plan.jobs if any(key not in run.results for key in job.keys)]
        if run.results:
            note(f"{run.path}: continuing, {len(run.results)} of {len(keys)} episodes are there")
        successes = sum(record.success for record in run.results.values())
        for record in run_jobs([[batch_jobs(pending, teams)]], chosen, make, stop):
            if key_of(record) in run.results:  # of a job that was stopped half way
                continue
            run.append(record)
            successes += record.success
            if progress is not None:
                progress(len(run.results), len(keys), successes)
        return Episodes(run.finish(keys))
