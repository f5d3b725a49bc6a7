"""Tables of CuisineWorld, with published numbers.

For each number of agents there is the paper's detailed table (6, 7 or 8), turned so that levels are rows; then its
table 1: CoS of every level, and the mean of every class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from collab_overcooked.evaluation.order_suite import OrderResult
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.orders import CosTable, OrderRecord, cos, ordered
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of_mappings
from collab_overcooked.reporting.scorecard import Chart, Scorecard

from ..engine.constants import PAPER_ALPHAS
from .scoring import (
    compared_levels,
    conditions,
    failure_modes,
    language_settings,
    played_levels,
    published,
    reference,
    score_records,
)

Scores = Mapping[int, float | None]


def cos_by_agents(result: OrderResult, levels: Sequence[str]) -> dict[int, float | None]:
    """Return the mean collaboration score of some levels by number of agents."""
    return {agents: table.average(levels) for agents, table in result.tables.items()}


def comparison_tables(played: Mapping[str, Sequence[OrderRecord]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return the tables and curves of the paper's figures 3 and 21 for several runs, and shares of ordered dishes.

    Published scores of the same levels and paces are included.
    """
    results = {f"{run}: {result.team}": result for run, records in played.items() for result in score_records(records)}
    any_default = any(result.is_default for result in results.values())
    tables = [table for result in results.values() for table in result.tables.values()]
    shared = set(tables[0].levels).intersection(*(table.levels for table in tables))
    levels = [level for level in tables[0].levels if level in shared]
    dishes, dish_chart = dish_shares(results.values())
    if not levels:
        return [dishes], [dish_chart]
    scores_by_run: dict[str, Scores] = {name: cos_by_agents(result, levels) for name, result in results.items()}
    sizes = sorted({agents for scores in scores_by_run.values() for agents in scores})
    paces = {table.alphas for table in tables}
    tables_of_paper = published().tables
    if any_default and paces == {tables_of_paper[2].alphas} and set(levels) <= set(published().levels):
        scores_by_run["GPT-4, published"] = {
            agents: tables_of_paper[agents].average(levels) for agents in sizes if agents in tables_of_paper
        }
    title = f"CoS by number of agents, mean of {', '.join(levels)}"
    columns = (Column("Run"), *(Column(plural(agents, "agent"), "number", 3) for agents in sizes))
    rows = tuple((name, *(scores.get(agents) for agents in sizes)) for name, scores in scores_by_run.items())
    series = {
        name: tuple(None if (score := scores.get(agents)) is None else Estimate(score) for agents in sizes)
        for name, scores in scores_by_run.items()
    }
    groups = tuple(map(str, sizes))
    marks = {len(rows) - 1: "published"} if "GPT-4, published" in scores_by_run else {}
    chart = Chart("CoS by number of agents", title, groups, series, axis="agents", curve=True)
    curves = [level_curve(results, level, sizes) for level in levels]
    return [ResultTable(columns, rows, title, marks), dishes], [chart, *curves, dish_chart]


def level_curve(results: Mapping[str, OrderResult], level: str, sizes: Sequence[int]) -> Chart:
    """Return a curve of the paper's figures 3 and 21: CoS on one level by number of agents, for each run."""
    by_run = {name: cos_by_agents(result, [level]) for name, result in results.items()}
    series = {
        name: tuple(None if (score := scores.get(agents)) is None else Estimate(score) for agents in sizes)
        for name, scores in by_run.items()
    }
    title = f"CoS by number of agents, {level}"
    return Chart(title, title, tuple(map(str, sizes)), series, axis="agents", curve=True)


def dish_shares(results: Iterable[OrderResult]) -> tuple[ResultTable, Chart]:
    """Return how often each dish was ordered in each level, over all runs."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for (_, level, _), records in result.episodes.items():
            counts.setdefault(level, Counter()).update(name for record in records for name in ordered(record))
    dishes = tuple(dict.fromkeys(dish for level in counts.values() for dish in sorted(level)))
    rows: list[tuple[Cell, ...]] = []
    series: dict[str, tuple[Estimate | None, ...]] = {}
    for level, orders in counts.items():
        shares = {dish: count / orders.total() for dish, count in orders.items()}
        rows += [(level, dish, orders[dish], shares[dish]) for dish in sorted(shares)]
        series[level] = tuple(Estimate(shares[dish]) if dish in shares else None for dish in dishes)
    columns = (Column("Level"), Column("Dish"), Column("orders", "number"), Column("share", "number", 3))
    title = "Dishes by level: orders of all runs, and share of the level's orders"
    chart = Chart("Share of each dish among the orders of a level", title, dishes, series, scale=100.0, axis="dish")
    return ResultTable(columns, tuple(rows), title), chart


SUCCESS_AGENTS = 2  # in table 12
PUBLISHED_MODEL = "GPT-4"  # heading of published numbers


def scorecard(game: str, result: OrderResult) -> Scorecard:
    """Return all tables and notes of a result."""
    tables = [*(details(result, agents) for agents in result.tables), levels_overview(result)]
    if set(compared_levels(result)) & set(published().levels):
        tables.append(classes_overview(result))
    tables += [table for agents in result.tables if (table := conditions_table(result, agents)) is not None]
    head = {"title": result.title, "team": result.team, "counting": result.counting}
    if (table := success_rates_table(result)) is not None:
        tables.append(table)
    tables.append(failures_overview(result))
    data = table_of_mappings({**head, **setting} for setting in _settings(result))
    return Scorecard(game, result.title, tuple(tables), result.team, tuple(notes(result)), data=data)


def details(result: OrderResult, agents: int) -> ResultTable:
    """Return fractions by level and alpha for one number of agents, each next to the published one."""
    played, paper = result.tables[agents], reference(result, agents)
    known = paper.alphas if paper else ()
    columns = [Column("Level")]
    for name, there in [*((_alpha_name(alpha), alpha in known) for alpha in played.alphas), ("CoS", bool(paper))]:
        kind: Literal["text", "estimate"] = "estimate" if name == "CoS" else "text"
        columns.append(Column(name, kind, ends=2))
        if there:
            columns.append(Column(PUBLISHED_MODEL, kind, ends=2, published=True, key=f"{name}, {PUBLISHED_MODEL}"))
    rows = [(level, *_detail_cells(played, paper, level)) for level in played.levels]
    rows.append(("average", *_average_cells(result, agents)))
    title = f"{plural(agents, 'agent')}: completed/resolved orders"
    if paper:
        title += f"; {PUBLISHED_MODEL} as published in table {published().printed[agents]['table']} of the paper"
    return ResultTable(tuple(columns), tuple(rows), title, {len(rows) - 1: "summary"})


def _detail_cells(played: CosTable, paper: CosTable | None, level: str) -> Iterator[Cell]:
    for alpha in played.alphas:
        yield _fraction(played, level, alpha)
        if paper and alpha in paper.alphas:
            yield _fraction(paper, level, alpha)
    yield played.cos(level)
    if paper:
        yield paper.cos(level) if level in paper.levels else None


def _average_cells(result: OrderResult, agents: int) -> Iterator[Cell]:
    """Yield the paper's last column and corner: means of ratios, and of CoS, over the comparable levels."""
    played = _only(result.tables[agents], compared_levels(result))
    paper = reference(result, agents)
    for alpha in played.alphas:
        yield played.row_average(alpha)
        if paper and alpha in paper.alphas:
            yield paper.row_average(alpha)
    yield played.average()
    if paper:
        yield paper.average()


def levels_overview(result: OrderResult) -> ResultTable:
    """Return the paper's table 1: CoS by number of agents and level."""
    groups = {level.removeprefix("level_"): [level] for level in played_levels(result)}
    return _overview(result, "CoS by level", "Level", groups, "avg.")


def classes_overview(result: OrderResult) -> ResultTable:
    """Return the mean CoS of each of the paper's classes."""
    played = set(compared_levels(result))
    classes = {name: [level for level in group if level in played] for name, group in published().classes.items()}
    classes = {name: group for name, group in classes.items() if group}
    complete = all(len(group) == len(published().classes[name]) for name, group in classes.items())
    return _overview(
        result, "Mean CoS by class" + ("" if complete else " (of the levels played)"), "Class", classes, "average"
    )


def conditions_table(result: OrderResult, agents: int) -> ResultTable | None:
    """Return the paper's tables 2 to 4 and 9 to 11, restricted to models and prompts like those played."""
    matching = conditions(result, agents)
    played = result.tables[agents]
    level = published().condition_level
    if not matching:
        return None
    alphas = [alpha for alpha in played.alphas if alpha in PAPER_ALPHAS and played.runs.get((level, alpha))]
    score = cos([played.runs[level, alpha] for alpha in alphas])
    rows: list[tuple[Cell, ...]] = [
        (result.team, "", *(_fraction(played, level, alpha) for alpha in alphas), score.value if score else None)
    ]
    rows += [
        (f"  {row.name}, published", row.tables, *(row.fractions[alpha] for alpha in alphas), row.mean(alphas))
        for row in matching
    ]
    columns = (
        Column("Team"),
        Column("Tables"),
        *(Column(_alpha_name(alpha)) for alpha in alphas),
        Column("CoS", "number"),
    )
    marks = dict.fromkeys(range(1, len(rows)), "published")
    return ResultTable(columns, tuple(rows), f"{plural(agents, 'agent')} on {level}, beside published models", marks)


def success_rates_table(result: OrderResult) -> ResultTable | None:
    """Return the paper's table 12 with the played scores of a team of two; None for other and language-model teams."""
    paper, played = published(), result.tables.get(SUCCESS_AGENTS)
    if played is None or not result.is_default or language_settings(result) is not None:
        return None
    cells = {level: played.cell(level, paper.success_alpha) for level in paper.success_rates if level in played.levels}
    rates = {level: cell.ratio for level, cell in cells.items() if cell is not None}
    if not rates:
        return None
    rows: list[tuple[Cell, ...]] = [(result.team, *rates.values())]
    names = dict.fromkeys(name for level in rates for name in paper.success_rates[level])
    rows += [(f"  {name}, published", *(paper.success_rates[level].get(name) for level in rates)) for name in names]
    columns = (Column("Team"), *(Column(level, "number") for level in rates))
    title = f"Success rates of table 12, {plural(SUCCESS_AGENTS, 'agent')} at alpha {paper.success_alpha:g}"
    return ResultTable(columns, tuple(rows), title, dict.fromkeys(range(1, len(rows)), "published"))


def failures_overview(result: OrderResult) -> ResultTable:
    """Return the failure modes per episode by number of agents and pace; appendix E.5 of the paper."""
    names = {
        "failed orders": "failed",
        "passed over": "passed_over",
        "at occupied tools": "occupied",
        "sent to one tool": "crowded",
    }
    by_pace: dict[tuple[int, float], list[dict[str, int]]] = {}
    for (agents, _, alpha), records in result.episodes.items():
        by_pace.setdefault((agents, alpha), []).extend(map(failure_modes, records))
    rows: list[tuple[Cell, ...]] = []
    for (agents, alpha), modes in by_pace.items():
        means = (sum(episode[mode] for episode in modes) / len(modes) for mode in names.values())
        rows.append((f"{plural(agents, 'agent')}, {_alpha_name(alpha)}", len(modes), *means))
    columns = (Column("Team and pace"), Column("episodes", "number"), *(Column(name, "number", 2) for name in names))
    return ResultTable(columns, tuple(rows), "Failure modes, count per episode", detail=True)


def _overview(
    result: OrderResult, title: str, first: str, groups: Mapping[str, Sequence[str]], last: str
) -> ResultTable:
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for agents, table in result.tables.items():
        marks |= {len(rows): "summary"} if rows else {}
        means = (_only(table, group).average() for group in groups.values())
        rows.append((plural(agents, "agent"), *means, _only(table, compared_levels(result)).average()))
        paper = reference(result, agents)
        if paper:
            marks[len(rows)] = "published"
            means = (_only(paper, group).average() for group in groups.values())
            rows.append((f"  {PUBLISHED_MODEL}, published", *means, paper.average()))
    alone = result.tables.get(1)
    for agents, table in result.tables.items():
        if alone is not None and agents > 1:
            gains = _gains(table, alone, [*groups.values(), compared_levels(result)])
            rows.append((f"  gain of {agents} agents over one", *gains))
    columns = (Column(first), *(Column(name, "number") for name in groups), Column(last, "number"))
    return ResultTable(columns, tuple(rows), title, marks)


def _gains(table: CosTable, alone: CosTable, groups: Iterable[Sequence[str]]) -> Iterator[float | None]:
    """Yield the difference between the mean CoS of a team and of the same policy alone."""
    for levels in groups:
        together, single = (_only(one, levels).average() for one in (table, alone))
        yield None if together is None or single is None else together - single


def _only(table: CosTable, levels: Sequence[str]) -> CosTable:
    return replace(table, levels=tuple(level for level in table.levels if level in levels))


def _alpha_name(alpha: float) -> str:
    return f"alpha {alpha:g}" if alpha else "file times"


def _fraction(table: CosTable, level: str, alpha: float) -> str | None:
    cell = table.cell(level, alpha) if level in table.levels else None
    return None if cell is None else str(cell)


def notes(result: OrderResult) -> list[str]:
    """Return the notes below the tables."""
    lines = []
    if result.counting == "orders":
        lines.append("Failures: every expired order.")
        hidden = sum(tally.expired - tally.failing_steps for tally, _ in result.tallies.values())
        if hidden and result.is_default:
            lines.append(
                f"The published numbers count at most one failure per step, which would hide {hidden} failures here; "
                "--counting steps counts like them."
            )
    else:
        lines.append("Failures: at most one per step, as in the published numbers.")
    lines.append(
        "Failure modes (--more): passed over, orders lost while one with more time left was served; at occupied tools, "
        "commands refused there; sent to one tool, agents in the same step (our reading of the paper's E.5)."
    )
    still_open = sum(tally.open for tally, _ in result.tallies.values())
    lines.append(f"Orders still open at the end ({still_open}) are in no ratio, as in the paper.")
    if any(reference(result, agents) or conditions(result, agents) for agents in result.tables):
        lines.append(f"GPT-4: published numbers ({published().source}; {published().model}), not measured here.")
        if any(not _whole(result, agents) for agents in result.tables):
            lines.append("If only some levels or alphas were played, published scores are computed over the same ones.")
    if success_rates_table(result) is not None:
        lines.append("Masked PPO: the paper says neither at which alpha nor how its success rates were averaged.")
    left_out = [level for level in played_levels(result) if level not in compared_levels(result)]
    if left_out:
        lines.append(f"Not in averages, since the paper has no numbers for them: {', '.join(left_out)}.")
    return lines


def _whole(result: OrderResult, agents: int) -> bool:
    paper = reference(result, agents)
    complete = published().tables.get(agents)
    return paper is None or complete is None or (paper.levels, paper.alphas) == (complete.levels, complete.alphas)


def _settings(result: OrderResult) -> Iterator[dict[str, Cell]]:
    for (agents, level, alpha), (tally, episodes) in result.tallies.items():
        paper = reference(result, agents)
        known = paper.cell(level, alpha) if paper else None
        yield {
            "agents": agents,
            "level": level,
            "alpha": alpha or None,
            "episodes": episodes,
            "completed": tally.completed,
            "expired": tally.expired,
            "failing_steps": tally.failing_steps,
            "open": tally.open,
            "ratio": tally.cell(result.counting).ratio,
            "published_completed": known.completed if known else None,
            "published_resolved": known.resolved if known else None,
        }
