"""The rules of the household games, one kernel per rule, for one environment.

Whether an action is accepted depends on nothing but what its agent knows; what it does not know can make it fail later.
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    CONTAINER_ROOM,
    HANDS,
    NOTHING,
    Agent,
    Belief,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Param,
    Place,
    Reason,
    Rel,
    Role,
    Row,
    Thing,
    Verb,
    World,
)

# ------------------------------------------------------------------------------------------- where things are


@kernel
def room_of(state, i):
    """An agent is in the room of its cell; a doorway belongs to one of the rooms that it connects."""
    return state.cells[state.agents[i, Agent.CELL]]


@kernel
def path_to(state, i, p):
    """The distance to a place is the number of cells of the shortest path through the doors."""
    return state.dist[state.agents[i, Agent.CELL], p]


@kernel
def is_near(state, i, p, reach):
    """A place is near if it is in the same room and within a number of cells."""
    return state.places[p, Place.ROOM] == room_of(state, i) and path_to(state, i, p) <= reach


@kernel
def free_hand(agent):
    """The left hand is filled first; NOTHING if both are full."""
    for hand in range(HANDS):
        if agent[Agent.LEFT_HAND + hand] == NOTHING:
            return hand
    return NOTHING


@kernel
def full_hand(agent):
    """The left hand is emptied first; NOTHING if both are empty."""
    for hand in range(HANDS):
        if agent[Agent.LEFT_HAND + hand] != NOTHING:
            return hand
    return NOTHING


@kernel
def held_of_role(state, i, role):
    """Return the thing of a role that an agent holds, or NOTHING."""
    for hand in range(HANDS):
        held = state.agents[i, Agent.LEFT_HAND + hand]
        if held != NOTHING and state.things[held, Thing.ROLE] == role:
            return held
    return NOTHING


@kernel
def contents(state, o):
    """Count the contents of a container."""
    count = 0
    for other in range(state.things.shape[0]):
        if state.things[other, Thing.REL] == Rel.INSIDE and state.things[other, Thing.PARENT] == o:
            count += 1
    return count


# ------------------------------------------------------------------------------------------- what is accepted


@kernel
def why_not_grab(state, i, o):
    """Agents can take things whose place they know, with a free hand, and only one container at a time."""
    if state.know_things[i, o, Belief.STATUS] != Known.SEEN:
        return Reason.F_UNKNOWN
    if free_hand(state.agents[i]) == NOTHING:
        return Reason.F_HANDS_FULL
    if state.things[o, Thing.ROLE] == Role.CONTAINER and held_of_role(state, i, Role.CONTAINER) != NOTHING:
        return Reason.F_ONE_CONTAINER
    return Reason.OK


@kernel
def why_not_put(state, i, p, reach):
    """Things are put down at a known place that is near, open and not full."""
    if state.know_places[i, p] == KnownPlace.UNKNOWN:
        return Reason.F_UNKNOWN
    if not is_near(state, i, p, reach):
        return Reason.F_TOO_FAR
    if state.know_places[i, p] != KnownPlace.OPEN:
        return Reason.F_NOT_OPEN
    return Reason.F_NO_ROOM if state.places[p, Place.FREE] <= 0 else Reason.OK


@kernel
def why_not_put_in(state, i):
    """A thing in one hand goes into a container in the other hand, up to three things."""
    box = held_of_role(state, i, Role.CONTAINER)
    if box == NOTHING:
        return Reason.F_NO_CONTAINER
    if held_of_role(state, i, Role.TARGET) == NOTHING:
        return Reason.F_HANDS_EMPTY
    return Reason.F_NO_ROOM if contents(state, box) >= CONTAINER_ROOM else Reason.OK


@kernel
def why_not_open(tables, state, i, p, verb):
    """Opening a closed place needs a free hand, except for the goal place if the rules allow it."""
    known = state.know_places[i, p]
    if state.places[p, Place.KIND] != Kind.CONTAINER or known == KnownPlace.UNKNOWN:
        return Reason.F_UNKNOWN
    if not is_near(state, i, p, tables.params[Param.REACH]):
        return Reason.F_TOO_FAR
    if verb == Verb.CLOSE:
        return Reason.OK if known == KnownPlace.OPEN else Reason.F_NOT_OPEN
    if known == KnownPlace.OPEN:
        return Reason.F_NOT_CLOSED
    exempt = tables.params[Param.AUTO_OPEN] == 1 and p == state.world[World.GOAL]
    return Reason.F_HANDS_FULL if free_hand(state.agents[i]) == NOTHING and not exempt else Reason.OK


@kernel
def why_not_walk(state, i, p):
    """Agents can walk to rooms and known places other than their own."""
    if state.know_places[i, p] == KnownPlace.UNKNOWN:
        return Reason.F_UNKNOWN
    return Reason.F_THERE if path_to(state, i, p) == 0 else Reason.OK


@kernel
def why_not_take(tables, state, i, o, verb):
    """Agents can walk to things that they have seen, and take them if they are near and not in a closed container."""
    place = max(state.know_things[i, o, Belief.PLACE], 0)
    if verb == Verb.WALK_TO:
        known = state.know_things[i, o, Belief.STATUS] == Known.SEEN
        return why_not_walk(state, i, place) if known else Reason.F_UNKNOWN
    reason = why_not_grab(state, i, o)
    if reason != Reason.OK:
        return reason
    if not is_near(state, i, place, tables.params[Param.REACH]):
        return Reason.F_TOO_FAR
    return Reason.OK if state.know_places[i, place] == KnownPlace.OPEN else Reason.F_NOT_OPEN


@kernel
def why_not_primitive(tables, state, i, verb, arg):
    """A primitive action is accepted unless the agent's knowledge rules it out."""
    reach = tables.params[Param.REACH]
    if verb == Verb.WALK:
        return why_not_walk(state, i, arg)
    if verb == Verb.WALK_TO or verb == Verb.GRAB:
        return why_not_take(tables, state, i, arg, verb)
    if verb == Verb.OPEN or verb == Verb.CLOSE:
        return why_not_open(tables, state, i, arg, verb)
    if verb == Verb.PUT or verb == Verb.PUT_AT:
        hand = arg if verb == Verb.PUT else full_hand(state.agents[i])
        if hand == NOTHING or state.agents[i, Agent.LEFT_HAND + hand] == NOTHING:
            return Reason.F_HANDS_EMPTY
        if verb == Verb.PUT:
            return why_not_put(state, i, state.world[World.GOAL], tables.params[Param.PUT_REACH])
        return why_not_put(state, i, arg, reach)
    if verb == Verb.PUT_IN:
        return why_not_put_in(state, i)
    done = state.know_rooms[i, room_of(state, i)] == KnownRoom.ALL
    return Reason.F_NO_USE if verb == Verb.LOOK and done else Reason.OK


@kernel
def why_not_plan(state, i, verb, arg):
    """A sub-plan is accepted if the agent knows its target and has the hands for it."""
    room = room_of(state, i)
    if verb == Verb.GO:
        return Reason.F_THERE if arg == room else Reason.OK
    if verb == Verb.EXPLORE:
        return Reason.F_NO_USE if state.know_rooms[i, room] == KnownRoom.ALL else Reason.OK
    if verb == Verb.FETCH:
        return why_not_grab(state, i, arg)
    if verb == Verb.DELIVER:
        if full_hand(state.agents[i]) == NOTHING:
            return Reason.F_HANDS_EMPTY
        known = state.know_places[i, state.world[World.GOAL]]
        return Reason.F_UNKNOWN if known == KnownPlace.UNKNOWN else Reason.OK
    if state.know_places[i, arg] == KnownPlace.UNKNOWN:
        return Reason.F_UNKNOWN
    if state.know_places[i, arg] != KnownPlace.CLOSED or arg == state.world[World.GOAL]:
        return Reason.F_NO_USE
    return Reason.F_HANDS_FULL if free_hand(state.agents[i]) == NOTHING else Reason.OK


@kernel
def why_refused(tables, state, i, action):
    """Actions of idle agents are refused by the agent's own knowledge; an agent cannot speak twice in a row."""
    verb = tables.catalogue[tables.levels[i], action, Row.VERB]
    arg = tables.catalogue[tables.levels[i], action, Row.ARG]
    if verb == NOTHING:
        return Reason.F_NO_ACTION
    if verb == Verb.WAIT:
        return Reason.OK
    if verb == Verb.SAY:
        if tables.params[Param.PAID_TALK] == 0:
            return Reason.F_NO_USE
        return Reason.F_SPOKE if state.agents[i, Agent.SPOKE] == 1 else Reason.OK
    if verb < Verb.SAY:
        return why_not_primitive(tables, state, i, verb, arg)
    return why_not_plan(state, i, verb, arg)


# ------------------------------------------------------------------------------------------- what actions do


@kernel
def walk(state, i, p, width):
    """Walking takes one step on a shortest path: the first of north, south, east and west that is on one.

    Mutates: state.agents.
    """
    cell, dist = state.agents[i, Agent.CELL], state.dist
    for beside in (cell - width, cell + width, cell + 1, cell - 1):
        if 0 <= beside < dist.shape[0] and 0 <= dist[beside, p] < dist[cell, p]:
            state.agents[i, Agent.CELL] = beside
            return


@kernel
def grab(state, i, o):
    """An agent takes a thing from its believed place if it is there. Mutates: state."""
    place = state.know_things[i, o, Belief.PLACE]
    there = state.things[o, Thing.REL] == Rel.AT and state.things[o, Thing.PARENT] == place
    hand = free_hand(state.agents[i])
    if not there or hand == NOTHING:
        return Reason.F_GONE
    if state.places[place, Place.KIND] == Kind.CONTAINER and state.places[place, Place.OPEN] == 0:
        return Reason.F_NOT_OPEN
    state.agents[i, Agent.LEFT_HAND + hand] = o
    state.things[o, Thing.REL] = Rel.HELD
    state.things[o, Thing.PARENT] = i
    state.places[place, Place.FREE] += 1
    return Reason.OK


@kernel
def put(tables, state, i, hand, p):
    """A held thing is put down at a place; at the bed, it is delivered with its contents. Mutates: state."""
    o = state.agents[i, Agent.LEFT_HAND + hand]
    if state.places[p, Place.KIND] == Kind.CONTAINER and state.places[p, Place.OPEN] == 0:
        return Reason.F_NOT_OPEN
    if state.places[p, Place.FREE] <= 0:
        return Reason.F_NO_ROOM
    state.agents[i, Agent.LEFT_HAND + hand] = NOTHING
    stays = state.places[p, Place.KIND] == Kind.BED
    if stays and state.things[o, Thing.ROLE] == Role.CONTAINER:
        stays = tables.params[Param.LOST] == 1
        empty_out(state, o, p)
    state.things[o, Thing.REL] = Rel.DELIVERED if stays else Rel.AT
    state.things[o, Thing.PARENT] = p
    state.places[p, Place.FREE] -= 1
    return Reason.OK


@kernel
def empty_out(state, box, p):
    """The contents of a delivered container are delivered with it. Mutates: state.things."""
    for o in range(state.things.shape[0]):
        if state.things[o, Thing.REL] == Rel.INSIDE and state.things[o, Thing.PARENT] == box:
            state.things[o, Thing.REL] = Rel.DELIVERED
            state.things[o, Thing.PARENT] = p


@kernel
def put_in(state, i):
    """A held thing goes into the container in the other hand. Mutates: state."""
    box, o = held_of_role(state, i, Role.CONTAINER), held_of_role(state, i, Role.TARGET)
    hand = 0 if state.agents[i, Agent.LEFT_HAND] == o else 1
    state.agents[i, Agent.LEFT_HAND + hand] = NOTHING
    state.things[o, Thing.REL] = Rel.INSIDE
    state.things[o, Thing.PARENT] = box
    return Reason.OK


@kernel
def set_open(state, p, verb):
    """A container is opened or closed, unless a teammate already did. Mutates: state.places."""
    target = 1 if verb == Verb.OPEN else 0
    if state.places[p, Place.OPEN] == target:
        return Reason.F_NOT_CLOSED if target == 1 else Reason.F_NOT_OPEN
    state.places[p, Place.OPEN] = target
    return Reason.OK


@kernel
def settle_conflicts(state):
    """If several agents handle the same thing in the same tick, a random one succeeds; the others lose the time.

    Mutates: state.agents, whose losers' verb becomes NOTHING, state.rng.
    """
    for i in range(state.agents.shape[0]):
        winner, count = i, 1
        for j in range(i + 1, state.agents.shape[0]):
            if are_rivals(state, winner, j):
                count += 1
                loser = j
                if draw_below(state.rng, count) == 0:
                    loser, winner = winner, j
                state.agents[loser, Agent.VERB] = NOTHING


@kernel
def are_rivals(state, i, j):
    """Agents conflict if they take the same thing, or open or close the same container, in the same tick."""
    one, other = state.agents[i], state.agents[j]
    if one[Agent.LEFT] != 0 or other[Agent.LEFT] != 0 or one[Agent.ARG] != other[Agent.ARG]:
        return False
    takes = one[Agent.VERB] == Verb.GRAB and other[Agent.VERB] == Verb.GRAB
    opens_or_closes = is_opening_or_closing(one) and is_opening_or_closing(other)
    return takes or opens_or_closes


@kernel
def is_opening_or_closing(agent):
    """Only opening and closing can conflict over a container."""
    return agent[Agent.VERB] == Verb.OPEN or agent[Agent.VERB] == Verb.CLOSE


@kernel
def count_goals(state):
    """Goal things at the goal place count up to the number needed. Mutates: state.goals."""
    goals, total = state.goals, 0
    goals[:, Goal.HAVE] = 0
    for o in range(state.things.shape[0]):
        rel, parent = state.things[o, Thing.REL], state.things[o, Thing.PARENT]
        if rel == Rel.DELIVERED or (rel == Rel.AT and parent == state.world[World.GOAL]):
            for g in range(goals.shape[0]):
                if goals[g, Goal.CLASS] == state.things[o, Thing.CLASS] and goals[g, Goal.HAVE] < goals[g, Goal.NEED]:
                    goals[g, Goal.HAVE] += 1
                    total += 1
    return total
