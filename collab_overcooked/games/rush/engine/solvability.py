"""Solvability of scenarios: what the team and one agent alone can reach, and a file's claims.

A beam search finds plans, and counting bounds what no plan can exceed; where the two meet, the plan is proved to be
optimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.text import plural

from .compile import compile_scenario
from .config import RushConfig
from .search import BeamSearch, start_of
from .spec import EpisodeSpec, Scenario

WIDTH = 200  # of the beam: wider than that of players, as a file is checked once
CLAIMS = ("team_turns", "team_orders", "alone_turns", "alone_orders")


@dataclass(frozen=True)
class Proof:
    """Best result found for a number of agents in an episode, and bounds of any result."""

    agents: int  # Number of agents that play
    orders: int  # Number of orders
    finished: int  # Orders finished by the best plan found
    at_most: int  # Upper bound of the orders that can be finished
    turns: int | None  # Turns of the plan if it finishes all orders; None otherwise
    at_least: int | None  # Lower bound of the turns for all orders; None if not all can be finished or this is unknown
    proved: bool  # Whether the plan is proved to be optimal


@dataclass(frozen=True)
class EpisodeReport:
    """Proofs for one episode."""

    episode: int  # Number of the episode, from 0
    team: Proof  # Result of all agents of the scenario together
    alone: Proof | None  # Result of one agent while the others do nothing; None if there is only one
    # Goods of the first episode and their replacements in this one, if the two episodes differ only in names; None
    # otherwise
    exchanged: Mapping[str, str] | None


@dataclass(frozen=True)
class ScenarioReport:
    """Results for all episodes of a scenario, compared with the claims of its file."""

    name: str  # Name of the scenario
    agents: int  # Number of agents
    workers: int  # Workers per agent
    max_turns: int  # Turns per episode
    episodes: tuple[EpisodeReport, ...]  # Proofs, in the order of play
    claim: Mapping[str, int]  # Figures claimed by the file
    problems: tuple[str, ...]  # Messages about claims that are wrong or unproved

    @property
    def ok(self) -> bool:
        """True if all claims are proved."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict."""
        return asdict(self) | {"ok": self.ok}


def prove_solvability(scenario: Scenario) -> ScenarioReport:
    """Search for good play of the team and of one agent alone in each episode, and check the file's claims.

    Args:
        scenario: The scenario.

    Returns:
        The report; a claim that is neither proved nor refuted is among its problems.

    Raises:
        DocumentError: The file claims a figure of another name.
    """
    for name in scenario.claim or {}:
        if name not in CLAIMS:
            raise scenario.document.error(near_matches("claim", name, CLAIMS), "claim", name)
    reports = tuple(_episode(scenario, e) for e in range(len(scenario.episodes)))
    return ScenarioReport(
        name=scenario.name,
        agents=scenario.agents,
        workers=scenario.workers,
        max_turns=scenario.max_turns,
        episodes=reports,
        claim=dict(scenario.claim or {}),
        problems=tuple(line for report in reports for line in _problems(report, scenario.claim or {})),
    )


def _episode(scenario: Scenario, e: int) -> EpisodeReport:
    return EpisodeReport(
        episode=e,
        team=prove(scenario, e, scenario.agents),
        alone=prove(scenario, e, 1) if scenario.agents > 1 else None,
        exchanged=exchanged(scenario, scenario.episodes[0], scenario.episodes[e]),
    )


def prove(scenario: Scenario, e: int, agents: int) -> Proof:
    """Search for a good plan of a number of agents in an episode, and bound what they can reach."""
    tables = compile_scenario(scenario, RushConfig(agents=agents)).tables
    solution = BeamSearch(tables, e, [True] * agents, WIDTH).search(start_of(tables, e))
    orders = len(scenario.episodes[e].orders)
    return Proof(
        agents=agents,
        orders=orders,
        finished=solution.finished,
        at_most=solution.at_most,
        turns=solution.turns if solution.finished == orders else None,
        at_least=solution.at_least or None,
        proved=solution.is_proved,
    )


def exchanged(scenario: Scenario, first: EpisodeSpec, other: EpisodeSpec) -> dict[str, str] | None:
    """Return the mapping of goods between two episodes that differ only in the names of goods and dishes, or None.

    Orders and areas are compared by position: the same action numbers then have the same effect in both.
    """
    times = [[episode.recipes[name].cook_time for name in episode.orders] for episode in (first, other)]
    areas = [[(area.kind, area.spaces) for area in episode.areas] for episode in (first, other)]
    if times[0] != times[1] or areas[0] != areas[1]:
        return None
    replacements: dict[str, str] = {}
    for goods in (scenario.ingredients, scenario.spices):
        uses = [sorted((_uses(episode, good), g) for g, good in enumerate(goods)) for episode in (first, other)]
        for (use, g), (other_use, h) in zip(*uses, strict=True):
            if use != other_use:
                return None
            replacements[goods[g]] = goods[h]
    return {good: replacements[good] for good in (*scenario.ingredients, *scenario.spices)}


def _uses(episode: EpisodeSpec, good: str) -> tuple[int, ...]:
    recipes = [episode.recipes[name] for name in episode.orders]
    asked = [recipe.ingredients.get(good, 0) + recipe.spices.get(good, 0) for recipe in recipes]
    return (*asked, *(area.stock.get(good, 0) for area in episode.areas))


def claim_of(report: EpisodeReport) -> dict[str, int]:
    """Return what is proved of an episode, as a file would claim it: turns where all orders can be finished."""
    claim = {}
    for who, proof in (("team", report.team), ("alone", report.alone)):
        if proof is not None and proof.proved:
            name, figure = ("turns", proof.turns) if proof.turns is not None else ("orders", proof.finished)
            claim[f"{who}_{name}"] = int(figure or 0)
    return claim


def _problems(report: EpisodeReport, claim: Mapping[str, int]) -> list[str]:
    lines = []
    for who, proof in (("team", report.team), ("alone", report.alone)):
        for what, (figure, truth) in _figures(proof).items():
            claimed = claim.get(f"{who}_{what}")
            if claimed is not None and claimed != figure:
                lines.append(f"episode {report.episode}: the file claims {who}_{what} {claimed}, but {truth}")
    return lines


def _figures(proof: Proof | None) -> dict[str, tuple[int | None, str]]:
    """Return what is proved of turns and orders, None if nothing is, and the words for it."""
    if proof is None:
        return dict.fromkeys(("turns", "orders"), (None, "the team is one agent"))
    orders = proof.finished if proof.finished == proof.at_most else None
    turns = proof.turns if proof.turns == proof.at_least else None
    if proof.at_most < proof.orders:
        turns_truth = "not all orders can be finished in time"
    elif proof.turns is None:
        turns_truth = f"the best plan found finishes {proof.finished} of {proof.orders} orders"
    else:
        turns_truth = f"it is {_range(proof.at_least, proof.turns)}"
    orders_truth = f"it is {_range(proof.finished, proof.at_most)}"
    return {"turns": (turns, turns_truth), "orders": (orders, orders_truth)}


def _range(low: int | None, high: int) -> str:
    return str(high) if low == high else f"{low} to {high}"


def report_text(report: ScenarioReport) -> str:
    """Return a report as text: a table of proofs, then differences between episodes, claims and problems."""
    head = ["episode", "who", "orders finished", "turns for all", "proved"]
    rows = [head]
    for episode in report.episodes:
        for proof in (episode.team, episode.alone):
            if proof is not None:
                rows.append([str(episode.episode), *_cells(proof)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        f"{report.name}: {plural(len(report.episodes), 'episode')}, {plural(report.agents, 'agent')} with "
        f"{plural(report.workers, 'worker')} each, {plural(report.max_turns, 'turn')}",
        "",
        *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows),
        "",
    ]
    for episode in report.episodes[1:]:
        lines.append(f"episode {episode.episode} {_likeness(episode.exchanged)}")
    claims = ", ".join(f"{name} {figure}" for name, figure in report.claim.items())
    lines.append(f"claimed: {claims or 'nothing'}" + (" (all true)" if claims and report.ok else ""))
    return "\n".join([*lines, *(f"! {problem}" for problem in report.problems)])


def _cells(proof: Proof) -> list[str]:
    if proof.turns is None:
        turns = "not in time" if proof.at_most < proof.orders else "unknown"
    else:
        turns = _range(proof.at_least, proof.turns)
    who = "all agents" if proof.agents > 1 else "one agent"
    finished = f"{_range(proof.finished, proof.at_most)} of {proof.orders}"
    return [who, finished, turns, "yes" if proof.proved else "no"]


def _likeness(goods: Mapping[str, str] | None) -> str:
    if goods is None:
        return "differs from episode 0 in more than names"
    pairs = [f"{good} -> {other}" for good, other in goods.items() if good != other]
    return f"is episode 0 with {', '.join(pairs)}" if pairs else "is episode 0 with the same goods"
