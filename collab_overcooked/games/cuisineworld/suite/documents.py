"""Check of level files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from collab_overcooked.games.cuisineworld.engine.spec import COOKBOOK, FOLDER, KEYS, PAPER_ALPHAS
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import option


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """Paces that a level is checked at."""

    alphas: tuple[float, ...] = option(PAPER_ALPHAS, "Paces of orders to show times of.")

    def __post_init__(self) -> None:
        if not self.alphas or not all(0 < alpha < float("inf") for alpha in self.alphas):
            raise ValueError(f"alphas: {','.join(map(str, self.alphas))!r} must be numbers above 0")


def check_levels(sources: Sequence[str], options: LevelOptions) -> Finding:
    """Report intervals and lifetimes, orders that cannot be made and unused tools."""
    from collab_overcooked.games.cuisineworld.engine.solvability import prove_solvability, report_text
    from collab_overcooked.games.cuisineworld.engine.spec import load_level

    reports = [prove_solvability(load_level(source), options.alphas) for source in sources]
    values = [{**asdict(report), "problems": report.problems, "ok": report.ok} for report in reports]
    return Finding(report_text(reports), values, all(report.ok for report in reports))


LEVEL = DocumentKind(
    "level",
    FOLDER,
    KEYS,
    check_levels,
    "Shows intervals and lifetimes, orders that cannot be made and unused tools.",
    LevelOptions,
    bases=(COOKBOOK,),
)
