"""The order of play within a turn, and the loops over a batch."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import index
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.rng import draw_below

from .constants import NOTHING, STAY, Adversary, Clock, EventColumn, Generator, Goal, Outcome, Param, Player
from .observe import encode_seat, forget, remember, write_mask
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
from .worst import state_key, worst_way


@kernel
def move_adversary(tables, env, pick, doors):
    """The adversary moves by the doors at the start of the turn; ``pick`` selects a passage unless it is NOTHING.

    Mutates: env.
    """
    params, players, clock = tables.params, env.players, env.clock
    room = clock[Clock.ADVERSARY]
    if pick != NOTHING:
        now = tables.ways[index(doors), index(room), index(pick)]
    elif params[Param.ADVERSARY] == Adversary.WORST:
        now = worst_way(tables, env, doors)
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
def rest(env, events, rewards, shaped):
    """Write empty events and zero rewards. Mutates: events, rewards, shaped."""
    players = env.players
    for n in range(players.shape[0]):
        events[n, :] = 0
        events[n, EventColumn.ROOM] = players[n, Player.ROOM]
        events[n, EventColumn.ADVERSARY] = env.clock[Clock.ADVERSARY]
        events[n, EventColumn.SUBJECT] = NOTHING
    rewards[:], shaped[:] = 0, 0


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch by one turn; environments that are over do not change and pay nothing.

    Mutates: state, out.
    """
    events, rewards, shaped, fresh = out.events, out.rewards, out.shaped, out.fresh
    terminated, truncated = out.terminated, out.truncated
    for b in range(fresh.shape[0]):
        env = row_at(state, b)
        fresh[b] = env.clock[Clock.OUTCOME] == Outcome.RUNNING
        if not fresh[b]:
            rest(env, events[b], rewards[b], shaped[b])
            continue
        play_turn(tables, env, actions[b], draw_way(tables, env), events[b])
        outcome = env.clock[Clock.OUTCOME]
        reward, bonus = team_reward(outcome, tables.params), shaped_reward(events[b])
        for n in range(rewards.shape[1]):
            rewards[b, n], shaped[b, n] = reward, bonus
        terminated[b] = outcome == Outcome.SUCCESS or outcome == Outcome.LOST
        truncated[b] = outcome == Outcome.TIME_OUT
        remember(tables, env)


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
def reset_env(tables, env, limit):
    """An episode starts with players and adversary at their starts and no repairs. Mutates: env."""
    players, generators, clock, params = env.players, env.generators, env.clock, tables.params
    for n in range(players.shape[0]):
        players[n, Player.ROOM], players[n, Player.BEFORE] = tables.starts[n], tables.starts[n]
        players[n, Player.ACTIVE] = 1
    for g in range(generators.shape[0]):
        generators[g, Generator.ROOM], generators[g, Generator.FIXER] = tables.generators[g], NOTHING
    if params[Param.RANDOM_GENERATORS] == 1:
        place_generators(generators, env.rng, tables.candidates)
    clock[Clock.LIMIT] = limit
    clock[Clock.ADVERSARY], clock[Clock.TARGET] = params[Param.ADVERSARY_START], NOTHING
    clock[Clock.DOORS] = params[Param.DOORS_START]
    notice(tables, env)


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state, out."""
    for b in range(which.shape[0]):
        if which[b]:
            env = row_at(state, b)
            reset_env(tables, env, limit)
            rest(env, out.events[b], out.rewards[b], out.shaped[b])
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


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments. Mutates: out."""
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(fresh.shape[0]):
        env = row_at(state, b)  # before the condition, so that loads of array descriptors leave the loop
        if fresh[b]:
            for n in range(masks.shape[1]):
                encode_seat(tables, env, n, observations[b, n])
                write_mask(tables, env, n, masks[b, n])
