"""Charts: all of their text is in the picture."""

from __future__ import annotations

import re
import warnings

from matplotlib.figure import Figure

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting import plots
from collab_overcooked.reporting.scorecard import Chart


def test_long_titles_and_many_names_stay_inside_of_a_chart(monkeypatch) -> None:
    """Nothing of a long title, an axis or a legend of several runs lies outside of the figure."""
    drawn: list[Figure] = []
    svg = plots._svg
    monkeypatch.setattr(plots, "_svg", lambda figure, text: drawn.append(figure) or svg(figure, text))
    names = ["collab", "a-much-longer-name-of-a-run-folder-than-the-others-of-gpt-4o", "gamma"]
    series = {name: (Estimate(0.5, 0.2, 0.9), None, Estimate(1.0, 0.9, 1.0)) for name in names}
    title = "Success rate by time limit, as a multiple of the reference time, %"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = plots.draw_chart(Chart(title, title, ("1", "1.5", "2"), series, 100.0, axis="gamma", curve=True))
    words = " ".join(re.findall(r">([^<>]+)</text>", text))
    assert all(name in words for name in names) and "gamma" in words
    assert all(word in words for word in title.split())
    (figure,) = drawn
    figure.draw_without_rendering()
    whole = figure.bbox
    for artist in (*figure.legends, figure.axes[0].xaxis.label, figure.axes[0]._left_title):
        box = artist.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1, artist
