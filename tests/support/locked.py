"""Constraints for environments of other people's packages, which may need other releases than the locked ones."""

from __future__ import annotations

import re
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "constraints.txt"


def torch_constraint(folder: Path) -> Path:
    """Write a constraints file with the locked torch: an open range may fetch several gigabytes of a newer build."""
    file = folder / "torch.txt"
    file.write_text("\n".join(re.findall(r"^torch==\S+", LOCK.read_text("utf-8"), re.MULTILINE)) + "\n")
    return file
