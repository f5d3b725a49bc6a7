"""Measures of the communication of a team."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.metrics.communication import Signalling
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.paired import PairedDifference

WITH, MUTED, SCRAMBLED = "with", "muted", "scrambled"


@dataclass(frozen=True)
class Listening:
    """How a listener answers in the same states had it heard something else since the start of the episode.

    Attributes:
        exchanged: Share of decisions that another episode's messages change, of those before which it heard a message
            that differs. For networks, the total variation of the probabilities of acts; others begin with the same
            seeds.
        muted: The same with silence.
        divergence: Mean Jensen-Shannon divergence in bits of the probabilities with the exchanged messages; None for
            policies without probabilities.
        decisions: Number of decisions before which an exchanged message differs.
    """

    exchanged: float | None
    muted: float | None
    divergence: float | None
    decisions: int


@dataclass(frozen=True)
class Communication:
    """Measures of one team on one variant of a game.

    Attributes:
        title: Game and variant.
        team: Policies of the team.
        returns: Mean return of an episode by condition: ``"with"``, ``"muted"`` and ``"scrambled"``.
        values: Difference of the return with the channel and that of the other conditions, paired by episode.
        signalling: By speaker and key of its private state.
        listening: By listener.
        words: Words of text messages, deliveries, and words per delivery; None with a channel of symbols.
        notes: What the measures of text messages are; empty with a channel of symbols.
    """

    title: str
    team: str
    returns: dict[str, Estimate | None]
    values: dict[str, PairedDifference | None]
    signalling: dict[tuple[str, str], Signalling]
    listening: dict[str, Listening]
    words: tuple[int, float, float | None] | None = None
    notes: tuple[str, ...] = ()
