"""The scores of a comparison, made from its records alone: a leaderboard for every game, decision times, costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs, to_builtins

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation import crossplay
from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Summary
from collab_overcooked.evaluation.compare.plan import PLAN, ComparisonPlan, Entry, Skipped, is_blind, read_plan
from collab_overcooked.evaluation.crossplay import CrossPlay
from collab_overcooked.io.journal import has_lines
from collab_overcooked.io.text import join_and
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.policies.registry import LANGUAGE, PERSON
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.costs import cost_card
from collab_overcooked.reporting.differences import NOTE, difference_table, paired_differences
from collab_overcooked.reporting.floors import BEST, known_floors, play_of
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, estimate_json, join_tables
from collab_overcooked.reporting.results import blame
from collab_overcooked.reporting.sample_sizes import SAME_PEOPLE, counted, of_same_people
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import Variant, changed_options, variant_of, variant_of_match
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import RECORDS, about, read_packed
from collab_overcooked.runner.teams import team_text

if TYPE_CHECKING:
    import pandas

_POLICY = Column("Policy")
_KIND = Column("kind")
_EPISODES = Column("episodes", "number")
LEARNED = "RL"  # kind of trained policies
GREEDY = "greedy"  # what language models are compared with
_MILLISECONDS = Column("ms a decision", "number", digits=None)


@dataclass(frozen=True)
class LeaderboardLine:
    """Row of a leaderboard: a policy in all seats."""

    policy: str  # Spec
    kind: str  # Kind of the policy
    scores: Mapping[str, Estimate | None]  # Scores by setting; settings that were not played are missing
    summary: Summary  # Means over all episodes
    records: Sequence[EpisodeRecord]  # Episodes of the policy

    @cached_property
    def decisions(self) -> tuple[int, float]:
        """Number of decisions and their total time in seconds."""
        decisions = [times for record in self.records for times in record.decisions.values()]
        return sum(count for count, _ in decisions), sum(seconds for _, seconds in decisions)

    @cached_property
    def milliseconds(self) -> float | None:
        """Mean time of a decision; None if there was none."""
        count, seconds = self.decisions
        return 1000.0 * seconds / count if count else None

    def to_dict(self) -> dict[str, Any]:
        """Return the line as JSON values."""
        process = {column.name: estimate_json(estimate) for column, estimate in self.summary.process.items()}
        return {
            "policy": self.policy,
            "kind": self.kind,
            "scores": _scores_json(self.scores),
            "process": process,
            "episodes": len(self.records),
            "decisions": self.decisions[0],
            "milliseconds": self.milliseconds,
        }


@dataclass(frozen=True)
class Leaderboard:
    """The comparison in one game."""

    game: str  # Name of the suite
    title: str  # Game with all options that differ from their defaults
    benchmark: Benchmark  # Settings and number of episodes
    lines: tuple[LeaderboardLine, ...]  # Policies
    references: tuple[Reference, ...]  # Published numbers
    matrix: CrossPlay | None  # Cross-play; None if there was none
    pairs: tuple[EpisodeRecord, ...]  # Episodes of cross-play with different policies
    skipped: tuple[Skipped, ...]  # Settings that a policy did not play, with the reason
    remarks: tuple[str, ...]  # Sentences below the tables
    known_floors: Mapping[str, float] = field(default_factory=dict)  # Measured floors by setting, see ``floors``
    yardsticks: Mapping[str, float] = field(default_factory=dict)  # Measured scores of ``greedy`` by setting

    @cached_property
    def ordered(self) -> list[LeaderboardLine | Reference]:
        """Policies, each with a line of its own, and published results, best first."""
        return self._ranked(self.lines)

    def _ranked(self, lines: Sequence[LeaderboardLine]) -> list[LeaderboardLine | Reference]:
        """Return policies and published results, best first.

        Policies are ranked by the mean over their settings of score / yardstick (yardstick / score when lower is
        better). The best score on the board takes the place of a missing yardstick; the order can then depend on who
        else is compared. Where that is not above 0, a share is 1 less the distance from it, in units of its size and
        of at least 1.
        """
        everybody: list[LeaderboardLine | Reference] = [*lines, *self.references]
        lower = self.benchmark.lower_is_better
        best: dict[str, float] = {}
        for entry in everybody:
            for setting, value in _values(entry).items():
                best[setting] = (min if lower else max)(best.get(setting, value), value)
        best |= self.yardsticks

        def share(entry: LeaderboardLine | Reference) -> float:
            shares = []
            for setting, value in _values(entry).items():
                top = best[setting]
                if top <= 0:
                    shares.append(1.0 - abs(top - value) / max(1.0, abs(top)))
                elif not lower:
                    shares.append(value / top)
                else:
                    shares.append(top / value if value > 0 else math.inf)
            return sum(shares) / len(shares) if shares else 0.0

        return sorted(everybody, key=share, reverse=True)

    @cached_property
    def specialists(self) -> dict[str, list[LeaderboardLine]]:
        """By row name, trained policies of one method that each play different settings."""
        axes = {setting.name: next(iter(setting.axes), "setting") for setting in self.benchmark.settings}
        methods: dict[str, list[LeaderboardLine]] = {}
        for line in self.lines:
            spec = PolicySpec.parse(line.policy)
            if spec.parameters and line.kind == LEARNED and line.scores:
                mode = f" ({spec.mode})" if spec.mode else ""  # that is not the default of the files
                methods.setdefault(f"{spec.name}{mode}", []).append(line)
        return {
            f"{method}, one per {axes[next(iter(rows[0].scores))]}": rows
            for method, rows in methods.items()
            if len(rows) > 1 and len(_names(rows)) == sum(len(line.scores) for line in rows)
        }

    @cached_property
    def merged(self) -> list[LeaderboardLine]:
        """Rows of the tables.

        Checkpoints of one method that were trained for single settings are merged into one row. Of the blind rules,
        the best one is a row.
        """
        names = {line.policy: name for name, lines in self.specialists.items() for line in lines}
        blind = [line for line in self.lines if is_blind(line.policy)]
        by_name: dict[str, list[LeaderboardLine]] = {}
        for line in (*(line for line in self.lines if not is_blind(line.policy)), *self._best(blind)):
            by_name.setdefault(names.get(line.policy, line.policy), []).append(line)
        return [merged[0] if len(merged) == 1 else self._merge(name, merged) for name, merged in by_name.items()]

    def _best(self, blind: Sequence[LeaderboardLine]) -> list[LeaderboardLine]:
        """Merge several blind rules into one line: the best rule, under a name that says so."""
        if len(blind) < 2:
            return list(blind)
        best = next(line for line in self._ranked(blind) if isinstance(line, LeaderboardLine))
        return [replace(best, policy=f"best blind rule of {len(blind)}: {best.policy}")]

    def _merge(self, name: str, lines: Sequence[LeaderboardLine]) -> LeaderboardLine:
        method = PolicySpec.parse(lines[0].policy).name  # one team, for the summary
        records = [record.replace(team=dict.fromkeys(record.team, method)) for line in lines for record in line.records]
        scores = {setting: score for line in lines for setting, score in line.scores.items()}
        summary = registry.load_suite(self.game).summary(records)
        return LeaderboardLine(
            name, lines[0].kind, scores, summary, [record for line in lines for record in line.records]
        )

    @cached_property
    def merged_by_rank(self) -> list[LeaderboardLine]:
        """Rows of the tables without published ones, the best first."""
        return [line for line in self._ranked(self.merged) if isinstance(line, LeaderboardLine)]

    @cached_property
    def leaders(self) -> list[LeaderboardLine]:
        """The best policy, and those whose paired difference from it may be nothing."""
        ranked = self.merged_by_rank
        return [
            line
            for k, line in enumerate(ranked)
            if not k or _values(line) == _values(ranked[0]) or not self._is_behind(ranked[0], line)
        ]

    def _is_behind(self, best: LeaderboardLine, line: LeaderboardLine) -> bool:
        if not best.records or not line.records:
            return True
        difference = paired_differences({best.policy: best.records, line.policy: line.records}).get(line.policy)
        if difference is None or difference.mean.low is None or difference.mean.high is None:
            return True  # without an interval only equal scores are a tie
        return difference.mean.high < 0 if self.benchmark.lower_is_better else difference.mean.low > 0

    @cached_property
    def result(self) -> str:
        """Sentence that says who leads, with 95 % intervals if there are any; empty if nobody has played."""
        leaders, column = self.leaders, self.benchmark.column("")
        scores = [(line.policy, column.with_interval(line.summary.score)) for line in leaders]
        if len(scores) > 1:
            text = f"{join_and(' with '.join(score) for score in scores)} tie"
        else:
            text = "".join(f"{policy} leads with {score}" for policy, score in scores)
        has_interval = any(column.text(line.summary.score)[1] for line in leaders)
        form = "mean and 95 % interval" if has_interval else "mean without an interval"
        return f"{text}: {self.benchmark.measure}, {form}." if text else ""

    @cached_property
    def ranking(self) -> ResultTable:
        """Table of the scores by setting."""
        settings = [setting.name for setting in self.benchmark.settings]
        rows: list[tuple[Cell, ...]] = []
        marks: dict[int, str] = {}
        for i, entry in enumerate(self._ranked(self.merged)):
            scores = (entry.scores.get(setting) for setting in settings)
            if isinstance(entry, LeaderboardLine):
                marks[i] = entry.kind.lower()
                rows.append((entry.policy, entry.kind, *scores, len(entry.records), entry.milliseconds))
            else:
                marks[i] = "published"
                rows.append((f"{entry.name}, published", entry.kind, *scores, None, None))
        columns = (_POLICY, _KIND, *map(self.benchmark.column, settings), _EPISODES, _MILLISECONDS)
        return ResultTable(columns, tuple(rows), self.benchmark.measure, marks)

    @cached_property
    def floors(self) -> dict[str, float]:
        """Score of the best blind rule in each setting, measured in this comparison or stored."""
        best = max if not self.benchmark.lower_is_better else min
        blind = [_values(line) for line in self.lines if is_blind(line.policy)] + [dict(self.known_floors)]
        names = [setting.name for setting in self.benchmark.settings]
        scores = {name: [values[name] for values in blind if name in values] for name in names}
        return {name: best(values) for name, values in scores.items() if values}

    def above_floor(self) -> ResultTable | None:
        """Return how far policies are above the floors; None without a language model or a known floor."""
        floors, names = self.floors, [setting.name for setting in self.benchmark.settings]
        sign = -1 if self.benchmark.lower_is_better else 1
        lines = replace(self, lines=tuple(line for line in self.lines if not is_blind(line.policy))).merged_by_rank
        if not floors or not any(line.kind == LANGUAGE for line in lines):
            return None
        rows: list[tuple[Cell, ...]] = [(BEST, "scripted", *(floors.get(name) for name in names))]
        for line in lines:
            values = _values(line)
            above = (
                sign * (values[name] - floors[name]) if name in values and name in floors else None for name in names
            )
            rows.append((line.policy, line.kind, *above))
        columns = (_POLICY, _KIND, *(self.benchmark.column(name) for name in names))
        return ResultTable(columns, tuple(rows), f"Above the {BEST}, whose score is the first line")

    def process(self) -> ResultTable:
        """Return the process metrics of each policy, over all settings that it played."""
        lines = self.merged_by_rank
        heads = list(dict.fromkeys(column for line in lines for column in line.summary.process))
        rows = tuple((line.policy, *map(line.summary.process.get, heads)) for line in lines)
        marks = {i: line.kind.lower() for i, line in enumerate(lines)}
        columns = (_POLICY, *heads)
        return ResultTable(columns, rows, "How the scores came about", marks)

    def absent(self) -> ResultTable | None:
        """Return the settings that a policy did not play, with the reason; None if there are none."""
        grouped: dict[tuple[str, str], list[str]] = {}
        covered = {
            (line.policy, name) for lines in self.specialists.values() for line in lines for name in _names(lines)
        }
        for skip in self.skipped:
            if (skip.policy, skip.setting) in covered:
                continue
            grouped.setdefault((skip.policy, skip.reason), []).append(skip.setting)
        every = len(self.benchmark.settings)
        rows = tuple(
            (policy, "everything" if len(settings) == every else ", ".join(settings), reason)
            for (policy, reason), settings in grouped.items()
        )
        return ResultTable((_POLICY, Column("what"), Column("why")), rows, "Not played") if rows else None

    def matrix_table(self) -> ResultTable | None:
        """Return the mean returns of all pairs; None if there was no cross-play."""
        if self.matrix is None:
            return None
        return replace(
            self.matrix.table(), title=f"Mean return of pairs, first seat by other seats ({self.benchmark.pairs.name})"
        )

    @cached_property
    def differences(self) -> ResultTable | None:
        """Paired differences between the best policy and each other one on shared episodes; None without any."""
        lines = {line.policy: line.records for line in self.merged_by_rank}
        return difference_table(lines) if len(lines) > 1 else None

    def tables(self) -> list[ResultTable]:
        """Return all tables."""
        tables = (
            self.ranking,
            self.above_floor(),
            self.process(),
            self.differences,
            self.matrix_table(),
            self.absent(),
        )
        return [table for table in tables if table is not None]

    def notes(self) -> tuple[str, ...]:
        """Return sentences that belong below the tables."""
        return (
            "With 95 % intervals, unless all episodes were alike or there is one only. "
            f"Order: {self._order()}. Published lines were measured by others, not here.",
            *([NOTE] if self.differences is not None else []),
            *self.remarks,
        )

    def _order(self) -> str:
        fixed = [setting.name in self.yardsticks for setting in self.benchmark.settings]
        if all(fixed):
            return "mean share of the stored score of `greedy` in each setting played"
        best = "mean share of the best score on this board in each setting played (nearness to it if it is not above 0)"
        return f"{best}, or of the stored score of `greedy` where it is above 0" if any(fixed) else best

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as JSON values."""
        return {
            "game": self.game,
            "title": self.title,
            "measure": self.benchmark.measure,
            "result": self.result,
            "policies": [line.to_dict() for line in self.ordered if isinstance(line, LeaderboardLine)],
            "floors": self.floors,
            "published": [
                {"policy": reference.name, "kind": reference.kind, "scores": _scores_json(reference.scores)}
                for reference in self.references
            ],
            "crossplay": None if self.matrix is None else self.matrix.to_dict(),
            "absent": to_builtins(self.skipped),
        }


@dataclass(frozen=True)
class Comparison:
    """Leaderboards of all games, with decision times and costs."""

    plan: ComparisonPlan  # Plan of the comparison
    leaderboards: tuple[Leaderboard, ...]  # Leaderboards by game
    costs: Scorecard | None  # Costs of language models; None if none played
    missing: int  # Entries without records

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self.plan.policies)} on {', '.join(self.plan.games)}>"

    def verdict(self) -> str:
        """Return a sentence with the leading policies and the rank of language models relative to ``greedy``."""
        boards = [board for board in self.leaderboards if board.merged_by_rank]
        ranks = [board.merged_by_rank for board in boards]
        if not ranks:
            return "No policy has played."
        title = boards[0].title
        leaders = Counter(line.policy for board in boards for line in board.leaders)
        where = (title if len(ranks) == 1 else f"{count} of {len(ranks)} games" for _, count in leaders.most_common())
        ties = any(len(board.leaders) > 1 for board in boards)
        leads = "leads or ties" if ties else "leads"
        texts = [f"{name} {leads} in {games}" for (name, _), games in zip(leaders.most_common(), where, strict=True)]
        above, beside = Counter[str](), 0
        for lines in ranks:
            names = [line.policy for line in lines]
            models = [line.policy for line in lines if line.kind == LANGUAGE]
            if models and GREEDY in names:
                beside += 1
                above.update(model for model in models if names.index(model) < names.index(GREEDY))
        if beside:
            texts += [f"{model} is above {GREEDY} in {count} of {beside}" for model, count in above.most_common()]
            texts += [] if above else [f"no language model is above {GREEDY}"]
        return f"{'; '.join(texts)}."

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rankings of all games as one pandas DataFrame, with the game in the column ``game``."""
        tables = []
        for board in self.leaderboards:
            ranking = board.ranking
            rows = tuple((board.title, *row) for row in ranking.rows)
            tables.append(ResultTable((Column("game"), *ranking.columns), rows))
        return join_tables(tables).to_pandas()

    def times(self) -> ResultTable:
        """Return milliseconds a decision, by policy and game."""
        lines = {(board.game, line.policy): line for board in self.leaderboards for line in board.lines}
        rows: list[tuple[Cell, ...]] = []
        marks: dict[int, str] = {}
        for policy in (policy for policy in self.plan.policies if not is_blind(policy)):
            row = [lines.get((board.game, policy)) for board in self.leaderboards]
            if any(row):
                kind = PolicySpec.parse(policy).kind
                marks[len(rows)] = kind.lower()
                rows.append((policy, kind, *(None if line is None else line.milliseconds for line in row)))
        games = (Column(board.title, "number", digits=None) for board in self.leaderboards)
        return ResultTable((_POLICY, _KIND, *games), tuple(rows), "Milliseconds a decision", marks)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        values = to_builtins(self.plan)
        config = {
            name: values[name] for name in ("version", "budget", "episodes", "seed", "games", "policies", "limits")
        }
        return {
            "config": config,
            "games": [board.to_dict() for board in self.leaderboards],
            "costs": self.costs and self.costs.to_dict(),
        }


def _scores_json(scores: Mapping[str, Estimate | None]) -> dict[str, Any]:
    return {setting: estimate_json(score) for setting, score in scores.items()}


def _names(lines: Iterable[LeaderboardLine]) -> set[str]:
    return {name for line in lines for name in line.scores}


def _values(entry: LeaderboardLine | Reference) -> dict[str, float]:
    return {setting: score.value for setting, score in entry.scores.items() if score is not None}


def read_comparison(plan: ComparisonPlan, out: Path, people: Sequence[EpisodeRecord] = ()) -> Comparison:
    """Make a comparison from the records below its folder; entries without records are left out.

    Args:
        plan: Plan of the comparison.
        out: Its folder.
        people: Games of people; those of tasks that are compared make lines of their own.

    Raises:
        ValueError: The folder holds no records of this comparison.
    """
    begun = [entry for entry in plan.entries if has_lines(out / entry.folder / RECORDS)]
    records = {entry: read_packed(out / entry.folder) for entry in begun}
    if not records:
        raise ValueError(f"{out}: holds no records of this comparison")
    for entry, played in records.items():
        _check_records(plan, entry, played, out)
    kept = {entry: counted(played, RecordScoring()) for entry, played in records.items()}
    notes: dict[Entry, str] = {}
    for entry, played in records.items():
        if cut := len(played) - len(kept[entry]):
            team = ", ".join(dict.fromkeys(entry.team))
            notes[entry] = (
                f"{team}, {entry.setting}: {cut} of {len(played)} episodes were cut short by their budget and are left "
                "out."
            )
    leaderboards = []
    for game in plan.games:
        compared = {entry: played for entry, played in kept.items() if entry.game == game and played}
        remarks = tuple(note for entry, note in notes.items() if entry.game == game)
        lines, other = _people_lines(plan, game, people)
        remarks += (f"{other} episodes of people are of tasks or options that are not compared here.",) if other else ()
        remarks += (SAME_PEOPLE,) if any(of_same_people(line.records) for line in lines) else ()
        board = _leaderboard(plan, game, compared, remarks)
        known = {} if plan.options.get(game) else known_floors(game)
        floors = {name: floor.score for name, floor in known.items()}
        yardsticks = {
            name: floor.greedy for name, floor in known.items() if floor.greedy is not None and floor.greedy > 0
        }
        every_line = (*board.lines, *lines)
        leaderboards.append(replace(board, lines=every_line, known_floors=floors, yardsticks=yardsticks))
    every = [record for played in records.values() for record in played]
    return Comparison(plan, tuple(leaderboards), cost_card(every), len(plan.entries) - len(records))


def records_of_policies(out: Path) -> dict[str, list[EpisodeRecord]]:
    """Return the leaderboard records of a comparison by policy, without cross-play records."""
    plan, records = read_plan(out), dict[str, list[EpisodeRecord]]()
    for entry in plan.entries:
        if not entry.paired and has_lines(out / entry.folder / RECORDS):
            played = read_packed(out / entry.folder)
            _check_records(plan, entry, played, out)
            records.setdefault(entry.team[0], []).extend(played)
    return records


def _people_lines(
    plan: ComparisonPlan, game: str, people: Sequence[EpisodeRecord]
) -> tuple[list[LeaderboardLine], int]:
    suite, teams = registry.load_suite(game), dict[str, list[EpisodeRecord]]()
    for record in counted(people, RecordScoring()):
        if registry.suite_of(record) is suite:
            teams.setdefault(team_text(record.team.values()), []).append(record)
    if not teams:
        return [], 0
    settings = plan.benchmark(game).settings
    planned = {setting.name: plays_of(_brief(plan).planned(game, ["all=random"], setting)) for setting in settings}
    lines, other = [], 0
    for team, played in teams.items():
        by_setting = {
            name: [record for record in played if play_of(record) in known] for name, known in planned.items()
        }
        scores = {name: blame(records, suite.summary).score for name, records in by_setting.items() if records}
        every = [record for record in played if any(play_of(record) in known for known in planned.values())]
        other += len(played) - len(every)
        if every:
            lines.append(
                LeaderboardLine(team, PolicySpec.parse(PERSON).kind, scores, blame(every, suite.summary), every)
            )
    return lines, other


def _brief(plan: ComparisonPlan) -> ComparisonPlan:
    return structs.replace(plan, episodes=1)


def plays_of(plan: MatchPlan) -> dict[tuple[str, str], Variant]:
    """Return the variants that a plan plays by task and key, see ``floors.play_of``."""
    by_entry = {}
    for match in plan.templates:
        variant = variant_of_match(match)
        by_entry[match.task, variant.key] = variant
    return by_entry


def _check_records(plan: ComparisonPlan, entry: Entry, records: Sequence[EpisodeRecord], out: Path) -> None:
    try:
        planned = plays_of(_brief(plan).plan_of(entry)) if entry.game not in registry.COMMON_SUITES else {}
    except ValueError as error:
        raise ValueError(f"{out / PLAN}: {error}") from None
    variants = {variant.key: variant.title for variant in planned.values()}
    for record in records:
        with about(record):
            if registry.suite_of(record) is not registry.load_suite(entry.game):
                raise ValueError(f"env_id: got {record.env_id!r}, allowed is a game of {entry.game}")
            if set(record.team.values()) != set(entry.team):
                raise ValueError(f"team: got {', '.join(record.team.values())}, allowed is {', '.join(entry.team)}")
            if planned and variant_of(record).key not in variants:
                allowed = "; ".join(dict.fromkeys(variants.values()))
                raise ValueError(f"env_kwargs: got {variant_of(record).title}, allowed is {allowed}")


def _leaderboard(
    plan: ComparisonPlan, game: str, records: Mapping[Any, Sequence[EpisodeRecord]], notes: tuple[str, ...]
) -> Leaderboard:
    suite, benchmark = registry.load_suite(game), plan.benchmark(game)
    changed = _changed(plan, game)
    lines = []
    for policy in plan.policies:
        values = {
            entry.setting: played for entry, played in records.items() if not entry.paired and entry.team[0] == policy
        }
        if values:
            scores = {setting: blame(played, suite.summary).score for setting, played in values.items()}
            every = [record for played in values.values() for record in played]
            lines.append(
                LeaderboardLine(policy, PolicySpec.parse(policy).kind, scores, blame(every, suite.summary), every)
            )
    paired = [record for entry, played in records.items() if entry.paired for record in played]
    pool = [policy for policy in plan.policies if any(policy in entry.team for entry in records if entry.paired)]
    return Leaderboard(
        game=game,
        title=Variant(benchmark.title, changed).title,
        benchmark=benchmark,
        lines=tuple(lines),
        references=() if changed else tuple(suite.references(benchmark)),
        matrix=crossplay.from_records(pool, paired, plan.seed) if paired else None,
        pairs=tuple(record for record in paired if len(set(record.team.values())) > 1),
        skipped=tuple(skip for skip in plan.skipped if skip.game == game),
        remarks=(*notes, *suite.leaderboard_notes, *(() if changed else suite.reference_remarks(benchmark))),
    )


def _changed(plan: ComparisonPlan, game: str) -> dict[str, Any]:
    env_id, options = registry.load_suite(game).env_id, plan.options.get(game, {})
    changed = changed_options(env_id, options) if options else {}
    return changed | {f"limits.{name}": value for name, value in plan.limits.changed().items()}
