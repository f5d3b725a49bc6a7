"""Commands about joint plans: ``show-plan`` and ``plan-study``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from collab_overcooked.cli.app import OUT, app, say
from collab_overcooked.cli.episodes import RecordArg, TaskOpt, choose


@app.command("show-plan")
def show_plan(
    record: RecordArg,
    episode: Annotated[int, typer.Option(help="Index of the episode, from 0.")] = 0,
    step: Annotated[int, typer.Option(help="Timestep; shows the last search at or before it.")] = 0,
    task: TaskOpt = None,
    out: Annotated[Path | None, typer.Option(help="Also write a picture: .svg or .html.")] = None,
) -> None:
    """Print the search tree of a joint plan, for policies such as cots, and optionally draw it."""
    from collab_overcooked.reporting.plan_drawing import draw_tree, plan_page, tree_text, update_at
    from collab_overcooked.runner.records import about, read_records, write_whole

    if out is not None and out.suffix not in (".svg", ".html"):
        raise ValueError(f"out: {out.name!r} must end in .svg or .html")
    chosen = choose(read_records(record), episode, task)[0]
    with about(chosen):
        update = update_at(chosen, step)
    if out is not None:
        title = f"Plan of {chosen['env_id']}, {chosen['task']}, episode {chosen['episode']}"
        text = draw_tree(update) + "\n" if out.suffix == ".svg" else plan_page(update, title)
        write_whole(out, text.encode())
        say(f"written: {out}")
    OUT.print(tree_text(update))


@app.command("plan-study")
def plan_study(
    out: Annotated[Path, typer.Argument(help="Output folder; finished episodes are not played again.")],
    game: Annotated[list[str] | None, typer.Option(help="Games with sub-plans. Default: all of them.")] = None,
    scenes: Annotated[int, typer.Option(help="Number of seeded scenes per game.")] = 30,
    ablations: Annotated[bool, typer.Option("--ablations", help="Compare ablations of cots instead.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the scenes.")] = 0,
    workers: Annotated[int, typer.Option(help="Number of worker processes.")] = 1,
) -> None:
    """Compare tree search of joint plans with simpler methods on the same scenes, without a language model."""
    from collab_overcooked.evaluation.plan_study import ABLATIONS, FIRST, WAYS, run_study
    from collab_overcooked.reporting.plan_results import study_table
    from collab_overcooked.runner.records import write_whole

    ways = (FIRST, *ABLATIONS) if ablations else WAYS
    results = run_study(out, game or (), ways, scenes, seed, workers, progress=say)
    path = out / ("ablations.json" if ablations else "results.json")
    write_whole(path, (json.dumps(results, indent=1) + "\n").encode())
    for name, game_results in results["games"].items():
        study_table(name, game_results).show(OUT)
    say(f"written: {path}")
