"""Exact values of room games: every state that play can reach, expanded by the game's own kernels, then solved.

``solve`` follows all joint actions and all random moves. The value of a state is first
the probability of success, then the expected number of turns until the episode is decided: until success, or until
success has become impossible. The limit of turns is ignored; ``Solution.success_within`` takes it into account.

The players choose joint actions. Only the moves of an unaware killer are random.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from collab_overcooked.kernels.arrays import Array, allocate
from collab_overcooked.kernels.bound import bind

from .compile import Compiled
from .constants import NEVER, NOTHING, TURNS, Clock, Generator, Goal, Outcome, Param, Player
from .state import Out, State, sizes_of
from .state_key import MAX_KEYS, count_keys
from .step import BATCH_KERNELS, expand_batch, settle_batch, survey_batch

MAX_STATES = 1_000_000  # per solution; nine rooms have 2,304
LONG = 500_000  # above this many transitions (about a second) the progress is shown on a terminal
MAX_TRANSITIONS = 10_000_000  # per solution; three players in ten rooms have 6,029,530
ROWS = 400  # states expanded at once
SUCCESS, FAILURE = -1, -2  # instead of the index of a state
EPSILON = 1e-9  # tolerance of equal values
ROUNDS = 100_000  # limit of value iteration; thousands are rare


@dataclass(frozen=True)
class JointValues:
    """All legal joint actions of one state."""

    actions: Array  # (J, N) int32
    success: Array  # (J,) probability of success with best play afterwards
    turns: Array  # (J,) expected turns until the episode is decided, this one included; inf if success is impossible
    best: Array  # (J,) whether the joint action is optimal in success and turns


@dataclass(frozen=True)
class Solution:
    """The states reachable from some roots, with their values."""

    compiled: Compiled  # The game
    keys: Array  # (S,) int64, sorted; see ``state_key``
    states: State  # S states in the same order
    joint_starts: Array  # (S + 1,) where the joint actions of each state begin
    actions: Array  # (J, N) int32 joint actions
    outcome_starts: Array  # (J + 1,) where the outcomes of each joint action begin
    outcomes: Array  # (O,) index of the next state, SUCCESS or FAILURE; equally likely for each joint action
    success: Array  # (S,) probability of success
    turns: Array  # (S,) expected turns until the episode is decided; inf if success is impossible

    def index(self, state: State, i: int = 0) -> int:
        """Return the index of a state.

        Args:
            state: Batch of the same game.
            i: Environment index.

        Raises:
            KeyError: The search did not reach the state.
        """
        (key,) = survey(self.compiled, State(*(array[i : i + 1] for array in state))).keys.tolist()
        at = int(np.searchsorted(self.keys, key))
        if at == len(self.keys) or self.keys[at] != key:
            raise KeyError(f"state {key} cannot be reached from the roots of the search")
        return at

    def value(self, state: State, i: int = 0) -> tuple[float, float]:
        """Return probability of success and expected turns of a state."""
        at = self.index(state, i)
        return float(self.success[at]), float(self.turns[at])

    def joint_values(self, state: State, i: int = 0) -> JointValues:
        """Return all legal joint actions of a state with their values."""
        at = self.index(state, i)
        low, high = self.joint_starts[at : at + 2]
        success = self.joint_success_and_turns[0][low:high]
        turns = self.joint_success_and_turns[1][low:high]
        best = success >= self.success[at] - EPSILON
        if self.success[at] > 0:
            best &= turns <= self.turns[at] + 1e-6
        return JointValues(self.actions[low:high], success, turns, best)

    @cached_property
    def joint_success_and_turns(self) -> tuple[Array, Array]:
        """Success and turns of all joint actions (J,)."""
        success = _backup(self, np.append(self.success, (0.0, 1.0)))
        turns = 1 + _backup(self, np.append(np.where(self.success > 0, self.turns, 0.0), (0.0, 0.0)))
        return success, np.where(success > 0, turns, np.inf)

    def success_within(self, turns: int, uniform: bool = False) -> Array:
        """Return the probabilities of success (turns + 1, S) within 0, 1, ... turns.

        Args:
            turns: Maximum number of turns.
            uniform: Players choose uniformly among all legal joint actions instead of optimally.
        """
        table = np.zeros((turns + 1, len(self.keys)))
        sizes = np.diff(self.joint_starts)
        for t in range(1, turns + 1):
            joint = _backup(self, np.append(table[t - 1], (0.0, 1.0)))
            if uniform:
                table[t] = np.add.reduceat(joint, self.joint_starts[:-1]) / sizes
            else:
                table[t] = np.maximum.reduceat(joint, self.joint_starts[:-1])
        return table


@dataclass(frozen=True)
class Survey:
    """Keys, moves and legal actions of a batch; see ``step.survey_batch``."""

    keys: Array
    ways: Array
    unaware: Array
    legal: Array


def survey(compiled: Compiled, state: State) -> Survey:
    """Return keys, the adversary's moves and legal actions of a batch."""
    size = len(state.clock)
    result = Survey(
        np.zeros(size, np.int64),
        np.zeros(size, np.int32),
        np.zeros(size, np.bool_),
        np.zeros((size, compiled.n_players, compiled.n_rooms + 2), np.bool_),
    )
    survey_batch(compiled.tables, state, result.keys, result.ways, result.unaware, result.legal)
    return result


def solve(compiled: Compiled, state: State | None = None, everywhere: bool = False) -> Solution:
    """Find and solve all reachable states.

    Args:
        compiled: The game, ``game.compiled``.
        state: Batch of states to start from. Default: the start of an episode.
        everywhere: Start from all placements of players and adversary, doors and repairs instead.

    Raises:
        ValueError: The game has too many states.
    """
    tables = compiled.tables
    if (count := count_keys(tables)) > MAX_KEYS:
        raise ValueError(
            f"layout {compiled.level.name} with {compiled.n_players} players, {compiled.n_rooms} rooms, "
            f"{len(tables.generators)} generators, fixes={tables.params[Param.FIXES]} and "
            f"{tables.params[Param.N_DOORS]} doors: {count:.0e} combinations; exact values need at most {MAX_KEYS:.0e}"
        )
    if everywhere:
        roots = placements(compiled)
    else:
        roots = start_of(compiled) if state is None else _running(state)
    return _values(_explore(compiled, roots))


def start_of(compiled: Compiled) -> State:
    """Return the start of an episode as a batch of one."""
    state, out = _alloc(compiled, 1)
    bind(BATCH_KERNELS.reset, compiled.tables, state, out, np.ones(1, np.bool_), TURNS)()
    return state


def _alloc(compiled: Compiled, count: int) -> tuple[State, Out]:
    sizes = {**sizes_of(compiled.tables), "numbers": 0}
    return allocate(State, sizes, count), allocate(Out, sizes, count)


def _running(state: State) -> State:
    return State(*(array[state.clock[:, Clock.OUTCOME] == Outcome.RUNNING].copy() for array in state))


def placements(compiled: Compiled) -> State:
    """Return all placements of players and adversary in different rooms, with all states of doors and repairs.

    The killer has not seen any player before. Generators are in their initial rooms.

    Raises:
        ValueError: There are more than ``MAX_STATES`` placements, or generators lie in random
            rooms.
    """
    tables, rooms = compiled.tables, range(compiled.n_rooms)
    fixes, doors = int(tables.params[Param.FIXES]), range(1 << int(tables.params[Param.N_DOORS]))
    repairs = [range(fixes + 1)] * len(tables.generators)
    count = compiled.n_rooms ** (compiled.n_players + 1) * len(doors) * (fixes + 1) ** len(repairs)
    if count > MAX_STATES:
        raise ValueError(f"layout {compiled.level.name}: {count} placements; exact values need at most {MAX_STATES}")
    if tables.params[Param.RANDOM_GENERATORS]:
        raise ValueError("generators: exact values for all placements need generators in known rooms, not random ones")
    every = product(*[rooms] * compiled.n_players, rooms, doors, *repairs)
    table = np.array([row for row in every if row[compiled.n_players] not in row[: compiled.n_players]], np.int32)
    state, out = _alloc(compiled, len(table))
    bind(BATCH_KERNELS.reset, tables, state, out, np.ones(len(table), np.bool_), TURNS)()
    n = compiled.n_players
    state.players[:, :, Player.ROOM] = state.players[:, :, Player.BEFORE] = table[:, :n]
    state.players[:, :, Player.SEEN] = 0
    state.clock[:, Clock.ADVERSARY], state.clock[:, Clock.DOORS] = table[:, n], table[:, n + 1]
    state.clock[:, Clock.TARGET] = NOTHING
    state.generators[:, :, Generator.PROGRESS] = table[:, n + 2 :]
    settle_batch(tables, state, np.ones(len(table), np.bool_))
    if tables.params[Param.GOAL] == Goal.ESCAPE:
        over = _is_won(compiled, state)
        state = State(*(array[~over] for array in state))
    return state


def _is_won(compiled: Compiled, state: State) -> Array:
    gate = (state.generators[:, :, Generator.PROGRESS] >= compiled.tables.params[Param.FIXES]).all(axis=1)
    return gate & np.isin(state.players[:, :, Player.ROOM], compiled.level.exits).any(axis=1)


def _explore(compiled: Compiled, roots: State) -> Solution:
    levels: list[State] = []
    parts: list[tuple[Array, Array, Array, Array]] = []  # joint actions a state, actions, outcomes an action, keys
    all_keys: list[Array] = []
    known = np.zeros(0, np.int64)
    roots = _running(roots)
    keys, state = _distinct(survey(compiled, roots).keys, roots, known)
    transitions = 0
    while len(keys):
        known = np.union1d(known, keys)
        if len(known) > MAX_STATES:
            raise ValueError(f"layout {compiled.level.name}: more than {MAX_STATES} states; exact values need fewer")
        expected = transitions + _estimated(compiled, state)
        if expected > MAX_TRANSITIONS:
            raise ValueError(
                f"layout {compiled.level.name} with {compiled.n_players} players: about {expected} transitions of "
                f"at least {len(known)} states; exact values need at most {MAX_TRANSITIONS}"
            )
        fresh: list[tuple[Array, State]] = []
        for start in range(0, len(keys), ROWS):
            part, after = _expand(compiled, _rows(state, slice(start, start + ROWS)))
            transitions += len(part[3])
            parts.append(part)
            fresh.append(_distinct(part[3], after, known))
            if sys.stderr.isatty() and expected > LONG:
                print(f"\rsolving {compiled.level.name}: {transitions / expected:.0%}\033[K", end="", file=sys.stderr)
        all_keys.append(keys)
        levels.append(state)
        keys, state = _distinct(np.concatenate([new for new, _ in fresh]), _joined([rows for _, rows in fresh]), known)
    if sys.stderr.isatty() and transitions > LONG:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return _assembled(compiled, np.concatenate(all_keys), _joined(levels), parts)


def _estimated(compiled: Compiled, state: State) -> int:
    """Return about how many transitions states have, by some of them if they are many."""
    size = len(state.clock)
    if size <= ROWS:
        return 0
    part, _ = _expand(compiled, _rows(state, np.linspace(0, size - 1, ROWS).astype(int)))
    return len(part[3]) * size // ROWS


def _rows(state: State, which: Any) -> State:
    return State(*(array[which] for array in state))


def _joined(states: list[State]) -> State:
    return State(*map(np.concatenate, zip(*states, strict=True)))


def _distinct(keys: Array, state: State, known: Array) -> tuple[Array, State]:
    """Return the running states of a batch, each once, whose keys are not among the sorted ``known``."""
    after = np.append(known, -1)[np.searchsorted(known, keys)]
    new = np.flatnonzero((keys >= 0) & (after != keys))
    keys, at = np.unique(keys[new], return_index=True)
    return keys, _rows(state, new[at])


def _expand(compiled: Compiled, state: State) -> tuple[tuple[Array, Array, Array, Array], State]:
    surveyed, size = survey(compiled, state), len(state.clock)
    joint = surveyed.legal[:, 0]
    for n in range(1, compiled.n_players):
        joint = (joint[:, :, None] & surveyed.legal[:, n][:, None, :]).reshape(size, -1)
    where, code = np.nonzero(joint)
    actions = np.stack(np.unravel_index(code, (compiled.n_rooms + 2,) * compiled.n_players), axis=1).astype(np.int32)
    draws = surveyed.unaware & (surveyed.ways > 0)
    counts = np.where(draws, surveyed.ways, 1)[where]
    last = np.cumsum(counts)
    picks = (np.arange(last[-1]) - np.repeat(last - counts, counts)).astype(np.int32)
    picks[~np.repeat(draws[where], counts)] = NOTHING
    after = State(*(array[np.repeat(where, counts)] for array in state))
    after.clock[:, Clock.LIMIT] = NEVER
    out = allocate(Out, {**sizes_of(compiled.tables), "numbers": 0}, len(picks))
    expand_batch(compiled.tables, after, np.repeat(actions, counts, axis=0), picks, out)
    after.clock[:, Clock.T] = 1
    outcome = after.clock[:, Clock.OUTCOME]
    keys = survey(compiled, after).keys
    keys = np.where(outcome == Outcome.SUCCESS, SUCCESS, np.where(outcome == Outcome.LOST, FAILURE, keys))
    return (np.bincount(where, minlength=size), actions, counts, keys), after


def _assembled(compiled: Compiled, keys: Array, states: State, parts: list[Any]) -> Solution:
    sizes, actions, counts, after = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(keys)
    joint_first, outcome_first = np.cumsum(sizes) - sizes, np.cumsum(counts) - counts
    joint = _ranges(joint_first[order], sizes[order])
    outcomes = after[_ranges(outcome_first[joint], counts[joint])]
    keys = keys[order]
    return Solution(
        compiled=compiled,
        keys=keys,
        states=_rows(states, order),
        joint_starts=np.append(0, np.cumsum(sizes[order])),
        actions=actions[joint],
        outcome_starts=np.append(0, np.cumsum(counts[joint])),
        outcomes=np.where(outcomes < 0, outcomes, np.searchsorted(keys, outcomes)),
        success=np.zeros(len(keys)),
        turns=np.zeros(len(keys)),
    )


def _ranges(starts: Array, sizes: Array) -> Array:
    last = np.cumsum(sizes)
    ranges: Array = np.arange(last[-1]) - np.repeat(last - sizes - starts, sizes)
    return ranges


def _backup(solution: Solution, values: Array) -> Array:
    """Return the mean value (J,) over the outcomes of every joint action."""
    starts = solution.outcome_starts
    joint: Array = np.add.reduceat(values[solution.outcomes], starts[:-1]) / np.diff(starts)
    return joint


def _values(solution: Solution) -> Solution:
    first = solution.joint_starts[:-1]
    success = np.zeros(len(solution.keys))
    for _ in range(ROUNDS):
        joint = _backup(solution, np.append(success, (0.0, 1.0)))
        better = np.maximum.reduceat(joint, first)
        change, success = np.abs(better - success).max(), better
        if change < 1e-13:
            break
    success[success > 1 - EPSILON] = 1.0
    joint = _backup(solution, np.append(success, (0.0, 1.0)))
    allowed = joint >= np.repeat(success, np.diff(solution.joint_starts)) - EPSILON
    hopeless = success == 0
    turns = np.zeros(len(solution.keys))
    for _ in range(ROUNDS):
        joint = np.where(allowed, 1 + _backup(solution, np.append(turns, (0.0, 0.0))), np.inf)
        more = np.where(hopeless, 0.0, np.minimum.reduceat(joint, first))
        change, turns = np.abs(more - turns).max(), more
        if change < 1e-10:
            break
    return replace(solution, success=success, turns=np.where(hopeless, np.inf, turns))
