"""Facts about plan search on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import collab_overcooked
from collab_overcooked.games.house.suite import published
from collab_overcooked.policies.search.deliberation import PlanSettings
from collab_overcooked.reporting.plan_trees import all_updates, tree_text
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

from .writing import DOCS, code, field_comments, read_json, table, write_json

sys.path.insert(0, str(DOCS.parent / "benchmarks"))
from plan_study import FIRST, join_studies, study_table, title_of

COMMAND = "`python benchmarks/plan_study.py FOLDER --seed N`"
RESULT_FILE, ABLATION_FILE = "plans.json", "plan_ablations.json"
LEFT_OUT = ("looks", "searches", "depth")  # columns of a study that the page does not show
PUBLISHED: Sequence[tuple[str, str, str]] = (
    ("C-WAH, symbolic, steps, GPT-4", "MHP + MHP 75, CoELA 57, RoCo 57, CaPo 51, CoTS 49", "table 2"),
    ("C-WAH, symbolic, steps by way to search", "CoT 57, ToT (DFS) 52, CoTS 49", "supplement, table 5"),
    ("TDW-MAT, transport rate %, GPT-4", "RHP + RHP 75, CoELA 85, RoCo 87, CaPo 89, CoTS 93", "table 1"),
    ("the same without rewards, without rating and update, one branch", "89, 90, 88", "table 3"),
    ("the same by branches 1, 2, 3, 4", "88, 90, 93, 94", "figure 7"),
    ("C-WAH, steps, GPT-4o mini, run by others", "CoELA 60.4, CaPo 60.8, CoTS 64.0", "PCE (ICLR 2026), second hand"),
)


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


def plan_published() -> str:
    """List what papers print."""
    told = published()
    costs = [
        (f"{name} of a plan update", _listed(told["plan_update"]["housework"], name), "supplement, table 5")
        for name in ("characters", "seconds")
    ]
    steps = ", ".join(f"{who} {told['housework'][f'{who} GPT-4 with a person']}" for who in told["people"])
    people = [("C-WAH, symbolic, steps, 8 people as the critic of GPT-4", steps, "supplement, table 4")]
    people += [
        (f"{name}, as these people rated it, 1 to 7", _listed(told["people"], name), "supplement, table 4")
        for name in ("communication", "helpfulness", "trust")
    ]
    rows = (*PUBLISHED[:2], *costs, *people, *PUBLISHED[2:])
    return table(("measured elsewhere, with language models, in other simulators", "printed", "where"), rows)


def _listed(numbers: Mapping[str, Mapping[str, float]], name: str) -> str:
    return ", ".join(f"{who} {own[name]}" for who, own in numbers.items())


def plan_tree() -> str:
    """Show one search in words."""
    return f"```text\n{tree_text(_example())}\n```"


def _example() -> Any:
    """Return the first search of a fixed scene with a whole tree."""
    env = collab_overcooked.make("Housework-v0", task="prepare_meal", max_cycles=40)
    record = play_episode(env, make_team([FIRST, FIRST]), 4, task="prepare_meal")
    return max((u for u in all_updates(record) if u.searched), key=lambda u: (len(u.nodes), -u.timestep))


def keep_results(folder: Sequence[str]) -> None:
    """Keep the numbers of the study in a folder; those of other games stay."""
    for source, file in (("results.json", RESULT_FILE), ("ablations.json", ABLATION_FILE)):
        path = Path(*folder) / source
        if path.exists():
            write_json(file, join_studies(read_json(file), json.loads(path.read_text(encoding="utf-8"))))


FACTS: tuple[Callable[[], str], ...] = (plan_settings, plan_results, plan_ablations, plan_published, plan_tree)
