"""The order of play within a tick and a step, and how episodes start."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.macro_actions import CONTINUE, Macro, Outcome, end_macro, is_running, start_macro

from .constants import FIRST_ID, NOTHING, Agent, Belief, Event, EventColumn, Goal, Param, Reason, Row, Verb, World
from .distances import measure_distances
from .generate import make_house, make_task, place_agents
from .macro_actions import next_primitive
from .observe import forget_all, judge, keep_seeing, observe_env, perceive
from .rules import count_goals, grab, put, put_in, room_of, set_open, settle_conflicts, walk, why_refused


@kernel
def begin_action(tables, state, i, action, event):
    """A busy seat continues its action unless it may replace it; an idle seat starts its chosen action, or waits.

    Mutates: state, event.
    """
    macro = state.macro_state[i]
    if is_running(macro):
        if action == CONTINUE:
            return
        if tables.params[Param.PREEMPT] == 0:
            event[EventColumn.REASON] = Reason.F_BUSY
            return
        if action == macro[Macro.ACTION]:
            return
    reason = why_refused(tables, state, i, action)
    event[EventColumn.REASON] = reason
    if reason != Reason.OK and is_running(macro):
        return
    start_macro(macro, action if reason == Reason.OK else CONTINUE, 0)
    state.agents[i, Agent.AIM] = room_of(state, i)
    state.agents[i, Agent.LEFT] = 0
    if tables.catalogue[tables.levels[i], macro[Macro.ACTION], Row.VERB] != Verb.SAY:
        state.agents[i, Agent.SPOKE] = 0


@kernel
def continue_action(tables, state, i, event):
    """An action without a primitive action in progress starts its next one, or ends. Mutates: state, event."""
    first = state.macro_state[i, Macro.TIMER] == 0
    outcome = next_primitive(tables, state, i, first, event)
    if outcome == Outcome.RUNNING:
        state.agents[i, Agent.LEFT] = ticks_of(tables, state, i)
        state.macro_state[i, Macro.TIMER] += 1
        return
    event[EventColumn.ENDED] = outcome
    if outcome == Outcome.FAILED:
        note_event(event, Event.FAILED)
        state.agents[i, Agent.FAILED] += 1
    end_macro(state.macro_state[i])
    state.agents[i, Agent.VERB] = Verb.WAIT
    state.agents[i, Agent.LEFT] = 0


@kernel
def ticks_of(tables, state, i):
    """Primitive actions take their ticks; longer messages take more, and waiting takes one tick.

    Where they do not, a seat that waits is free again at the next event.
    """
    verb, arg = state.agents[i, Agent.VERB], state.agents[i, Agent.ARG]
    if verb == Verb.WAIT and tables.params[Param.EVENT_STEPS] == 0:
        return 1
    return tables.cost[verb] * (arg if verb == Verb.SAY else 1)


@kernel
def note_event(event, code):
    """Keep the most important event of an agent in a step. Mutates: event."""
    if code > event[EventColumn.CODE]:
        event[EventColumn.CODE] = code


@kernel
def carry_out(tables, state, i, event):
    """A finished primitive action takes effect, unless it lost a conflict or the agent's belief was wrong.

    Mutates: state, event.
    """
    agent = state.agents[i]
    verb = agent[Agent.VERB]
    arg = agent[Agent.ARG]
    reason = Reason.OK
    code = Event.WAITED
    event[EventColumn.PRIMITIVE] = verb
    if verb == NOTHING:
        reason = Reason.F_CONFLICT
    elif verb == Verb.WALK or verb == Verb.WALK_TO:
        place = arg if verb == Verb.WALK else max(state.know_things[i, arg, Belief.PLACE], 0)
        before = room_of(state, i)
        walk(state, i, place, tables.params[Param.GRID_WIDTH])
        code = Event.WALKED if room_of(state, i) == before else Event.ENTERED
    elif verb == Verb.GRAB:
        reason, code = grab(state, i, arg), Event.GRASPED
        event[EventColumn.THING] = arg
    elif verb == Verb.OPEN or verb == Verb.CLOSE:
        reason = set_open(state, arg, verb)
        code = Event.OPENED if verb == Verb.OPEN else Event.CLOSED
    elif verb == Verb.PUT or verb == Verb.PUT_AT:
        reason, code = carry_out_put(tables, state, i, verb, arg, event), Event.PUT
    elif verb == Verb.PUT_IN:
        reason, code = put_in(state, i), Event.PUT_IN
    elif verb == Verb.LOOK:
        code = Event.EXPLORED
    elif verb == Verb.SAY:
        agent[Agent.SPOKE], code = 1, Event.SPOKE
        agent[Agent.MESSAGES] += 1
    event[EventColumn.WHY] = reason
    note_event(event, code if reason == Reason.OK else Event.FAILED)


@kernel
def carry_out_put(tables, state, i, verb, arg, event):
    """Put down the object of the named hand, or of the first full one. Mutates: state, event."""
    hand, place = arg, state.world[World.GOAL]
    if verb == Verb.PUT_AT:
        hand, place = 0 if state.agents[i, Agent.LEFT_HAND] != NOTHING else 1, arg
    event[EventColumn.THING] = state.agents[i, Agent.LEFT_HAND + hand]
    return put(tables, state, i, hand, place)


@kernel
def tick(tables, state, ticks, events, seen):
    """Advance to the end of the next primitive action, apply all that end, and update perception.

    Args:
        tables: Constants.
        state: Mutated.
        ticks: Ticks to advance.
        events: Mutated.
        seen: Tick of the last perception in this step, NOTHING before the first.

    Returns:
        Whether things, containers and rooms of agents may have changed; a step's first tick is taken for one that does.
    """
    count, changed = state.agents.shape[0], seen == NOTHING
    state.world[World.T] += ticks
    for i in range(count):
        state.agents[i, Agent.LEFT] -= ticks
    settle_conflicts(state)
    for i in range(count):
        if state.agents[i, Agent.LEFT] == 0:
            verb = state.agents[i, Agent.VERB]
            changed = changed or not (verb == Verb.WALK or verb == Verb.WALK_TO or verb == Verb.WAIT)
            carry_out(tables, state, i, events[i])
        changed = changed or room_of(state, i) != state.agents[i, Agent.ROOM]
    if not changed:
        return False
    for i in range(count):
        if seen != NOTHING:
            keep_seeing(state, i, seen, state.world[World.T] - ticks)
        looked = state.agents[i, Agent.LEFT] == 0 and state.agents[i, Agent.VERB] == Verb.LOOK
        perceive(tables, state, i, looked, events[i])
        if events[i, EventColumn.SAW] > 0:
            note_event(events[i], Event.SAW)
    return True


@kernel
def next_tick(tables, state):
    """Return the number of ticks to advance: one, or all until the next event."""
    ticks = state.world[World.LIMIT] - state.world[World.T]
    for i in range(state.agents.shape[0]):
        ticks = min(ticks, state.agents[i, Agent.LEFT])
    return max(min(ticks, 1) if tables.params[Param.EVENT_STEPS] == 0 else ticks, 1)


@kernel
def score(state, events):
    """Each goal thing pays once, when it first is at the goal place; who put it there now is named.

    Mutates: state, events.
    """
    total = count_goals(state)
    gained = max(total - state.world[World.BEST], 0)
    state.world[World.BEST] += gained
    left = gained
    for i in range(events.shape[0]):
        verb, done = events[i, EventColumn.PRIMITIVE], events[i, EventColumn.WHY] == Reason.OK
        now = state.agents[i, Agent.LEFT] == 0  # an earlier put of the same step was counted then
        if left > 0 and now and done and (verb == Verb.PUT or verb == Verb.PUT_AT):
            events[i, EventColumn.DELIVERED] += left
            note_event(events[i], Event.DELIVERED)
            left = 0
    return gained


@kernel
def is_complete(state):
    """The episode is won once every row of the goal is fulfilled."""
    for g in range(state.goals.shape[0]):
        if state.goals[g, Goal.HAVE] < state.goals[g, Goal.NEED]:
            return False
    return True


@kernel
def end_waits(state, events):
    """Waiting agents are idle again at the end of the step. Mutates: state, events."""
    for i in range(events.shape[0]):
        if is_running(state.macro_state[i]) and state.macro_state[i, Macro.ACTION] == CONTINUE:
            end_macro(state.macro_state[i])
            state.agents[i, Agent.LEFT] = 0
            events[i, EventColumn.ENDED] = Outcome.DONE
            note_event(events[i], Event.WAITED)


@kernel
def end_step(env, out, paid):
    """Things that came to the goal place pay all agents; the episode ends at the goal or a limit. Mutates: env, out."""
    world = env.world
    out.rewards[:] = paid
    terminated = is_complete(env)
    late = world[World.T] >= world[World.LIMIT] or world[World.STEPS] >= world[World.MAX_STEPS]
    world[World.OVER] = 1 if terminated or late else 0
    return terminated, late and not terminated


@kernel
def step_env(tables, env, actions, out):
    """A step is a tick, or all ticks until an agent can choose or the episode ends. Mutates: env, out."""
    events = out.events
    started = env.world[World.T]
    paid = 0
    count = events.shape[0]
    clear_events(events, FIRST_ID)
    for i in range(count):
        begin_action(tables, env, i, actions[i], events[i])
        running = env.macro_state[i, Macro.ACTION]
        events[i, EventColumn.ACTION] = running
    going = True
    changed = True
    complete = False
    seen = NOTHING
    while going:
        if changed:
            complete = is_complete(env)
        over = complete or env.world[World.T] >= env.world[World.LIMIT]
        stop = over or tables.params[Param.EVENT_STEPS] == 0
        for i in range(count):
            if env.agents[i, Agent.LEFT] <= 0 and is_running(env.macro_state[i]):
                continue_action(tables, env, i, events[i])
            stop = stop or not is_running(env.macro_state[i])
        going = not stop or env.world[World.T] == started
        if going:
            changed = tick(tables, env, next_tick(tables, env), events, seen)
            if changed:
                seen = env.world[World.T]
                paid += score(env, events)
    end_waits(env, events)
    for i in range(count):
        keep_seeing(env, i, seen, env.world[World.T])
        events[i, EventColumn.TICKS] = env.world[World.T] - started
    env.world[World.STEPS] += 1
    return end_step(env, out, paid)


@kernel
def reset_env(tables, env, out, limit):
    """An episode starts with a new home, a new task, and agents in different rooms, which look around.

    Mutates: env, out.
    """
    scratch, world, events = out.scratch, env.world, out.events
    make_house(tables, env, out.rects, scratch)
    world[World.LIMIT], world[World.MAX_STEPS] = tables.params[Param.LIMIT], limit
    make_task(tables, env, scratch[0])
    measure_distances(env, tables.params[Param.GRID_WIDTH], scratch)
    place_agents(tables, env, scratch[0])
    for i in range(events.shape[0]):
        forget_all(env, i)
    for i in range(events.shape[0]):
        perceive(tables, env, i, False, events[i])
    clear_events(events, FIRST_ID)


@kernel
def judge_batch(tables, state, seat, action, reasons):
    """Why a seat's action would be refused in every environment of a batch. Mutates: reasons (B,)."""
    for b in range(reasons.shape[0]):
        reasons[b] = judge(tables, row_at(state, b), seat, action)


@kernel
def measure_batch(tables, state, scratch):
    """Recompute the distances to all places after a scene was loaded. Mutates: state.dist, scratch."""
    for b in range(scratch.shape[0]):
        measure_distances(row_at(state, b), tables.params[Param.GRID_WIDTH], scratch[b])


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
