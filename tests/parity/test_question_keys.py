"""The check of the public question set's keys, on a table of our own with each kind of damage."""

from __future__ import annotations

import csv
from pathlib import Path

from parity.question_keys import main

GOOD = "Where?\nAvailable Answers:\nA. here\nB. there\n"
ROWS = (
    (GOOD, "A", GOOD, "B", GOOD, "A,B"),
    (GOOD, "C", GOOD, "B", GOOD, "A, B"),
    (GOOD, "A", GOOD + "B. again\n", "B", "A. I am no option\n" + GOOD, "A"),
)


def test_damaged_keys_are_listed(tmp_path: Path, capsys) -> None:
    heads = [f"{kind} {what}" for kind in ("EC", "TOM", "JP") for what in ("Question", "Answer Ordinal")]
    with (tmp_path / "keys.csv").open("w", newline="") as file:
        csv.writer(file).writerows([heads, *ROWS])
    assert main([str(tmp_path / "keys.csv")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "row 1, EC: key 'C' is none of A, B",
        "row 1, JP: key ' B' is none of A, B",
        "row 2, TOM: letters stand there twice: B",
        "3 found",
    ]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert main([str(tmp_path / "other.csv")]) == main([str(tmp_path / "none.csv")]) == 2
