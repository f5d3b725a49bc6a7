"""Solvability of layouts: connectivity, expected turns of best play, and turns of necessary help.

A helping turn is one in which a player presses a button, or is the killer's target while another player works on a
generator.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .compile import Compiled, compile_rooms
from .config import RANDOM, CaptureConfig, EscapeConfig
from .constants import NOTHING, UNREACHABLE, Clock, Generator, Goal, Player, RoomColumn
from .solver import EPSILON, Solution, solve, start_of
from .spec import load_rooms

CONFIGS: dict[Goal, Any] = {Goal.CAPTURE: CaptureConfig, Goal.ESCAPE: EscapeConfig}
EXACT = 1e-6  # tolerance of claimed figures
ROUNDS = 10_000


@dataclass(frozen=True)
class SolvabilityReport:
    """Proved properties of a layout."""

    name: str  # Name of the layout
    game: str  # ``"capture"`` or ``"escape"``
    preset: str  # Preset of the rules
    adversary: str  # Kind of the adversary
    rooms: int  # Number of rooms
    connected: bool  # Whether every room can be reached from every other if all doors are open
    one_way: tuple[tuple[str, str], ...]  # Passages that lead in one direction only, as names of rooms
    success: float  # Probability of success with best play, without a limit of turns
    turns: float | None  # Expected turns of best play; None if success is impossible
    alone: float  # Probability of success of the first player alone
    helping_turns: float | None  # Minimum of the expected helping turns in best play; None if success is impossible
    draws: int  # Draws of the generators' rooms, over which figures are means; 1 if they are not drawn
    states: int  # Number of reachable states
    claims: dict[str, tuple[float, bool]]  # Figure claimed by the file and whether it holds, by name

    @property
    def ok(self) -> bool:
        """True if success is possible and all claims hold."""
        return self.connected and self.success > 0 and all(holds for _, holds in self.claims.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict that can be written as JSON."""
        return asdict(self) | {"ok": self.ok}

    def text(self) -> str:
        """Return the report as text for a terminal."""
        won = "captured" if self.game == "capture" else "escaped from"
        lines = [f"{self.name}: {self.game}, {self.rooms} rooms, {self.preset}, adversary {self.adversary}"]
        lines.append("  all rooms are connected" if self.connected else "  NOT CONNECTED, even with open doors")
        if self.one_way:
            lines.append("  one way only: " + ", ".join(f"{a} to {b}" for a, b in self.one_way))
        if self.turns is None:
            lines.append(f"  can never be {won}")
        else:
            lines.append(f"  can be {won} with probability {self.success:.4g}, in {self.turns:.4g} turns on average")
            lines.append(f"  helping turns: {self.helping_turns:.4g}; by one player alone: {self.alone:.4g}")
        lines.append(f"  {self.states} states")
        if self.draws > 1:
            lines.append(f"  means over all {self.draws} draws of the generators' rooms")
        for name, (value, holds) in self.claims.items():
            lines.append(f"  claim {name} {value:g}: {'holds' if holds else 'DOES NOT HOLD'}")
        return "\n".join(lines)


def prove_solvability(source: Any, preset: str = "code2024", adversary: str | None = None) -> SolvabilityReport:
    """Compute the values of best play on a layout.

    Args:
        source: Built-in name, path, or values of a layout.
        preset: Preset of the rules.
        adversary: Kind of the adversary. Default: the preset's.
    """
    level = load_rooms(source)
    goal = Goal[level.game.upper()]
    options = {"preset": preset, "map": source, "adversary": adversary}
    compiled = compile_rooms(goal, CONFIGS[goal](**options))
    starts = [options]
    if goal == Goal.ESCAPE and compiled.config.generators == RANDOM:
        rooms = [level.rooms[room] for room in compiled.tables.candidates]
        starts = [{**options, "generators": drawn} for drawn in combinations(rooms, len(compiled.tables.generators))]
    plays = [_best_play(goal, start) for start in starts]
    figures: dict[str, Any] = {}
    for name in plays[0]:
        values = [play[name] for play in plays]
        figures[name] = None if None in values else sum(values) / len(values)
    claims = {
        name: (value, figures[name] is not None and abs(figures[name] - value) < max(EXACT, 5e-4 * value))
        for name, value in level.claim.items()
    }
    return SolvabilityReport(
        name=level.name,
        game=level.game,
        preset=preset,
        adversary=compiled.config.adversary,
        rooms=compiled.n_rooms,
        connected=bool((compiled.tables.distances[-1] < UNREACHABLE).all()),
        one_way=tuple((level.rooms[a], level.rooms[b]) for a, b in level.one_way),
        draws=len(starts),
        states=round(figures.pop("states") * len(starts)),
        claims=claims,
        **figures,
    )


def _best_play(goal: Goal, options: dict[str, Any]) -> dict[str, Any]:
    compiled = compile_rooms(goal, CONFIGS[goal](**options))
    lone = compile_rooms(goal, CONFIGS[goal](**options, agents=1))
    solution, start = solve(compiled), start_of(compiled)
    success, turns = solution.value(start)
    return {
        "success": success,
        "turns": turns if success else None,
        "alone": solve(lone).value(start_of(lone))[0],
        "helping_turns": helping_turns(solution) if success else None,
        "states": len(solution.keys),
    }


def helping_turns(solution: Solution) -> float:
    """Return the minimum of the expected helping turns from the start among all best play.

    Args:
        solution: Solution from the start of an episode.
    """
    at = np.repeat(np.arange(len(solution.keys)), np.diff(solution.joint_starts))
    success, turns = solution.joint_success_and_turns
    best = (success >= solution.success[at] - EPSILON) & (turns <= solution.turns[at] + EXACT)
    cost = _helps(solution.compiled, solution, at)
    values = np.zeros(len(solution.keys))
    for _ in range(ROUNDS):
        after = np.append(values, (0.0, 0.0))[solution.outcomes]
        joint = np.add.reduceat(after, solution.outcome_starts[:-1]) / np.diff(solution.outcome_starts)
        more = np.minimum.reduceat(np.where(best, cost + joint, np.inf), solution.joint_starts[:-1])
        more[solution.success == 0] = 0.0
        change, values = np.abs(more - values).max(), more
        if change < 1e-9:
            break
    return float(values[solution.index(start_of(solution.compiled))])


def _helps(compiled: Compiled, solution: Solution, at: np.ndarray) -> np.ndarray:
    players, generators = solution.states.players[at], solution.states.generators[at]
    uses = solution.actions > compiled.n_rooms
    rooms = players[:, :, Player.ROOM]
    presses = uses & (compiled.tables.rooms[rooms, RoomColumn.BUTTON] != NOTHING)
    works = uses & (rooms[:, :, None] == generators[:, None, :, Generator.ROOM]).any(axis=2)
    target = solution.states.clock[at, Clock.TARGET]
    helps: np.ndarray = presses.sum(axis=1)
    for seat in range(compiled.n_players):
        others = np.delete(works, seat, axis=1).any(axis=1)
        helps = helps + ((target == seat) & others & ~works[:, seat])
    return helps
