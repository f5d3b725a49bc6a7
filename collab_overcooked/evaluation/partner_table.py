"""Tables and pictures of scores beside partners, computed from JSON lines; files are merged by concatenation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from collab_overcooked.evaluation.partner_scores import CROSS, FILE, ITSELF, LINES, PARTNER, SELF, PartnerScore
from collab_overcooked.io.files import write_atomic
from collab_overcooked.metrics import robust
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.runner.records import read_lines

Array = np.ndarray
THRESHOLDS = np.linspace(0.0, 1.2, 61)
UNCERTAIN = 0.25  # half of the best response's interval, as a share of its distance from a random ego, at most
SMALL = 10  # returns below it are shown with two digits
TABLE, PROFILE, HEAT_MAP = "partners", "profile", "partners_by_method"


def read_scores(paths: Sequence[Path]) -> list[PartnerScore]:
    """Read results of ``partners score``; of repeated lines the one with the most games counts.

    Args:
        paths: Folders with ``scores.jsonl``, or files of such lines.

    Raises:
        ValueError: Results are of several pools, contradict each other, or hold no partner.
    """
    lines: dict[tuple[object, ...], PartnerScore] = {}
    for path in paths:
        file = path / FILE if path.is_dir() else path
        for line, _ in read_lines(file, LINES, lambda line: (line.key, tuple(line.returns))):
            fewer, more = sorted((lines.get(line.key, line), line), key=lambda known: len(known.returns))
            lines[line.key] = more
            if more.returns[: len(fewer.returns)] != fewer.returns:
                raise ValueError(
                    f"{file}: {line.method} with {line.partner} in seat {line.seat} contradicts another line "
                    "about the same games; delete one of them"
                )
    pools = dict.fromkeys((line.pool, line.pool_sha256) for line in lines.values())
    if len(pools) > 1:
        names = ", ".join(f"{name} ({digest[:8]})" for name, digest in pools)
        raise ValueError(f"results of several pools: {names}; make one table for each")
    if not any(line.kind == PARTNER for line in lines.values()):
        raise ValueError(f"{', '.join(map(str, paths))}: no result with a partner")
    return list(lines.values())


@dataclass(frozen=True)
class Scores:
    """Scores of methods beside the same partners."""

    lines: Sequence[PartnerScore]  # Results of one pool
    resamples: int = robust.RESAMPLES  # Bootstrap resamples of each interval

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the results."""
        return tuple(dict.fromkeys(line.method for line in self.lines if line.kind == PARTNER))

    @cached_property
    def _dropped(self) -> dict[str, str]:
        every: dict[str, set[tuple[str, str]]] = {}
        dropped: dict[str, str] = {}
        for line in self.lines:
            if line.kind != PARTNER:
                continue
            every.setdefault(line.partner, set()).add((line.method, line.ego))
            best, lower = line.best, line.lower
            if best is None:
                dropped[line.partner] = "no best response is known"
            elif lower is None:
                dropped[line.partner] = "the return of a random ego is not known"
            elif best.high - best.low >= 2 * UNCERTAIN * (best.value - lower):
                earned = f"{best.value:g} ({best.low:g} to {best.high:g})"  # a denominator near 0 makes any share
                dropped[line.partner] = f"its best response earns {earned}, a random ego {lower:g}"
            elif line.seen == ITSELF:
                dropped[line.partner] = f"it is the ego {line.method}"
        egos = set().union(*every.values())
        return dropped | {name: "not met by every ego" for name, met in every.items() if met != egos}

    @cached_property
    def families(self) -> dict[str, str]:
        """Families of the partners that count, by name.

        Raises:
            ValueError: No partner is left to compare methods.
        """
        families: dict[str, str] = {line.partner: line.family for line in self.lines if line.kind == PARTNER}
        left = {name: family for name, family in families.items() if name not in self._dropped}
        if not left:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self._dropped.items())
            raise ValueError(f"no partner is left to compare methods: {reasons}; 'partners best' finds best responses")
        return left

    def games(self, method: str, normalise: Callable[[Array, PartnerScore], Array]) -> robust.Games:
        """Return the normalised returns of a method's games, by training seed and partner, of all seats together."""
        cells: dict[tuple[str, str], list[Array]] = {}
        for line in self.lines:
            if line.kind == PARTNER and line.method == method and line.partner in self.families:
                returns = normalise(np.array(line.returns, float), line)
                cells.setdefault((line.ego, line.partner), []).append(returns)
        egos = dict.fromkeys(ego for ego, _ in cells)
        return [[np.concatenate(cells[ego, partner]) for partner in self.families] for ego in egos]

    def _million_steps(self, method: str) -> float | None:
        """Return the environment steps of a method's longest training in millions; None for programs."""
        steps = [line.steps for line in self.lines if line.method == method and line.steps]
        return max(steps) / 1e6 if steps else None

    def _fewest_games(self, method: str) -> int:
        """Return the number of games beside the partner with the fewest, of all seeds and seats together."""
        games = Counter[str]()
        for line in self.lines:
            if line.kind == PARTNER and line.method == method and line.partner in self.families:
                games[line.partner] += len(line.returns)
        return min(games.values())

    def _returns(self, method: str, kind: str) -> Estimate | None:
        cells: dict[str, list[float]] = {}
        for line in self.lines:
            if line.kind == kind and line.method == method:
                cells.setdefault(line.ego, []).extend(line.returns)
        return self._mean([[np.array(returns, float)] for returns in cells.values()], [kind]) if cells else None

    def table(self) -> ResultTable:
        """Return a row for each method: shares of the best response over partners, by family, and self-play."""
        groups = list(self.families.values())
        names = list(dict.fromkeys(groups))
        statistics: dict[str, Callable[[Array], float]] = {
            "mean": lambda scores: float(np.mean(list(robust.group_means(scores, groups).values()))),
            "by partner": lambda scores: float(scores.mean()),
            "IQM": robust.iqm,
            "worst tenth": robust.worst_tenth,
            "lowest family": lambda scores: robust.lowest_group(scores, groups),
        }
        columns = [Column("method"), Column("seeds", "number", 0), Column("million steps", "number", None)]
        columns += [Column("games", "number", 0)]
        columns += [Column(n, "estimate", 2) for n in statistics]
        columns += [Column("BR-Prox", "estimate", 2), *(Column(n, "estimate", 2, key=f"family {n}") for n in names)]
        digits = 2 if max(abs(number) for line in self.lines for number in line.returns) < SMALL else 1
        columns += [Column("return", "estimate", digits), Column("self-play", "estimate", digits)]
        columns += [Column("other seeds", "estimate", digits), Column("SP - XP", "number", digits)]
        rows: list[tuple[Cell, ...]] = []
        for method in self.methods:
            shares = self.games(method, share)
            robustly = robust.nested_intervals(shares, groups, statistics, self.resamples)
            clipped = self._proximity(method, groups)
            by_family = [self._of_family(shares, name) for name in names]
            returns = self._mean(self.games(method, lambda returns, _: returns), groups)
            with_itself, others = self._returns(method, SELF), self._returns(method, CROSS)
            gap = None if with_itself is None or others is None else with_itself.value - others.value
            rows.append(
                (
                    method,
                    len(shares),
                    self._million_steps(method),
                    self._fewest_games(method),
                    *robustly.values(),
                    clipped,
                    *by_family,
                    returns,
                    with_itself,
                    others,
                    gap,
                )
            )
        return ResultTable(tuple(columns), tuple(rows), self.title)

    def _proximity(self, method: str, groups: Sequence[str]) -> Estimate | None:
        """Return BR-Prox; None if a best response earns nothing, so that returns are no shares of it."""
        if any(_best(line) <= 0.0 for line in self.lines if line.kind == PARTNER and line.partner in self.families):
            return None
        proximity = {"BR": robust.best_response_proximity}
        return robust.nested_intervals(self.games(method, plain_share), groups, proximity, self.resamples)["BR"]

    def _of_family(self, games: robust.Games, name: str) -> Estimate:
        members = [p for p, family in enumerate(self.families.values()) if family == name]
        return self._mean([[row[p] for p in members] for row in games], [name] * len(members))

    def _mean(self, games: robust.Games, groups: Sequence[str]) -> Estimate:
        mean = {"mean": lambda scores: float(scores.mean())}
        return robust.nested_intervals(games, groups, mean, self.resamples)["mean"]

    def improvements(self) -> ResultTable:
        """Return the probability that a seed of the row's method scores higher than one of the column's."""
        columns = (Column("higher than"), *(Column(name, "estimate", 2, key=f"than {name}") for name in self.methods))
        games, groups = [self.games(name, share) for name in self.methods], list(self.families.values())
        intervals = robust.improvement_intervals(games, groups, self.resamples)
        rows: list[tuple[Cell, ...]] = [
            (one, *(None if other == one else estimate for other, estimate in zip(self.methods, row, strict=True)))
            for one, row in zip(self.methods, intervals, strict=True)
        ]
        return ResultTable(columns, tuple(rows), "Probability of improvement")

    @property
    def title(self) -> str:
        """Pool, number of partners, and unit of the numbers."""
        count = len(self.families)
        sizes = {line.test_partners for line in self.lines if line.partner in self.families}
        size = sizes.pop() if len(sizes) == 1 else None  # partners of several splits, or of none
        partners = f"{count} partners" if size in (None, count) else f"{count} of {size} partners"
        return f"{self.lines[0].pool}: shares of the best response with {partners}"

    def notes(self) -> list[str]:
        """Return the notes below the tables."""
        counted = [line for line in self.lines if line.kind == PARTNER and line.partner in self.families]
        games = [len(line.returns) for line in counted]
        versions = sorted({line.version for line in self.lines})
        met = {line.seen for line in counted} - {ITSELF}
        modes = sorted({line.mode for line in self.lines if line.mode})
        notes = [
            f"measured with version {', '.join(versions)} of the package",
            f"{min(games)} games per seed, partner and seat" + ("" if min(games) == max(games) else " at least"),
            "partners are each an " + " or an ".join(sorted(met)) if met else "",
            f"networks play in mode {', '.join(modes)}" if modes else "",
            "mean: of the families' means; by partner: of all partners",
            "0 is a random ego, 1 the best response in the pool; unclipped, except BR-Prox, where 0 is a return of 0",
            "intervals are over seeds, partners of each family and games; the two ends of the scale count as exact",
            *(f"left out: {name}, {reason}" for name, reason in self._dropped.items()),
        ]
        return [note for note in notes if note]

    def markdown(self) -> str:
        """Return tables and notes as Markdown."""
        notes = "\n".join(f"- {note}" for note in self.notes())
        return f"{self.title}\n\n{self.table().markdown()}\n\nProbability of improvement\n\n" + (
            f"{self.improvements().markdown()}\n\n{notes}\n"
        )

    def write(self, folder: Path) -> list[str]:
        """Write the tables as Markdown and CSV, and the pictures as SVG and PNG; returns the names of the files."""
        from collab_overcooked.reporting.plots import draw_profile, heat_map, save_figure

        write_atomic(folder / f"{TABLE}.md", self.markdown().encode())
        write_atomic(folder / f"{TABLE}.csv", self.table().csv().encode())
        games, groups = {name: self.games(name, share) for name in self.methods}, list(self.families.values())
        profiles = {
            name: robust.profile_intervals(cells, groups, THRESHOLDS, self.resamples) for name, cells in games.items()
        }
        profile = draw_profile(THRESHOLDS, profiles, self.title, "share of the best response")
        matrix = np.array([robust.cell_means(cells).mean(0) for cells in games.values()])
        sides, label = ("ego", "partner"), "share of the best response"
        cells = heat_map(matrix, list(games), list(self.families), sides, label, 2, scale=(0.0, 1.0))
        for name, figure in ((PROFILE, profile), (HEAT_MAP, cells)):
            for ending in ("svg", "png"):
                save_figure(figure, folder / f"{name}.{ending}")
        return sorted(path.name for path in folder.iterdir() if path.stem in (TABLE, PROFILE, HEAT_MAP))


def share(returns: Array, line: PartnerScore) -> Array:
    """Return returns as shares of the way from a random ego's to the best response's."""
    assert line.lower is not None  # partners without the return of a random ego are left out
    return (returns - line.lower) / (_best(line) - line.lower)


def plain_share(returns: Array, line: PartnerScore) -> Array:
    """Return returns as shares of the best response's, as ZSC-Eval's BR-Prox has them."""
    return returns / _best(line)


def _best(line: PartnerScore) -> float:
    assert line.best is not None  # partners without a best response are left out
    return line.best.value
