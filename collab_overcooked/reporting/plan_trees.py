"""Search trees of joint plans from records, as text. Text written by policies is always escaped in HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from collab_overcooked.core.record import EpisodeRecord, PlanUpdate
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.templates import render

COSTS = ("calls", "characters", "seconds")  # of a plan update
EPISODE_COSTS = ("calls", "characters")  # of all looks at the plan in an episode


def all_updates(record: EpisodeRecord) -> list[PlanUpdate]:
    """Return all plan updates of an episode, over all teams, by timestep."""
    updates = [update for team_updates in record.plan_updates.values() for update in team_updates]
    return sorted(updates, key=lambda update: update.timestep)


def update_at(record: EpisodeRecord, step: int) -> PlanUpdate:
    """Return the last search at or before a timestep, or the first search if there is none.

    Raises:
        ValueError: The episode has no searched plan.
    """
    searched = [update for update in all_updates(record) if update.searched]
    if not searched:
        raise ValueError("plan_updates: no plan was searched in this episode; policies such as cots do that")
    before = [update for update in searched if update.timestep <= step]
    return before[-1] if before else searched[0]


def summary(update: PlanUpdate) -> str:
    """Summarise a search in one sentence."""
    rating = "no rating" if update.rating is None else f"rating {update.rating}"
    return (
        f"Timestep {update.timestep}, asked for by seat {update.seat} ({update.trigger}), {rating}: "
        f"{len(update.nodes)} plans, {update.calls} calls, {update.characters} characters, "
        f"depth {update.depth}."
    )


def tree_text(update: PlanUpdate) -> str:
    """Return a search tree as text, each plan below its parent."""
    nodes = update.nodes
    children: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(k)

    def lines(k: int, depth: int) -> Iterator[str]:
        node, indent = nodes[k], "    " * depth
        mark = " <- chosen" if k == update.chosen else ""
        solved = ", solved" if node.solved else ""
        numbers = f"reward {node.reward:.2f}, N {node.visits}, V {node.value:.2f}{solved}"
        yield f"{indent}[{k}] {numbers}{mark}"
        yield from (f"{indent}    {line}" for line in node.plan.splitlines())
        yield from (f"{indent}    - {' '.join(message.split())}" for message in node.messages)
        for child in children.get(k, ()):
            yield from lines(child, depth + 1)

    body = [line for root in children.get(-1, ()) for line in lines(root, 0)]
    return "\n".join([summary(update), "", *body, "", "Plan that is carried out:", update.plan])


def mean_cost(updates: Sequence[PlanUpdate], name: str) -> Estimate | None:
    """Return the mean cost of plan updates with a search; None without any. Scripted critics have no seconds."""
    values = [
        float(getattr(update, name)) for update in updates if update.searched and getattr(update, name) is not None
    ]
    return mean_ci(values) if values else None


def mean_episode_cost(records: Sequence[EpisodeRecord], name: str) -> Estimate | None:
    """Return the mean cost per episode of all plan updates, ratings included; None without any update."""
    looked = [updates for updates in map(all_updates, records) if updates]
    values = [float(sum(getattr(update, name) for update in updates)) for updates in looked]
    return mean_ci(values) if values else None


def costs_of(records: Sequence[EpisodeRecord]) -> ResultTable | None:
    """Return the cost of plan search by team, or None if no plan was updated."""
    teams: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        teams.setdefault(" + ".join(record.team.values()), []).append(record)
    rows = []
    for team, played in teams.items():
        if updates := [update for record in played for update in all_updates(record)]:
            searched = [update for update in updates if update.searched]
            plans = mean_ci([float(len(update.nodes)) for update in searched])
            costs = (mean_cost(searched, name) for name in COSTS)
            in_all = (mean_episode_cost(played, name) for name in EPISODE_COSTS)
            rows.append((team, len(updates), len(searched), plans, *costs, *in_all))
    heads = [Column("Team"), Column("looks at the plan", "number"), Column("searches", "number")]
    heads += [Column(name, "estimate", 1) for name in ("plans each", *(f"{cost} each" for cost in COSTS))]
    heads += [Column(f"{cost} per episode", "estimate", 1) for cost in EPISODE_COSTS]
    return ResultTable(tuple(heads), tuple(rows), "Plan search") if rows else None


def report_section(records: Sequence[EpisodeRecord]) -> Markup:
    """Return the section on plan search: costs and one tree; empty if no plan was searched."""
    costs = costs_of(records)
    first = next((r for r in records if any(u.searched for u in all_updates(r))), None)
    if costs is None or first is None:
        return Markup()
    largest = max((update for update in all_updates(first) if update.searched), key=lambda update: len(update.nodes))
    return render("plans.html", costs=costs, tree=tree_text(largest).splitlines())
