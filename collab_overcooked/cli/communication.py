"""The command ``communication``: what a channel is worth to a team, what its messages say, and who listens."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.options import LlmOptions
from collab_overcooked.cli.results import FormatOpt, write_cards


def communication(
    run: Annotated[Path, Parameter(required=True, help="Run folder or record file of games with a channel.")],
    /,
    *,
    llm_options: LlmOptions = LlmOptions(),
    form: FormatOpt = "table",
) -> None:
    """Play the episodes of a run again, also muted and with other messages, and measure its communication."""
    from collab_overcooked.cli.evaluate import language_models, refuse_llm_options
    from collab_overcooked.evaluation.communication import measure_communication
    from collab_overcooked.evaluation.communication_card import communication_card
    from collab_overcooked.policies.specs import PolicySpec
    from collab_overcooked.runner.records import read_records

    records = read_records(run)
    with ExitStack() as stack:
        make = None
        if any(PolicySpec.parse(spec).is_language for record in records for spec in record.specs):
            folder = stack.enter_context(TemporaryDirectory())
            make = stack.enter_context(language_models(llm_options, None, Path(folder))).make
        else:
            refuse_llm_options(llm_options, ())
        cards = [communication_card(measured) for measured in measure_communication(records, make)]
    write_cards(cards, form)
