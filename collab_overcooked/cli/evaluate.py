"""Commands that play: evaluate a team on a suite, compare policies in all games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collab_overcooked.cli.app import (
    ERR,
    OUT,
    ByTask,
    Credit,
    Failures,
    ManyWords,
    More,
    Settings,
    app,
    read_numbers,
    read_settings,
    say,
    split,
)
from collab_overcooked.cli.results import definitions_of, write_results
from collab_overcooked.evaluation.suites import find_suite, takers

if TYPE_CHECKING:
    from collab_overcooked.evaluation.compare.plan import Draw
    from collab_overcooked.runner.jobs import Evaluation

LANGUAGE_JOBS = 4  # episodes at a time if language models play: these wait most of the time


SuiteArg = Annotated[str, typer.Argument(help="What to evaluate, for example collab-overcooked.")]
Team = Annotated[
    list[str] | None, typer.Option(help="One policy per seat: agent_0=planner agent_1=greedy; all=greedy if not given.")
]
Levels = Annotated[str | None, typer.Option(help="Levels such as 1-6 or 1,3; all if not given.")]
Tasks = Annotated[str | None, typer.Option(help="Task names instead of levels, separated by commas.")]
Domains = Annotated[
    str | None, typer.Option(help=f"Languages such as kitchen,alien, the default ({takers('domain')}).")
]
Scenarios = Annotated[
    str | None, typer.Option(help=f"Scenarios such as easy,hard, the default, or YAML files ({takers('scenario')}).")
]
Teachers = Annotated[
    str | None,
    typer.Option(help=f"Between episodes: none, teacher_group, teacher_individual, or several ({takers('teacher')})."),
]
Jobs = Annotated[
    int | None, typer.Option(help="Episodes at a time; as many as cores if not given, 4 with llm policies.")
]
MaxTurns = Annotated[int, typer.Option(help="Messages in one conversation.")]
MaxCorrections = Annotated[int, typer.Option(help="How often a refused action is handed back.")]
BaseUrl = Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint of the llm policies.")]
Local = Annotated[Path | None, typer.Option(help="GGUF file that plays the llm policies in this process.")]
LocalThreads = Annotated[int | None, typer.Option(help="Processor threads of --local; all if not given.")]
StoreFile = Annotated[Path | None, typer.Option(help="Keep every exchange with a model in this file.")]
Replayed = Annotated[
    Path | None, typer.Option("--replay", help="Take all answers from such a file; no endpoint is asked.")
]
ALLOWANCE = "Per episode: calls=200,tokens=100000,seconds=600,dollars=0.5."
Prices = Annotated[str, typer.Option(help="Dollars per million tokens in and out: 2.5/10 or model=2.5/10,...")]
Rate = Annotated[float | None, typer.Option(help="Questions to the endpoint per minute.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds for one attempt at a question (120).")]
KeyVariable = Annotated[str | None, typer.Option(help="Environment variable with the endpoint's key (OPENAI_API_KEY).")]
REACH = (
    "base_url",
    "local",
    "local_threads",
    "store",
    "replay",
    "budget",
    "price",
    "rate",
    "timeout",
    "key_variable",
)  # what ``connect`` calls the options above


@app.command(cls=ManyWords)
def evaluate(
    suite: SuiteArg,
    team: Team = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder, runs/SUITE if not given; an interrupted run there is continued.")
    ] = None,
    levels: Levels = None,
    tasks: Tasks = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes of each task (1), or of each run (3).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the whole evaluation.")] = 0,
    kitchen: Annotated[
        str | None, typer.Option(help=f"Shipped kitchen or YAML file, paper if not given ({takers('kitchen')}).")
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(help=f"Time limit in reference times, 1.5 if not given ({takers('gamma')}).")
    ] = None,
    agents: Annotated[str | None, typer.Option(help=f"Numbers of agents such as 2,3,4 ({takers('agents')}).")] = None,
    alphas: Annotated[str | None, typer.Option(help=f"Paces of orders such as 1.0,2.5 ({takers('alphas')}).")] = None,
    runs: Annotated[int | None, typer.Option(help=f"Runs with seeds from --seed on ({takers('runs')}).")] = None,
    domain: Domains = None,
    scenario: Scenarios = None,
    teacher: Teachers = None,
    layouts: Annotated[
        str | None,
        typer.Option(help=f"Layouts or files with commas between them; all if not given ({takers('layouts')})."),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help=f"Steps of an episode, 400 if not given ({takers('horizon')}).")
    ] = None,
    counting: Failures = "orders",
    attribution: Credit = "final",
    jobs: Jobs = None,
    max_turns: MaxTurns = 6,
    max_corrections: MaxCorrections = 1,
    settings: Settings = None,
    base_url: BaseUrl = None,
    local: Local = None,
    local_threads: LocalThreads = None,
    store: StoreFile = None,
    replayed: Replayed = None,
    budget: Annotated[str, typer.Option(help=ALLOWANCE)] = "",
    price: Prices = "",
    rate: Rate = None,
    timeout: Timeout = None,
    key_variable: KeyVariable = None,
    report_file: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    more: More = False,
    by_task: ByTask = False,
) -> None:
    """Play a team on a suite of tasks, write records, and print the paper's table."""
    from collab_overcooked.evaluation.run import plan_evaluation
    from collab_overcooked.runner.episode import Limits

    definitions = definitions_of(counting, attribution)
    asked = {
        "levels": levels,
        "tasks": split(tasks),
        "episodes": episodes,
        "kitchen": kitchen,
        "gamma": gamma,
        "agents": read_numbers("agents", agents, int),
        "alphas": read_numbers("alphas", alphas, float),
        "runs": runs,
        "layouts": layouts,
        "horizon": horizon,
        "domain": split(domain),
        "scenario": split(scenario),
        "teacher": split(teacher),
    }
    plan = plan_evaluation(
        suite,
        team or ["all=greedy"],
        seed=seed,
        options=read_settings(settings),
        limits=Limits(max_turns, max_corrections),
        **{name: value for name, value in asked.items() if value is not None},
    )
    told = (base_url, local, local_threads, store, replayed, budget, price, rate, timeout, key_variable)
    out = out or Path("runs") / suite
    with ProgressBar([plan], rate=find_suite(suite).succeeds) as advance:
        records = play(plan, out, jobs, advance, dict(zip(REACH, told, strict=True)))
    write_results(out, records, report_file, definitions, more, by_task)


def play(
    plan: Evaluation, out: Path, jobs: int | None, progress: Any, reach: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Play a plan: with language models in threads of this process, which share one connection, else in processes.

    Raises:
        ValueError: If options of language models are given to a team without any.
    """
    from collab_overcooked.evaluation.run import evaluate as play_plan

    if not plan.speaks():
        refuse_endpoint(reach)
        return play_plan(plan, out, jobs=jobs, progress=progress, note=say)
    with language_models(reach, jobs) as reached:
        return play_plan(plan, out, progress=progress, note=say, **reached)


@contextmanager
def language_models(reach: Mapping[str, Any], jobs: int | None) -> Iterator[dict[str, Any]]:
    """Connect to language models, and give what players need to use them."""
    from collab_overcooked.policies.llm.connection import connect

    with connect(**reach) as reached:
        yield {
            "make": reached.make,
            "facts": {"language": reached.facts},
            "stop": reached.stop,
            "jobs": LANGUAGE_JOBS if jobs is None else jobs,
        }


def refuse_endpoint(reach: Mapping[str, Any], allowance: str = "budget") -> None:
    """Refuse options of language models.

    Args:
        reach: Values by what ``connect`` calls them.
        allowance: What the command calls the limits of an episode.

    Raises:
        ValueError: Naming the first that is given.
    """
    for name, value in reach.items():
        if value not in (None, ""):
            option = (allowance if name == "budget" else name).replace("_", "-")
            raise ValueError(f"option --{option} is for teams with llm policies")


@app.command(cls=ManyWords)
def compare(
    context: typer.Context,
    policies: Annotated[
        list[str] | None, typer.Option(help="random greedy ppo:NAME llm:MODEL ...; all that need no key if not given.")
    ] = None,
    games: Annotated[list[str] | None, typer.Option(help="Suites; all if not given.")] = None,
    budget: Annotated[str, typer.Option(help="How much is played: small or full.")] = "small",
    episodes: Annotated[
        int | None, typer.Option(help="Episodes of each task, or runs, instead of the budget's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the whole comparison.")] = 0,
    crossplay: Annotated[bool, typer.Option(help="Let every policy play with every other.")] = True,
    out: Annotated[Path, typer.Option(help="Folder; what was played there is not played again.")] = Path(
        "runs/compare"
    ),
    report_only: Annotated[
        Path | None, typer.Option(help="Write the report of such a folder again, from its records alone.")
    ] = None,
    jobs: Jobs = None,
    max_turns: MaxTurns = 6,
    max_corrections: MaxCorrections = 1,
    base_url: BaseUrl = None,
    local: Local = None,
    local_threads: LocalThreads = None,
    store: StoreFile = None,
    replayed: Replayed = None,
    budget_per_episode: Annotated[str, typer.Option(help=ALLOWANCE)] = "",
    price: Prices = "",
    rate: Rate = None,
    timeout: Timeout = None,
    key_variable: KeyVariable = None,
) -> None:
    """Compare scripted, searching, trained and language policies: one report for all games."""
    from collab_overcooked.evaluation.compare import leaderboard as boards
    from collab_overcooked.evaluation.compare import page
    from collab_overcooked.evaluation.compare import plan as draws
    from collab_overcooked.runner.episode import Limits

    if report_only is None:
        limits = Limits(max_turns, max_corrections)
        options: dict[str, Any] = {"budget": budget, "episodes": episodes, "seed": seed, "crossplay": crossplay}
        draw = draws.make_draw(policies or None, games or None, limits=limits, **options)
        allowance = budget_per_episode
        told = (base_url, local, local_threads, store, replayed, allowance, price, rate, timeout, key_variable)
        play_draw(draw, out, jobs, dict(zip(REACH, told, strict=True)))
    else:
        refuse_others(context, "--report-only")
        out = report_only
        draw = draws.read_draw(out)
    comparison = boards.read_comparison(draw, out)
    page.show(OUT, comparison)
    report_path = page.write(comparison, out)
    say(f"written: {', '.join(str(out / name) for name in page.FILES)}")
    say(f"Open {report_path} in a browser.")


def refuse_others(context: typer.Context, alone: str) -> None:
    """Refuse what is given beside an option that stands alone.

    Raises:
        ValueError: Naming the first such option.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if alone not in parameter.opts and source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"option {parameter.opts[0]} means nothing with {alone}: nothing is played")


def play_draw(draw: Draw, out: Path, jobs: int | None, reach: Mapping[str, Any]) -> None:
    """Play a comparison: first the teams without language models, in processes; then the others, in threads.

    Raises:
        ValueError: If options of language models are given to a comparison without any.
    """
    from collab_overcooked.evaluation.compare.play import play as play_entries

    plans = draw.plans()
    silent = {entry: plan for entry, plan in plans.items() if not plan.speaks()}
    speaking = {entry: plan for entry, plan in plans.items() if plan.speaks()}
    if not speaking:
        refuse_endpoint(reach, "budget_per_episode")
    draw.write(out)
    with ProgressBar(silent.values(), rate=False) as advance:
        play_entries(silent, out, jobs=jobs, progress=advance, note=say)
    if speaking:
        with language_models(reach, jobs) as reached, ProgressBar(speaking.values(), rate=False) as advance:
            play_entries(speaking, out, progress=advance, note=say, **reached)


class ProgressBar:
    """A bar on standard error with episodes, success rate and time left; silent where nobody watches."""

    def __init__(self, plans: Iterable[Evaluation], rate: bool) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("episodes"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=ERR,
            transient=True,
            disable=not ERR.is_terminal,
        )
        total = sum(len(work.keys) for plan in plans for work in plan.works)
        self.task = self.bar.add_task("", total=total, rate="")
        self.rate = rate  # whether an episode can succeed as a whole

    def __enter__(self) -> Any:
        self.bar.start()
        return self.advance

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def advance(self, done: int, total: int, successes: int) -> None:
        """Show how far it is."""
        rate = f"{successes / done:.0%} successful" if self.rate else ""
        self.bar.update(self.task, completed=done, total=total, rate=rate)
