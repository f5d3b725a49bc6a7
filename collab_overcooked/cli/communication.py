"""The command ``communication``: what a channel is worth to a team, what its messages say, and who listens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT
from collab_overcooked.io.checks import near_matches


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
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.runner.records import read_packed

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    cards = [communication_card(measured) for measured in measure_communication([*map(unpack, read_packed(run))])]
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT)
