"""Facts about what is reached in CuisineWorld on the documentation's pages, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collab_overcooked.games.cuisineworld.suite.scoring import published
from collab_overcooked.metrics.orders import OrderCell, cos, mean_known

from .cuisineworld import EXTRA_LEVELS, SIZES
from .writing import code, measured, read_json, table, write_json

BASELINES = ("random", "greedy")
LEVELS = ("all", *EXTRA_LEVELS)
RESULT_FILE = "cuisineworld.json"
COLUMNS = ("completed", "expired", "failing_steps", "open")


# ------------------------------------------------------------------------------------------- baselines


def cuisineworld_results() -> str:
    """Show the CoS of the baselines beside the published one."""
    measured = _measured()
    if not measured:
        return "Not measured yet: `python docs/facts.py --cuisineworld` measures and writes this table."
    theirs = published()
    scores = {
        team: {agents: _scores(tallies.get(str(agents), {})) for agents in SIZES} for team, tallies in measured.items()
    }
    idle = [
        team
        for team, sizes in scores.items()
        if not any(any(score) for own in sizes.values() for score in own.values())
    ]
    scores = {team: sizes for team, sizes in scores.items() if team not in idle}
    groups = [(name, group) for name, levels in theirs.classes.items() for name, group in _groups(name, levels)]
    groups += [("**mean of the twelve**", theirs.levels), *((code(level), [level]) for level in EXTRA_LEVELS)]
    rows = []
    for name, group in groups:
        known = set(group) <= set(theirs.levels)
        gpt4 = [_share(theirs.tables[agents].average(group) if known else None) for agents in SIZES]
        ours = [[_score(sizes[agents], group) for agents in SIZES] for sizes in scores.values()]
        rows.append((name, *map(", ".join, (gpt4, *ours))))
    printed = ", ".join(str(theirs.printed[agents]["table"]) for agents in SIZES)
    heads = ("level", f"GPT-4, published (tables {printed})", *map(code, scores))
    missing = [team for team in BASELINES if team not in measured]
    note = f"\n\nNot measured yet: {', '.join(map(code, missing))}." if missing else ""
    zero = f"\n\n{', '.join(map(code, idle))}: 0 everywhere." if idle else ""
    return table(heads, rows, right=range(1, len(heads))) + zero + note


def _groups(name: str, levels: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Return the rows of a class of levels: each level, then their mean."""
    return [*((code(level), [level]) for level in levels), (f"*{name}, mean*", levels)]


def _measured() -> dict[str, Any]:
    return (read_json(RESULT_FILE) or {"teams": {}})["teams"]


def _scores(tallies: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, tuple[float | None, float | None]]:
    """Return CoS by level, with every expired order and with every failing step as a failure."""
    scores = {}
    for level, paces in tallies.items():
        by_order = [[OrderCell(done, done + expired)] for done, expired, _, _ in paces.values()]
        by_step = [[OrderCell(done, done + steps)] for done, _, steps, _ in paces.values()]
        values = [None if score is None else score.value for score in (cos(by_order), cos(by_step))]
        scores[level] = (values[0], values[1])
    return scores


def _score(scores: Mapping[str, Any], group: Sequence[str]) -> str:
    by_order, by_step = (_share(mean_known(scores[level][i] for level in group if level in scores)) for i in (0, 1))
    return by_order if by_order == by_step else f"{by_order} ({by_step})"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def measure() -> None:
    """Play baselines on all levels, and keep what became of the orders: agents -> level -> alpha -> counts."""
    teams: dict[str, dict[str, dict[str, dict[str, list[int]]]]] = {}
    for team in BASELINES:
        for row in measured("cuisineworld", team, agents=SIZES, levels=LEVELS):
            paces = teams.setdefault(team, {}).setdefault(str(row["agents"]), {}).setdefault(row["level"], {})
            paces[f"{row['alpha']:g}"] = [row[name] for name in COLUMNS]
        print("CuisineWorld", team, flush=True)
    write_json(RESULT_FILE, {"columns": COLUMNS, "teams": teams})


FACTS: tuple[Callable[[], str], ...] = (cuisineworld_results,)
