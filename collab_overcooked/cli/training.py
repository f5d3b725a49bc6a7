"""Commands around trained policies: train them, measure them, let any policies play with each other."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from collab_overcooked.cli.app import ERR, OUT, Settings, app, read_count, read_settings, say
from collab_overcooked.cli.options import MultiValueCommand
from collab_overcooked.io.options import PAIRS


@app.command(cls=MultiValueCommand)
def train(
    algorithm: Annotated[str, typer.Argument(help="ppo, maskable-ppo, pbt, bc or ppo-bc.")],
    env: Annotated[str | None, typer.Argument(help="Environment id; may stand in the configuration.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run, runs/ALGORITHM-ENV if not given.")] = None,
    config: Annotated[str | None, typer.Option(help="Shipped configuration or YAML file with all settings.")] = None,
    settings: Settings = None,
    hyper: Annotated[
        list[str] | None, typer.Option(help="Training settings: learning_rate=1e-3.", metavar=PAIRS)
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Environment steps.", parser=read_count)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything drawn; 0 if not given.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="Records or games of people that bc learns from.")] = None,
    resume: Annotated[bool, typer.Option("--resume", hidden=True, help="Trainings are continued anyway.")] = False,
) -> None:
    """Train a policy (needs the extra rl); --set is for the environment, --hyper for the training.

    The same command continues an interrupted training, and with more --steps extends a finished one.
    """
    try:
        from collab_overcooked.baselines.commands import train as run
    except ImportError as error:
        raise ValueError(f"training needs more packages ({error}): pip install 'collab-overcooked[rl]'") from None

    given = {"env": env, "steps": steps, "seed": seed, "data": data, **read_settings(hyper)}
    given = {name: value for name, value in given.items() if value is not None}
    command = "collab-overcooked " + shlex.join(sys.argv[1:])
    run(algorithm, config, given, read_settings(settings), out, resume, command, say)


@app.command()
def baselines(
    runs: Annotated[Path, typer.Argument(help="Folder with trainings named CONFIGURATION-SEED.")] = Path("runs/train"),
    out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
    games: Annotated[int, typer.Option(help="Games that each policy plays with itself.")] = 100,
    ship: Annotated[Path | None, typer.Option(help="Folder to copy the best policy of each to.")] = None,
) -> None:
    """Measure trained policies again and print them beside published numbers."""
    from collab_overcooked.baselines import results

    found = results.gather(runs, games, say)
    if out is not None:
        results.write(found, out)
        say(f"written: {out}")
    if ship is not None:
        say("written: " + ", ".join(map(str, results.ship(found, runs, ship))))
    OUT.print(results.table(found))


@app.command(cls=MultiValueCommand)
def crossplay(
    pool: Annotated[list[str], typer.Option(help="Policies, each as its text or as name=text: greedy a=ppo:a.npz.")],
    env: Annotated[str, typer.Option(help="Environment id.")],
    settings: Settings = None,
    episodes: Annotated[int, typer.Option(help="Episodes of each ordered pair.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the whole evaluation.")] = 0,
    out: Annotated[Path, typer.Option(help="Run folder; the same command continues there.")] = Path("runs/crossplay"),
    workers: Annotated[str | None, typer.Option(help="Processes, or ray[:ADDRESS]; as many as cores.")] = None,
) -> None:
    """Play every policy of a pool with every other in both seats: matrix, intervals, heat map."""
    from rich.progress import Progress

    from collab_overcooked.evaluation.crossplay import cross_play

    with Progress(console=ERR, transient=True, disable=not ERR.is_terminal) as bar:
        task = bar.add_task("episodes")
        result = cross_play(
            env,
            pool,
            options=read_settings(settings),
            episodes=episodes,
            seed=seed,
            workers=workers,
            out=out,
            note=say,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    result.write(out)
    OUT.print(result.markdown())
    say(f"written: {out}/crossplay.json, crossplay.md, crossplay.png")
