"""Chats for supervised fine-tuning: questions to language models, answered by models or by other policies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.adapters.results import request_counts
from collab_overcooked.adapters.seat_client import SeatClient
from collab_overcooked.core.record import EpisodeRecord, unpack
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.llm.agents import agent_kind
from collab_overcooked.policies.llm.exchange import Request
from collab_overcooked.policies.llm.settings import CHOOSE, DISPATCH, PARTNER, parse_settings
from collab_overcooked.policies.llm.store import read_all_exchanges
from collab_overcooked.policies.llm.tools import ACT, CALLS, calls_text
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import about

KINDS = (CHOOSE, PARTNER, DISPATCH)  # agents whose answers follow from actions
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
Chat = dict[str, Any]


def exchange_chats(path: Path) -> Iterator[Chat]:
    """Yield the complete exchanges of a run with language models.

    Args:
        path: File of exchanges: ``exchanges.jsonl`` of a run folder, or a store.

    Yields:
        ``messages`` with ``role`` and ``content``, the reply last, ``model``, and ``tools`` if the request has some.
    """
    for exchange in read_all_exchanges(path):
        request, reply = exchange.request, exchange.reply
        if reply.finish == "stop":
            yield _chat(request.turns, request.tools, reply.text, request.model)


def record_chats(records: Iterable[EpisodeRecord], switches: str = "") -> Iterator[Chat]:
    """Yield the questions that a language model would have been asked in recorded episodes, with the recorded actions.

    The answers are the recorded actions, whatever policy chose them: without an analysis and without messages.

    Args:
        records: Records that start without reset options and without refused actions.
        switches: Settings of the language agent, such as ``"agent=choose,channel=tools"``; empty for the
            agent that ``evaluate`` chooses for the game.

    Yields:
        ``messages`` with ``role`` and ``content``, the answer last, ``model``, the policy of the seat, and ``tools`` if
        the request has some; the answer then has ``tool_calls``.

    Raises:
        ValueError: For an agent whose answers are more than actions, and for a record that this agent cannot repeat.
    """
    for series in _series(records):
        with about(series[0]):
            for _, chat in _chats_of(series, switches):
                yield chat


def record_conversations(records: Iterable[EpisodeRecord], switches: str) -> Iterator[Chat]:
    """Yield a chat per episode and seat, in which the newest message of each later question answers a call.

    It is the form in which trainers with environments grow a chat.

    Args:
        records: See ``record_chats``.
        switches: See ``record_chats``; with ``channel=tools``.

    Yields:
        See ``record_chats``; states after the first one are messages with the role ``tool``.

    Raises:
        ValueError: The records hold no tool calls.
    """
    for series in _series(records):
        conversations: dict[tuple[int, int], Chat] = {}
        with about(series[0]):
            for place, chat in _chats_of(series, switches):
                if "tools" not in chat:
                    raise ValueError("conversations need calls of tools: agent=choose,channel=tools")
                if place not in conversations:
                    conversations[place] = chat
                    continue
                grown = conversations[place]["messages"]
                *_, state, answer = chat["messages"]
                for call in grown[-1]["tool_calls"]:
                    content = state["content"] if call is grown[-1]["tool_calls"][-1] else ""
                    grown.append({"role": "tool", "tool_call_id": call["id"], "content": content})
                grown.append(_numbered(answer, len(grown)))
        yield from conversations.values()


def _series(records: Iterable[EpisodeRecord]) -> Iterator[list[EpisodeRecord]]:
    """Yield the records of each match: consecutive episodes of a team after one seed."""
    series: list[EpisodeRecord] = []
    for record in map(unpack, records):
        if series and not _follows(record, series[-1]):
            yield series
            series = []
        series.append(record)
    if series:
        yield series


def _follows(record: EpisodeRecord, before: EpisodeRecord) -> bool:
    names = ("env_id", "env_kwargs", "team", "task", "seed", "max_cycles")
    is_same = all(getattr(record, name) == getattr(before, name) for name in names)
    return is_same and record.episode == before.episode + 1


def _chats_of(series: Sequence[EpisodeRecord], switches: str) -> Iterator[tuple[tuple[int, int], Chat]]:
    """Yield chats with episode number and seat, by replaying recorded actions as answers of language models."""
    first = series[0]
    kwargs = {**first.env_kwargs, "max_cycles": first.max_cycles}
    spec = f"llm:recorded?{switches}"
    players = list(first.team.values())
    match = Match(
        env_id=first.env_id,
        env_kwargs=kwargs,
        team=(spec,) * len(players),
        task=first.task,
        level=first.level,
        seed=first.seed,
        first=first.episode,
        episodes=len(series),
    )
    game: Any = match.load_game()  # ``command_text`` exists in games of the agent ``DISPATCH`` only
    kind = agent_kind(parse_settings(spec.removeprefix("llm:")), game)
    if kind not in KINDS:
        raise ValueError(near_matches("agent of exported chats", kind, KINDS))
    with SeatClient(match, carries=["tools"]) as client:
        turn = client.start()
        while not turn.done:
            episode = turn.info["episode"]
            timestep = turn.info["timestep"]
            seat = turn.seat
            request = client.request
            assert request is not None
            record = series[episode - first.episode]
            if timestep >= len(record.steps):
                raise ValueError(f"steps[{timestep}]: the record ends before the episode")
            step = record.steps[timestep]
            if kind == DISPATCH:
                answer = "\n".join(game.command_text(one, action) for one, action in enumerate(step.actions))
            else:
                where = f"steps[{timestep}].actions[{seat}]"
                answer = _answer(request, step.action_texts[seat], is_plan=kind == PARTNER, where=where)
            yield (episode, seat), _chat(request.turns, request.tools, answer, players[seat])
            turn = client.step(answer)
        for record, played in zip(series, client.records, strict=True):
            if played.options != record.options:
                raise ValueError(
                    "options: the episode does not start as its seed does, and cannot be exported as chats"
                )
            if [step.actions for step in played.steps] != [step.actions for step in record.steps]:
                raise ValueError("steps: the recorded actions lead elsewhere when they are chosen one by one")
        if request_counts(client.records)["unusable"]:
            raise ValueError(f"steps: the recorded actions are no answers to the agent {kind!r} with {switches!r}")


def _answer(request: Request, chosen: str, is_plan: bool, where: str) -> str:
    if request.tools:
        return calls_text([(ACT, json.dumps({"action": chosen}))])
    fields = request.schema["properties"] if request.schema is not None else {}
    if is_plan:
        parts = {name: "" for name in fields} | {"plan": chosen}
        return json.dumps(parts, ensure_ascii=False) if fields else f"plan: {chosen}"
    listed = request.turns[-1].content.rpartition("\nActions:\n")[2]
    numbers = {text: int(number) for number, text in _NUMBERED.findall(listed)}
    if chosen not in numbers:
        raise ValueError(f"{where}: {chosen!r} is none of the listed actions")
    return json.dumps({"action": numbers[chosen]}) if fields else str(numbers[chosen])


def _chat(turns: Sequence[tuple[str, str]], tools: Sequence[Mapping[str, Any]], answer: str, model: str) -> Chat:
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
    reply: dict[str, Any] = {"role": "assistant", "content": answer}
    calls = json.loads(answer)[CALLS] if tools and answer.startswith(f'{{"{CALLS}":') else []
    if calls:
        made = [{"type": "function", "function": call} for call in calls]
        reply = _numbered({"role": "assistant", "content": "", "tool_calls": made}, len(messages))
    offered = {"tools": [{"type": "function", "function": dict(tool)} for tool in tools]} if tools else {}
    return {"messages": [*messages, reply], "model": model, **offered}


def _numbered(message: dict[str, Any], place: int) -> dict[str, Any]:
    """Return a message whose calls have ids that name its place in the chat."""
    calls = [{**call, "id": f"call_{place}_{number}"} for number, call in enumerate(message["tool_calls"])]
    return {**message, "tool_calls": calls}
