"""Tables of Rush: group and individual metrics, outcomes of episodes, and comparison of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from functools import cache
from operator import itemgetter

from collab_overcooked.game_spec import NO_TEACHER
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of, table_of_mappings
from collab_overcooked.reporting.scorecard import Chart, Scorecard
from collab_overcooked.runner.teaching import placebo_of
from collab_overcooked.runner.teams import team_text

from ..text.episode_record import RushRecord
from .scoring import (
    RoundScore,
    RunsBySeed,
    RushResult,
    RushSetting,
    ScenarioScore,
    lift,
    published,
    rush_variant,
    score_round,
    score_rounds,
    settings_of,
    termination,
)


def scorecard(game: str, result: RushResult) -> Scorecard:
    """Return all tables and notes of a result."""
    by_seed = {setting: _by_seed(runs, result.seeds[setting]) for setting, runs in result.runs.items()}
    taught = teaching_table({("", setting): runs for setting, runs in by_seed.items()})
    tables = (group_table(result), *taught, individual_table(result), episode_table(result), termination_table(result))
    data = table_of_mappings(_lines(result))
    return Scorecard(game, title(result), tables, result.team, tuple(notes(result)), data=data)


def names(result: RushResult) -> dict[RushSetting, str]:
    """Return short names of the settings: scenario, domain, and other fields in which they differ."""
    settings = list(result.runs)
    varied = [name for name in ("agents", "teacher") if len({getattr(setting, name) for setting in settings}) > 1]
    return {s: ", ".join([s.scenario, s.domain, *(_field_text(s, name) for name in varied)]) for s in settings}


def title(result: RushResult) -> str:
    """Return the title of a result: the variant, and the fields that all settings share."""
    settings = list(result.runs)
    shared = [name for name in ("agents", "teacher") if len({getattr(setting, name) for setting in settings}) == 1]
    return ", ".join([result.title, *(_field_text(settings[0], name) for name in shared)])


def _field_text(setting: RushSetting, name: str) -> str:
    if name == "agents":
        return plural(setting.agents, "agent")
    return "no teacher" if setting.teacher == NO_TEACHER else setting.teacher


@cache
def _scored(runs: tuple[tuple[RoundScore, ...], ...]) -> ScenarioScore:
    return score_rounds(runs)


KINDS = ("A+", "A-", "A=")
LOST = "lost orders"


def _mean(name: str, field: str) -> Column:
    return Column(name, "estimate", 2, value=lambda row: getattr(row[1], field))


# Columns of rows of a name and a score
_RUNS = Column("runs", "number", value=lambda row: row[1].runs)
_MEANS = (_mean("CR", "completed"), _mean("RR", "ruined"), _mean("turns", "turns"))
_BALANCE = Column("balance", "estimate", 3, ends=2, value=lambda row: row[1].balance)


def group_table(result: RushResult) -> ResultTable:
    """Return CR, RR and turns of every setting, means over runs with intervals."""
    columns = (
        Column("Setting", value=itemgetter(0)),
        _RUNS,
        Column("episodes", "number", value=lambda row: row[1].episodes),
        *_MEANS,
        Column("ended early %", "number", 0, scale=100.0, value=lambda row: row[1].early.value),
        _BALANCE,
    )
    rows = [(names(result)[setting], _scored(runs)) for setting, runs in result.runs.items()]
    return table_of(columns, rows, "Group: mean of a scenario's episodes")


def individual_table(result: RushResult) -> ResultTable:
    """Return the three kinds of actions of every agent, means over runs with intervals."""
    means = (Column(kind, "estimate", 2) for kind in KINDS)
    share = Column("share of A+ %", "estimate", 0, scale=100.0)
    searched = any(score.lost for runs in result.runs.values() for run in runs for score in run)
    lost = [Column(LOST, "estimate", 2)] if searched else []
    columns = (Column("Setting and agent"), *means, Column("all", "number", 2), share, *lost)
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for setting, runs in result.runs.items():
        score = _scored(runs)
        marks |= {len(rows): "summary"} if rows else {}
        for seat in range(setting.agents):
            kinds = (score.positive[seat], score.negative[seat], score.neutral[seat])
            name = f"{names(result)[setting]}: agent_{seat}"
            numbers = (sum(kind.value for kind in kinds), score.shares[seat], *score.lost[seat : seat + 1])
            rows.append((name, *kinds, *numbers))
    return ResultTable(columns, tuple(rows), "Individual: actions of an episode", marks)


def _by_seed(runs: Sequence[Sequence[RoundScore]], seeds: Sequence[int]) -> RunsBySeed:
    return {seed: [run] for seed, run in zip(seeds, runs, strict=True)}


def teaching_table(groups: Mapping[tuple[str, RushSetting], RunsBySeed]) -> list[ResultTable]:
    """Return the effect of each teaching relative to none and to its placebo, paired by seed; empty without pairs.

    Args:
        groups: (Team, setting) -> its runs by seed; the name of the team is left out of the rows if it is empty.
    """
    columns = (
        Column("Setting and teachings", value=itemgetter(0)),
        Column("shared seeds", "number", value=lambda row: row[1].pairs),
        Column("difference of CR", "estimate", 2, value=lambda row: row[1].completed),
        Column("difference of RR", "estimate", 2, value=lambda row: row[1].ruined),
    )
    rows = []
    for (team, setting), runs in groups.items():
        for other in (NO_TEACHER, placebo_of(setting.teacher)):
            against = groups.get((team, replace(setting, teacher=other)))
            if setting.teacher in (NO_TEACHER, other) or against is None or (gained := lift(runs, against)) is None:
                continue
            place = ", ".join(filter(None, (team, setting.scenario, setting.domain)))
            what = "no teacher" if other == NO_TEACHER else other
            rows.append((f"{place}, {plural(setting.agents, 'agent')}: {setting.teacher} against {what}", gained))
    title = "Teachings: differences over shared seeds, in episodes after feedback"
    return [table_of(columns, rows, title)] if rows else []


def episode_table(result: RushResult) -> ResultTable:
    """Return the group metrics of each episode of every setting."""
    useful = Column("A+ of each", value=lambda row: " + ".join(f"{mean.value:.1f}" for mean in row[1].positive))
    columns = (Column("Setting and episode", value=itemgetter(0)), _RUNS, *_MEANS, useful, _BALANCE)
    rows: list[tuple[str, ScenarioScore]] = []
    marks: dict[int, str] = {}
    for setting, runs in result.runs.items():
        marks |= {len(rows): "summary"} if rows else {}
        name = names(result)[setting]
        rows += [(f"{name}: episode {number}", score) for number, score in enumerate(by_episode(runs), 1)]
    return table_of(columns, rows, "Episodes", marks)


def by_episode(runs: Sequence[Sequence[RoundScore]]) -> list[ScenarioScore]:
    """Return the scores of the first, second, ... episode of all runs that have one."""
    longest = max(map(len, runs))
    return [_scored(tuple((run[k],) for run in runs if k < len(run))) for k in range(longest)]


def termination_table(result: RushResult) -> ResultTable:
    """Return the paper's table 3: shares of episodes that ended early, and at the limit by completed recipes."""
    counted = {setting: termination(score for run in runs for score in run) for setting, runs in result.runs.items()}
    most = max(max(result.orders.values()), *(max(counts) for counts in counted.values()))
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for setting, counts in counted.items():
        score = _scored(result.runs[setting])
        late = [counts.get(cr, (0, 0))[1] / score.episodes for cr in range(most + 1)]
        early = sum(ended for ended, _ in counts.values()) / score.episodes
        rows.append((names(result)[setting], score.episodes, *late, early, score.ruined.value))
        if result.is_default:
            references = list(_published_rows(setting, most))
            marks |= dict.fromkeys(range(len(rows), len(rows) + len(references)), "published")
            rows += references
    percent = [*(f"CR {cr} %" for cr in range(most + 1)), "early %"]
    columns = (
        Column("Setting"),
        Column("episodes", "number"),
        *(Column(name, "number", 0, scale=100.0) for name in percent),
        Column("RR", "number", 2),
    )
    title = "How episodes ended: at the limit, or early (table 3 of the paper)"
    return ResultTable(columns, tuple(rows), title, marks)


def _published_rows(setting: RushSetting, most: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the paper's rows of pairs that played the scenario in the same domain, with a manual and no teacher."""
    paper = published()
    if (setting.scenario, setting.agents, setting.teacher) != (paper["scenario"], 2, NO_TEACHER):
        return
    for model, by_domain in paper["table_3"].items():
        numbers = by_domain.get(setting.domain)
        if numbers is not None:
            late = (numbers["at_limit"].get(cr, 0) / 100 for cr in range(most + 1))
            yield (f"  {model}, published", paper["episodes"], *late, numbers["early"] / 100, numbers["ruined"])


def notes(result: RushResult) -> list[str]:
    """Return the notes below the tables."""
    lines = ["CR: recipes completed; RR: ruined; ended early: all orders finished or ruined before the last turn."]
    lines.append(
        "A+: actions that advanced an order finished later; A-: actions that ruined one; A=: all others."
        if result.attribution == "final"
        else "A+: actions that advanced an order, finished later or not; A-: actions that ruined one; A=: all others."
    )
    lines.append("Balance: 1 - |a - b| / (a + b) over the A+ of two agents, 0 without any; over all pairs of agents.")
    if any(score.lost for runs in result.runs.values() for run in runs for score in run):
        lines.append(
            "Lost orders: by how much an agent's actions lowered what the team could at best finish; those of all "
            "agents add up to what the best known play has more."
        )
    if result.is_default and any(list(_published_rows(setting, 0)) for setting in result.runs):
        lines.append(f"Published: {published()['source']}; with other recipes, not measured here.")
    if any(len(runs) > 1 for runs in result.runs.values()):
        lines.append("In brackets: 95 % intervals over runs, where these differ.")
    return lines


def _lines(result: RushResult) -> Iterator[dict[str, Cell]]:
    head = {"title": result.title, "team": result.team, "attribution": result.attribution}
    for setting, runs in result.runs.items():
        for number, run in enumerate(runs):
            for episode, score in enumerate(run):
                line = {**head, **asdict(setting), "run": number, "episode": episode}
                line |= {name: getattr(score, name) for name in ("completed", "ruined", "turns")}
                line |= {"ended_early": int(score.early), "balance": score.balance}
                for seat, counts in enumerate(score.actions):
                    lost = {"lost": score.lost[seat]} if score.lost else {}
                    yield {**line, "agent": seat, **asdict(counts), **lost}


Pair = tuple[str, str]
# Variant and setting -> policies of the team -> run folder and seed -> episodes in turn
ScoresByTeam = dict[tuple[str, RushSetting], dict[tuple[str, ...], dict[tuple[str, int], list[RoundScore]]]]


def comparison_tables(played: Mapping[str, Sequence[RushRecord]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return CR by condition and setting, CR of pairs of different policies, and actions by kind and player."""
    scores: ScoresByTeam = {}
    every = [record for records in played.values() for record in records]
    settings = iter(settings_of(every))
    for run, records in played.items():
        for record in records:
            by_team = scores.setdefault((rush_variant(record).label, next(settings)), {})
            runs = by_team.setdefault(record.specs, {})
            runs.setdefault((run, record.seed), []).append(score_round(record))
    table, chart = _conditions(scores)
    tables, charts = [table, *teaching_table(_groups(scores))], [chart]
    for (variant, setting), by_team in scores.items():
        name = ", ".join(filter(None, (setting.scenario, setting.domain, setting.teacher, variant)))
        pairs: dict[Pair, Estimate | None] = {
            (team[0], team[1]): mean_ci([_mean_completed(run) for run in runs.values()])
            for team, runs in by_team.items()
            if len(team) == 2
        }
        if len({policy for pair in pairs for policy in pair}) > 1:
            tables.append(_cross_play(pairs, name))
        kinds = {
            f"{team_text(team)}: agent_{seat}": _kinds(list(runs.values()), seat)
            for team, runs in by_team.items()
            for seat in range(len(team))
        }
        tables.append(_kinds_table(kinds, name))
        charts.append(_kinds_chart(kinds, name))
    return tables, charts


def _groups(scores: ScoresByTeam) -> dict[tuple[str, RushSetting], RunsBySeed]:
    groups: dict[tuple[str, RushSetting], RunsBySeed] = {}
    for (variant, setting), by_team in scores.items():
        for team, runs in by_team.items():
            by_seed: dict[int, list[Sequence[RoundScore]]] = {}
            for (_, seed), run in runs.items():
                by_seed.setdefault(seed, []).append(run)
            groups[", ".join(filter(None, (team_text(team), variant))), setting] = by_seed
    return groups


def _mean_completed(run: Sequence[RoundScore]) -> float:
    return sum(score.completed for score in run) / len(run)


def _conditions(scores: ScoresByTeam) -> tuple[ResultTable, Chart]:
    """Return CR of each condition (team, teacher, variant) by scenario and domain; the paper's figures 6 and 14."""
    completed: dict[str, dict[str, Estimate]] = {}
    for (variant, setting), by_team in scores.items():
        teacher = f"taught by {setting.teacher}" if setting.teacher != NO_TEACHER else ""
        place = ", ".join((setting.scenario, setting.domain))
        for team, runs in by_team.items():
            condition = ", ".join(filter(None, (team_text(team), teacher, variant)))
            completed.setdefault(condition, {})[place] = _scored(tuple(map(tuple, runs.values()))).completed
    places = tuple(dict.fromkeys(place for known in completed.values() for place in known))
    columns = (Column("Team and condition"), *(Column(place, "estimate", 2) for place in places))
    series = {condition: tuple(map(known.get, places)) for condition, known in completed.items()}
    title = "CR by condition, scenario and domain (figures 6 and 14 of the paper)"
    chart = Chart("CR by condition", "Completed recipes of an episode", places, series, axis="")
    return ResultTable(columns, tuple((name, *row) for name, row in series.items()), title), chart


def _cross_play(pairs: Mapping[Pair, Estimate | None], name: str) -> ResultTable:
    first, second = (list(dict.fromkeys(pair[seat] for pair in pairs)) for seat in (0, 1))
    columns = (Column("agent_0 \\ agent_1"), *(Column(policy, "estimate", 2) for policy in second))
    rows: tuple[tuple[Cell, ...], ...] = tuple((key, *(pairs.get((key, other)) for other in second)) for key in first)
    return ResultTable(columns, rows, f"CR of pairs, {name}")


def _kinds(runs: Sequence[Sequence[RoundScore]], seat: int) -> tuple[Estimate | None, ...]:
    shares: list[tuple[float, ...]] = []
    for run in runs:
        counts = [astuple(score.actions[seat]) for score in run]
        total = sum(map(sum, counts)) or 1
        shares.append(tuple(sum(kind) / total for kind in zip(*counts, strict=True)))
    return tuple(mean_ci(list(kind)) for kind in zip(*shares, strict=True))


def _kinds_table(kinds: Mapping[str, tuple[Estimate | None, ...]], name: str) -> ResultTable:
    columns = (Column("Player"), *(Column(f"{kind} %", "estimate", 1, scale=100.0) for kind in KINDS))
    rows = tuple((player, *shares) for player, shares in kinds.items())
    return ResultTable(columns, rows, f"Positive against negative actions by player, {name}")


def _kinds_chart(kinds: Mapping[str, tuple[Estimate | None, ...]], name: str) -> Chart:
    title = f"Actions by player, {name}, %"
    series = {kind: tuple(shares[k] for shares in kinds.values()) for k, kind in enumerate(KINDS[:2])}
    return Chart(title, "Shares of positive and negative actions by player", tuple(kinds), series, 100.0, axis="")
