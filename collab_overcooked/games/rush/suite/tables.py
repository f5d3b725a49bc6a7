"""Tables of Rush: group and individual metrics, outcomes of episodes, and comparison of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from collab_overcooked.game_spec import NO_TEACHER
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of, table_of_mappings
from collab_overcooked.reporting.scorecard import Chart, Scorecard
from collab_overcooked.runner.env_variants import deviations
from collab_overcooked.runner.teaching import placebo_of
from collab_overcooked.runner.teams import team_text

from ..options import Attribution
from ..text.episode_record import RushRecord
from .scoring import Episode, RushRow, is_homogeneous, published, rows_of, rush_variant

KINDS = {"A+": "positive", "A-": "negative", "A=": "neutral"}
LOST = "lost orders"


def scorecard(
    game: str, records: Sequence[RushRecord], attribution: Attribution = "final", losses: bool = False
) -> Scorecard:
    """Return all tables and notes of one team on one variant of the game.

    Args:
        game: Name of the suite.
        records: Episodes.
        attribution: See ``score_record``.
        losses: See ``score_record``.
    """
    variant, team = rush_variant(records[0]), records[0].specs
    rows = rows_of({"": records}, attribution, losses)
    comparable = not deviations(records[0], variant) and is_homogeneous(team)  # with the paper's table 3
    tables = (
        group_table(rows),
        *teaching_table(rows),
        individual_table(rows),
        episode_table(rows),
        termination_table(rows, comparable),
    )
    head: dict[str, Cell] = {"title": variant.title, "team": team_text(team), "attribution": attribution}
    data = table_of_mappings(head | line for row in rows for line in _lines(row))
    remarks = tuple(notes(rows, attribution, comparable))
    return Scorecard(game, title(variant.title, rows), tables, team_text(team), remarks, data=data)


def title(variant: str, rows: Sequence[RushRow]) -> str:
    """Return the title of a scorecard: the variant, number of agents and teacher as far as all rows share them."""
    return ", ".join([variant, *_shared(rows)])


def _texts(row: RushRow) -> tuple[str, str]:
    return plural(row.agents, "agent"), "no teacher" if row.teacher == NO_TEACHER else row.teacher


def _shared(rows: Sequence[RushRow]) -> list[str]:
    """Return the number of agents and the teacher, as far as all rows share them."""
    return [values[0] for values in zip(*map(_texts, rows), strict=True) if len(set(values)) == 1]


def names(rows: Sequence[RushRow]) -> list[str]:
    """Return short names of the rows: scenario, domain, and of number of agents and teacher what they differ in."""
    shared = _shared(rows)
    return [", ".join([row.place, *(text for text in _texts(row) if text not in shared)]) for row in rows]


# Tables of scores have rows of a name and a ``RushRow``.
def _mean(name: str, metric: str) -> Column:
    return Column(name, "estimate", 2, value=lambda named: named[1].mean(metric))


_RUNS = Column("runs", "number", value=lambda named: len(named[1].runs))
_MEANS = (_mean("CR", "completed"), _mean("RR", "ruined"), _mean("turns", "turns"))
_BALANCE = Column("balance", "estimate", 3, ends=2, value=lambda named: named[1].mean("balance"))


def _name_column(name: str) -> Column:
    return Column(name, value=lambda named: named[0])


def group_table(rows: Sequence[RushRow]) -> ResultTable:
    """Return CR, RR and turns of every setting, means over runs with intervals."""
    columns = (
        _name_column("Setting"),
        _RUNS,
        Column("episodes", "number", value=lambda named: len(named[1].episodes)),
        *_MEANS,
        Column("ended early %", "number", 0, scale=100.0, value=lambda named: named[1].mean("early").value),
        _BALANCE,
    )
    return table_of(columns, zip(names(rows), rows, strict=True), "Group: mean of a scenario's episodes")


def individual_table(rows: Sequence[RushRow]) -> ResultTable:
    """Return the three kinds of actions of every agent, means over runs with intervals."""
    lost = [Column(LOST, "estimate", 2)] if _searched(rows) else []
    columns = (
        Column("Setting and agent"),
        *(Column(kind, "estimate", 2) for kind in KINDS),
        Column("all", "number", 2),
        Column("share of A+ %", "estimate", 0, scale=100.0),
        *lost,
    )
    cells: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for name, row in zip(names(rows), rows, strict=True):
        marks |= {len(cells): "summary"} if cells else {}
        for seat in range(row.agents):
            kinds = [row.mean(metric, seat) for metric in KINDS.values()]
            total = sum(kind.value for kind in kinds if kind is not None)
            losses = [row.mean("lost", seat) for _ in lost]
            cells.append((f"{name}: agent_{seat}", *kinds, total, row.share("positive", seat), *losses))
    return ResultTable(columns, tuple(cells), "Individual: actions of an episode", marks)


def _searched(rows: Sequence[RushRow]) -> bool:
    return any("lost" in episode for row in rows for episode in row.episodes)


def teaching_table(rows: Sequence[RushRow], teams: bool = False) -> list[ResultTable]:
    """Return the effect of each teaching relative to none and to its placebo, paired by seed; empty without pairs.

    Args:
        rows: Rows of one team and variant, or of several.
        teams: Whether the table names team and variant.
    """
    known = {(row.team, row.variant, row.place, row.agents, row.teacher): row for row in rows}
    columns = (
        Column("Setting and teachings"),
        Column("shared seeds", "number"),
        Column("difference of CR", "estimate", 2),
        Column("difference of RR", "estimate", 2),
    )
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        for other in (NO_TEACHER, placebo_of(row.teacher)):
            against = known.get((row.team, row.variant, row.place, row.agents, other))
            if row.teacher in (NO_TEACHER, other) or against is None:
                continue
            taught, untaught = _taught_episodes(row), _taught_episodes(against)
            seeds = [seed for seed in taught if seed in untaught]
            if seeds:
                head = [team_text(row.team), row.variant] if teams else []
                place = ", ".join(filter(None, [*head, row.place, plural(row.agents, "agent")]))
                name = f"{place}: {row.teacher} against {'no teacher' if other == NO_TEACHER else other}"
                differences = [
                    mean_ci([_mean_of(taught[seed], metric) - _mean_of(untaught[seed], metric) for seed in seeds])
                    for metric in ("completed", "ruined")
                ]
                cells.append((name, len(seeds), *differences))
    heading = "Teachings: differences over shared seeds, in episodes after feedback"
    return [ResultTable(columns, tuple(cells), heading)] if cells else []


def _taught_episodes(row: RushRow) -> dict[int, list[Episode]]:
    """Return by seed the episodes after the first of a run, which are played after feedback."""
    by_seed: dict[int, list[Episode]] = {}
    for (_, seed), run in row.runs.items():
        if len(run) > 1:
            by_seed.setdefault(seed, []).extend(run[1:])
    return by_seed


def _mean_of(episodes: Sequence[Episode], metric: str) -> float:
    return float(sum(episode[metric] for episode in episodes)) / len(episodes)


def episode_table(rows: Sequence[RushRow]) -> ResultTable:
    """Return the group metrics of the first, second, ... episode of every setting, over the runs that have one."""
    columns = (
        _name_column("Setting and episode"),
        _RUNS,
        *_MEANS,
        Column("A+ of each", value=lambda named: _useful_actions(named[1])),
        _BALANCE,
    )
    named: list[tuple[str, RushRow]] = []
    marks: dict[int, str] = {}
    for name, row in zip(names(rows), rows, strict=True):
        marks |= {len(named): "summary"} if named else {}
        for k in range(max(map(len, row.runs.values()))):
            runs = {key: [run[k]] for key, run in row.runs.items() if k < len(run)}
            named.append((f"{name}: episode {k + 1}", replace(row, runs=runs)))
    return table_of(columns, named, "Episodes", marks)


def _useful_actions(row: RushRow) -> str:
    means = [row.mean("positive", seat) for seat in range(row.agents)]
    return " + ".join(f"{mean.value:.1f}" for mean in means if mean is not None)


def termination_table(rows: Sequence[RushRow], comparable: bool) -> ResultTable:
    """Return the paper's table 3: shares of episodes that ended early, and at the limit by completed recipes.

    Args:
        rows: Rows of one team.
        comparable: Whether the team and the variant are the paper's, whose numbers then stand below.
    """
    most = max(row.orders for row in rows)
    percent = [*(f"CR {cr} %" for cr in range(most + 1)), "early %"]
    columns = (
        Column("Setting"),
        Column("episodes", "number"),
        *(Column(name, "number", 0, scale=100.0) for name in percent),
        Column("RR", "number", 2),
    )
    cells: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for name, row in zip(names(rows), rows, strict=True):
        count, ruined = len(row.episodes), row.mean("ruined")
        at_limit = [episode["completed"] for episode in row.episodes if not episode["early"]]
        late = [at_limit.count(cr) / count for cr in range(most + 1)]
        early = (count - len(at_limit)) / count
        cells.append((name, count, *late, early, ruined.value if ruined else None))
        references = list(_published_rows(row, most)) if comparable else []
        marks |= dict.fromkeys(range(len(cells), len(cells) + len(references)), "published")
        cells += references
    title = "How episodes ended: at the limit, or early (table 3 of the paper)"
    return ResultTable(columns, tuple(cells), title, marks)


def _published_rows(row: RushRow, most: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the paper's rows of pairs that played the scenario in the same domain, with a manual and no teacher."""
    paper = published()
    if (row.scenario, row.agents, row.teacher) != (paper["scenario"], 2, NO_TEACHER):
        return
    for model, by_domain in paper["table_3"].items():
        numbers = by_domain.get(row.domain)
        if numbers is not None:
            late = (numbers["at_limit"].get(cr, 0) / 100 for cr in range(most + 1))
            yield (f"  {model}, published", paper["episodes"], *late, numbers["early"] / 100, numbers["ruined"])


def notes(rows: Sequence[RushRow], attribution: Attribution, comparable: bool) -> list[str]:
    """Return the notes below the tables."""
    lines = ["CR: recipes completed; RR: ruined; ended early: all orders finished or ruined before the last turn."]
    lines.append(
        "A+: actions that advanced an order finished later; A-: actions that ruined one; A=: all others."
        if attribution == "final"
        else "A+: actions that advanced an order, finished later or not; A-: actions that ruined one; A=: all others."
    )
    lines.append("Balance: 1 - |a - b| / (a + b) over the A+ of two agents, 0 without any; over all pairs of agents.")
    if _searched(rows):
        lines.append(
            "Lost orders: by how much an agent's actions lowered what the team could at best finish; those of all "
            "agents add up to what the best known play has more."
        )
    if comparable and any(list(_published_rows(row, 0)) for row in rows):
        lines.append(f"Published: {published()['source']}; with other recipes, not measured here.")
    if any(len(row.runs) > 1 for row in rows):
        lines.append("In brackets: 95 % intervals over runs, where these differ.")
    return lines


def _lines(row: RushRow) -> Iterator[dict[str, Cell]]:
    """Yield the lines of a row in files, one for each agent of each episode."""
    setting = {name: getattr(row, name) for name in ("scenario", "domain", "agents", "teacher")}
    for number, run in enumerate(row.runs.values()):
        for k, episode in enumerate(run):
            group = {name: episode[name] for name in ("completed", "ruined", "turns")}
            group |= {"ended_early": int(episode["early"]), "balance": episode["balance"]}
            by_seat = [name for name in (*KINDS.values(), "lost") if name in episode]
            for seat in range(row.agents):
                own = {name: episode[name][seat] for name in by_seat}
                yield {**setting, "run": number, "episode": k, **group, "agent": seat, **own}


def comparison_tables(played: Mapping[str, Sequence[RushRecord]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return CR by condition and setting, CR of pairs of different policies, and actions by kind and player."""
    by_setting: dict[tuple[str, str, int, str], list[RushRow]] = {}
    for row in rows_of(played):
        by_setting.setdefault((row.variant, row.place, row.agents, row.teacher), []).append(row)
    rows = [row for group in by_setting.values() for row in group]
    table, chart = _conditions(rows)
    tables, charts = [table, *teaching_table(rows, teams=True)], [chart]
    for group in by_setting.values():
        first = group[0]
        name = ", ".join(filter(None, (first.place, first.teacher, first.variant)))
        pairs = {row.team: row.mean("completed") for row in group if row.agents == 2}
        if len({policy for pair in pairs for policy in pair}) > 1:
            tables.append(_cross_play(pairs, name))
        shares = {
            f"{team_text(row.team)}: agent_{seat}": _shares_of_actions(row, seat)
            for row in group
            for seat in range(row.agents)
        }
        tables.append(_actions_table(shares, name))
        charts.append(_actions_chart(shares, name))
    return tables, charts


def _conditions(rows: Sequence[RushRow]) -> tuple[ResultTable, Chart]:
    """Return CR of each condition (team, teacher, variant) by scenario and domain; the paper's figures 6 and 14."""
    completed: dict[str, dict[str, Estimate | None]] = {}
    for row in rows:
        teacher = f"taught by {row.teacher}" if row.teacher != NO_TEACHER else ""
        condition = ", ".join(filter(None, (team_text(row.team), teacher, row.variant)))
        completed.setdefault(condition, {})[row.place] = row.mean("completed")
    places = tuple(dict.fromkeys(place for known in completed.values() for place in known))
    columns = (Column("Team and condition"), *(Column(place, "estimate", 2) for place in places))
    series = {condition: tuple(map(known.get, places)) for condition, known in completed.items()}
    title = "CR by condition, scenario and domain (figures 6 and 14 of the paper)"
    chart = Chart("CR by condition", "Completed recipes of an episode", places, series, axis="")
    return ResultTable(columns, tuple((name, *cells) for name, cells in series.items()), title), chart


def _cross_play(pairs: Mapping[tuple[str, ...], Estimate | None], name: str) -> ResultTable:
    first, second = (list(dict.fromkeys(pair[seat] for pair in pairs)) for seat in (0, 1))
    columns = (Column("agent_0 \\ agent_1"), *(Column(policy, "estimate", 2) for policy in second))
    rows: tuple[tuple[Cell, ...], ...] = tuple((key, *(pairs.get((key, other)) for other in second)) for key in first)
    return ResultTable(columns, rows, f"CR of pairs, {name}")


def _shares_of_actions(row: RushRow, seat: int) -> tuple[Estimate | None, ...]:
    """Return the shares of a seat's own actions by kind, means over runs."""
    shares: dict[str, list[float]] = {metric: [] for metric in KINDS.values()}
    for run in row.runs.values():
        counts = {metric: sum(episode[metric][seat] for episode in run) for metric in shares}
        total = sum(counts.values()) or 1
        for metric, count in counts.items():
            shares[metric].append(count / total)
    return tuple(map(mean_ci, shares.values()))


def _actions_table(shares: Mapping[str, tuple[Estimate | None, ...]], name: str) -> ResultTable:
    columns = (Column("Player"), *(Column(f"{kind} %", "estimate", 1, scale=100.0) for kind in KINDS))
    rows = tuple((player, *cells) for player, cells in shares.items())
    return ResultTable(columns, rows, f"Positive against negative actions by player, {name}")


def _actions_chart(shares: Mapping[str, tuple[Estimate | None, ...]], name: str) -> Chart:
    title = f"Actions by player, {name}, %"
    series = {kind: tuple(cells[k] for cells in shares.values()) for k, kind in enumerate(("A+", "A-"))}
    return Chart(title, "Shares of positive and negative actions by player", tuple(shares), series, 100.0, axis="")
