"""The command ``collab-overcooked``. Heavy modules load only when a command needs them, so that help is instant."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.suites import SUITES, find_suite, takers
from collab_overcooked.messages import near_matches

if TYPE_CHECKING:
    from collab_overcooked.evaluation.compare.draws import Draw
    from collab_overcooked.evaluation.parts import Definitions
    from collab_overcooked.evaluation.runs import Evaluation
    from collab_overcooked.metrics import CollaborationOptions

OUT = Console(soft_wrap=True, highlight=False)
ERR = Console(stderr=True, soft_wrap=True, highlight=False)
LANGUAGE_JOBS = 4  # episodes at a time if language models play: these wait most of the time
UsageError: Any = typer.BadParameter.__base__  # click's, or the copy that newer releases of typer carry


class Commands(TyperGroup):
    """All commands; the one place that turns what users can get wrong into one line and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            fail(error.format_message())
        except BrokenPipeError:  # `collab-overcooked list tasks | head`
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (ValueError, OSError) as error:
            if ctx.params.get("traceback"):
                raise
            fail(os_words(error) if isinstance(error, OSError) else str(error))
        except KeyboardInterrupt:
            ERR.print("stopped; the same command goes on where it stopped, if it writes to a run folder")
            raise typer.Exit(130) from None


class ManyWords(TyperCommand):
    """A command whose options in ``spread`` take all ``name=value`` words that follow them."""

    spread = ("--team", "--set", "--hyper", "--pool", "--data", "--policies", "--games")
    plain = ("--pool", "--data", "--policies", "--games")  # whose words need no equals sign

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write ``--team a=x b=y`` as ``--team a=x --team b=y`` and go on as usual."""
        words: list[str] = []
        option = ""  # the one that further words would belong to
        for word in args:
            name = word.split("=", 1)[0]
            first = bool(words) and words[-1] == option
            if name in self.spread:
                option = name
            elif option and not first and ("=" in word or option in self.plain) and not word.startswith("-"):
                words.append(option)
            elif not first:
                option = ""
            words.append(word)
        return super().parse_args(ctx, words)


def fail(message: str) -> None:
    """Print one line and leave with exit code 2."""
    ERR.print("error: " + " ".join(message.split()), markup=False)
    raise typer.Exit(2)


def os_words(error: OSError) -> str:
    """Say which file and what is wrong with it."""
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words


app = typer.Typer(
    cls=Commands,
    name="collab-overcooked",
    help="Cooperative-kitchen benchmarks: evaluate teams, score and replay records, look at games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
kitchen_app = typer.Typer(help="Work with kitchen files.", no_args_is_help=True)
app.add_typer(kitchen_app, name="kitchen")
levels_app = typer.Typer(help="Work with level files of CuisineWorld.", no_args_is_help=True)
app.add_typer(levels_app, name="levels")
scenario_app = typer.Typer(help="Work with scenario files of Kitchen Rush and Alien Rush.", no_args_is_help=True)
app.add_typer(scenario_app, name="scenario")
layouts_app = typer.Typer(help="Work with layouts of Overcooked.", no_args_is_help=True)
app.add_typer(layouts_app, name="layouts")

SuiteArg = Annotated[str, typer.Argument(help="What to evaluate, for example collab-overcooked.")]
RecordArg = Annotated[Path, typer.Argument(help="Record file (.jsonl) or run folder.")]
Team = Annotated[
    list[str] | None, typer.Option(help="One policy per seat: agent_0=planner agent_1=greedy; all=greedy if not given.")
]
Levels = Annotated[str | None, typer.Option(help="Levels such as 1-6 or 1,3; all if not given.")]
Failures = Annotated[str, typer.Option("--counting", help="Failures: all expired orders, or steps with any.")]
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
Credit = Annotated[str, typer.Option("--attribution", help="Positive actions (rush): final or immediate.")]
Tasks = Annotated[str | None, typer.Option(help="Task names instead of levels, separated by commas.")]
KitchenOpt = Annotated[str, typer.Option(help="Shipped kitchen or path of a YAML file.")]
Gamma = Annotated[float, typer.Option(help="Time limit as a multiple of the reference time.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Further environment options: key=value.")]
TaskOpt = Annotated[str | None, typer.Option(help="Only episodes of this task.")]
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
More = Annotated[bool, typer.Option("--more", help="Show efficiency, redundancy and ROUGE-L too.")]
ByTask = Annotated[bool, typer.Option("--by-task", help="Show a row per task instead of one per level.")]


def version(value: bool) -> None:
    """Print the version and leave."""
    if value:
        OUT.print(f"collab-overcooked {__version__}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where errors come from.")] = False,
) -> None:
    """Options of every command."""


# ------------------------------------------------------------------------------------------- evaluating


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
    from collab_overcooked.evaluation.episodes import Limits
    from collab_overcooked.evaluation.runs import plan_evaluation

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
    reach = {
        "base_url": base_url,
        "local": local,
        "local_threads": local_threads,
        "store": store,
        "replay": replayed,
        "budget": budget,
        "price": price,
        "rate": rate,
        "timeout": timeout,
        "key_variable": key_variable,
    }
    out = out or Path("runs") / suite
    with ProgressBar(sum(len(job.keys) for job in plan.jobs()), rate=find_suite(suite).succeeds) as advance:
        records = play(plan, out, jobs, advance, reach)
    write_results(out, records, report_file, definitions, more, by_task)


def play(
    plan: Evaluation, out: Path, jobs: int | None, progress: Any, reach: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Play a plan: with language models in threads of this process, which share one connection, else in processes.

    Raises:
        ValueError: If options of language models are given to a team without any.
    """
    from collab_overcooked.evaluation.runs import evaluate as play_plan

    if not any(spec.partition(":")[0] == "llm" for team in plan.teams() for spec in team):
        refuse_endpoint(reach)
        return play_plan(plan, out, jobs=jobs, progress=progress, note=say)
    from collab_overcooked.policies.llm.connection import connect

    with connect(**reach) as reached:
        return play_plan(
            plan,
            out,
            jobs=LANGUAGE_JOBS if jobs is None else jobs,
            make=reached.make,
            facts={"language": reached.facts},
            stop=reached.stop,
            progress=progress,
            note=say,
        )


def refuse_endpoint(reach: Mapping[str, Any]) -> None:
    """Refuse options of language models.

    Raises:
        ValueError: Naming the first that is given.
    """
    for name, value in reach.items():
        if value not in (None, ""):
            raise ValueError(f"option --{name.replace('_', '-')} is for teams with llm policies")


@app.command(cls=ManyWords)
def compare(
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
    from collab_overcooked.evaluation.compare import boards, draws, page
    from collab_overcooked.evaluation.episodes import Limits

    if report_only is None:
        limits = Limits(max_turns, max_corrections)
        options: dict[str, Any] = {"budget": budget, "episodes": episodes, "seed": seed, "crossplay": crossplay}
        draw = draws.make_draw(policies or None, games or None, limits=limits, **options)
        reach = {
            "base_url": base_url,
            "local": local,
            "local_threads": local_threads,
            "store": store,
            "replay": replayed,
            "budget": budget_per_episode,
            "price": price,
            "rate": rate,
            "timeout": timeout,
            "key_variable": key_variable,
        }
        play_draw(draw, out, jobs, reach)
    else:
        out = report_only
        draw = draws.read_draw(out)
    comparison = boards.read_comparison(draw, out)
    page.show(OUT, comparison)
    report_path = page.write(comparison, out)
    say(f"written: {', '.join(str(out / name) for name in page.FILES)}")
    say(f"Open {report_path} in a browser.")


def play_draw(draw: Draw, out: Path, jobs: int | None, reach: Mapping[str, Any]) -> None:
    """Play a comparison: first the teams without language models, in processes; then the others, in threads.

    Raises:
        ValueError: If options of language models are given to a comparison without any.
    """
    from collab_overcooked.evaluation.compare.play import play as play_entries
    from collab_overcooked.evaluation.compare.play import speaks

    silent = [entry for entry in draw.entries if not speaks(entry)]
    speaking = [entry for entry in draw.entries if speaks(entry)]
    if not speaking:
        refuse_endpoint(reach)
    draw.write(out)
    total = sum(len(work.keys) for entry in draw.entries for work in draw.plan(entry).jobs())
    with ProgressBar(total, rate=False) as advance:
        play_entries(draw, silent, out, jobs=jobs, progress=advance, note=say)
        if not speaking:
            return
        from collab_overcooked.policies.llm.connection import connect

        with connect(**reach) as reached:
            play_entries(
                draw,
                speaking,
                out,
                jobs=LANGUAGE_JOBS if jobs is None else jobs,
                make=reached.make,
                facts={"language": reached.facts},
                stop=reached.stop,
                progress=advance,
                note=say,
            )


def read_numbers(name: str, text: str | None, kind: type[int] | type[float]) -> list[float] | None:
    """Read numbers with commas between them.

    Raises:
        ValueError: If one of them is none.
    """
    try:
        return None if text is None else [kind(part) for part in text.split(",")]
    except ValueError:
        example = "2,3,4" if kind is int else "1.0,2.5"
        raise ValueError(f"{name}: cannot read {text!r}; write for example {example}") from None


class ProgressBar:
    """A bar on standard error with episodes, success rate and time left; silent where nobody watches."""

    def __init__(self, total: int, rate: bool = True) -> None:
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


def write_results(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    report_file: bool,
    definitions: Definitions,
    more: bool = False,
    by_task: bool = False,
) -> None:
    """Score records, print the table, and write tables and report into the run folder."""
    from collab_overcooked.evaluation import report as pages
    from collab_overcooked.evaluation.records import write_whole
    from collab_overcooked.evaluation.results import results_of

    results = results_of(records, definitions)
    results.show(OUT, more, by_task)
    for name, text in (
        ("table.md", results.markdown()),
        ("table.csv", results.csv_text()),
        ("table.json", results.json_text()),
    ):
        write_whole(folder / name, text.encode())
    if report_file:
        write_whole(folder / "report.html", pages.build_report(records, results.parts).encode())
    say(f"written: {folder}/records.jsonl, table.md, table.csv, table.json" + (", report.html" if report_file else ""))


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    counting: Failures = "orders",
    attribution: Credit = "final",
) -> None:
    """Write tables and report of a run folder again."""
    from collab_overcooked.evaluation.records import read_records

    if not run.is_dir():
        raise ValueError(f"{run}: no such run folder")
    write_results(run, read_records(run), True, definitions_of(counting, attribution))


@app.command()
def score(
    paths: Annotated[list[Path], typer.Argument(help="Run folders, record files, or logs of the original.")],
    denominator: Annotated[str, typer.Option(help="IC and RC per: conversations or required.")] = "conversations",
    initiators: Annotated[str, typer.Option(help="Whose conversations count: chef or both.")] = "chef",
    response: Annotated[str, typer.Option(help="What answers: announced or executed actions.")] = "announced",
    quotes: Annotated[str, typer.Option(help="Quotes of requests: single or any.")] = "single",
    counting: Failures = "orders",
    attribution: Credit = "final",
    task: Annotated[str | None, typer.Option(help="Task of the original's logs.")] = None,
    kitchen: Annotated[str, typer.Option(help="Kitchen of the original's logs.")] = "paper",
    gamma: Annotated[float, typer.Option(help="Time limit for the original's logs.")] = 1.5,
    form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
    more: More = False,
    by_task: ByTask = False,
) -> None:
    """Score records again, or logs of the original, with named alternatives of the definitions."""
    from collab_overcooked.evaluation.results import Results, results_of_paths

    writers = {"markdown": Results.markdown, "csv": Results.csv_text, "json": Results.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    collaboration = collaboration_options(denominator, initiators, response, quotes)
    definitions = definitions_of(counting, attribution, collaboration)
    results = results_of_paths(paths, definitions, task=task, kitchen=kitchen, gamma=gamma, note=say)
    if form != "table":
        sys.stdout.write(writers[form](results))
        return
    results.show(OUT, more, by_task)


def definitions_of(counting: str, attribution: str, collaboration: CollaborationOptions | None = None) -> Definitions:
    """Return what metrics mean; refuses unknown words."""
    from collab_overcooked.evaluation.parts import Definitions
    from collab_overcooked.metrics import ATTRIBUTIONS, check_attribution

    if counting not in ("orders", "steps"):
        raise ValueError(near_matches("counting", counting, ("orders", "steps")))
    if attribution not in ATTRIBUTIONS:
        raise ValueError(near_matches("attribution", attribution, ATTRIBUTIONS))
    return Definitions(collaboration, "orders" if counting == "orders" else "steps", check_attribution(attribution))


def collaboration_options(denominator: str, initiators: str, response: str, quotes: str) -> CollaborationOptions:
    """Return how conversations are counted; refuses unknown words."""
    from collab_overcooked.metrics import CollaborationOptions

    words: dict[str, Any] = {
        "denominator": denominator,
        "initiators": initiators,
        "response": response,
        "quotes": quotes,
    }
    return CollaborationOptions(**words)


# ------------------------------------------------------------------------------------------- one record


@app.command()
def replay(
    record: RecordArg,
    episode: Annotated[int | None, typer.Option(help="Position among the episodes, from 0.")] = None,
    task: TaskOpt = None,
    check: Annotated[bool, typer.Option("--check", help="Only verify that replaying gives the same.")] = False,
) -> None:
    """Step through an episode in the terminal, or check that records replay to the same events and rewards."""
    from collab_overcooked.evaluation.records import read_records

    records = read_records(record)
    if check:
        raise typer.Exit(check_records(choose(records, episode, task)))
    show_episode(choose(records, episode or 0, task)[0])


def choose(records: list[dict[str, Any]], episode: int | None, task: str | None) -> list[dict[str, Any]]:
    """Return the wanted records.

    Raises:
        ValueError: If there is no such task or position.
    """
    if task is not None:
        known = dict.fromkeys(record["task"] for record in records)
        if task not in known:
            raise ValueError(near_matches("task in this file", task, known))
        records = [record for record in records if record["task"] == task]
    if episode is None:
        return records
    if not 0 <= episode < len(records):
        raise ValueError(f"episode: {episode} is not there; the episodes are 0 to {len(records) - 1}")
    return [records[episode]]


def check_records(records: Sequence[Mapping[str, Any]]) -> int:
    """Replay records, print what differs, and return the exit code."""
    from collab_overcooked.evaluation.replay import first_difference

    bad = 0
    for record in records:
        difference = first_difference(record)
        if difference:
            bad += 1
            OUT.print(f"{record['task']}, episode {record['episode']}: {difference}", markup=False)
    steps = sum(record["timesteps"] for record in records)
    OUT.print(f"{len(records) - bad} of {len(records)} episodes replay to the same events and rewards ({steps} steps)")
    return 1 if bad else 0


def show_episode(record: Mapping[str, Any]) -> None:
    """Print an episode step by step; waits for Enter where somebody can press it."""
    from collab_overcooked.evaluation.replay import replay as replayed
    from collab_overcooked.evaluation.results import outcome_words

    team = " ".join(f"{seat}={spec}" for seat, spec in record["team"].items())
    OUT.print(f"{record['task']}, episode {record['episode']}, {team}", markup=False)
    for seat, told in enumerate(record.get("feedback", [])):
        OUT.print(f"agent_{seat} was told:\n{told}", markup=False)
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    for moment in replayed(record, render_mode="ansi"):
        if moment.timestep:
            for line in step_lines(record["steps"][moment.timestep - 1]):
                OUT.print(line, markup=False)
        print(moment.env.render())
        if interactive and not moment.over and input("Enter for the next step, q to quit: ").strip() == "q":
            return
    OUT.print(f"{outcome_words(record)} after {record['timesteps']} timesteps")


def step_lines(step: Mapping[str, Any]) -> list[str]:
    """Return messages, errors, actions and events of a step, a line each."""
    from collab_overcooked.evaluation.results import event_words

    lines = [""]
    for message in step["messages"]:
        plan = f"  [plan: {message['plan']}]" if message["plan"] else ""
        lines.append(f"agent_{message['agent']} says: {message['say']}{plan}")
    lines += [f"agent_{e['agent']} refused: {e['action']}: {e['code']}: {e['message']}" for e in step["errors"]]
    for seat, (action, event) in enumerate(zip(step["action_texts"], step["events"], strict=True)):
        lines.append(f"agent_{seat}: {action}" + (f"  -> {event_words(event)}" if event else ""))
    return lines


@app.command()
def render(
    record: RecordArg,
    out: Annotated[Path, typer.Option(help="Picture or film to write: .png, .gif or .mp4.")],
    episode: Annotated[int, typer.Option(help="Position among the episodes, from 0.")] = 0,
    task: TaskOpt = None,
) -> None:
    """Draw an episode as GIF or MP4, or its last moment as PNG."""
    from collab_overcooked.evaluation.records import read_records

    if out.suffix not in (".png", ".gif", ".mp4"):
        raise ValueError(f"out: {out} should end in .png, .gif or .mp4")
    chosen = choose(read_records(record), episode, task)[0]
    write_film(chosen, out)
    say(f"written: {out}")


def write_film(record: Mapping[str, Any], out: Path) -> None:
    """Write a record's film, or the picture of its last moment."""
    from collab_overcooked.evaluation.video import frames_of_record, write_video

    if out.suffix == ".png":
        from PIL import Image

        Image.fromarray(list(frames_of_record(record))[-1]).save(out)
        return
    try:
        write_video(frames_of_record(record), out)
    except ImportError as error:  # MP4 needs an extra
        raise ValueError(str(error)) from None


# ------------------------------------------------------------------------------------------- training


@app.command(cls=ManyWords)
def train(
    algorithm: Annotated[str, typer.Argument(help="ppo, maskable-ppo, pbt, bc or ppo-bc.")],
    env: Annotated[str | None, typer.Argument(help="Environment id; may stand in the configuration.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run, runs/ALGORITHM-ENV if not given.")] = None,
    config: Annotated[str | None, typer.Option(help="Shipped configuration or YAML file with all settings.")] = None,
    settings: Settings = None,
    hyper: Annotated[list[str] | None, typer.Option(help="Settings of the training: learning_rate=0.001.")] = None,
    steps: Annotated[int | None, typer.Option(help="Environment steps.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything drawn; 0 if not given.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="Records or games of people that bc learns from.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")] = False,
) -> None:
    """Train a policy (needs the extra rl); --set is for the environment, --hyper for the training."""
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
    OUT.print(results.table(found), markup=False)


@app.command(cls=ManyWords)
def crossplay(
    pool: Annotated[list[str], typer.Option(help="Policies, each as its text or as name=text: greedy a=ppo:a.npz.")],
    env: Annotated[str, typer.Option(help="Environment id.")],
    settings: Settings = None,
    episodes: Annotated[int, typer.Option(help="Episodes of each ordered pair.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the whole evaluation.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for crossplay.json, .md and .png.")] = Path("runs/crossplay"),
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
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    result.write(out)
    OUT.print(result.markdown(), markup=False)
    say(f"written: {out}/crossplay.json, crossplay.md, crossplay.png")


# ------------------------------------------------------------------------------------------- looking around


@app.command("list")
def list_names(
    what: Annotated[
        str, typer.Argument(help="envs, tasks, kitchens, policies, levels, layouts, scenarios, lexicons or teachers.")
    ],
    suite: Annotated[
        str | None, typer.Option(help="Suite whose tasks, levels, ... are meant; the first that has them if not given.")
    ] = None,
    kitchen: KitchenOpt = "paper",
) -> None:
    """List what there is."""
    listings: dict[str, Callable[[], list[tuple[str, str]]]] = {
        "envs": lambda: [(record.id, record.summary) for record in registry.RECORDS],
        "policies": list_policies,
        "lexicons": list_lexicons,
        "teachers": list_teachers,
    }
    for name in [record.name for record in SUITES] if suite is None else [suite]:
        for plural, listing in find_suite(name).listings().items():
            listings.setdefault(plural, partial(listing, kitchen))
    if what not in listings:
        raise ValueError(near_matches("listing", what, listings))
    rows = listings[what]()
    width = max(len(name) for name, _ in rows)
    for name, words in rows:
        OUT.print(f"{name:<{width}}  {words}".rstrip(), markup=False)


def list_policies() -> list[tuple[str, str]]:
    """Return how policies are written, and what they do."""
    from collab_overcooked.policies.registry import policy_records

    return [(record.usage, record.summary) for record in policy_records()]


def list_lexicons() -> list[tuple[str, str]]:
    """Return the shipped lexicons with what they are like."""
    from collab_overcooked.envs.lexicon import lexicons, load_lexicon

    return [(name, load_lexicon(name).description) for name in lexicons()]


def list_teachers() -> list[tuple[str, str]]:
    """Return who may speak between the episodes of a run."""
    from collab_overcooked.policies.teaching import TEACHERS, WAYS

    return [(mode, words) for mode, words in WAYS.items()] + [
        (f"{mode}:{name}", words) for name, (_, words) in TEACHERS.items() for mode in WAYS if mode != "none"
    ]


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="Environment id, task, kitchen, level, layout or scenario.")],
    kitchen: KitchenOpt = "paper",
    gamma: Gamma = 1.5,
) -> None:
    """Describe an environment, a task (recipe, limits, references), a kitchen (picture, seats), a level, ..."""
    if name.removeprefix(f"{registry.NAMESPACE}/") in registry.registered():
        print(describe_env(name))
        return
    suites = [find_suite(record.name) for record in SUITES]
    for suite in suites:
        text = suite.describe(name, kitchen, gamma)
        if text is not None:
            print(text)
            return
    kinds = dict.fromkeys(plural.removesuffix("s") for suite in suites for plural in suite.listings())
    known = [*registry.registered(), *(thing for suite in suites for thing in suite.described(kitchen))]
    raise ValueError(
        near_matches(" or ".join([", ".join(["environment", *list(kinds)[:-1]]), list(kinds)[-1]]), name, known)
    )


def describe_env(env_id: str) -> str:
    """Return summary, spaces and documented options of an environment."""
    import inspect

    record, game = registry.find(env_id), registry.load_game(env_id)
    lines = [
        f"{record.id}: {record.summary}",
        f"agents: {game.n_agents}; actions: {game.single_action_space}; longest episode by default: {game.max_cycles}",
        f"observation: {game.single_observation_space}",
        "",
        inspect.getdoc(registry.game_class(env_id)) or "",
        "",
        f"Every game takes `{registry.LEXICON}` as well: a shipped one or a YAML file, in whose words it speaks.",
    ]
    return "\n".join(lines)


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
    from collab_overcooked.envs.cuisineworld.spec import levels, load_level
    from collab_overcooked.envs.cuisineworld.verify import report_text, verify_level

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

    from collab_overcooked.envs.rush.search import BUDGET
    from collab_overcooked.envs.rush.spec import load_scenario
    from collab_overcooked.envs.rush.verify import report_text, verify_scenario

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
    from collab_overcooked.envs.rush.generate import Wish, episodes_like, generate_scenario, scenario_text
    from collab_overcooked.envs.rush.search import BUDGET
    from collab_overcooked.envs.rush.spec import load_scenario
    from collab_overcooked.envs.rush.verify import report_text, verify_scenario

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


@layouts_app.command("generate", cls=ManyWords)
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
    from collab_overcooked.envs.overcooked.generate import generate, layout_text, read_wishes
    from collab_overcooked.evaluation.par import par_score

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
    from collab_overcooked.envs.overcooked.generate import prove_layout
    from collab_overcooked.envs.overcooked.spec import load_kitchen
    from collab_overcooked.evaluation.par import STEPS, par_score

    layout = load_kitchen(file)
    OUT.print(f"{layout.name}: {layout.width} x {layout.height}, {len(layout.starts)} players", markup=False)
    proof = prove_layout(layout)
    for line in ("no proof found; players may have to make way for each other",) if proof is None else proof.errands:
        OUT.print(f"  {line}", markup=False)
    score = None if par == "none" else par_score(layout, par, "auto" if layout.cooks_by_itself else "explicit")
    if score is not None:
        OUT.print(f"{par} serves {score} points in {STEPS} steps", markup=False)
    raise typer.Exit(int(proof is None and not score))


@app.command()
def graph(
    subject: Annotated[str, typer.Argument(help="Level, YAML file of a level, or dish of CuisineWorld.")],
    out: Annotated[Path, typer.Option(help="Picture to write: .svg, .png or .pdf.")],
) -> None:
    """Draw the task graph of a level or a dish: ingredients, tool steps, dishes."""
    from collab_overcooked.envs.cuisineworld.graph import draw_graph

    draw_graph(subject, out)
    say(f"written: {out}")


@app.command()
def parity(
    directory: Annotated[Path, typer.Argument(help="Folder with recorded games of an original.")],
) -> None:
    """Replay recorded games of the originals and report every difference; exit code 1 if there is one."""
    from collab_overcooked.evaluation.parity import run_parity

    raise typer.Exit(run_parity(directory, OUT))


# ------------------------------------------------------------------------------------------- reading options


def say(message: str) -> None:
    """Tell the user something that is not a result."""
    ERR.print(message, markup=False)


def split(text: str | None) -> list[str] | None:
    """Split names at commas."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def read_settings(words: Sequence[str] | None) -> dict[str, Any]:
    """Read ``key=value`` words; values are YAML, so that numbers, booleans and lists are what they look like.

    Raises:
        ValueError: For a word without ``=`` or a value that is no YAML.
    """
    import yaml

    settings: dict[str, Any] = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ValueError(f"set: {word!r} should read key=value")
        try:
            settings[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ValueError(f"set: cannot read the value of {word!r}") from None
    return settings


if __name__ == "__main__":
    app()
