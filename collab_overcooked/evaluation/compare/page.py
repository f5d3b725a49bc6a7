"""A comparison in every form: one HTML page that loads nothing, Markdown, JSON, and tables for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked.evaluation.compare.leaderboard import Comparison, Leaderboard, LeaderboardLine, Record
from collab_overcooked.io.files import write_atomic
from collab_overcooked.reporting import report
from collab_overcooked.reporting.escaping import html_text, markdown_text, terminal_text
from collab_overcooked.reporting.plots import draw_ranking
from collab_overcooked.reporting.result_table import ResultTable

REPLAYS, STEPS = 12, 80  # on the page, and of each
MAX_CHARTS = 6  # of a game
FILES = ("report.html", "report.md", "report.json")
KINDS: Mapping[str, str] = {
    "scripted": "follows rules that people wrote",
    "search": "looks ahead on the game's true dynamics",
    "RL": "learned by trial and error",
    "language": "a language model, asked as text",
    "human": "a person at a page or a terminal",
}
TIMES = (
    "Means over all decisions of the run: processor time of the seat that decides, without compiling; for language "
    "models the time that passes, waiting included. A policy that remembers plans answers the same state from memory."
)


def write(comparison: Comparison, out: Path) -> Path:
    """Write all files, and return the path of the page."""
    for name, text in zip(FILES, (page(comparison, out), markdown(comparison), json_text(comparison)), strict=True):
        write_atomic(out / name, text.encode())
    return out / FILES[0]


def show(console: Console, comparison: Comparison) -> None:
    """Print the leaderboards and the decision times."""
    for board in comparison.leaderboards:
        console.print(terminal_text(board.title, "bold"))
        board.ranking().show(console)
    comparison.times().show(console)
    if comparison.costs is not None:
        comparison.costs.show(console)


def json_text(comparison: Comparison) -> str:
    """Return everything as JSON."""
    return json.dumps(comparison.to_dict(), indent=1) + "\n"


def markdown(comparison: Comparison) -> str:
    """Return everything as Markdown."""
    parts = ["# Comparison of policies\n", f"{markdown_text(_summary(comparison))}\n"]
    for board in comparison.leaderboards:
        parts.append(f"## {markdown_text(board.title)}\n\nTeam: a policy in all seats\n")
        parts += [f"### {markdown_text(table.title)}\n\n{table.markdown()}\n" for table in board.tables()]
        parts += [f"{markdown_text(note)}\n" for note in board.notes()]
    times = comparison.times()
    parts.append(f"## {times.title}\n\n{times.markdown()}\n\n{TIMES}\n")
    if comparison.costs is not None:
        parts.append(comparison.costs.markdown())
    return "\n".join(parts)


def page(comparison: Comparison, out: Path | None = None) -> str:
    """Return the page.

    Args:
        comparison: What it shows.
        out: Its folder, where exchanges with language models are; None if there is none.
    """
    films = list(report.replays(_episodes(comparison), REPLAYS, STEPS))
    named = [_named(data) for data in films]
    sections = list(_sections(comparison))
    total = sum(len(line.records) for board in comparison.leaderboards for line in board.lines)
    total += sum(len(board.pairs) for board in comparison.leaderboards)
    if named:
        notes = (
            f"{len(named)} of {total} episodes: policies by rank, those with conversations first, and mixed teams; "
            f"at most {STEPS} steps of each."
        )
        sections.append(report.player(notes))
    return report.page("Comparison of policies", sections, named, out)


def _summary(comparison: Comparison) -> str:
    plan = comparison.plan
    games = ", ".join(board.title for board in comparison.leaderboards)
    repeats = "" if plan.episodes is None else f", {plan.episodes} episodes each"
    text = f"{len(plan.policies)} policies in {games}; budget {plan.budget}{repeats}, seed {plan.seed}."
    return text + (f" {comparison.missing} teams have not played yet." if comparison.missing else "")


def _sections(comparison: Comparison) -> Iterator[str]:
    yield "<h1>Comparison of policies</h1>"
    yield f'<p class="soft">{html_text(_summary(comparison))}</p>'
    links = "".join(
        f'<a href="#{html_text(board.game)}">{html_text(board.title)}</a>' for board in comparison.leaderboards
    )
    yield f'<nav>{links}<a href="#times">Cost and latency</a><a href="#watch">Replays</a></nav>'
    legend = "".join(f'<li class="{kind.lower()}"><b>{kind}</b> {html_text(text)}</li>' for kind, text in KINDS.items())
    legend += '<li class="published"><b>published</b> printed by others, not measured here</li>'
    yield f'<ul class="kinds">{legend}</ul>'
    for board in comparison.leaderboards:
        yield from _board_sections(board)
    yield '<h2 id="times">Cost and latency</h2>'
    yield f"<h3>Milliseconds a decision</h3>{comparison.times().html()}"
    yield f'<p class="soft">{html_text(TIMES)}</p>'
    if comparison.costs is not None:
        yield f"<h3>Language models</h3>{comparison.costs.tables[0].html()}"
        yield f'<p class="soft">{html_text(" ".join(comparison.costs.notes))}</p>'


def _board_sections(board: Leaderboard) -> Iterator[str]:
    yield f'<h2 id="{html_text(board.game)}">{html_text(board.title)}</h2>'
    yield ranking_charts(board)
    yield _table(board.ranking())
    yield f'<p class="soft">{html_text(" ".join(board.notes()))}</p>'
    yield _table(board.process())
    differences = board.differences()
    if differences is not None:
        yield _table(differences)
    if board.matrix is not None:
        yield (
            f"<h3>Cross-play: mean return of pairs, {html_text(board.benchmark.pairs.name)}</h3>"
            f'<div class="scroll heat">{board.matrix.svg()}</div>'
        )
    absent = board.absent()
    if absent is not None:
        summary = f"Not played, and why ({len(absent.rows)})"
        yield f'<details class="words"><summary>{summary}</summary>{absent.html()}</details>'


def ranking_charts(board: Leaderboard) -> str:
    """Return a chart of each setting in which policies differ and have intervals."""
    figures = []
    for setting in board.benchmark.settings:
        scores = {one.policy: one.scores.get(setting.name) for one in board.merged_by_rank()}
        rows = {policy: score for policy, score in scores.items() if score is not None}
        spread = any(score.low is not None and score.low < score.value for score in rows.values())
        if spread and len({score.value for score in rows.values()}) > 1:
            figures.append(f"<figure>{draw_ranking(setting.name, rows)}</figure>")
    return f'<div class="charts">{"".join(figures[:MAX_CHARTS])}</div>' if figures else ""


def _table(table: ResultTable) -> str:
    return f"<h3>{html_text(table.title)}</h3>{table.html()}"


def _episodes(comparison: Comparison) -> Iterator[Record]:
    for row in zip_longest(*(_of_board(board) for board in comparison.leaderboards)):
        yield from (record for record in row if record is not None)


def _of_board(board: Leaderboard) -> list[Record]:
    chosen = [max(one.records, key=_spoken) for one in board.ordered() if isinstance(one, LeaderboardLine)]
    chosen.sort(key=lambda record: _spoken(record) == 0)
    return [*chosen[:3], *board.pairs[-1:], *chosen[3:]]


def _spoken(record: Record) -> int:
    return sum(len(step.messages) for step in record.steps)


def _named(data: dict[str, Any]) -> dict[str, Any]:
    team = " with ".join(dict.fromkeys(seat.partition(", ")[2] for seat in data["seats"]))
    return data | {"title": f"{team}: {data['title']}"}
