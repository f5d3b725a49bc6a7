"""Cost table of language models: calls, tokens, waiting time, dollars and unusable answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from collab_overcooked.core.record import EpisodeRecord, Usage
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.teams import team_text

Accounts = Sequence[Usage]
TITLE = "Cost and latency"
REASONING = "Reasoning"  # column of models that report such tokens
NOTE = (
    "Calls, tokens, waiting time and dollars: means per episode, all seats of the model together. Reasoning: part of "
    "the tokens out, priced like them. p95: of latency."
)
_COLUMNS = (
    Column("Model"),
    Column("Episodes", "number"),
    Column("Calls", "number", 1),
    Column("Tokens in", "number", 0),
    Column("Tokens out", "number", 0),
    Column(REASONING, "number", 0),
    Column("Waiting s", "number", 1),
    Column("Latency s", "number", 2),
    Column("p95 s", "number", 2),
    Column("Dollars", "number", 4),
    Column("Read as"),
    Column("Unusable"),
    Column("Cut short", "number"),
)


def cost_card(records: Sequence[EpisodeRecord]) -> Scorecard | None:
    """Return costs by game, team and model, or None if no language model played."""
    groups: dict[tuple[str, str, str], list[Accounts]] = {}
    for record in records:
        by_model: dict[str, list[Usage]] = {}
        for account in record.accounts.values():
            by_model.setdefault(account.model, []).append(account)
        for model, accounts in by_model.items():
            key = model, variant_of(record).title, team_text(record.team.values())
            groups.setdefault(key, []).append(accounts)
    if not groups:
        return None
    rows = [
        (name, *_cells(episodes)) for name, episodes in zip(_distinct_names(list(groups)), groups.values(), strict=True)
    ]
    chosen = [i for i, column in enumerate(_COLUMNS) if column.name != REASONING or any(row[i] for row in rows)]
    cells = tuple(tuple(row[i] for i in chosen) for row in rows)
    table = ResultTable(tuple(_COLUMNS[i] for i in chosen), cells)
    return Scorecard("costs", TITLE, (table,), notes=(NOTE,))


def _distinct_names(groups: Sequence[tuple[str, str, str]]) -> list[str]:
    games = len({game for _, game, _ in groups}) > 1
    teams = len({group[:2] for group in groups}) < len(groups)
    return [", ".join([model, *([game] if games else []), *([team] if teams else [])]) for model, game, team in groups]


def _cells(episodes: Sequence[Accounts]) -> tuple[Cell, ...]:
    accounts = [account for episode in episodes for account in episode]
    latencies = [seconds for account in accounts for seconds in account.latencies]
    dollars = [account.dollars for account in accounts if account.dollars is not None]
    readings, trouble = Counter[str](), Counter[str]()
    for account in accounts:
        readings.update(account.readings)
        trouble.update(account.trouble)
    totals = [
        sum(getattr(account, name) for account in accounts) for name in ("calls", "prompt_tokens", "completion_tokens")
    ]
    thoughts = sum(account.reasoning_tokens for account in accounts)
    readings_text = ", ".join(f"{count} {how}" for how, count in readings.most_common()) or "-"
    trouble_text = ", ".join(f"{count} {kind}" for kind, count in sorted(trouble.items())) or "0"
    return (
        len(episodes),
        *(total / len(episodes) for total in totals),
        thoughts / len(episodes) if thoughts else None,
        sum(latencies) / len(episodes),
        float(np.mean(latencies)) if latencies else None,
        float(np.quantile(latencies, 0.95)) if latencies else None,
        sum(dollars) / len(episodes) if dollars else None,
        readings_text,
        trouble_text,
        sum(any(account.exhausted for account in episode) for episode in episodes),
    )
