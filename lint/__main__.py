"""Run every check over sources that are parsed once: ``python -m lint``; exits with 1 if one finds something."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from lint import fences
from lint.source import Finding, Project


def findings(project: Project) -> list[Finding]:
    """Return what all checks find."""
    return [finding for check in fences.CHECKS for finding in check(project)]


if __name__ == "__main__":
    gc.disable()  # a short process that keeps every tree: collecting takes a third of its time
    results = findings(Project.read(Path(__file__).resolve().parent.parent))
    print(*results, sep="\n", end="\n" if results else "")
    sys.exit(bool(results))
