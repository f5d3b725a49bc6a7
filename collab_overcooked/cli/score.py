"""The commands ``score`` and ``report``.

Their scoring options are those of all suites, so the commands are built lazily.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, fields, make_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cyclopts import Parameter

from collab_overcooked.cli.app import CHOOSERS, OUT, choose, command_group, commands, read_settings, say
from collab_overcooked.cli.options import ShowOptions, as_options, set_options, several
from collab_overcooked.cli.results import write_results
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import read_text
from collab_overcooked.io.options import PAIRS, option


def scoring_options(logs: bool) -> type:
    """Return a dataclass with the scoring options of all suites, and optionally those for logs of the originals.

    An option that is not given is None, which stands for the default of its suite.
    """
    from collab_overcooked import registry
    from collab_overcooked.reporting.record_scoring import RecordScoring

    suites = [registry.load_suite_options(name) for name in (*registry.first_suites(), *registry.COMMON_SUITES)]
    kinds = [RecordScoring] + [suite.scoring for suite in suites] + ([suite.logs for suite in suites] if logs else [])
    declared: list[Any] = []
    for kind in kinds:
        hints = get_type_hints(kind)
        for one in fields(kind):
            standard = "" if one.default is None else f" Default: {one.default}."
            metadata = {**one.metadata, "help": one.metadata["help"] + standard}
            declared.append((one.name, hints[one.name] | None, option(None, **metadata)))
    declared.append(
        ("settings", list[str] | None, option(None, "Scoring options by name.", flag="--set", metavar=PAIRS))
    )
    return make_dataclass("ScoringOptions", declared, frozen=True, kw_only=True)


def given_options(scoring: Any) -> dict[str, Any]:
    """Return the scoring options by name, given by their own flags or by ``--set``.

    Raises:
        ValueError: For an option that is given in both ways.
    """
    settings = read_settings(scoring.settings)
    flags = {name: value for name, value in asdict(scoring).items() if name != "settings" and value is not None}
    for name in settings:
        if name in flags:
            flag = f"--{name.replace('_', '-')}"
            raise ValueError(f"set: {name} is given twice, by {flag} and by --set {name}=...; keep one of the two")
    return flags | settings


def report_command() -> Callable[..., None]:
    """Return the command ``report``."""
    kind = scoring_options(logs=False)

    def report(
        run: Annotated[Path, Parameter(help="Run folder, or folder of trainings.")], /, *, scoring: Any = kind()
    ) -> None:
        """Rewrite the tables and the report of a run folder, or of trainings."""
        from collab_overcooked.runner.records import RECORDS, read_packed

        if not run.is_dir():
            raise ValueError(f"{run}: no such run folder")
        if not (run / RECORDS).exists() and _holds_training(run):
            report_training(run)
            return
        write_results(run, read_packed(run), True, given_options(scoring))

    set_options(report, {"scoring": as_options(kind)})
    return report


def _holds_training(run: Path) -> bool:
    return any(any(run.glob(pattern)) for pattern in ("log.jsonl", "*/log.jsonl", "returns.csv", "*/returns.csv"))


def report_training(run: Path) -> None:
    """Write the report of the trainings in a folder and print its table."""
    from collab_overcooked.baselines import curves

    files = curves.write_report(run, curves.training_folders([run]))
    OUT.print(read_text(run / files[0]).rstrip())
    say(f"written: {run}/{', '.join(files)}")


def score_command() -> Callable[..., None]:
    """Return the command ``score``."""
    kind = scoring_options(logs=True)

    def score(
        *paths: Annotated[Path, Parameter(required=True, help="Run folders, record files, or logs of the original.")],
        form: Annotated[str, Parameter(name="--format", help="Output format: table, markdown, csv or json.")] = "table",
        metrics: Annotated[list[str] | None, several("Metrics to add, as printed by 'list metrics'.")] = None,
        scoring: Any = kind(),
        show: ShowOptions = ShowOptions(),
    ) -> None:
        """Score records, or logs of the original implementation, with optional alternative definitions."""
        print_scores(list(paths), form, metrics or [], given_options(scoring), show)

    set_options(score, {"scoring": as_options(kind)})
    return score


def print_scores(paths: list[Path], form: str, metrics: list[str], scoring: dict[str, Any], show: ShowOptions) -> None:
    """Print the scores of run folders, record files or logs."""
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_paths

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    cards = score_paths(paths, scoring, say, metrics)
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT, show.more, show.by_task)


def prepare(name: str, make: Callable[[], Callable[..., None]], arguments: list[str]) -> list[str]:
    """Prepare a command whose scoring options are those of all suites."""
    choose(commands, {}, name, make)
    return arguments


report_app = command_group("report", "Rewrite the tables and the report of a run folder, or of trainings.")
score_app = command_group(
    "score", "Score records, or logs of the original implementation, with optional alternative definitions."
)
CHOOSERS |= {"report": partial(prepare, "report", report_command), "score": partial(prepare, "score", score_command)}
