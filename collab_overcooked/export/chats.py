"""Chats for supervised fine-tuning: questions to language models, with the answers of models or of other policies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from collab_overcooked.adapters.sitting import Sitting
from collab_overcooked.core.record import Record, unpack
from collab_overcooked.policies.llm.store import read_all_exchanges
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import about

SPEC = "llm:recorded?agent=choose"
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
Chat = dict[str, Any]


def exchange_chats(path: Path) -> Iterator[Chat]:
    """Yield the complete exchanges of a run with language models.

    Args:
        path: File of exchanges: ``exchanges.jsonl`` of a run folder, or a store.

    Yields:
        ``messages`` with ``role`` and ``content``, the reply last, and ``model``.
    """
    for exchange in read_all_exchanges(path):
        request, reply = exchange.request, exchange.reply
        if reply.finish == "stop":
            messages = [{"role": role, "content": text} for role, text in request.turns]
            yield {"messages": [*messages, {"role": "assistant", "content": reply.text}], "model": request.model}


def record_chats(records: Iterable[Record]) -> Iterator[Chat]:
    """Yield the questions that a language model would have been asked in recorded episodes, with what was chosen.

    The prompts are those of the agent ``choose``, the answers the numbers of the recorded actions, whatever policy
    chose them.

    Args:
        records: Records that start without reset options and without refused actions.

    Yields:
        ``messages`` with ``role`` and ``content``, the answer last, and ``model``, the policy of the seat.
    """
    for record in records:
        with about(record):
            yield from _chats_of(unpack(record))


def _chats_of(record: Record) -> Iterator[Chat]:
    if record.options:
        raise ValueError("options: episodes that start from reset options cannot be exported as chats")
    kwargs = {**record.env_kwargs, "max_cycles": record.max_cycles}
    players = list(record.team.values())
    match = Match(
        env_id=record.env_id,
        env_kwargs=kwargs,
        team=(SPEC,) * len(players),
        task=record.task,
        level=record.level,
        seed=record.seed,
        first=record.episode,
    )
    with Sitting(match) as sitting:
        turn = sitting.start()
        while not turn.done:
            timestep, seat = turn.info["timestep"], turn.seat
            listed = turn.messages[-1]["content"].rpartition("\nActions:\n")[2]
            numbers = {text: int(number) for number, text in _NUMBERED.findall(listed)}
            chosen = record.steps[timestep].action_texts[seat] if timestep < len(record.steps) else None
            if chosen not in numbers:
                raise ValueError(f"steps[{timestep}].actions[{seat}]: {chosen!r} is none of the listed actions")
            answer = json.dumps({"action": numbers[chosen]})
            yield {"messages": [*turn.messages, {"role": "assistant", "content": answer}], "model": players[seat]}
            turn = sitting.step(answer)
        if [step.actions for step in sitting.record.steps] != [step.actions for step in record.steps]:
            raise ValueError("steps: the recorded actions lead elsewhere when they are chosen one by one")
