"""Lists for paying participants through their panel: whom to approve, and their bonuses. Nothing is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import write_atomic
from collab_overcooked.study.design import ENDS
from collab_overcooked.study.results import StudyResults

PAYABLE = tuple(end for end in ENDS if end != "declined")  # those who decline are only counted
APPROVALS, BONUSES = "approve.csv", "bonus.csv"
_PANEL_ID = re.compile(r"[A-Za-z0-9_-]+")  # participants can write anything into the address of a study


@dataclass(frozen=True)
class Payments:
    """What the participants of a study are paid."""

    bonuses: Mapping[str, float]  # Bonus by panel id, in the currency of the study; 0 if the study pays none
    left_out: tuple[str, ...]  # Random ids of participants whose panel id is invalid

    def write(self, out: Path) -> list[Path]:
        """Write the list of approvals, one panel id a line, and that of bonuses, ``ID,AMOUNT`` a line.

        Args:
            out: Folder; created if it does not exist. Its files are readable by their owner alone.

        Returns:
            The files.
        """
        approvals = "".join(f"{name}\n" for name in self.bonuses)
        bonuses = "".join(f"{name},{amount:.2f}\n" for name, amount in self.bonuses.items() if amount >= 0.005)
        for file, text in ((APPROVALS, approvals), (BONUSES, bonuses)):
            write_atomic(out / file, text.encode(), 0o600)
        return [out / APPROVALS, out / BONUSES]


def payments(results: StudyResults, ends: Sequence[str] = ("done",)) -> Payments:
    """Return the payments of participants, first those who completed the study, each in order of consent.

    Of several visits with the same panel id, the first of this order counts.

    Args:
        results: Results of the study.
        ends: Ends of participation that are paid, see ``design.ENDS``.

    Raises:
        ValueError: The study has no panel ids, or an end is unknown.
    """
    for end in ends:
        if end not in PAYABLE:
            raise ValueError(near_matches("end", end, PAYABLE))
    journal = results.journal
    if not journal.study.panel_id:
        raise ValueError("the study file names no address parameter with the id of a panel, participants.id")
    bonuses: dict[str, float] = {}
    left_out: list[str] = []
    rows = [row for row in results.participants() if row["end"] in ends]
    for row in sorted(rows, key=lambda row: row["end"] != "done"):
        name = str(row["id"])
        panel_id = journal.people[name].kept.get(journal.study.panel_id, "")
        if _PANEL_ID.fullmatch(panel_id):
            bonuses.setdefault(panel_id, float(row["bonus"] or 0.0))  # type: ignore[arg-type]
        else:
            left_out.append(name)
    return Payments(bonuses, tuple(left_out))
