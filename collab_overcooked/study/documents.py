"""Validation of study files, and a summary: games, balance of orders, and fields still to be filled in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from collab_overcooked import registry
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.options import NoOptions
from collab_overcooked.io.text import plural
from collab_overcooked.play.keys import clock_of
from collab_overcooked.play.settings import TURNS
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.runner.teams import team_text
from collab_overcooked.study.design import BETWEEN, FOLDER, KEYS, NONE, TASKS, YOKED, Condition, Study
from collab_overcooked.study.reader import read_study

TO_FILL_IN = "REPLACE"
_DRAWN: Mapping[str, str] = {
    TASKS: "the same tasks and seeds",
    YOKED: "the same tasks and seeds for yoked participants",
    NONE: "separately drawn tasks and seeds",
}


def check_studies(sources: Sequence[str], options: NoOptions) -> DocumentFinding:
    """Summarise each study: steps of a participant, balance of orders, and fields to fill in."""
    lines: list[str] = []
    values: list[dict[str, Any]] = []
    for source in sources:
        study = read_study(source)
        values.append(study_facts(study))
        lines += _lines(study, values[-1])
    return DocumentFinding("\n".join(lines), values)


def to_fill_in(value: object, path: str = "") -> list[str]:
    """Return the fields of a study file that still hold a placeholder, for example ``finish.done.code``."""
    if isinstance(value, str):
        return [path] if TO_FILL_IN in value else []
    entries: Iterable[tuple[object, object]] = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    return [field for key, entry in entries for field in to_fill_in(entry, f"{path}.{key}" if path else str(key))]


def remarks(study: Study) -> list[str]:
    """Return what boards and panels commonly ask for and the file leaves open."""
    open_points = _slips(study)
    blind = [name for name, condition in study.conditions.items() if condition.settings.names == "blind"]
    if blind and not study.debrief:
        open_points.append(f"names are hidden (names: blind in {', '.join(blind)}), and no debrief tells who played")
    told = [name for name, condition in study.conditions.items() if condition.settings.metrics]
    if told:
        open_points.append(
            f"participants see each other's actions after each round (metrics: true in {', '.join(told)})"
        )
    waiting = [name for name, condition in study.conditions.items() if _waits_forever(condition)]
    if waiting:
        open_points.append(
            f"in turns, one person who does nothing keeps the others waiting ({', '.join(waiting)}); "
            "decide_within under play limits it"
        )
    ends = ["done", "stopped", "failed"]
    if any(item.accept for form in study.forms.values() for item in form.items):
        ends.append("screened")
    if study.failed_checks is not None and study.most_checks >= study.failed_checks:
        ends.append("inattentive")
    if study.group > 1:
        ends += ["unmatched", "partner_left"]
    if study.minutes is not None:
        ends.append("late")
    without = [end for end in ends if not study.ends[end].code]
    if without:
        open_points.append(f"ends without a code in finish: {', '.join(without)}")
    return open_points


def _waits_forever(condition: Condition) -> bool:
    """Return whether people wait for each other without a limit of time."""
    match, settings = condition.matches[0], condition.settings
    seats = [seat for seat, spec in enumerate(match.team) if spec == PERSON]
    if len(seats) < 2 or settings.decide_within:
        return False
    return clock_of(settings, registry.make(match.env_id, **match.env_kwargs).game, seats) == TURNS


def _slips(study: Study) -> list[str]:
    """Return what a file says without effect, or with another one than it seems to have."""
    found: dict[tuple[str, int], list[str]] = {}
    for name, condition in study.conditions.items():
        if condition.without_effect:
            found.setdefault((condition.without_effect, condition.rounds), []).append(name)
    slips = []
    for (entry, rounds), names in found.items():
        number = entry.rpartition(" ")[2]
        slips.append(
            f"options.{entry} has no effect in {', '.join(names)}; each group plays {plural(rounds, 'round')}. "
            f"Write episodes: {number} beside options instead"
        )
    if study.failed_checks is not None and study.most_checks < study.failed_checks:
        slips.append(
            f"{plural(study.most_checks, 'attention check')}, but failed_checks: {study.failed_checks}: "
            "nobody can end as inattentive"
        )
    counts = {f"quota.{name}": number for name, number in study.quota.items()}
    if "limit" in study.content.get("participants", {}):
        counts = {"limit": study.limit, **counts}
        places = study.places(lambda name: study.quota.get(name, math.inf))
        if places < study.limit:
            slips.append(f"the quotas admit {places} people, below limit {study.limit}: the study is full at {places}")
    beyond = [f"quota.{name} {number}" for name, number in study.quota.items() if number > study.limit]
    if beyond:
        slips.append(f"{', '.join(beyond)}: above limit {study.limit} and never reached")
    uneven = [f"{name} {number}" for name, number in counts.items() if number % study.group]
    if uneven:
        listed = ", ".join(uneven)
        slips.append(f"{listed}: no multiple of group {study.group}; the last group needs people beyond it")
    return slips


def check_filled_in(study: Study) -> None:
    """Check that a study has no placeholders left."""
    fields = to_fill_in(study.content)
    if fields:
        raise ValueError(
            f"{study.name}: fields that still hold the placeholder {TO_FILL_IN}: {', '.join(fields)}. "
            "Copy the file and write your own text; `study rehearse` runs a study with placeholders"
        )


def study_facts(study: Study) -> dict[str, Any]:
    """Return the summary of a study, JSON-serialisable."""
    groups = study.limit // study.group
    rows = [block.rows for block in study.blocks if block.play]
    kinds = Counter(step.kind for step in study.steps(0))
    conditions = {
        name: {
            "suite": condition.suite,
            "env_id": condition.matches[0].env_id,
            "team": list(condition.matches[0].team),
            "tasks": len({match.task for match in condition.matches}),
            "episodes": condition.rounds,
        }
        for name, condition in study.conditions.items()
    }
    blocks = [
        {
            "conditions": list(block.play),
            "match": block.match,
            "differ": differences([study.conditions[name] for name in block.play]),
        }
        for block in study.blocks
        if len(block.play) > 1
    ]
    return {
        "name": study.name,
        "participants": study.limit,
        "group": study.group,
        "steps": dict(kinds),
        "rows": rows,
        "blocks": blocks,
        "evenly": all(groups % period == 0 for period in rows),
        "conditions": conditions,
        "language_models": {name: study.partners[name] for name in language_partners(study)},
        "to_fill_in": to_fill_in(study.content),
        "remarks": remarks(study),
    }


def differences(conditions: Sequence[Condition]) -> dict[str, list[str]]:
    """Return the options, seats and settings in which conditions differ, with the value in each condition."""
    values = [_values_of(condition) for condition in conditions]
    names = dict.fromkeys(name for value in values for name in value)
    by_name = {
        name: [value.get(name, "no seat" if name.startswith("agent_") else "default") for value in values]
        for name in names
    }
    return {name: texts for name, texts in by_name.items() if len(set(texts)) > 1}


def _values_of(condition: Condition) -> dict[str, str]:
    first = condition.matches[0]
    options: dict[str, set[str]] = {}
    for match in condition.matches:
        for name, value in match.env_kwargs.items():
            options.setdefault(name, set()).add(str(value))
    return {
        "suite": condition.suite,
        **{f"agent_{seat}": spec for seat, spec in enumerate(first.team)},
        **{name: ", ".join(sorted(texts)) for name, texts in options.items()},
        "messages": "on" if first.limits.max_messages else "off",
        **{
            f"limits.{name}": str(value)
            for name, value in first.limits.changed().items()
            if (name, value) != ("max_messages", 0)
        },
        **{f"play.{name}": str(value) for name, value in asdict(condition.settings).items()},
        "episodes": str(condition.episodes),
        "voice": str(condition.voice),
    }


def _lines(study: Study, facts: dict[str, Any]) -> list[str]:
    people = f"{study.limit} participants" + (f" in groups of {study.group}" if study.group > 1 else "")
    steps = ", ".join(f"{count} x {kind}" for kind, count in facts["steps"].items())
    lines = [f"{study.name}: {people}; each: {steps}"]
    for name, condition in facts["conditions"].items():
        played = f"each group plays {plural(condition['episodes'], 'round')}"
        drawn = f", tasks drawn from {condition['tasks']}" if condition["tasks"] > 1 else ""
        lines.append(f"  {name}: {condition['env_id']}, {team_text(condition['team'])}; {played}{drawn}")
    for block in facts["blocks"]:
        differ = "; ".join(f"{what}: {' | '.join(values)}" for what, values in block["differ"].items())
        drawn = _DRAWN[block["match"]]
        lines.append(f"  {' | '.join(block['conditions'])}: {drawn}; {differ or 'no other difference'}")
    groups = study.limit // study.group
    for block in study.blocks:
        if block.rows > 1:
            what = "conditions" if block.order == BETWEEN else "rows"
            even = (
                "" if groups % block.rows == 0 else f"; with {groups} groups some {what} are used once more than others"
            )
            order = f"order: {block.rows} balanced rows"
            if block.order == BETWEEN:
                order = f"each group plays one of {block.rows} conditions, drawn in balance"
            lines.append(f"  {order}{even}")
    if facts["language_models"]:
        lines.append("  language models: " + ", ".join(f"{k}={v}" for k, v in facts["language_models"].items()))
    if facts["to_fill_in"]:
        lines.append(f"  placeholders to fill in ({TO_FILL_IN}): {', '.join(facts['to_fill_in'])}")
    lines += [f"  remark: {remark}" for remark in facts["remarks"]]
    return lines


STUDY = DocumentKind(
    "study",
    FOLDER,
    KEYS,
    check_studies,
    "Checks that a study with people can be run, and summarises the steps of its participants.",
)


def language_partners(study: Study) -> Sequence[str]:
    """Return the names of partners that are language models."""
    return [name for name, spec in study.partners.items() if PolicySpec.parse(spec).is_language]
