"""Greedy play of Collab-Overcooked: work backwards from the order, take the best useful action of one's own seat.

``Cookbook`` knows a kitchen's recipes, places and ways as lists and dicts, ``Scene`` is one moment with the running
actions of all agents taken as done, ``Needs`` says what the order still needs and what every object is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.core.macro_actions import MEDIUM, Macro, Outcome
from collab_overcooked.core.paths import UNREACHABLE
from collab_overcooked.core.rng import seed_words
from collab_overcooked.envs.api import Game
from collab_overcooked.games.collab_overcooked.constants import (
    DISH,
    NOTHING,
    Access,
    Agent,
    EventColumn,
    Food,
    Group,
    Reason,
    Recipe,
    Row,
    Station,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.env import judge
from collab_overcooked.policies.api import EnvInfo, Message, Seen, compiled_of, simulator_of
from collab_overcooked.policies.registry import refuse_text

NEEDS_MEDIUM = "this policy chooses medium-level actions; make the game with action_level='medium'"
HANDLING = 6  # steps that carrying an item to its next station takes about, for estimates of what is urgent
PATIENCE = 6  # decisions in which an agent leaves the work to teammates who do not do it
FORESIGHT = 10  # steps that an agent on a shared floor looks ahead to see whether it gets through
COUNTER_RESERVE = 1  # shared counters that are left free when ingredients are put out early


# ------------------------------------------------------------------------------------------- what never changes


@dataclass(frozen=True)
class RecipeFacts:
    """A recipe as plain numbers: product, utensil kind, inputs (a multiset), steps it takes."""

    product: int
    kind: int
    inputs: tuple[int, ...]
    time: int


class Cookbook:
    """A kitchen's recipes, places and action ids, and what they cost to reach.

    Args:
        game: Compiled game with medium-level actions.

    Raises:
        ValueError: If the game is no Collab-Overcooked with medium-level actions.
    """

    def __init__(self, game: Game) -> None:
        tables = compiled_of(game, "CollabOvercooked-v0").tables
        if MEDIUM not in game.levels:  # type: ignore[attr-defined]
            raise ValueError(NEEDS_MEDIUM)
        self.tables = tables
        self.n_agents = game.n_agents
        self.stations = tables.stations.tolist()
        self.access = tables.access.tolist()
        self.ways = tables.ways[0]
        self.rows = tables.catalogue[: game.n_actions].tolist()
        self.recipes = {
            row[Recipe.PRODUCT]: RecipeFacts(
                row[Recipe.PRODUCT],
                row[Recipe.UTENSIL],
                tuple(sorted(row[Recipe.INPUT : Recipe.INPUT + row[Recipe.COUNT]])),
                row[Recipe.TIME],
            )
            for row in tables.recipes.tolist()
        }
        self.needs_dish = tables.foods[:, Food.NEEDS_DISH].tolist()
        self.raw = tables.foods[:, Food.RAW].tolist()
        starts = tables.starts.tolist()
        self.mates = [  # by seat those who walk the same floor
            [
                j
                for j, (there, _) in enumerate(starts)
                if j != i and self.ways[4 * cell + facing, 4 * there : 4 * there + 4].min() < UNREACHABLE
            ]
            for i, (cell, facing) in enumerate(starts)
        ]
        self.can_meet = any(self.mates)
        self._name_places()
        self._name_actions()
        self.hops = self._hops()

    def _name_places(self) -> None:
        groups = self.tables.groups.tolist()
        self.counters = [s for s in groups[Group.COUNTER] if s != NOTHING]
        self.utensils = [group[0] for group in groups[Group.UTENSIL :]]
        self.kind = {s: self.stations[s][Station.UTENSIL] for s in self.utensils}
        self.members = [[s for s in group if s != NOTHING] for group in groups]
        self.goals = {
            s: [pose for pose in row[Station.GOAL : Station.GOAL + 4] if pose != NOTHING]
            for s, row in enumerate(self.stations)
        }

    def _name_actions(self) -> None:
        """Give the catalogue's actions names by what they do."""
        self.wait = self.place = self.serve = NOTHING
        self.longest_wait = max(action for action, row in enumerate(self.rows) if row[Row.VERB] == Verb.WAIT)
        self.put: dict[int, int] = {}
        self.operate: dict[int, int] = {}
        self.fill: dict[int, int] = {}
        self.take: dict[tuple[int, int], int] = {}  # (utensil station, product)
        self.pick: dict[int, int] = {}  # item on a counter
        self.fetch: dict[int, int] = {}  # item of a dispenser, the dish included
        for action, (verb, item, group) in enumerate(self.rows):
            if verb == Verb.WAIT and item == 1:
                self.wait = action
            elif verb == Verb.PLACE:
                self.place = action
            elif verb == Verb.DELIVER:
                self.serve = action
            elif verb == Verb.PICKUP and group == Group.COUNTER:
                self.pick[item] = action
            elif verb == Verb.PICKUP and group in (Group.INGREDIENTS, Group.DISHES):
                self.fetch[item] = action
            elif group >= Group.UTENSIL:
                self._name_utensil_action(action, verb, item, self.members[group][0])

    def _name_utensil_action(self, action: int, verb: int, item: int, station: int) -> None:
        if verb == Verb.PICKUP:
            self.take[station, item] = action
        else:
            {Verb.PUT: self.put, Verb.OPERATE: self.operate, Verb.FILL: self.fill}[Verb(verb)][station] = action

    def can(self, seat: int, station: int) -> bool:
        """Return whether a seat can use a station."""
        return bool(self.access[seat][station] != Access.NONE)

    def can_any(self, seat: int, stations: Iterable[int]) -> bool:
        """Return whether a seat can use one of some stations."""
        return any(self.can(seat, s) for s in stations)

    def utensils_of(self, kind: int) -> list[int]:
        """Return the utensils of a kind."""
        return [s for s in self.utensils if self.kind[s] == kind]

    def _hops(self) -> dict[tuple[str, int], list[int]]:
        """Count, for every seat, the hand-overs until somebody can serve, or use a kind of utensil.

        Returns:
            ``("serve", 0)`` or ``("kind", utensil kind)`` -> hand-overs by seat.
        """
        near = [
            [j for j in range(self.n_agents) if self.can_any(j, (s for s in self.counters if self.can(i, s)))]
            for i in range(self.n_agents)
        ]
        targets = {("kind", kind): self.utensils_of(kind) for kind in set(self.kind.values())}
        targets["serve", 0] = self.members[Group.SERVING]
        found: dict[tuple[str, int], list[int]] = {}
        for key, stations in targets.items():
            hops = [0 if self.can_any(i, stations) else UNREACHABLE for i in range(self.n_agents)]
            for _ in range(self.n_agents):
                hops = [min([hops[i], *(hops[j] + 1 for j in near[i])]) for i in range(self.n_agents)]
            found[key] = hops
        return found

    def steps_to(self, pose: int, stations: Iterable[int]) -> int:
        """Return the steps until a seat in a pose has interacted with the nearest of some stations."""
        return int(min((self.ways[pose, goal] for s in stations for goal in self.goals[s]), default=UNREACHABLE)) + 1


def refuse_primitive_seats(game: Any, seats: Iterable[int]) -> None:
    """Refuse a game in which one of some seats has primitive actions.

    Raises:
        ValueError: If it has.
    """
    if any(game.levels[seat] != MEDIUM for seat in seats):
        raise ValueError(NEEDS_MEDIUM)


cookbook: Callable[[Any], Cookbook] = lru_cache(maxsize=64)(Cookbook)  # by game, made once; suites make a game a task


# ------------------------------------------------------------------------------------------- one moment


@dataclass
class Utensil:
    """What is in a utensil: unstarted contents, or a product with the steps left."""

    contents: list[int] = field(default_factory=list)
    product: int = NOTHING
    left: int = 0


class Scene:
    """One moment, with the running actions of all agents taken as already done.

    Args:
        book: The kitchen.
        state: Batch.
        i: Which of its environments.
    """

    def __init__(self, book: Cookbook, state: Any, i: int = 0) -> None:
        self.book = book
        agents, macros, tiles = state.agents[i].tolist(), state.macro_state[i].tolist(), state.tiles[i].tolist()
        self.poses = [4 * row[Agent.CELL] + row[Agent.FACING] for row in agents]
        self.still = [row[Macro.STILL] for row in macros]
        self.running = [row[Macro.ACTION] for row in macros]
        self.hands = [(row[Agent.ITEM], bool(row[Agent.PLATED])) for row in agents]
        self.orders = [item for item in state.orders[i].tolist() if item != NOTHING]
        lying = [(s, tiles[s]) for s in book.counters if tiles[s][Tile.ITEM] != NOTHING]
        self.counters = {s: (tile[Tile.ITEM], bool(tile[Tile.PLATED])) for s, tile in lying}
        self.utensils = {s: _utensil(tiles[s]) for s in book.utensils}
        for seat, action in enumerate(self.running):
            if action != NOTHING:
                self.apply(seat, action)

    @property
    def order(self) -> int:
        """The item wanted now, NOTHING if none is."""
        return self.orders[0] if self.orders else NOTHING

    def free_counters(self, seat: int, shared: bool = False) -> int:
        """Count the empty counters that a seat can use, alone or not."""
        low = Access.SHARED if shared else Access.PRIVATE
        return sum(s not in self.counters and self.book.access[seat][s] >= low for s in self.book.counters)

    def counters_with(self, seat: int, item: int) -> list[int]:
        """Return the counters in a seat's reach where an item lies."""
        return [s for s, (lying, _) in self.counters.items() if lying == item and self.book.can(seat, s)]

    def apply(self, seat: int, action: int) -> None:
        """Change the scene as if a seat had carried an action out, as far as objects go."""
        verb, item, group = self.book.rows[action]
        if verb == Verb.PICKUP:
            self._apply_pickup(seat, item, group)
        elif verb == Verb.PLACE:
            self._apply_place(seat)
        elif verb == Verb.DELIVER:
            if self.hands[seat] == (self.order, bool(self.book.needs_dish[self.order])):
                self.orders.pop(0)
            self.hands[seat] = (NOTHING, False)
        elif group >= Group.UTENSIL:
            self._apply_utensil(seat, verb, self.book.members[group][0])

    def _apply_pickup(self, seat: int, item: int, group: int) -> None:
        if self.hands[seat][0] != NOTHING:
            return
        plated = False
        if group == Group.COUNTER:
            there = self.counters_with(seat, item)
            if not there:
                return
            there.sort(key=lambda s: self.book.steps_to(self.poses[seat], [s]))
            plated = self.counters.pop(there[0])[1]
        elif group >= Group.UTENSIL:
            self.utensils[self.book.members[group][0]] = Utensil()
        self.hands[seat] = (item, plated)

    def _apply_place(self, seat: int) -> None:
        free = [s for s in self.book.counters if s not in self.counters and self.book.can(seat, s)]
        shared = [s for s in free if self.book.access[seat][s] == Access.SHARED]
        if free and self.hands[seat][0] != NOTHING:
            nearest = min(shared or free, key=lambda s: self.book.steps_to(self.poses[seat], [s]))
            self.counters[nearest] = self.hands[seat]
            self.hands[seat] = (NOTHING, False)

    def _apply_utensil(self, seat: int, verb: int, station: int) -> None:
        utensil = self.utensils[station]
        if verb == Verb.PUT and self.hands[seat][0] != NOTHING and utensil.product == NOTHING:
            utensil.contents.append(self.hands[seat][0])
            self.hands[seat] = (NOTHING, False)
        elif verb == Verb.OPERATE and utensil.contents:
            contents, kind = sorted(utensil.contents), self.book.kind[station]
            made = [r for r in self.book.recipes.values() if r.kind == kind and list(r.inputs) == contents]
            self.utensils[station] = Utensil(product=made[0].product, left=made[0].time) if made else Utensil()
        elif verb == Verb.FILL and utensil.product != NOTHING:
            self.hands[seat] = (utensil.product, True)
            self.utensils[station] = Utensil()


def _utensil(tile: list[int]) -> Utensil:
    if tile[Tile.TIMER] > 0:
        return Utensil(product=tile[Tile.ITEM], left=tile[Tile.TIME] - tile[Tile.TIMER])
    return Utensil(contents=tile[Tile.CONTENT : Tile.CONTENT + tile[Tile.COUNT]])


# ------------------------------------------------------------------------------------------- what is needed


@dataclass
class Making:
    """One product that is still to be made.

    Attributes:
        recipe: How.
        urgency: Steps that it takes about from the recipe's start to the delivery.
        station: Utensil that already holds some of its inputs.
        missing: Inputs not yet in the utensil.
        below: Utensil kinds that are still needed to make its inputs.
    """

    recipe: RecipeFacts
    urgency: int
    station: int | None = None
    missing: list[int] = field(default_factory=list)
    below: set[int] = field(default_factory=set)


@dataclass
class Purpose:
    """What an object is for: a product to be made from it, the dish of the order, or the order itself."""

    urgency: int
    making: Making | None = None


Place = tuple[str, int]
"""``("hand", seat)``, ``("counter", station)`` or ``("utensil", station)``."""


class Needs:
    """What the first order of a scene still needs, and what the objects around are for.

    Attributes:
        purposes: Purpose of every useful object by place.
        makings: Products still to be made.
        fetches: Ingredients, and the dish, that nobody has yet, with their purpose.
        final: Utensil where the order itself is being made or ready.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, self.book = scene, scene.book
        self.purposes: dict[Place, Purpose] = {}
        self.makings: list[Making] = []
        self.fetches: list[tuple[int, Purpose]] = []
        self.final: int | None = None
        self._free = dict(self._objects())
        if scene.order != NOTHING:
            self._need_order(scene.order)

    def _objects(self) -> Iterator[tuple[Place, tuple[int, bool]]]:
        """Yield all objects, the ones in hands first: they are to be used up before others are fetched."""
        for seat, held in enumerate(self.scene.hands):
            if held[0] != NOTHING:
                yield ("hand", seat), held
        for station, utensil in self.scene.utensils.items():
            if utensil.product != NOTHING:
                yield ("utensil", station), (utensil.product, False)
        for station, lying in self.scene.counters.items():
            yield ("counter", station), lying

    def _claim(self, item: int, plated: bool, purpose: Purpose) -> Place | None:
        for place, held in self._free.items():
            if held == (item, plated) and self._serves(place, purpose):
                del self._free[place]
                self.purposes[place] = purpose
                return place
        return None

    def _serves(self, place: Place, purpose: Purpose) -> bool:
        """Return whether an object can still be brought from its place to where it is for.

        Placing goes to the nearest counter that most can reach, so from such a one an object never moves on.
        """
        where, index = place
        hops = self.hops(purpose)
        if where == "hand":
            return hops[index] < UNREACHABLE
        seats = [i for i in range(self.book.n_agents) if self.book.can(i, index)]
        fewest = min((hops[i] for i in seats), default=UNREACHABLE)
        stays = where == "counter" and all(self.book.access[i][index] == Access.SHARED for i in seats)
        return fewest == 0 if stays else fewest < UNREACHABLE

    def room(self, seat: int, purpose: Purpose) -> int:
        """Count the empty counters on which a seat can hand something over to those who are nearer to its use."""
        hops = self.hops(purpose)
        nearer = [i for i in range(self.book.n_agents) if hops[i] < hops[seat]]
        return sum(
            s not in self.scene.counters and self.book.can(seat, s) and any(self.book.can(i, s) for i in nearer)
            for s in self.book.counters
        )

    def hops(self, purpose: Purpose) -> list[int]:
        """Return by seat how many hand-overs bring an object from it to where it is for."""
        if purpose.making is not None:
            return self.book.hops["kind", purpose.making.recipe.kind]
        return self.book.hops["serve", 0]

    def _need_order(self, order: int) -> None:
        plated = bool(self.book.needs_dish[order])
        if self._claim(order, plated, Purpose(0)) is not None:
            return
        if plated:
            place = self._claim_in_utensil(order)
            self._need_dish(order)
        else:
            place = self._claim(order, False, Purpose(0))
        if place is None:
            if self.book.raw[order]:
                self.fetches.append((order, Purpose(0)))
            else:
                self._need_making(order, HANDLING)
        elif place[0] == "utensil":
            self.final = place[1]

    def _claim_in_utensil(self, order: int) -> Place | None:
        for place, held in self._free.items():
            if place[0] == "utensil" and held[0] == order:
                del self._free[place]
                self.purposes[place] = Purpose(0)
                return place
        return None

    def _need_dish(self, order: int) -> None:
        recipe = self.book.recipes.get(order)
        purpose = Purpose(0, Making(recipe, 0)) if recipe is not None else Purpose(0)
        if self._claim(DISH, False, purpose) is None:
            self.fetches.append((DISH, purpose))

    def _need_making(self, product: int, urgency: int) -> set[int]:
        """Write down what making a product takes; return the utensil kinds that it still occupies."""
        recipe = self.book.recipes[product]
        making = Making(recipe, urgency + recipe.time)
        making.missing = list(recipe.inputs)
        making.station = self._begun(recipe)
        if making.station is not None:
            for item in self.scene.utensils[making.station].contents:
                making.missing.remove(item)
        self.makings.append(making)
        for item in making.missing:
            making.below |= self._need_input(item, making)
        return making.below | {recipe.kind}

    def _begun(self, recipe: RecipeFacts) -> int | None:
        """Return a utensil that holds some inputs of a recipe and nothing else."""
        taken = [making.station for making in self.makings]
        for station in self.book.utensils_of(recipe.kind):
            contents = self.scene.utensils[station].contents
            if contents and station not in taken and _within(contents, recipe.inputs):
                return station
        return None

    def _need_input(self, item: int, making: Making) -> set[int]:
        purpose = Purpose(making.urgency + HANDLING, making)
        place = self._claim(item, False, purpose)
        if place is None and self.book.raw[item]:
            self.fetches.append((item, purpose))
            return set()
        if place is None:
            return self._need_making(item, making.urgency + HANDLING)
        return {self.book.kind[place[1]]} if place[0] == "utensil" else set()

    # -------------------------------------------------------------------------------- where things can go

    def receivers(self, seat: int, item: int, making: Making) -> list[int]:
        """Return the utensils into which a seat can put an input of a product right now."""
        if making.station is not None:
            return [making.station] if self.book.can(seat, making.station) and item in making.missing else []
        taken = [other.station for other in self.makings]
        found = []
        for station in self.book.utensils_of(making.recipe.kind):
            utensil = self.scene.utensils[station]
            empty = not utensil.contents and utensil.product == NOTHING
            if empty and station not in taken and self.book.can(seat, station):
                found.append(station)
        spare = len(found) > 1 or making.recipe.kind not in making.below
        return found if spare else []

    def is_junk(self, station: int) -> bool:
        """Return whether a utensil holds something that the order does not need."""
        utensil = self.scene.utensils[station]
        if utensil.product != NOTHING:
            return ("utensil", station) not in self.purposes
        return bool(utensil.contents) and station not in [making.station for making in self.makings]


def _within(contents: Iterable[int], inputs: Iterable[int]) -> bool:
    rest = list(inputs)
    for item in contents:
        if item not in rest:
            return False
        rest.remove(item)
    return True


# ------------------------------------------------------------------------------------------- choosing


@dataclass(frozen=True)
class Option:
    """Something useful to do: lower ``rank`` first, then the more urgent less its cost in steps."""

    rank: int
    action: int
    urgency: int
    cost: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Sort key; the action's number settles ties."""
        return (self.rank, self.cost - self.urgency, self.action)


class Chooser:
    """Finds the best useful action of one seat in one scene.

    Args:
        scene: The moment.
        seat: Who chooses.
        accepted: Says whether the rules accept an action of this seat.
    """

    def __init__(self, scene: Scene, seat: int, accepted: Callable[[int], bool]) -> None:
        self.scene, self.book, self.seat, self.accepted = scene, scene.book, seat, accepted
        self.needs = Needs(scene)
        self.pose = scene.poses[seat]

    def choose(self) -> int:
        """Return the best action; waiting if nothing is useful."""
        return next(iter(self.ranked()), self.book.wait)

    def ranked(self) -> list[int]:
        """Return all useful actions that are accepted now, the best first."""
        empty = self.scene.hands[self.seat][0] == NOTHING
        options = list(self._fetching()) + list(self._taking()) if empty else list(self._holding())
        if empty:
            options += list(self._working())
        allowed = [option for option in options if self.accepted(option.action)]
        return [option.action for option in sorted(allowed, key=lambda option: option.key)]

    def _option(self, rank: int, action: int, urgency: int, stations: Iterable[int]) -> Option:
        return Option(rank, action, urgency, self.book.steps_to(self.pose, stations))

    # -------------------------------------------------------------------------------- with something in hand

    def _holding(self) -> Iterator[Option]:
        item, _ = self.scene.hands[self.seat]
        purpose = self.needs.purposes.get(("hand", self.seat))
        if purpose is None:
            yield from self._rid_of()
        elif item == DISH:
            yield from self._with_dish()
        elif purpose.making is None:
            yield self._option(0, self.book.serve, 0, self.book.members[Group.SERVING])
            if self.needs.hops(purpose)[self.seat] > 0:
                yield self._placing(1)
        else:
            yield from self._with_input(item, purpose.making)

    def _placing(self, rank: int) -> Option:
        return Option(rank, self.book.place, 0, 0)

    def _with_dish(self) -> Iterator[Option]:
        """Fill the dish if the food is cooking or ready; else leave it where others, or free hands, need it."""
        final = self.needs.final
        if final is not None and self.book.can(self.seat, final):
            yield self._option(0, self.book.fill[final], 0, [final])
        else:
            yield self._placing(1)

    def _with_input(self, item: int, making: Making) -> Iterator[Option]:
        for station in self.needs.receivers(self.seat, item, making):
            yield self._option(0, self.book.put[station], 0, [station])
        yield self._placing(1)

    def _rid_of(self) -> Iterator[Option]:
        """Put what nobody needs out of the way: on a counter while there is room, else where it is destroyed."""
        room = self.scene.free_counters(self.seat, shared=True) > COUNTER_RESERVE
        yield self._placing(0 if room else 3)
        yield self._option(1, self.book.serve, 0, self.book.members[Group.SERVING])
        for station in self.book.utensils:
            kinds = {making.recipe.kind for making in self.needs.makings}
            if self.needs.is_junk(station) or self.book.kind[station] not in kinds:
                yield self._option(2, self.book.put[station], 0, [station])

    # -------------------------------------------------------------------------------- with empty hands

    def _working(self) -> Iterator[Option]:
        """Start what is complete, and clear utensils that hold what nobody needs."""
        for making in self.needs.makings:
            if making.station is not None and not making.missing:
                yield self._option(0, self.book.operate[making.station], making.urgency, [making.station])
        wanted = {making.recipe.kind for making in self.needs.makings}
        for station, utensil in self.scene.utensils.items():
            if self.book.kind[station] in wanted and self.needs.is_junk(station):
                action = self.book.operate[station]
                if utensil.product != NOTHING:
                    action = self.book.take.get((station, utensil.product), self.book.wait)
                yield self._option(1, action, HANDLING, [station])

    def _taking(self) -> Iterator[Option]:
        """Take products out of utensils, and useful things from counters."""
        for (where, station), purpose in self.needs.purposes.items():
            if where == "utensil":
                action = self.book.take.get((station, self.scene.utensils[station].product))
                if action is not None:
                    yield self._option(0, action, purpose.urgency + HANDLING, [station])
            elif where == "counter" and self.book.can(self.seat, station):
                item, _ = self.scene.counters[station]
                if self._worth_taking(item, station, purpose):
                    yield self._option(0, self.book.pick[item], purpose.urgency, [station])
        if self.scene.free_counters(self.seat, shared=True) == 0:
            yield from self._clearing()

    def _worth_taking(self, item: int, station: int, purpose: Purpose) -> bool:
        hops = self.needs.hops(purpose)
        if hops[self.seat] > 0:
            others = [i for i in range(self.book.n_agents) if self.book.can(i, station)]
            return hops[self.seat] == min(hops[i] for i in others) and self.scene.free_counters(self.seat) > 0
        if item == DISH and purpose.making is not None:
            return self.needs.final is not None and self.book.can(self.seat, self.needs.final)
        if purpose.making is None:
            return True
        return bool(self.needs.receivers(self.seat, item, purpose.making))

    def _clearing(self) -> Iterator[Option]:
        """Take what nobody needs off the shared counters when they are full."""
        for station, (item, _) in self.scene.counters.items():
            junk = ("counter", station) not in self.needs.purposes
            if junk and self.book.access[self.seat][station] == Access.SHARED:
                yield self._option(2, self.book.pick[item], 0, [station])

    def _fetching(self) -> Iterator[Option]:
        for item, purpose in self.needs.fetches:
            action = self.book.fetch[item]
            group = Group.DISHES if item == DISH else Group.INGREDIENTS
            stations = self.book.members[group]
            if self.book.can_any(self.seat, stations) and self._worth_fetching(item, purpose):
                rank = 1 if item == DISH and self.needs.final is None else 0
                if rank == 0 or not self._due():
                    yield self._option(rank, action, purpose.urgency, stations)

    def _due(self) -> bool:
        """Return whether a product that this seat can take is about to be ready."""
        return any(where == "utensil" and self.book.can(self.seat, station) for where, station in self.needs.purposes)

    def _worth_fetching(self, item: int, purpose: Purpose) -> bool:
        """Fetch what one can use at once, or hand over while a counter stays free for more urgent things."""
        hops = self.needs.hops(purpose)[self.seat]
        if hops == 0 and purpose.making is not None and item != DISH:
            return bool(self.needs.receivers(self.seat, item, purpose.making))
        if hops == 0:
            return item != DISH or self.needs.final is not None
        making = purpose.making
        soon = making is None or making.station is not None or item == DISH or not making.below
        return self.needs.room(self.seat, purpose) > (0 if soon else COUNTER_RESERVE)


# ------------------------------------------------------------------------------------------- the policy


class GreedyPolicy:
    """Knows the kitchen, works backwards from the order, and does the best useful thing that its seat can do.

    Idle teammates in earlier seats are expected to choose in the same way, so that two do not fetch the same thing,
    unless they have long left undone what they should do. On a shared floor an agent tries its choices on the true
    dynamics first, and makes way where it is blocked or blocks a teammate.
    """

    name = "greedy"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Learn the kitchen.

        Raises:
            ValueError: If the game is no Collab-Overcooked with medium-level actions.
        """
        self._book = cookbook(info.game)
        refuse_primitive_seats(info.game, [seat])
        self._game, self._simulator = info.game, simulator_of(info, self.name)
        self._rng = np.random.default_rng([seed, seat])
        self._yielded = 0

    def act(self, seen: Seen) -> int:
        """Return the best useful action, waiting if there is nothing to do."""
        self._state = self._simulator.state
        scene, expected = self._expected(seen)
        useful = self._useful(scene, seen)
        if expected and not useful:  # whatever there is to do, teammates are expected to do
            alone = self._useful(Scene(self._book, self._state), seen)
            self._yielded = self._yielded + 1 if alone else 0
            useful = alone if self._yielded > PATIENCE else useful
        if useful:
            self._yielded = 0
        if not self._book.can_meet:
            return useful[0] if useful else self._book.wait
        return self._unblocked(scene, seen, useful, expected)

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say."""
        return None

    def _expected(self, seen: Seen) -> tuple[Scene, dict[int, int]]:
        """Return the scene as idle teammates in earlier seats are expected to leave it, and what they choose."""
        scene = Scene(self._book, self._state)
        expected: dict[int, int] = {}
        for other in range(seen.seat):
            if scene.running[other] == NOTHING:
                expected[other] = Chooser(scene, other, self._accepting(other)).choose()
                scene.apply(other, expected[other])
        return scene, expected

    def _accepting(self, seat: int) -> Callable[[int], bool]:
        return lambda action: judge(self._book.tables, self._state, 0, seat, action) == Reason.OK

    def _useful(self, scene: Scene, seen: Seen) -> list[int]:
        return Chooser(scene, seen.seat, lambda action: bool(seen.mask[action])).ranked()

    # -------------------------------------------------------------------------------- on a shared floor

    def _unblocked(self, scene: Scene, seen: Seen, useful: list[int], expected: dict[int, int]) -> int:
        """Return the best useful action that teammates will let this seat finish; make way if there is none."""
        useful = list(dict.fromkeys(useful))
        if useful:
            finished, _ = foresee(self._game, self._state, seen.seat, useful, expected, FORESIGHT)
            for action, done in zip(useful, finished, strict=True):
                if done:
                    return action
        if useful or self._in_the_way(scene, seen.seat):
            return self._make_way(seen, useful[:1], expected)
        return self._book.wait

    def _in_the_way(self, scene: Scene, seat: int) -> bool:
        """Return whether a teammate on the same floor has been kept from moving."""
        return any(
            scene.still[other] > 0 and scene.running[other] > self._book.longest_wait
            for other in self._book.mates[seat]
        )

    def _make_way(self, seen: Seen, useful: list[int], expected: dict[int, int]) -> int:
        """Return what helps the teammates most on their way: waiting, a harmless pickup, or putting down.

        If nothing helps them, chance decides between those and the blocked useful action, so that no two agents stand
        before each other for ever.
        """
        kinds: dict[tuple[int, int], int] = {}
        for action in np.flatnonzero(seen.mask).tolist():
            verb, item, group = self._book.rows[action]
            if verb == Verb.PLACE or (verb == Verb.PICKUP and group < Group.UTENSIL):
                kinds.setdefault((group, item if group == Group.COUNTER else 0), action)
        actions = [self._book.wait, *kinds.values()]
        _, helped = foresee(self._game, self._state, seen.seat, actions, expected, FORESIGHT)
        if helped.max() == 0 and useful and self._rng.random() < 0.5:
            return useful[0]
        best = np.flatnonzero(helped == helped.max())
        return actions[int(self._rng.choice(best))]


def foresee(
    game: Game, moment: Any, seat: int, actions: list[int], expected: dict[int, int], steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Try actions of one seat on the true dynamics, with teammates who finish what they are at and then wait.

    Chance is drawn from a generator of its own: nobody looks into the future of the game's.

    Args:
        game: Compiled game.
        moment: A batch of one.
        seat: Who acts.
        actions: K actions of the seat.
        expected: What idle teammates begin now; those not listed wait.
        steps: Env steps to look ahead.

    Returns:
        bool (K,) whether the action is finished by then, and (K,) how many teammates' actions are.
    """
    state, out = game.alloc(len(actions))
    for array, given in zip(state, moment, strict=True):
        array[:] = given[:1]
    state.rng[:] = seed_words(np.arange(len(actions)))
    finished = np.zeros((len(actions), game.n_agents), bool)
    idle = np.array([game.idle_action(i) for i in range(game.n_agents)])  # type: ignore[attr-defined]
    begun = {i: action for i, action in expected.items() if game.levels[i] == MEDIUM}  # type: ignore[attr-defined]
    for step in range(steps):
        joint = np.where(state.macro_state[:, :, Macro.ACTION] == NOTHING, idle, 0).astype(np.int32)
        if step == 0:
            joint[:, list(begun)] = list(begun.values())
            joint[:, seat] = actions
        game.step(state, joint, out)
        worked = joint != idle
        finished |= worked & (out.events[:, :, EventColumn.ENDED] == Outcome.DONE)
    own = finished[:, seat].copy()
    finished[:, seat] = False
    return own, finished.sum(1)


def from_text(text: str) -> GreedyPolicy:
    """Make the policy of a spec; it takes no parameters."""
    refuse_text("greedy", text)
    return GreedyPolicy()
