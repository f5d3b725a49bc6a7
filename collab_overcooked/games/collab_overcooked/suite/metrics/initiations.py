"""Kinds of wrong initiations: premature, repetitive or irrelevant requests, or requests in spoken text alone.

Source: appendix of the Collab-Overcooked paper (experiments A to C), which labels wrong initiations by hand. Here they
are told apart by the responder's references, so that records alone decide. Spoken requests without ``request('...')``
are an additional kind; the paper's metrics read plans alone and count them as wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from collab_overcooked.games.collab_overcooked.suite.metrics.collaboration import CollaborationEvent, References
from collab_overcooked.metrics.trajectory import normal_form, tes


class Initiation(StrEnum):
    """Kind of an initiation."""

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
