"""Upper bounds of a run with language models, without a request: missing episodes, and the decisions they may need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.policies.llm.agents import agent_kind
from collab_overcooked.policies.llm.budget import Budget
from collab_overcooked.policies.llm.settings import DISPATCH, parse_settings
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.jobs import Evaluation, Job
from collab_overcooked.runner.records import key_of

TEACHER = "teacher"
NOTE = (
    "Episodes that are not played yet, each as long as it may last. A decision takes one request, and more with "
    "conversations, corrections and repeated requests; --budget and --budget-total bound these."
)
_COLUMNS = (
    Column("Suite"),
    Column("Model"),
    Column("Agent"),
    Column("Episodes", "number"),
    Column("Decisions at most", "number", 0),
)
Bounds = dict[tuple[str, str], tuple[int, int]]
"""Episodes and decisions, by spec of the model and kind of agent."""


def upper_bounds(plan: Evaluation, records: Iterable[Mapping[str, Any]]) -> Bounds:
    """Return what the episodes that are missing may need."""
    done = {key_of(record) for record in records}
    episodes: dict[tuple[str, str], set[Any]] = {}
    decisions: dict[tuple[str, str], int] = {}

    def add(spec: str, kind: str, keys: Sequence[Any], steps: int) -> None:
        episodes.setdefault((spec, kind), set()).update(keys)
        decisions[spec, kind] = decisions.get((spec, kind), 0) + len(keys) * steps

    for job in plan.jobs:
        keys = [key for key in job.keys if key not in done]
        commanding: set[str] = set()  # models that were counted for all of their seats
        for spec in job.speakers() if keys else ():
            settings = parse_settings(spec.partition(":")[2])
            kind = agent_kind(settings, job.load_game())
            settings.for_agent(kind)  # refuses switches that the run would refuse
            if spec not in commanding:
                add(spec, kind, keys, _longest(job))
            commanding |= {spec} if kind == DISPATCH else set()
        for spec in job.teachers() if keys else ():
            add(spec, TEACHER, keys[1:], 1)
    return {name: (len(keys), decisions[name]) for name, keys in episodes.items()}


def _longest(job: Job) -> int:
    return job.longest or _longest_of(job.env_id, json.dumps(dict(job.env_kwargs), sort_keys=True))


@lru_cache(maxsize=512)
def _longest_of(env_id: str, kwargs: str) -> int:
    options = json.loads(kwargs)
    return int(options.get("max_cycles") or registry.load_game(env_id, **options).max_cycles)


def dry_run_card(
    plans: Iterable[tuple[Evaluation, Sequence[Mapping[str, Any]]]], budget: Budget, total: Budget
) -> Scorecard:
    """Return upper bounds by suite, model and agent, and those that the budgets set.

    Args:
        plans: Plans, each with the records that it has already.
        budget: Of an episode.
        total: Of the run.
    """
    rows: dict[tuple[str, str, str], tuple[int, int]] = {}
    missing = 0
    for plan, records in plans:
        done = {key_of(record) for record in records}
        missing += sum(key not in done for job in plan.jobs for key in job.keys if job.speakers())
        for (spec, kind), bounds in upper_bounds(plan, records).items():
            before = rows.get((plan.suite, spec, kind), (0, 0))
            rows[plan.suite, spec, kind] = (before[0] + bounds[0], before[1] + bounds[1])
    limits = {name: limit * missing for name, limit in budget.to_dict().items()}
    if any(kind == TEACHER for _, _, kind in rows):  # the budget of an episode does not bound teachers
        limits = {}
    for name, limit in total.to_dict().items():
        limits[name] = min(limit, limits.get(name, limit))
    bounded = ", ".join(f"{limit:,.6g} {name}" for name, limit in limits.items())
    notes = (NOTE, f"Bounds of the budgets: {bounded}.") if bounded else (NOTE,)
    table = ResultTable(_COLUMNS, tuple((*names, *bounds) for names, bounds in rows.items()))
    return Scorecard("dry-run", "At most", (table,), notes=notes)
