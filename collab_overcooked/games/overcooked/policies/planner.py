"""Search for deliveries in Overcooked: joint plans of errands, found by beam search.

Players without an errand choose one, a station at which their hands can do something, or none; the moves that errands
come to are chosen together, as in ``task_assignment``. Equal nodes are merged, and those are kept that have earned
most, where what is in pots, hands and on counters counts by how far it has come. Of nodes with the same things in the
same places later ones count less, so that the others differ in more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.noisy import NoisyPolicy, noisy_from_text
from collab_overcooked.policies.search.beam import Beam, Notes, rank_in_group
from collab_overcooked.policies.search.plan_search import Plan, PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork, Simulator

from ..engine.constants import HAND_END, MAX_INGREDIENTS, NOTHING, Action, Clock, Item, Player, Terrain, Thing
from ..engine.rules import ingredients_in, is_idle, is_ready
from .assignment_arrays import DISH, FAR, INTERACT, SOUP, STAY, Array, Goal, Station, fill_field, make_scratch, shut
from .greedy import GreedyPolicy, assigner
from .joint_moves import can_act, faces, move_together, send, station_answers

# What things are worth, in thousandths of a soup delivered.
SERVED = 1000
POTTED = 110
COOKING = 420
COOKED = 260  # more when it is ready, in equal parts for each step
LOADED = 800
CARRIED = 45  # an ingredient or dish in hand, as long as it can be of use
LYING = 30  # the same on a counter
PER_STEP = 4  # less for each step to the next station
MAX_STEPS = 60  # steps, at most, that count
UNDECIDED = 5  # steps for which having no errand counts


@kernel
def appraise(tables, static, ways, players, cells, clock, goals, worth):
    """Say what every node is worth, in thousandths of the best soup. Mutates: worth (C,)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, values, times, best = static.stations[k], tables.values[k], tables.times[k], tables.best[k]
        top = max(best[0, 0], 1)
        total = SERVED * clock[c, Clock.SCORE] // top
        ingredients, dishes = 0, 0  # of which more can be of use
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.POT:
                pot = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_pot(pot, values, times, best, top)
                ingredients += 2 * MAX_INGREDIENTS - ingredients_in(pot)
                dishes += ingredients_in(pot) > 1
        for i in range(players.shape[1]):
            hand = players[c, i, Player.HAND : HAND_END]
            cell = tables.floor[k, players[c, i, Player.Y], players[c, i, Player.X]]
            steps = min(ways[k, goals[c, i], cell], MAX_STEPS) if goals[c, i] != NOTHING else UNDECIDED
            total += worth_of_thing(hand, 0, ingredients, dishes, values, top) - PER_STEP * steps
            dishes -= hand[Thing.ITEM] == DISH
            ingredients -= hand[Thing.ITEM] == Item.ONION or hand[Thing.ITEM] == Item.TOMATO
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.COUNTER:
                thing = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_thing(thing, CARRIED - LYING, ingredients, dishes, values, top)
                dishes -= thing[Thing.ITEM] == DISH
                ingredients -= thing[Thing.ITEM] == Item.ONION or thing[Thing.ITEM] == Item.TOMATO
        worth[c] = total


@kernel
def worth_of_thing(thing, less, ingredients, dishes, values, top):
    """Say what a thing in a hand is worth, or for less on a counter; what is not needed any more is worth nothing."""
    if thing[Thing.ITEM] == SOUP:
        return (LOADED - 6 * less) * values[thing[Thing.ONIONS], thing[Thing.TOMATOES]] // top
    if thing[Thing.ITEM] == Item.NONE or (dishes if thing[Thing.ITEM] == DISH else ingredients) <= 0:
        return 0
    return CARRIED - less


@kernel
def worth_of_pot(pot, values, times, best, top):
    """Say what a pot is worth: by its ingredients until it cooks, then more and more until it is ready."""
    if pot[Thing.ITEM] == Item.NONE:
        return 0
    onions, tomatoes = pot[Thing.ONIONS], pot[Thing.TOMATOES]
    if is_idle(pot):
        return POTTED * (onions + tomatoes) * best[onions, tomatoes] // top
    if is_ready(pot, times):
        return (COOKING + COOKED) * values[onions, tomatoes] // top
    time = max(times[onions, tomatoes], 1)
    return (COOKING + COOKED * pot[Thing.TICK] // time) * values[onions, tomatoes] // top


ERRANDS = 16  # maximum number that a player chooses from
COUNTERS = 4  # of these, nearest empty counters
JOINT = 48  # joint errands tried from one node
PATIENCE = 3  # steps that a player is blocked before it chooses anew


@kernel
def can_use(s, hand, stations, cells, times, params):
    """Return whether hands can do something at a station now, or as soon as its soup is ready."""
    terrain = stations[s, Station.TERRAIN]
    if terrain == NOTHING:
        return False
    if terrain == Terrain.POT and hand[Thing.ITEM] == Item.DISH:
        pot = cells[stations[s, Station.Y], stations[s, Station.X]]
        return pot[Thing.ITEM] == Item.SOUP and not is_idle(pot)
    return station_answers(s, hand, stations, cells, times, params)


@kernel
def list_errands(cell, hand, stations, cells, times, params, ways, options):
    """List where a player can do something: none first, then all stations, but of empty counters only the nearest.

    Mutates: options, with the number of errands in the last place.
    """
    count, counters = 1, 0
    options[0] = NOTHING
    for s in range(stations.shape[0]):
        putting_down = stations[s, Station.TERRAIN] == Terrain.COUNTER and hand[Thing.ITEM] != Item.NONE
        if putting_down or count >= ERRANDS - COUNTERS or ways[s, cell] >= FAR:
            continue
        if can_use(s, hand, stations, cells, times, params):
            options[count] = s
            count += 1
    reach = 1
    while hand[Thing.ITEM] != Item.NONE and reach < FAR:
        following = FAR
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] != Terrain.COUNTER or ways[s, cell] < reach:
                continue
            if not can_use(s, hand, stations, cells, times, params):
                continue
            if ways[s, cell] > reach:
                following = min(following, ways[s, cell])
            elif counters < COUNTERS:
                options[count] = s
                count += 1
                counters += 1
        reach = following if counters < COUNTERS else FAR
    options[options.shape[0] - 1] = count


@kernel
def make_children(tables, static, ways, players, cells, clock, goals, options, parents, chosen):
    """Players without an errand try all of theirs, jointly with the others; where these are too many, some of them.

    Returns:
        Number of children.
    """
    n, count = players.shape[1], 0
    for w in range(players.shape[0]):
        k, total = clock[w, Clock.LAYOUT], 1
        floor, stations, times = tables.floor[k], static.stations[k], tables.times[k]
        for i in range(n):
            if goals[w, i] != NOTHING:
                options[i, 0] = goals[w, i]
                options[i, ERRANDS] = 1
            else:
                cell = floor[players[w, i, Player.Y], players[w, i, Player.X]]
                hand = players[w, i, Player.HAND : HAND_END]
                list_errands(cell, hand, stations, cells[w], times, tables.params, ways[k], options[i])
            total *= options[i, ERRANDS]
        stride = 1 + (total - 1) // JOINT
        for code in range((clock[w, Clock.T] + 7 * w) % stride, total, stride):
            if count == parents.shape[0]:
                return count
            rest = code
            for i in range(n):
                chosen[count, i] = options[i, rest % options[i, ERRANDS]]
                rest //= options[i, ERRANDS]
            parents[count] = w
            count += 1
    return count


@kernel
def act_on_errands(tables, static, players, cells, clock, goals, blocked, trust, scratch, actions):
    """Turn the errands of all nodes into joint primitive actions. Mutates: scratch, actions (C, N)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, gates, neighbours, floor = static.stations[k], static.gates[k], tables.neighbours[k], tables.floor[k]
        times, turn = tables.times[k], 0
        for i in range(players.shape[1]):
            s = goals[c, i]
            scratch.goals[i] = 0
            scratch.goals[i, Goal.STATION] = s
            actions[c, i] = STAY
            turn = 1 if blocked[c, i] > 0 and c % 2 == 1 else turn
            if s == NOTHING:
                continue
            find_way(s, static.stands[k], stations, gates, neighbours, players[c], cells[c], floor, trust, scratch)
            cell = floor[players[c, i, Player.Y], players[c, i, Player.X]]
            send(i, s, players[c, i, Player.HAND] + 1, cell, scratch)
            if can_act(i, s, players[c], stations, cells[c], times, tables.params):
                actions[c, i] = INTERACT
        move_together(players[c], neighbours, stations, gates, floor, cells[c], turn, trust, scratch, actions[c])


@kernel
def find_way(s, stands, stations, gates, neighbours, players, cells, floor, trust, scratch):
    """Find the ways to one station, with gates as they are and with all of them open. Mutates: scratch."""
    closed = shut(stations, gates, floor, players, cells, trust, scratch.passable)
    fill_field(stands[s], neighbours, scratch.passable, scratch.fields[s], scratch.queue)
    if closed:
        scratch.passable[:] = 1
        fill_field(stands[s], neighbours, scratch.passable, scratch.opened[s], scratch.queue)
    else:
        copy_numbers(scratch.fields[s], scratch.opened[s])


@kernel
def end_errands(tables, static, players, before, cells, clock, actions, goals, blocked):
    """An errand ends when its player has acted, can do nothing there any more, or has been in a jam too long.

    Mutates: goals, blocked.
    """
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, times = static.stations[k], tables.times[k]
        for i in range(players.shape[1]):
            s = goals[c, i]
            if s == NOTHING:
                continue
            hand = players[c, i, Player.HAND : HAND_END]
            moved = (
                players[c, i, Player.X] != before[c, i, Player.X] or players[c, i, Player.Y] != before[c, i, Player.Y]
            )
            waits = not moved and actions[c, i] != INTERACT and not faces(i, s, players[c], stations)
            blocked[c, i] = blocked[c, i] + 1 if waits else 0
            useful = can_use(s, hand, stations, cells[c], times, tables.params)
            if actions[c, i] == INTERACT or blocked[c, i] > PATIENCE or not useful:
                goals[c, i] = NOTHING
                blocked[c, i] = 0


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
        self.assigner, self.width, self.n = assigner(game), width, game.n_agents
        most = max(GROWTH * width, JOINT)
        self._beam = Beam(game, width, most)
        self._parents = np.zeros(most, np.int32)
        self._chosen = np.zeros((most, self.n), np.int32)
        self._options = np.zeros((self.n, ERRANDS + 1), np.int32)
        self._scratch = make_scratch(self.assigner.static, self.n)
        self._trust = np.ones(self.n, np.int32)
        self._ways = self._all_ways()
        cells = game.alloc(1)[0].cells[0].size
        self._salt = np.random.default_rng(0).integers(-(2**62), 2**62, 8 * self.n + cells) | 1
        self._plans = PlanMemory(PLANS_KEPT)

    def _all_ways(self) -> Array:
        static, tables = self.assigner.static, self.assigner.tables
        ways = np.full((*static.stations.shape[:2], static.gates.shape[1]), FAR, np.int32)
        passable, queue = np.ones(ways.shape[2], np.int32), np.zeros(ways.shape[2], np.int32)
        for k, s in np.argwhere(static.stations[..., Station.TERRAIN] != NOTHING).tolist():
            fill_field(static.stands[k, s], tables.neighbours[k], passable, ways[k, s], queue)
        return ways

    def plan(self, root: Fork, steps: int) -> Plan:
        """Return the best joint plan found."""
        key = state_key(root.state) + root.state.clock[0].tobytes(), steps
        plan: Plan = self._plans.recall(key, lambda: self._search(root, steps))
        return plan

    def _search(self, root: Fork, steps: int) -> Plan:
        start = root.repeat([0])
        start.state.clock[:, Clock.OVER] = 0
        start.state.clock[:, Clock.LIMIT] = 1 << 30
        goals = np.full((1, self.n), NOTHING, np.int32)
        result = self._beam.search(self, start, (goals, np.zeros_like(goals)), steps)
        scores = result.nodes.state.clock[:, Clock.SCORE]
        best = int(np.argmax(scores))  # nodes are sorted by worth: the first of equal ones
        actions = result.actions_to(best)
        return Plan(actions, name_states(root, actions, state_key), int(scores[best]))

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Players without an errand choose one; notes are the errands and for how long players have been blocked."""
        goals, blocked = notes
        state = nodes.state
        count = make_children(
            self.assigner.tables,
            self.assigner.static,
            self._ways,
            state.players,
            state.cells,
            state.clock,
            goals,
            self._options,
            self._parents,
            self._chosen,
        )
        parents = self._parents[:count]
        return parents, (self._chosen[:count], blocked[parents])

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step towards the errands, and end those that are done."""
        tables, static, state = self.assigner.tables, self.assigner.static, children.state
        goals, blocked = notes
        actions, before = np.zeros_like(goals), state.players.copy()
        trust, scratch = self._trust, self._scratch
        act_on_errands(tables, static, before, state.cells, state.clock, goals, blocked, trust, scratch, actions)
        children.advance(actions)
        end_errands(tables, static, state.players, before, state.cells, state.clock, actions, goals, blocked)
        return actions, notes

    def goal(self, children: Fork) -> int | None:
        """Return no goal: search up to the last step."""
        return None

    def sift(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return all children with their worth, and hashes of the things and of the full state."""
        goals, state = notes[0], children.state
        worth = np.zeros(len(goals), np.int64)
        static = self.assigner.static
        appraise(self.assigner.tables, static, self._ways, state.players, state.cells, state.clock, goals, worth)
        hands = state.players[:, :, Player.HAND : HAND_END].reshape(len(goals), -1)
        places = state.players[:, :, : Player.HAND].reshape(len(goals), -1)
        things = np.concatenate([state.cells.reshape(len(goals), -1), hands], axis=1).astype(np.int64)
        rest = np.concatenate([places, goals], axis=1).astype(np.int64)
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
    """Return players and cells of environment 0 as bytes, which show whether a plan is being followed."""
    return state.players[0].tobytes() + state.cells[0].tobytes()


search: Callable[[Any, int], Search] = lru_cache(maxsize=8)(Search)  # by game and width


def _primitive_game(game: Any) -> Any:
    if game.n_actions == len(Action):
        return game
    return registry.load_game(game.id, **{**game.kwargs, "action_level": PRIMITIVE})


primitive_game: Callable[[Any], Any] = lru_cache(maxsize=8)(_primitive_game)  # by game, made once


class PlannerPolicy(Silent):
    """Plans the whole episode for all seats and plays its own part, counting on teammates who do the same.

    Where a teammate does something else, a short plan is made from there, and again every few steps.

    Args:
        width: Nodes kept per step of the plan for an episode.
        replan: Nodes kept when a plan was left.
    """

    name = "planner"
    parameters = ("width", "replan")
    needs_simulator = True

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.width, self.replan = parse_integer("width", width, 1), parse_integer("replan", replan, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        assigner(info.game)  # refuses other games
        if info.game.levels[seat] != PRIMITIVE:  # type: ignore[attr-defined]
            raise ValueError("policy 'planner' plays Overcooked with primitive actions only (action_level)")
        game: Any = info.game
        self._game, self._simulator = primitive_game(game), simulator_of(info, self.name)
        self._plan: Plan | None = None
        self._start = 0

    def act(self, seen: Seen) -> int:
        if seen.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return seen.idle_action
        now_only = Simulator(self._game, self._simulator.state, seen.seat)
        root = now_only.fork(1, 0)  # with primitive actions nothing is drawn, so that any seed will do
        left, now = int(root.state.clock[0, Clock.LIMIT] - root.state.clock[0, Clock.T]), state_key(root.state)
        if self._plan is None:
            self._plan, self._start = search(self._game, self.width).plan(root, left), seen.timestep
        at = seen.timestep - self._start
        if not self._plan.is_followed(at, now) and (at >= len(self._plan.actions) or at % REPLAN_EVERY == 0):
            short = search(self._game, self.replan)
            self._plan, self._start, at = short.plan(root, min(REPLAN_STEPS, left)), seen.timestep, 0
        return int(self._plan.actions[at, seen.seat])


KINDS: dict[str, Any] = {"greedy": GreedyPolicy, "planner": PlannerPolicy}


def from_text(text: str) -> NoisyPolicy:
    """Make the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,planner"``; see ``noisy_from_text``."""
    return noisy_from_text(text, KINDS)
