"""Search for deliveries in Overcooked: joint plans of subtasks, found by beam search.

Players without a subtask choose one, a station at which their hands can do something, or none; the moves that subtasks
come to are chosen together, as in ``assignment``. Equal nodes are merged, and those are kept that have earned
most, where what is in pots, hands and on counters counts by how far it has come. Of nodes with the same things in the
same places later ones count less, so that the others differ in more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.structs import Positive
from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions
from collab_overcooked.policies.search.beam import Beam, Notes, rank_in_group
from collab_overcooked.policies.search.plan_search import Plan, PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork, Simulator

from ..engine.constants import (
    FIRST_INGREDIENT,
    HAND_END,
    MAX_INGREDIENTS,
    NOTHING,
    Action,
    Clock,
    Item,
    Player,
    Terrain,
    Thing,
)
from ..engine.rules import count_ingredients, is_idle, is_ready, needed_work
from .distances import FAR, Distances, fill_field, locate, shut
from .greedy import assigner
from .joint_moves import Moves, move_together, send
from .kitchen import DISH, INTERACT, SOUP, STAY, Array, Goal, Station, TeamView, answers, can_act, faces, stores

# What things are worth, in thousandths of a soup delivered.
SERVED = 1000
POTTED = 110
COOKING = 420
COOKED = 260  # more when it is ready, in equal parts for each step
LOADED = 800
CARRIED = 45  # an ingredient or dish in hand, as long as it can be of use
LYING = 30  # the same on a counter
PREPARED = 30  # more for an ingredient that needs preparation, in equal parts for its work
PER_STEP = 4  # less for each step to the next station
MAX_STEPS = 60  # steps, at most, that count
UNDECIDED = 5  # steps for which having no subtask counts


@kernel
def evaluate_states(kitchens, open_distances, state, goals, worth):
    """Evaluate every node, in thousandths of the best soup. Mutates: worth (C,)."""
    for c in range(worth.shape[0]):
        env, k = row_at(state, c), state.clock[c, Clock.LAYOUT]
        kitchen = row_at(kitchens, k)
        stations = kitchen.stations
        total = SERVED * env.clock[Clock.SCORE] // max(kitchen.best[0], 1)
        ingredients, dishes = 0, 0  # of which more can be of use
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.POT:
                pot = env.cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]]
                total += heuristic_pot(kitchen, pot)
                ingredients += 2 * MAX_INGREDIENTS - count_ingredients(pot[Thing.SOUP])
                dishes += count_ingredients(pot[Thing.SOUP]) > 1
        for i in range(env.players.shape[0]):
            hand, s = env.players[i, Player.HAND : HAND_END], goals[c, i, Goal.STATION]
            cell = kitchen.floor[env.players[i, Player.Y], env.players[i, Player.X]]
            steps = min(open_distances[k, s, cell], MAX_STEPS) if s != NOTHING else UNDECIDED
            total += heuristic_thing(kitchen, hand, 0, ingredients, dishes) - PER_STEP * steps
            dishes -= hand[Thing.ITEM] == DISH
            ingredients -= hand[Thing.ITEM] >= FIRST_INGREDIENT
        for s in range(stations.shape[0]):
            if stores(stations[s, Station.TERRAIN]):
                thing = env.cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]]
                total += heuristic_thing(kitchen, thing, CARRIED - LYING, ingredients, dishes)
                dishes -= thing[Thing.ITEM] == DISH
                ingredients -= thing[Thing.ITEM] >= FIRST_INGREDIENT
        worth[c] = total


@kernel
def heuristic_thing(kitchen, thing, less, ingredients, dishes):
    """Return the value of a thing in a hand, or a smaller one on a counter; unneeded things have value 0."""
    if thing[Thing.ITEM] == SOUP:
        return (LOADED - 6 * less) * kitchen.values[thing[Thing.SOUP]] // max(kitchen.best[0], 1)
    if thing[Thing.ITEM] == Item.NONE or (dishes if thing[Thing.ITEM] == DISH else ingredients) <= 0:
        return 0
    needed = needed_work(thing[Thing.ITEM], kitchen.prepare)
    done = PREPARED * thing[Thing.TICK] // needed if needed > 0 else 0
    return CARRIED - less + done


@kernel
def heuristic_pot(kitchen, pot):
    """Return the worth of a pot: by its ingredients until it cooks, then more and more until it is ready."""
    if pot[Thing.ITEM] == Item.NONE:
        return 0
    soup, top = pot[Thing.SOUP], max(kitchen.best[0], 1)
    if is_idle(pot):
        return POTTED * count_ingredients(pot[Thing.SOUP]) * kitchen.best[soup] // top
    if is_ready(pot, kitchen.times):
        return (COOKING + COOKED) * kitchen.values[soup] // top
    time = max(kitchen.times[soup], 1)
    return (COOKING + COOKED * pot[Thing.TICK] // time) * kitchen.values[soup] // top


MAX_SUBTASKS = 16  # maximum number that a player chooses from
COUNTERS = 4  # of these, nearest empty counters
JOINT = 48  # joint subtasks tried from one node
PATIENCE = 3  # steps that a player is blocked before it chooses anew


@kernel
def can_use(kitchen, cells, s, hand):
    """Return whether hands can do something at a station now, or as soon as its soup is ready."""
    terrain = kitchen.stations[s, Station.TERRAIN]
    if terrain == NOTHING:
        return False
    if terrain == Terrain.POT and hand[Thing.ITEM] == Item.DISH:
        pot = cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]]
        return pot[Thing.ITEM] == Item.SOUP and not is_idle(pot)
    return answers(kitchen, cells, s, hand)


@kernel
def list_subtasks(kitchen, open_distances, env, i, options):
    """List where a player can do something: none first, then all stations, but of empty counters only the nearest.

    Mutates: options, with the number of subtasks in the last place.
    """
    stations = kitchen.stations
    hand = env.players[i, Player.HAND : HAND_END]
    count = 1
    counters = 0
    cell = kitchen.floor[env.players[i, Player.Y], env.players[i, Player.X]]
    options[0] = NOTHING
    for s in range(stations.shape[0]):
        putting_down = stations[s, Station.TERRAIN] == Terrain.COUNTER and hand[Thing.ITEM] != Item.NONE
        if putting_down or count >= MAX_SUBTASKS - COUNTERS or open_distances[s, cell] >= FAR:
            continue
        if can_use(kitchen, env.cells, s, hand):
            options[count] = s
            count += 1
    reach = 1
    while hand[Thing.ITEM] != Item.NONE and reach < FAR:
        following = FAR
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] != Terrain.COUNTER or open_distances[s, cell] < reach:
                continue
            if not can_use(kitchen, env.cells, s, hand):
                continue
            if open_distances[s, cell] > reach:
                following = min(following, open_distances[s, cell])
            elif counters < COUNTERS:
                options[count] = s
                count += 1
                counters += 1
        reach = following if counters < COUNTERS else FAR
    options[MAX_SUBTASKS] = count


@kernel
def make_children(kitchens, open_distances, state, goals, options, parents, chosen):
    """Players without a subtask try all of theirs, jointly with the others; where these are too many, some of them.

    Mutates: options, parents, chosen.

    Returns:
        Number of children.
    """
    n, count = goals.shape[1], 0
    for w in range(goals.shape[0]):
        env = row_at(state, w)
        k = state.clock[w, Clock.LAYOUT]
        total = 1
        for i in range(n):
            if goals[w, i, Goal.STATION] != NOTHING:
                options[i, 0] = goals[w, i, Goal.STATION]
                options[i, MAX_SUBTASKS] = 1
            else:
                list_subtasks(row_at(kitchens, k), open_distances[k], env, i, options[i])
            total *= options[i, MAX_SUBTASKS]
        stride = 1 + (total - 1) // JOINT
        for code in range((env.clock[Clock.T] + 7 * w) % stride, total, stride):
            if count == parents.shape[0]:
                return count
            rest = code
            for i in range(n):
                chosen[count, i] = 0
                chosen[count, i, Goal.STATION] = options[i, rest % options[i, MAX_SUBTASKS]]
                chosen[count, i, Goal.BLOCKED] = goals[w, i, Goal.BLOCKED]
                rest //= options[i, MAX_SUBTASKS]
            parents[count] = w
            count += 1
    return count


@kernel
def act_on_subtasks(kitchens, state, goals, team, distances, moves, actions):
    """Turn the subtasks of all nodes into joint primitive actions.

    Mutates: goals, team.turn, distances, moves, actions (C, N).
    """
    for c in range(actions.shape[0]):
        env, kitchen = row_at(state, c), row_at(kitchens, state.clock[c, Clock.LAYOUT])
        shortest_paths(kitchen, env, team.trust, distances, goals[c])
        team.turn[0] = 0
        for i in range(actions.shape[1]):
            s = goals[c, i, Goal.STATION]
            actions[c, i] = STAY
            if goals[c, i, Goal.BLOCKED] > 0 and c % 2 == 1:
                team.turn[0] = 1
            send(distances, goals[c], i, s, urgency(env.players[i, Player.HAND]) if s != NOTHING else 0)
            if s != NOTHING and can_act(kitchen, env, i, s):
                actions[c, i] = INTERACT
        move_together(kitchen, env, team, distances, goals[c], moves, actions[c])


@kernel
def urgency(item):
    """Return the rank of a player by its hand: soup, dishes, ingredients, and onions last."""
    if item == SOUP or item == DISH:
        return 5 if item == SOUP else 4
    return 1 if item == Item.NONE else 2 if item == Item.ONION else 3


@kernel
def shortest_paths(kitchen, env, trust, distances, goals):
    """Find the distances to the goals of all players, with gates as they are and with all of them open.

    Mutates: distances.here, distances.passable, distances.fields, distances.opened.
    """
    locate(kitchen, env.players, distances)
    closed = shut(kitchen, env.cells, trust, distances)
    passable = distances.passable
    neighbours = kitchen.neighbours
    for i in range(goals.shape[0]):
        s = goals[i, Goal.STATION]
        if s != NOTHING:
            fill_field(kitchen.stands[s], neighbours, passable, distances.fields[s], distances.queue)
    passable[:] = 1
    for i in range(goals.shape[0]):
        s = goals[i, Goal.STATION]
        if s != NOTHING and closed:
            fill_field(kitchen.stands[s], neighbours, passable, distances.opened[s], distances.queue)
        elif s != NOTHING:
            copy_numbers(distances.fields[s], distances.opened[s])


@kernel
def end_subtasks(kitchens, state, before, actions, goals):
    """A subtask ends when its player has acted, can do nothing there any more, or has been in a jam too long.

    Mutates: goals.
    """
    for c in range(actions.shape[0]):
        env, kitchen = row_at(state, c), row_at(kitchens, state.clock[c, Clock.LAYOUT])
        for i in range(actions.shape[1]):
            s = goals[c, i, Goal.STATION]
            player = env.players[i]
            goal = goals[c, i]
            if s == NOTHING:
                continue
            moved = player[Player.X] != before[c, i, Player.X] or player[Player.Y] != before[c, i, Player.Y]
            waits = not moved and actions[c, i] != INTERACT and not faces(player, kitchen.stations[s])
            goal[Goal.BLOCKED] = goal[Goal.BLOCKED] + 1 if waits else 0
            useful = can_use(kitchen, env.cells, s, player[Player.HAND : HAND_END])
            if actions[c, i] == INTERACT or goal[Goal.BLOCKED] > PATIENCE or not useful:
                goal[Goal.STATION] = NOTHING
                goal[Goal.BLOCKED] = 0


WIDTH = 1000  # nodes kept for a whole episode
REPLAN_WIDTH = 60  # nodes kept when a teammate left the plan
REPLAN_STEPS = 40  # steps that such a plan looks ahead
REPLAN_EVERY = 4  # steps between two of them
GROWTH = 6  # children made of a layer, as a multiple of the width
PLANS_KEPT = 256
CROWDING = 6  # less for each better node with the same things in the same places


class Search:
    """Finds joint plans for one game; remembers them, as every seat asks for the same one."""

    def __init__(self, game: FullGame, width: int) -> None:
        self.width, self.n = width, game.n_agents
        most, by = max(GROWTH * width, JOINT), assigner(game)
        self._beam = Beam(game, width, most)
        self._assigner = by
        self._kitchens = by.kitchens
        self._parents = np.zeros(most, np.int32)
        self._chosen = np.zeros((most, self.n, len(Goal)), np.int32)
        self._options = np.zeros((self.n, MAX_SUBTASKS + 1), np.int32)
        self._team = by.allocate(TeamView)
        self._distances = by.allocate(Distances)
        self._moves = by.allocate(Moves)
        self._open_distances = self._find_open_distances()
        cells = game.alloc(1)[0].cells[0].size
        self._salt = np.random.default_rng(0).integers(-(2**62), 2**62, 8 * self.n + cells + 1) | 1
        self._plans = PlanMemory(PLANS_KEPT)

    def _find_open_distances(self) -> Array:
        """Return the steps from every cell to facing every station with all gates open, int32 (K, S, F)."""
        kitchens, queue = self._kitchens, self._distances.queue
        passable = np.ones_like(self._distances.passable)
        open_distances = np.full((len(kitchens.stations), *self._distances.fields.shape), FAR, np.int32)
        for k, s in np.argwhere(kitchens.stations[..., Station.TERRAIN] != NOTHING).tolist():
            fill_field(kitchens.stands[k, s], kitchens.neighbours[k], passable, open_distances[k, s], queue)
        return open_distances

    def plan(self, root: Fork, steps: int) -> Plan:
        """Return the best joint plan found."""
        state = root.state
        key = b"".join(array[0].tobytes() for array in (state.players, state.cells, state.clock, state.changes)), steps
        plan: Plan = self._plans.recall(key, lambda: self._search(root, steps))
        return plan

    def _search(self, root: Fork, steps: int) -> Plan:
        start, self._kitchens = root.repeat([0]), self._assigner.kitchens_for(root.state)
        start.state.clock[:, Clock.OVER] = 0
        start.state.clock[:, Clock.LIMIT] = 1 << 30
        goals = np.zeros((1, self.n, len(Goal)), np.int32)
        goals[..., Goal.STATION] = NOTHING
        result = self._beam.search(self, start, (goals,), steps)
        scores = result.nodes.state.clock[:, Clock.SCORE]
        best = int(np.argmax(scores))  # nodes are sorted by worth: the first of equal ones
        actions = result.actions_to(best)
        return Plan(actions, name_states(root, actions, state_key), int(scores[best]))

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Players without a subtask choose one; notes are the goals of all players, int32 (C, N, Goal)."""
        where = self._kitchens, self._open_distances, nodes.state
        count = make_children(*where, notes[0], self._options, self._parents, self._chosen)
        return self._parents[:count], (self._chosen[:count],)

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step towards the subtasks, and end completed ones."""
        state, goals = children.state, notes[0]
        actions, before = np.zeros(goals.shape[:2], np.int32), state.players.copy()
        kitchens = state.clock[:, Clock.LAYOUT].copy()
        act_on_subtasks(self._kitchens, state, goals, self._team, self._distances, self._moves, actions)
        children.advance(actions)
        end_subtasks(self._kitchens, state, before, actions, goals)
        goals[state.clock[:, Clock.LAYOUT] != kitchens, :, Goal.STATION] = NOTHING  # stations are numbered anew
        return actions, notes

    def goal(self, children: Fork) -> int | None:
        """Return no goal: search up to the last step."""
        return None

    def score_children(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return all children with their worth, and hashes of the things and of the full state."""
        goals, state = notes[0], children.state
        worth = np.zeros(len(goals), np.int64)
        evaluate_states(self._kitchens, self._open_distances, state, goals, worth)
        hands = state.players[:, :, Player.HAND : HAND_END].reshape(len(goals), -1)
        places = state.players[:, :, : Player.HAND].reshape(len(goals), -1)
        things = np.concatenate([state.cells.reshape(len(goals), -1), hands], axis=1).astype(np.int64)
        kitchens = state.clock[:, Clock.LAYOUT : Clock.LAYOUT + 1]
        rest = np.concatenate([places, goals[..., Goal.STATION], kitchens], axis=1).astype(np.int64)
        alike = (things + 2) @ self._salt[: things.shape[1]]
        full = alike + (rest + 2) @ self._salt[-rest.shape[1] :]
        return np.arange(len(goals)), (worth, alike, full)

    def select(self, merits: Notes) -> Array:
        """Return the best nodes first, without duplicates and with a penalty for similar ones."""
        worth, alike, full = merits
        order = np.argsort(-worth, kind="stable")
        order = order[np.sort(np.unique(full[order], return_index=True)[1])]
        worth = worth[order] - CROWDING * rank_in_group(alike[order], -worth[order])
        return order[np.argsort(-worth, kind="stable")[: self.width]]


def state_key(state: Any) -> bytes:
    """Return players, cells, kitchen and order of environment 0 as bytes, which show whether a plan is followed."""
    clock = state.clock[0, [Clock.LAYOUT, Clock.RECIPE]]
    return bytes(state.players[0].tobytes() + state.cells[0].tobytes() + clock.tobytes())


search: Callable[[Any, int], Search] = lru_cache(maxsize=8)(Search)  # by game and width


def _primitive_game(game: Any) -> Any:
    if game.n_actions == len(Action):
        return game
    return registry.load_game(game.id, **{**game.kwargs, "action_level": PRIMITIVE})


primitive_game: Callable[[Any], Any] = lru_cache(maxsize=8)(_primitive_game)  # by game, made once


@dataclass(frozen=True)
class PlannerOptions(PolicyOptions):
    """Widths of the searches."""

    width: Positive = WIDTH  # Nodes kept per step of the plan for an episode
    replan: Positive = REPLAN_WIDTH  # Nodes kept when a plan was left


class PlannerPolicy(PolicyBase):
    """Plans the whole episode for all seats and plays its own part, assuming that teammates do the same.

    Where a teammate does something else, a short plan is made from there, and again every few steps.
    """

    name = "planner"
    options_class = PlannerOptions
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self.options = options or PlannerOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        assigner(info.game)  # refuses other games
        if info.game.levels[seat] != PRIMITIVE:  # type: ignore[attr-defined]
            raise ValueError("policy 'planner' plays Overcooked with primitive actions only (action_level)")
        game: Any = primitive_game(info.game)
        self._game, self._simulator = game.known_to(seat), simulator_of(info, self.name)
        self._plan: Plan | None = None
        self._start = 0

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return seen.idle_action
        now_only = Simulator(self._game, self._simulator.state, seen.seat)
        root = now_only.fork(1, 0)  # with primitive actions nothing is drawn, so that any seed will do
        left = int(root.state.clock[0, Clock.LIMIT] - root.state.clock[0, Clock.T])
        now = state_key(root.state)
        if self._plan is None:
            self._plan = search(self._game, self.options.width).plan(root, left)
            self._start = seen.timestep
        at = seen.timestep - self._start
        if not self._plan.is_followed(at, now) and (at >= len(self._plan.actions) or at % REPLAN_EVERY == 0):
            short = search(self._game, self.options.replan)
            self._plan = short.plan(root, min(REPLAN_STEPS, left))
            self._start = seen.timestep
            at = 0
        return int(self._plan.actions[at, seen.seat])
