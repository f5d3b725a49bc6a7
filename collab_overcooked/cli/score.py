"""The commands ``score`` and ``report``, with the scoring options of all suites."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, read_settings, say
from collab_overcooked.cli.options import ShowOptions, as_options, given_values, merge_options, refuse_changes
from collab_overcooked.cli.results import FORMAT_HELP, FORMATS, write_cards, write_results
from collab_overcooked.io.files import read_text
from collab_overcooked.io.options import NAMES, PAIRS, option
from collab_overcooked.reporting.record_scoring import RecordScoring

if TYPE_CHECKING:
    from collab_overcooked.reporting.scorecard import Scorecard


def _scoring_kinds() -> list[type]:
    """Return the scoring options of all suites."""
    suites = [registry.load_suite_options(name) for name in (*registry.first_suites(), *registry.COMMON_SUITES)]
    return [RecordScoring, *(suite.scoring for suite in suites), SettingOptions]


@dataclass(frozen=True, kw_only=True)
class SettingOptions:
    """Scoring options by name."""

    settings: list[str] | None = option(None, "Scoring options by name.", flag="--set", metavar=PAIRS)


ScoringOptions = merge_options("ScoringOptions", _scoring_kinds())


def given_options(scoring: Any) -> dict[str, Any]:
    """Return the scoring options by name, given by their own flags or by ``--set``.

    Raises:
        ValueError: For an option that is given in both ways.
    """
    settings = read_settings(scoring.settings)
    flags = given_values(scoring)
    flags.pop("settings", None)
    for name in settings:
        if name in flags:
            flag = f"--{name.replace('_', '-')}"
            raise ValueError(f"set: {name} is given twice, by {flag} and by --set {name}=...; keep one of the two")
    return flags | settings


def report(
    run: Annotated[Path, Parameter(help="Run folder, or folder of trainings.")],
    /,
    *,
    scoring: ScoringOptions = ScoringOptions(),  # type: ignore[valid-type]
) -> None:
    """Rewrite the tables and the report of a run folder, or of trainings."""
    from collab_overcooked.runner.records import RECORDS, read_packed

    if not run.is_dir():
        raise ValueError(f"{run}: no such run folder")
    if not (run / RECORDS).exists() and report_trainings(run, scoring):
        return
    files = write_results(run, read_packed(run), True, given_options(scoring))
    say(f"written: {run}/{', '.join(files)}")


def report_trainings(run: Path, scoring: Any) -> bool:
    """Write the report of the trainings in a folder and print its table; return whether the folder holds any."""
    from collab_overcooked.baselines import curves

    if not curves.trainings_below(run):
        return False
    refuse_changes(scoring, ScoringOptions(), f"is for the records of a run; {run} holds trainings")
    files = curves.write_report(run, curves.training_folders([run]))
    OUT.print(read_text(run / files[0]).rstrip())
    say(f"written: {run}/{', '.join(files)}")
    return True


@as_options
@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """Contents and form of the tables of ``score``."""

    format: str = option("table", FORMAT_HELP, allowed=FORMATS)
    metrics: list[str] | None = option(None, "Metrics to add, as printed by 'list metrics'.", metavar=NAMES)


@as_options
@dataclass(frozen=True, kw_only=True)
class FurtherOptions:
    """Additional outputs of ``score`` for run folders."""

    compare: bool = option(False, "Show the runs side by side, with paired differences from the first one.")
    page: Path | None = option(None, "With --compare: also write an HTML page with charts.")
    results: Path | None = option(
        None, "Write a file of results for a leaderboard: a line of JSON for each team and setting."
    )
    check: bool = option(False, "PATH is a file of results: recompute its numbers and replay some of its episodes.")
    sample: int = option(3, "Episodes of each row that --check replays.")
    sample_seed: int = option(0, "Random seed of the choice of these episodes.")


def score(
    *paths: Annotated[Path, Parameter(required=True, help="Run folders or record files.")],
    cards: CardOptions = CardOptions(),
    further: FurtherOptions = FurtherOptions(),
    scoring: ScoringOptions = ScoringOptions(),  # type: ignore[valid-type]
    show: ShowOptions = ShowOptions(),
) -> int:
    """Score records, with optional alternative definitions."""
    from collab_overcooked.reporting.results import score_paths
    from collab_overcooked.reporting.run_comparison import compare_runs

    mode, unused = "", FurtherOptions()
    if further.check:
        mode, allowed = "--check", replace(unused, check=True, sample=further.sample, sample_seed=further.sample_seed)
    elif further.results is not None:
        mode, allowed = "--results", replace(unused, results=further.results)
    else:
        allowed = replace(further, sample=unused.sample, sample_seed=unused.sample_seed)
    refuse_changes(further, allowed, f"is not for {mode}" if mode else "is for --check")
    if mode:
        for options in (cards, scoring, show):
            refuse_changes(options, type(options)(), f"is not for {mode}, which has the default metrics")
    if further.check:
        return check_results(paths, further.sample, further.sample_seed)
    if further.results is not None:
        write_results_file(paths, further.results)
        return 0
    given = given_options(scoring)
    check_no_comparison(paths)
    if further.compare and (given or cards.metrics):
        raise ValueError("compare: runs are compared by their default metrics; leave out --metrics and scoring options")
    if further.page is not None and not further.compare:
        raise ValueError("page: a page shows a comparison; add --compare, or use 'report' for a single run")
    scored = compare_runs(paths) if further.compare else score_paths(list(paths), given, cards.metrics or [])
    if further.page is not None:
        write_page(further.page, scored)
    write_cards(scored, cards.format, show)
    return 0


def check_no_comparison(paths: Sequence[Path]) -> None:
    """Refuse folders of ``compare``, whose records are in run folders below them."""
    from collab_overcooked.evaluation.compare.plan import PLAN

    for path in paths:
        if (path / PLAN).is_file():
            raise ValueError(
                f"{path}: is the folder of a comparison; name run folders in it, as in {path}/SUITE/SETTING/POLICY, "
                f"or use 'significance {path}' or 'compare --report-only {path}'"
            )


def write_page(path: Path, cards: "Sequence[Scorecard]") -> None:
    """Write cards and their charts as a self-contained HTML page."""
    from collab_overcooked.io.files import write_atomic
    from collab_overcooked.reporting import report as pages

    sections = [pages.card_section(card) for card in cards]
    write_atomic(path, pages.page("; ".join(card.title for card in cards), sections, []).encode())
    say(f"written: {path}")


def write_results_file(runs: Sequence[Path], out: Path) -> None:
    """Write a line of JSON for each team and setting: means with intervals, digests of configuration and records."""
    from collab_overcooked.reporting.results_file import write

    rows = write(runs, out)
    say(f"written: {out}, {len(rows)} rows")


def check_results(paths: Sequence[Path], sample: int, seed: int) -> int:
    """Recompute the numbers of a file of results from its records, and replay a sample; return the exit code."""
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.reporting.results_file import check
    from collab_overcooked.runner.env_variants import option_text
    from collab_overcooked.runner.teams import team_text

    if len(paths) != 1:
        raise ValueError(f"check: name one file of results, not {len(paths)} paths")
    bad = rows = 0
    for row, faults in check(paths[0], parse_integer("sample", sample, 0), parse_integer("sample-seed", seed, 0)):
        setting = (option_text(name, value) for name, value in row.setting.items() if value is not None)
        title = ", ".join(filter(None, (row.env_id, *setting, row.variant, team_text(row.team))))
        rows, bad = rows + 1, bad + bool(faults)
        for fault in faults:
            OUT.print(f"{title}: {fault}")
    say(f"{rows - bad} of {rows} rows agree with their records")
    return 1 if bad else 0
