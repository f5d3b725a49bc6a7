"""The order of play within a turn, how episodes start, and loops that search uses."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.rng import draw_below

from .constants import NOTHING, STAY, Clock, EventColumn, Generator, Goal, Outcome, Param, Player
from .observe import forget, observe_env, remember
from .rules import (
    act,
    chase,
    count_ways,
    draw_way,
    flee,
    generator_in,
    interrupt_repairs,
    is_unaware,
    judge_action,
    judge_capture,
    judge_escape,
    notice,
    shaped_reward,
    team_reward,
    why_refused,
)
from .state_key import state_key


@kernel
def move_adversary(tables, env, pick, doors):
    """The adversary moves by the doors at the start of the turn; ``pick`` selects a passage unless it is NOTHING.

    Mutates: env.
    """
    params, players, clock = tables.params, env.players, env.clock
    room = clock[Clock.ADVERSARY]
    if pick != NOTHING:
        now = tables.ways[doors, room][pick]
    elif params[Param.GOAL] == Goal.CAPTURE:
        now = flee(players, room, doors, tables)
    else:
        now = chase(players, room, doors, clock[Clock.TARGET], tables)
    clock[Clock.ADVERSARY] = now


@kernel
def play_turn(tables, env, actions, pick, events):
    """In a turn, actions are checked against its start, players act in seat order, then the adversary moves.

    Mutates: env, events.
    """
    players, clock = env.players, env.clock
    doors, before = clock[Clock.DOORS], clock[Clock.ADVERSARY]
    interrupt_repairs(tables, env, actions)
    for n in range(players.shape[0]):
        reason = judge_action(actions[n], players[n], env.generators, doors, tables)
        act(tables, env, n, actions[n], reason, events[n])
    move_adversary(tables, env, pick, doors)
    if tables.params[Param.GOAL] == Goal.CAPTURE:
        outcome = judge_capture(tables, env, before, events)
    else:
        outcome = judge_escape(tables, env, before, events)
    clock[Clock.T] += 1
    if outcome == Outcome.RUNNING and clock[Clock.T] >= clock[Clock.LIMIT]:
        outcome = Outcome.TIME_OUT
    clock[Clock.OUTCOME] = outcome
    notice(tables, env)


@kernel
def is_over(env):
    """An episode is over once it is won, lost, or out of time."""
    return env.clock[Clock.OUTCOME] != Outcome.RUNNING


@kernel
def write_no_events(env, out):
    """No player has acted and nothing is paid: at the start, and after the end. Mutates: out."""
    players, events = env.players, out.events
    for n in range(players.shape[0]):
        events[n, :] = 0
        events[n, EventColumn.ROOM] = players[n, Player.ROOM]
        events[n, EventColumn.ADVERSARY] = env.clock[Clock.ADVERSARY]
        events[n, EventColumn.SUBJECT] = NOTHING
    out.rewards[:], out.shaped[:] = 0, 0


@kernel
def step_env(tables, env, actions, out):
    """A step is a turn; all players get the same reward, and remember what they see. Mutates: env, out."""
    play_turn(tables, env, actions, draw_way(tables, env), out.events)
    outcome = env.clock[Clock.OUTCOME]
    out.rewards[:] = team_reward(outcome, tables.params)
    out.shaped[:] = shaped_reward(out.events)
    remember(tables, env)
    return outcome == Outcome.SUCCESS or outcome == Outcome.LOST, outcome == Outcome.TIME_OUT


@kernel
def expand_batch(tables, state, actions, picks, out):
    """Step environments with fixed moves of the adversary (NOTHING: its own choice), without rewards or observations.

    Mutates: state, out.events.
    """
    for b in range(picks.shape[0]):
        env = row_at(state, b)
        if env.clock[Clock.OUTCOME] == Outcome.RUNNING:
            play_turn(tables, env, actions[b], picks[b], out.events[b])


@kernel
def survey_batch(tables, state, keys, ways, unaware, legal):
    """Write the key of every state, the adversary's number of moves, whether its move is random, and legal actions.

    Mutates: keys (B,), ways (B,), unaware (B,), legal (B, N, A).
    """
    passages, rooms = tables.passages, tables.rooms
    for b in range(keys.shape[0]):
        env = row_at(state, b)
        players, generators, clock = env.players, env.generators, env.clock
        doors = clock[Clock.DOORS]
        keys[b] = state_key(tables, env, clock[Clock.T] == 0)
        ways[b] = count_ways(tables.ways[doors, clock[Clock.ADVERSARY]])
        unaware[b] = is_unaware(clock, tables.params)
        for n in range(players.shape[0]):
            for action in range(legal.shape[2]):
                legal[b, n, action] = why_refused(action, players[n], generators, doors, passages, rooms) == STAY


@kernel
def place_generators(generators, rng, candidates):
    """Random generators are placed in different candidate rooms, uniformly. Mutates: generators, rng."""
    for g in range(generators.shape[0]):
        generators[g, Generator.ROOM] = NOTHING
    for g in range(generators.shape[0]):
        left = draw_below(rng, candidates.shape[0] - g)
        for k in range(candidates.shape[0]):
            if generator_in(candidates[k], generators) != NOTHING:
                continue
            if left == 0:
                generators[g, Generator.ROOM] = candidates[k]
                break
            left -= 1


@kernel
def reset_env(tables, env, out, limit):
    """An episode starts with players and adversary at their starts and no repairs. Mutates: env, out."""
    players = env.players
    generators = env.generators
    clock = env.clock
    params = tables.params
    for n in range(players.shape[0]):
        players[n, Player.ROOM], players[n, Player.BEFORE] = tables.starts[n], tables.starts[n]
        players[n, Player.ACTIVE] = 1
    for g in range(generators.shape[0]):
        generators[g, Generator.ROOM] = tables.generators[g]
        generators[g, Generator.FIXER] = NOTHING
    if params[Param.RANDOM_GENERATORS] == 1:
        place_generators(generators, env.rng, tables.candidates)
    clock[Clock.LIMIT] = limit
    clock[Clock.ADVERSARY], clock[Clock.TARGET] = params[Param.ADVERSARY_START], NOTHING
    clock[Clock.DOORS] = params[Param.DOORS_START]
    notice(tables, env)
    write_no_events(env, out)
    forget(env)


@kernel
def settle_batch(tables, state, decides):
    """After a scene was loaded, let the adversary choose a target where ``decides`` is set, and reset memory.

    Mutates: state.
    """
    for b in range(decides.shape[0]):
        env = row_at(state, b)
        if decides[b]:
            notice(tables, env)
        forget(env)


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env, is_over=is_over, write_after_end=write_no_events)
