"""The suite of Overcooked: layouts, seats and scores over 400 steps, beside published ones.

A score is what the team's deliveries paid in an episode. Where the seats of a team differ, every episode is played
twice, the second time with the policies in reverse order, as seats are unequal on most layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from collab_overcooked import registry
from collab_overcooked.core.options import option
from collab_overcooked.errors import near_matches, whole_number
from collab_overcooked.evaluation.benchmark import Arena, Contest, Reference, Standing
from collab_overcooked.evaluation.env_variants import unusual_options
from collab_overcooked.evaluation.suites import (
    Listing,
    Record,
    Suite,
    check_env_options,
    check_names,
)
from collab_overcooked.games.overcooked.spec import layouts, load_kitchen
from collab_overcooked.metrics import Estimate, mean_ci, mean_of_groups
from collab_overcooked.reporting.grids import MISSING, PUBLISHED, Grid, Row, Sheet
from collab_overcooked.reporting.parts import Definitions
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import Episode, Evaluation
from collab_overcooked.runner.teams import parse_seats

NAME = "overcooked"
OVERCOOKED = "Overcooked-v0"
HORIZON = 400
SWAPPED = ", seats swapped"
USUAL = {  # options that published numbers were measured with; others are a variant of the game
    "dynamics": "auto",
    "players": None,
    "random_start": False,
    "gate_limit": None,
    "gate_pause": True,
    "gate_opener": "empty_handed",
    "gate_reset": True,
    "action_level": "primitive",
    "text_rules": "strict",
}
_SET_ELSEWHERE = {"layout": "--layouts", "obs": "the policies", "reward": "the score, which is never shaped"}


# ------------------------------------------------------------------------------------------- playing


@dataclass(frozen=True, kw_only=True)
class KitchenPlan(Evaluation):
    """Layouts, with both orders of seats where these differ.

    Attributes:
        layouts: Shipped names or paths.
        specs: Policy texts in seat order, by layout.
        episodes: Episodes of each layout and order of seats.
        horizon: Steps of an episode.
    """

    suite = NAME
    layouts: tuple[str, ...]
    specs: Mapping[str, tuple[str, ...]]
    episodes: int
    horizon: int

    def make_jobs(self) -> list[Episode]:
        """Return all episodes in the order of the record file."""
        jobs = []
        for layout in self.layouts:
            name, specs = load_kitchen(layout).name, self.specs[layout]
            orders = [(name, specs)]
            if len(set(specs)) > 1:
                orders.append((name + SWAPPED, specs[::-1]))
            jobs += [
                Episode(
                    env_id=OVERCOOKED,
                    env_kwargs={**self.options, "layout": layout, "max_cycles": self.horizon},
                    team=team,
                    task=task,
                    episode=episode,
                    seed=episode_seed(self.seed, name, episode),
                    limits=self.limits,
                )
                for task, team in orders
                for episode in range(self.episodes)
            ]
        return jobs


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What users can choose beyond team, seed and options of the environment."""

    layouts: str | None = option(None, "Layouts or files with commas between them; all shipped ones if not given.")
    episodes: int = option(1, "Episodes of each layout and order of seats.")
    horizon: int = option(HORIZON, "Steps of an episode.")


def parse_layouts(text: str | None) -> tuple[str, ...]:
    """Read layouts such as ``"all"``, ``"cramped_room,locked"`` or ``"my.layout"``.

    Raises:
        ValueError: If a layout is unknown.
    """
    chosen: dict[str, None] = {}
    for word in (text or "all").split(","):
        names = ordered_layouts() if word.strip() == "all" else [word.strip()]
        for name in names:
            if name not in layouts() and not name.endswith((".yaml", ".yml", ".layout")):
                raise ValueError(f"layouts: {near_matches('layout', name, [*layouts(), 'all'])}")
            chosen[name] = None
    return tuple(chosen)


def ordered_layouts() -> list[str]:
    """Return the shipped layouts: the papers' first and in their order, with their variants behind them."""
    known = list(dict.fromkeys(name for numbers in published().self_play.values() for name in numbers))
    return sorted(layouts(), key=lambda name: (_first_of_kin(name, known), len(name), name))


def _first_of_kin(name: str, known: Sequence[str]) -> int:
    """Return the place of the first known layout whose name a name begins with, the number of all if there is none."""
    return next((i for i, other in enumerate(known) if name.startswith(other)), len(known))


# ------------------------------------------------------------------------------------------- published numbers


@dataclass(frozen=True)
class Published:
    """What papers print, for comparison; measured by their authors, not by this package.

    Attributes:
        source: Where it is printed.
        steps: Of an episode.
        self_play: Agent -> layout -> mean, and what is printed behind ± (the standard error), None for one game.
        with_human_proxy: Agent -> its seat -> layout -> likewise, beside a model of human play.
    """

    source: str
    steps: int
    self_play: Mapping[str, Mapping[str, tuple[float, float | None]]]
    with_human_proxy: Mapping[str, Mapping[int, Mapping[str, tuple[float, float | None]]]]


@cache
def published() -> Published:
    """Read the published numbers."""
    file = resources.files("collab_overcooked.games.overcooked") / "published.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    return Published(values["source"], values["steps"], values["self_play"], values["with_human_proxy"])


# ------------------------------------------------------------------------------------------- scoring


@dataclass(frozen=True)
class KitchenRow:
    """Scores on one layout with one order of seats.

    Attributes:
        task: Layout, and whether seats are swapped.
        layout: Its name.
        team: Policy texts in seat order.
        scores: Of the episodes.
        soups: Delivered in the episodes.
        comparable: Whether published numbers were measured in the same way.
    """

    task: str
    layout: str
    team: tuple[str, ...]
    scores: tuple[float, ...]
    soups: tuple[int, ...]
    comparable: bool

    @property
    def score(self) -> Estimate:
        """Mean score with its 95 % interval."""
        return mean_ci(self.scores) or Estimate(0.0)


@dataclass(frozen=True)
class KitchenResult:
    """Scores of one team on one variant of the game.

    Attributes:
        title: Game and variant.
        team: Policies by seat.
        rows: By layout and order of seats.
    """

    title: str
    team: str
    rows: tuple[KitchenRow, ...]


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``score`` (what deliveries paid), ``soups`` and ``shaped`` (each seat's shaped reward).

    Raises:
        ValueError: If the record does not say what events paid.
    """
    score, soups, shaped = 0.0, 0, [0.0] * len(record["team"])
    try:
        for step in record["steps"]:
            for seat, event in enumerate(step["events"]):
                if event is not None:
                    score += event["sparse"]
                    soups += event["event"] == "soup_delivery"
                    shaped[seat] += event["shaped"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"record of {record['task']}: cannot read its events ({error})") from None
    return {"score": score, "soups": soups, "shaped": shaped}


def score_records(records: Iterable[Mapping[str, Any]]) -> list[KitchenResult]:
    """Score records of this game, one result for every team and variant among them.

    Raises:
        ValueError: If a record does not say what events paid.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        team = list(record["team"].values())
        written = team[::-1] if record["task"].endswith(SWAPPED) else team
        groups.setdefault(repr((_variant(record), written)), []).append(record)
    return [_result(group) for group in groups.values()]


def _variant(record: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options that are not as usual, and the number of steps if it is not 400."""
    steps = [("steps", record["max_cycles"])] if record["max_cycles"] != HORIZON else []
    return unusual_options(record["env_kwargs"], USUAL) + steps


def _result(records: Sequence[Mapping[str, Any]]) -> KitchenResult:
    tasks: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        tasks.setdefault(record["task"], []).append(record)
    variant = _variant(records[0])
    rows = tuple(_row(task, played, not variant) for task, played in tasks.items())
    parts = [OVERCOOKED, *(f"{name} {value}" for name, value in variant)]
    first = min(rows, key=lambda row: row.task.endswith(SWAPPED))
    return KitchenResult(", ".join(parts), " ".join(f"agent_{i}={spec}" for i, spec in enumerate(first.team)), rows)


def _row(task: str, played: Sequence[Mapping[str, Any]], usual: bool) -> KitchenRow:
    layout, team = task.removesuffix(SWAPPED), tuple(played[0]["team"].values())
    numbers = [score_record(record) for record in played]
    scores, soups = tuple(own["score"] for own in numbers), tuple(own["soups"] for own in numbers)
    shipped = played[0]["env_kwargs"]["layout"] == layout  # not a file of somebody's that is called alike
    self_play = len(team) == 2 and len(set(team)) == 1
    return KitchenRow(task, layout, team, scores, soups, usual and shipped and self_play)


# ------------------------------------------------------------------------------------------- tables


def sheet(result: KitchenResult) -> Sheet:
    """Return the table of a result, published self-play scores beside ours, and what has to be known of them."""
    theirs = published().self_play
    shown = any(row.comparable and any(row.layout in numbers for numbers in theirs.values()) for row in result.rows)
    heads = ["score", "95 %", "soups", "episodes", *([PUBLISHED + name for name in theirs] if shown else [])]
    rows = [Row(row.task, tuple(_cells(row, theirs if shown else {}))) for row in result.rows]
    columns = frozenset(range(4, len(heads)))
    grid = Grid("Score by layout", "Layout", tuple(heads), tuple(rows), columns)
    lines = tuple({"title": result.title, **line} for line in _lines(result))
    values = {
        "title": result.title,
        "team": result.team,
        "layouts": list(_lines(result)),
        "published": {"source": published().source},
    }
    return Sheet(result.team, result.title, (grid,), tuple(_notes(result, shown)), lines, values)


def _cells(row: KitchenRow, theirs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    score = row.score
    interval = MISSING if score.low is None or score.high is None else f"{score.low:.1f}–{score.high:.1f}"
    cells = [f"{score.value:.1f}", interval, f"{sum(row.soups) / len(row.soups):.1f}", str(len(row.scores))]
    for numbers in theirs.values():
        mean, error = numbers.get(row.layout, (None, None)) if row.comparable else (None, None)
        cells.append(MISSING if mean is None else f"{mean:g}" if error is None else f"{mean:g} ± {error:g}")
    return cells


def _notes(result: KitchenResult, shown: bool) -> list[str]:
    lines = ["Score: what the team's deliveries paid in an episode; shaped reward is not counted."]
    if any(row.task.endswith(SWAPPED) for row in result.rows):
        lines.append("Seats swapped: the same policies in reverse order.")
    if shown:
        lines.append(
            f"Published numbers ({published().source}) were not measured here: self-play of each agent; behind ± "
            "stands the standard error over 5 seeds, not a standard deviation; LLM-Co (GPT-4) is one game."
        )
        names = {row.layout for row in result.rows}
        if names & {"asymmetric_advantages", "asymmetric_advantages_llmco"}:
            lines.append(
                "The paper compares learned agents on the 9x5 asymmetric_advantages with LLM-Co on an 11x5 map; they "
                "stand in the rows of their own maps here."
            )
        if "locked" in names:
            lines.append("LLM-Co with helper directive on Locked is 220 in the paper's table 4 and 240 in its table 3.")
    return lines


def _lines(result: KitchenResult) -> Iterable[dict[str, Any]]:
    for row in result.rows:
        score, line = row.score, {"layout": row.layout, "swapped": row.task.endswith(SWAPPED)}
        line |= {f"agent_{i}": spec for i, spec in enumerate(row.team)}
        line |= {"episodes": len(row.scores), "score": score.value, "low": score.low, "high": score.high}
        line["soups"] = sum(row.soups) / len(row.soups)
        for name, numbers in published().self_play.items():
            line[f"published_{name}"] = numbers[row.layout][0] if row.comparable and row.layout in numbers else None
        yield line


# ------------------------------------------------------------------------------------------- the suite


class OvercookedSuite(Suite):
    """Soups for 400 steps; scores, and the papers' beside them."""

    suite_options = LayoutOptions

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> KitchenPlan:
        """Plan layouts, both ways to seat a team."""
        chosen = parse_layouts(suite_options.layouts)
        own = check_env_options(OVERCOOKED, options, _SET_ELSEWHERE)
        check_names("layouts", chosen, lambda layout: load_kitchen(layout).name)
        specs = {}
        for layout in chosen:
            game = registry.load_game(OVERCOOKED, layout=layout, **own)  # refuses bad option values
            try:
                specs[layout] = parse_seats(team, game.n_agents)
            except ValueError as error:
                raise ValueError(f"{error} (layout {layout} has {game.n_agents} seats)") from None
        return KitchenPlan(
            layouts=chosen,
            specs=specs,
            episodes=whole_number("episodes", suite_options.episodes, 1),
            horizon=whole_number("horizon", suite_options.horizon, 1),
            seed=whole_number("seed", seed, 0),
            options=own,
            limits=limits,
        )

    def metrics(self, record: Record) -> dict[str, Any]:
        """Return score, deliveries and shaped rewards."""
        return score_record(record)

    def score(self, records: Sequence[Record], definitions: Definitions) -> list[Sheet]:
        """Return the table of every team and variant."""
        return [sheet(result) for result in score_records(records)]

    def contest(self, budget: str) -> Contest:
        """Return the five classic layouts, or all those with published numbers."""
        theirs = published().self_play
        names = (
            [*theirs["PPO_SP"]][:5]
            if budget == "small"
            else list(dict.fromkeys(n for own in theirs.values() for n in own))
        )
        episodes = 2 if budget == "small" else 20
        arenas = (Arena(name, {"layouts": name, "episodes": episodes}, {"layout": name}) for name in names)
        pairs = Arena(names[0], {"layouts": names[0], "episodes": episodes // 2}, {"layout": names[0]})
        return Contest("Overcooked", "score of 400 steps", tuple(arenas), pairs, both_orders=True)

    def standing(self, records: Sequence[Record]) -> Standing:
        """Return score and deliveries, means over layouts."""
        (result,) = score_records(records)
        score = mean_of_groups([row.scores for row in result.rows])
        process = {
            Column("return", "estimate", 1): score,
            Column("deliveries", "estimate", 2): mean_of_groups([row.soups for row in result.rows]),
            Column("layouts", "estimate", 0): Estimate(len(result.rows)),
        }
        return Standing(score, process)

    def references(self, contest: Contest) -> list[Reference]:
        """Return the published scores of self-play."""
        kinds = {"LLM-Co": "language"}
        names = [arena.name for arena in contest.arenas]
        return [
            Reference(
                who,
                kinds.get(who, "RL"),
                {name: _published_estimate(*own[name]) for name in names if name in own},
            )
            for who, own in published().self_play.items()
        ]

    def remarks(self, contest: Contest) -> list[str]:
        """Say whose numbers stand there."""
        return [
            f"Published: {published().source}; intervals from their standard errors over 5 seeds, LLM-Co is one game.",
            "Return and deliveries: means over the layouts played; they compare where these are the same.",
        ]

    def outcome(self, record: Record) -> str:
        """Say how many soups were delivered."""
        numbers = score_record(record)
        return f"{numbers['soups']} soups, score {numbers['score']:g}"

    def listings(self) -> Mapping[str, Listing]:
        """Return the layouts, with what they are."""
        return {"layouts": lambda _: [(name, load_kitchen(name).description) for name in ordered_layouts()]}

    def described(self, kitchen: str) -> list[str]:
        """Return the layouts."""
        return list(layouts())

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        """Describe a layout."""
        return describe_layout(name) if name in layouts() or name.endswith(".layout") else None


def _published_estimate(mean: float, error: float | None) -> Estimate:
    """Return a published mean with the interval that its standard error over seeds gives."""
    if error is None:
        return Estimate(float(mean))
    return Estimate(float(mean), mean - 1.96 * error, mean + 1.96 * error)


def describe_layout(name: str) -> str:
    """Return a layout's picture and numbered objects, and what is told to language agents."""
    from collab_overcooked.games.overcooked.manual import manual

    env = registry.make(OVERCOOKED, layout=name, render_mode="ansi", action_level="medium")
    env.reset(seed=0)
    layout = env.game.layouts[0]
    seats = ", ".join(f"agent_{i} {words}" for i, words in enumerate(env.game.display_names))
    parts = [f"{layout.name}: {layout.description}", f"Seats: {seats}", env.render(), manual(env.game.compiled, 0)]
    return "\n\n".join(parts)


__all__ = [
    "HORIZON",
    "NAME",
    "KitchenPlan",
    "KitchenResult",
    "KitchenRow",
    "LayoutOptions",
    "OvercookedSuite",
    "Published",
    "ordered_layouts",
    "parse_layouts",
    "published",
    "score_record",
    "score_records",
    "sheet",
]
