"""Charts of scorecards as inline SVG in the text colour of the page."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from collab_overcooked.io.files import draft
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.escaping import chart_label, html_text
from collab_overcooked.reporting.scorecard import Chart

INK = "#010203"  # placeholder that is replaced by currentColor
COLOURS = ("#3b7dd8", "#e07b39", "#3a9d6e", "#a05fc4")  # readable on white and on black
PLAIN_TEXT: Any = {"text.parse_math": False}  # dollar signs in names do not start formulas
_STYLE: Any = {
    **PLAIN_TEXT,
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


LINE_STYLES: tuple[Any, ...] = ("solid", "dotted")


def draw_chart(chart: Chart) -> Markup:
    """Draw estimates by group as dots with intervals, and the chart's reference lines.

    Returns:
        An ``<svg>`` element.
    """
    with rc_context({**_STYLE, "svg.hashsalt": chart.title}):
        figure, axes = _figure(chart.title)
        places = range(len(chart.groups))
        for (label, heights), style in zip(chart.lines.items(), LINE_STYLES, strict=False):
            left, right = [i - 0.36 for i in places], [i + 0.36 for i in places]
            axes.hlines(heights, left, right, colors=INK, linestyles=style, linewidth=1.4, label=label)
        _points(axes, chart)
        if chart.scale == 100.0:
            axes.set_ylim(-4, 104)
        elif chart.lines:
            axes.set_ylim(0, 1.08 * max(height for heights in chart.lines.values() for height in heights))
        if chart.lines or len(chart.series) > 1:
            _legend(figure, axes)
        return _svg(figure, chart.description)


def draw_ranking(title: str, rows: Mapping[str, Estimate]) -> Markup:
    """Draw estimates as dots with intervals, one per row.

    Args:
        title: Above the chart.
        rows: Estimate of each name, the first one on top.

    Returns:
        An ``<svg>`` element.
    """
    with rc_context({**_STYLE, "svg.hashsalt": title}):
        figure = Figure(figsize=(4.6, 0.9 + 0.28 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.set_title(chart_label(title), fontsize=11, loc="left")
        for place, estimate in enumerate(rows.values()):
            if estimate.low is not None and estimate.high is not None:
                axes.hlines(place, estimate.low, estimate.high, colors=COLOURS[0], linewidth=2.2, alpha=0.55)
            axes.plot(estimate.value, place, "o", color=COLOURS[0], markersize=6)
        axes.set_yticks(range(len(rows)), list(map(chart_label, rows)))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(axis="x", color=INK, alpha=0.13, linewidth=0.8)
        texts = "; ".join(f"{name} {estimate.value:.3g}" for name, estimate in rows.items())
        return _svg(figure, f"{title}: {texts}")


def draw_curves(title: str, axis: str, series: Mapping[str, Sequence[tuple[float, float]]], description: str) -> Markup:
    """Draw learning curves.

    Args:
        title: Above the chart.
        axis: Label of the horizontal axis.
        series: Points (x, y) of each curve by its label, x ascending.
        description: Text alternative.

    Returns:
        An ``<svg>`` element.
    """
    with rc_context({**_STYLE, "svg.hashsalt": title}):
        figure, axes = _figure(title)
        for k, (label, points) in enumerate(series.items()):
            style = LINE_STYLES[k // len(COLOURS) % len(LINE_STYLES)]
            colour = COLOURS[k % len(COLOURS)]
            axes.plot(
                *zip(*points, strict=True), color=colour, linestyle=style, linewidth=1.6, label=chart_label(label)
            )
        axes.set_xlabel(chart_label(axis))
        axes.grid(axis="y", color=INK, alpha=0.13, linewidth=0.8)
        _legend(figure, axes)
        return _svg(figure, description)


def draw_bands(curves: Mapping[str, Sequence[tuple[float, Any]]], title: str, axis: str, unit: str) -> Figure:
    """Draw curves of estimates with their intervals as bands.

    Args:
        curves: Label -> points (x, estimate), x ascending.
        title: Heading.
        axis: Name of the horizontal axis.
        unit: Name of the vertical axis.
    """
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for k, (label, points) in enumerate(curves.items()):
        colour = COLOURS[k % len(COLOURS)]
        style = LINE_STYLES[k // len(COLOURS) % len(LINE_STYLES)]
        x, estimates = [place for place, _ in points], [estimate for _, estimate in points]
        axes.plot(x, [e.value for e in estimates], color=colour, linestyle=style, label=chart_label(label))
        if all(e.low is not None for e in estimates):
            axes.fill_between(
                x, [e.low for e in estimates], [e.high for e in estimates], color=colour, alpha=0.18, linewidth=0
            )
    axes.set_title(chart_label(title), fontsize=11, loc="left")
    axes.set_xlabel(axis)
    axes.set_ylabel(chart_label(unit))
    axes.grid(alpha=0.2, linewidth=0.8)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _figure(title: str) -> tuple[Figure, Axes]:
    lines = textwrap.wrap(title, _TITLE_CHARS)
    figure = Figure(figsize=(4.6, 2.6 + _LINE_INCHES * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.set_title("\n".join(lines), fontsize=11, loc="left")
    return figure, axes


_TITLE_CHARS, _LEGEND_CHARS = 46, 64  # of a line as wide as the chart
_LINE_INCHES = 0.19


def _legend(figure: Figure, axes: Axes) -> None:
    """Name all series below the axes, in as many rows as their names need."""
    marks, labels = axes.get_legend_handles_labels()
    texts = [textwrap.fill(label, _LEGEND_CHARS) for label in labels]
    longest = max((len(line) for text in texts for line in text.splitlines()), default=0)
    columns = min(4, max(1, _LEGEND_CHARS // (longest + 6)))
    rows = -(-sum(text.count("\n") + 1 for text in texts) // columns)
    figure.set_figheight(figure.get_figheight() + _LINE_INCHES * rows)
    style: Any = {"frameon": False, "fontsize": 9, "ncols": columns, "columnspacing": 1.2}
    figure.legend(marks, texts, loc="outside lower left", **style)


def _points(axes: Axes, chart: Chart) -> None:
    scale = chart.scale
    for k, (label, estimates) in enumerate(chart.series.items()):
        shift = 0.16 * (k - (len(chart.series) - 1) / 2)
        known = [(i + shift, e) for i, e in enumerate(estimates) if e is not None]
        for x, estimate in known:
            if estimate.low is not None and estimate.high is not None:
                ends = scale * estimate.low, scale * estimate.high
                axes.vlines(x, *ends, colors=COLOURS[k % 4], linewidth=2.2, alpha=0.55)
        heights = [scale * estimate.value for _, estimate in known]
        axes.plot(
            [x for x, _ in known],
            heights,
            "o-" if chart.curve else "o",
            color=COLOURS[k % 4],
            markersize=6,
            label=chart_label(label) or None,
        )
    axes.set_xticks(range(len(chart.groups)), list(map(chart_label, chart.groups)))
    axes.set_xlim(-0.6, len(chart.groups) - 0.4)
    axes.set_xlabel(chart_label(chart.axis))
    axes.grid(axis="y", color=INK, alpha=0.13, linewidth=0.8)


def heat_map(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    sides: tuple[str, str],
    label: str,
    digits: int,
    scale: tuple[float, float] | None = None,
) -> Figure:
    """Draw a matrix as coloured cells with their numbers.

    Args:
        values: (R, C); NaN for cells without a number.
        rows: Names of the rows.
        columns: Names of the columns.
        sides: What rows and columns are.
        label: What the numbers are.
        digits: Decimal places.
        scale: Values of the first and the last colour; those of the lowest and the highest cell if None.
    """
    low, high = scale or (float(np.nanmin(values)), float(np.nanmax(values)))
    figure = Figure(figsize=(2.2 + 0.9 * len(columns), 1.6 + 0.8 * len(rows)), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(values, cmap="viridis", vmin=low, vmax=high)
    axes.set_xticks(range(len(columns)), list(map(chart_label, columns)), rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), list(map(chart_label, rows)))
    axes.set_ylabel(sides[0])
    axes.set_xlabel(sides[1])
    for i, j in np.ndindex(values.shape):
        colour = "black" if values[i, j] > (low + high) / 2 else "white"
        text = "" if np.isnan(values[i, j]) else f"{values[i, j]:.{digits}f}"
        axes.text(j, i, text, ha="center", va="center", color=colour)
    figure.colorbar(picture, label=label)
    return figure


def draw_heat_map(values: np.ndarray, names: Sequence[str], sides: tuple[str, str], label: str, text: str) -> Markup:
    """Draw a square matrix as ``heat_map`` does, for a page.

    Args:
        values: (R, R).
        names: Names of rows and columns.
        sides: What rows and columns are.
        label: What the numbers are.
        text: Text alternative.

    Returns:
        An ``<svg>`` element.
    """
    with rc_context({**_STYLE, "svg.hashsalt": label}):
        return _svg(heat_map(values, names, names, sides, label, 1), text)


def draw_profile(thresholds: np.ndarray, shares: Mapping[str, np.ndarray], title: str, axis: str) -> Figure:
    """Draw performance profiles: for each label the share of runs above every threshold.

    Args:
        thresholds: (T,).
        shares: Label -> (T,), or (3, T) with the ends of an interval below the profile.
        title: Heading.
        axis: Name of the thresholds.
    """
    figure = Figure(figsize=(7.6, 3.4), layout="constrained")
    axes = figure.subplots()
    for k, (label, values) in enumerate(shares.items()):
        profile, *ends = np.atleast_2d(values)
        style = LINE_STYLES[k // len(COLOURS) % len(LINE_STYLES)]
        axes.plot(thresholds, profile, color=COLOURS[k % 4], linestyle=style, label=chart_label(label))
        if ends:
            axes.fill_between(thresholds, *ends, color=COLOURS[k % 4], alpha=0.15, linewidth=0)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel(axis)
    axes.set_ylabel("fraction of partners and seeds above it")
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.2, linewidth=0.8)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG or PNG, by the ending of the path; the same figure gives the same bytes."""
    with rc_context({**PLAIN_TEXT, "svg.fonttype": "none", "svg.hashsalt": path.stem}):
        metadata = {"Date": None, "Creator": None} if path.suffix == ".svg" else {}
        with draft(path) as beside:
            figure.savefig(beside, dpi=120, bbox_inches="tight", metadata=metadata)


def _svg(figure: Figure, description: str) -> Markup:
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    before, _, after = text.partition("<metadata>")
    text = before + after.rpartition("</metadata>")[2]
    head, end, rest = text.partition(">")
    text = re.sub(r' (?:width|height)="[^"]*"', "", head) + end + rest
    text = text.replace("<svg", f'<svg role="img" aria-label="{html_text(description)}" class="chart"', 1)
    return Markup(text)
