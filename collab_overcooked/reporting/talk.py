"""How much teams talk: symbols of a channel and words of messages, for each thing delivered."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, Event
from collab_overcooked.envs.channel import SPOKEN
from collab_overcooked.metrics.communication import entropy
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.teams import team_text

_HEADS = (Column("Team"), Column("Game"), Column("episodes", "number"), Column("deliveries", "number", 0))
_SYMBOLS = (
    Column("steps with a symbol %", "number", 1, scale=100.0, key="spoken"),
    Column("symbols per delivery", "number", 2),
    Column("bits per delivery", "number", 2),
)
_WORDS = (Column("words per delivery", "number", 2),)
_NOTE = (
    "Deliveries: {delivered}. Steps with a symbol: share of the steps in which any agent says one. Bits: number of "
    "symbols times the entropy of their frequencies."
)


def talk_card(records: Sequence[EpisodeRecord]) -> Scorecard | None:
    """Return how much each team talks; None if no game has a channel and no message has words."""
    groups = by_variant([record for record in records if not record.suite])
    talking = [group for group in groups if group[0].env_kwargs.get("channel") or words_of(group)]
    if not talking:
        return None
    has_symbols = any(group[0].env_kwargs.get("channel") for group in talking)
    has_words = any(map(words_of, talking))
    columns = (*_HEADS, *(_SYMBOLS if has_symbols else ()), *(_WORDS if has_words else ()))
    rows: list[tuple[Cell, ...]] = []
    for group in talking:
        count = deliveries(group)
        row: list[Cell] = [team_text(group[0].team.values()), variant_of(group[0]).title, len(group), count]
        if has_symbols:
            row += _symbol_cells(group, count) if group[0].env_kwargs.get("channel") else [None] * len(_SYMBOLS)
        rows.append((*row, *([_share(words_of(group), count)] if has_words else [])))
    counted = dict.fromkeys(registry.suite_of(group[0]).delivered for group in talking)
    table = ResultTable(columns, tuple(rows))
    return Scorecard("talk", "Communication", (table,), notes=(_NOTE.format(delivered=", ".join(counted)),))


def deliveries(records: Sequence[EpisodeRecord]) -> float:
    """Return how often a team delivered what its game asks for, in all episodes."""
    name = registry.suite_of(records[0]).delivered
    return float(sum(measure(record, [name])[name] or 0 for record in records))


def symbols_of(record: EpisodeRecord) -> list[list[int]]:
    """Return the symbols said by step and seat, 0 for none; refused acts say nothing."""
    return [list(map(_symbol, step.action_texts, step.events)) for step in record.steps]


def _symbol(text: str, event: Event | None) -> int:
    spoken = SPOKEN.fullmatch(text)
    return int(spoken[1]) if spoken and not (event and event.is_refused) else 0


def _symbol_cells(records: Sequence[EpisodeRecord], count: float) -> list[Cell]:
    steps = [symbols for record in records for symbols in symbols_of(record)]
    said = [symbol for symbols in steps for symbol in symbols if symbol]
    spoken = sum(map(any, steps)) / len(steps) if steps else None
    return [spoken, _share(len(said), count), _share(len(said) * entropy(said) if said else 0.0, count)]


def words_of(records: Sequence[EpisodeRecord]) -> int:
    """Return the number of words in the messages of all episodes."""
    messages = (message for record in records for step in record.steps for message in step.messages)
    return sum(len(message.say.split()) for message in messages)


def _share(amount: float, count: float) -> float | None:
    return amount / count if count else None
