"""Suites: tasks of a game, and how their matches are planned, recorded, scored, compared and described.

A suite is data: axes, columns of tables, budgets and settings of comparisons. Games override what data cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.wrappers import check_max_cycles, split_options
from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting, Summary, only
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import make_options
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_groups
from collab_overcooked.metrics.registry import game_metrics, measure
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of, table_of_mappings
from collab_overcooked.reporting.results import metric_card
from collab_overcooked.reporting.scorecard import Chart, Scorecard
from collab_overcooked.runner.env_variants import by_variant, setting_names, variant_of
from collab_overcooked.runner.episode import EpisodeLogger, Limits, episode_seed
from collab_overcooked.runner.match import Match, MatchPlan
from collab_overcooked.runner.run_plans import check_episodes
from collab_overcooked.runner.teams import SWAPPED, parse_seats, read_team, spec_of, specs_as_given, team_text

FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Listing:
    """Things of one kind that a game comes with; functions take options of the environment last."""

    names: Callable[[Mapping[str, Any]], Sequence[str]]
    summary: Callable[[str, Mapping[str, Any]], str]  # Line of a name in ``list``
    describe: Callable[[str, Mapping[str, Any]], str] | None = None  # Text of a name or a file in ``describe``
    endings: tuple[str, ...] = FILES  # Suffixes of files that can be described

    def text(self, name: str, options: Mapping[str, Any]) -> str | None:
        """Describe a listed item by name or file; None if the name is unknown or has no description."""
        known = self.describe is not None and (name.endswith(self.endings) or name in self.names(options))
        return self.describe(name, options) if known and self.describe else None


Metric = str | Callable[[Any], float | None]
"""Name of a metric of the game, or a function of a record."""


@dataclass(frozen=True)
class SettingRow:
    """Episodes of one team in one setting with one order of seats: a row of tables."""

    title: str  # Game and variant
    setting: str  # Name of the setting
    records: Sequence[EpisodeRecord]  # Episodes

    @property
    def swapped(self) -> bool:
        """True if the team changed seats."""
        return str(self.records[0].task).endswith(SWAPPED)

    @property
    def task(self) -> str:
        """Setting, and whether seats are swapped."""
        return self.setting + SWAPPED * self.swapped

    @property
    def team(self) -> tuple[str, ...]:
        """Policy texts in seat order."""
        return self.records[0].specs

    @property
    def seats(self) -> dict[str, str]:
        """Policy texts by seat."""
        return {f"agent_{seat}": spec for seat, spec in enumerate(self.team)}

    def line(self, columns: Sequence[Column]) -> dict[str, Cell]:
        """Return the cells of the row in files."""
        cells = {column.name: column.value(self) for column in columns if column.value}
        return {"title": self.title, "setting": self.task, **self.seats, "episodes": len(self.records), **cells}

    @cached_property
    def episodes(self) -> list[dict[str, Any]]:
        """Metrics of each episode, None if undefined."""
        of_game = game_metrics(self.records[0].env_id)
        undefined: dict[str, Any] = dict.fromkeys(metric.name for metric in of_game.metrics)
        return [{"success": float(record.success)} | undefined | of_game.measure(record) for record in self.records]

    def values(self, metric: Metric) -> list[float]:
        """Return a metric of each episode that has it."""
        values = map(metric, self.records) if callable(metric) else (values_of[metric] for values_of in self.episodes)
        return [value for value in values if value is not None]

    def mean(self, metric: Metric) -> Estimate | None:
        """Return the mean of a metric with its 95 % interval; None if no episode has it."""
        return mean_ci(list(map(float, self.values(metric))))


def mean_of(metric: Metric) -> Callable[[SettingRow], Estimate | None]:
    """Return the value of a column that shows the mean of a metric."""
    return lambda row: row.mean(metric)


def setting_column(name: str = "Setting") -> Column:
    """Return the column that names settings and orders of seats."""
    return Column(name, value=lambda row: row.task)


def by_setting(metric: Metric) -> Callable[[Sequence[SettingRow]], Estimate | None]:
    """Return the value of a leaderboard's column: the unweighted mean over settings of a metric's means."""
    return lambda rows: mean_of_groups([list(map(float, row.values(metric))) for row in rows])


def count_column() -> Column:
    """Return the column that counts episodes."""
    return Column("episodes", "number", value=lambda row: len(row.records))


class Suite:
    """Evaluation of one game, or of games that differ only in their texts; episodes and means of metrics by default.

    A subclass sets fields. It overrides methods where tables or plans of the game differ from episodes and means.
    """

    name: str  # Registered name
    env_id: str  # Id of the first game that it is registered with
    record_class: ClassVar[type[EpisodeRecord]] = EpisodeRecord  # Record class
    has_success: ClassVar[bool] = False  # Whether an episode can succeed as a whole
    # Options of the environment that its tables tell apart by rows or columns. All others that differ from their
    # defaults are part of a result's name, and results that differ in them are never put together.
    axes: ClassVar[tuple[str, ...]] = ()
    # Options of the environment that cannot be set as such, and what sets them
    set_elsewhere: ClassVar[Mapping[str, str]] = {}
    forwarded: ClassVar[tuple[str, ...]] = ()  # Options of the suite that are options of the environment
    # Defaults of options of the environment that depend on the team, as functions of the specs in seat order
    team_defaults: ClassVar[Mapping[str, Callable[[tuple[str, ...]], Any]]] = {}
    # Metrics of the default table; the first is the leaderboard score
    metrics: ClassVar[tuple[str, ...]] = ("return", "steps")
    delivered: ClassVar[str] = "success"  # Metric of deliveries, the denominator of words per delivery
    outcome_text: ClassVar[str] = ""  # Format of an episode's outcome; its fields are metrics of the game
    episode_text: ClassVar[str] = "{record.task}"  # Format of an episode's name in reports
    easier: ClassVar[str] = ""  # Option of the environment whose larger values are easier; people play these first
    # Defaults of options of the suite for people, who have set none of its options
    for_people: ClassVar[Mapping[str, Any]] = {}
    # Sentences on pages about events that decide an episode, by the pattern of ``Event.signature``. Their fields are
    # ``player``, ``step`` and the event's; of sentences that differ only in the step, the last one counts.
    decisive: ClassVar[Mapping[str, str]] = {}
    # Final sentence, by the first metric (or ``success``) that is not 0; ``""`` for all other episodes. Its
    # fields are ``steps``, ``success``, ``task`` and the metrics of the game.
    endings: ClassVar[Mapping[str, str]] = {"": "The episode ended after {steps} steps."}
    columns: ClassVar[tuple[Column, ...]] = ()  # Columns of the table; ``Column.value`` takes a ``SettingRow``
    # Columns of files behind title and setting, with the same ``value``; means have the kind ``"estimate"``
    data_columns: ClassVar[tuple[Column, ...]] = ()
    table_title: ClassVar[str] = ""  # Heading of the table
    listed: ClassVar[Mapping[str, Listing]] = {}  # Listings by plural noun
    row_class: ClassVar[type[SettingRow]] = SettingRow  # Class of rows of the table
    # Option with the number of repetitions of each match: ``"episodes"`` or ``"samples"`` with seeds of their own, or
    # ``"runs"`` of series of episodes, with the seeds ``seed``, ``seed + 1``, ..
    repeats: ClassVar[str] = "episodes"
    logger_class: ClassVar[type[EpisodeLogger] | None] = None  # Logger of further fields of records
    title: ClassVar[str] = ""  # Title of the game on leaderboards; its id if empty
    measure: ClassVar[str] = ""  # Description of the leaderboard's numbers; the first metric if empty
    # Settings that a comparison of policies plays, by its budget
    budgets: ClassVar[Mapping[str, ComparisonBudget]] = {
        "small": ComparisonBudget((Setting("episodes"),), {"episodes": 5}),
        "full": ComparisonBudget((Setting("episodes"),), {"episodes": 50}),
    }
    benchmark_fields: ClassVar[Mapping[str, Any]] = {"digits": 2}  # Further fields of ``Benchmark``
    # Further columns of the leaderboard
    process: ClassVar[Mapping[Column, Callable[[Sequence[SettingRow]], Estimate | None]]] = {}
    leaderboard_notes: ClassVar[tuple[str, ...]] = ()  # Sentences that belong under the leaderboard
    trained: ClassVar[tuple[str, ...]] = ()  # Training configurations that have returns and no published numbers

    @property
    def score_metric(self) -> str:
        """Metric that the leaderboard averages and that compares paired episodes."""
        return self.metrics[0]

    @property
    def lower_is_better(self) -> bool:
        """True if the best ``score_metric`` is the lowest."""
        return bool(self.benchmark_fields.get("lower_is_better"))

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> MatchPlan:
        """Check the user's input and return the plan of the matches; see ``plan_evaluation``.

        Raises:
            ValueError: Naming the field, its value and what is allowed.
        """
        if self.env_id:
            options = check_env_options(self.env_id, options, self.set_elsewhere)
            options = {name: getattr(suite_options, name) for name in self.forwarded} | options
        asked = {item.name: getattr(suite_options, item.name) for item in fields(suite_options)}
        for name in options:
            if asked.get(name) is not None and name not in self.forwarded:
                raise ValueError(
                    f"{name}: is given twice, {asked[name]!r} as an option of the suite and {options[name]!r} as one "
                    "of the environment (--set); keep one of the two"
                )
        for name in ("episodes", "runs", "samples"):
            if asked.get(name) is not None:
                parse_integer(name, asked[name], 1)
        seed, count = parse_integer("seed", seed, 0), asked[self.repeats]
        templates = tuple(replace(template, limits=limits) for template in self.matches(team, suite_options, options))
        check_episodes(count * sum(template.episodes for template in templates))
        matches = tuple(self._repeated(template, seed, k) for template in templates for k in range(count))
        templates = matches[::count]
        return MatchPlan(
            suite=self.name, seed=seed, options=options, limits=limits, templates=templates, matches=matches
        )

    def _repeated(self, template: Match, seed: int, k: int) -> Match:
        first = template.first + k * template.episodes
        if self.repeats == "runs":
            return replace(template, first=first, seed=seed + k)
        return replace(template, first=first, seed=episode_seed(seed, template.seed_name, first))

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterable[Match]:
        """Return the first match of each template that a team plays: task, options and order of seats.

        Args:
            team: ``seat=policy`` words.
            suite_options: Options of the suite.
            options: Further options of the environment.

        Raises:
            ValueError: For anything that a user can get wrong in these.
        """
        game = load_checked(self.env_id, **options)
        yield Match(env_id=self.env_id, env_kwargs=options, team=parse_seats(team, game.n_agents), task=self.name)

    def score(self, records: Sequence[EpisodeRecord], scoring: Any) -> Sequence[Scorecard]:
        """Score records of this game, one card for every team and variant; means of metrics if there are no columns.

        Raises:
            ValueError: For a field that metrics cannot read.
        """
        if not self.columns:
            return [metric_card(records, self.metrics)]
        return [self._card(self.rows(group)) for group in by_variant(records, specs_as_given)]

    def _card(self, rows: Sequence[SettingRow]) -> Scorecard:
        table = table_of(self.columns_of(rows), rows, self.table_title)
        lines = (row.line(self.data_columns) for row in rows)
        data = table_of_mappings(lines, [column.name for column in self.data_columns if column.kind == "estimate"])
        team, notes = team_text(specs_as_given(rows[0].records[0])), tuple(self.notes(rows))
        return Scorecard(self.name, rows[0].title, (table,), team, notes, data=data)

    def rows(self, records: Sequence[EpisodeRecord]) -> list[SettingRow]:
        """Return the settings of one team in one variant, in the order of the records."""
        builtin = self.shipped() if len(self.axes) == 1 else ()  # of several options, none alone is the setting's name
        names = setting_names(records, self.axes, lambda record: str(record.task).removesuffix(SWAPPED), builtin)
        by_setting: dict[tuple[str, bool], list[EpisodeRecord]] = {}
        for name, record in zip(names, records, strict=True):
            by_setting.setdefault((name, record.task.endswith(SWAPPED)), []).append(record)
        title = variant_of(records[0]).title
        return [self.row_class(title, name, group) for (name, _), group in by_setting.items()]

    def shipped(self) -> Sequence[str]:
        """Return the names of built-in settings, from the first listing."""
        return next((listing.names({}) for listing in self.listed.values()), ())

    def columns_of(self, rows: Sequence[Any]) -> Sequence[Column]:
        """Return the columns of a table of some rows."""
        return self.columns

    def notes(self, rows: Sequence[Any]) -> Iterable[str]:
        """Return sentences that belong under the table."""
        return ()

    def outcome(self, record: EpisodeRecord) -> str:
        """Say how an episode ended, for example ``"delivered"`` or ``"4 completed, 1 ruined"``."""
        if self.outcome_text:
            return self.outcome_text.format(**game_metrics(record.env_id).measure(record))
        return f"{self.metrics[0]} {measure(record, self.metrics)[self.metrics[0]]:g}"

    def order_for_people(self, matches: Sequence[Match]) -> list[Match]:
        """Return the matches of a session in the order for people: easier ones first in games with difficulties."""
        return sorted(matches, key=lambda match: -match.env_kwargs[self.easier]) if self.easier else list(matches)

    def benchmark(self, budget: str) -> Benchmark:
        """Return the benchmark of policy comparisons for one of ``benchmark.BUDGETS``."""
        chosen = self.budgets[budget]
        settings, pairs = chosen.played()
        title, measured = self.title or self.env_id, self.measure or self.metrics[0]
        return Benchmark(title, measured, tuple(settings), pairs, self.repeats, **self.benchmark_fields)

    def result(self, records: Sequence[EpisodeRecord]) -> str:
        """Return the score of one team on one variant of the game as a sentence with its 95 % interval; empty if none.

        Without an interval, the sentence says why there is none.

        Raises:
            ValueError: The records are of several teams or variants.
        """
        score = self.summary(records).score
        if score is None:
            return ""
        forms = {name: self.benchmark_fields[name] for name in ("digits", "scale") if name in self.benchmark_fields}
        text, interval = Column("", "estimate", **({"digits": 1} | forms)).text(score)
        measured, episodes = self.measure or self.metrics[0], plural(len(records), "episode")
        if interval:
            span, reason = f", 95 % interval {interval}", ""
        elif score.low is None:
            span, reason = "", "; without an interval, as nothing was played twice"
        else:
            span, reason = "", "; without an interval, as episodes of the same setting scored alike"
        return f"{measured[:1].upper()}{measured[1:]}: {text}{span}, in {episodes}{reason}."

    def summary(self, records: Sequence[EpisodeRecord]) -> Summary:
        """Return the scores of one team's episodes, in one setting of the benchmark or in several."""
        if self.process:
            rows = self.rows(only(by_variant(records, specs_as_given)))
            score = by_setting(self.score_metric)(rows)
            return Summary(score, {column: of(rows) for column, of in self.process.items()})
        values = [measure(record, self.metrics) for record in records]
        means = {name: mean_ci([episode[name] for episode in values]) for name in self.metrics}
        return Summary(means[self.metrics[0]], {Column(name, "estimate", 2): mean for name, mean in means.items()})

    def references(self, benchmark: Benchmark) -> Sequence[Reference]:
        """Return published numbers of the benchmark's settings."""
        return ()

    def training_references(self) -> Mapping[str, Mapping[str, Any]]:
        """Return by training configuration its ``measure`` (``"return"`` or ``"success"``) and published numbers."""
        return {name: {"measure": "return"} for name in self.trained}

    def comparison_tables(self, played: Mapping[str, Sequence[Any]]) -> tuple[Sequence[ResultTable], Sequence[Chart]]:
        """Return tables and curves that compare several runs, by run name."""
        return (), ()

    def reference_remarks(self, benchmark: Benchmark) -> Sequence[str]:
        """Return sentences about the published numbers, shown below a leaderboard that has some."""
        return ()

    def derived(self, record: EpisodeRecord) -> Mapping[str, Any]:
        """Return fields of a record as computed from its other fields, by name.

        Empty for a record whose task is not one of the suite, as in games played from Python.

        Raises:
            ValueError: If the record's options cannot be read.
            OSError: If a file that they name cannot be read.
        """
        return {}

    def describe(self, name: str, options: Mapping[str, Any]) -> str | None:
        """Describe a listed item or a file of the game; None if the name is unknown.

        Args:
            name: Name of a task, level or the like, or the path of a file.
            options: Options of the environment.
        """
        return next(filter(None, (listing.text(name, options) for listing in self.listed.values())), None)


def plan_evaluation(
    suite: str,
    team: str | Mapping[str, str] | Sequence[str],
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    **suite_options: Any,
) -> MatchPlan:
    """Return the plan of an evaluation, after checking all user input.

    Code that the team names may be imported from now on; for a team that a file or a client names there is
    ``plan_known_team``.

    Args:
        suite: For example ``"collab-overcooked"``.
        team: Policy of each seat, in any form of ``runner.teams.read_team``.
        seed: Seed of the suite.
        options: Further options of the environment.
        limits: Bounds of conversations and corrections.
        **suite_options: Fields of ``SuiteOptions.play``; what is not given is as in the paper.

    Raises:
        ValueError: Naming the field, its value and what is allowed.
    """
    entries = read_team(team)
    for entry in entries:
        PolicySpec.parse(spec_of(entry)).permit()
    return plan_known_team(suite, entries, seed=seed, options=options, limits=limits, **suite_options)


def plan_known_team(
    suite: str,
    team: Sequence[str],
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    **suite_options: Any,
) -> MatchPlan:
    """Plan the evaluation of a team without importing code that only the team names; see ``plan_evaluation``.

    Raises:
        ValueError: Naming the field, its value and what is allowed.
    """
    loaded: Suite = registry.load_suite(suite)
    parsed: Any = make_options(registry.load_suite_options(suite).play, suite_options, f"option of the suite {suite}")
    return loaded.plan(team, parsed, seed=seed, options=options or {}, limits=limits or Limits())


def check_env_options(env_id: str, options: Mapping[str, Any], elsewhere: Mapping[str, str]) -> dict[str, Any]:
    """Check the names of extra environment options; every game has ``max_cycles``, the length of an episode.

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
    """Check that no two files declare the same name.

    Args:
        what: Kind of file, for error messages.
        files: Built-in names or paths.
        name_of: Function from a file to the name that it declares.

    Raises:
        ValueError: If two files declare the same name.
    """
    named: dict[str, str] = {}
    for file in files:
        name = name_of(file)
        if named.setdefault(name, file) != file:
            raise ValueError(f"{what}: {named[name]} and {file} are both called {name!r}; rename one")


def load_checked(env_id: str, **options: Any) -> FullGame[Any, Any]:
    """Compile a game after checking all environment options, ``max_cycles`` included.

    Raises:
        ValueError: An option is unknown or invalid.
    """
    wrapper, game_options = split_options(options)
    check_max_cycles(wrapper.get("max_cycles"))
    return registry.load_game(env_id, **game_options)
