"""What language models took in a run: calls, tokens, waiting time, money, and answers that could not be used."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from collab_overcooked.reporting.grids import MISSING, Grid, Row, grid_html, grid_markdown, number, print_grid
from collab_overcooked.runner.teams import team_words

Record = Mapping[str, Any]
TITLE = "Cost and latency"
COLUMNS = (
    "Episodes",
    "Calls",
    "Tokens in",
    "Tokens out",
    "Waiting s",
    "Latency s",
    "p95 s",
    "Dollars",
    "Unusable",
    "Cut short",
)
NOTE = "Calls, tokens, waiting time and dollars: means per episode, all seats of the model together. p95: of latency."


@dataclass(frozen=True)
class Cost:
    """What one model took over the episodes of one team; all but the latencies are totals.

    Attributes:
        env_id: The game.
        team: Policy texts by seat.
        model: Name of the model.
        episodes: Episodes in which it played.
        calls: Questions.
        prompt_tokens: Tokens of the questions.
        completion_tokens: Tokens of the answers.
        seconds: Time spent waiting for answers.
        latency: Seconds of a call, the mean; None without calls.
        latency_95: Seconds below which 95 % of the calls stay; None without calls.
        dollars: Money; None if no prices were given.
        trouble: How often which kind of unusable answer came.
        exhausted: Episodes whose budget was used up.
    """

    env_id: str
    team: tuple[str, ...]
    model: str
    episodes: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    latency: float | None
    latency_95: float | None
    dollars: float | None
    trouble: Mapping[str, int]
    exhausted: int

    def cells(self, between: str = ", ") -> tuple[str, ...]:
        """Return the cells of a line, in the order of ``COLUMNS``, with something between kinds of unusable answers."""

        def each(value: float, digits: int = 1) -> str:
            return f"{value / self.episodes:,.{digits}f}"

        unusable = between.join(f"{count} {kind}" for kind, count in sorted(self.trouble.items()))
        return (
            str(self.episodes),
            each(self.calls),
            each(self.prompt_tokens, 0),
            each(self.completion_tokens, 0),
            each(self.seconds),
            number(self.latency, 2),
            number(self.latency_95, 2),
            MISSING if self.dollars is None else each(self.dollars, 4),
            unusable or "0",
            str(self.exhausted),
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return {"kind": "cost", **vars(self), "team": list(self.team), "trouble": dict(self.trouble)}


def costs_of(records: Sequence[Record]) -> tuple[Cost, ...]:
    """Add up the accounts of records, by game, team and model; records without any add nothing."""
    groups: dict[tuple[str, tuple[str, ...], str], list[list[Mapping[str, Any]]]] = {}
    for record in records:
        by_model: dict[str, list[Mapping[str, Any]]] = {}
        for account in record.get("accounts", {}).values():
            by_model.setdefault(account["model"], []).append(account)
        for model, accounts in by_model.items():
            key = record["env_id"], tuple(record["team"].values()), model
            groups.setdefault(key, []).append(accounts)
    return tuple(_cost(*key, episodes) for key, episodes in groups.items())


def _cost(env_id: str, team: tuple[str, ...], model: str, episodes: list[list[Mapping[str, Any]]]) -> Cost:
    accounts = [account for episode in episodes for account in episode]
    latencies = [seconds for account in accounts for seconds in account["latencies"]]
    dollars = [account["dollars"] for account in accounts if account["dollars"] is not None]
    trouble: Counter[str] = Counter()
    for account in accounts:
        trouble.update(account["trouble"])
    return Cost(
        env_id=env_id,
        team=team,
        model=model,
        episodes=len(episodes),
        calls=sum(account["calls"] for account in accounts),
        prompt_tokens=sum(account["prompt_tokens"] for account in accounts),
        completion_tokens=sum(account["completion_tokens"] for account in accounts),
        seconds=round(sum(latencies), 3),
        latency=round(float(np.mean(latencies)), 3) if latencies else None,
        latency_95=round(float(np.quantile(latencies, 0.95)), 3) if latencies else None,
        dollars=round(sum(dollars), 6) if dollars else None,
        trouble=dict(trouble),
        exhausted=sum(any(account["exhausted"] for account in episode) for episode in episodes),
    )


def markdown(costs: Sequence[Cost]) -> str:
    """Return a Markdown table, empty without costs."""
    return f"{grid_markdown(_grid(costs))}\n\n{NOTE}\n" if costs else ""


def html_section(costs: Sequence[Cost], heading: str = f"<h2>{TITLE}</h2>") -> str:
    """Return a section for a page, empty without costs."""
    return f'{heading}{grid_html(_grid(costs))}<p class="soft">{html.escape(NOTE)}</p>' if costs else ""


def show(console: Console, costs: Sequence[Cost]) -> None:
    """Print a table, nothing without costs."""
    if costs:
        print_grid(console, _grid(costs, "\n"))
        console.print(f"[dim]{escape(NOTE)}[/dim]")


def _grid(costs: Sequence[Cost], between: str = ", ") -> Grid:
    rows = (Row(name, cost.cells(between)) for name, cost in zip(_names(costs), costs, strict=True))
    return Grid(TITLE, "Model", COLUMNS, tuple(rows))


def _names(costs: Sequence[Cost]) -> Iterator[str]:
    """Yield what tells each line from the others: its model, its game if there are several, its team likewise."""
    games = len({cost.env_id for cost in costs}) > 1
    teams = len({(cost.env_id, cost.model) for cost in costs}) < len(costs)
    for cost in costs:
        yield ", ".join([cost.model, *([cost.env_id] if games else []), *([team_words(cost.team)] if teams else [])])
