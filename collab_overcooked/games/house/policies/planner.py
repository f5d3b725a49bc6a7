"""Full-information planner, an upper bound: one plan for the whole team with knowledge of all positions.

It reads the true state (``cheat``), unlike all other policies of these games. Its actions are limited by its seat's
knowledge, so that hidden things must still be searched for before they can be taken.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.house.engine.constants import (
    HANDS,
    NOTHING,
    Agent,
    Goal,
    Kind,
    Place,
    Rel,
    Role,
    Thing,
    Verb,
    World,
)
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.games.house.policies.greedy import RESERVE
from collab_overcooked.games.house.policies.subplans import Scene, SubPlanPolicy, SubPlans, held
from collab_overcooked.policies.api import EnvInfo, simulator_of


class FullInformationPlanner(SubPlanPolicy):
    """Gives every wanted thing to the agent that can bring it soonest, and does its own part."""

    name = "planner"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self.simulator = simulator_of(info, self.name)

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        state = self.simulator.fork(1, 0, cheat=True).state
        carried, deliver = held(scene), plans.id(Verb.DELIVER)
        goal = int(state.world[0, World.GOAL])
        cell = state.agents[0, self.seat, Agent.CELL]
        home = self.ticks(int(state.dist[0, cell, goal])) + 2 * int(self.tables.cost[Verb.PUT]) + 2
        late = scene["limit"] - scene["tick"] - (RESERVE if self.is_transport else 2) <= home
        share = [] if len(carried) == HANDS else share_of(state, self.seat)
        if carried and (late or not share):
            return self.towards(state, plans, goal) if deliver is None else deliver
        return self.towards(state, plans, int(state.things[0, share[0], Thing.PARENT]), share[0]) if share else None

    def towards(self, state: State, plans: SubPlans, place: int, thing: int = NOTHING) -> int | None:
        """Return what brings a place, or a thing there, nearer: taking it, opening its container, finding its room."""
        if thing != NOTHING and plans.id(Verb.FETCH, thing) is not None:
            return plans.id(Verb.FETCH, thing)
        for verb, arg in ((Verb.CHECK, place), (Verb.GO, int(state.places[0, place, Place.ROOM])), (Verb.EXPLORE, 0)):
            action = plans.id(verb, arg)
            if action is not None:
                return action
        return None


def share_of(state: State, seat: int) -> list[int]:
    """Return the things that a seat is to bring, in order: the nearest pair of agent and thing is settled first.

    An agent's next way starts where its last thing lies; two things, then a way home, make a trip.
    """
    things, places, dist = state.things[0], state.places[0], state.dist[0]
    goal = int(state.world[0, World.GOAL])
    held_by = [
        [o for o in agent[Agent.LEFT_HAND : Agent.LEFT_HAND + HANDS] if o != NOTHING] for agent in state.agents[0]
    ]
    missing = {int(row[Goal.CLASS]): int(row[Goal.NEED] - row[Goal.HAVE]) for row in state.goals[0] if row[Goal.NEED]}
    for hands in held_by:
        for o in hands:
            missing[int(things[o, Thing.CLASS])] = missing.get(int(things[o, Thing.CLASS]), 0) - 1
    loose = [
        o
        for o in np.flatnonzero((things[:, Thing.REL] == Rel.AT) & (things[:, Thing.ROLE] == Role.TARGET)).tolist()
        if things[o, Thing.PARENT] != goal and places[things[o, Thing.PARENT], Place.KIND] != Kind.NONE
    ]
    cells, loads = state.agents[0, :, Agent.CELL].tolist(), [len(hands) for hands in held_by]
    spent, shares = [0.0] * len(cells), [list[int]() for _ in cells]
    while any(count > 0 for count in missing.values()):
        options = []
        for o in loose:
            if missing.get(int(things[o, Thing.CLASS]), 0) <= 0:
                continue
            p = int(things[o, Thing.PARENT])
            for i, cell in enumerate(cells):
                way = dist[cell, p] if loads[i] < HANDS else dist[cell, goal] + dist[places[p, Place.CELL], goal]
                options.append((spent[i] + float(way), i, o))
        if not options:
            break
        time, i, o = min(options)
        p = int(things[o, Thing.PARENT])
        loads[i] = 1 if loads[i] == HANDS else loads[i] + 1
        spent[i], cells[i] = time, int(places[p, Place.CELL])
        missing[int(things[o, Thing.CLASS])] -= 1
        loose.remove(o)
        shares[i].append(o)
    return shares[seat]
