"""MHP, the hierarchical planner of Watch-And-Help as C-WAH uses it: tree search over subgoals in a sampled belief.

A subgoal brings one thing of a wanted class to the goal place. A thing that was not seen is believed to be in any
unchecked container or unvisited room, all alike. The chosen subgoal is carried out by regression: find, take, bring.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.house.engine.constants import Verb
from collab_overcooked.games.house.policies.subplans import Scene, SubPlanPolicy, SubPlans, held, unseen_rooms
from collab_overcooked.policies.api import EnvInfo, Policy

WALK, CROSS, HANDLE = 1.0, 0.5, 0.05  # costs: to a thing, for another room, for opening, taking and putting
BASE, BONUS = 1e6, 0.1  # of the exploration term


class Subgoal(NamedTuple):
    """A thing to bring: its class, and where it is or is believed to be."""

    name: str  # Class
    kind: str  # ``"thing"``, ``"place"`` (an unchecked container) or ``"room"``
    number: int  # Of thing, place or room
    room: int  # Where that is


class MonteCarloPlanner(SubPlanPolicy):
    """Searches the order of subgoals, and keeps to a subgoal until it is reached or refuted.

    Args:
        simulations: Of a decision.
        depth: Subgoals that a simulation looks ahead.
    """

    name = "mhp"
    parameters = ("simulations", "depth")

    def __init__(self, simulations: int = 100, depth: int = 5) -> None:
        self.simulations, self.depth = simulations, depth
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
        verb = {"thing": Verb.FETCH, "place": Verb.CHECK, "room": Verb.GO}[self.subgoal.kind]
        action = plans.id(verb, self.subgoal.number)
        return self.explore(scene, plans) if action is None else action

    def explore(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return a random look at what is unknown."""
        look = plans.id(Verb.EXPLORE)
        if look is not None:
            return look
        rooms = {r: plans.ids[Verb.GO][r] for r in unseen_rooms(scene) if r in plans.ids[Verb.GO]}
        return self.any_of(rooms or plans.ids[Verb.CHECK] or plans.ids[Verb.GO])

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
        hidden = [place for name, count in free.items() if count > 0 for place in self.hiding_places(scene, name)]
        subgoals = known + [place for place in hidden if place not in taken]
        return subgoals or [place for place in (*seen, *self.last_resort(scene, missing)) if place not in taken]

    def hiding_places(self, scene: Scene, name: str) -> list[Subgoal]:
        """Return possible places of a thing of a class: unchecked containers and unvisited rooms."""
        goal = scene["goal"]["place"]
        closed = [
            Subgoal(name, "place", p, place["room"])
            for p, place in scene["places"].items()
            if place["state"] == "closed" and p != goal
        ]
        return closed + [Subgoal(name, "room", r, r) for r in unseen_rooms(scene)]

    def last_resort(self, scene: Scene, missing: dict[str, int]) -> list[Subgoal]:
        """Return searches for classes that mates are believed to bring."""
        return [place for name in missing for place in self.hiding_places(scene, name)]

    def search(self, scene: Scene, candidates: list[Subgoal]) -> Subgoal:
        """Return the first subgoal of most simulations."""
        names = sorted({candidate.name for candidate in candidates})
        by_name = {name: [k for k, other in enumerate(candidates) if other.name == name] for name in names}
        root = _Node()
        for _ in range(self.simulations):
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
        room, node, path, value, left, in_tree = scene["me"]["room"], root, [root], 0.0, list(sample), True
        for _ in range(min(self.depth, len(left))):
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
    """A node of the tree: visits and the sum of values, children by candidate."""

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
