"""The check of study files: what is played, how orders are balanced, and what is still to be filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import NoOptions
from collab_overcooked.runner.teams import team_text
from collab_overcooked.study.design import FOLDER, KEYS, Study, language_partners, read_study
from collab_overcooked.study.order import rows_of

TO_FILL_IN = "REPLACE"


def check_studies(sources: Sequence[str], options: NoOptions) -> Finding:
    """Say of every study what its participants do, how its orders are balanced, and what is to be filled in.

    Raises:
        LayoutError: If a study cannot be read.
    """
    lines: list[str] = []
    values: list[dict[str, Any]] = []
    for source in sources:
        study = read_study(source)
        values.append(study_facts(study))
        lines += _lines(study, values[-1])
    return Finding("\n".join(lines), values)


def to_fill_in(value: Any, path: str = "") -> list[str]:
    """Return the fields of a study file whose text is still to be written, for example ``finish.done.code``."""
    if isinstance(value, str):
        return [path] if TO_FILL_IN in value else []
    entries = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    return [own for key, entry in entries for own in to_fill_in(entry, f"{path}.{key}" if path else str(key))]


def check_filled_in(study: Study) -> None:
    """Refuse a study that people cannot be shown yet.

    Raises:
        ValueError: Naming the fields that are still to be filled in.
    """
    fields = to_fill_in(study.content)
    if fields:
        raise ValueError(
            f"{study.name}: to fill in before people see it ({TO_FILL_IN} stands there): {', '.join(fields)}. "
            "Copy the file and write your own text; `study rehearse` runs it as it is"
        )


def study_facts(study: Study) -> dict[str, Any]:
    """Return what there is to know of a study, fit for JSON."""
    groups = study.limit // study.group
    rows = [rows_of(block.order, len(block.play)) for block in study.blocks if block.play]
    kinds = Counter(step.kind for step in study.steps(0))
    conditions = {
        name: {
            "suite": own.suite,
            "env_id": own.jobs[0].env_id,
            "team": list(own.jobs[0].team),
            "tasks": len({job.task for job in own.jobs}),
            "episodes": own.episodes * len(own.jobs[0].keys),
        }
        for name, own in study.conditions.items()
    }
    return {
        "name": study.name,
        "participants": study.limit,
        "group": study.group,
        "steps": dict(kinds),
        "rows": rows,
        "evenly": all(groups % own == 0 for own in rows),
        "conditions": conditions,
        "language_models": {name: study.partners[name] for name in language_partners(study)},
        "to_fill_in": to_fill_in(study.content),
    }


def _lines(study: Study, facts: dict[str, Any]) -> list[str]:
    people = f"{study.limit} participants" + (f" in groups of {study.group}" if study.group > 1 else "")
    steps = ", ".join(f"{count} x {kind}" for kind, count in facts["steps"].items())
    lines = [f"{study.name}: {people}; each: {steps}"]
    for name, own in facts["conditions"].items():
        played = f"{own['episodes']} of {own['tasks']} tasks" if own["tasks"] > 1 else f"episodes: {own['episodes']}"
        lines.append(f"  {name}: {own['env_id']}, {team_text(own['team'])}, {played}")
    groups = study.limit // study.group
    for own in facts["rows"]:
        if own > 1:
            even = "" if groups % own == 0 else f"; {groups} groups use some of them once more than others"
            lines.append(f"  order: {own} balanced rows{even}")
    if facts["language_models"]:
        lines.append("  language models: " + ", ".join(f"{k}={v}" for k, v in facts["language_models"].items()))
    if facts["to_fill_in"]:
        lines.append(f"  to fill in before people see it ({TO_FILL_IN}): {', '.join(facts['to_fill_in'])}")
    return lines


STUDY = DocumentKind(
    "study",
    FOLDER,
    KEYS,
    check_studies,
    "Proves that a study with people can be run as it is written, and says what its participants do.",
)
