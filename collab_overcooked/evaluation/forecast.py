"""What a run will ask language models and what that costs, from lengths of recorded episodes, before it is played."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from collab_overcooked import registry
from collab_overcooked.policies.llm.agents import agent_kind
from collab_overcooked.policies.llm.budget import Price
from collab_overcooked.policies.llm.settings import AgentSettings, parse_settings
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.jobs import Evaluation, Job
from collab_overcooked.runner.records import key_of

FILE = "language_lengths.json"  # of a suite's package: suite -> kind of agent -> lengths
TEACHER = "teacher"
NOTE = (
    "Episodes that are not played yet. Lengths are means over this run's own records where it has some; else those of "
    "recorded episodes of stand-ins, taken to last as long as they may. At most: every answer as long as its model may "
    "write."
)
_COLUMNS = (
    Column("Suite"),
    Column("Model"),
    Column("Agent"),
    Column("Episodes", "number"),
    Column("Questions", "number", 0),
    Column("Tokens in", "number", 0),
    Column("Tokens out", "number", 0),
    Column("Dollars", "number", 4),
    Column("At most", "number", 4),
)


@dataclass(frozen=True)
class Lengths:
    """What a kind of agent asked in recorded episodes, on average.

    Attributes:
        questions: Of a seat in a step that an episode may have; of a teacher after an episode.
        prompt: Tokens of a question.
        completion: Tokens of an answer.
    """

    questions: float
    prompt: float
    completion: float


def recorded_lengths(
    plan: Evaluation, records: Iterable[Mapping[str, Any]], to_the_end: bool = False
) -> dict[str, Lengths]:
    """Return the lengths of a plan's records by kind of agent; episodes that a budget cut short do not count.

    Args:
        plan: What was to be played.
        records: What was.
        to_the_end: Take episodes that ended early for as long as they could have been.
    """
    jobs = {key: job for job in plan.jobs for key in job.keys}
    sums: dict[str, list[float]] = {}
    for record in records:
        for agent, account in record.get("accounts", {}).items():
            if key_of(record) not in jobs or account["exhausted"] or "agent" not in account:
                continue
            job = jobs[key_of(record)]
            steps = job.longest or (record["timesteps"] if to_the_end else _longest(job))
            chances = 1 if agent == TEACHER else steps
            used = (chances, account["calls"], account["prompt_tokens"], account["completion_tokens"])
            own = sums.setdefault(account["agent"], [0.0] * len(used))
            own[:] = [one + more for one, more in zip(own, used, strict=True)]
    return {
        kind: Lengths(calls / chances, prompt / calls, completion / calls)
        for kind, (chances, calls, prompt, completion) in sums.items()
        if calls
    }


def shipped_lengths(suite: str) -> dict[str, Lengths]:
    """Return the lengths that are shipped with a suite; nothing if there are none."""
    package = type(registry.load_suite(suite)).__module__.rpartition(".")[0]
    if not package or not (path := resources.files(package) / FILE).is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {kind: Lengths(**own) for kind, own in found.get(suite, {}).items()}


def _longest(job: Job) -> int:
    return job.longest or _longest_of(job.env_id, json.dumps(dict(job.env_kwargs), sort_keys=True))


@lru_cache(maxsize=512)
def _longest_of(env_id: str, kwargs: str) -> int:
    options = json.loads(kwargs)
    return int(options.get("max_cycles") or registry.load_game(env_id, **options).max_cycles)


# ------------------------------------------------------------------------------------------- forecasts


@dataclass
class Need:
    """What one model will take as one kind of agent.

    Attributes:
        settings: Of the model.
        lengths: Recorded ones; None if there are none.
        price: Of its tokens; None if nobody said it.
        keys: Of the episodes in which it takes part.
        questions: That it will be asked.
    """

    settings: AgentSettings
    lengths: Lengths | None
    price: Price | None
    keys: set[Any] = field(default_factory=set)
    questions: float = 0.0

    def cells(self) -> tuple[Cell, ...]:
        """Return episodes, questions, tokens in and out, dollars, and dollars at most."""
        own = self.lengths
        if own is None:
            return (len(self.keys), *(None,) * 5)
        most = self.settings.tokens or None  # without a limit nobody knows what it costs at most
        asked = self.questions * own.prompt
        said = self.questions * min(own.completion, most or own.completion)
        outs = (said, None if most is None else self.questions * most)
        dollars = (
            None
            if self.price is None or out is None
            else (self.price.prompt * asked + self.price.completion * out) / 1e6
            for out in outs
        )
        return (len(self.keys), self.questions, asked, said, *dollars)


def needs(
    plan: Evaluation, records: Sequence[Mapping[str, Any]], prices: Mapping[str, Price]
) -> dict[tuple[str, str], Need]:
    """Return what the episodes that are missing will take, by text of the model and kind of agent.

    Raises:
        ValueError: If an agent that was asked for does not play a game, or does not have one of its switches.
    """
    lengths = {**shipped_lengths(plan.suite), **recorded_lengths(plan, records)}
    done = {key_of(record) for record in records}
    found: dict[tuple[str, str], Need] = {}

    def add(spec: str, kind: str, keys: Sequence[Any], chances: int) -> None:
        settings = parse_settings(spec.partition(":")[2])
        price = settings.price or prices.get(settings.model, prices.get(""))
        need = found.setdefault((spec, kind), Need(settings, lengths.get(kind), price))
        need.keys.update(keys)
        need.questions += len(keys) * chances * (need.lengths.questions if need.lengths else 0)

    for job in plan.jobs:
        keys = [key for key in job.keys if key not in done]
        for spec in job.speakers() if keys else ():
            settings = parse_settings(spec.partition(":")[2])
            kind = agent_kind(settings, job.load_game())
            settings.for_agent(kind)  # refuses switches that the run would refuse
            add(spec, kind, keys, _longest(job))
        for spec in job.teachers() if keys else ():
            add(spec, TEACHER, keys[1:], 1)
    return found


def forecast_card(
    plans: Iterable[tuple[Evaluation, Sequence[Mapping[str, Any]]]], prices: Mapping[str, Price]
) -> Scorecard:
    """Return what plans will take, by suite, model and agent, with their sum below.

    Args:
        plans: Plans, each with the records that it has already.
        prices: By model, see ``budget.parse_prices``.
    """
    rows: dict[tuple[str, str, str], list[tuple[Cell, ...]]] = {}
    for plan, records in plans:
        for (spec, kind), need in needs(plan, records, prices).items():
            rows.setdefault((plan.suite, spec, kind), []).append(need.cells())
    added = [(*names, *_sums(own)) for names, own in rows.items()]
    total = [("total", "", "", *_sums([row[3:] for row in added]))] if len(added) > 1 else []
    unknown = [f"{kind} in {suite}" for (suite, _, kind), own in rows.items() if any(row[1] is None for row in own)]
    notes = [f"No recorded episode of {', '.join(unknown)}: play one, then ask again."] if unknown else []
    table = ResultTable(_COLUMNS, tuple(added + total))
    return Scorecard("forecast", "What would be asked", (table,), notes=(NOTE, *notes))


def _sums(rows: Sequence[tuple[Cell, ...]]) -> tuple[Cell, ...]:
    """Return the sums of columns; nothing where a row has nothing."""
    columns = zip(*rows, strict=True)
    return tuple(None if None in own else sum(own) for own in columns)
