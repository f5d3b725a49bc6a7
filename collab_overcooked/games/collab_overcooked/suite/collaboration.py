"""Initiating and responding capability (IC, RC): usefulness of requests and of responses; kinds of wrong requests.

A conversation is one event. Its initiator asks for actions in the plan (``request('...')``), its responder
announces a plan. Both lists are appended to the responder's history and judged by ITES.

An action outside the vocabulary of a seat is dropped before a history is scored, and a request for one vanishes. The
paper's two sets are a function of its food names and utensils; another kitchen passes any mapping from seat to a set
of strings, made by hand or with ``kitchen_vocabularies``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from collab_overcooked.metrics.trajectory import BETA, normal_form, tes, tes_batch

from ..options import CollaborationOptions, Quotes

Vocabularies = Mapping[int, frozenset[str]]
"""Seat -> the action strings of that seat, in normal form."""

DUMMY_ACTION = "no_action()"
"""Stands for the placeholder the original puts into an empty history; a member of every vocabulary."""

PAPER_UTENSILS: Mapping[int, Mapping[str, str]] = {
    0: {"pot0": "cook", "oven0": "bake"},
    1: {"chopping_board0": "cut", "blender0": "stir"},
}
"""Seat -> utensil -> operation in the paper's kitchen."""

_PLAIN_ACTION = re.compile(r"\w+\([\w,]*\)")


def kitchen_vocabularies(
    foods: Iterable[str],
    utensils: Mapping[int, Mapping[str, str]] = PAPER_UTENSILS,
    *,
    suppliers: Collection[int] = (1,),
    deliverers: Collection[int] = (0,),
) -> dict[int, frozenset[str]]:
    """Build the action set of each seat from the kitchen's names.

    Source: the original's action space. With the paper's 29 raw ingredients and 77 products it gives the
    same 332 strings for the chef and 538 for the assistant. Every seat may put things on a counter, take a
    dish or a food from it, and use its own utensils. Suppliers also reach the two dispensers; deliverers also
    read the recipe, fill a dish from any utensil, and deliver.

    Args:
        foods: Names of all raw ingredients and products.
        utensils: Seat -> utensil -> name of its operation.
        suppliers: Seats at the dispensers.
        deliverers: Seats at the serving window.

    Returns:
        Seat -> action strings in normal form, the placeholder included.

    Raises:
        ValueError: A seat is unknown, or one has no utensils.
    """
    for field, seats in (("suppliers", suppliers), ("deliverers", deliverers)):
        if missing := sorted(set(seats) - set(utensils)):
            raise ValueError(f"{field}: seat {missing[0]} is unknown, allowed are {sorted(utensils)}")
    names = list(foods)
    everything = [utensil for operations in utensils.values() for utensil in operations]
    vocabularies = {}
    for seat, operations in utensils.items():
        actions = {DUMMY_ACTION, "place_obj_on_counter()", "pickup(dish,counter)"}
        actions |= {f"{operation}({utensil})" for utensil, operation in operations.items()}
        actions |= {f"put_obj_in_utensil({utensil})" for utensil in operations}
        sources = ["counter", *operations]
        if seat in suppliers:
            sources += ["ingredient_dispenser", "dish_dispenser"]
            actions.add("pickup(dish,dish_dispenser)")
        if seat in deliverers:
            actions |= {"deliver()", "check_recipe()", "fill_dish_with_food()"}
            actions |= {f"fill_dish_with_food({utensil})" for utensil in everything}
        actions |= {f"pickup({food},{source})" for food in names for source in sources}
        vocabularies[seat] = frozenset(actions)
    return vocabularies


def any_seat(vocabularies: Vocabularies | None) -> frozenset[str] | None:
    """Return the union over seats, which filters histories in the original; None stays None."""
    return None if vocabularies is None else frozenset().union(*vocabularies.values())


def keep_known(actions: Iterable[str], vocabulary: frozenset[str] | None) -> tuple[str, ...]:
    """Bring actions into normal form and drop the unknown ones, keeping their order.

    Args:
        actions: Action strings in any spelling of blanks.
        vocabulary: Known actions; None takes everything that has the form ``name(arg,arg)`` except waits and
            requests, for kitchens without a list.
    """
    plain = (normal_form(action) for action in actions)
    if vocabulary is not None:
        return tuple(action for action in plain if action in vocabulary)
    return tuple(a for a in plain if _PLAIN_ACTION.fullmatch(a) and not a.startswith(("wait(", "request(")))


Logged = tuple[int, str]
"""(timestamp, action): the timestamp is the 0-based index of the step plus one."""

References = Sequence[Sequence[Sequence[str]]]
"""Agent -> reference -> actions."""

SILENT = "[NOTHING]"  # what an agent writes when it has nothing to say


_CHEF = 0
_REQUEST = re.compile(r"request\(")
_CALL = re.compile(r"(?<!\w)\w++\(")


@dataclass(frozen=True, slots=True)
class PlanMessage:
    """Message of an agent: spoken text and plan."""

    agent: int  # Seat of the speaker
    say: str  # Spoken text; empty or "[NOTHING]" for silence
    plan: str  # With actions and requests

    @property
    def spoken(self) -> bool:
        """True if the message has spoken text."""
        return bool(self.say) and self.say != SILENT


@dataclass(frozen=True, slots=True)
class PlanConversation:
    """Messages that agents exchanged within one timestep, the opener's first."""

    timestep: int  # 0-based step index
    messages: tuple[PlanMessage, ...]  # In the order they were sent


@dataclass(frozen=True, slots=True)
class CollaborationRun:
    """Episode in the form that metrics need."""

    history: tuple[tuple[Logged, ...], ...]  # Per agent, the logged actions (timestamp, action) in order
    conversations: tuple[PlanConversation, ...]  # In the order they were held
    success: bool  # Whether the order was delivered in time
    timesteps: int  # Number of environment steps taken

    def actions(self, agent: int, until: int | None = None) -> tuple[str, ...]:
        """Return one agent's actions, up to the timestamp ``until`` if given."""
        return tuple(action for timestamp, action in self.history[agent] if until is None or timestamp <= until)


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
        """0 if initiation and response were right, 1 if only the initiation, 2 if only the response, 3 if neither."""
        return 2 * (not self.initiated) + (not self.responded)


def requested_actions(
    messages: Sequence[PlanMessage], agent: int, vocabulary: frozenset[str] | None, quotes: Quotes = "single"
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


def spoken_actions(messages: Sequence[PlanMessage], agent: int, vocabulary: frozenset[str] | None) -> tuple[str, ...]:
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


def announced_actions(
    messages: Sequence[PlanMessage], agent: int, vocabulary: frozenset[str] | None
) -> tuple[str, ...]:
    """Return the actions of an agent's first plan in a conversation; later plans do not count.

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
    run: CollaborationRun,
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
        c1 = asked - before
        c2 = asked - answered
        c3 = answered - before
        named = spoken_actions(messages, initiator, vocabulary)
        events.append(CollaborationEvent(t, initiator, responder, history, requested, response, c1, c2, c3, named))
    return tuple(events)


def required_collaborations(references: References) -> int:
    """Return the number of collaborative actions of a task: actions of all agents except the chef.

    Source: the references of the paper's code, 2, 5, 7, 9, 14 and 19 by level. Table 3 prints 12 and 17 for levels 5
    and 6, with which a play of the reference would score 14/12 and 19/17. The first reference of each agent is counted.
    """
    return sum(len(actions[0]) for actions in references[1:])


def required_initiated(events: Iterable[CollaborationEvent], references: References, beta: float = BETA) -> int:
    """Return how many collaborative actions of the task were requested when they were due (paper eq. 5)."""
    return _required(((event, event.requested) for event in events), references, beta)


def required_responded(events: Iterable[CollaborationEvent], references: References, beta: float = BETA) -> int:
    """Return how many collaborative actions of the task were answered when they were due (paper eq. 6)."""
    return _required(((event, event.response) for event in events), references, beta)


def _required(answers: Iterable[tuple[CollaborationEvent, Sequence[str]]], references: References, beta: float) -> int:
    # Each action is judged alone, after the useful ones before it, done or not: how they are grouped has no influence.
    useful: dict[int, list[str]] = {}
    reached: set[tuple[int, int]] = set()
    for event, actions in answers:
        seat = event.responder
        if seat == _CHEF:
            continue
        lists, due = _of_agent(references, seat), useful.setdefault(seat, [])
        undone = Counter(due) - Counter(event.history)  # of equal actions, the latest are still to be done
        pending = [action for i, action in enumerate(due) if due[i:].count(action) <= undone[action]]
        history = [*event.history, *pending]
        for action in actions:
            before, after = tes(history, lists, beta), tes([*history, action], lists, beta)
            history.append(action)
            if after.value > before.value:
                due.append(action)
                reached.add((seat, round(after.completeness * len(lists[after.reference]))))
    return len(reached)


def _scored_conversations(
    run: CollaborationRun, vocabularies: Vocabularies | None, options: CollaborationOptions
) -> Iterator[tuple[PlanConversation, int, int]]:
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
    run: CollaborationRun,
    messages: Sequence[PlanMessage],
    initiator: int,
    vocabularies: Vocabularies | None,
    quotes: Quotes,
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


class Initiation(StrEnum):
    """Kind of an initiation; the responder's references tell wrong ones apart.

    Source: appendix of the paper (experiments A to C), which labels wrong initiations by hand. Spoken requests without
    ``request('...')`` are an additional kind; the paper's metrics read plans alone and count them as wrong.
    """

    RIGHT = "right"  # it would have raised the responder's TES
    PREMATURE = "premature"  # it asks for an action that is needed later, before others that are needed first
    REPETITIVE = "repetitive"  # it asks for an action that is already done
    IRRELEVANT = "irrelevant"  # it asks for an action that no reference needs, or for none that the responder knows
    IN_WORDS = "in words"  # it names actions in spoken text, and none with request('...')


def classify_initiation(event: CollaborationEvent, references: Sequence[Sequence[str]]) -> Initiation:
    """Return the kind of an initiation.

    The reference is the one that the responder has followed best so far. Requests that are next in it are passed over;
    the first one that is not decides.
    """
    if event.initiated:
        return Initiation.RIGHT
    if event.spoken_actions and not event.requested:
        return Initiation.IN_WORDS
    best = tes(event.history, references).reference
    actions = [normal_form(action) for action in references[best]]
    reached = 0
    for action in map(normal_form, event.history):
        reached += reached < len(actions) and action == actions[reached]
    for action in map(normal_form, event.requested):
        if reached < len(actions) and action == actions[reached]:
            reached += 1
        elif action in actions[reached:]:
            return Initiation.PREMATURE
        else:
            return Initiation.REPETITIVE if action in actions[:reached] else Initiation.IRRELEVANT
    return Initiation.IRRELEVANT


def count_initiations(events: Iterable[CollaborationEvent], references: References) -> dict[Initiation, int]:
    """Count the kinds of initiations of scored conversations."""
    counts = Counter(classify_initiation(event, references[event.responder]) for event in events)
    return {kind: counts[kind] for kind in Initiation}
