"""Commands that score what was played, and the files of a run folder.

Their options of scoring are those of all suites, so that they are made when they are used.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from collab_overcooked.cli.app import OUT, lazy_command, read_settings, say
from collab_overcooked.cli.options import MultiValueCommand, ShowOptions, expand_options
from collab_overcooked.cli.results import write_results
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.options import NAMES, PAIRS, option, read_names


def scoring_options(logs: bool) -> type:
    """Return a dataclass with the options of scoring of all suites, and of reading logs of the originals if asked."""
    from collab_overcooked import registry
    from collab_overcooked.reporting.sample_sizes import RecordScoring

    suites = [registry.load_suite(name) for name in (*registry.first_suites(), *registry.COMMON_SUITES)]
    kinds = (
        [RecordScoring]
        + [suite.scoring_options for suite in suites]
        + ([suite.log_options for suite in suites] if logs else [])
    )
    own = [
        (one.name, get_type_hints(kind)[one.name], option(one.default, **one.metadata))
        for kind in kinds
        for one in fields(kind)
    ]
    own.append(
        (
            "settings",
            list[str] | None,
            option(None, "The same options by name.", flag="--set", metavar=PAIRS),
        )
    )
    return make_dataclass("ScoringOptions", own, frozen=True, kw_only=True)


def given_options(scoring: Any) -> dict[str, Any]:
    """Return options of scoring by name; those given with ``--set`` count."""
    return {name: value for name, value in asdict(scoring).items() if name != "settings"} | read_settings(
        scoring.settings
    )


@lazy_command("report", "Write tables and report of a run folder again.")
def report_command() -> Any:
    """Return the command ``report``."""

    def report(run: Annotated[Path, typer.Argument(help="Run folder.")], scoring: Any) -> None:
        from collab_overcooked.runner.records import read_records

        if not run.is_dir():
            raise ValueError(f"{run}: no such run folder")
        write_results(run, read_records(run, say), True, given_options(scoring))

    return MultiValueCommand, expand_options(report, {"scoring": scoring_options(logs=False)})


@lazy_command("score", "Score records again, or logs of the original, with named alternatives of the definitions.")
def score_command() -> Any:
    """Return the command ``score``."""

    def score(
        paths: Annotated[list[Path], typer.Argument(help="Run folders, record files, or logs of the original.")],
        form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
        metrics: Annotated[str, typer.Option(help="Means of these too: see list metrics.", metavar=NAMES)] = "",
        *,
        scoring: Any,
        show: ShowOptions,
    ) -> None:
        print_scores(paths, form, read_names("metrics", metrics) if metrics else [], given_options(scoring), show)

    return MultiValueCommand, expand_options(score, {"scoring": scoring_options(logs=True), "show": ShowOptions})


def print_scores(paths: list[Path], form: str, metrics: list[str], given: dict[str, Any], show: ShowOptions) -> None:
    """Print the scores of what lies at some paths.

    Raises:
        ValueError: For an unknown form, and as ``score_paths`` says.
    """
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_paths

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    cards = score_paths(paths, given, say, metrics)
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT, show.more, show.by_task)
