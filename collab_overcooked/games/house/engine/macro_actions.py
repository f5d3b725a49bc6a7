"""Sub-plans: their next primitive action, and when they are done or have failed."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Macro, Outcome

from .constants import (
    NOTHING,
    Agent,
    Belief,
    EventColumn,
    GameKind,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Param,
    Place,
    Reason,
    Row,
    Verb,
    World,
)
from .rules import full_hand, is_near, path_to, room_of, why_not_grab

# ------------------------------------------------------------------------------------------- sub-plans


@kernel
def plan_primitive(state, i, verb, arg):
    """Start the next primitive action of a sub-plan. Mutates: state.agents."""
    state.agents[i, Agent.VERB] = verb
    state.agents[i, Agent.ARG] = arg
    return Outcome.RUNNING


@kernel
def fail_plan(event, reason):
    """End a sub-plan with a reason for its failure. Mutates: event."""
    event[EventColumn.WHY] = reason
    return Outcome.FAILED


@kernel
def next_primitive(tables, state, i, first, event):
    """Choose the next primitive action of a running action, or end it; primitive actions are carried out once.

    Mutates: state.agents, event.

    Returns:
        An ``Outcome``.
    """
    action = state.macro_state[i, Macro.ACTION]
    verb = tables.catalogue[tables.levels[i], action, Row.VERB]
    arg = tables.catalogue[tables.levels[i], action, Row.ARG]
    if verb <= Verb.SAY:
        if first:
            return plan_primitive(state, i, verb, arg)
        return Outcome.DONE if event[EventColumn.WHY] == Reason.OK else Outcome.FAILED
    if verb == Verb.GO:
        return next_of_go(tables, state, i, arg, first, event)
    if verb == Verb.EXPLORE:
        return next_of_explore(tables, state, i)
    if verb == Verb.CHECK:
        return next_of_check(tables, state, i, arg)
    if verb == Verb.FETCH:
        return next_of_fetch(tables, state, i, arg, event)
    return next_of_deliver(tables, state, i, event)


@kernel
def next_of_go(tables, state, i, room, first, event):
    """Walk towards a room's centre until inside; in Transport, seeing something new ends it."""
    distracted = tables.params[Param.GAME] == GameKind.TRANSPORT and (
        event[EventColumn.SAW] > 0 or event[EventColumn.GOAL_SEEN] > 0
    )
    if room_of(state, i) == room or (distracted and not first):
        return Outcome.DONE
    return plan_primitive(state, i, Verb.WALK, room)


@kernel
def next_of_explore(tables, state, i):
    """Walk near the centre of the room and look around; then the whole room is known."""
    room = state.agents[i, Agent.AIM]
    if state.know_rooms[i, room] == KnownRoom.ALL:
        return Outcome.DONE
    near = is_near(state, i, room, tables.params[Param.NEAR])
    return plan_primitive(state, i, Verb.LOOK if near else Verb.WALK, room)


@kernel
def next_of_check(tables, state, i, p):
    """Walk to a container and open it; it also succeeds if another agent has opened it."""
    if state.know_places[i, p] != KnownPlace.CLOSED:
        return Outcome.DONE
    near = is_near(state, i, p, tables.params[Param.NEAR])
    return plan_primitive(state, i, Verb.OPEN if near else Verb.WALK, p)


@kernel
def next_of_fetch(tables, state, i, o, event):
    """Walk to a thing and take it, opening its container if necessary; fail if it is gone."""
    if state.know_things[i, o, Belief.STATUS] == Known.MINE:
        return Outcome.DONE
    reason = why_not_grab(state, i, o)
    if reason != Reason.OK:
        return fail_plan(event, Reason.F_GONE if reason == Reason.F_UNKNOWN else reason)
    place = state.know_things[i, o, Belief.PLACE]
    if not is_near(state, i, place, tables.params[Param.NEAR]):
        return plan_primitive(state, i, Verb.WALK, place)
    shut = state.places[place, Place.KIND] == Kind.CONTAINER and state.know_places[i, place] != KnownPlace.OPEN
    return plan_primitive(state, i, Verb.OPEN if shut else Verb.GRAB, place if shut else o)


@kernel
def next_of_deliver(tables, state, i, event):
    """Walk to the goal, open it if necessary, and put down both hands' objects, left hand first."""
    goal, hand = state.world[World.GOAL], full_hand(state.agents[i])
    if hand == NOTHING:
        return Outcome.DONE
    if state.places[goal, Place.ROOM] != room_of(state, i):
        return plan_primitive(state, i, Verb.WALK, goal)
    if path_to(state, i, goal) > tables.params[Param.PUT_NEAR]:
        return plan_primitive(state, i, Verb.WALK, goal)
    if event[EventColumn.WHY] == Reason.F_NO_ROOM:
        return Outcome.FAILED
    if state.know_places[i, goal] != KnownPlace.OPEN:
        if tables.params[Param.AUTO_OPEN] == 0 and state.agents[i, Agent.LEFT_HAND + 1 - hand] != NOTHING:
            return fail_plan(event, Reason.F_HANDS_FULL)
        return plan_primitive(state, i, Verb.OPEN, goal)
    return plan_primitive(state, i, Verb.PUT, hand)
