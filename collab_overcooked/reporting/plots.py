"""Charts of a score table as SVG text, made to sit inside a page: their ink is the page's own text colour."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from collab_overcooked.games.collab_overcooked.tables import Row, Table
from collab_overcooked.metrics import Estimate

INK = "#010203"  # stands for the page's text colour, and is replaced by it
Series = tuple[str, Sequence[Estimate | None]]
"""Label, and an estimate for each level."""
COLOURS = ("#3b7dd8", "#e07b39", "#3a9d6e", "#a05fc4")  # readable on white and on black
_STYLE: Any = {
    "svg.fonttype": "none",  # real text: the page's font, selectable, a third of the size
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def charts(table: Table) -> list[str]:
    """Draw SR, PC and TES per level with their intervals, and the steps of successful runs.

    Args:
        table: Scores; PC and TES are left out where there are no references.

    Returns:
        One ``<svg>`` element each.
    """
    rows = [row for row in table.levels if row.name != "total"]
    shown = [_shares("Success rate", rows, [("", [row.success_rate for row in rows])])]
    if all(row.pc is not None for row in rows):
        shown.append(_shares("Progress completeness", rows, [("", [row.pc for row in rows])]))
        agents = range(len(rows[0].tes or ()))
        shown.append(_shares("TES", rows, [(f"agent_{k}", [(row.tes or ())[k] for row in rows]) for k in agents]))
    return [*shown, _times(rows, table.limits, table.references)]


def _shares(title: str, rows: Sequence[Row], series: Sequence[Series]) -> str:
    with rc_context({**_STYLE, "svg.hashsalt": title}):
        figure, axes = _figure(f"{title}, %")
        _points(axes, rows, series, 100.0)
        axes.set_ylim(-4, 104)
        return _svg(figure, f"{title} per level, with 95 % intervals")


def _times(rows: Sequence[Row], limits: Mapping[str, float], references: Mapping[str, float]) -> str:
    with rc_context({**_STYLE, "svg.hashsalt": "times"}):
        figure, axes = _figure("Timesteps")
        lines: Any = ((limits, "solid", "limit"), (references, "dotted", "reference time"))
        for values, style, label in lines:
            heights = [values[row.name] for row in rows]
            left, right = [i - 0.36 for i in range(len(rows))], [i + 0.36 for i in range(len(rows))]
            axes.hlines(heights, left, right, colors=INK, linestyles=style, linewidth=1.4, label=label)
        _points(axes, rows, [("successful runs", [row.timesteps for row in rows])], 1.0)
        axes.set_ylim(0, 1.08 * max(limits.values()))
        _legend(axes)
        return _svg(figure, "Timesteps of successful runs per level beside time limit and reference time")


def _figure(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(4.6, 2.9), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=11, loc="left", pad=22)
    return figure, axes


def _legend(axes: Axes) -> None:
    """Put the legend between title and plot, where no data are."""
    axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=4, columnspacing=1.2)


def _points(axes: Axes, rows: Sequence[Row], series: Sequence[Series], scale: float) -> None:
    """Draw each estimate as a dot with its interval as a line."""
    for k, (label, estimates) in enumerate(series):
        shift = 0.16 * (k - (len(series) - 1) / 2)
        known = [(i + shift, e) for i, e in enumerate(estimates) if e is not None]
        for x, estimate in known:
            if estimate.low is not None and estimate.high is not None:
                axes.vlines(
                    x, scale * estimate.low, scale * estimate.high, colors=COLOURS[k % 4], linewidth=2.2, alpha=0.55
                )
        heights = [scale * estimate.value for _, estimate in known]
        axes.plot([x for x, _ in known], heights, "o", color=COLOURS[k % 4], markersize=6, label=label or None)
    axes.set_xticks(range(len(rows)), [row.name for row in rows])
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("level")
    axes.grid(axis="y", color=INK, alpha=0.13, linewidth=0.8)
    if len(series) > 1:
        _legend(axes)


def _svg(figure: Figure, description: str) -> str:
    """Return the figure as an element of a page, with a text for those who cannot see it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg", f'<svg role="img" aria-label="{description}" class="chart"', 1)
