"""Commands on files of results: ``write`` and ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT, command_group, say

results_app = command_group("results", "Write and check files of results for hosted leaderboards.")


@results_app.command(name="write")
def write_file(
    *runs: Annotated[Path, Parameter(required=True, help="Run folders, or folders that hold some.")],
    out: Annotated[Path, Parameter(help="Output file; it names the run folders by their way from its own folder.")],
) -> None:
    """Write a line of JSON for each team and setting: means with intervals, digests of configuration and records."""
    from collab_overcooked.reporting.results_file import write

    rows = write(runs, out)
    say(f"written: {out}, {len(rows)} rows")


@results_app.command(name="check")
def check_file(
    file: Annotated[Path, Parameter(help="File of results, beside the run folders that it names.")],
    /,
    *,
    sample: Annotated[int, Parameter(help="Episodes of each row that are replayed.")] = 3,
    seed: Annotated[int, Parameter(help="Random seed of the choice of episodes.")] = 0,
) -> int:
    """Recompute the numbers from the records and replay a sample; the exit code is 1 if a row does not agree."""
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.reporting.results_file import check
    from collab_overcooked.runner.env_variants import option_text
    from collab_overcooked.runner.teams import team_text

    bad = rows = 0
    for row, faults in check(file, parse_integer("sample", sample, 0), parse_integer("seed", seed, 0)):
        setting = (option_text(name, value) for name, value in row.setting.items() if value is not None)
        title = ", ".join(filter(None, (row.env_id, *setting, row.variant, team_text(row.team))))
        rows, bad = rows + 1, bad + bool(faults)
        for fault in faults:
            OUT.print(f"{title}: {fault}", markup=False)
    say(f"{rows - bad} of {rows} rows agree with their records")
    return 1 if bad else 0
