"""Policies of the household games that choose sub-plans: greedy, by rules, by tree search, or omniscient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.io.structs import Positive
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.policies.api import AgentView, EnvInfo, Policy, PolicyBase, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions

from ..engine.constants import (
    CONTAINER_ROOM,
    HANDS,
    NOTHING,
    Agent,
    GameKind,
    Goal,
    Kind,
    Param,
    Place,
    Rel,
    Role,
    Thing,
    Verb,
    World,
)
from ..engine.state import State

Scene = Mapping[str, Any]


class SubPlans:
    """The valid sub-plans of a state: action ``ids`` by argument, by verb, of rows of verb and argument by id."""

    def __init__(self, rows: Sequence[Sequence[int]], mask: np.ndarray) -> None:
        self.ids: dict[Verb, dict[int, int]] = {verb: {} for verb in Verb}
        for action in np.flatnonzero(mask).tolist():
            verb, arg = rows[action]
            self.ids[Verb(verb)][arg] = action

    def id(self, verb: Verb, arg: int = 0) -> int | None:
        """Return the action of a sub-plan, None if it is not accepted now."""
        return self.ids[verb].get(arg)

    def to_things(self, scene: Scene) -> dict[int, int]:
        """Return the actions that lead to known things, by thing: things that a seat was only told of must be found."""
        if len(held(scene)) == HANDS:
            return {}
        found = dict(self.ids[Verb.FETCH])
        for o, thing in scene["things"].items():
            if thing["status"] != "seen" or thing["role"] != "target" or o in found:
                continue
            for verb, arg in ((Verb.CHECK, thing["place"]), (Verb.GO, thing["room"]), (Verb.EXPLORE, 0)):
                action = self.id(verb, arg)
                if action is not None:
                    found[o] = action
                    break
        return found

    def to_unseen(self, scene: Scene) -> dict[int, int]:
        """Return the actions that go to rooms that are not known whole, by room, the nearest first."""
        return {r: self.ids[Verb.GO][r] for r in unseen_rooms(scene) if r in self.ids[Verb.GO]}


class SubPlanPolicy(PolicyBase):
    """Base of policies that choose among sub-plans from the knowledge of their seat.

    The ``intent`` is the number of the sub-plan chosen last.
    """

    name = ""
    intent: int | None = None

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        tables: Any = getattr(getattr(info.game, "compiled", None), "tables", None)
        if not hasattr(tables, "catalogue") or not hasattr(tables, "furniture"):
            raise ValueError(f"policy {self.name!r} plays the household games only, not {info.game.id}")
        if tables.levels[seat] != Level.MEDIUM:
            raise ValueError(f"policy {self.name!r} plays by sub-plans; its seat needs action_level=medium")
        self.seat = seat
        self.tables = tables
        self.game = info.game
        self.is_transport = tables.params[Param.GAME] == GameKind.TRANSPORT
        self.rows = tables.catalogue[Level.MEDIUM].tolist()
        self.rng = np.random.default_rng([seed, seat])

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:
            return seen.idle_action
        self.intent = chosen = self.choose(seen.scene, SubPlans(self.rows, seen.mask))
        return seen.idle_action if chosen is None else chosen

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        raise NotImplementedError

    def is_late(self, scene: Scene, cells: int) -> bool:
        """Return whether held things must be brought to the goal place now, given its distance in cells."""
        left = scene["limit"] - scene["tick"] - (RESERVE if self.is_transport else 2)
        return bool(left <= cells * self.tables.cost[Verb.WALK] + 2 * self.tables.cost[Verb.PUT] + 2)

    def any_of(self, ids: Mapping[int, int]) -> int | None:
        """Return a random action, uniformly; None if there are none."""
        return int(self.rng.choice(list(ids.values()))) if ids else None


def held(scene: Scene) -> list[int]:
    """Return the things in the hands."""
    return [o for o in scene["me"]["hands"] if o is not None]


def has_container(scene: Scene) -> bool:
    """Tell whether a container is held."""
    return any(scene["things"][o]["role"] == "container" for o in held(scene))


def is_full(scene: Scene) -> bool:
    """Tell whether both hands, and a held container, are full."""
    if has_container(scene) and len(scene["me"]["inside"]) < CONTAINER_ROOM:
        return False
    return len(held(scene)) == 2


def still_wanted(scene: Scene) -> dict[str, int]:
    """Return the number of missing things by kind; things seen at the goal place or held by the seat do not count."""
    carried = [scene["things"][o]["name"] for o in (*held(scene), *scene["me"]["inside"])]
    counts = {goal["name"]: goal["need"] - goal["seen"] - carried.count(goal["name"]) for goal in scene["goals"]}
    return {name: count for name, count in counts.items() if count > 0}


def unseen_rooms(scene: Scene) -> list[int]:
    """Return the rooms that are not known whole, the nearest first."""
    rooms = [r for r, room in enumerate(scene["rooms"]) if room["known"] != "all"]
    return sorted(rooms, key=lambda r: scene["rooms"][r]["way"])


RESERVE = 60  # ticks that are kept for surprises on the way home in Transport


class Greedy(SubPlanPolicy):
    """Pursues the nearest goal; returns to the goal place with full hands, late, or with no other work left."""

    name = "greedy"

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        deliver, goal = plans.id(Verb.DELIVER), scene["places"].get(scene["goal"]["place"])
        if deliver is not None and (self.is_late(scene, goal["way"] if goal else 60) or is_full(scene)):
            return deliver
        into = plans.id(Verb.PUT_IN)
        if into is not None and still_wanted(scene):
            return into
        fetch = self.nearest_thing(scene, plans)
        if fetch is not None:
            return fetch
        if deliver is not None and (len(held(scene)) == 2 or not still_wanted(scene)):
            return deliver
        looked = self.look_further(scene, plans)
        if looked is None:
            looked = self.any_of(plans.ids[Verb.GO]) if deliver is None and still_wanted(scene) else deliver
        return looked

    def nearest_thing(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return the sub-plan to fetch the nearest goal thing; in Transport, possibly a container first."""
        missing = still_wanted(scene)
        things = scene["things"]
        ways = plans.to_things(scene)
        known = [o for o in ways if things[o]["name"] in missing and things[o]["role"] == "target"]
        boxes = [o for o in plans.ids[Verb.FETCH] if things[o]["role"] == "container"]
        if boxes and not has_container(scene) and sum(missing.values()) > 2 and scene["tick"] < scene["limit"] // 2:
            box = min(boxes, key=lambda o: things[o]["way"])
            if not known or things[box]["way"] <= things[min(known, key=lambda o: things[o]["way"])]["way"]:
                known = [box]
        best = min(known, key=lambda o: things[o]["way"], default=None)
        return None if best is None else ways[best]

    def look_further(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return the sub-plan to explore this room, the nearest container, or the nearest unknown room, if any."""
        explore = plans.id(Verb.EXPLORE)
        if explore is not None:
            return explore
        options = [(scene["places"][p]["way"], action) for p, action in plans.ids[Verb.CHECK].items()]
        options += [(scene["rooms"][r]["way"], action) for r, action in plans.to_unseen(scene).items()]
        return min(options)[1] if options else None


LAST_TRIP, LAST_CONTAINER = 700, 1400  # frames before the end


class RulePlanner(SubPlanPolicy):
    """Goes to a random known thing of the kind that its rules ask for, or to a random unexplored room."""

    name = "rhp"

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        into = plans.id(Verb.PUT_IN)
        if into is not None:
            return into
        role = self.wanted_role(scene)
        if role == "bed":
            deliver = plans.id(Verb.DELIVER)
            return self.wander(scene, plans) if deliver is None else deliver
        things = scene["things"]
        known = {o: action for o, action in plans.to_things(scene).items() if things[o]["role"] == role}
        return self.any_of(known) if known else self.wander(scene, plans)

    def wanted_role(self, scene: Scene) -> str:
        """Return the role that the first matching rule asks for: ``"bed"``, ``"container"`` or ``"target"``."""
        left, carried = scene["limit"] - scene["tick"], held(scene)
        if carried and left < LAST_TRIP:
            return "bed"
        with_mates = sum(thing["status"] == "mate" for thing in scene["things"].values())
        if carried and sum(still_wanted(scene).values()) <= with_mates:
            return "bed"
        if has_container(scene):
            return "bed" if len(scene["me"]["inside"]) >= CONTAINER_ROOM else "target"
        if len(carried) == 2:
            return "bed"
        return "container" if left > LAST_CONTAINER else "target"

    def wander(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return a step towards a place that is not known yet: this room's rest, or a random room."""
        explore = plans.id(Verb.EXPLORE)
        unknown = plans.to_unseen(scene)
        if explore is not None and (not unknown or self.rng.random() < 1 / (1 + len(unknown))):
            return explore
        return self.any_of(unknown or plans.ids[Verb.GO])


WALK, CROSS, HANDLE = 1.0, 0.5, 0.05  # costs: to a thing, for another room, for opening, taking and putting
BASE, BONUS = 1e6, 0.1  # of the exploration term


class Subgoal(NamedTuple):
    """A thing to bring: its class, and where it is or is believed to be."""

    name: str  # Class
    kind: str  # ``"thing"``, ``"place"`` (an unchecked container) or ``"room"``
    number: int  # Of thing, place or room
    room: int  # Where that is


@dataclass(frozen=True)
class SearchOptions(PolicyOptions):
    """Size of the search."""

    simulations: Positive = 100  # Simulations of a decision
    depth: Positive = 5  # Subgoals that a simulation looks ahead


class MonteCarloPlanner(SubPlanPolicy):
    """Searches the order of subgoals, and keeps to a subgoal until it is reached or refuted."""

    name = "mhp"
    options_class = SearchOptions

    def __init__(self, options: SearchOptions | None = None) -> None:
        self.options = options or SearchOptions()
        self.team: tuple[Policy, ...] = ()
        self.subgoal: Subgoal | None = None

    def join(self, team: tuple[Policy, ...]) -> None:
        """Read the subgoals of teammates of the same kind, as the published pair does."""
        self.team = team

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self.subgoal = None

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        if held(scene):  # what is in the hand comes first
            self.subgoal = None
            deliver = plans.id(Verb.DELIVER)
            return self.explore(scene, plans) if deliver is None else deliver
        candidates = self.candidates(scene)
        if self.subgoal not in candidates:
            self.subgoal = self.search(scene, candidates) if candidates else None
        if self.subgoal is None:
            return self.explore(scene, plans)
        if self.subgoal.kind == "thing":
            action = plans.to_things(scene).get(self.subgoal.number)
        else:
            action = plans.id(Verb.CHECK if self.subgoal.kind == "place" else Verb.GO, self.subgoal.number)
        return self.explore(scene, plans) if action is None else action

    def explore(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return a random action that explores unknown places."""
        look = plans.id(Verb.EXPLORE)
        if look is not None:
            return look
        return self.any_of(plans.to_unseen(scene) or plans.ids[Verb.CHECK] or plans.ids[Verb.GO])

    def candidates(self, scene: Scene) -> list[Subgoal]:
        """Return the possible subgoals: only visible things if there are any; mates' subgoals come last."""
        missing = {goal["name"]: goal["need"] - goal["seen"] for goal in scene["goals"] if goal["need"] > goal["seen"]}
        things = scene["things"].items()
        seen = [
            Subgoal(thing["name"], "thing", o, thing["room"])
            for o, thing in things
            if thing["status"] == "seen" and thing["name"] in missing and thing["role"] == "target"
        ]
        mates = [getattr(policy, "player", policy) for policy in self.team]
        planners = [mate for mate in mates if isinstance(mate, MonteCarloPlanner) and mate is not self]
        taken = [mate.subgoal for mate in planners if mate.subgoal]
        others = [thing["name"] for _, thing in things if thing["status"] == "mate"]
        others += [subgoal.name for subgoal in taken]
        free = {name: count - others.count(name) for name, count in missing.items()}
        visible = [subgoal for subgoal in seen if subgoal.room == scene["me"]["room"] and subgoal not in taken]
        known = [subgoal for subgoal in visible or seen if free[subgoal.name] > 0 and subgoal not in taken]
        if known and visible:
            return known
        hidden = self.hiding_places(scene, [name for name, count in free.items() if count > 0])
        subgoals = known + [place for place in hidden if place not in taken]
        last_resort = (*seen, *self.hiding_places(scene, missing))  # also of classes that mates are believed to bring
        return subgoals or [place for place in last_resort if place not in taken]

    def hiding_places(self, scene: Scene, names: Iterable[str]) -> list[Subgoal]:
        """Return possible places of things of some classes: unchecked containers and unvisited rooms."""
        goal, places = scene["goal"]["place"], scene["places"].items()
        spots = [("place", p, place["room"]) for p, place in places if place["state"] == "closed" and p != goal]
        spots += [("room", r, r) for r in unseen_rooms(scene)]
        return [Subgoal(name, *spot) for name in names for spot in spots]

    def search(self, scene: Scene, candidates: list[Subgoal]) -> Subgoal:
        """Return the subgoal with the most simulations."""
        names = sorted({candidate.name for candidate in candidates})
        by_name: dict[str, list[int]] = {name: [] for name in names}
        for k, candidate in enumerate(candidates):
            by_name[candidate.name].append(k)
        root = _Node()
        for _ in range(self.options.simulations):
            sample = self.sample(candidates, by_name)
            self.simulate(scene, candidates, sample, root)
        return candidates[max(root.children, key=lambda k: (root.children[k].visits, -k))]

    def sample(self, candidates: list[Subgoal], by_name: dict[str, list[int]]) -> list[int]:
        """Sample a belief: all seen things, and one hiding place for each unseen class."""
        chosen = []
        for numbers in by_name.values():
            seen = [k for k in numbers if candidates[k].kind == "thing"]
            chosen += seen or [numbers[int(self.rng.integers(len(numbers)))]]
        return chosen

    def simulate(self, scene: Scene, candidates: list[Subgoal], sample: list[int], root: _Node) -> None:
        """Simulate subgoals, chosen by the tree and at random beyond it, and back up their value."""
        goal = scene["places"].get(scene["goal"]["place"])
        home = goal["room"] if goal else scene["me"]["room"]
        room = scene["me"]["room"]
        node = root
        path = [root]
        value = 0.0
        left = list(sample)
        in_tree = True
        for _ in range(min(self.options.depth, len(left))):
            if in_tree:
                k = node.select(left, self.rng)
                in_tree = k in node.children
                node = node.children.setdefault(k, _Node())
                path.append(node)
            else:
                k = left[int(self.rng.integers(len(left)))]
            left.remove(k)
            value += 1.0 - cost_of(candidates[k], room, home)
            room = home
        for node in path:
            node.visits += 1
            node.total += value


def cost_of(subgoal: Subgoal, room: int, home: int) -> float:
    """Return the cost of a subgoal from a room, with the goal place in the room ``home``."""
    opening = HANDLE if subgoal.kind == "place" else 0.0
    there = WALK + CROSS * (subgoal.room != room) + opening + HANDLE
    return (there + WALK + CROSS * (home != subgoal.room) + HANDLE) / 4


class _Node:
    def __init__(self) -> None:
        self.visits, self.total = 0, 0.0
        self.children: dict[int, _Node] = {}

    def select(self, options: list[int], rng: np.random.Generator) -> int:
        """Return the option with the best mean and bonus; unvisited ones first, ties at random."""
        fresh = [k for k in options if k not in self.children]
        if fresh:
            return fresh[int(rng.integers(len(fresh)))]
        rate = (np.log((1 + self.visits + BASE) / BASE) + BONUS) / len(options) * np.sqrt(self.visits)
        scores: dict[int, Any] = {}
        for k in options:
            child = self.children[k]
            scores[k] = child.total / child.visits + rate / (1 + child.visits)
        best = max(scores.values())
        ties = [k for k, score in scores.items() if score == best]
        return ties[int(rng.integers(len(ties)))]


class FullInformationPlanner(SubPlanPolicy):
    """Gives every wanted thing to the agent that can bring it soonest, and does its own part: an upper bound.

    It reads the true state (``cheat``), unlike all other policies of these games. Its actions are limited by its seat's
    knowledge, so that hidden things must still be searched for before they can be taken.
    """

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
        late = self.is_late(scene, int(state.dist[0, cell, goal]))
        share = [] if len(carried) == HANDS else share_of(state, self.seat)
        if carried and (late or not share):
            return self.towards(state, plans, goal) if deliver is None else deliver
        return self.towards(state, plans, int(state.things[0, share[0], Thing.PARENT]), share[0]) if share else None

    def towards(self, state: State, plans: SubPlans, place: int, thing: int = NOTHING) -> int | None:
        """Return the next action towards a place or a thing there: take it, open its container, or find its room."""
        if thing != NOTHING and plans.id(Verb.FETCH, thing) is not None:
            return plans.id(Verb.FETCH, thing)
        for verb, arg in ((Verb.CHECK, place), (Verb.GO, int(state.places[0, place, Place.ROOM])), (Verb.EXPLORE, 0)):
            action = plans.id(verb, arg)
            if action is not None:
                return action
        return None


def share_of(state: State, seat: int) -> list[int]:
    """Return the things assigned to a seat, in order; the nearest pairs of agent and thing are assigned first.

    An agent's next way starts where its last thing lies; two things, then a way home, make a trip.
    """
    things = state.things[0]
    places = state.places[0]
    dist = state.dist[0]
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
