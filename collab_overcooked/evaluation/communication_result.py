"""Measures of the communication of a team, and what those of channels and of text messages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.metrics.communication import Signalling
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.paired import PairedDifference
from collab_overcooked.runner.teams import team_text

WITH, MUTED, SCRAMBLED = "with", "muted", "scrambled"


@dataclass(frozen=True)
class Listening:
    """How often other messages since the start of the episode change a listener's decision in the same state.

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


def check_count(records: Sequence[EpisodeRecord]) -> None:
    """Check that a team has the episodes that its communication is measured in.

    Raises:
        ValueError: There are fewer than two.
    """
    team, count = team_text(records[0].specs), len(records)
    if count < 2:
        raise ValueError(f"communication needs at least 2 episodes of {team}, not {count}")


def replay_arguments(records: Sequence[EpisodeRecord]) -> list[dict[str, Any]]:
    """Return for each record the keyword arguments of ``episode`` with which its episode is played again.

    Args:
        records: Records of one team; those of a series are in its order.
    """
    begun, arguments = set[tuple[str, int]](), list[dict[str, Any]]()
    for record in records:
        limits: dict[str, Any] = record.limits
        series = record.task, record.seed
        arguments.append(
            {
                "task": record.task,
                "episode": record.episode,
                "level": record.level,
                "limits": Limits(**limits),
                "fresh": series not in begun,
                "feedback": record.feedback,
                "reset_options": record.options or {},
                "ends_after": record.ends_after,
            }
        )
        begun.add(series)
    return arguments


def private_keys(scenes: Sequence[Mapping[str, Any]], seat: int) -> set[str]:
    """Return the keys of a seat's scene that at least one other seat does not know in full.

    Args:
        scenes: What each seat knows of the state, by key.
        seat: The seat.
    """
    others = [scene for k, scene in enumerate(scenes) if k != seat]
    return {key for key, value in scenes[seat].items() if any(other.get(key) != value for other in others)}
