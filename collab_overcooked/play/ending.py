"""End of an episode on pages: result, contributions of seats, best result so far, and the result of a program."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.evaluation.suites import Suite
from collab_overcooked.io.daemon import call_in_daemon
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.play.clock import in_seconds
from collab_overcooked.reporting.naming import page_names, renaming
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import Key

PAR_POLICY = "greedy"
MAX_SENTENCES = 6
MAX_EXPIRED = 3  # kinds of orders whose time ran out
_one_at_a_time = threading.Lock()  # the teams that matches keep are shared by threads


def summary_of(game: Any, record: EpisodeRecord, earlier: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return the summary of an episode for pages.

    Args:
        game: Compiled game.
        record: Record of the episode.
        earlier: Records of the same people before it.

    Returns:
        ``happened`` (sentences), ``best`` (outcome of the best episode of the same task, empty for the first one) and
        ``did`` (of each seat the steps in which it acted and waited, and its messages).
    """
    suite, same = registry.suite_of(record), [other for other in earlier if other.task == record.task]
    best = max([*same, record], key=lambda other: _score(other, suite.score_metric, suite.lower_is_better))
    happened = _happened(suite, record, page_names(game))[-MAX_SENTENCES:]
    if tick := max((person.tick or 0 for person in record.people.values()), default=0):
        happened = [in_seconds(sentence, tick) for sentence in happened]
    return {
        "happened": [renaming(game)(translator_of(game)(sentence)) for sentence in happened],
        "best": renaming(game)(suite.outcome(best)) if same else "",
        "did": [_did(game, record, seat) for seat in range(game.n_agents)],
    }


def numbers_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that are numbers, rounded for pages."""
    return {name: round(value, 3) for name, value in metrics.items() if isinstance(value, (int, float))}


def _score(record: EpisodeRecord, metric: str, lower_is_better: bool) -> float:
    value = record.metrics.get(metric)
    if not isinstance(value, (int, float)):
        return float("-inf")
    return -float(value) if lower_is_better else float(value)


def _did(game: Any, record: EpisodeRecord, seat: int) -> list[int]:
    idle = game.action_texts(None, 0, seat)[game.idle_action(seat)]
    waited = sum(step.action_texts[seat] == idle for step in record.steps)
    spoken = sum(message.agent == seat and bool(message.say) for step in record.steps for message in step.messages)
    return [len(record.steps) - waited, waited, spoken]


def _happened(suite: Suite, record: EpisodeRecord, names: Sequence[str]) -> list[str]:
    """Return sentences on the events that decided an episode, the last of each kind, and on how it ended."""
    sentences: dict[str, str] = {}  # by their text without the step
    patterns = {re.compile(pattern): sentence for pattern, sentence in suite.decisive.items()}
    expired = Counter(name for step in record.steps for change, name in step.order_changes if change < 0)
    for name, count in expired.most_common(MAX_EXPIRED):
        sentences[name] = f"Too late: {name}{f', {count} times' * (count > 1)}."
    for number, step in enumerate(record.steps, 1):
        for player, event in zip(names, step.events, strict=True):
            fields = {} if event is None else {**structs.asdict(event), "player": player}
            for pattern, sentence in patterns.items():
                if event is not None and pattern.fullmatch(event.signature):
                    key = sentence.format(**fields, step="")
                    sentences.pop(key, None)
                    sentences[key] = sentence.format(**fields, step=number)
        served = [name for change, name in step.order_changes if change > 0]
        if served:
            sentences["served"] = f"Last order: {served[-1]}, completed in step {number}."
    facts = game_metrics(record.env_id).measure(record)
    facts |= {"steps": record.timesteps, "success": record.success, "task": record.task}
    ending = next(text for metric, text in suite.endings.items() if not metric or facts[metric])
    return [*sentences.values(), ending.format(**facts)]


async def par_of(match: Match, key: Key) -> str:
    """Return the outcome of an episode that ``greedy`` plays in all seats on the same seed; empty if it cannot."""

    def play() -> str:
        with contextlib.suppress(ValueError), _one_at_a_time:  # a policy may refuse some layouts
            records = replace(match, team=(PAR_POLICY,) * len(match.team)).run()
            record = next(record for record in records if (record.task, record.episode) == key)
            return registry.suite_of(record).outcome(record)
        return ""

    return await asyncio.wrap_future(call_in_daemon(play))
