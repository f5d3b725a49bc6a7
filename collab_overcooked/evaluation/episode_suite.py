"""A suite that plays episodes of one game and shows the means of metrics, for games that need no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import Benchmark, Setting, Summary
from collab_overcooked.evaluation.suites import Record, Suite, check_env_options
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.options import option
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.results import metric_card
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation
from collab_overcooked.runner.teams import parse_seats


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """What users can choose beyond team, seed and options of the environment."""

    episodes: int = option(10, "Episodes.")


@dataclass(frozen=True, kw_only=True)
class EpisodePlan(Evaluation):
    """Episodes of one game.

    Attributes:
        env_id: Registered id.
        team: Policy texts in seat order.
        episodes: How many.
    """

    env_id: str
    team: tuple[str, ...]
    episodes: int

    def make_jobs(self) -> list[EpisodeJob]:
        """Return all episodes."""
        return [
            EpisodeJob(
                env_id=self.env_id,
                env_kwargs=self.options,
                team=self.team,
                task=self.suite,
                episode=episode,
                seed=episode_seed(self.seed, self.suite, episode),
                limits=self.limits,
            )
            for episode in range(self.episodes)
        ]


class EpisodeSuite(Suite):
    """Episodes of one game.

    Attributes:
        metrics: What is shown, one number an episode each; the first one is the score in comparisons.
    """

    suite_options = EpisodeOptions
    metrics: ClassVar[tuple[str, ...]] = ("return", "steps")

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> EpisodePlan:
        """Plan episodes."""
        own = check_env_options(self.env_id, options, {})
        game = registry.load_game(self.env_id, **own)  # refuses bad option values
        return EpisodePlan(
            suite=self.name,
            env_id=self.env_id,
            team=parse_seats(team, game.n_agents),
            episodes=parse_integer("episodes", suite_options.episodes, 1),
            seed=parse_integer("seed", seed, 0),
            options=own,
            limits=limits,
        )

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return the means of each team's metrics."""
        return [metric_card(records, self.metrics)]

    def outcome(self, record: Record) -> str:
        """Say what the first metric came to."""
        return f"{self.metrics[0]} {measure(record, self.metrics)[self.metrics[0]]:g}"

    def benchmark(self, budget: str) -> Benchmark:
        """Return 5 or 50 episodes."""
        setting = Setting("episodes", {"episodes": 5 if budget == "small" else 50})
        return Benchmark(self.env_id, self.metrics[0], (setting,), setting, digits=2)

    def summary(self, records: Sequence[Record]) -> Summary:
        """Return the means of all metrics."""
        values = [measure(record, self.metrics) for record in records]
        means = {name: mean_ci([own[name] for own in values]) for name in self.metrics}
        return Summary(means[self.metrics[0]], {Column(name, "estimate", 2): own for name, own in means.items()})
