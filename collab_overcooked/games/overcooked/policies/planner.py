"""Search for deliveries in Overcooked: joint plans of errands on the true dynamics.

The search is breadth-first in time: all nodes of a layer have taken the same number of steps. Players without an
errand choose one, a station at which their hands can do something, or none; the moves that errands come to are chosen
together, as by the dispatcher. A batch of kitchens is then stepped by the game's own kernel, equal nodes are merged,
and those are kept that have earned most, where what is in pots, hands and on counters counts by how far it has come.
Of nodes with the same things in the same places later ones count less, so that the others differ in more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.core.arrays import copy_numbers
from collab_overcooked.envs.api import Game, rows
from collab_overcooked.errors import whole_number
from collab_overcooked.games.overcooked.constants import (
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
from collab_overcooked.games.overcooked.policies.greedy import office
from collab_overcooked.games.overcooked.policies.task_assignment import (
    DISH,
    FAR,
    INTERACT,
    SOUP,
    STAY,
    Array,
    Goal,
    Station,
    can_act,
    faces,
    fill_field,
    make_desk,
    move_together,
    send,
    shut,
    station_answers,
)
from collab_overcooked.games.overcooked.rules import ingredients_in, is_idle, is_ready
from collab_overcooked.games.overcooked.step import step_batch
from collab_overcooked.policies.api import EnvInfo, Message, View

WIDTH = 1000  # nodes kept for a whole episode
REPLAN_WIDTH = 60  # nodes kept when a teammate left the plan
REPLAN_STEPS = 40  # steps that such a plan looks ahead
REPLAN_EVERY = 4  # steps between two of them
ERRANDS = 16  # among which a player chooses
COUNTERS = 4  # empty counters among them, the nearest
JOINT = 48  # joint errands tried from one node
GROWTH = 6  # children made of a layer, as a multiple of the width
PATIENCE = 3  # steps that a player is blocked before it chooses anew
PLANS_KEPT = 256

# What things are worth, in thousandths of a soup delivered.
SERVED = 1000
POTTED = 110
COOKING = 420
COOKED = 260  # more when it is ready, in equal parts for each step
LOADED = 800
CARRIED = 45  # an ingredient or dish in hand, as long as it can be of use
LYING = 30  # the same on a counter
PER_STEP = 4  # less for each step to the next station
LONGEST = 60  # steps, at most, that count
UNDECIDED = 5  # steps for which having no errand counts
CROWDING = 6  # less for each better node with the same things in the same places


class Plan(NamedTuple):
    """Joint primitive actions and what they earn.

    Attributes:
        actions: int32 (steps, N).
        expected: Players and cells before each step, to notice when somebody left the plan.
        score: Earned at the end.
    """

    actions: Array
    expected: list[bytes]
    score: int


# ------------------------------------------------------------------------------------------- errands


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
def make_children(tables, facts, ways, players, cells, clock, goals, options, parents, chosen):
    """Players without an errand try all of theirs, jointly with the others; where these are too many, some of them.

    Args:
        tables: The game's.
        facts: See ``dispatch.make_facts``.
        ways: (K, S, F) steps to stations, all gates open.
        players: (W, N, 7) nodes, like cells and clock.
        cells: (W, H, W, 4).
        clock: (W, 6).
        goals: (W, N) errands of the nodes.
        options: (N, ERRANDS + 1) scratch.
        parents: (C,) written: node of each child.
        chosen: (C, N) written: its errands.

    Returns:
        Number of children.
    """
    n, made = players.shape[1], 0
    for w in range(players.shape[0]):
        k, total = clock[w, Clock.LAYOUT], 1
        floor, stations, times = tables.floor[k], facts.stations[k], tables.times[k]
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
            if made == parents.shape[0]:
                return made
            rest = code
            for i in range(n):
                chosen[made, i] = options[i, rest % options[i, ERRANDS]]
                rest //= options[i, ERRANDS]
            parents[made] = w
            made += 1
    return made


@kernel
def act_on_errands(tables, facts, players, cells, clock, goals, blocked, trust, desk, actions):
    """Turn the errands of all nodes into joint primitive actions. Mutates: desk, actions (C, N)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, gates, neighbours, floor = facts.stations[k], facts.gates[k], tables.neighbours[k], tables.floor[k]
        times, turn = tables.times[k], 0
        for i in range(players.shape[1]):
            s = goals[c, i]
            desk.goals[i] = 0
            desk.goals[i, Goal.STATION] = s
            actions[c, i] = STAY
            turn = 1 if blocked[c, i] > 0 and c % 2 == 1 else turn
            if s == NOTHING:
                continue
            find_way(s, facts.stands[k], stations, gates, neighbours, players[c], cells[c], floor, trust, desk)
            cell = floor[players[c, i, Player.Y], players[c, i, Player.X]]
            send(i, s, players[c, i, Player.HAND] + 1, cell, desk)
            if can_act(i, s, players[c], stations, cells[c], times, tables.params):
                actions[c, i] = INTERACT
        move_together(players[c], neighbours, stations, gates, floor, cells[c], turn, trust, desk, actions[c])


@kernel
def find_way(s, stands, stations, gates, neighbours, players, cells, floor, trust, desk):
    """Find the ways to one station, with gates as they are and with all of them open. Mutates: desk."""
    closed = shut(stations, gates, floor, players, cells, trust, desk.passable)
    fill_field(stands[s], neighbours, desk.passable, desk.fields[s], desk.queue)
    if closed:
        desk.passable[:] = 1
        fill_field(stands[s], neighbours, desk.passable, desk.opened[s], desk.queue)
    else:
        copy_numbers(desk.fields[s], desk.opened[s])


@kernel
def end_errands(tables, facts, players, before, cells, clock, actions, goals, blocked):
    """An errand ends when its player has acted, can do nothing there any more, or has been in a jam too long.

    Mutates: goals, blocked.
    """
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, times = facts.stations[k], tables.times[k]
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


# ------------------------------------------------------------------------------------------- worth


@kernel
def appraise(tables, facts, ways, players, cells, clock, goals, worth):
    """Say what every node is worth, in thousandths of the best soup. Mutates: worth (C,)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, values, times, best = facts.stations[k], tables.values[k], tables.times[k], tables.best[k]
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
            steps = min(ways[k, goals[c, i], cell], LONGEST) if goals[c, i] != NOTHING else UNDECIDED
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


# ------------------------------------------------------------------------------------------- the search


class Search:
    """Finds joint plans for one game; remembers them, as every seat asks for the same one.

    Args:
        game: Compiled Overcooked with primitive actions.
        width: Nodes kept per layer.
    """

    def __init__(self, game: Game, width: int) -> None:
        self.office = office(game)
        self.game, self.width = game, width
        facts, n = self.office.facts, game.n_agents
        most = max(GROWTH * width, JOINT)
        self._nodes, _ = game.alloc(width)
        self._state, self._out = game.alloc(most)
        self._parents = np.zeros(most, np.int32)
        self._chosen = np.zeros((most, n), np.int32)
        self._actions = np.zeros((most, n), np.int32)
        self._worth = np.zeros(most, np.int64)
        self._options = np.zeros((n, ERRANDS + 1), np.int32)
        self._desk = make_desk(facts, n)
        self._trust = np.ones(n, np.int32)
        self._ways = self._all_ways()
        numbers = np.random.default_rng(0).integers(-(2**62), 2**62, 8 * n + self._state.cells[0].size)
        self._salt = numbers | 1
        self._plans: dict[tuple[bytes, int], Plan] = {}

    def _all_ways(self) -> Array:
        """Return the steps to all stations from all cells, all gates open, (K, S, F)."""
        facts, tables = self.office.facts, self.office.tables
        ways = np.full((*facts.stations.shape[:2], facts.gates.shape[1]), FAR, np.int32)
        passable, queue = np.ones(ways.shape[2], np.int32), np.zeros(ways.shape[2], np.int32)
        for k, s in np.argwhere(facts.stations[..., Station.TERRAIN] != NOTHING).tolist():
            fill_field(facts.stands[k, s], tables.neighbours[k], passable, ways[k, s], queue)
        return ways

    def plan(self, start: Any, steps: int) -> Plan:
        """Return the best joint plan found.

        Args:
            start: State as a batch of one.
            steps: Length of the plan.
        """
        key = moment(start) + start.clock[0].tobytes(), steps
        if key not in self._plans:
            while len(self._plans) >= PLANS_KEPT:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = self._search(start, steps)
        return self._plans[key]

    def _search(self, start: Any, steps: int) -> Plan:
        nodes = rows(self._nodes, 0, 1)
        for array, given in zip(nodes, start, strict=True):
            array[:] = given
        nodes.clock[:, Clock.OVER] = 0
        nodes.clock[:, Clock.LIMIT] = 1 << 30
        goals = np.full((1, self.game.n_agents), NOTHING, np.int32)
        blocked = np.zeros_like(goals)
        trail: list[tuple[Array, Array]] = []
        for _ in range(steps):
            children, goals, blocked, parents, actions = self._grow(nodes, goals, blocked)
            kept = self._keep(children, goals)
            trail.append((parents[kept], actions[kept]))
            goals, blocked = goals[kept], blocked[kept]
            nodes = rows(self._nodes, 0, len(kept))
            for array, grown in zip(nodes, children, strict=True):
                array[:] = grown[kept]
        best = int(np.argmax(nodes.clock[:, Clock.SCORE]))  # nodes are sorted by worth: the first of equal ones
        score, actions_back = int(nodes.clock[best, Clock.SCORE]), []
        for parents, actions in reversed(trail):
            actions_back.append(actions[best])
            best = int(parents[best])
        joint = np.array(actions_back[::-1], np.int32)
        return Plan(joint, self._replay(start, joint), score)

    def _grow(self, nodes: Any, goals: Array, blocked: Array) -> tuple[Any, Array, Array, Array, Array]:
        """Step all children of a layer."""
        tables, facts = self.office.tables, self.office.facts
        count = make_children(
            tables,
            facts,
            self._ways,
            nodes.players,
            nodes.cells,
            nodes.clock,
            goals,
            self._options,
            self._parents,
            self._chosen,
        )
        children, out = rows(self._state, 0, count), rows(self._out, 0, count)
        parents, chosen, actions = self._parents[:count], self._chosen[:count], self._actions[:count]
        for array, source in zip(children, nodes, strict=True):
            array[:] = source[parents]
        own_blocked = blocked[parents]
        act_on_errands(
            tables,
            facts,
            children.players,
            children.cells,
            children.clock,
            chosen,
            own_blocked,
            self._trust,
            self._desk,
            actions,
        )
        before = children.players.copy()
        step_batch(tables, children, actions, out)
        end_errands(
            tables, facts, children.players, before, children.cells, children.clock, actions, chosen, own_blocked
        )
        return children, chosen, own_blocked, parents, actions

    def _keep(self, children: Any, goals: Array) -> Array:
        """Return the children to go on with, best first: each of equal ones once, and not too many alike."""
        worth = self._worth[: len(goals)]
        appraise(
            self.office.tables,
            self.office.facts,
            self._ways,
            children.players,
            children.cells,
            children.clock,
            goals,
            worth,
        )
        hands = children.players[:, :, Player.HAND : HAND_END].reshape(len(goals), -1)
        places = children.players[:, :, : Player.HAND].reshape(len(goals), -1)
        things = np.concatenate([children.cells.reshape(len(goals), -1), hands], axis=1).astype(np.int64)
        rest = np.concatenate([places, goals], axis=1).astype(np.int64)
        alike = (things + 2) @ self._salt[: things.shape[1]]
        whole = alike + (rest + 2) @ self._salt[-rest.shape[1] :]
        order = np.argsort(-worth, kind="stable")
        order = order[np.sort(np.unique(whole[order], return_index=True)[1])]
        worth = worth[order] - CROWDING * _rank_among_equals(alike[order])
        return order[np.argsort(-worth, kind="stable")[: self.width]]

    def _replay(self, start: Any, actions: Array) -> list[bytes]:
        """Return the moments before each step of a plan."""
        state, out = self.game.alloc(1)
        for array, given in zip(state, start, strict=True):
            array[:] = given
        moments = []
        for joint in actions:
            moments.append(moment(state))
            step_batch(self.office.tables, state, joint[None], out)
        return moments


def moment(state: Any) -> bytes:
    """Return players and cells of environment 0, which tell whether a plan is being followed."""
    return state.players[0].tobytes() + state.cells[0].tobytes()


def _rank_among_equals(keys: Array) -> Array:
    """Return for each key how many equal ones come before it."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    first = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]])
    starts = np.repeat(first, np.diff(np.r_[first, len(keys)]))
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - starts
    return ranks


search: Callable[[Any, int], Search] = lru_cache(maxsize=8)(Search)  # by game and width


class PlannerPolicy:
    """Plans the whole episode for all seats and plays its own part, counting on teammates who do the same.

    Where a teammate does something else, a short plan is made from there, and again every few steps.

    Args:
        width: Nodes kept per step of the plan for an episode.
        replan: Nodes kept when a plan was left.

    Raises:
        ValueError: If a width is below 1.
    """

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.name = "planner"
        self.width, self.replan = whole_number("width", width, 1), whole_number("replan", replan, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last plan.

        Raises:
            ValueError: If the game is no Overcooked with primitive actions.
        """
        office(info.game)  # refuses other games
        if info.game.n_actions != len(Action):
            raise ValueError("policy 'planner' plays Overcooked with action_level='primitive' only")
        self._game = info.game
        self._plan: Plan | None = None
        self._start = 0

    def act(self, view: View) -> int:
        """Return the plan's action for this seat."""
        if view.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return view.game.idle_action()
        left = int(view.state.clock[0, Clock.LIMIT] - view.state.clock[0, Clock.T])
        if self._plan is None:
            self._plan, self._start = search(self._game, self.width).plan(view.state, left), view.timestep
        at = view.timestep - self._start
        followed = at < len(self._plan.actions) and self._plan.expected[at] == moment(view.state)
        if not followed and (at >= len(self._plan.actions) or at % REPLAN_EVERY == 0):
            mind = search(self._game, self.replan)
            self._plan, self._start, at = mind.plan(view.state, min(REPLAN_STEPS, left)), view.timestep, 0
        return int(self._plan.actions[at, view.seat])

    def reply(self, view: View) -> Message | None:
        """Have nothing to say."""
        return None
