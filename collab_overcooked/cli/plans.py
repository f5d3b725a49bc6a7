"""The command ``show-plan``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT
from collab_overcooked.cli.episodes import RecordArg, TaskOpt, choose


def show_plan(
    record: RecordArg,
    /,
    *,
    episode: Annotated[int, Parameter(help="Index of the episode, from 0.")] = 0,
    step: Annotated[int, Parameter(help="Timestep; shows the last search at or before it.")] = 0,
    task: TaskOpt = None,
) -> None:
    """Print the search tree of a joint plan, for policies such as cots."""
    from collab_overcooked.reporting.plan_trees import tree_text, update_at
    from collab_overcooked.runner.records import about, read_records

    chosen = choose(read_records(record), episode, task)[0]
    with about(chosen):
        update = update_at(chosen, step)
    OUT.print(tree_text(update))
