"""The command ``evaluate``: a team on a suite of tasks, with a subcommand for every suite."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from collab_overcooked import registry
from collab_overcooked.cli.app import ERR, OUT, UsageError, app, list_import, read_settings, say
from collab_overcooked.cli.options import LimitOptions, LlmOptions, MultiValueCommand, ShowOptions, expand_options
from collab_overcooked.cli.results import write_results
from collab_overcooked.io.options import PAIRS, SEATS, option

if TYPE_CHECKING:
    from collab_overcooked.runner.jobs import Evaluation

LOG_GAP = 60.0  # seconds between lines on progress, where there is no bar
LANGUAGE_WORKERS = 16  # if language models play: these wait most of the time
WORKERS_HELP = "Number of processes, or ray[:ADDRESS]; as many as cores if not given, 16 threads with llm policies."


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What every suite takes."""

    team: list[str] | None = option(None, "One policy per seat; all=greedy if not given.", metavar=SEATS)
    out: Path | None = option(None, "Run folder, runs/SUITE if not given; an interrupted run there is continued.")
    seed: int = option(0, "Seed of the whole evaluation.")
    settings: list[str] | None = option(None, "Further environment options.", flag="--set", metavar=PAIRS)
    workers: str | None = option(None, WORKERS_HELP, flag="--workers --jobs")
    report: bool = option(True, "Write report.html.")


class SuiteCommands(TyperGroup):
    """One command for each suite of the registry; a suite is imported when its command is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all suites."""
        return list(registry.suites())

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand:
        """Return what a listing shows of a suite."""
        return TyperCommand(cmd_name, help=registry.suites()[cmd_name].summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the suite that is named first."""
        command = suite_command(args[0])
        return command.name, list_import(command), args[1:]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the suite first, should options stand before it."""
        flags = {f"--{name}" for name in ("report", "no-report", "more", "by-task")}
        for i, word in enumerate(args):
            if word in registry.suites() and not (i and args[i - 1].startswith("-") and args[i - 1] not in flags):
                args = [word, *args[:i], *args[i + 1 :]]
                break
        if args and args[0].startswith("-") and args[0] != "--help":
            raise UsageError("Missing suite: one of " + ", ".join(registry.suites()), ctx)
        return super().parse_args(ctx, args)


def warn_of(records: Sequence[Mapping[str, Any]]) -> None:
    """Warn of answers that were cut off, and exit if nothing was measured."""
    from collab_overcooked.reporting.sample_sizes import cut_answers, without_use

    if reason := cut_answers(records):
        say(f"warning: {reason}")
    if reason := without_use(records):
        say(f"warning: nothing was measured: {reason}")
        raise typer.Exit(3)


@cache
def suite_command(name: str) -> Any:
    """Return the command that evaluates a suite.

    Raises:
        ValueError: If it is unknown; the message lists near matches.
    """
    from collab_overcooked.reporting.sample_sizes import RecordScoring

    suite = registry.load_suite(name)
    name = suite.name  # it may have been named by a game

    def run(
        run: RunOptions,
        suite_options: Any,
        scoring: Any,
        record_scoring: Any,
        show: ShowOptions,
        limits: LimitOptions,
        llm_options: LlmOptions,
    ) -> None:
        presets = presets_of(name, run.team or [])
        plan, out = plan_suite(name, run, suite_options, limits, presets), run.out or Path("runs") / name
        if llm_options.dry_run:
            return show_forecast([(plan, out)], llm_options)
        records = run_plan(plan, out, run.workers, llm_options)
        counted, usual = asdict(scoring), asdict(suite.scoring_options())
        said = {key: value for own in presets for key, value in own.scoring.items() if counted[key] == usual[key]}
        write_results(out, records, run.report, counted | said | asdict(record_scoring), show)
        warn_of(records)

    run.__doc__ = f"{registry.suites()[name].summary}\n\nPlays a team, writes records, and prints the suite's table."
    groups = {
        "suite_options": suite.suite_options,
        "run": RunOptions,
        "scoring": suite.scoring_options,
        "record_scoring": RecordScoring,
        "show": ShowOptions,
        "limits": LimitOptions,
        "llm_options": LlmOptions,
    }
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=MultiValueCommand)(expand_options(run, groups, shown_options(suite)))
    return typer.main.get_command(alone)


def shown_options(suite: Any) -> dict[str, Sequence[str]]:
    """Return which options of showing and scoring a suite's command has; what is played is not scored otherwise."""
    played = {own.name for own in fields(suite.suite_options)}
    counted = [own.name for own in fields(suite.scoring_options) if own.name not in played]
    return {"show": suite.show_options, "scoring": counted}


evaluate_app = typer.Typer(cls=SuiteCommands, help="Play a team on a suite of tasks, write records, print its table.")
app.add_typer(evaluate_app, name="evaluate")


def presets_of(suite: str, team: Iterable[str]) -> list[registry.PresetRecord]:
    """Return the presets that language agents of a team name and that belong to the suite's game."""
    from collab_overcooked.policies.llm.connection import KIND
    from collab_overcooked.policies.llm.settings import parse_settings

    texts = [word.partition("=")[2].partition(":") for word in team]
    names = {parse_settings(text).preset for kind, _, text in texts if kind.strip() == KIND}
    own = {name for record in registry.games() if suite in record.suites for name in record.presets}
    return [preset for name, preset in registry.presets().items() if name in names & own]


def plan_suite(
    suite: str, run: RunOptions, suite_options: Any, limits: LimitOptions, presets: Iterable[registry.PresetRecord]
) -> Evaluation:
    """Plan a team on a suite, with what presets say of the environment."""
    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.runner.episode import Limits

    return plan_evaluation(
        suite,
        run.team or ["all=greedy"],
        seed=run.seed,
        options={key: value for preset in presets for key, value in preset.options.items()}
        | read_settings(run.settings),
        limits=Limits(**asdict(limits)),
        **{own.name: getattr(suite_options, own.name) for own in fields(suite_options)},
    )


def warn_of_repetitions(plan: Evaluation) -> None:
    """Tell if models at temperature 0 are to play a task more than once: their answers may be the same each time."""
    from collab_overcooked.policies.registry import is_language
    from collab_overcooked.reporting.sample_sizes import is_steady

    specs = dict.fromkeys(spec for team in plan.teams() for spec in team if is_language(spec))
    steady = [spec for spec in specs if is_steady(spec)]
    most = max(Counter((job.task, job.team) for job in plan.jobs).values(), default=0)
    if steady and most > 1:
        say(
            f"warning: {', '.join(steady)}: at temperature 0 the {most} episodes of a task may be one and the same "
            "(with a fixed seed likewise); equal ones count once"
        )


def run_plan(plan: Evaluation, out: Path, workers: str | None, llm_options: LlmOptions) -> list[dict[str, Any]]:
    """Run a plan: with language models in threads of this process, which share one connection, else in processes.

    Raises:
        ValueError: If options of language models are given to a team without any.
    """
    from collab_overcooked.evaluation.run import evaluate

    warn_of_repetitions(plan)
    with ProgressBar([plan], rate=registry.load_suite(plan.suite).has_success) as advance:
        if not plan.has_language_models():
            refuse_llm_options(llm_options)
            return evaluate(plan, out, workers=workers, progress=advance, note=say)
        with language_models(llm_options, workers, out) as shared:
            return evaluate(plan, out, progress=advance, note=say, **shared)


@contextmanager
def language_models(llm_options: LlmOptions, workers: str | None, out: Path) -> Iterator[dict[str, Any]]:
    """Connect to language models, and yield the arguments of a run that uses them; what was paid for is kept.

    Args:
        llm_options: How they are reached.
        workers: As given.
        out: Folder of the run, where exchanges are kept unless another file is named.
    """
    from collab_overcooked.policies.llm.agents import policy_maker
    from collab_overcooked.policies.llm.connection import connect
    from collab_overcooked.reporting.exchanges import EXCHANGES

    given = {own.name: getattr(llm_options, own.name) for own in fields(llm_options) if own.name != "dry_run"}
    with connect(**given, keep=out / EXCHANGES) as connection:
        if connection.router is not None:
            connection.router.tell = say
        try:
            yield {
                "make": policy_maker(connection),
                "facts": {"language": connection.facts},
                "stop": connection.stop,
                "workers": LANGUAGE_WORKERS if workers is None else workers,
            }
        finally:
            if connection.spending is not None and connection.spending.usage.calls:
                say(connection.spending.summary())


def show_forecast(plans: Iterable[tuple[Evaluation, Path]], llm_options: LlmOptions) -> None:
    """Print what plans would ask language models beyond the records that their folders have, and what it would cost.

    Raises:
        ValueError: If no language model takes part.
    """
    from collab_overcooked.evaluation.forecast import forecast_card
    from collab_overcooked.policies.llm.budget import parse_prices
    from collab_overcooked.runner.records import RECORDS, read_records

    speaking = [(plan, folder) for plan, folder in plans if plan.has_language_models()]
    if not speaking:
        refuse_llm_options(llm_options)
    found = [(plan, read_records(folder) if (folder / RECORDS).exists() else []) for plan, folder in speaking]
    forecast_card(found, parse_prices(llm_options.price)).show(OUT)


def refuse_llm_options(llm_options: LlmOptions) -> None:
    """Refuse options of language models where none plays.

    Raises:
        ValueError: Naming the first that is given.
    """
    for own in fields(llm_options):
        if getattr(llm_options, own.name) not in (None, "", False):
            flag = own.metadata["flag"] or "--" + own.name.replace("_", "-")
            raise ValueError(f"option {flag} is for teams with llm policies")


class ProgressBar:
    """A bar on standard error with episodes, success rate and time left; a line a minute where that is no terminal."""

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
        total = sum(len(job.keys) for plan in plans for job in plan.jobs)
        self.task = self.bar.add_task("", total=total, rate="")
        self.rate = rate  # whether an episode can succeed as a whole
        self.told = time.monotonic()

    def __enter__(self) -> Any:
        self.bar.start()
        return self.advance

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def advance(self, done: int, total: int, successes: int) -> None:
        """Show the progress."""
        rate = f"{successes / done:.0%} successful" if self.rate else ""
        self.bar.update(self.task, completed=done, total=total, rate=rate)
        if not ERR.is_terminal and time.monotonic() - self.told >= LOG_GAP:
            self.told = time.monotonic()
            say(f"{done} of {total} episodes {rate}".rstrip())
