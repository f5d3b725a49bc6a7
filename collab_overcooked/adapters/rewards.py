"""Rewards of a match for its open seats: outcome, normalised between fixed anchors, or above the stored floor."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from collab_overcooked import registry
from collab_overcooked.adapters.results import outcome_of
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.reporting.floors import Floor, known_floors
from collab_overcooked.reporting.sample_sizes import end_of
from collab_overcooked.runner.env_variants import variant_of_match
from collab_overcooked.runner.episode import derive_seed
from collab_overcooked.runner.match import Match

RewardKind = Literal["outcome", "normalized", "progress", "floor", "return"]
ANCHOR_MATCHES, ANCHOR_SEED = 20, 8_765_432
RANDOM, REFERENCE = "random", "greedy"


class Anchors(NamedTuple):
    """Mean outcomes of two policies in the open seats of a match, beside the other seats of its team."""

    random: float  # Of ``RANDOM``, whose reward is 0
    reference: float  # Of ``REFERENCE``, whose reward is 1


_anchors: dict[str, Anchors] = {}


def anchors_of(match: Match, seats: Collection[int]) -> Anchors:
    """Return the anchors of a match, measured once per process in 20 matches whose seeds never change.

    Args:
        match: The match.
        seats: Indices of its open seats.

    Raises:
        ValueError: If both policies have the same outcome.
    """
    team = tuple("open" if seat in seats else spec for seat, spec in enumerate(match.team))
    key = json.dumps({**match.config(), "team": team}, sort_keys=True, default=str)
    if key not in _anchors:
        means = []
        for policy in (RANDOM, REFERENCE):
            filled = tuple(policy if spec == "open" else spec for spec in team)
            seeded = replace(match, team=filled)
            played: list[EpisodeRecord] = []
            for number in range(ANCHOR_MATCHES):
                played += replace(seeded, seed=derive_seed(ANCHOR_SEED, number)).run()
            means.append(mean_outcome(played))
        _anchors[key] = Anchors(*means)
    anchors = _anchors[key]
    if anchors.random == anchors.reference:
        raise ValueError(
            f"reward normalized: {RANDOM} and {REFERENCE} have the same outcome in {match.env_id} {match.task}, "
            f"{anchors.random:g}; use outcome or progress"
        )
    return anchors


def mean_outcome(records: Sequence[EpisodeRecord]) -> float:
    """Return the mean outcome of records with metrics; an episode that was cut short has none."""
    return sum(0.0 if end_of(record) else outcome_of(record) for record in records) / len(records)


def floor_of(match: Match) -> Floor:
    """Return the stored floor of the setting that a match belongs to.

    Raises:
        ValueError: If no floor is stored for what the match plays; the message lists the settings with floors.
    """
    game = registry.suite_name(match.env_id)
    known, play = known_floors(game), (match.task, variant_of_match(match).key)
    for floor in known.values():
        if play in floor.plays:
            return floor
    stored = f"floors are stored for {'; '.join(known)}" if known else "the game has no stored floor"
    raise ValueError(f"reward floor: no floor is stored for {match.env_id} {match.task} with these options; {stored}")


def above_floor(records: Sequence[EpisodeRecord], floor: Floor) -> float:
    """Return the score of a match's records above a floor; one with an episode cut short is at most the floor.

    Raises:
        ValueError: The suite gives no score to a single match.
    """
    suite = registry.suite_of(records[0])
    score = suite.summary(records).score
    if score is None:
        raise ValueError(f"reward floor: {suite.name} gives no score to a single match")
    sign = -1 if suite.benchmark("small").lower_is_better else 1
    above = sign * (float(score.value) - floor.score)
    return min(0.0, above) if any(map(end_of, records)) else above
