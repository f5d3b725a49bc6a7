"""Proofs about maps: what is connected, in how many turns best play succeeds, and what players must do for others.

A helping turn is one in which a player presses a button, or is the killer's target while another one works on a
generator: it does nothing for itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from collab_overcooked.games.rooms.engine.compile import Compiled, compile_map
from collab_overcooked.games.rooms.engine.config import CaptureConfig, EscapeConfig
from collab_overcooked.games.rooms.engine.constants import (
    NOTHING,
    UNREACHABLE,
    Clock,
    Generator,
    Goal,
    Player,
    RoomColumn,
)
from collab_overcooked.games.rooms.engine.solver import EPSILON, Solution, solve, start_of
from collab_overcooked.games.rooms.engine.spec import load_map

CONFIGS: dict[Goal, Any] = {Goal.CAPTURE: CaptureConfig, Goal.ESCAPE: EscapeConfig}
EXACT = 1e-6  # as near as figures of a file must be
ROUNDS = 10_000


@dataclass(frozen=True)
class Certificate:
    """What is proved of a map, with two players unless it starts others.

    Attributes:
        name: Of the map.
        game: ``"capture"`` or ``"escape"``.
        preset: Of the rules.
        adversary: Of the rules.
        rooms: How many.
        connected: Whether every room can be reached from every other if all doors are open.
        one_way: Passages that lead in one direction only, as names of rooms.
        success: Probability of success with best play, without a horizon.
        turns: Expected turns of it; None if success is impossible.
        alone: Probability of success of the first player alone.
        helping_turns: Expected helping turns of the best play that has fewest; None if success is impossible.
        worst_turns: Turns against an adversary that always does its worst; None if it cannot be beaten.
        states: That play can reach.
        claims: By name, the figure that the file claims and whether it holds.
    """

    name: str
    game: str
    preset: str
    adversary: str
    rooms: int
    connected: bool
    one_way: tuple[tuple[str, str], ...]
    success: float
    turns: float | None
    alone: float
    helping_turns: float | None
    worst_turns: float | None
    states: int
    claims: dict[str, tuple[float, bool]]

    @property
    def ok(self) -> bool:
        """Whether the map can be played to success and holds what it claims."""
        return self.connected and self.success > 0 and all(holds for _, holds in self.claims.values())

    def to_dict(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return asdict(self) | {"ok": self.ok}

    def text(self) -> str:
        """Return a few lines for a terminal."""
        won = "captured" if self.game == "capture" else "escaped from"
        lines = [f"{self.name}: {self.game}, {self.rooms} rooms, {self.preset}, adversary {self.adversary}"]
        lines.append("  every room leads to every other" if self.connected else "  NOT CONNECTED, even with open doors")
        if self.one_way:
            lines.append("  one way only: " + ", ".join(f"{a} to {b}" for a, b in self.one_way))
        if self.turns is None:
            lines.append(f"  can never be {won}")
        else:
            lines.append(f"  can be {won} with probability {self.success:.4g}, in {self.turns:.4g} turns on average")
            lines.append(f"  helping turns: {self.helping_turns:.4g}; by one player alone: {self.alone:.4g}")
        worst = "not at all" if self.worst_turns is None else f"in {self.worst_turns:.4g} turns"
        lines.append(f"  against the worst adversary: {worst}; {self.states} states")
        for name, (value, holds) in self.claims.items():
            lines.append(f"  claim {name} {value:g}: {'holds' if holds else 'DOES NOT HOLD'}")
        return "\n".join(lines)


def certify(source: Any, preset: str = "code2024", adversary: str | None = None) -> Certificate:
    """Prove what best play reaches on a map.

    Args:
        source: Shipped name, path, or values of a map.
        preset: Of the rules.
        adversary: Kind of the adversary; the preset's if None.

    Raises:
        LayoutError: If the map cannot be read.
        ValueError: If it is too large for exact values.
    """
    level = load_map(source)
    goal = Goal[level.game.upper()]
    options = {"preset": preset, "map": source, "adversary": adversary}
    compiled = compile_map(goal, CONFIGS[goal](**options))
    found, start = solve(compiled), start_of(compiled)
    success, turns = found.value(start)
    lone = compile_map(goal, CONFIGS[goal](**options, players=1))
    worst = solve(compiled, worst=True).value(start)
    figures = {
        "success": success,
        "turns": turns if success else None,
        "helping_turns": helping_turns(found) if success else None,
    }
    claims = {
        name: (value, figures[name] is not None and abs(figures[name] - value) < max(EXACT, 5e-4 * value))
        for name, value in level.claim.items()
    }
    return Certificate(
        name=level.name,
        game=level.game,
        preset=preset,
        adversary=compiled.config.adversary,
        rooms=compiled.n_rooms,
        connected=bool((compiled.tables.distances[-1] < UNREACHABLE).all()),
        one_way=tuple((level.rooms[a], level.rooms[b]) for a, b in level.one_way),
        success=success,
        turns=figures["turns"],
        alone=solve(lone).value(start_of(lone))[0],
        helping_turns=figures["helping_turns"],
        worst_turns=worst[1] if worst[0] else None,
        states=len(found.keys),
        claims=claims,
    )


def helping_turns(found: Solution) -> float:
    """Return the expected helping turns from the start, of the best play that has fewest.

    Args:
        found: Solution from the start of an episode.
    """
    at = np.repeat(np.arange(len(found.keys)), np.diff(found.joint_starts))
    success, turns = found.joint_success_and_turns
    best = (success >= found.success[at] - EPSILON) & (turns <= found.turns[at] + EXACT)
    cost = _helps(found.compiled, found, at)
    values = np.zeros(len(found.keys))
    for _ in range(ROUNDS):
        after = np.append(values, (0.0, 0.0))[found.outcomes]
        joint = np.add.reduceat(after, found.outcome_starts[:-1]) / np.diff(found.outcome_starts)
        more = np.minimum.reduceat(np.where(best, cost + joint, np.inf), found.joint_starts[:-1])
        more[found.success == 0] = 0.0
        change, values = np.abs(more - values).max(), more
        if change < 1e-9:
            break
    return float(values[found.index(start_of(found.compiled))])


def _helps(compiled: Compiled, found: Solution, at: np.ndarray) -> np.ndarray:
    """Return how many players help in each joint action (J,)."""
    players, generators = found.states.players[at], found.states.generators[at]
    uses = found.actions > compiled.n_rooms
    rooms = players[:, :, Player.ROOM]
    presses = uses & (compiled.tables.rooms[rooms, RoomColumn.BUTTON] != NOTHING)
    works = uses & (rooms[:, :, None] == generators[:, None, :, Generator.ROOM]).any(axis=2)
    target = found.states.clock[at, Clock.TARGET]
    helps: np.ndarray = presses.sum(axis=1)
    for seat in range(compiled.n_players):
        others = np.delete(works, seat, axis=1).any(axis=1)
        helps = helps + ((target == seat) & others & ~works[:, seat])
    return helps
