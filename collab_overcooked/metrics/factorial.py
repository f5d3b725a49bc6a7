"""Tests of factors and their interactions, within and between units, and their power by simulation.

Requires the extra ``stats``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collab_overcooked.metrics.hypothesis_tests import f_effect, scipy_stats
from collab_overcooked.metrics.intervals import Estimate

Cell = tuple[str, ...]
"""Level of each factor, in the order of the factors."""
Term = tuple[str, ...]
"""Factors of a main effect or of an interaction."""
MAX_UNITS = 2000  # per cell


@dataclass(frozen=True, slots=True)
class TermTest:
    """The F test of a main effect or of an interaction."""

    term: Term  # Its factors
    f: float  # Statistic
    df: float  # Degrees of freedom of the term
    error_df: float  # Degrees of freedom of the error
    p: float  # With the Greenhouse-Geisser correction where a factor within units has several contrasts
    effect: Estimate | None = None  # Partial η² with the 95 % interval of the noncentral F distribution


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """Power of a test at a sample size."""

    units: int  # Number of units in each cell between units
    power: float  # Share of significant simulations


class FactorialDesign:
    """Values of units, for example of participants, in the cells of factors.

    A factor of which a unit has several levels varies within units; units that lack one of its cells are left out.

    Args:
        factors: Levels by factor.
        values: Value of each unit in each cell that it was in.

    Attributes:
        within: Factors that vary within units.
        between: Factors that vary between units.
        cells: Cells between units, levels of ``between``.
        tables: By cell between units, the values of its units: a row for each unit, a column for each cell within.

    Raises:
        ValueError: The extra ``stats`` is not installed, or a cell has fewer than two units.
    """

    def __init__(self, factors: Mapping[str, Sequence[str]], values: Mapping[Hashable, Mapping[Cell, float]]) -> None:
        self.factors = {name: tuple(levels) for name, levels in factors.items()}
        position = {name: k for k, name in enumerate(self.factors)}

        def varies(name: str) -> bool:
            """Return whether a unit has values of several levels of a factor."""
            return any(len({cell[position[name]] for cell in of_unit}) > 1 for of_unit in values.values())

        self.within = tuple(name for name in self.factors if varies(name))
        self.between = tuple(name for name in self.factors if name not in self.within)
        cells_within = list(product(*(self.factors[name] for name in self.within)))
        self.cells = list(product(*(self.factors[name] for name in self.between)))
        rows: dict[Cell, list[list[float]]] = {cell: [] for cell in self.cells}
        for of_unit in values.values():
            by_cell = {tuple(cell[position[name]] for name in self.within): value for cell, value in of_unit.items()}
            if len(by_cell) == len(cells_within):  # incomplete units are left out
                any_cell = next(iter(of_unit))
                between = tuple(any_cell[position[name]] for name in self.between)
                rows[between].append([by_cell[cell] for cell in cells_within])
        too_few = [" ".join(cell) or "all" for cell, units in rows.items() if len(units) < 2]
        if too_few:
            raise ValueError(f"fewer than two complete units in: {', '.join(too_few)}")
        self.tables = {cell: np.array(units) for cell, units in rows.items()}

    @property
    def terms(self) -> list[Term]:
        """All main effects and interactions of the factors with several levels."""
        varied = [name for name, levels in self.factors.items() if len(levels) > 1]
        return [term for k in range(1, len(varied) + 1) for term in combinations(varied, k)]

    def tests(self) -> list[TermTest]:
        """Return the tests of all terms with effect sizes; terms without a test, see ``test``, are left out."""
        tests = (self.test(term, self.tables) for term in self.terms)
        return [_with_effect(test) for test in tests if test is not None]

    def test(self, term: Term, tables: Mapping[Cell, NDArray[np.float64]]) -> TermTest | None:
        """Return the test of one term.

        Orthonormal contrasts within units become scores of units, each with a linear model of the factors between
        units. Sums of squares and degrees of freedom are added over the contrasts, as in the analysis of variance for
        repeated measures; p is corrected for a lack of sphericity (Greenhouse and Geisser 1959).

        Args:
            term: Its factors.
            tables: Values as in ``tables``.

        Returns:
            The test; None if the values do not vary.
        """
        weights = (_contrasts(len(self.factors[name]), name in term) for name in self.within)
        contrasts: NDArray[Any] = reduce(np.kron, weights, np.ones((1, 1)))
        scores = np.concatenate([tables[cell] @ contrasts for cell in self.cells])
        if np.ptp(scores, axis=0).max() == 0:
            return None
        outside = [name for name in self.between if name in term]
        counts = [len(tables[cell]) for cell in self.cells]
        columns, blocks = [], list[bool]()
        for k in range(len(self.between) + 1):
            for chosen in combinations(self.between, k):
                block = self._coded(chosen)
                columns.append(block)
                blocks += [list(chosen) == outside] * block.shape[1]
        design = np.repeat(np.concatenate(columns, axis=1), counts, axis=0)
        restricted = design[:, ~np.array(blocks)]
        errors, without = _errors(scores, design), _errors(scores, restricted)
        full = float((errors**2).sum())
        explained = float((without**2).sum() - (errors**2).sum())
        n = contrasts.shape[1]
        df, error_df = n * sum(blocks), n * (len(scores) - design.shape[1])
        if full <= 1e-12 * max(explained, 1.0):
            return None
        f = explained / df / (full / error_df)
        moments = errors.T @ errors
        epsilon = float(np.trace(moments)) ** 2 / (n * float((moments**2).sum()))
        p = float(scipy_stats().f.sf(f, df * epsilon, error_df * epsilon))
        return TermTest(term, f, df, error_df, p)

    def _coded(self, chosen: Sequence[str]) -> NDArray[np.float64]:
        """Return the columns of an effect between units, coded to sum to zero: a row for each cell."""
        rows = []
        for cell in self.cells:
            row: NDArray[Any] = np.ones(1)
            for name in chosen:
                levels = self.factors[name]
                k = levels.index(cell[self.between.index(name)])
                row = np.kron(row, np.eye(len(levels))[k, :-1] if k < len(levels) - 1 else -np.ones(len(levels) - 1))
            rows.append(row)
        return np.array(rows)

    def power(
        self, term: Term, effect: float, units: int, *, alpha: float = 0.05, simulations: int = 500, seed: int = 0
    ) -> float:
        """Estimate the power of a test: the share of simulated studies in which a term is significant.

        A simulated unit has the deviations of an observed unit, drawn with replacement, from the means of its cell,
        plus the effect: the first level of a factor minus the last, or for an interaction the difference of such
        differences. Levels between the first and the last are halfway between them. Deviations of a cell
        of n units are multiplied by √(n / (n - 1)), as those from an estimated mean are too small by that factor.

        Args:
            term: Factors of the effect.
            effect: Its size, in the unit of the values.
            units: Number of units in each cell between units.
            alpha: Level of significance.
            simulations: Number of simulated studies.
            seed: Random seed.
        """
        rng = np.random.default_rng((seed, units))
        tables = self.tables.values()
        deviations = np.concatenate([(t - t.mean(axis=0)) * (len(t) / (len(t) - 1)) ** 0.5 for t in tables])
        added = {cell: self._added(term, effect, cell) for cell in self.cells}
        significant = 0
        for _ in range(simulations):
            drawn = {cell: deviations[rng.integers(len(deviations), size=units)] + added[cell] for cell in self.cells}
            result = self.test(term, drawn)
            significant += result is not None and result.p < alpha
        return significant / simulations

    def _added(self, term: Term, effect: float, between: Cell) -> NDArray[np.float64]:
        """Return the shifts that an effect adds to each cell within units, for one cell between units."""
        values = []
        for inside in product(*(self.factors[name] for name in self.within)):
            level = dict(zip((*self.between, *self.within), (*between, *inside), strict=True))
            share = effect
            for name in term:
                levels = self.factors[name]
                share *= {levels[0]: 0.5, levels[-1]: -0.5}.get(level[name], 0.0)
            values.append(share)
        return np.array(values)

    def sample_size(
        self, term: Term, effect: float, power: float, *, alpha: float = 0.05, simulations: int = 500, seed: int = 0
    ) -> list[PowerPoint]:
        """Search the smallest sample size that reaches a power; return all sizes that were tried, ascending.

        Args:
            term: Factors of the effect.
            effect: Its size, see ``power``.
            power: Power to reach.
            alpha: Level of significance.
            simulations: Number of simulated studies of each size.
            seed: Random seed.

        Raises:
            ValueError: ``MAX_UNITS`` units per cell do not reach the power.
        """
        tried: dict[int, float] = {}

        def reaches(units: int) -> bool:
            tried[units] = self.power(term, effect, units, alpha=alpha, simulations=simulations, seed=seed)
            return tried[units] >= power

        low, high = 2, 4
        while not reaches(high):
            low, high = high, 2 * high
            if high > MAX_UNITS:
                raise ValueError(f"more than {MAX_UNITS // 2} units per cell are needed for an effect of {effect:g}")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        return [PowerPoint(units, tried[units]) for units in sorted(tried)]


def _contrasts(levels: int, tested: bool) -> NDArray[np.float64]:
    """Return orthonormal contrasts of the levels of a factor as columns, or the weights of their mean."""
    if not tested:
        return np.full((levels, 1), 1 / levels)
    helmert = np.triu(np.ones((levels, levels - 1))) - np.eye(levels, levels - 1, -1) * np.arange(levels)[:, None]
    return np.asarray(helmert / np.linalg.norm(helmert, axis=0))


def _errors(scores: NDArray[np.float64], design: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the errors of linear models, one for each column of scores."""
    basis = np.linalg.qr(design)[0]
    return np.asarray(scores - basis @ (basis.T @ scores))


def _with_effect(test: TermTest) -> TermTest:
    share = test.f * test.df / (test.f * test.df + test.error_df)
    return replace(test, effect=f_effect(test.f, int(test.df), int(test.error_df), share))
