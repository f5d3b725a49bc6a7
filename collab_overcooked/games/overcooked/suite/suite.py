"""The suite of Overcooked: layouts, seats and scores over 400 steps, beside published ones.

A score is what the team's deliveries paid in an episode. Where the seats of a team differ, every episode is played
twice, the second time with the policies in reverse order, as seats are unequal on most layouts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary, only
from collab_overcooked.evaluation.suites import Listing, Record, Suite, check_env_options, check_names
from collab_overcooked.games.overcooked.engine.spec import layouts, load_kitchen
from collab_overcooked.games.overcooked.suite import tables
from collab_overcooked.games.overcooked.suite.scoring import (
    AXES,
    HORIZON,
    OVERCOOKED,
    RECORD_FIELDS,
    default_level,
    published,
    score_record,
    score_records,
)
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import NAMES, option
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation
from collab_overcooked.runner.teams import SWAPPED, both_orders, parse_seats

NAME = "overcooked"
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

    suite: str = NAME
    layouts: tuple[str, ...]
    specs: Mapping[str, tuple[str, ...]]
    episodes: int
    horizon: int

    def make_jobs(self) -> list[EpisodeJob]:
        """Return all episodes in the order of the record file."""
        return [
            EpisodeJob(
                env_id=OVERCOOKED,
                env_kwargs={**self._level(team), **self.options, "layout": layout, "max_cycles": self.horizon},
                team=team,
                task=task,
                episode=episode,
                seed=episode_seed(self.seed, name, episode),
                limits=self.limits,
            )
            for layout in self.layouts
            for name in [load_kitchen(layout).name]
            for task, team in both_orders(name, self.specs[layout])
            for episode in range(self.episodes)
        ]

    @staticmethod
    def _level(team: tuple[str, ...]) -> dict[str, Any]:
        level = default_level(team)
        return {} if level == PRIMITIVE else {"action_level": level}


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What users can choose beyond team, seed and options of the environment."""

    layouts: str | None = option(None, "Layouts or files; all shipped ones if not given.", metavar=NAMES)
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


# ------------------------------------------------------------------------------------------- the suite


class OvercookedSuite(Suite):
    """Soups for 400 steps; scores, and the papers' beside them."""

    suite_options = LayoutOptions
    score_metric = "score"
    record_fields = RECORD_FIELDS
    axes = AXES

    def derived(self, record: Record) -> Mapping[str, Any]:
        """Return the name of the layout, with the mark of teams that changed seats."""
        task = record["task"]
        layout, swapped = task.removesuffix(SWAPPED), SWAPPED if task.endswith(SWAPPED) else ""
        if "layout" not in record["env_kwargs"] or layout not in layouts():
            return {}
        return {"task": load_kitchen(record["env_kwargs"]["layout"]).name + swapped}

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
            episodes=parse_integer("episodes", suite_options.episodes, 1),
            horizon=parse_integer("horizon", suite_options.horizon, 1),
            seed=parse_integer("seed", seed, 0),
            options=own,
            limits=limits,
        )

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return the table of every team and variant."""
        return [tables.scorecard(NAME, result) for result in score_records(records)]

    def benchmark(self, budget: str) -> Benchmark:
        """Return the five classic layouts, or all those with published numbers."""
        theirs = published().self_play
        names = (
            [*theirs["PPO_SP"]][:5]
            if budget == "small"
            else list(dict.fromkeys(n for own in theirs.values() for n in own))
        )
        episodes = 2 if budget == "small" else 20
        settings = (Setting(name, {"layouts": name, "episodes": episodes}, {"layout": name}) for name in names)
        pairs = Setting(names[0], {"layouts": names[0], "episodes": episodes // 2}, {"layout": names[0]})
        return Benchmark("Overcooked", "score of 400 steps", tuple(settings), pairs, both_orders=True)

    def summary(self, records: Sequence[Record]) -> Summary:
        """Return score and deliveries, means over layouts."""
        result = only(score_records(records))
        score = mean_of_groups([row.scores for row in result.rows])
        process = {
            Column("return", "estimate", 1): score,
            Column("deliveries", "estimate", 2): mean_of_groups([row.soups for row in result.rows]),
            Column("layouts", "estimate", 0): Estimate(len(result.rows)),
        }
        return Summary(score, process)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        """Return the published scores of self-play."""
        kinds = {"LLM-Co": "language"}
        names = [setting.name for setting in benchmark.settings]
        return [
            Reference(
                who, kinds.get(who, "RL"), {name: _published_estimate(*own[name]) for name in names if name in own}
            )
            for who, own in published().self_play.items()
        ]

    def remarks(self, benchmark: Benchmark) -> list[str]:
        """Explain the metrics."""
        return ["Return and deliveries: means over the layouts played; they compare where these are the same."]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        """Say whose numbers stand there."""
        return [
            f"Published: {published().source}; intervals from their standard errors over 5 seeds, LLM-Co is one game."
        ]

    def usual_options(self, team: tuple[str, ...]) -> dict[str, Any]:
        """Return the level of actions: language models give directives."""
        return {"action_level": default_level(team)}

    def outcome(self, record: Record) -> str:
        """Say how many soups were delivered."""
        numbers = score_record(record)
        return f"{numbers['soups']} soups, score {numbers['score']:g}"

    def training_references(self) -> dict[str, dict[str, Any]]:
        """Return what agents trained by reinforcement learning reached, by layout."""
        numbers: dict[str, dict[str, Any]] = {}
        for reference in self.references(self.benchmark("full")):
            for layout, figure in reference.scores.items():
                if reference.kind == "RL" and figure is not None:
                    numbers.setdefault(layout, {"measure": "return"})[reference.name] = figure.value
        return numbers

    def listings(self) -> Mapping[str, Listing]:
        """Return the layouts, with what they are."""
        return {"layouts": lambda _: [(name, load_kitchen(name).description) for name in ordered_layouts()]}

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
    env = registry.make(OVERCOOKED, layout=name, render_mode="ansi", action_level="medium")
    env.reset(seed=0)
    layout = env.game.layouts[0]
    seats = ", ".join(f"agent_{i} {words}" for i, words in enumerate(env.game.display_names))
    parts = [f"{layout.name}: {layout.description}", f"Seats: {seats}", env.render(), env.game.manual(env.arrays[0])]
    return "\n\n".join(parts)
