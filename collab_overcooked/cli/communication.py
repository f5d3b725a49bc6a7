"""The command ``communication``: what a channel is worth to a team, what its messages say, and who listens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.results import check_format, write_cards


def communication(
    run: Annotated[Path, Parameter(required=True, help="Run folder or record file of games with a channel.")],
    /,
    *,
    form: Annotated[str, Parameter(name="--format", help="Output format: table, markdown, csv or json.")] = "table",
) -> None:
    """Play the episodes of a run again, also muted and with the messages of others, and measure its communication."""
    from collab_overcooked.core.record import unpack
    from collab_overcooked.evaluation.communication import measure_communication
    from collab_overcooked.evaluation.communication_card import communication_card
    from collab_overcooked.runner.records import read_packed

    check_format(form)
    measured = measure_communication([*map(unpack, read_packed(run))])
    write_cards([communication_card(one) for one in measured], form)
