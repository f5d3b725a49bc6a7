"""The protocol of suites: what is evaluated in a game, how jobs are planned, recorded, scored and described."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.options import NoOptions, make_options
from collab_overcooked.runner.env_variants import step_limit
from collab_overcooked.runner.episode import EpisodeLogger, Limits
from collab_overcooked.runner.jobs import Evaluation
from collab_overcooked.runner.record_schema import RecordFields
from collab_overcooked.runner.teams import read_team

if TYPE_CHECKING:
    from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Summary
    from collab_overcooked.reporting.result_table import ResultTable
    from collab_overcooked.reporting.scorecard import Chart, Scorecard

Record = Mapping[str, Any]
Listing = Callable[[str], list[tuple[str, str]]]
"""Takes a kitchen; returns names and what they are."""


class Suite(ABC):
    """Evaluation of one game, or of games that differ only in their texts.

    Attributes:
        name: Under which it is registered.
        env_id: Of the first game that it is registered with.
        suite_options: Frozen dataclass of the options that users have beyond team, seed, options of the environment
            and limits; its fields are made by ``io.options.option``.
        scoring_options: Frozen dataclass of how its metrics are counted, made in the same way.
        log_options: Frozen dataclass of what log files of the original game do not say, made in the same way.
        record_fields: What its records hold beyond those of every game.
        show_options: Which of ``more`` and ``by_task`` make a difference to its tables.
        has_success: Whether an episode can succeed as a whole.
        axes: Options of the environment that its tables tell apart by rows or columns. All others that differ from
            their defaults are part of a result's name, and results that differ in them are never put together.
    """

    name: str
    env_id: str
    suite_options: ClassVar[type]
    scoring_options: ClassVar[type] = NoOptions
    log_options: ClassVar[type] = NoOptions
    record_fields: ClassVar[RecordFields] = RecordFields()
    show_options: ClassVar[tuple[str, ...]] = ()
    has_success: ClassVar[bool] = False
    axes: ClassVar[tuple[str, ...]] = ()

    @property
    def score_metric(self) -> str:
        """Metric of an episode that the leaderboard averages, by which paired episodes are compared."""
        return "return"

    @abstractmethod
    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> Evaluation:
        """Check everything that a user can get wrong, and return what is to be run; see ``plan_evaluation``.

        Raises:
            ValueError: Naming the field, its value and what is allowed.
        """

    @abstractmethod
    def score(self, records: Sequence[Record], scoring: Any) -> Sequence[Scorecard]:
        """Score records of this game, one card for every team and variant.

        Raises:
            ValueError: For a field that metrics cannot read.
        """

    def find_logs(self, path: Path) -> list[Path]:
        """Return log files of the original game at a path that this suite can score; none if it holds records."""
        return []

    def score_logs(
        self, logs: Sequence[Path], scoring: Any, log_options: Any, note: Callable[[str], None]
    ) -> Scorecard:
        """Score log files of the original game together.

        Raises:
            ValueError: For a damaged file; the message names it.
        """
        raise NotImplementedError

    @abstractmethod
    def outcome(self, record: Record) -> str:
        """Say how an episode ended, for example ``"delivered"`` or ``"4 completed, 1 ruined"``."""

    @abstractmethod
    def benchmark(self, budget: str) -> Benchmark:
        """Return what a comparison of policies plays on one of ``benchmark.BUDGETS``."""

    @abstractmethod
    def summary(self, records: Sequence[Record]) -> Summary:
        """Return the scores of one team's episodes, in one setting of the benchmark or in several."""

    def references(self, benchmark: Benchmark) -> Sequence[Reference]:
        """Return published numbers of the benchmark's settings."""
        return ()

    def training_references(self) -> Mapping[str, Mapping[str, Any]]:
        """Return by training configuration its ``measure`` (``"return"`` or ``"success"``) and published numbers."""
        return {}

    def sheet(self, played: Mapping[str, Sequence[Record]]) -> tuple[Sequence[ResultTable], Sequence[Chart]]:
        """Return tables and curves of several runs beside each other, by the name of the run."""
        return (), ()

    def remarks(self, benchmark: Benchmark) -> Sequence[str]:
        """Return sentences that belong under the leaderboard."""
        return ()

    def reference_remarks(self, benchmark: Benchmark) -> Sequence[str]:
        """Return sentences about the published numbers, which stand under the leaderboard where these do."""
        return ()

    def default_options(self, team: tuple[str, ...]) -> Mapping[str, Any]:
        """Return values of options that a team plays with unless others are asked for, where the game's differ."""
        return {}

    def step_limit(self, record: Record) -> int | None:
        """Return the steps that the game allows an episode with a record's options; None if its files are gone."""
        return step_limit(record["env_id"], record["env_kwargs"])

    def make_logger(self) -> EpisodeLogger | None:
        """Return a new logger for an episode; None where records need nothing more."""
        return None

    def fully_succeeded(self, record: Record) -> bool:
        """Tell whether an episode reached everything that it could."""
        return bool(record["success"])

    def derived(self, record: Record) -> Mapping[str, Any]:
        """Return what other fields of a record say about some of its fields, by their names.

        A record whose task is not one of the suite's own names, as in games played from Python, has none.

        Raises:
            ValueError: If the record's options cannot be read.
            OSError: If a file that they name cannot be read.
        """
        return {}

    def episode_name(self, record: Record) -> str:
        """Return what a record's episode is called."""
        return str(record["task"])

    def listings(self) -> Mapping[str, Listing]:
        """Return what can be listed, by its plural: ``"tasks"``, ``"levels"``."""
        return {}

    def described(self, kitchen: str) -> Sequence[str]:
        """Return the names that ``describe`` knows: all that are listed, unless a game says otherwise."""
        return [name for listing in self.listings().values() for name, _ in listing(kitchen)]

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        """Describe a task, a level, or whatever else the game has by that name; None if there is no such thing."""
        return None


def plan_evaluation(
    suite: str,
    team: str | Mapping[str, str] | Sequence[str],
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    **suite_options: Any,
) -> Evaluation:
    """Check everything that a user can get wrong before anything is run.

    Args:
        suite: For example ``"collab-overcooked"``.
        team: Policy of each seat, in any form of ``runner.teams.read_team``.
        seed: Seed of the suite.
        options: Further options of the environment.
        limits: Bounds of conversations and corrections.
        **suite_options: Fields of the suite's ``suite_options``; what is not given is as in the paper.
    """
    loaded: Suite = registry.load_suite(suite)
    parsed: Any = make_options(loaded.suite_options, suite_options, f"option of the suite {suite}")
    return loaded.plan(read_team(team), parsed, seed=seed, options=options or {}, limits=limits or Limits())


def check_env_options(env_id: str, options: Mapping[str, Any], elsewhere: Mapping[str, str]) -> dict[str, Any]:
    """Check extra options of the environment by name; ``max_cycles``, the length of an episode, is one of every game.

    Args:
        env_id: Registered id.
        options: Given options.
        elsewhere: Options of the environment that are chosen in another way, and how.
    """
    known = [key for key in (*registry.game_options(env_id), "max_cycles") if key not in elsewhere]
    for key in options:
        if key in elsewhere and key in registry.game_class(env_id).config_class.presentation:
            raise ValueError(
                f"{key!r} cannot be set with --set: each policy declares the observation it was trained on. Use "
                f"--team all=FILE.py:Class with `observation = {{...}}`."
            )
        if key in elsewhere:
            raise ValueError(f"option {key!r} is set by {elsewhere[key]}")
        if key not in known:
            raise ValueError(near_matches("option", key, known))
    return dict(options)


def check_names(what: str, files: Iterable[str], name_of: Callable[[str], str]) -> None:
    """Refuse files that are called alike inside, as their records would be, too.

    Args:
        what: What they are, for messages.
        files: Shipped names or paths.
        name_of: Reads one, and returns what it is called.
    """
    named: dict[str, str] = {}
    for file in files:
        name = name_of(file)
        if named.setdefault(name, file) != file:
            raise ValueError(f"{what}: {named[name]} and {file} are both called {name!r}; rename one")
