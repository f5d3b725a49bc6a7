"""Commands about joint plans: show how one was searched, and compare ways to search."""

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
    episode: Annotated[int, typer.Option(help="Position among the episodes, from 0.")] = 0,
    step: Annotated[int, typer.Option(help="Timestep; the last search at or before it is shown.")] = 0,
    task: TaskOpt = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write as well: .svg or .html.")] = None,
) -> None:
    """Print the tree of a plan search (of policies such as cots), and draw it."""
    from collab_overcooked.reporting.plan_drawing import draw_tree, plan_page, tree_text, update_at
    from collab_overcooked.runner.records import about, read_records, write_atomic

    if out is not None and out.suffix not in (".svg", ".html"):
        raise ValueError(f"out: {out.name!r} must end in .svg or .html")
    found = choose(read_records(record), episode, task)[0]
    with about(found):
        update = update_at(found, step)
    if out is not None:
        title = f"Plan of {found['env_id']}, {found['task']}, episode {found['episode']}"
        text = draw_tree(update) + "\n" if out.suffix == ".svg" else plan_page(update, title)
        write_atomic(out, text.encode())
        say(f"written: {out}")
    OUT.print(tree_text(update))


@app.command("plan-study")
def plan_study(
    out: Annotated[Path, typer.Argument(help="Folder of the runs; finished episodes in it are kept.")],
    game: Annotated[list[str] | None, typer.Option(help="Game with sub-plans; all of them if not given.")] = None,
    scenes: Annotated[int, typer.Option(help="Seeded scenes of each game.")] = 30,
    ablations: Annotated[bool, typer.Option("--ablations", help="Parts of cots left out or changed instead.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the scenes.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Compare tree search of joint plans with simpler ways on the same scenes; no language model is asked."""
    from collab_overcooked.evaluation.plan_study import ABLATIONS, FIRST, WAYS, run_study
    from collab_overcooked.reporting.plan_results import study_table
    from collab_overcooked.runner.records import write_atomic

    ways = (FIRST, *ABLATIONS) if ablations else WAYS
    found = run_study(out, game or (), ways, scenes, seed, workers, progress=say)
    path = out / ("ablations.json" if ablations else "results.json")
    write_atomic(path, (json.dumps(found, indent=1) + "\n").encode())
    for name, own in found["games"].items():
        study_table(name, own).show(OUT)
    say(f"written: {path}")
