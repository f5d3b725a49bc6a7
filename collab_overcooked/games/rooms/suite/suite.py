"""The suites of the room games: presets, maps and adversaries, both ways to seat a team, success and turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import Benchmark, Setting, Summary, only
from collab_overcooked.evaluation.suites import Listing, Record, Suite, check_env_options
from collab_overcooked.games.rooms.engine.config import PRESETS
from collab_overcooked.games.rooms.engine.spec import load_rooms, maps
from collab_overcooked.games.rooms.suite.scoring import (
    AXES,
    FAILURE_PRINTED,
    RECORD_FIELDS,
    RoomResult,
    SettingRow,
    score_record,
    score_records,
)
from collab_overcooked.games.rooms.text.text import explain
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import NAMES, option, read_names
from collab_overcooked.metrics.intervals import mean_of_groups, mean_of_shares
from collab_overcooked.reporting.result_table import Column, ResultTable, table_of_mappings
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation
from collab_overcooked.runner.teams import both_orders, parse_seats

_SET_ELSEWHERE = {"preset": "--presets", "map": "--maps", "adversary": "--adversaries"}
OWN = "own"  # map or adversary of the preset


@dataclass(frozen=True, kw_only=True)
class RoomPlan(Evaluation):
    """Settings, with both orders of seats where these differ.

    Attributes:
        env_id: Registered id.
        settings: Options of the environment by task.
        specs: Policy texts in seat order, by task.
        episodes: Episodes of each setting and order of seats.
    """

    env_id: str
    settings: Mapping[str, Mapping[str, Any]]
    specs: Mapping[str, tuple[str, ...]]
    episodes: int

    def make_jobs(self) -> list[EpisodeJob]:
        """Return all episodes in the order of the record file."""
        return [
            EpisodeJob(
                env_id=self.env_id,
                env_kwargs={**self.options, **options},
                team=team,
                task=task,
                episode=episode,
                seed=episode_seed(self.seed, setting, episode),
                limits=self.limits,
            )
            for setting, options in self.settings.items()
            for task, team in both_orders(setting, self.specs[setting])
            for episode in range(self.episodes)
        ]


@dataclass(frozen=True, kw_only=True)
class RoomOptions:
    """What users can choose beyond team, seed and options of the environment."""

    presets: str = option("code2024", f"Presets: {', '.join(PRESETS)}.", metavar=NAMES)
    maps: str = option(OWN, f"Maps or files; {OWN!r} is the preset's.", metavar=NAMES)
    adversaries: str = option(OWN, f"Kinds of the adversary; {OWN!r} is the preset's.", metavar=NAMES)
    episodes: int = option(3, "Episodes of each setting and order of seats; the original plays 3.")


class RoomSuite(Suite):
    """Success and turns, means and standard errors as the original counts them, and 95 % intervals.

    Attributes:
        won: What success is called.
        failure_turns: What the original prints for an episode that was cut off; None if nothing special.
    """

    suite_options = RoomOptions
    record_fields = RECORD_FIELDS
    axes = AXES
    won: ClassVar[str]
    failure_turns: ClassVar[int | None] = None
    has_success = True

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> RoomPlan:
        """Plan settings, both ways to seat a team."""
        own = check_env_options(self.env_id, options, _SET_ELSEWHERE)
        words = {name: read_names(name, getattr(suite_options, name)) for name in ("presets", "maps", "adversaries")}
        settings = {}
        for preset, level, adversary in product(*words.values()):
            if preset not in PRESETS:
                raise ValueError(f"presets: {near_matches('preset', preset, PRESETS)}")
            chosen = {"map": level, "adversary": adversary}
            chosen = {name: value for name, value in chosen.items() if value != OWN}
            name = ", ".join([preset, *(_short(value) for value in chosen.values())])
            settings[name] = {"preset": preset, **chosen}
        specs = {}
        for name, chosen in settings.items():
            game = registry.load_game(self.env_id, **own, **chosen)  # refuses bad option values
            specs[name] = parse_seats(team, game.n_agents)
        return RoomPlan(
            suite=self.name,
            env_id=self.env_id,
            settings=settings,
            specs=specs,
            episodes=parse_integer("episodes", suite_options.episodes, 1),
            seed=parse_integer("seed", seed, 0),
            options=own,
            limits=limits,
        )

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return the table of every team and variant."""
        return [self._card(result) for result in score_records(records)]

    def _card(self, result: RoomResult) -> Scorecard:
        failure = self.failure_turns
        columns = (
            Column("Setting"),
            Column(f"{self.won} %", "estimate", 0, scale=100.0),
            Column("turns", "estimate", 1),
            Column(f"turns if {self.won}", "estimate", 1),
            Column("turns ± SE"),
            *((Column(f"with {failure} for a failure"),) if failure else ()),
            Column("episodes", "number"),
        )
        rows = tuple((*self._cells(row), len(row.turns)) for row in result.rows)
        notes = [
            "Turns ± SE: mean and standard error (ddof 0) over all episodes, as the original averages them, where an"
            " episode that was cut off counts its horizon. Intervals are of 95 %."
        ]
        if failure:
            notes.append(f"The original prints a failure as {failure} turns and averages it as the horizon.")
        data = table_of_mappings(self._lines(result), ("success", "turns"))
        return Scorecard(
            self.name,
            result.title,
            (ResultTable(columns, rows, "Success and turns by setting"),),
            result.team,
            tuple(notes),
            data=data,
        )

    def _cells(self, row: SettingRow) -> tuple[Any, ...]:
        printed = [row.as_published(), *([row.as_published(self.failure_turns)] if self.failure_turns else [])]
        return row.task, row.rate, row.mean_turns, row.success_turns, *printed

    def _lines(self, result: RoomResult) -> Any:
        for row in result.rows:
            line: dict[str, Any] = {"title": result.title, "setting": row.task}
            line |= {f"agent_{i}": spec for i, spec in enumerate(row.team)}
            yield line | {"episodes": len(row.turns), "success": row.rate, "turns": row.mean_turns}

    def outcome(self, record: Record) -> str:
        """Say how an episode ended."""
        numbers = score_record(record)
        ended = self.won if record["success"] else "lost" if numbers["lost"] else "no turn left"
        return f"{ended} after {numbers['turns']} turns"

    def benchmark(self, budget: str) -> Benchmark:
        """Return both presets with the adversary of each; turns that are left make the score."""
        episodes = 4 if budget == "small" else 50
        settings = tuple(
            Setting(preset, {"presets": preset, "episodes": episodes}, {"preset": preset}) for preset in PRESETS
        )
        pairs = Setting(PRESETS[0], {"presets": PRESETS[0], "episodes": episodes // 2}, {"preset": PRESETS[0]})
        measure = "turns left of 30 at success, 0 without"
        return Benchmark(self.env_id.removesuffix("-v0"), measure, settings, pairs, both_orders=True)

    def summary(self, records: Sequence[Record]) -> Summary:
        """Return turns left, success and turns, means over settings."""
        rows = only(score_records(records)).rows
        score = mean_of_groups([row.turns_left for row in rows])
        process = {
            Column(f"{self.won} %", "estimate", 0, scale=100.0): mean_of_shares(
                [sum(row.successes) for row in rows], [len(row.successes) for row in rows]
            ),
            Column("turns", "estimate", 1): mean_of_groups([row.turns for row in rows]),
        }
        return Summary(score, process)

    def training_references(self) -> dict[str, dict[str, Any]]:
        """Say what the trained policies are measured by; nobody has published any."""
        return {self.name.replace("-", "_"): {"measure": "return"}}

    def listings(self) -> Mapping[str, Listing]:
        """Return the maps, with what they are."""
        return {"maps": lambda _: [(name, load_rooms(name).description) for name in self._maps()]}

    def _maps(self) -> list[str]:
        return maps(registry.game_class(self.env_id).goal.name.lower())

    def described(self, kitchen: str) -> Sequence[str]:
        """Return the maps."""
        return self._maps()

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        """Describe a map."""
        if name not in self._maps():
            return None
        return explain(registry.load_game(self.env_id, map=name).compiled)


class CaptureSuite(RoomSuite):
    """Turns until the thief is caught."""

    won, failure_turns = "caught", FAILURE_PRINTED


class EscapeSuite(RoomSuite):
    """Share of escapes, and turns."""

    won = "escaped"


def _short(value: str) -> str:
    """Return a map or adversary as tasks are called: of a file, what it calls itself."""
    return load_rooms(value).name if value.endswith((".yaml", ".yml")) else value
