"""The order of play within a turn, and the loops over a batch."""

from __future__ import annotations

from collab_overcooked.games.rooms.engine.constants import (
    NOTHING,
    STAY,
    Adversary,
    Clock,
    EventColumn,
    Generator,
    Goal,
    Outcome,
    Param,
    Player,
    Sight,
)
from collab_overcooked.games.rooms.engine.observe import encode_seat, forget, remember, write_mask
from collab_overcooked.games.rooms.engine.rules import (
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
from collab_overcooked.games.rooms.engine.worst import state_key, worst_way
from collab_overcooked.kernels.arrays import index
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below


@kernel
def move_adversary(pick, doors, players, generators, clock, tables):
    """The adversary moves by the doors at the start of the turn; ``pick`` selects a passage unless it is NOTHING.

    Mutates: clock.
    """
    params, room = tables.params, clock[Clock.ADVERSARY]
    if pick != NOTHING:
        now = tables.ways[index(doors), index(room), index(pick)]
    elif params[Param.ADVERSARY] == Adversary.WORST:
        now = worst_way(players, generators, clock, doors, tables)
    elif params[Param.GOAL] == Goal.CAPTURE:
        now = flee(players, room, doors, tables)
    else:
        now = chase(players, room, doors, clock[Clock.TARGET], tables)
    clock[Clock.ADVERSARY] = now


@kernel
def play_turn(actions, pick, players, generators, clock, tables, events):
    """In a turn, actions are checked against its start, players act in seat order, then the adversary moves.

    Mutates: players, generators, clock, events.
    """
    params, doors, before = tables.params, clock[Clock.DOORS], clock[Clock.ADVERSARY]
    interrupt_repairs(actions, players, generators, params, tables.passages.shape[0])
    for n in range(players.shape[0]):
        reason = judge_action(actions[n], players[n], generators, doors, tables)
        act(n, actions[n], reason, players, generators, clock, tables, events[n])
    move_adversary(pick, doors, players, generators, clock, tables)
    if params[Param.GOAL] == Goal.CAPTURE:
        outcome = judge_capture(before, players, clock, params, events)
    else:
        outcome = judge_escape(before, players, generators, clock, tables, events)
    clock[Clock.T] += 1
    if outcome == Outcome.RUNNING and clock[Clock.T] >= clock[Clock.LIMIT]:
        outcome = Outcome.TIME_OUT
    clock[Clock.OUTCOME] = outcome
    notice(players, clock, tables)


@kernel
def rest(players, clock, events, rewards, shaped):
    """Write empty events and zero rewards. Mutates: events, rewards, shaped."""
    for n in range(players.shape[0]):
        events[n, :] = 0
        events[n, EventColumn.ROOM] = players[n, Player.ROOM]
        events[n, EventColumn.ADVERSARY] = clock[Clock.ADVERSARY]
        events[n, EventColumn.SUBJECT] = NOTHING
    rewards[:], shaped[:] = 0, 0


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch by one turn; environments that are over do not change and pay nothing.

    Mutates: state, out.
    """
    params = tables.params
    players, generators, clock, rng = state.players, state.generators, state.clock, state.rng
    events, rewards, shaped, fresh = out.events, out.rewards, out.shaped, out.fresh
    terminated, truncated = out.terminated, out.truncated
    for b in range(clock.shape[0]):
        fresh[b] = clock[b, Clock.OUTCOME] == Outcome.RUNNING
        if not fresh[b]:
            rest(players[b], clock[b], events[b], rewards[b], shaped[b])
            continue
        pick = draw_way(rng[b], clock[b], tables)
        play_turn(actions[b], pick, players[b], generators[b], clock[b], tables, events[b])
        outcome = clock[b, Clock.OUTCOME]
        reward, bonus = team_reward(outcome, params), shaped_reward(events[b])
        for n in range(rewards.shape[1]):
            rewards[b, n], shaped[b, n] = reward, bonus
        terminated[b] = outcome == Outcome.SUCCESS or outcome == Outcome.LOST
        truncated[b] = outcome == Outcome.TIME_OUT
        remember(state, b, tables)


@kernel
def expand_batch(tables, state, actions, picks, out):
    """Step environments with fixed moves of the adversary (NOTHING: its own choice), without rewards or observations.

    Mutates: state, out.events.
    """
    players, generators, clock, events = state.players, state.generators, state.clock, out.events
    for b in range(clock.shape[0]):
        if clock[b, Clock.OUTCOME] == Outcome.RUNNING:
            play_turn(actions[b], picks[b], players[b], generators[b], clock[b], tables, events[b])


@kernel
def survey_batch(tables, state, keys, ways, unaware, legal):
    """Write the key of every state, the adversary's number of moves, whether its move is random, and legal actions.

    Mutates: keys (B,), ways (B,), unaware (B,), legal (B, N, A).
    """
    players, generators, clock = state.players, state.generators, state.clock
    passages, rooms, params = tables.passages, tables.rooms, tables.params
    for b in range(clock.shape[0]):
        doors = clock[b, Clock.DOORS]
        keys[b] = state_key(players[b], generators[b], clock[b], params, passages.shape[0], clock[b, Clock.T] == 0)
        ways[b] = count_ways(tables.ways[doors, clock[b, Clock.ADVERSARY]])
        unaware[b] = is_unaware(clock[b], params)
        for n in range(players.shape[1]):
            for action in range(legal.shape[2]):
                legal[b, n, action] = why_refused(action, players[b, n], generators[b], doors, passages, rooms) == STAY


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
def reset_env(tables, players, generators, clock, rng, limit):
    """An episode starts with players and adversary at their starts and no repairs.

    Mutates: players, generators, clock, rng.
    """
    params = tables.params
    for n in range(players.shape[0]):
        players[n, Player.ROOM], players[n, Player.BEFORE] = tables.starts[n], tables.starts[n]
        players[n, Player.ACTIVE] = 1
    for g in range(generators.shape[0]):
        generators[g, Generator.ROOM], generators[g, Generator.FIXER] = tables.generators[g], NOTHING
    if params[Param.RANDOM_GENERATORS] == 1:
        place_generators(generators, rng, tables.candidates)
    clock[Clock.LIMIT] = limit
    clock[Clock.ADVERSARY], clock[Clock.TARGET] = params[Param.ADVERSARY_START], NOTHING
    clock[Clock.DOORS] = params[Param.DOORS_START]
    notice(players, clock, tables)


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state, out."""
    players, generators, clock, rng = state.players, state.generators, state.clock, state.rng
    for b in range(clock.shape[0]):
        if which[b]:
            reset_env(tables, players[b], generators[b], clock[b], rng[b], limit)
            rest(players[b], clock[b], out.events[b], out.rewards[b], out.shaped[b])
            forget(state, b, tables)


@kernel
def settle_batch(tables, state, decides):
    """After a scene was loaded, let the adversary choose a target where ``decides`` is set, and reset memory.

    Mutates: state.
    """
    for b in range(state.clock.shape[0]):
        if decides[b]:
            notice(state.players[b], state.clock[b], tables)
        forget(state, b, tables)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments. Mutates: out."""
    observations, masks, fresh = out.observations, out.masks, out.fresh
    players, generators, clock, sightings = state.players, state.generators, state.clock, state.sightings
    known_doors, known_repairs = state.known_doors, state.known_repairs
    everything = tables.params[Param.SIGHT] == Sight.ALL
    for b in range(fresh.shape[0]):
        if not fresh[b]:
            continue
        doors = clock[b, Clock.DOORS]
        for n in range(players.shape[1]):
            known, repairs = doors if everything else known_doors[b, n], known_repairs[b, n]
            seen, row = sightings[b, n], observations[b, n]
            encode_seat(n, players[b], generators[b], clock[b], seen, known, repairs, everything, tables, row)
            write_mask(players[b, n], generators[b], doors, tables, masks[b, n])
