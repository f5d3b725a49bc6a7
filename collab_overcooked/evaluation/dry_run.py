"""Estimate of a run with language models, without a request: missing episodes, decisions, tokens and dollars.

Prompts are those of the first states of the first missing episode, in which no model answers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.policies.llm.agents import agent_kind, policy_maker
from collab_overcooked.policies.llm.budget import Budget, Price
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import EndpointError, Reply, Request
from collab_overcooked.policies.llm.settings import DISPATCH, parse_settings
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import key_of

TEACHER = "teacher"
NOTE = (
    "Only episodes that have not been played count, each at its maximum length. A decision takes one request, and "
    "more with conversations, corrections and retries, which are not included."
)
UNBOUNDED = "There is no upper bound; --budget and --budget-total set one."
ANSWER_TOKENS = 100  # of an answer without reasoning
FIRST_PROMPTS = 8  # of a model
ESTIMATE = (
    "Tokens are estimates: every prompt has the mean length of the first ones (four characters per token; prompts that "
    f"grow with a history are longer), every answer {ANSWER_TOKENS} tokens, or tokens=N of the model's settings if "
    "that is less. Reasoning and teachers are not included."
)
_COLUMNS = (
    Column("Suite"),
    Column("Model"),
    Column("Agent"),
    Column("Episodes", "number"),
    Column("Decisions at most", "number", 0),
    Column("Prompt tokens", "number", 0),
    Column("Tokens", "number", 0),
    Column("Dollars", "number", 2),
)
Bounds = dict[tuple[str, str], tuple[int, int]]
"""Episodes and decisions, by spec of the model and kind of agent."""


def upper_bounds(plan: MatchPlan, records: Iterable[EpisodeRecord]) -> Bounds:
    """Count the missing episodes and bound their decisions, by spec of the model and kind of agent."""
    done = {key_of(record) for record in records}
    episodes: dict[tuple[str, str], set[Any]] = {}
    decisions: dict[tuple[str, str], int] = {}

    def add(spec: str, kind: str, keys: Sequence[Any], steps: int) -> None:
        episodes.setdefault((spec, kind), set()).update(keys)
        decisions[spec, kind] = decisions.get((spec, kind), 0) + len(keys) * steps

    for match in plan.matches:
        keys = [key for key in match.keys if key not in done]
        commanding: set[str] = set()  # models that were counted for all of their seats
        for spec in match.speakers() if keys else ():
            settings = parse_settings(PolicySpec.parse(spec).parameters)
            kind = agent_kind(settings, match.load_game())
            settings.for_agent(kind)  # refuses switches that the run would refuse
            if spec not in commanding:
                add(spec, kind, keys, match.longest)
            commanding |= {spec} if kind == DISPATCH else set()
        for spec in match.teachers() if keys else ():
            add(spec, TEACHER, keys[1:], 1)
    return {name: (len(keys), decisions[name]) for name, keys in episodes.items()}


class _Enough(EndpointError):
    """Enough prompts were seen."""


class _PromptCounter:
    """Note the length of prompts, answer nothing, and end the episode after the first ones."""

    def __init__(self) -> None:
        self.tokens: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Note a prompt."""
        with self._lock:
            lengths = self.tokens.setdefault(request.model, [])
            lengths.append(sum(len(turn.content) for turn in request.turns) / 4)
            if len(lengths) > FIRST_PROMPTS:
                raise _Enough
        return Reply("")


def prompt_tokens(
    plan: MatchPlan, records: Iterable[EpisodeRecord], budget: Budget, prices: Mapping[str, Price]
) -> dict[str, float]:
    """Return the mean tokens of the first prompts of each model, from its first missing episode.

    Args:
        plan: Plan of the matches.
        records: Records of episodes that were already played.
        budget: Budget of an episode, which is checked as a run does.
        prices: Prices by model, which a budget of dollars needs.
    """
    done, tokens = {key_of(record) for record in records}, dict[str, float]()
    for match in plan.matches:
        models = {parse_settings(PolicySpec.parse(spec).parameters).model for spec in match.speakers()}
        if models <= tokens.keys() or all(key in done for key in match.keys):
            continue
        counter = _PromptCounter()
        try:
            match.run(policy_maker(Client(counter.complete, budget=budget, prices=prices)))
        except _Enough:
            pass
        tokens |= {model: fmean(lengths) for model, lengths in counter.tokens.items() if model not in tokens}
    return tokens


def _cost(
    spec: str, kind: str, decisions: int, prompt: float | None, prices: Mapping[str, Price]
) -> tuple[float | None, float | None, float | None]:
    """Return tokens of a prompt, tokens of all decisions, and dollars; None if unknown."""
    if kind == TEACHER or prompt is None:
        return None, None, None
    settings = parse_settings(PolicySpec.parse(spec).parameters)
    answer = min(settings.tokens or ANSWER_TOKENS, ANSWER_TOKENS)
    price = settings.price or prices.get(settings.model, prices.get(""))
    reply = Reply("", prompt_tokens=round(decisions * prompt), completion_tokens=decisions * answer)
    return prompt, reply.tokens, None if price is None else price.of(reply)


def dry_run_card(
    plans: Iterable[tuple[MatchPlan, Sequence[EpisodeRecord]]],
    prices: Mapping[str, Price],
    budget: Budget,
    total: Budget,
) -> Scorecard:
    """Return a card with the estimates by suite, model and agent, and with the upper bounds that budgets set.

    Args:
        plans: Plans, each with the records that it has already.
        prices: Prices by model, which a budget of dollars needs.
        budget: Budget of an episode.
        total: Budget of the run.
    """
    priced = replace(budget, dollars=budget.dollars if total.dollars is None else total.dollars)  # needs a price too
    prompts: dict[tuple[str, str], float] = {}
    rows: dict[tuple[str, str, str], tuple[int, int]] = {}
    missing = 0
    for plan, records in plans:
        done = {key_of(record) for record in records}
        missing += sum(key not in done for match in plan.matches for key in match.keys if match.speakers())
        for model, tokens in prompt_tokens(plan, records, priced, prices).items():
            prompts.setdefault((plan.suite, model), tokens)
        for (spec, kind), bounds in upper_bounds(plan, records).items():
            before = rows.get((plan.suite, spec, kind), (0, 0))
            rows[plan.suite, spec, kind] = (before[0] + bounds[0], before[1] + bounds[1])
    limits = {name: limit * missing for name, limit in budget.to_dict().items()}
    if any(kind == TEACHER for _, _, kind in rows):  # the budget of an episode does not bound teachers
        limits = {}
    for name, limit in total.to_dict().items():
        limits[name] = min(limit, limits.get(name, limit))
    bounded = ", ".join(f"{limit:,.6g} {name}" for name, limit in limits.items())
    notes = (NOTE, ESTIMATE, *([f"Upper bound, set by the budgets: {bounded}."] if bounded else [UNBOUNDED]))
    cells = []
    for (suite, spec, kind), bounds in rows.items():
        prompt = prompts.get((suite, parse_settings(PolicySpec.parse(spec).parameters).model))
        cells.append((suite, spec, kind, *bounds, *_cost(spec, kind, bounds[1], prompt, prices)))
    table = ResultTable(_COLUMNS, tuple(cells))
    return Scorecard("dry-run", "Estimate of the run", (table,), notes=notes)
