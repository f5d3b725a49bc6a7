"""Forty bots take part in a study of two factors and leave in all ways; their tables are analysed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from study.world import factorial

from collab_overcooked.study.bots import LEAVING
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, export

pd = pytest.importorskip("pandas", reason="the extra 'dev' is not installed")
BOTS, LEAVERS = 32, 2  # with two for each of four ways to leave, forty


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any]:
    """Tables of the rehearsal, and its result; half of the bots fail the attention check."""
    pytest.importorskip("uvicorn", reason="needs the extra play")
    from collab_overcooked.study.rehearsal import rehearse

    content = factorial(order="between")
    items = content["forms"]["liked"]["items"]
    items.append({"name": "reads", "choice": ["one", "two"], "expect": "two", "ask": "Please choose two."})
    content["participants"] |= {"failed_checks": 1, "limit": 40}
    content["blocks"] = [{"page": {"title": "How", "text": "Read this."}}, *content["blocks"]]
    folder = tmp_path_factory.mktemp("forty")
    result = rehearse(read_study(content), BOTS, folder / "run", leavers=LEAVERS, ways=tuple(LEAVING))
    export(folder / "run", folder / "tables", ExportOptions())
    return {path.stem: pd.read_csv(path) for path in Path(folder / "tables").glob("*.csv")}, result


def test_everybody_stands_in_the_table_with_how_they_left(forty: tuple[dict[str, Any], Any]) -> None:
    tables, result = forty
    people = tables["participants"]
    assert not result.errors and set(result.ends) == {"done", "inattentive"} and sum(result.ends.values()) == BOTS
    ends = Counter(people["end"].fillna("unfinished"))
    assert len(people) == BOTS + LEAVERS * len(LEAVING) == 40
    assert ends["declined"] == LEAVERS and ends["unfinished"] == LEAVERS, "who closed the tab has no end"
    assert ends["left"] + ends["inattentive"] + ends["done"] == 40 - 2 * LEAVERS and ends["left"] >= LEAVERS
    assert people.loc[people["end"] == "declined", "id"].isna().all() and people["id"].dropna().is_unique
    allocated = people[people["end"].isin(["left", "inattentive", "done"])]
    assert allocated[["conditions", "partner", "talk"]].notna().all().all(), "dropouts have their condition"


def test_cells_are_balanced_over_those_who_stay(forty: tuple[dict[str, Any], Any]) -> None:
    """Rows are dealt so that cells differ by one at most, among those who have not dropped out at the time."""
    tables, _ = forty
    people = tables["participants"]
    allocated = people.dropna(subset=["conditions"])
    sizes = allocated.groupby(["partner", "talk"]).size()
    dropped = allocated[allocated["end"] != "done"].groupby(["partner", "talk"]).size()
    assert len(sizes) == 4 and sizes.sum() == 40 - 2 * LEAVERS
    assert sizes.max() - sizes.min() <= 1 + dropped.max(), "cells differ by what dropped out of them"
    assert (allocated["conditions"] == allocated["partner"] + "_" + allocated["talk"]).all()


def test_those_who_finish_are_complete(forty: tuple[dict[str, Any], Any]) -> None:
    tables, _ = forty
    people, tidy = tables["participants"], tables["tidy"]
    done = people[people["end"] == "done"]
    rounds = tidy[tidy["end"] == "done"]
    assert set(rounds["id"]) == set(done["id"]) and rounds["id"].is_unique
    assert rounds[["condition", "partner", "talk", "completed", "answer_liked_fun"]].notna().all().all()
    assert (rounds["answer_liked_reads"] == "two").all() and rounds["answer_liked_fun"].between(1, 5).all()
    silent = tables["messages"][tables["messages"]["talk"] == "off"]
    assert silent.empty and (tables["messages"]["talk"] == "on").all()


def test_times_add_up(forty: tuple[dict[str, Any], Any]) -> None:
    tables, _ = forty
    people, pages = tables["participants"], tables["pages"]
    steps = [name for name in people if name.startswith("seconds_")]
    assert len(steps) == 3 and (pages["seconds"] >= 0).all()
    done = people[people["end"] == "done"]
    assert done[steps].notna().all().all()
    assert (done[steps].sum(axis=1) <= 60 * done["minutes"] + 1).all()
    left = people[people["end"] == "left"]
    assert left["seconds_2"].notna().all(), "the game in which they left, or the one before"
    unfinished = pages.groupby("id")["completed"].min()
    assert set(unfinished[unfinished == 0].index) <= set(left["id"])
    assert Counter(pages["kind"])["page"] == people["id"].notna().sum() - LEAVERS
