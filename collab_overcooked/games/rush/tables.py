"""The tables of Rush: group and individual metrics over the scenario, by episode, and how episodes ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from collab_overcooked.games.rush.suite import RushResult, Setting
from collab_overcooked.metrics import Estimate, RoundScore, ScenarioScore, score_rounds, termination
from collab_overcooked.reporting.grids import MISSING, Grid, Row, Sheet, ends, interval, number
from collab_overcooked.runner.teaching import NONE
from collab_overcooked.runner.teams import size_words

# ------------------------------------------------------------------------------------------- grids


def grids(result: RushResult) -> Iterator[Grid]:
    """Yield the tables of a result."""
    yield group_grid(result)
    yield individual_grid(result)
    yield episode_grid(result)
    yield termination_grid(result)


def names(result: RushResult) -> dict[Setting, str]:
    """Return short names of the settings: scenario and domain, and whatever else they differ in."""
    settings = list(result.runs)
    varied = [name for name in ("agents", "teacher") if len({getattr(one, name) for one in settings}) > 1]
    return {one: ", ".join([one.scenario, one.domain, *(_words(one, name) for name in varied)]) for one in settings}


def title(result: RushResult) -> str:
    """Return what a result is headed with: the variant, and what all its settings have in common."""
    settings = list(result.runs)
    shared = [name for name in ("agents", "teacher") if len({getattr(one, name) for one in settings}) == 1]
    return ", ".join([result.title, *(_words(settings[0], name) for name in shared)])


def _words(setting: Setting, name: str) -> str:
    if name == "agents":
        return size_words(setting.agents)
    return "no teacher" if setting.teacher == NONE else setting.teacher


@cache
def _scored(runs: tuple[tuple[RoundScore, ...], ...]) -> ScenarioScore:
    return score_rounds(runs)


def group_grid(result: RushResult) -> Grid:
    """Return CR, RR and turns of every setting, means over runs with intervals."""
    rows: list[Row] = []
    for setting, runs in result.runs.items():
        score = _scored(runs)
        cells = (
            str(score.runs),
            str(score.episodes),
            _mean(score.completed),
            _mean(score.ruined),
            _mean(score.turns),
            f"{100 * score.early.value:.0f}",
            MISSING if score.balance is None else _mean(score.balance, 3),
        )
        rows.append(Row(names(result)[setting], cells))
    heads = ("runs", "episodes", "CR", "RR", "turns", "ended early %", "balance")
    return Grid("Group: mean of a scenario's episodes", "Setting", heads, tuple(rows))


def individual_grid(result: RushResult) -> Grid:
    """Return the three kinds of actions of every agent, means over runs with intervals."""
    rows: list[Row] = []
    for setting, runs in result.runs.items():
        score = _scored(runs)
        for seat in range(setting.agents):
            kinds = (score.positive[seat], score.negative[seat], score.neutral[seat])
            cells = (
                *map(_mean, kinds),
                number(sum(kind.value for kind in kinds), 2),
                f"{100 * score.shares[seat].value:.0f}",
            )
            rows.append(Row(f"{names(result)[setting]}: agent_{seat}", cells, "mean" if rows and not seat else ""))
    heads = ("A+", "A-", "A=", "all", "share %")
    return Grid("Individual: actions of an episode", "Setting and agent", heads, tuple(rows))


def episode_grid(result: RushResult) -> Grid:
    """Return the group metrics of each episode of every setting."""
    rows: list[Row] = []
    for setting, runs in result.runs.items():
        for episode, score in enumerate(by_episode(runs)):
            useful = " + ".join(number(own.value, 1) for own in score.positive)
            cells = (str(score.runs), _mean(score.completed), _mean(score.ruined), _mean(score.turns), useful)
            balance = MISSING if score.balance is None else _mean(score.balance, 3)
            head = "mean" if rows and not episode else ""
            rows.append(Row(f"{names(result)[setting]}: episode {episode + 1}", (*cells, balance), head))
    heads = ("runs", "CR", "RR", "turns", "A+ of each", "balance")
    return Grid("Episodes", "Setting and episode", heads, tuple(rows))


def by_episode(runs: Sequence[Sequence[RoundScore]]) -> list[ScenarioScore]:
    """Return the scores of the first, second, ... episode of all runs that have one."""
    longest = max(map(len, runs))
    return [_scored(tuple((run[k],) for run in runs if k < len(run))) for k in range(longest)]


def termination_grid(result: RushResult) -> Grid:
    """Return the paper's table 3: of the episodes with a CR, which share ended early and which at the limit."""
    counted = {setting: termination(score for run in runs for score in run) for setting, runs in result.runs.items()}
    most = max(max(result.orders.values()), *(max(counts) for counts in counted.values()))
    rows: list[Row] = []
    for setting, counts in counted.items():
        for early, name in ((0, "ended early"), (1, "at the limit")):
            cells = (f"{counts[cr][early]}/{sum(counts[cr])}" if cr in counts else MISSING for cr in range(most + 1))
            head = "mean" if rows and not early else ""
            rows.append(Row(f"{names(result)[setting]}: {name}", tuple(cells), head))
    heads = tuple(f"CR {cr}" for cr in range(most + 1))
    return Grid("How episodes ended, by completed recipes (table 3 of the paper)", "Setting", heads, tuple(rows))


def _mean(estimate: Estimate, digits: int = 2) -> str:
    """Write a mean, with its interval unless all runs are alike."""
    return number(estimate.value, digits) if estimate.low == estimate.high else interval(estimate, digits)


def notes(result: RushResult) -> list[str]:
    """Return sentences that belong under the tables."""
    lines = ["CR: recipes completed; RR: ruined; ended early: all orders finished or ruined before the last turn."]
    lines.append(
        "A+: actions that advanced an order finished in the end; A-: that ruined one; A=: all others."
        if result.attribution == "final"
        else "A+: actions that advanced an order at that moment; A-: that ruined one; A=: all others."
    )
    lines.append("Balance: 1 - |a - b| / (a + b) over the A+ of two agents; over all pairs, if there are more.")
    if any(len(runs) > 1 for runs in result.runs.values()):
        lines.append("In brackets: 95 % intervals over runs, where these differ.")
    return lines


# ------------------------------------------------------------------------------------------- forms


def sheet(result: RushResult) -> Sheet:
    """Return everything that is shown of a result."""
    shown = tuple(grids(result)), tuple(notes(result))
    return Sheet(result.team, title(result), *shown, tuple(_lines(result)), _everything(result))


def _everything(result: RushResult) -> dict[str, Any]:
    """Return every setting with its means, intervals, episodes and ends."""
    return {
        "title": result.title,
        "team": result.team,
        "attribution": result.attribution,
        "settings": [
            _setting(setting)
            | _values(_scored(runs))
            | {
                "by_episode": [_values(score) for score in by_episode(runs)],
                "termination": [
                    {"completed": completed, "early": early, "at_limit": late}
                    for completed, (early, late) in termination(score for run in runs for score in run).items()
                ],
            }
            for setting, runs in result.runs.items()
        ],
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "scenario": setting.scenario,
        "domain": setting.domain,
        "agents": setting.agents,
        "teacher": setting.teacher,
    }


def _values(score: ScenarioScore) -> dict[str, Any]:
    names = ("completed", "ruined", "turns", "early", "balance")
    by_agent = ("positive", "negative", "neutral", "shares")
    return {
        "runs": score.runs,
        "episodes": score.episodes,
        **{name: ends(getattr(score, name)) for name in names},
        **{name: [ends(own) for own in getattr(score, name)] for name in by_agent},
    }


def _lines(result: RushResult) -> Iterator[dict[str, Any]]:
    for setting, runs in result.runs.items():
        for number_of_run, run in enumerate(runs):
            for episode, score in enumerate(run):
                for seat, own in enumerate(score.actions):
                    yield {
                        "title": result.title,
                        "team": result.team,
                        "attribution": result.attribution,
                        **_setting(setting),
                        "run": number_of_run,
                        "episode": episode,
                        "completed": score.completed,
                        "ruined": score.ruined,
                        "turns": score.turns,
                        "ended_early": int(score.early),
                        "balance": score.balance,
                        "agent": seat,
                        "positive": own.positive,
                        "negative": own.negative,
                        "neutral": own.neutral,
                    }


__all__ = ["by_episode", "episode_grid", "grids", "group_grid", "individual_grid", "notes", "sheet", "termination_grid"]
