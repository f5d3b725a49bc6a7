"""Charts of scorecards as inline SVG in the text colour of the page."""

from __future__ import annotations

import io
import re
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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


def draw_chart(chart: Chart) -> str:
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
            _legend(axes)
        return _svg(figure, chart.description)


def _figure(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(4.6, 2.9), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=11, loc="left", pad=22)
    return figure, axes


def _legend(axes: Axes) -> None:
    """Place the legend between title and plot."""
    axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=4, columnspacing=1.2)


def _points(axes: Axes, chart: Chart) -> None:
    """Draw each estimate as a dot with its interval as a line."""
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


def _svg(figure: Figure, description: str) -> str:
    """Return the figure as an SVG element with a text alternative."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    before, _, after = text.partition("<metadata>")
    text = before + after.rpartition("</metadata>")[2]
    head, end, rest = text.partition(">")
    text = re.sub(r' (?:width|height)="[^"]*"', "", head) + end + rest
    return text.replace("<svg", f'<svg role="img" aria-label="{html_text(description)}" class="chart"', 1)
