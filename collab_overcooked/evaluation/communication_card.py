"""Scorecard of the communication of a team."""

from __future__ import annotations

from collab_overcooked.evaluation.communication import Communication
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard

NOTES = (
    "Value: return with the channel less that without messages (muted) or with those of another episode (scrambled), "
    "on the same seeds; intervals of 95 % are paired by episode.",
    "Bits: mutual information of symbol and private state as counted; few messages make it too high, as the null "
    "shows, with states of other episodes. p is the share of such nulls at least as high.",
    "Changed: share of decisions that the message of another episode, or silence, changes; for networks, the total "
    "variation of the probabilities of acts.",
)


def communication_card(measured: Communication) -> Scorecard:
    """Return the measures of a team as tables."""
    value = ResultTable(
        (Column("messages"), Column("return", "estimate", 2), Column("value", "estimate", 2)),
        tuple(
            (name, mean, difference.mean if (difference := measured.values.get(name)) else None)
            for name, mean in measured.returns.items()
        ),
        "Value of communication",
    )
    bits = ("entropy", "bits", "null", "p")
    said = ResultTable(
        (
            Column("speaker"),
            Column("private state"),
            *(Column(name, "number", 0) for name in ("steps", "symbols", "states")),
            *(Column(name, "number", 3) for name in bits),
        ),
        tuple(
            (speaker, key, one.steps, one.symbols, one.states, one.entropy, one.information, one.null, one.p)
            for (speaker, key), one in measured.signalling.items()
        ),
        "Positive signalling",
    )
    shares = [Column("changed by another message %", "number", 1, scale=100.0, key="exchanged")]
    shares.append(Column("changed by silence %", "number", 1, scale=100.0, key="muted"))
    heard = ResultTable(
        (Column("listener"), *shares, Column("divergence, bits", "number", 3), Column("decisions", "number", 0)),
        tuple(
            (listener, one.exchanged, one.muted, one.divergence, one.decisions)
            for listener, one in measured.listening.items()
        ),
        "Positive listening",
    )
    tables = tuple(table for table in (value, said, heard) if table.rows)
    return Scorecard(measured.title, measured.title, tables, measured.team, NOTES, data=value)
