"""A comparison in every form: one HTML page that loads nothing, Markdown, JSON, and tables for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup
from rich.console import Console

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.compare.leaderboard import Comparison, Leaderboard
from collab_overcooked.io.files import write_atomic
from collab_overcooked.reporting import report
from collab_overcooked.reporting.escaping import markdown_text, terminal_text
from collab_overcooked.reporting.plots import draw_ranking
from collab_overcooked.reporting.templates import render

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
    """Print the verdict, leaderboards, policies that were skipped, and decision times."""
    console.print(terminal_text(comparison.verdict(), "bold"))
    for board in comparison.leaderboards:
        console.print(terminal_text(board.title, "bold"))
        if board.result:
            console.print(terminal_text(board.result))
        board.ranking.show(console)
        absent = board.absent()
        names = [str(policy) for policy, part, _ in absent.rows if part == "everything"] if absent else []
        if names:
            console.print(terminal_text(f"Not played by {', '.join(names)}; the report says why"))
    comparison.times().show(console)
    if comparison.costs is not None:
        comparison.costs.show(console)


def json_text(comparison: Comparison) -> str:
    """Return the comparison as JSON."""
    return json.dumps(comparison.to_dict(), indent=1) + "\n"


def markdown(comparison: Comparison) -> str:
    """Return everything as Markdown."""
    heading = f"**{markdown_text(comparison.verdict())}**\n"
    parts = ["# Comparison of policies\n", heading, f"{markdown_text(_summary(comparison))}\n"]
    for board in comparison.leaderboards:
        parts.append(f"## {markdown_text(board.title)}\n\nTeam: a policy in all seats\n")
        parts += [f"{markdown_text(board.result)}\n"] if board.result else []
        parts += [f"### {markdown_text(table.title)}\n\n{table.markdown()}\n" for table in board.tables()]
        parts += [f"{markdown_text(note)}\n" for note in board.notes()]
    times = comparison.times()
    parts.append(f"## {times.title}\n\n{times.markdown()}\n\n{TIMES}\n")
    if comparison.costs is not None:
        parts.append(comparison.costs.markdown())
    return "\n".join(parts)


def page(comparison: Comparison, out: Path | None = None) -> str:
    """Return the HTML page of a comparison.

    Args:
        comparison: Comparison to show.
        out: Folder of the comparison, with the exchanges with language models; None if there is none.
    """
    embedded = [_named(data) for data in report.replays(_episodes(comparison), REPLAYS, STEPS)]
    boards = comparison.leaderboards
    total = sum(len(line.records) for board in boards for line in board.lines)
    total += sum(len(board.pairs) for board in boards)
    notes = (
        f"{len(embedded)} of {total} episodes: the best policy of each game first, then conversations and mixed teams; "
        f"at most {STEPS} steps of each."
    )
    body = render(
        "comparison.html",
        verdict=comparison.verdict(),
        summary=_summary(comparison),
        player=report.player(notes) if embedded else Markup(),
        kinds=KINDS,
        boards=boards,
        charts=list(map(ranking_charts, boards)),
        times=comparison.times(),
        times_note=TIMES,
        costs=comparison.costs,
    )
    return report.page("Comparison of policies", [body], embedded, out)


def _summary(comparison: Comparison) -> str:
    plan = comparison.plan
    games = ", ".join(board.title for board in comparison.leaderboards)
    repeats = "" if plan.episodes is None else f", {plan.episodes} episodes each"
    text = f"{len(plan.policies)} policies in {games}; budget {plan.budget}{repeats}, seed {plan.seed}."
    return text + (f" {comparison.missing} teams have not played yet." if comparison.missing else "")


def ranking_charts(board: Leaderboard) -> list[Markup]:
    """Return a chart of each setting in which policies differ and have intervals."""
    charts: list[Markup] = []
    for setting in board.benchmark.settings:
        scores = {line.policy: line.scores.get(setting.name) for line in board.merged_by_rank}
        rows = {policy: score for policy, score in scores.items() if score is not None}
        spread = any(score.low is not None and score.low < score.value for score in rows.values())
        if spread and len({score.value for score in rows.values()}) > 1:
            charts.append(draw_ranking(setting.name, rows))
    return charts[:MAX_CHARTS]


def _episodes(comparison: Comparison) -> Iterator[EpisodeRecord]:
    for row in zip_longest(*(_of_board(board) for board in comparison.leaderboards)):
        yield from (record for record in row if record is not None)


def _of_board(board: Leaderboard) -> list[EpisodeRecord]:
    chosen = [max(line.records, key=_spoken) for line in board.merged_by_rank]
    best, others = chosen[:1], sorted(chosen[1:], key=lambda record: _spoken(record) == 0)
    return [*best, *others[:2], *board.pairs[-1:], *others[2:]]


def _spoken(record: EpisodeRecord) -> int:
    return sum(len(step.messages) for step in record.steps)


def _named(data: dict[str, Any]) -> dict[str, Any]:
    team = " with ".join(dict.fromkeys(seat.partition(", ")[2] for seat in data["seats"]))
    return data | {"title": f"{team}: {data['title']}"}
