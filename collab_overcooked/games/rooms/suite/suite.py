"""The suites of the room games: presets, maps and adversaries, both ways to seat a team, success and turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import Benchmark, Setting, Summary
from collab_overcooked.evaluation.episode_suite import (
    EpisodeSuite,
    count_column,
    load_checked,
    mean_of,
    setting_column,
)
from collab_overcooked.evaluation.plans import JobGroup
from collab_overcooked.evaluation.suites import Listing, Record
from collab_overcooked.games.rooms.engine.config import PRESETS
from collab_overcooked.games.rooms.engine.spec import load_rooms, maps
from collab_overcooked.games.rooms.suite.scoring import (
    AXES,
    FAILURE_PRINTED,
    RECORD_FIELDS,
    as_published,
    rate,
    score_record,
)
from collab_overcooked.games.rooms.text.text import explain
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.options import NAMES, option, read_names
from collab_overcooked.metrics.intervals import mean_of_groups, mean_of_shares
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.teams import both_orders, parse_seats

OWN = "own"  # map or adversary of the preset


@dataclass(frozen=True, kw_only=True)
class RoomOptions:
    """Options of the room suites beyond team, seed and options of the environment."""

    presets: str = option("code2024", f"Presets: {', '.join(PRESETS)}.", metavar=NAMES)
    maps: str = option(OWN, f"Maps or files; {OWN!r} is the preset's.", metavar=NAMES)
    adversaries: str = option(OWN, f"Kinds of the adversary; {OWN!r} is the preset's.", metavar=NAMES)
    episodes: int = option(3, "Episodes of each setting and order of seats; the original plays 3.")


class RoomSuite(EpisodeSuite):
    """Success and turns by setting, with the original's means and standard errors and with 95 % intervals."""

    suite_options = RoomOptions
    record_fields = RECORD_FIELDS
    set_elsewhere: ClassVar = {"preset": "--presets", "map": "--maps", "adversary": "--adversaries"}
    axes = AXES
    won: ClassVar[str]  # Name of success
    # Turns that the original prints for a truncated episode; None if it prints none
    failure_turns: ClassVar[int | None] = None
    has_success = True
    score_metric = "turns_left"
    table_title = "Success and turns by setting"
    data_columns = (Column("success", value=rate), Column("turns", value=mean_of("turns")))

    def __init_subclass__(cls) -> None:
        """Make the columns of a game, which contain its name of success."""
        failure = cls.failure_turns
        cls.columns = (
            setting_column(),
            Column(f"{cls.won} %", "estimate", 0, scale=100.0, value=rate),
            Column("turns", "estimate", 1, value=mean_of("turns")),
            Column(f"turns if {cls.won}", "estimate", 1, value=mean_of("success_turns")),
            Column("turns ± SE", value=as_published),
            *((Column(f"with {failure} for a failure", value=lambda row: as_published(row, failure)),) * bool(failure)),
            count_column(),
        )

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        names = (read_names(name, getattr(suite_options, name)) for name in ("presets", "maps", "adversaries"))
        settings: dict[str, dict[str, Any]] = {}
        for preset, level, adversary in product(*names):
            if preset not in PRESETS:
                raise ValueError(f"presets: {near_matches('preset', preset, PRESETS)}")
            chosen = {"map": level, "adversary": adversary}
            chosen = {name: value for name, value in chosen.items() if value != OWN}
            settings[", ".join([preset, *map(_short, chosen.values())])] = {**options, "preset": preset, **chosen}
        for setting, kwargs in settings.items():
            specs = parse_seats(team, load_checked(self.env_id, **kwargs).n_agents)
            for task, seated in both_orders(setting, specs):
                yield JobGroup(env_id=self.env_id, env_kwargs=kwargs, team=seated, task=task)

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        yield (
            "Turns ± SE: mean and standard error (ddof 0) over all episodes, as the original averages them, where a"
            " truncated episode counts its time limit. Intervals are of 95 %."
        )
        if self.failure_turns:
            yield f"The original prints a failure as {self.failure_turns} turns and averages it as the time limit."

    def outcome(self, record: Record) -> str:
        numbers = score_record(record)
        ended = self.won if record["success"] else "lost" if numbers["lost"] else "no turn left"
        return f"{ended} after {numbers['turns']} turn{'s' * (numbers['turns'] != 1)}"

    def benchmark(self, budget: str) -> Benchmark:
        episodes = 4 if budget == "small" else 50
        settings = tuple(
            Setting(preset, {"presets": preset, "episodes": episodes}, {"preset": preset}) for preset in PRESETS
        )
        pairs = Setting(PRESETS[0], {"presets": PRESETS[0], "episodes": episodes // 2}, {"preset": PRESETS[0]})
        measure = "turns left of 30 at success, 0 without"
        return Benchmark(self.env_id.removesuffix("-v0"), measure, settings, pairs, both_orders=True)

    def summary(self, records: Sequence[Record]) -> Summary:
        rows = self.setting_rows(records)
        won = mean_of_shares([row.values("success").count(1.0) for row in rows], [len(row.records) for row in rows])
        process = {
            Column(f"{self.won} %", "estimate", 0, scale=100.0): won,
            Column("turns", "estimate", 1): mean_of_groups([row.values("turns") for row in rows]),
        }
        return Summary(mean_of_groups([row.values("turns_left") for row in rows]), process)

    def training_references(self) -> dict[str, dict[str, Any]]:
        """Return the measure of trained policies; no paper has published results of any."""
        return {self.name.replace("-", "_"): {"measure": "return"}}

    def listings(self) -> Mapping[str, Listing]:
        return {"maps": lambda _: [(name, load_rooms(name).description) for name in self._maps()]}

    def _maps(self) -> list[str]:
        return maps(registry.game_class(self.env_id).goal.name.lower())

    def described(self, kitchen: str) -> Sequence[str]:
        return self._maps()

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
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
    return load_rooms(value).name if value.endswith((".yaml", ".yml")) else value
