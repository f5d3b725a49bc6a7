"""What a comparison comes to, made from its records alone: a board for every game, decision times, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.evaluation import crossplay
from collab_overcooked.evaluation.benchmark import Contest, Figure, Reference, Standing
from collab_overcooked.evaluation.compare.plan import Absence, Draw
from collab_overcooked.evaluation.crossplay import CrossPlay
from collab_overcooked.policies.registry import kind_of
from collab_overcooked.reporting.costs import Cost, costs_of
from collab_overcooked.reporting.grids import MISSING, Grid, Row, Sheet, ends
from collab_overcooked.runner.records import RECORDS, read_records

Record = Mapping[str, Any]
NOWHERE = Figure(None)


@dataclass(frozen=True)
class Line:
    """One policy on a board, playing with its like.

    Attributes:
        policy: Its text.
        kind: What kind of policy it is.
        scores: By arena; those that it did not play are missing.
        whole: What all its episodes come to.
        records: Its episodes.
    """

    policy: str
    kind: str
    scores: Mapping[str, Figure]
    whole: Standing
    records: Sequence[Record]

    @property
    def decisions(self) -> tuple[int, float]:
        """Number of decisions, and the seconds that they took."""
        own = [times for record in self.records for times in record.get("decisions", {}).values()]
        return sum(count for count, _ in own), sum(seconds for _, seconds in own)

    @property
    def milliseconds(self) -> float | None:
        """Time of a decision; None if there was none."""
        count, seconds = self.decisions
        return 1000.0 * seconds / count if count else None


@dataclass(frozen=True)
class Board:
    """The comparison in one game.

    Attributes:
        game: Name of the suite.
        contest: What was played.
        lines: Policies.
        references: Published numbers.
        matrix: The cross-play; None if there was none.
        pairs: Its episodes of policies that differ.
        absences: Who did not play what, and why.
        remarks: Sentences that belong below.
    """

    game: str
    contest: Contest
    lines: tuple[Line, ...]
    references: tuple[Reference, ...]
    matrix: CrossPlay | None
    pairs: tuple[Record, ...]
    absences: tuple[Absence, ...]
    remarks: tuple[str, ...]

    def ordered(self) -> list[Line | Reference]:
        """Return policies and published ones, the best first.

        A policy's place is the mean, over the arenas that it played, of its score as a share of the best one there.
        """
        everybody: list[Line | Reference] = [*self.lines, *self.references]
        best: dict[str, float] = {}
        for one in everybody:
            for arena, figure in _values(one).items():
                best[arena] = max(best.get(arena, 0.0), figure)

        def share(one: Line | Reference) -> float:
            shares = [value / best[arena] for arena, value in _values(one).items() if best[arena] > 0]
            return sum(shares) / len(shares) if shares else 0.0

        return sorted(everybody, key=share, reverse=True)

    # ---------------------------------------------------------------------------------------- tables

    def leaderboard(self) -> Grid:
        """Return the scores by arena."""
        arenas = [arena.name for arena in self.contest.arenas]
        rows = []
        for one in self.ordered():
            scores = [one.scores.get(arena, NOWHERE).words for arena in arenas]
            if isinstance(one, Line):
                rows.append(Row(one.policy, (one.kind, *scores, _time(one.milliseconds)), one.kind.lower()))
            else:
                rows.append(Row(f"{one.name}, published", (one.kind, *scores, MISSING), "published"))
        return Grid(self.contest.measure, "Policy", ("kind", *arenas, "ms a decision"), tuple(rows))

    def process(self) -> Grid:
        """Return what else was measured, over all arenas that a policy played."""
        lines = [one for one in self.ordered() if isinstance(one, Line)]
        heads = list(dict.fromkeys(name for line in lines for name in line.whole.process))
        rows = [
            Row(
                line.policy,
                (*(line.whole.process.get(name, NOWHERE).words for name in heads), str(len(line.records))),
                line.kind.lower(),
            )
            for line in lines
        ]
        return Grid("How the scores came about", "Policy", (*heads, "episodes"), tuple(rows))

    def absent(self) -> Grid | None:
        """Return who did not play what; None if everybody played everything."""
        grouped: dict[tuple[str, str], list[str]] = {}
        for absence in self.absences:
            grouped.setdefault((absence.policy, absence.reason), []).append(absence.arena)
        if not grouped:
            return None
        every = len(self.contest.arenas)
        rows = [
            Row(policy, ("everything" if len(arenas) == every else ", ".join(arenas), reason))
            for (policy, reason), arenas in grouped.items()
        ]
        return Grid("Not played", "Policy", ("what", "why"), tuple(rows))

    def sheet(self) -> Sheet:
        """Return everything as tables."""
        tables = [self.leaderboard(), self.process()]
        if self.matrix is not None:
            tables.append(_matrix_grid(self.matrix, self.contest))
        absent = self.absent()
        return Sheet(
            "a policy in all seats",
            self.contest.title,
            (*tables, *([absent] if absent else [])),
            self.notes(),
            tuple(self.values_by_line()),
            self.as_json(),
        )

    def notes(self) -> tuple[str, ...]:
        """Return sentences that belong below the tables."""
        return (
            "With 95 % intervals, unless all episodes were alike or there is one only. Order: mean share of the best "
            "score of each arena played. Published lines were measured by others, not here.",
            *self.remarks,
        )

    def values_by_line(self) -> Iterator[dict[str, Any]]:
        """Yield a flat line for each policy and arena, and for each published number."""
        for one in self.ordered():
            for arena, figure in one.scores.items():
                mine = isinstance(one, Line)
                yield {
                    "game": self.game,
                    "policy": one.policy if isinstance(one, Line) else one.name,
                    "kind": one.kind,
                    "published": int(not mine),
                    "arena": arena,
                    **ends(figure.estimate),
                }

    def as_json(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return {
            "game": self.game,
            "measure": self.contest.measure,
            "policies": [
                {
                    "policy": one.policy,
                    "kind": one.kind,
                    "scores": {arena: ends(figure.estimate) for arena, figure in one.scores.items()},
                    "process": {name: ends(figure.estimate) for name, figure in one.whole.process.items()},
                    "episodes": len(one.records),
                    "decisions": one.decisions[0],
                    "milliseconds": one.milliseconds,
                }
                for one in self.ordered()
                if isinstance(one, Line)
            ],
            "published": [
                {
                    "policy": one.name,
                    "kind": one.kind,
                    "scores": {arena: ends(figure.estimate) for arena, figure in one.scores.items()},
                }
                for one in self.references
            ],
            "crossplay": None if self.matrix is None else self.matrix.as_dict(),
            "absent": [asdict(absence) for absence in self.absences],
        }


@dataclass(frozen=True)
class Comparison:
    """All boards, and what deciding took.

    Attributes:
        draw: What was played.
        boards: By game.
        costs: What language models took.
        missing: Entries without records.
    """

    draw: Draw
    boards: tuple[Board, ...]
    costs: tuple[Cost, ...]
    missing: int

    def times(self) -> Grid:
        """Return milliseconds a decision, by policy and game."""
        lines = {(board.game, line.policy): line for board in self.boards for line in board.lines}
        rows = []
        for policy in self.draw.policies:
            own = [lines.get((board.game, policy)) for board in self.boards]
            cells = [MISSING if line is None else _time(line.milliseconds) for line in own]
            if any(own):
                kind = kind_of(policy)
                rows.append(Row(policy, (kind, *cells), kind.lower()))
        heads = ("kind", *(board.contest.title for board in self.boards))
        return Grid("Milliseconds a decision", "Policy", heads, tuple(rows))

    def as_json(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        own = asdict(self.draw)
        config = {name: own[name] for name in ("version", "budget", "episodes", "seed", "games", "policies", "limits")}
        return {
            "config": config,
            "games": [board.as_json() for board in self.boards],
            "costs": [cost.as_json() for cost in self.costs],
        }


def _values(one: Line | Reference) -> dict[str, float]:
    return {arena: figure.estimate.value for arena, figure in one.scores.items() if figure.estimate is not None}


def _time(milliseconds: float | None) -> str:
    """Write milliseconds with two digits that count."""
    if milliseconds is None:
        return MISSING
    return f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.2g}"


def _matrix_grid(matrix: CrossPlay, contest: Contest) -> Grid:
    size = range(len(matrix.names))
    rows = [Row(matrix.names[i], tuple(Figure(matrix.cell(i, j)).words for j in size)) for i in size]
    return Grid(
        f"Mean return of pairs, first seat by other seats ({contest.pairs.name})",
        "First seat",
        matrix.names,
        tuple(rows),
    )


# ------------------------------------------------------------------------------------------- from records


def read_comparison(draw: Draw, out: Path) -> Comparison:
    """Make a comparison from the records below its folder; entries without records are left out.

    Raises:
        ValueError: For a damaged record, or if there is none at all.
    """
    records = {
        entry: read_records(out / entry.folder) for entry in draw.entries if _begun(out / entry.folder / RECORDS)
    }
    if not records:
        raise ValueError(f"{out}: holds no records of this comparison")
    boards = []
    for game in draw.games:
        own = {entry: played for entry, played in records.items() if entry.game == game}
        boards.append(_board(draw, game, own))
    every = [record for played in records.values() for record in played]
    return Comparison(draw, tuple(boards), costs_of(every), len(draw.entries) - len(records))


def _begun(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _board(draw: Draw, game: str, records: Mapping[Any, Sequence[Record]]) -> Board:
    suite, contest = registry.load_suite(game), draw.contest(game)
    lines = []
    for policy in draw.policies:
        own = {entry.arena: played for entry, played in records.items() if not entry.paired and entry.team[0] == policy}
        if own:
            scores = {arena: suite.standing(played).score for arena, played in own.items()}
            every = [record for played in own.values() for record in played]
            lines.append(Line(policy, kind_of(policy), scores, suite.standing(every), every))
    paired = [record for entry, played in records.items() if entry.paired for record in played]
    pool = [policy for policy in draw.policies if any(policy in entry.team for entry in records if entry.paired)]
    return Board(
        game=game,
        contest=contest,
        lines=tuple(lines),
        references=tuple(suite.references(contest)),
        matrix=crossplay.from_records(pool, paired, draw.seed) if paired else None,
        pairs=tuple(record for record in paired if len(set(record["team"].values())) > 1),
        absences=tuple(absence for absence in draw.absences if absence.game == game),
        remarks=tuple(suite.remarks(contest)),
    )
