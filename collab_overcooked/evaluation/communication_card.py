"""Scorecard of the communication of a team."""

from __future__ import annotations

from collab_overcooked.evaluation.communication_result import Communication
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard

RETURN = (
    "Return: the sum of the rewards of an episode, the mean over seats, in the unit of the game's rewards, such as "
    "points, or 1 for a win and -1 for a loss. `evaluate` may show another measure."
)
NOTES = (
    "Value: return with the channel less that without messages (muted) or with those of another episode (scrambled), "
    "on the same seeds; intervals of 95 % are paired by episode.",
    "Bits: mutual information of symbol and private state as counted; few messages make it too high, as the null "
    "shows, with states of other episodes. p is the share of such nulls at least as high.",
    "Changed: share of decisions, after the first different message, that the messages of another episode, or silence, "
    "change in the same states; for networks, the total variation of the probabilities of acts.",
)
_VALUE = (Column("messages"), Column("return", "estimate", 2), Column("value", "estimate", 2))
_SIGNALLING = (
    Column("speaker"),
    Column("private state"),
    *(Column(name, "number", 0) for name in ("steps", "symbols", "states")),
    *(Column(name, "number", 3) for name in ("entropy", "bits", "null", "p")),
)
_LISTENING = (
    Column("listener"),
    Column("changed by other messages %", "number", 1, scale=100.0, key="exchanged"),
    Column("changed by silence %", "number", 1, scale=100.0, key="muted"),
    Column("divergence, bits", "number", 3),
    Column("decisions", "number", 0),
)
_WORDS = (Column("words", "number", 0), Column("deliveries", "number", 0), Column("words per delivery", "number", 2))


def communication_card(measured: Communication) -> Scorecard:
    """Return the measures of a team as tables."""
    values: list[tuple[Cell, ...]] = []
    for name, mean in measured.returns.items():
        difference = measured.values.get(name)
        values.append((name, mean, None if difference is None else difference.mean))
    signals: list[tuple[Cell, ...]] = []
    for (speaker, key), signal in measured.signalling.items():
        counts = (signal.steps, signal.symbols, signal.states)
        signals.append((speaker, key, *counts, signal.entropy, signal.information, signal.null, signal.p))
    answers: list[tuple[Cell, ...]] = []
    for listener, heard in measured.listening.items():
        answers.append((listener, heard.exchanged, heard.muted, heard.divergence, heard.decisions))
    value = ResultTable(_VALUE, tuple(values), "Value of communication")
    signalling = ResultTable(_SIGNALLING, tuple(signals), "Positive signalling")
    listening = ResultTable(_LISTENING, tuple(answers), "Positive listening")
    words = ResultTable(_WORDS, () if measured.words is None else (measured.words,), "Words")
    tables = tuple(table for table in (value, signalling, listening, words) if table.rows)
    return Scorecard(
        measured.title, measured.title, tables, measured.team, (RETURN, *(measured.notes or NOTES)), data=value
    )
