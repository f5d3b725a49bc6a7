"""Forecasts of the requests, tokens and costs of a run with language models, from lengths of recorded episodes."""

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
from collab_overcooked.policies.llm.settings import DISPATCH, AgentSettings, parse_settings
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.jobs import Evaluation, Job
from collab_overcooked.runner.records import key_of

FILE = "language_lengths.json"  # of a suite's package: suite -> kind of agent -> lengths
TEACHER = "teacher"
PRIMITIVE = "primitive"  # value of the option action_level
NOTE = (
    "Episodes that are not played yet. Lengths are means over this run's own records where it has some; else those of "
    "recorded episodes of stand-ins that play as greedy does. At most: episodes last as long as they may, and "
    "answers are as long as tokens allows, if that is set."
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
    """Mean requests and tokens of a kind of agent in recorded episodes.

    Attributes:
        questions: Per seat and step, or per step of an agent that commands all seats; of a teacher after an episode.
        prompt: Tokens of a question.
        completion: Tokens of an answer.
        share: Steps of an episode, as a share of those that it may have.
    """

    questions: float
    prompt: float
    completion: float
    share: float = 1.0


def recorded_lengths(plan: Evaluation, records: Iterable[Mapping[str, Any]]) -> dict[str, Lengths]:
    """Return the lengths of a plan's records, see ``length_key``; episodes that a budget cut short do not count.

    Args:
        plan: What was to be played.
        records: What was.
    """
    jobs = {key: job for job in plan.jobs for key in job.keys}
    sums: dict[str, list[float]] = {}
    for record in records:
        for agent, account in record.get("accounts", {}).items():
            if key_of(record) not in jobs or account["exhausted"] or "agent" not in account:
                continue
            job, kind = jobs[key_of(record)], account["agent"]
            if kind == DISPATCH and not account["calls"]:
                continue  # the first of its seats asks for all
            limit = 1 if agent == TEACHER else _longest(job)
            steps = min(record["timesteps"] if limit > 1 else limit, limit)
            used = (limit, steps, account["calls"], account["prompt_tokens"], account["completion_tokens"])
            key = kind if agent == TEACHER else length_key(kind, job)
            total = sums.setdefault(key, [0.0] * len(used))
            total[:] = [one + more for one, more in zip(total, used, strict=True)]
    return {
        key: Lengths(calls / steps, prompt / calls, completion / calls, steps / limit)
        for key, (limit, steps, calls, prompt, completion) in sums.items()
        if calls
    }


def shipped_lengths(suite: str) -> dict[str, Lengths]:
    """Return the lengths that are shipped with a suite; nothing if there are none."""
    package = type(registry.load_suite(suite)).__module__.rpartition(".")[0]
    if not package or not (path := resources.files(package) / FILE).is_file():
        return {}
    parsed = json.loads(path.read_text(encoding="utf-8"))
    return {kind: Lengths(**values) for kind, values in parsed.get(suite, {}).items()}


def length_key(kind: str, job: Job) -> str:
    """Return the name of an agent's lengths: its kind, and whether each action is a single step of the game."""
    if job.longest == 1:  # a single question
        return kind
    is_primitive = job.env_kwargs.get("action_level", _default_level(job.env_id)) == PRIMITIVE
    return f"{kind}, {PRIMITIVE}" if is_primitive else kind


@lru_cache(maxsize=64)
def _default_level(env_id: str) -> Any:
    return registry.load_game(env_id).kwargs.get("action_level")


def _longest(job: Job) -> int:
    return job.longest or _longest_of(job.env_id, json.dumps(dict(job.env_kwargs), sort_keys=True))


@lru_cache(maxsize=512)
def _longest_of(env_id: str, kwargs: str) -> int:
    options = json.loads(kwargs)
    return int(options.get("max_cycles") or registry.load_game(env_id, **options).max_cycles)


# ------------------------------------------------------------------------------------------- forecasts


@dataclass
class Need:
    """Forecast for one model as one kind of agent.

    Attributes:
        settings: Of the model.
        lengths: Recorded ones; None if there are none.
        price: Of its tokens; None if unknown.
        keys: Of the episodes in which it takes part.
        questions: That it is asked if its episodes last as long as recorded ones.
        most: That it is asked if they last as long as they may.
    """

    settings: AgentSettings
    lengths: Lengths | None
    price: Price | None
    keys: set[Any] = field(default_factory=set)
    questions: float = 0.0
    most: float = 0.0

    def cells(self) -> tuple[Cell, ...]:
        """Return episodes, questions, tokens in and out, dollars, and dollars at most."""
        lengths, price, longest = self.lengths, self.price, self.settings.tokens
        if lengths is None:
            return (len(self.keys), *(None,) * 5)
        written = min(lengths.completion, longest or lengths.completion)
        dollars: list[Cell] = [None, None]
        if price is not None:
            costs = [price.prompt * lengths.prompt + price.completion * out for out in (written, longest or written)]
            dollars = [count * cost / 1e6 for count, cost in zip((self.questions, self.most), costs, strict=True)]
        return (len(self.keys), self.questions, self.questions * lengths.prompt, self.questions * written, *dollars)


def needs(
    plan: Evaluation, records: Sequence[Mapping[str, Any]], prices: Mapping[str, Price]
) -> dict[tuple[str, str], Need]:
    """Return what the episodes that are missing will take, by text of the model and kind of agent.

    Raises:
        ValueError: If an agent that was asked for does not play a game, or does not have one of its switches.
    """
    lengths = {**shipped_lengths(plan.suite), **recorded_lengths(plan, records)}
    done = {key_of(record) for record in records}
    needs: dict[tuple[str, str], Need] = {}

    def add(spec: str, kind: str, keys: Sequence[Any], steps: int, key: str) -> None:
        settings = parse_settings(spec.partition(":")[2])
        price = settings.price or prices.get(settings.model, prices.get(""))
        need = needs.setdefault((spec, kind), Need(settings, lengths.get(key, lengths.get(kind)), price))
        need.keys.update(keys)
        if need.lengths:
            most = len(keys) * steps * need.lengths.questions
            need.most, need.questions = need.most + most, need.questions + most * need.lengths.share

    for job in plan.jobs:
        keys = [key for key in job.keys if key not in done]
        commanding: set[str] = set()  # models that were counted for all of their seats
        for spec in job.speakers() if keys else ():
            settings = parse_settings(spec.partition(":")[2])
            kind = agent_kind(settings, job.load_game())
            settings.for_agent(kind)  # refuses switches that the run would refuse
            if spec not in commanding:
                add(spec, kind, keys, _longest(job), length_key(kind, job))
            commanding |= {spec} if kind == DISPATCH else set()
        for spec in job.teachers() if keys else ():
            add(spec, TEACHER, keys[1:], 1, TEACHER)
    return needs


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
    added = [(*names, *_sums(group)) for names, group in rows.items()]
    total = [("total", "", "", *_sums([row[3:] for row in added]))] if len(added) > 1 else []
    unknown = [f"{kind} in {suite}" for (suite, _, kind), lines in rows.items() if any(row[1] is None for row in lines)]
    notes = [f"No recorded episode of {', '.join(unknown)}: play one, then ask again."] if unknown else []
    table = ResultTable(_COLUMNS, tuple(added + total))
    return Scorecard("forecast", "What would be asked", (table,), notes=(NOTE, *notes))


def _sums(rows: Sequence[tuple[Cell, ...]]) -> tuple[Cell, ...]:
    """Return the sums of columns; nothing where a row has nothing."""
    columns = zip(*rows, strict=True)
    return tuple(None if None in column else sum(column) for column in columns)
