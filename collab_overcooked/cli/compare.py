"""The command ``compare``: policies of all kinds in all games, one report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from collab_overcooked.cli.app import OUT, app, read_settings, say
from collab_overcooked.cli.evaluate import WORKERS_HELP, ProgressBar, language_models, refuse_llm_options, show_forecast
from collab_overcooked.cli.options import LimitOptions, LlmOptions, MultiValueCommand, expand_options
from collab_overcooked.io.options import option

if TYPE_CHECKING:
    from collab_overcooked.evaluation.compare.plan import ComparisonPlan


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What is compared."""

    policies: list[str] | None = option(
        None, "random greedy ppo:NAME llm:MODEL ...; all that need no key if not given."
    )
    games: list[str] | None = option(None, "Suites; all of games if not given. Also questions, answered by playing.")
    budget: str = option("small", "How much is played: small or full.")
    episodes: int | None = option(None, "Episodes of each task, or runs, instead of the budget's.")
    seed: int = option(0, "Seed of the whole comparison.")
    crossplay: bool = option(True, "Let every policy play with every other.")
    out: Path = option(Path("runs/compare"), "Folder; what was played there is not played again.")
    report_only: Path | None = option(None, "Write the report of such a folder again, from its records alone.")
    people: list[str] | None = option(None, "Run folders of games with people: they stand on the leaderboards, too.")
    workers: str | None = option(None, WORKERS_HELP, flag="--workers --jobs")
    settings: list[str] | None = option(
        None, "Environment options of one suite.", flag="--set", metavar="SUITE.OPTION=VALUE..."
    )


@dataclass(frozen=True, kw_only=True)
class CompareLlmOptions(LlmOptions):
    """How language models are reached; the budget of a comparison is another option."""

    budget: str = option(
        "", "Per episode: calls=200,tokens=100000,seconds=600,dollars=0.5.", flag="--budget-per-episode"
    )


def compare(context: typer.Context, comparison: CompareOptions, limits: LimitOptions, llm_options: LlmOptions) -> None:
    """Compare scripted, searching, trained and language policies: one report for all games."""
    from collab_overcooked.evaluation.compare import page
    from collab_overcooked.evaluation.compare.leaderboard import read_comparison
    from collab_overcooked.evaluation.compare.plan import make_plan, read_plan
    from collab_overcooked.runner.episode import Limits
    from collab_overcooked.runner.records import read_records

    if comparison.report_only is None:
        out = comparison.out
        plan = make_plan(
            comparison.policies or None,
            comparison.games or None,
            budget=comparison.budget,
            episodes=comparison.episodes,
            seed=comparison.seed,
            crossplay=comparison.crossplay,
            limits=Limits(**asdict(limits)),
            options=read_game_settings(comparison.settings),
        )
        if llm_options.dry_run:
            return show_forecast([(own, out / entry.folder) for entry, own in plan.evaluations().items()], llm_options)
        run_comparison(plan, out, comparison.workers, llm_options)
    else:
        refuse_others(context, "--report-only", "--people")
        out = comparison.report_only
        plan = read_plan(out)
    found = read_comparison(
        plan, out, [record for path in comparison.people or () for record in read_records(path, say)]
    )
    report_path = page.write(found, out)
    page.show(OUT, found)
    say(f"written: {', '.join(str(out / name) for name in page.FILES)}")
    say(f"Open {report_path} in a browser.")


_GROUPS = {"comparison": CompareOptions, "limits": LimitOptions, "llm_options": CompareLlmOptions}
app.command("compare", cls=MultiValueCommand)(expand_options(compare, _GROUPS))


def read_game_settings(words: list[str] | None) -> dict[str, dict[str, Any]]:
    """Read options of environments such as ``["SUITE.OPTION=VALUE"]``, by suite.

    Raises:
        ValueError: If a word names no suite or no option.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, value in read_settings(words).items():
        suite, dot, key = name.partition(".")
        if not dot or not key:
            raise ValueError(f"--set: {name!r} should read SUITE.OPTION=VALUE")
        found.setdefault(suite, {})[key] = value
    return found


def refuse_others(context: typer.Context, alone: str, *beside: str) -> None:
    """Refuse what is given beside an option that stands alone, or beside which few others may stand.

    Raises:
        ValueError: Naming the first such option.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if not {alone, *beside} & set(parameter.opts) and source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"option {parameter.opts[0]} means nothing with {alone}: nothing is played")


def run_comparison(plan: ComparisonPlan, out: Path, workers: str | None, llm_options: LlmOptions) -> None:
    """Run a comparison: first the teams without language models, in processes; then the others, in threads.

    Raises:
        ValueError: If options of language models are given to a comparison without any.
    """
    from collab_overcooked.evaluation.compare.play import play

    evaluations = plan.evaluations()
    silent = {entry: own for entry, own in evaluations.items() if not own.has_language_models()}
    speaking = {entry: own for entry, own in evaluations.items() if own.has_language_models()}
    if not speaking:
        refuse_llm_options(llm_options)
    plan.write(out)
    with ProgressBar(silent.values(), rate=False) as advance:
        play(silent, out, workers=workers, progress=advance, note=say)
    if speaking:
        with (
            language_models(llm_options, workers, out) as shared,
            ProgressBar(speaking.values(), rate=False) as advance,
        ):
            play(speaking, out, progress=advance, note=say, **shared)
