"""The command ``show-plan``."""

from __future__ import annotations

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
    from collab_overcooked.runner.records import about, read_records, write_atomic

    if out is not None and out.suffix not in (".svg", ".html"):
        raise ValueError(f"out: {out.name!r} must end in .svg or .html")
    chosen = choose(read_records(record), episode, task)[0]
    with about(chosen):
        update = update_at(chosen, step)
    if out is not None:
        title = f"Plan of {chosen['env_id']}, {chosen['task']}, episode {chosen['episode']}"
        text = draw_tree(update) + "\n" if out.suffix == ".svg" else plan_page(update, title)
        write_atomic(out, text.encode())
        say(f"written: {out}")
    OUT.print(tree_text(update))
