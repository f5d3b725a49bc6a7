"""Tables of scores beside partners: who counts, what is divided by what, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.cli.app import app
from collab_overcooked.evaluation.partner_scores import FILE, PartnerScore
from collab_overcooked.evaluation.partner_table import Scores, read_scores
from collab_overcooked.io.structs import convert


def line(method: str, ego: str, partner: str, returns: list[float], **fields: Any) -> dict[str, Any]:
    best = {"return": 100.0, "low": 90.0, "high": 110.0, "by": "greedy", "games": 5}
    base = {"pool": "p", "pool_sha256": "0" * 64, "version": "1", "method": method, "ego": ego, "sha256": ""}
    base |= {"steps": None, "mode": "sample", "kind": "partner", "partner": partner, "family": "scripted"}
    return base | {"seen": "unseen family", "seat": 0, "returns": returns, "best": best, "lower": 20.0} | fields


def two_methods() -> list[dict[str, Any]]:
    clone = {"family": "clone", "lower": 0.0}
    lines = []
    for ego in ("a1", "a2"):
        lines += [line("a", ego, "x", [60, 60]), line("a", ego, "x", [100, 100], seat=1)]
        lines += [line("a", ego, "y", [50, 150], **clone)]
        lines += [
            line("a", ego, ego, [200], kind="self", best=None),
            line("a", ego, "o", [40], kind="cross", best=None),
        ]
    lines += [line("b", "b1", "x", [20, 20]), line("b", "b1", "x", [20, 20], seat=1)]
    lines += [line("b", "b1", "y", [120, 120], **clone)]
    return lines


def write(folder: Path, lines: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text("".join(json.dumps(one) + "\n" for one in lines))
    return folder


def row(scores: Scores, method: str) -> dict[str, Any]:
    table = scores.table()
    cells = next(cells for cells in table.rows if cells[0] == method)
    return {column.file_key: getattr(cell, "value", cell) for column, cell in zip(table.columns, cells, strict=True)}


def test_shares_are_of_the_way_from_a_random_ego_to_the_best_response():
    lines = [
        one | ({"steps": 500_000 if one["ego"] == "a1" else 400_000} if one["method"] == "a" else {})
        for one in two_methods()
    ]
    scores = Scores(convert(lines, list[PartnerScore]), 20)
    first, second = row(scores, "a"), row(scores, "b")
    assert first["seeds"] == 2 and second["seeds"] == 1
    assert first["million steps"] == 0.5 and second["million steps"] is None
    assert first["family scripted"] == pytest.approx((80 - 20) / 80) and first["family clone"] == pytest.approx(1)
    assert first["mean"] == first["by partner"] == pytest.approx((0.75 + 1) / 2) and first[
        "lowest family"
    ] == pytest.approx(0.75)
    assert second["family clone"] == pytest.approx(1.2), "not clipped"
    assert second["family scripted"] == second["worst tenth"] == second["lowest family"] == 0
    assert second["BR-Prox"] == pytest.approx((0.2 + 1) / 2), "clipped, and of the return itself"
    assert (first["return"], first["self-play"], first["other seeds"], first["SP - XP"]) == (90, 200, 40, 160)
    assert second["self-play"] is None and second["SP - XP"] is None
    assert [cell and getattr(cell, "value", cell) for cell in scores.improvements().rows[0]] == ["a", None, 0.5]


def test_families_count_equally_in_the_mean_and_the_fewest_games_of_a_row_are_shown():
    lines = [*two_methods(), line("a", "a1", "z", [20, 20, 20]), line("a", "a2", "z", [20, 20, 20])]
    lines += [line("b", "b1", "z", [20])]
    first, second = (row(Scores(convert(lines, list[PartnerScore]), 20), name) for name in "ab")
    assert first["mean"] == pytest.approx(((0.75 + 0) / 2 + 1) / 2), "of scripted and clone"
    assert first["by partner"] == pytest.approx((0.75 + 0 + 1) / 3)
    assert (first["games"], second["games"]) == (4, 1), "of all seeds and seats beside a partner"


def test_games_that_find_best_responses_are_not_scored():
    lines = [*two_methods(), line("b", "b1", "x", [1000, 1000], kind="best")]
    assert row(Scores(convert(lines, list[PartnerScore]), 20), "b")["family scripted"] == 0


def test_partners_that_say_nothing_are_left_out_by_name():
    lines = two_methods()
    for method, ego in (("a", "a1"), ("a", "a2"), ("b", "b1")):
        lines += [line(method, ego, "unknown", [5], best=None)]
        lines += [line(method, ego, "hopeless", [5], lower=61.0)]
        lines += [line(method, ego, "untried", [5], lower=None)]
        vague = {"return": 100.0, "low": 70.0, "high": 130.0, "by": "greedy", "games": 4}
        lines += [line(method, ego, "vague", [5], best=vague)]
        lost = {"return": -1.0, "low": -1.0, "high": -1.0, "by": "greedy", "games": 4}
        lines += [line(method, ego, "lost", [-1], best=lost, lower=-1.0)]
        lines += [line(method, ego, "b1", [5], seen="itself" if method == "b" else "unseen family")]
    lines += [line("a", "a1", "rare", [5])]
    scores = Scores(convert(lines, list[PartnerScore]), 20)
    assert list(scores.families) == ["x", "y"]
    notes = "\n".join(scores.notes())
    for text in (
        "unknown, no best response is known",
        "hopeless, its best response earns 100 (90 to 110), a random ego 61",
        "untried, the return of a random ego is not known",
        "vague, its best response earns 100 (70 to 130), a random ego 20",
        "lost, its best response earns -1 (-1 to -1), a random ego -1",
        "b1, it is the ego b",
        "rare, not met by every ego",
    ):
        assert f"left out: {text}" in notes


def test_returns_may_be_negative() -> None:
    """A best response that loses less than a random ego is an end of the scale, but no share of it is a return."""
    best = {"return": -1.0, "low": -2.0, "high": 0.0, "by": "greedy", "games": 4}
    lines = [*two_methods(), *(line("a", ego, "z", [-6], best=best, lower=-11.0) for ego in ("a1", "a2"))]
    lines += [line("b", "b1", "z", [-1], best=best, lower=-11.0)]
    scores = Scores(convert(lines, list[PartnerScore]), 20)
    assert list(scores.families) == ["x", "y", "z"]
    assert row(scores, "a")["family scripted"] == pytest.approx((0.75 + 0.5) / 2)
    assert row(scores, "a")["BR-Prox"] is None and row(scores, "b")["BR-Prox"] is None


@pytest.mark.parametrize(("test_partners", "heading"), [(17, "2 of 17"), (2, "2"), (None, "2")])
def test_incomplete_results_are_headed_by_how_many_partners_the_pool_has(test_partners, heading):
    lines = [one | {"test_partners": test_partners if one["kind"] == "partner" else None} for one in two_methods()]
    scores = Scores(convert(lines, list[PartnerScore]), 20)
    assert scores.markdown().startswith(f"p: shares of the best response with {heading} partners\n")


def test_files_are_merged_by_concatenation(tmp_path):
    lines = two_methods()
    full = write(tmp_path / "whole", lines)
    fewer = [one | {"returns": one["returns"][:1]} for one in lines]  # the same games, and less of them
    first, second = [*lines[:7], *fewer[7:]], [*fewer[:7], *lines[5:]]
    halves = [write(tmp_path / "one", first), write(tmp_path / "two", second) / FILE]
    assert Scores(read_scores(halves), 20).markdown() == Scores(read_scores([full]), 20).markdown()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pool_sha256": "1" * 64}, r"results of several pools: p \(00000000\), p \(11111111\)"),
        ({"returns": [1, 2]}, "a with x in seat 0 contradicts another line"),
        ({"returns": []}, "line 1: returns"),
        ({"family": "robot"}, "line 1: family must be .* not 'robot'"),
    ],
)
def test_wrong_lines_get_one_line(tmp_path, change, message):
    lines = two_methods()
    folders = [write(tmp_path / "one", lines), write(tmp_path / "two", [lines[0] | change])]
    with pytest.raises(ValueError, match=message):
        read_scores(folders)
    with pytest.raises(ValueError, match=r"none/scores\.jsonl: cannot be read"):
        (tmp_path / "none").mkdir()
        read_scores([tmp_path / "none"])


def test_nothing_to_compare_gets_one_line(tmp_path):
    with pytest.raises(ValueError, match="no partner is left to compare methods: x: no best response is known"):
        Scores([convert(line("a", "a1", "x", [1], best=None), PartnerScore)], 20).table()
    with pytest.raises(ValueError, match="no result with a partner"):
        read_scores([write(tmp_path / "one", [line("a", "a1", "a1", [1], kind="self")])])


def test_the_command_writes_tables_and_pictures(tmp_path, capsys):
    folder = write(tmp_path / "scores", two_methods())
    for out in ("out", "again"):
        with pytest.raises(SystemExit) as exit_:
            app(["partners", "table", str(folder), "--out", str(tmp_path / out), "--resamples", "20"])
        assert exit_.value.code == 0
    assert "shares of the best response with 2 partners" in capsys.readouterr().out
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    pictures = {f"{name}.{ending}" for name in ("profile", "partners_by_method") for ending in ("svg", "png")}
    assert set(files) == pictures | {"partners.md", "partners.csv"}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert b"<svg" in files["profile.svg"] and files["profile.png"].startswith(b"\x89PNG")
