"""Scores of the room games' records by setting: success, turns, and turns as the original counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.schema import nullable, object_of
from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_shares
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.env_variants import by_variant, setting_names, variant_of
from collab_overcooked.runner.record_schema import RecordFields
from collab_overcooked.runner.teams import SWAPPED, specs_as_given, team_text

FAILURE_PRINTED = 35  # turns that the original prints for a thief who got away after 30; it averages 30
AXES = ("preset", "map", "adversary")

RECORD_FIELDS = RecordFields(
    event=object_of(
        {
            "event": schema.name,
            "reason": schema.name,
            "room": schema.name,
            "adversary": schema.name,
            "subject": nullable(schema.name),
            "caught": schema.boolean,
            "completed": schema.boolean,
            "escaped": schema.boolean,
            "label": schema.text,
        }
    )
)


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``turns`` (of an episode that was cut off: its horizon), ``success_turns`` (None without success),
        ``turns_left`` (at success, else 0), ``lost`` (whether somebody's capture ended it), ``repairs`` (generators
        repaired), ``presses`` and ``fixes`` of each seat.
    """
    steps, seats = record["steps"], range(len(record["team"]))
    turns, success = record["timesteps"], bool(record["success"])
    return {
        "turns": turns,
        "success_turns": turns if success else None,
        "turns_left": record["max_cycles"] - turns if success else 0,
        "lost": float(not success and turns < record["max_cycles"]),
        "repairs": sum(event["completed"] for step in steps for event in step["events"]),
        "presses": [sum(step["events"][seat]["event"] == "pressed" for step in steps) for seat in seats],
        "fixes": [sum(step["events"][seat]["event"] == "fixed" for step in steps) for seat in seats],
    }


METRICS = MetricSet(
    (
        Metric("turns", "Turns of an episode; its horizon if nothing ended it.", "turns", "lower"),
        Metric("success_turns", "Turns of a successful episode.", "turns", "lower"),
        Metric("turns_left", "Turns that were left at success, 0 without success.", "turns", "higher"),
        Metric("lost", "Share of episodes that a capture by the killer ended.", better="lower"),
        Metric("repairs", "Generators repaired.", "generators", "higher"),
        Metric("presses", "Buttons pressed by each player.", "presses"),
        Metric("fixes", "Turns that each player worked on a generator.", "turns"),
    ),
    score_record,
)


@dataclass(frozen=True)
class SettingRow:
    """Scores of one setting with one order of seats.

    Attributes:
        task: Setting, and whether seats are swapped.
        team: Policy texts in seat order.
        turns: Of the episodes.
        successes: Which of them succeeded.
        turns_left: At success, else 0.
        horizon: Turns after which an episode is cut off.
    """

    task: str
    team: tuple[str, ...]
    turns: tuple[int, ...]
    successes: tuple[bool, ...]
    turns_left: tuple[int, ...]
    horizon: int

    @property
    def rate(self) -> Estimate:
        """Share of successes with Wilson's 95 % interval."""
        return mean_of_shares([sum(self.successes)], [len(self.successes)])

    @property
    def mean_turns(self) -> Estimate | None:
        """Mean turns of all episodes, successful or not, with its 95 % interval."""
        return mean_ci(self.turns)

    @property
    def success_turns(self) -> Estimate | None:
        """Mean turns of the successful episodes."""
        return mean_ci([turns for turns, success in zip(self.turns, self.successes, strict=True) if success])

    def as_published(self, failure: int | None = None) -> str:
        """Return mean and standard error (ddof 0) of all episodes' turns, as the original's scripts write them.

        Args:
            failure: Turns that stand for an episode that was cut off; as many as it had if None.
        """
        turns = [
            failure if failure is not None and not success and own >= self.horizon else own
            for own, success in zip(self.turns, self.successes, strict=True)
        ]
        return f"{fmean(turns):.2f} ± {pstdev(turns) / len(turns) ** 0.5:.2f}"


@dataclass(frozen=True)
class RoomResult:
    """Scores of one team on one variant of a game.

    Attributes:
        env_id: Registered id.
        title: Game and variant.
        team: Policies by seat.
        rows: By setting and order of seats.
    """

    env_id: str
    title: str
    team: str
    rows: tuple[SettingRow, ...]


def score_records(records: Iterable[Mapping[str, Any]]) -> list[RoomResult]:
    """Return the scores of every team and variant in the order in which they first appear."""
    return [_result(group) for group in by_variant(records, specs_as_given)]


def _result(records: Sequence[Mapping[str, Any]]) -> RoomResult:
    names = setting_names(records, AXES, lambda record: str(record["task"]).removesuffix(SWAPPED))
    tasks: dict[str, list[Mapping[str, Any]]] = {}
    for name, record in zip(names, records, strict=True):
        tasks.setdefault(name + SWAPPED * record["task"].endswith(SWAPPED), []).append(record)
    rows = tuple(_row(task, played) for task, played in tasks.items())
    variant, team = variant_of(records[0]), team_text(specs_as_given(records[0]))
    return RoomResult(records[0]["env_id"], variant.title, team, rows)


def _row(task: str, played: Sequence[Mapping[str, Any]]) -> SettingRow:
    numbers = [score_record(record) for record in played]
    return SettingRow(
        task=task,
        team=tuple(played[0]["team"].values()),
        turns=tuple(own["turns"] for own in numbers),
        successes=tuple(bool(record["success"]) for record in played),
        turns_left=tuple(own["turns_left"] for own in numbers),
        horizon=played[0]["max_cycles"],
    )
