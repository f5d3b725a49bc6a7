"""The command ``compare``: evaluate policies of all kinds in all games and write one report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked.cli.app import OUT, read_settings, say
from collab_overcooked.cli.evaluate import WORKERS_HELP, language_models, refuse_llm_options, show_dry_run, specs_of
from collab_overcooked.cli.options import LimitOptions, LlmOptions, RunLlmOptions, as_options, refuse_changes
from collab_overcooked.cli.progress import ProgressBar
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.io.options import option

if TYPE_CHECKING:
    from collab_overcooked.evaluation.compare.plan import ComparisonPlan


@as_options
@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of a comparison: policies, games and budget."""

    policies: list[str] | None = option(
        None, "Policies: random greedy ppo:NAME llm:MODEL ... Default: all that need no API key."
    )
    games: list[str] | None = option(
        None, "Suites to play; 'questions' answers question sets by playing. Default: the suites of all games."
    )
    budget: str = option("small", "Number of episodes: small or full.")
    episodes: int | None = option(None, "Episodes or runs per task; overrides --budget.")
    seed: int = option(0, "Random seed.")
    crossplay: bool = option(True, "Pair every policy with every other policy.")
    only: list[str] | None = option(
        None, "Settings of the leaderboards, such as the layout cramped_room. Default: all of the budget."
    )
    out: Path = option(Path("runs/compare"), "Output folder; episodes recorded there are not played again.")
    report_only: Path | None = option(None, "Rewrite the report of this folder from its records, without playing.")
    people: list[str] | None = option(None, "Run folders of games with people to include on the leaderboards.")
    workers: str | None = option(None, WORKERS_HELP)
    settings: list[str] | None = option(
        None, "Environment options, by suite.", flag="--set", metavar="SUITE.OPTION=VALUE..."
    )


@as_options
@dataclass(frozen=True, kw_only=True)
class CompareLlmOptions(RunLlmOptions):
    """Endpoint options; here ``--budget`` is the size of the comparison, so the episode budget is renamed."""

    budget: str = option(
        "", "Budget per episode: calls=200,tokens=100000,seconds=600,dollars=0.5.", flag="--budget-per-episode"
    )


def compare(
    *,
    comparison: CompareOptions = CompareOptions(),
    limits: LimitOptions = LimitOptions(),
    llm_options: CompareLlmOptions = CompareLlmOptions(),
) -> None:
    """Compare scripted, search, trained and language-model policies, with one report for all games."""
    from collab_overcooked.evaluation.compare import page
    from collab_overcooked.evaluation.compare.leaderboard import read_comparison
    from collab_overcooked.evaluation.compare.plan import make_plan, read_plan
    from collab_overcooked.runner.episode import Limits
    from collab_overcooked.runner.records import RECORDS, read_packed

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
            only=comparison.only or (),
        )
        if llm_options.dry_run:
            return show_dry_run(plan.runs(out), llm_options)
        run_comparison(plan, out, comparison.workers, llm_options)
    else:
        refuse_playing(comparison, limits, llm_options)
        out = comparison.report_only
        plan = read_plan(out)
    people = comparison.people or ()
    check_distinct_files("people", people, within=RECORDS)
    comparison_results = read_comparison(plan, out, [record for path in people for record in read_packed(path)])
    report_path = page.write(comparison_results, out)
    page.show(OUT, comparison_results)
    say(f"written: {', '.join(str(out / name) for name in page.FILES)}")
    say(f"Open {report_path} in a browser.")


def read_game_settings(pairs: list[str] | None) -> dict[str, dict[str, Any]]:
    """Parse environment options such as ``["SUITE.OPTION=VALUE"]`` into a dict by suite."""
    options: dict[str, dict[str, Any]] = {}
    for name, value in read_settings(pairs).items():
        suite, dot, key = name.partition(".")
        if not dot or not key:
            raise ValueError(f"--set: {name!r} should read SUITE.OPTION=VALUE")
        options.setdefault(suite, {})[key] = value
    return options


def refuse_playing(comparison: CompareOptions, limits: LimitOptions, llm_options: CompareLlmOptions) -> None:
    """Reject options that have no effect with ``--report-only``."""
    report = CompareOptions(report_only=comparison.report_only, people=comparison.people)
    reason = "has no effect with --report-only: nothing is played"
    for options, allowed in ((comparison, report), (limits, LimitOptions()), (llm_options, CompareLlmOptions())):
        refuse_changes(options, allowed, reason)


def run_comparison(plan: ComparisonPlan, out: Path, workers: str | None, llm_options: LlmOptions) -> None:
    """Run a comparison: teams without language models in processes, then teams with language models in threads."""
    from collab_overcooked.runner.run_plans import run_plans

    runs = plan.runs(out)
    silent = [run for run in runs if not run[0].has_language_models()]
    speaking = [run for run in runs if run[0].has_language_models()]
    if not speaking:
        refuse_llm_options(llm_options, specs_of(played for played, _ in runs))
    plan.write(out)
    with ProgressBar("episodes", sum(played.n_episodes for played, _ in silent)) as advance:
        run_plans(silent, out, workers=workers, timed=True, progress=advance)
    if speaking:
        with (
            language_models(llm_options, workers, out) as models,
            ProgressBar("episodes", sum(played.n_episodes for played, _ in speaking), client=models.client) as advance,
        ):
            run_plans(
                speaking,
                out,
                workers=models.workers,
                timed=True,
                make=models.make,
                run_config=models.run_config,
                stop=models.client.stop,
                progress=advance,
            )
