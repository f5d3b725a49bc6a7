"""The command ``evaluate``, with a subcommand for every suite."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, command_group, read_settings, say
from collab_overcooked.cli.options import (
    LimitOptions,
    LlmOptions,
    RunLlmOptions,
    ShowOptions,
    as_options,
    given_values,
    merge_options,
    refuse_changes,
)
from collab_overcooked.cli.progress import ProgressBar
from collab_overcooked.cli.results import write_results
from collab_overcooked.io.options import PAIRS, SEATS, option
from collab_overcooked.reporting.record_scoring import RecordScoring

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord
    from collab_overcooked.policies.api import Policy
    from collab_overcooked.policies.llm.client import Client
    from collab_overcooked.runner.match import MatchPlan

LANGUAGE_WORKERS = 16  # threads for language models, which wait for responses most of the time
WORKERS_HELP = (
    "Number of worker processes, or ray[:ADDRESS]. Default: one per core, 16 threads with language-model policies."
)


@as_options
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of every suite."""

    team: list[str] | None = option(None, "One policy per seat. Default: all=greedy.", metavar=SEATS)
    out: Path | None = option(None, "Run folder; an interrupted run is resumed. Default: runs/SUITE.")
    seed: int = option(0, "Random seed.")
    settings: list[str] | None = option(None, "Environment options.", flag="--set", metavar=PAIRS)
    workers: str | None = option(None, WORKERS_HELP)
    report: bool = option(True, "Write report.html.")


def add_suites(group: App, make: Callable[[str], Callable[..., None]]) -> None:
    """Add a subcommand, with the options of the suite, for every suite without one."""
    for name in registry.suites():
        if name not in group:
            group.command(make(name), name=name)


def warn_of(records: "Sequence[EpisodeRecord]") -> None:
    """Warn about truncated answers, and exit if no episode was measured.

    Raises:
        SystemExit: With code 3 if no episode was measured.
    """
    from collab_overcooked.reporting.sample_sizes import cut_answers, without_use

    if reason := cut_answers(records):
        say(f"warning: {reason}")
    if reason := without_use(records):
        say(f"warning: nothing was measured: {reason}")
        raise SystemExit(3)


def suite_command(name: str) -> Callable[..., None]:
    """Return the command that evaluates a suite."""
    options = registry.load_suite_options(name)
    played = {field.name for field in fields(options.play)}
    kinds = (options.scoring, RecordScoring)
    counted = [field.name for kind in kinds for field in fields(kind) if field.name not in played]  # others are fixed
    play_kind: type[Any] = as_options(options.play)
    scoring_kind: type[Any] = merge_options("ScoringOptions", kinds, counted)
    show_kind = as_options(ShowOptions, options.show)

    def run(
        *,
        suite_options: play_kind = play_kind(),  # type: ignore[valid-type]
        run: RunOptions = RunOptions(),
        scoring: scoring_kind = scoring_kind(),  # type: ignore[valid-type]
        show: show_kind = show_kind(),  # type: ignore[valid-type]
        limits: LimitOptions = LimitOptions(),
        llm_options: RunLlmOptions = RunLlmOptions(),
    ) -> None:
        from collab_overcooked.runner.records import RECORDS

        presets = presets_of(name, run.team or [])
        plan = plan_suite(name, run, suite_options, limits, presets)
        out = run.out or Path("runs") / name
        if llm_options.dry_run:
            return show_dry_run([(plan, out)], llm_options)
        records = evaluate_plan(plan, out, run.workers, llm_options)
        paper_scoring = {name: value for preset in presets for name, value in preset.scoring.items()}
        files = write_results(out, records, run.report, paper_scoring | given_values(scoring), show)
        say(f"written: {out}/{', '.join((RECORDS, *files))}")
        warn_of(records)

    run.__doc__ = f"{registry.suites()[name].summary}\n\nPlays the team, writes records and prints the suite's table."
    return run


evaluate_app = command_group("evaluate", "Evaluate a team on a suite: play, write records, print the table.")
add_suites(evaluate_app, suite_command)


def presets_of(suite: str, team: Iterable[str]) -> list[registry.PresetEntry]:
    """Return the presets named by a team's language agents that belong to the suite's game."""
    from collab_overcooked.policies.specs import PolicySpec
    from collab_overcooked.runner.teams import spec_of

    specs = [spec for spec in map(PolicySpec.parse, map(spec_of, team)) if spec.is_language]
    if not specs:
        return []
    from collab_overcooked.policies.llm.settings import parse_settings  # loads clients of endpoints

    names = {parse_settings(spec.parameters).preset for spec in specs}
    game_presets = {name for record in registry.games() if suite in record.suites for name in record.presets}
    return [preset for name, preset in registry.presets().items() if name in names & game_presets]


def plan_suite(
    suite: str, run: RunOptions, suite_options: Any, limits: LimitOptions, presets: Iterable[registry.PresetEntry]
) -> "MatchPlan":
    """Plan the evaluation of a team on a suite, with the environment options of presets."""
    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.runner.episode import Limits

    return plan_evaluation(
        suite,
        run.team or ["all=greedy"],
        seed=run.seed,
        options={key: value for preset in presets for key, value in preset.options.items()}
        | read_settings(run.settings),
        limits=Limits(**asdict(limits)),
        **{field.name: getattr(suite_options, field.name) for field in fields(suite_options)},
    )


def warn_of_repetitions(plan: "MatchPlan") -> None:
    """Warn if models at temperature 0 play a task more than once, as their answers may be identical."""
    from collab_overcooked.policies.specs import PolicySpec
    from collab_overcooked.reporting.sample_sizes import is_steady

    specs = dict.fromkeys(spec for team in plan.teams() for spec in team if PolicySpec.parse(spec).is_language)
    steady = [spec for spec in specs if is_steady(spec)]
    most = max(Counter((match.task, match.team) for match in plan.matches).values(), default=0)
    if steady and most > 1:
        say(
            f"warning: {', '.join(steady)}: at temperature 0 or with a fixed seed, the {most} episodes of a task may "
            "be identical; identical episodes count once"
        )


def evaluate_plan(
    plan: "MatchPlan", out: Path, workers: str | None, llm_options: LlmOptions
) -> "Sequence[EpisodeRecord]":
    """Run a plan in worker processes, or in threads that share one connection if language models play."""
    from collab_overcooked.evaluation.run import evaluate

    warn_of_repetitions(plan)
    rate = registry.load_suite(plan.suite).has_success
    if not plan.has_language_models():
        refuse_llm_options(llm_options, specs_of([plan]))
        with ProgressBar("episodes", plan.n_episodes, rate) as advance:
            return evaluate(plan, out, workers=workers, progress=advance)
    with (
        language_models(llm_options, workers, out) as models,
        ProgressBar("episodes", plan.n_episodes, rate, models.client) as advance,
    ):
        return evaluate(
            plan,
            out,
            workers=models.workers,
            make=models.make,
            run_config=models.run_config,
            stop=models.client.stop,
            progress=advance,
        )


@dataclass(frozen=True)
class LanguageModels:
    """Language models of a run, as ``runner.run_plans`` takes them."""

    client: "Client"  # Connection that all of them share
    make: Callable[[str], Any]  # Turns policy specs into policies
    workers: int | str  # Threads that ask models
    run_config: dict[str, Any]  # What must be equal for a run to be continued


@contextmanager
def language_models(llm_options: LlmOptions, workers: str | None, out: Path) -> Iterator[LanguageModels]:
    """Connect to the language models of a run; print the summary of the connection at the end.

    Args:
        llm_options: Endpoint, budget and store.
        workers: Value of ``--workers``.
        out: Run folder; exchanges are stored there unless ``--store`` names another file.
    """
    from collab_overcooked.policies.llm.agents import policy_maker
    from collab_overcooked.policies.llm.client import connect
    from collab_overcooked.policies.llm.unusable import UnusableLimit
    from collab_overcooked.reporting.exchanges import EXCHANGES

    settings = {field.name: getattr(llm_options, field.name) for field in fields(LlmOptions)}
    limit = settings.pop("max_unusable")
    with connect(**settings, keep=out / EXCHANGES) as client:
        client.unusable_limit = client.unusable_limit if limit is None else UnusableLimit(limit)
        try:
            threads = LANGUAGE_WORKERS if workers is None else workers
            yield LanguageModels(client, policy_maker(client), threads, {"language": client.run_config})
        finally:
            if summary := client.summary():
                say(summary)


def show_dry_run(plans: "Iterable[tuple[MatchPlan, Path]]", llm_options: LlmOptions) -> None:
    """Print the number of missing episodes of plans, with an estimate of their costs."""
    from collab_overcooked.evaluation.dry_run import dry_run_card
    from collab_overcooked.policies.llm.budget import parse_budget, parse_prices
    from collab_overcooked.policies.llm.client import check_positive
    from collab_overcooked.policies.llm.unusable import UnusableLimit
    from collab_overcooked.runner.records import RECORDS, read_packed

    numbers = ("rate", "timeout", "give_up", "local_threads")
    check_positive(**{name: getattr(llm_options, name) for name in numbers})
    UnusableLimit(llm_options.max_unusable or 0)
    plans = list(plans)
    speaking = [(plan, folder) for plan, folder in plans if plan.has_language_models()]
    if not speaking:
        refuse_llm_options(llm_options, specs_of(plan for plan, _ in plans))
    pending = [(plan, read_packed(folder) if (folder / RECORDS).exists() else []) for plan, folder in speaking]
    budget = parse_budget(llm_options.budget)
    total = parse_budget(llm_options.budget_total, "budget-total")
    dry_run_card(pending, parse_prices(llm_options.price), budget, total).show(OUT)


def specs_of(plans: "Iterable[MatchPlan]") -> list[str]:
    """Return the specs of all policies of plans."""
    return [spec for plan in plans for team in plan.teams() for spec in team]


def refuse_llm_options(llm_options: LlmOptions, specs: Iterable[str]) -> None:
    """Reject endpoint options if no language model plays, after unknown policies, which may be misspelt ones.

    Args:
        llm_options: The options.
        specs: Specs of the policies that play.

    Raises:
        ValueError: A policy is unknown, or an option is given.
    """
    from collab_overcooked.policies.specs import PolicySpec

    for spec in dict.fromkeys(specs):
        PolicySpec.parse(spec).check()
    refuse_changes(llm_options, type(llm_options)(), "is for teams with llm policies")


@contextmanager
def policy_factory(
    specs: Sequence[str], llm_options: LlmOptions, out: Path
) -> "Iterator[Callable[[str], Policy] | None]":
    """Create each policy once, so that an invalid one is refused before play starts, and yield the factory.

    Args:
        specs: Specs of policies; those of people are passed over.
        llm_options: Options of language models; refused if none is among the specs.
        out: Folder of the language models' exchanges.

    Yields:
        A factory with a client of language models while the block lasts; None for the registry of policies if none of
        the specs is a language model.

    Raises:
        ValueError: A policy cannot be made, or there are options of language models without one.
    """
    from collab_overcooked.policies.registry import PERSON
    from collab_overcooked.policies.specs import PolicySpec, make_known_policy

    made = [spec for spec in dict.fromkeys(specs) if spec != PERSON]
    if not any(PolicySpec.parse(spec).is_language for spec in specs):
        refuse_llm_options(llm_options, specs)
        for spec in made:
            make_known_policy(spec)
        yield None
        return
    with language_models(llm_options, None, out) as models:
        for spec in made:
            models.make(spec)
        yield models.make
