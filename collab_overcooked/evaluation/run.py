"""Evaluate a team: play the matches of a suite, and return their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.metrics.registry import measure_numbers, tabulated
from collab_overcooked.reporting.result_table import ResultTable, table_of_mappings
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import PackedRecords
from collab_overcooked.runner.run_plans import Progress, run_plans
from collab_overcooked.runner.teams import MakePolicy, team_text

if TYPE_CHECKING:
    import pandas


class Episodes(PackedRecords):
    """Records of a run, a sequence. They are kept compressed: each is decoded anew when it is asked for."""

    def __repr__(self) -> str:
        played = dict.fromkeys((record.env_id, team_text(record.team.values())) for record in self.packed)
        return f"<Episodes: {len(self)} of {'; '.join(f'{game}, {team}' for game, team in played)}>"

    def table(self) -> ResultTable:
        """Return all metrics of each episode that are numbers, or numbers by seat."""
        rows = []
        for record in self.packed:
            row: dict[str, Any] = {"game": record.env_id, "task": record.task, "episode": record.episode}
            row["team"] = " ".join(f"{seat}={policy}" for seat, policy in record.team.items())
            rows.append(row | measure_numbers(record, tabulated(record)))
        return table_of_mappings(rows)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the metrics as a pandas DataFrame, one row for each episode; see ``frame`` for one for each seat."""
        return self.table().to_pandas()


def evaluate(
    suite_or_plan: MatchPlan | str,
    out: str | Path | None = None,
    team: str | Mapping[str, str] | Sequence[str] | None = None,
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    run_config: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    **suite_options: Any,
) -> Episodes:
    """Play a team on a suite, as far as it is missing in a run folder.

    Args:
        suite_or_plan: Name of a suite or id of its game, or a plan that ``suites.plan_evaluation`` made.
        out: Run folder; a run of the same plan that was interrupted there is continued, one of fewer
            episodes extended. If None, no file is kept.
        team: A mapping of seats to policies, a list of ``seat=policy`` texts or of policies in seat order, or the
            printed line, ``"agent_0=planner agent_1=greedy"``; ``greedy`` in all seats if None. Team, seed, options,
            limits and the options of the suite are for suites that are given by name: a plan has its own.
        seed: Seed of the suite; 0 if None.
        options: Options of the environment.
        limits: Limits of conversations and corrections.
        workers: See ``workers.read_workers``; the number of processor cores if None.
        make: Turns policy texts into policies, for policies outside the registry or that share something. The workers
            are threads of this process then, 1 if ``workers`` is None.
        run_config: JSON values that must be equal for a run to be continued, besides those of its plan.
        stop: Called when playing ends early, so that policies in other threads need not be waited for.
        progress: Called after every episode.
        **suite_options: Fields of the suite's options, such as ``episodes``; see ``collab-overcooked evaluate SUITE
            --help``.

    Returns:
        The records of the whole run, in the order of tasks and episodes, whatever ``workers`` is. ``to_pandas()`` has
        the metrics of each.

    Raises:
        ValueError: For an unknown policy, bad workers, a folder with another run in it, or an argument that a plan has
            already.
        OSError: If the folder cannot be written to, or another process writes to it.
    """
    if isinstance(suite_or_plan, str):
        team, seed = ("all=greedy",) if team is None else team, seed or 0
        plan = plan_evaluation(suite_or_plan, team, seed=seed, options=options, limits=limits, **suite_options)
    else:
        plan = suite_or_plan
        of_a_plan = {"team": team, "seed": seed, "options": options, "limits": limits, **suite_options}
        for name, value in of_a_plan.items():
            if value is not None:
                raise ValueError(f"{name}: options of a suite belong to its plan, which is made already")
    folder = None if out is None else Path(out)
    played = run_plans(
        [(plan, folder)], folder, workers=workers, make=make, run_config=run_config, stop=stop, progress=progress
    )
    return Episodes(played[0])
