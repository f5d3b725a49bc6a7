"""Commands for users' own files: kitchens, levels, scenarios, layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, app, read_numbers, read_settings, say
from collab_overcooked.cli.options import MultiValueCommand

kitchen_app = typer.Typer(help="Work with kitchen files.", no_args_is_help=True)
app.add_typer(kitchen_app, name="kitchen")
levels_app = typer.Typer(help="Work with level files of CuisineWorld.", no_args_is_help=True)
app.add_typer(levels_app, name="levels")
scenario_app = typer.Typer(help="Work with scenario files of Kitchen Rush and Alien Rush.", no_args_is_help=True)
app.add_typer(scenario_app, name="scenario")
layouts_app = typer.Typer(help="Work with layouts of Overcooked.", no_args_is_help=True)
app.add_typer(layouts_app, name="layouts")


@kitchen_app.command("check")
def kitchen_check(file: Annotated[str, typer.Argument(help="YAML file, or the name of a shipped kitchen.")]) -> None:
    """Check that a kitchen file can work."""
    game = registry.load_game("CollabOvercooked-v0", kitchen=file)
    kitchen = game.kitchen
    OUT.print(
        f"OK: {kitchen.name}, {len(kitchen.agents)} agents, {len(kitchen.tasks)} tasks, "
        f"{len(kitchen.recipes)} recipes, {game.n_actions} actions",
        markup=False,
    )


@levels_app.command("verify")
def levels_verify(
    names: Annotated[list[str] | None, typer.Argument(help="Levels or YAML files; all shipped ones if none.")] = None,
    alphas: Annotated[str, typer.Option(help="Paces of orders whose times are shown.")] = "1.0,1.5,2.0,2.5,3.0",
) -> None:
    """Show intervals and lifetimes, orders that cannot be made and tools that nothing needs; exit code 1 for orders."""
    from collab_overcooked.games.cuisineworld.spec import levels, load_level
    from collab_overcooked.games.cuisineworld.verify import report_text, verify_level

    paces = read_numbers("alphas", alphas, float) or []
    if not all(0 < alpha < float("inf") for alpha in paces):
        raise ValueError(f"alphas: {alphas!r} must be numbers above 0")
    reports = [verify_level(load_level(name), paces) for name in names or levels()]
    OUT.print(report_text(reports), markup=False)
    bad = [report.name for report in reports if not report.ok]
    if bad and names:  # the shipped set holds one such level on purpose
        raise typer.Exit(1)


@scenario_app.command("verify")
def scenario_verify(
    scenario: Annotated[str, typer.Argument(help="YAML file, or the name of a shipped scenario.")],
    budget: Annotated[int | None, typer.Option(help="States that each search may look at.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove what all agents and one agent alone can reach, and what a file claims; exit code 1 if that is not so."""
    import json

    from collab_overcooked.games.rush.search import BUDGET
    from collab_overcooked.games.rush.spec import load_scenario
    from collab_overcooked.games.rush.verify import report_text, verify_scenario

    report = verify_scenario(load_scenario(scenario), BUDGET if budget is None else budget)
    OUT.print(json.dumps(report.as_json(), indent=1) if as_json else report_text(report), markup=False)
    if not report.ok:
        raise typer.Exit(1)


@scenario_app.command("generate")
def scenario_generate(
    out: Annotated[Path, typer.Option(help="YAML file to write.")],
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    tightness: Annotated[
        float | None, typer.Option(help="0 for plenty of everything to 1 (if not given) for nothing to spare.")
    ] = None,
    turns: Annotated[
        int | None, typer.Option(help="Turns for all orders (10): of one agent at tightness 0, else of the team.")
    ] = None,
    episodes: Annotated[int, typer.Option(help="Episodes, each the first one with goods exchanged.")] = 3,
    agents: Annotated[int | None, typer.Option(help="Agents (2).")] = None,
    workers: Annotated[int | None, typer.Option(help="Workers of each agent (2).")] = None,
    orders: Annotated[int | None, typer.Option(help="Orders of an episode (5).")] = None,
    max_turns: Annotated[int | None, typer.Option(help="Turns of an episode, if more; at tightness 0 only.")] = None,
    like: Annotated[str | None, typer.Option(help="Scenario whose first episode to take instead of a new one.")] = None,
    budget: Annotated[int | None, typer.Option(help="States that searches may look at.")] = None,
) -> None:
    """Make a scenario of a wanted optimum, or new episodes of a scenario, and prove what it claims."""
    from collab_overcooked.games.rush.generate import Wish, episodes_like, generate_scenario, scenario_text
    from collab_overcooked.games.rush.search import BUDGET
    from collab_overcooked.games.rush.spec import load_scenario
    from collab_overcooked.games.rush.verify import report_text, verify_scenario

    if out.suffix not in (".yaml", ".yml"):
        raise ValueError(f"out: {out} should end in .yaml")
    options = {"tightness": tightness, "turns": turns, "agents": agents, "workers": workers, "orders": orders}
    given: dict[str, Any] = {n: v for n, v in {**options, "max_turns": max_turns}.items() if v is not None}
    words = [f"--seed {seed} --episodes {episodes}", *(f"--{name.replace('_', '-')} {given[name]:g}" for name in given)]
    states = BUDGET if budget is None else budget
    if like is not None:
        for name in given:
            raise ValueError(f"option --{name.replace('_', '-')} means nothing with --like: it takes what {like} says")
        words.append(f"--like {like}")
        values = episodes_like(load_scenario(like), episodes, seed, out.stem, states)
    else:
        values = generate_scenario(Wish(episodes=episodes, **given), seed, out.stem, states)
    report = verify_scenario(load_scenario(values), states)
    out.write_text(scenario_text(values, f"collab-overcooked scenario generate {' '.join(words)}"), encoding="utf-8")
    OUT.print(report_text(report), markup=False)
    say(f"written: {out}")
    if not report.ok:
        raise typer.Exit(1)


@layouts_app.command("generate", cls=MultiValueCommand)
def layouts_generate(
    out: Annotated[Path, typer.Option(help="Folder for the layout files.")],
    seed: Annotated[int, typer.Option(help="Seed of the generator.")] = 0,
    count: Annotated[int, typer.Option(help="Number of layouts.")] = 8,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="How they shall be: key=value ..., for example rooms=2 pots=[1,3]."),
    ] = None,
    par: Annotated[str, typer.Option(help="Policy whose score becomes the par score, or none.")] = "planner",
) -> None:
    """Draw layouts in which soup can be served, and write each to a file of its own, with a par score."""
    from collab_overcooked.games.overcooked.generate import generate, layout_text, read_wishes
    from collab_overcooked.games.overcooked.par_score import par_score

    layouts = generate(read_wishes({"seed": seed, "count": count, **read_settings(settings)}))
    out.mkdir(parents=True, exist_ok=True)
    for layout in layouts:
        score = None if par == "none" else par_score(layout, par)
        (out / f"{layout.name}.yaml").write_text(layout_text(layout, score), "utf-8")
        OUT.print(f"{layout.name}" + ("" if score is None else f", par {score}"), markup=False)
    say(f"written: {out}")


@layouts_app.command("check")
def layouts_check(
    file: Annotated[str, typer.Argument(help="YAML file, public .layout file, or the name of a shipped layout.")],
    par: Annotated[str, typer.Option(help="Policy that plays it, or none.")] = "greedy",
) -> None:
    """Check that a layout can work: read it, prove that soup can be served, play it; exit code 1 if none is served."""
    from collab_overcooked.games.overcooked.generate import prove_layout
    from collab_overcooked.games.overcooked.par_score import STEPS, par_score
    from collab_overcooked.games.overcooked.spec import load_kitchen

    layout = load_kitchen(file)
    OUT.print(f"{layout.name}: {layout.width} x {layout.height}, {len(layout.starts)} players", markup=False)
    proof = prove_layout(layout)
    for line in ("no proof found; players may have to make way for each other",) if proof is None else proof.errands:
        OUT.print(f"  {line}", markup=False)
    score = None if par == "none" else par_score(layout, par)
    if score is not None:
        OUT.print(f"{par} serves {score} points in {STEPS} steps", markup=False)
    raise typer.Exit(int(proof is None and not score))
