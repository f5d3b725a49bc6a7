"""Tables of collaboration scores by level and pace, as the paper prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.orders import Cell, cos, mean_known


@dataclass(frozen=True)
class CosTable:
    """Table of conditions by levels for one number of agents, as the paper's tables 6 to 8."""

    agents: int  # Number of agents
    alphas: tuple[float, ...]  # Conditions in the order of the rows; a larger alpha gives more time between orders
    levels: tuple[str, ...]  # Levels in the order of the columns
    # (level, alpha) -> one fraction a run; combinations that were not played are missing
    runs: Mapping[tuple[str, float], tuple[Cell, ...]]

    def cell(self, level: str, alpha: float) -> Cell | None:
        """Return a cell summed over runs; None if it was not played."""
        runs = self.runs.get((level, alpha))
        if not runs:
            return None
        return Cell(sum(run.completed for run in runs), sum(run.resolved for run in runs))

    def cos(self, level: str) -> Estimate | None:
        """Return the CoS of a level."""
        return cos([self.runs[level, alpha] for alpha in self.alphas if self.runs.get((level, alpha))])

    def complete(self, level: str) -> bool:
        """Return whether a level was played at every alpha, without which its CoS is not comparable."""
        return all(self.runs.get((level, alpha)) for alpha in self.alphas)

    def row_average(self, alpha: float) -> float | None:
        """Return the mean ratio of all levels at one alpha, the last column of the paper's tables."""
        cells = (self.cell(level, alpha) for level in self.levels)
        return mean_known(cell.ratio for cell in cells if cell is not None)

    def average(self, levels: Iterable[str] | None = None) -> float | None:
        """Return the mean CoS of some levels; of all if None."""
        scores = (self.cos(level) for level in (self.levels if levels is None else levels))
        return mean_known(score.value for score in scores if score is not None)
