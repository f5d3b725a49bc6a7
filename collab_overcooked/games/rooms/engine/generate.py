"""Generate layouts of a requested difficulty, each with a proof of its claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np
import yaml

from collab_overcooked.io.checks import parse_integer

from .constants import MAX_DOORS, Goal
from .solvability import SolvabilityReport, prove_solvability

TRIES = 400  # layouts drawn before generation fails
MAX_GENERATED = 14  # rooms; solving larger layouts exactly takes too long


@dataclass(frozen=True)
class GeneratorConfig:
    """Properties requested of a new layout."""

    goal: Goal  # Goal of the game
    rooms: int = 9  # Number of rooms
    passages: int = 2  # Number of passages beyond those that connect all rooms
    doors: int = 2  # Number of doors, each with a button (captures only)
    generators: int = 2  # Number of generators (escapes only)
    turns: int = 4  # Expected turns of best play, rounded
    helping: float = 0.0  # Minimum of the expected helping turns in best play

    def __post_init__(self) -> None:
        for name, least, most in (("rooms", 4, MAX_GENERATED), ("doors", 0, MAX_DOORS), ("generators", 1, 4)):
            if parse_integer(name, getattr(self, name), least) > most:
                raise ValueError(f"{name} must be an integer from {least} to {most}, not {getattr(self, name)}")
        for name, least in (("passages", 0), ("turns", 1)):
            parse_integer(name, getattr(self, name), least)
        if isinstance(self.helping, bool) or self.helping < 0:
            raise ValueError(f"helping must be a number of at least 0, not {self.helping!r}")


def generate_rooms(config: GeneratorConfig, seed: int, name: str) -> tuple[dict[str, Any], SolvabilityReport]:
    """Draw layouts until one has the requested properties.

    Returns:
        Values of the file, including its claim, and the proof.

    Raises:
        ValueError: ``TRIES`` drawings hold no layout with these properties.
    """
    rng = np.random.default_rng(seed)
    near: set[int] = set()
    for _ in range(TRIES):
        values = _draw(config, rng, name)
        report = prove_solvability(values)
        if not report.connected or report.success < 1 or report.turns is None or report.helping_turns is None:
            continue
        near.add(round(report.turns))
        if round(report.turns) == config.turns and report.helping_turns >= config.helping:
            claim = {"turns": round(report.turns, 6), "helping_turns": round(report.helping_turns, 6)}
            return {**values, "claim": claim}, prove_solvability({**values, "claim": claim})
    seen = ", ".join(map(str, sorted(near))) or "none with certain success"
    target = f"{config.turns} turns with {config.helping:g} helping turns"
    raise ValueError(f"turns: none of {TRIES} layouts takes {target}; seen: {seen}")


def _draw(config: GeneratorConfig, rng: np.random.Generator, name: str) -> dict[str, Any]:
    n = config.rooms
    pairs = {(int(rng.integers(room)), room) for room in range(1, n)}
    free = [(a, b) for b in range(n) for a in range(b) if (a, b) not in pairs]
    for k in rng.permutation(len(free))[: config.passages].tolist():
        pairs.add(free[k])
    near: dict[int, list[int]] = {room: [] for room in range(n)}
    for a, b in sorted(pairs):
        near[a].append(b)
        near[b].append(a)
    order = rng.permutation(n).tolist()
    values: dict[str, Any] = {
        "name": name,
        "game": config.goal.name.lower(),
        "rooms": {room + 1: [other + 1 for other in near[room]] for room in range(n)},
    }
    if config.goal == Goal.CAPTURE:
        chosen = [sorted(pairs)[k] for k in rng.permutation(len(pairs))[: config.doors].tolist()]
        values["doors"] = [
            {"between": [a + 1, b + 1], "button": button + 1, "open": bool(rng.integers(2))}
            for (a, b), button in zip(chosen, rng.permutation(n).tolist(), strict=False)
        ]
    else:
        values["generators"] = [room + 1 for room in order[3 : 3 + config.generators]]
        values["exits"] = [order[3 + config.generators % (n - 3)] + 1]
    values["starts"] = {"agents": [order[0] + 1, order[1] + 1], "adversary": order[2] + 1}
    values["places"] = _circle(n)
    return values


def _circle(n: int) -> dict[int, list[float]]:
    radius = max(1.5, 0.3 * n)
    angles = [2 * pi * k / n for k in range(n)]
    return {k: [round(radius * (1 + sin(a)), 2), round(radius * (1 - cos(a)), 2)] for k, a in enumerate(angles, 1)}


def map_text(values: Mapping[str, Any], heading: str) -> str:
    """Return the text of a layout file.

    Args:
        values: Values of the layout.
        heading: Comment in the first line.
    """
    text: str = yaml.safe_dump(dict(values), sort_keys=False, default_flow_style=None, width=120)
    return f"# {heading}\n{text}"
