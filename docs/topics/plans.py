"""Facts about plan search on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from collab_overcooked.policies.search.deliberation import PlanSettings
from collab_overcooked.reporting.result_table import ResultTable

from .writing import DOCS, code, field_comments, read_json, table, write_json

sys.path.insert(0, str(DOCS.parent / "benchmarks"))
from plan_study import join_studies, study_table, title_of

COMMAND = "`python benchmarks/plan_study.py FOLDER --seed N`"
RESULT_FILE, ABLATION_FILE = "plans.json", "plan_ablations.json"
LEFT_OUT = ("looks", "searches", "depth")  # columns of a study that the page does not show


def plan_settings() -> str:
    """List the parameters of the policy."""
    comments = field_comments(PlanSettings)
    rows = [
        (code(each.name), code(each.default) if each.default != "" else "", comments[each.name])
        for each in fields(PlanSettings)
    ]
    return table(("parameter", "default", "meaning"), rows)


def plan_results() -> str:
    """Show tree search beside simpler ways in all games."""
    return _study(RESULT_FILE)


def plan_ablations() -> str:
    """Show what parts of tree search are worth."""
    return _study(ABLATION_FILE)


def _study(file: str) -> str:
    measured = read_json(file)
    if measured is None:
        return f"Not measured yet: {COMMAND}, then `python docs/facts.py --plans FOLDER`."
    parts = (f"**{title_of(study)}**\n\n{_markdown(study_table(study))}" for study in measured["games"].values())
    return "\n\n".join((f"Measured with version {measured['version']}.", *parts))


def _markdown(wide: ResultTable) -> str:
    kept = [i for i, column in enumerate(wide.columns) if column.name not in LEFT_OUT]
    rows = tuple(tuple(row[i] for i in kept) for row in wide.rows)
    return ResultTable(tuple(wide.columns[i] for i in kept), rows).markdown().strip()


def keep_results(folder: Sequence[str]) -> None:
    """Keep the numbers of the study in a folder; those of other games stay."""
    for source, file in (("results.json", RESULT_FILE), ("ablations.json", ABLATION_FILE)):
        path = Path(*folder) / source
        if path.exists():
            write_json(file, join_studies(read_json(file), json.loads(path.read_text(encoding="utf-8"))))


FACTS: tuple[Callable[[], str], ...] = (plan_settings, plan_results, plan_ablations)
