"""Initiating and responding capability (IC, RC): usefulness of requests and of responses.

A conversation is one event. Its initiator asks for actions in the plan (``request('...')``), its responder
announces a plan. Both lists are appended to the responder's history and judged by ITES.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from collab_overcooked.games.collab_overcooked.suite.metrics.vocabulary import Vocabularies, any_seat, keep_known
from collab_overcooked.io.options import option
from collab_overcooked.metrics.trajectory import BETA, tes_batch

Logged = tuple[int, str]
"""(timestamp, action): the timestamp is the 0-based index of the step plus one."""

References = Sequence[Sequence[Sequence[str]]]
"""Agent -> reference -> actions."""

SILENT = "[NOTHING]"  # what an agent writes when it has nothing to say

Denominator = Literal["conversations", "required"]
Initiators = Literal["chef", "both"]
Response = Literal["announced", "executed"]
Quotes = Literal["single", "any"]

_CHEF = 0
_REQUEST = re.compile(r"request\(")
_CALL = re.compile(r"(?<!\w)\w++\(")


@dataclass(frozen=True, slots=True)
class Message:
    """Message of an agent: spoken text and plan.

    Attributes:
        agent: Seat of the speaker.
        say: Spoken text; empty or "[NOTHING]" for silence.
        plan: Plan text with actions and requests.
    """

    agent: int
    say: str
    plan: str

    @property
    def spoken(self) -> bool:
        """True if the message has spoken text."""
        return bool(self.say) and self.say != SILENT


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that agents exchanged within one timestep, the opener's first."""

    timestep: int  # 0-based step index
    messages: tuple[Message, ...]  # In the order they were sent


@dataclass(frozen=True, slots=True)
class Run:
    """Episode in the form that metrics need."""

    history: tuple[tuple[Logged, ...], ...]  # Per agent, the logged actions (timestamp, action) in order
    conversations: tuple[Conversation, ...]  # In the order they were held
    success: bool  # Whether the order was delivered in time
    timesteps: int  # Number of environment steps taken

    def actions(self, agent: int, until: int | None = None) -> tuple[str, ...]:
        """Return one agent's actions, all of them or those with a timestamp of at most ``until``."""
        return tuple(action for timestamp, action in self.history[agent] if until is None or timestamp <= until)


@dataclass(frozen=True, slots=True)
class CollaborationOptions:
    """Options of how IC and RC are counted; the defaults are those of the original code and the published numbers."""

    # "conversations" divides by the number of events (code); "required" by the number of collaborative actions that the
    # task needs, per run (paper eq. 5 and 6).
    denominator: Denominator = option(
        "conversations", "IC and RC per: conversations or required.", allowed=get_args(Denominator)
    )
    initiators: Initiators = option(
        "chef", "Openers of conversations that count: chef or both.", allowed=get_args(Initiators)
    )  # "chef" scores conversations opened by seat 0 (code); "both" those of every seat (paper)
    # "announced" takes the responder's first plan in the conversation (code); "executed" what it did afterwards, until
    # the next scored conversation or the end (paper)
    response: Response = option(
        "announced", "Actions that count as response: announced or executed.", allowed=get_args(Response)
    )
    # "single" understands ``request('...')`` and requests without quotes, and loses those in double quotes (code);
    # "any" understands double quotes too
    quotes: Quotes = option("single", "Quotes of requests: single or any.", allowed=get_args(Quotes))

    def __post_init__(self) -> None:
        for entry in fields(CollaborationOptions):
            value, allowed = getattr(self, entry.name), entry.metadata["allowed"]
            if value not in allowed:
                raise ValueError(f"{entry.name}: got {value!r}, allowed are {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class CollaborationEvent:
    """Scored conversation."""

    timestep: int  # 0-based step index of the conversation
    initiator: int  # Seat that asked
    responder: int  # Seat that was asked
    history: tuple[str, ...]  # The responder's known actions finished before the conversation (H)
    requested: tuple[str, ...]  # Known actions that the initiator asked for (R)
    response: tuple[str, ...]  # Known actions that the responder announced or did (R-hat)
    c1: float  # TES(H + R) − TES(H), the use of the request
    c2: float  # TES(H + R) − TES(H + R-hat)
    c3: float  # TES(H + R-hat) − TES(H), the use of the response
    # Known actions named in the initiator's spoken text; the metrics do not count them
    spoken_actions: tuple[str, ...] = ()

    @property
    def initiated(self) -> bool:
        """True if the request would have helped."""
        return self.c1 > 0

    @property
    def responded(self) -> bool:
        """True if the response would help."""
        return self.c3 > 0

    @property
    def code(self) -> int:
        """0 both were right, 1 only the initiation, 2 only the response, 3 neither."""
        return (0 if self.responded else 1) if self.initiated else (2 if self.responded else 3)


@dataclass(frozen=True, slots=True)
class CollaborationScore:
    """IC and RC over the pooled runs of a task."""

    ic: float  # Initiating capability, the share of right initiations; 0 without opportunities
    rc: float  # Responding capability, the share of right responses; 0 without opportunities
    opportunities: int  # Divisor of both
    events: tuple[tuple[CollaborationEvent, ...], ...]  # Per run, its scored conversations

    @property
    def codes(self) -> tuple[tuple[int, ...], ...]:
        """Per run, the code of each event; a run without events has an empty list."""
        return tuple(tuple(event.code for event in run) for run in self.events)


def requested_actions(
    messages: Sequence[Message], agent: int, vocabulary: frozenset[str] | None, quotes: Quotes = "single"
) -> tuple[str, ...]:
    """Collect the actions that an agent requests in the plans of all its messages.

    Source: the original's parser. A request runs to the first closing bracket; requests that the vocabulary
    does not contain, including waits, are dropped without a penalty. Spoken text is not searched.

    Args:
        messages: The conversation.
        agent: Seat of the initiator.
        vocabulary: Actions of the responder; None takes every well-formed action.
        quotes: "single" as in the original, "any" also strips double quotes.

    Returns:
        Known requested actions in order, in normal form (R).
    """
    strip = " '" if quotes == "single" else " '\""
    plans = (message.plan for message in messages if message.agent == agent)
    texts = (piece[head.end() :] for plan in plans for piece, head in _closed(_REQUEST, plan))
    return keep_known((text.strip(strip) + ")" for text in texts), vocabulary)


def _closed(head: re.Pattern[str], plan: str) -> Iterator[tuple[str, re.Match[str]]]:
    for piece in plan.split(")")[:-1]:
        match = head.search(piece)
        if match:
            yield piece, match


def spoken_actions(messages: Sequence[Message], agent: int, vocabulary: frozenset[str] | None) -> tuple[str, ...]:
    """Collect the actions that an agent names in the spoken text of all its messages.

    The paper's metrics do not count these: they read requests from plans alone.

    Args:
        messages: The conversation.
        agent: Seat of the initiator.
        vocabulary: Actions of the responder; None takes every well-formed action.

    Returns:
        Known named actions in order, in normal form.
    """
    pieces = (piece for message in messages if message.agent == agent for piece in message.say.split(")")[:-1])
    calls = ((piece, [*_CALL.finditer(piece)]) for piece in pieces)
    return keep_known((f"{piece[heads[-1].start() :]})" for piece, heads in calls if heads), vocabulary)


def announced_actions(messages: Sequence[Message], agent: int, vocabulary: frozenset[str] | None) -> tuple[str, ...]:
    """Return the actions of one agent's first plan in a conversation; its later plans do not count.

    Source: the original's parser. "First plan" is the first with anything of the form ``name(...)`` in it,
    even if it is only a wait, so that the result may be empty.

    Args:
        messages: The conversation.
        agent: Seat of the responder.
        vocabulary: Actions of the responder; None takes every well-formed action.

    Returns:
        Known announced actions in order, in normal form (R-hat).
    """
    for message in messages:
        if message.agent != agent:
            continue
        calls = [f"{piece[head.start() :]})" for piece, head in _closed(_CALL, message.plan)]
        if calls:
            announced = (call for call in calls if "request" not in call and "wait" not in call)
            return keep_known(announced, vocabulary)
    return ()


def collaboration_events(
    run: Run,
    references: References,
    vocabularies: Vocabularies | None = None,
    options: CollaborationOptions | None = None,
    beta: float = BETA,
) -> tuple[CollaborationEvent, ...]:
    """Score each conversation of one run.

    Source: the original's evaluation. The responder's history and references judge both sides. Conversations
    without spoken text are no events.

    Args:
        run: The episode.
        references: Agent -> reference -> actions.
        vocabularies: Seat -> known actions; None knows every well-formed action.
        options: Which conversations and responses count.
        beta: Weight of the history's length in TES.

    Returns:
        Events in the order of the conversations.
    """
    options = options or CollaborationOptions()
    scored = list(_scored_conversations(run, vocabularies, options))
    known = any_seat(vocabularies)
    events = []
    for i, (conversation, initiator, responder) in enumerate(scored):
        t, messages = conversation.timestep, conversation.messages
        vocabulary = _of_seat(vocabularies, responder)
        history = keep_known(run.actions(responder, until=t), known)
        requested = requested_actions(messages, initiator, vocabulary, options.quotes)
        if options.response == "announced":
            response = announced_actions(messages, responder, vocabulary)
        else:
            later = (c.timestep for c, _, seat in scored[i + 1 :] if seat == responder and c.timestep > t)
            end = next(later, run.timesteps)
            done = (action for timestamp, action in run.history[responder] if t < timestamp <= end)
            response = keep_known(done, vocabulary)
        rows = [history, history + requested, history + response]
        before, asked, answered = tes_batch(rows, _of_agent(references, responder), beta).value.tolist()
        c1, c2, c3 = asked - before, asked - answered, answered - before
        named = spoken_actions(messages, initiator, vocabulary)
        events.append(CollaborationEvent(t, initiator, responder, history, requested, response, c1, c2, c3, named))
    return tuple(events)


def required_collaborations(references: References) -> int:
    """Return the number of collaborative actions of a task: those of all agents except the chef.

    Source: the paper's Table 3 counts them per level; its code's references give 2, 5, 7, 9, 14 and 19. The
    first reference of each agent is counted.
    """
    return sum(len(actions[0]) for actions in references[1:])


def collaboration(
    runs: Sequence[Run],
    references: References,
    vocabularies: Vocabularies | None = None,
    options: CollaborationOptions | None = None,
    beta: float = BETA,
) -> CollaborationScore:
    """IC and RC of the runs of one task, pooled.

    Source: paper eq. 5 and 6 with the original code's definitions as default (see ``CollaborationOptions``):
    IC = right initiations / N, RC = right responses / N, N the number of conversations that the chef opened.

    Args:
        runs: Episodes of one task.
        references: Agent -> reference -> actions.
        vocabularies: Seat -> known actions; None knows every well-formed action.
        options: Named alternatives to the code's definition.
        beta: Weight of the history's length in TES.

    Returns:
        The scores with every event, one tuple per run. With ``denominator="required"`` talkative teams can
        exceed 1, since conversations are not limited to the required ones.
    """
    options = options or CollaborationOptions()
    events = tuple(collaboration_events(run, references, vocabularies, options, beta) for run in runs)
    if options.denominator == "conversations":
        opportunities = sum(len(run) for run in events)
    else:
        opportunities = required_collaborations(references) * len(runs)
    initiated = sum(event.initiated for run in events for event in run)
    responded = sum(event.responded for run in events for event in run)
    divisor = max(opportunities, 1)
    return CollaborationScore(initiated / divisor, responded / divisor, opportunities, events)


def _scored_conversations(
    run: Run, vocabularies: Vocabularies | None, options: CollaborationOptions
) -> Iterator[tuple[Conversation, int, int]]:
    for conversation in run.conversations:
        messages = conversation.messages
        if not messages or (options.initiators == "chef" and messages[0].agent != _CHEF):
            continue
        initiator = next((message.agent for message in messages if message.spoken), None)
        if initiator is not None:
            responder = _responder(run, messages, initiator, vocabularies, options.quotes)
            if responder is not None:
                yield conversation, initiator, responder


def _responder(
    run: Run, messages: Sequence[Message], initiator: int, vocabularies: Vocabularies | None, quotes: Quotes
) -> int | None:
    others = [seat for seat in range(len(run.history)) if seat != initiator]
    if len(others) > 1:
        answering = [message.agent for message in messages if message.agent != initiator]
        if answering:
            return answering[0]
        others.sort(key=lambda s: -len(requested_actions(messages, initiator, _of_seat(vocabularies, s), quotes)))
    return others[0] if others else None


def _of_seat(vocabularies: Vocabularies | None, seat: int) -> frozenset[str] | None:
    if vocabularies is None:
        return None
    if seat not in vocabularies:
        raise ValueError(f"vocabularies: seat {seat} is missing, given are {sorted(vocabularies)}")
    return vocabularies[seat]


def _of_agent(references: References, agent: int) -> Sequence[Sequence[str]]:
    if agent >= len(references):
        raise ValueError(f"references: agent {agent} is missing, given are {len(references)} agents")
    return references[agent]
