"""The suites of the room games: presets, maps and adversaries, both ways to seat a team; map files and generators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.core.record import Event, Step, refusal_text
from collab_overcooked.evaluation.benchmark import ComparisonBudget, Setting
from collab_overcooked.evaluation.suites import (
    EpisodeRecord,
    Listing,
    SettingRow,
    Suite,
    by_setting,
    count_column,
    load_checked,
    mean_of,
    setting_column,
)
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind, check_yaml_path
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option, read_names
from collab_overcooked.io.structs import Name
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_of_shares
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import both_orders, parse_seats

from .engine.config import PRESETS
from .engine.constants import Adversary, Goal
from .engine.spec import FOLDER, KEYS, load_rooms, maps
from .options import OWN

FAILURE_PRINTED = 35  # turns that the original prints if the thief got away after 30; its averages use 30


class RoomEvent(Event, kw_only=True):
    """Event of an agent."""

    reason: Name
    room: Name
    adversary: Name
    subject: Name | None
    caught: bool
    completed: bool
    escaped: bool

    @property
    def is_refused(self) -> bool:
        return self.reason != "OK"

    @property
    def text(self) -> str:
        return refusal_text(self.label, self.reason)

    @property
    def change(self) -> int:
        """Effect on the team's result: 1 for a repair or an escape, 0 otherwise."""
        return int(self.completed or self.escaped)


class RoomStep(Step, kw_only=True):
    """Step of a record."""

    events: Sequence[RoomEvent]


class RoomRecord(EpisodeRecord, kw_only=True):
    """Record of an episode."""

    steps: Sequence[RoomStep]


def score_record(record: RoomRecord) -> dict[str, Any]:
    """Compute the metrics ``METRICS`` of one episode from its record."""
    steps, seats = record.steps, range(len(record.team))
    turns, success = record.timesteps, bool(record.success)
    return {
        "turns": turns,
        "success_turns": turns if success else None,
        "turns_left": record.max_cycles - turns if success else 0,
        "lost": float(not success and turns < record.max_cycles),
        "repairs": sum(event.completed for step in steps for event in step.events),
        "presses": [sum(step.events[seat].event == "pressed" for step in steps) for seat in seats],
        "fixes": [sum(step.events[seat].event == "fixed" for step in steps) for seat in seats],
    }


METRICS = MetricSet(
    (
        Metric("turns", "Turns of an episode; the time limit if it was truncated.", "turns", "lower"),
        Metric("success_turns", "Turns of a successful episode.", "turns", "lower"),
        Metric("turns_left", "Turns left at success, 0 without success.", "turns", "higher"),
        Metric("lost", "Share of episodes that a capture by the killer ended.", better="lower"),
        Metric("repairs", "Generators repaired.", "generators", "higher"),
        Metric("presses", "Buttons pressed by each player.", "presses"),
        Metric("fixes", "Turns that each player worked on a generator.", "turns"),
    ),
    score_record,
)


def rate(rows: Sequence[SettingRow]) -> Estimate:
    """Return the share of successes, the mean over settings, with Wilson's 95 % interval."""
    return mean_of_shares([row.values("success").count(1.0) for row in rows], [len(row.records) for row in rows])


def as_published(row: SettingRow, failure: int | None = None) -> str:
    """Return mean and standard error (ddof 0) of all episodes' turns, as the original's scripts write them.

    Args:
        row: Episodes of a setting.
        failure: Turns that a truncated episode counts; None for the turns that it had.
    """
    turns = row.values("turns")
    if failure is not None:
        truncated = [not (episode["success"] or episode["lost"]) for episode in row.episodes]
        turns = [failure if was_cut else count for count, was_cut in zip(turns, truncated, strict=True)]
    return f"{fmean(turns):.2f} ± {pstdev(turns) / len(turns) ** 0.5:.2f}"


SETTINGS = [Setting(name, {"presets": name}, {"preset": name}) for name in PRESETS]


def _explain(env_id: str, name: str, options: Mapping[str, Any]) -> str:
    game: Any = registry.load_game(env_id, **options, map=name)
    return str(game.explain())


def map_listing(env_id: str, goal: str) -> Listing:
    """Return the maps of a game."""
    return Listing(
        lambda _: maps(goal),
        lambda name, _: load_rooms(name).description,
        lambda name, options: _explain(env_id, name, options),
    )


class RoomSuite(Suite):
    """Success and turns by setting, with the original's means and standard errors and with 95 % intervals."""

    record_class = RoomRecord
    set_elsewhere: ClassVar = {"preset": "--presets", "map": "--maps", "adversary": "--adversaries"}
    axes = ("preset", "map", "adversary")
    won: ClassVar[str]  # Name of success
    # Turns that the original prints for a truncated episode; None if it prints none
    failure_turns: ClassVar[int | None] = None
    has_success = True
    score_metric = "turns_left"
    table_title = "Success and turns by setting"
    data_columns = (
        Column("success", "estimate", value=lambda row: rate([row])),
        Column("turns", "estimate", value=mean_of("turns")),
    )
    measure = "turns left of 30 at success, 0 without"
    budgets: ClassVar = {
        "small": ComparisonBudget(SETTINGS, {"episodes": 4}, {"episodes": 2}),
        "full": ComparisonBudget(SETTINGS, {"episodes": 50}, {"episodes": 25}),
    }
    benchmark_fields: ClassVar = {"both_orders": True}

    def __init_subclass__(cls) -> None:
        """Make the columns of a game, which contain its name of success."""
        won = Column(f"{cls.won} %", "estimate", 0, scale=100.0)
        turns = Column("turns", "estimate", 1)
        printed = [Column("turns ± SE", value=as_published)]
        if cls.failure_turns:
            name = f"with {cls.failure_turns} for a failure"
            printed.append(Column(name, value=partial(as_published, failure=cls.failure_turns)))
        cls.columns = (
            setting_column(),
            replace(won, value=lambda row: rate([row])),
            replace(turns, value=mean_of("turns")),
            Column(f"turns if {cls.won}", "estimate", 1, value=mean_of("success_turns")),
            *printed,
            count_column(),
        )
        cls.process = {won: rate, turns: by_setting("turns")}

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
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
                yield Match(env_id=self.env_id, env_kwargs=kwargs, team=seated, task=task)

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        yield (
            "Turns ± SE: mean and standard error (ddof 0) over all episodes, as the original averages them, where a"
            " truncated episode counts its time limit. Intervals are of 95 %."
        )
        if self.failure_turns:
            yield f"The original prints a failure as {self.failure_turns} turns and averages it as the time limit."

    def outcome(self, record: Any) -> str:
        numbers = score_record(record)
        ended = self.won if record.success else "lost" if numbers["lost"] else "no turn left"
        return f"{ended} after {plural(numbers['turns'], 'turn')}"


class CaptureSuite(RoomSuite):
    """Turns until the thief is caught."""

    listed: ClassVar = {"maps": map_listing("CollabCapture-v0", "capture")}
    title = "CollabCapture"
    trained = ("collab_capture",)
    won = "caught"
    failure_turns = FAILURE_PRINTED
    decisive: ClassVar = {".* caught": "{player} caught the thief in room {room}."}
    endings: ClassVar = {
        "success": "The thief was caught after turns: {turns}.",
        "": "No turn was left, and the thief was still free.",
    }


class EscapeSuite(RoomSuite):
    """Share of escapes, and turns."""

    listed: ClassVar = {"maps": map_listing("CollabEscape-v0", "escape")}
    title = "CollabEscape"
    trained = ("collab_escape",)
    won = "escaped"
    # ``greedy`` is caught within four turns on many starts of other maps
    for_people: ClassVar = {"maps": "ten_rooms_as_told"}
    decisive: ClassVar = {
        ".* completed": "{player} repaired the generator in room {room}.",
        ".* caught": "The killer caught {player} in room {room}.",
        ".* escaped": "{player} escaped through room {room}.",
    }
    endings: ClassVar = {
        "success": "The team escaped; turns: {turns}.",
        "lost": "The team lost; generators repaired: {repairs}.",
        "": "No turn was left, and the team had not escaped; generators repaired: {repairs}.",
    }


def _short(value: str) -> str:
    return load_rooms(value).name if value.endswith((".yaml", ".yml")) else value


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """Rules that a map is checked with."""

    preset: str = option("code2024", "Preset of the rules.", allowed=PRESETS)
    adversary: str | None = option(
        None, "Kind of thief or killer. Default: the preset's.", allowed=[kind.name.lower() for kind in Adversary]
    )


def check_maps(sources: Sequence[str], options: MapOptions) -> DocumentFinding:
    """Prove whether rooms are connected, and in how many turns best play succeeds."""
    from .engine.solvability import prove_solvability

    proofs = [prove_solvability(source, options.preset, options.adversary) for source in sources]
    text = "\n".join(proof.text() for proof in proofs)
    return DocumentFinding(text, [proof.to_dict() for proof in proofs], all(proof.ok for proof in proofs))


MAP = DocumentKind(
    "map",
    FOLDER,
    KEYS,
    check_maps,
    "Proves whether its rooms are connected, and in how many turns best play succeeds.",
    MapOptions,
)


@dataclass(frozen=True, kw_only=True)
class MapGenerator:
    """A map of a given difficulty, with a proof of its expected turns."""

    goal: ClassVar[Goal]
    seed: int = option(0, "Random seed.")
    rooms: int = option(9, "Rooms.")
    passages: int = option(2, "Passages beyond those that connect all rooms.")
    turns: int = option(4, "Expected turns of best play, rounded.")
    helping: float = option(0.0, "Minimum of expected turns in which a player acts to help another.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        from .engine.generate import GeneratorConfig, generate_rooms, map_text

        check_yaml_path(out)
        values: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        arguments = " ".join(f"--{name} {value:g}" for name, value in values.items())
        seed = values.pop("seed")
        document, proof = generate_rooms(GeneratorConfig(self.goal, **values), seed, out.stem)
        write_atomic(out, map_text(document, f"{command} {arguments}").encode())
        return DocumentFinding(proof.text(), proof.to_dict(), proof.ok)


@dataclass(frozen=True, kw_only=True)
class CaptureGenerator(MapGenerator):
    """A map of CollabCapture of a given difficulty, with a proof of its expected turns."""

    goal = Goal.CAPTURE
    doors: int = option(2, "Doors, each with a button.")


@dataclass(frozen=True, kw_only=True)
class EscapeGenerator(MapGenerator):
    """A map of CollabEscape of a given difficulty, with a proof of its expected turns."""

    goal = Goal.ESCAPE
    turns: int = option(7, "Expected turns of best play, rounded.")
    generators: int = option(2, "Generators.")
