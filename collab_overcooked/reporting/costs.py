"""Cost table of language models: calls, tokens, waiting time, dollars and unusable answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from collab_overcooked.core.record import EpisodeRecord, Usage
from collab_overcooked.reporting.result_table import Column, table_of
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


@dataclass(frozen=True)
class CostRow:
    """Costs of a model in a team and game."""

    name: str  # Model, with game and team where these differ
    episodes: Sequence[Accounts]  # Accounts of the model's seats by episode

    @cached_property
    def accounts(self) -> Accounts:
        """Accounts of all episodes."""
        return [account for episode in self.episodes for account in episode]

    @cached_property
    def latencies(self) -> list[float]:
        """Seconds of all requests."""
        return [seconds for account in self.accounts for seconds in account.latencies]

    def mean(self, name: str) -> float:
        """Return the mean per episode of a count of accounts."""
        total: float = sum(getattr(account, name) for account in self.accounts)
        return total / len(self.episodes)

    def dollars(self) -> float | None:
        """Return dollars per episode; None if no price is known."""
        known = [account.dollars for account in self.accounts if account.dollars is not None]
        return sum(known) / len(self.episodes) if known else None

    def latency(self, measure: Callable[[Sequence[float]], Any]) -> float | None:
        """Return a measure of the latencies; None without a request."""
        return float(measure(self.latencies)) if self.latencies else None

    def counted(self, name: str) -> Counter[str]:
        """Return the sum of a counter of accounts."""
        total = Counter[str]()
        for account in self.accounts:
            total.update(getattr(account, name))
        return total

    def readings(self) -> str:
        """Return how answers were read, most frequent first."""
        return ", ".join(f"{count} {how}" for how, count in self.counted("readings").most_common()) or "-"

    def trouble(self) -> str:
        """Return the counts of unusable answers by kind."""
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.counted("trouble").items())) or "0"

    def cut_short(self) -> int:
        """Return the number of episodes that ran out of their budget."""
        return sum(any(account.exhausted for account in episode) for episode in self.episodes)


_COLUMNS = (
    Column("Model", value=attrgetter("name")),
    Column("Episodes", "number", value=lambda row: len(row.episodes)),
    Column("Calls", "number", 1, value=lambda row: row.mean("calls")),
    Column("Tokens in", "number", 0, value=lambda row: row.mean("prompt_tokens")),
    Column("Tokens out", "number", 0, value=lambda row: row.mean("completion_tokens")),
    Column(REASONING, "number", 0, value=lambda row: row.mean("reasoning_tokens") or None),
    Column("Waiting s", "number", 1, value=lambda row: sum(row.latencies) / len(row.episodes)),
    Column("Latency s", "number", 2, value=lambda row: row.latency(np.mean)),
    Column("p95 s", "number", 2, value=lambda row: row.latency(partial(np.quantile, q=0.95))),
    Column("Dollars", "number", 4, value=CostRow.dollars),
    Column("Read as", value=CostRow.readings),
    Column("Unusable", value=CostRow.trouble),
    Column("Cut short", "number", value=CostRow.cut_short),
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
    names = _distinct_names(list(groups))
    rows = [CostRow(name, episodes) for name, episodes in zip(names, groups.values(), strict=True)]
    has_reasoning = any(row.mean("reasoning_tokens") for row in rows)
    table = table_of([column for column in _COLUMNS if column.name != REASONING or has_reasoning], rows)
    return Scorecard("costs", TITLE, (table,), notes=(NOTE,))


def _distinct_names(groups: Sequence[tuple[str, str, str]]) -> list[str]:
    games = len({game for _, game, _ in groups}) > 1
    teams = len({group[:2] for group in groups}) < len(groups)
    return [", ".join([model, *([game] if games else []), *([team] if teams else [])]) for model, game, team in groups]
