"""Scorecards in the terminal, as Markdown, CSV and JSON."""

from __future__ import annotations

import io
import json

from rich.console import Console

from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard, csv_text, json_text, markdown


def table(title: str, *cells: str, detail: bool = False) -> ResultTable:
    return ResultTable((Column("name"), Column("cell")), (cells,), title, detail=detail)


CARD = Scorecard(
    "game",
    "Game, default",
    (table("Scores", "score", "1"), table("Details", "detail", "2", detail=True)),
    team="all=<b>",
    notes=("A note.",),
    by_task=(table("Tasks", "task", "3"),),
    data=table("", "a", "4"),
)


def shown(card: Scorecard, **how: bool) -> str:
    out = io.StringIO()
    card.show(Console(file=out, width=100), **how)
    return out.getvalue()


def test_the_terminal_shows_details_and_tasks_when_asked() -> None:
    brief = shown(CARD)
    assert "all=<b>" in brief and "A note." in brief and "score" in brief
    assert "detail" not in brief and "task" not in brief
    assert "detail" in shown(CARD, more=True)
    by_task = shown(CARD, by_task=True)
    assert "task" in by_task and "score" not in by_task
    assert "score" in shown(Scorecard("game", "title", CARD.tables), by_task=True), "no other tables by task"


def test_markdown_has_all_tables_and_escapes_the_team() -> None:
    text = markdown([CARD])
    assert text.startswith("## Game, default") and "`all=&lt;b&gt;`" in text
    assert all(f"### {title}" in text for title in ("Scores", "Details", "Tasks"))


def test_csv_has_one_table_for_each_game_and_leaves_out_cards_without_data() -> None:
    other = Scorecard("other", "Other", (), data=table("", "b", "5"))
    text = csv_text([CARD, CARD, Scorecard("game", "Nothing", ()), other])
    assert [block.splitlines()[1:] for block in text.split("\n\n")] == [["a,4", "a,4"], ["b,5"]]


def test_json_has_tables_notes_and_rows_of_data() -> None:
    (values,) = json.loads(json_text([CARD]))
    assert [entry["title"] for entry in values["tables"]] == ["Scores", "Details", "Tasks"]
    assert values["notes"] == ["A note."] and len(values["data"]) == 1
