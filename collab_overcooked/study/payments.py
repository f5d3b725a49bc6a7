"""Lists for paying participants through their panel: whom to approve, and their bonuses. Nothing is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collab_overcooked.io.files import write_atomic
from collab_overcooked.study.results import StudyResults

APPROVALS, BONUSES = "approve.csv", "bonus.csv"
_PANEL_ID = re.compile(r"[A-Za-z0-9_-]+")  # participants can write anything into the address of a study


@dataclass(frozen=True)
class Payments:
    """What the participants who completed a study are paid."""

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


def payments(results: StudyResults) -> Payments:
    """Return the payments of all participants who gave their consent and completed a study, in order of consent.

    Of several completed visits with the same panel id, the first counts.

    Raises:
        ValueError: The study has no panel ids.
    """
    journal = results.journal
    if not journal.study.panel_id:
        raise ValueError("the study file names no address parameter with the id of a panel, participants.id")
    bonuses: dict[str, float] = {}
    left_out: list[str] = []
    for row in results.participants():
        if row["end"] != "done":
            continue
        name = str(row["id"])
        panel_id = journal.people[name].kept.get(journal.study.panel_id, "")
        if _PANEL_ID.fullmatch(panel_id):
            bonuses.setdefault(panel_id, float(row["bonus"] or 0.0))  # type: ignore[arg-type]
        else:
            left_out.append(name)
    return Payments(bonuses, tuple(left_out))
