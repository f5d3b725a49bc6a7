"""Moments of a game in which only that differs which a seat may not know."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from collab_overcooked.envs.api import clone
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.kernels.rng import Rng, seed_states


def hides(game: Any) -> bool:
    """Return whether a game has beliefs of its own of what its state hides."""
    return plain(game).sample_belief.__func__ is not CompiledGame.sample_belief


def reach(game: Any, seed: int, steps: int, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """Return state and out after some random steps."""
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), options)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = [rng.choice(np.flatnonzero(mask)) for mask in out.masks[0]]
        game.step(state, np.array([actions], np.int32), out)
    return state, out


def hide(game: Any, state: Any, seat: int, rng: np.random.Generator) -> Any:
    """Return a copy of a state that differs in all that the seat may not know."""
    other = clone(state, 0)
    drawn = int(other.rng[0, Rng.COUNT])
    other.rng[0, [Rng.LOW, Rng.HIGH]] = rng.integers(0, 2**31, 2)
    if hasattr(other, "stream"):
        other.stream[:] = rng.integers(0, 2**32, other.stream.shape, np.uint32)
    if hasattr(other, "forced"):  # orders still to come
        other.forced[0, drawn:] = rng.integers(0, len(game.orderable()), other.forced.shape[1] - drawn)
    scene = game.scene(other, 0)
    if "counters" in scene:
        hide_counters(game, other, scene, seat, rng)
    if hides(game):  # all that the seat does not know becomes something else
        game.sample_belief(other, seat, rng)
    return other


def hide_counters(game: Any, state: Any, scene: dict[str, Any], seat: int, rng: np.random.Generator) -> None:
    """Put other things on the counters that a seat cannot use."""
    from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Access, Group, Tile

    tables = game.compiled.tables
    for s in tables.groups[Group.COUNTER]:
        if s != NOTHING and tables.access[seat, s] == Access.NONE:
            state.tiles[0, s, Tile.ITEM] = rng.choice([NOTHING, *range(len(game.compiled.names.items))])
            state.tiles[0, s, Tile.PLATED] = 0
            state.tiles[0, s, Tile.PLACED] = rng.integers(0, 1000)


def with_other_recipes(game: Any, rng: np.random.Generator) -> Any:
    """Return a kitchen with other inputs, times and ways of serving its products."""
    from collab_overcooked.games.collab_overcooked.engine.constants import Recipe

    tables, other = game.compiled.tables, copy.copy(game)
    recipes = tables.recipes.copy()
    recipes[:, Recipe.TIME] += rng.integers(1, 9, len(recipes))
    recipes[:, Recipe.INPUT] = np.roll(recipes[:, Recipe.INPUT], int(rng.integers(1, len(recipes))))
    tables = tables._replace(recipes=recipes, needs=np.roll(tables.needs, 1, axis=0))
    serving = {order: not plated for order, plated in game.kitchen.serving.items()}
    kitchen = dataclasses.replace(game.kitchen, serving=serving)
    other.__setstate__({"compiled": dataclasses.replace(game.compiled, tables=tables, kitchen=kitchen)})
    return other


def scramble(game: Any, state: Any, seat: int, rng: np.random.Generator) -> Any:
    """Return a copy of a state in which everything is something else that a belief of the seat must not read.

    Unlike ``hide``, this asks no game what a seat may believe: it changes the truth, possible or not.
    """
    other = clone(state, 0)
    other.rng[0] = rng.integers(0, 2**31, other.rng.shape[1])
    if hasattr(other, "stream"):
        other.stream[:] = rng.integers(0, 2**32, other.stream.shape, np.uint32)
    if hasattr(other, "forced"):
        other.forced[:] = 0
        other.clock[0, game.forced_column] = rng.integers(0, 5)
    if hasattr(other, "know_things"):
        _scramble_home(game, other, seat, rng)
    if hasattr(other, "tiles"):
        _scramble_kitchen(game, other, seat, rng)
    if game.id == "OvercookedV2-v0":
        _scramble_recipes(game, other, seat, rng)
    if hasattr(other, "sightings"):
        _scramble_rooms(game, other, seat, rng)
    return other


def _scramble_home(game: Any, state: Any, seat: int, rng: np.random.Generator) -> None:
    from collab_overcooked.games.house.engine.constants import (
        Agent,
        Belief,
        Goal,
        Known,
        KnownPlace,
        Place,
        Thing,
        World,
    )

    status = state.know_things[0, seat, :, Belief.STATUS]
    sizes = game.compiled.sizes
    others = [j for j in range(sizes.agents) if j != seat]
    things, places = state.things[0], state.places[0]
    away = status != Known.MINE
    for column, most in ((Thing.REL, 5), (Thing.PARENT, sizes.agents), (Thing.IN_VIEW, 2)):
        things[away, column] = rng.integers(0, most, away.sum())
    unknown = status == Known.UNKNOWN
    things[unknown, Thing.CLASS], things[unknown, Thing.ROLE] = rng.integers(0, 5), rng.integers(0, 2)
    furniture = slice(sizes.rooms, sizes.rooms + sizes.furniture)
    places[furniture, Place.OPEN], places[sizes.rooms :, Place.FREE] = rng.integers(0, 2, 2)
    unseen = state.know_places[0, seat] == KnownPlace.UNKNOWN
    spots = np.arange(sizes.rooms + sizes.furniture, sizes.places)
    here = state.know_things[0, seat][:, [Belief.STATUS, Belief.PLACE]]
    for k, p in enumerate(spots):  # each is for the thing of its number
        unseen[p] = list(here[k]) != [Known.SEEN, p]
    places[unseen, Place.KIND], places[unseen, Place.CELL] = rng.integers(0, 4), rng.integers(0, 50)
    places[np.intersect1d(spots, np.flatnonzero(unseen)), Place.ROOM] = rng.integers(0, sizes.rooms)
    floor = np.flatnonzero(state.cells[0] >= 0)
    for j in others:
        state.agents[0, j] = rng.integers(0, 2, len(Agent))
        state.agents[0, j, Agent.CELL] = rng.choice(floor)
        for name in ("know_things", "know_rooms", "know_places", "know_mates"):
            getattr(state, name)[0, j] = rng.integers(0, 2)
        state.macro_state[0, j] = rng.integers(0, 2)
    state.goals[0, :, Goal.HAVE], state.world[0, World.BEST] = rng.integers(0, 2), rng.integers(0, 9)
    state.dist[0] = rng.integers(0, 9)


def _scramble_recipes(game: Any, state: Any, seat: int, rng: np.random.Generator) -> None:
    from collab_overcooked.games.overcooked.engine.constants import HAND_END, Clock, LayoutSize, Player, Terrain
    from collab_overcooked.games.overcooked.v2.text.scene import cells_in_view

    tables, players, k = game.compiled.tables, state.players[0], state.clock[0, Clock.LAYOUT]
    if not players[seat, Player.KNOWS]:
        recipes = tables.recipes[k, : tables.frames[k, LayoutSize.RECIPES]]
        state.clock[0, Clock.RECIPE] = rng.choice(recipes)
    visible = cells_in_view(game.compiled.tables, *players[seat, : Player.FACING].tolist())
    state.cells[0][~visible] = _scrambled_things(game, (~visible).sum(), rng)
    floor = np.argwhere((tables.terrain[k] == Terrain.FLOOR) & ~visible)[:, ::-1]
    for j in range(len(players)):
        x, y = players[j, : Player.FACING].tolist()
        if j != seat:
            players[j, Player.KNOWS] = rng.integers(0, 2)
            if not visible[y, x]:
                players[j, : Player.FACING] = rng.choice(floor)
                players[j, Player.FACING] = rng.integers(0, 4)
                (players[j, Player.HAND : HAND_END],) = _scrambled_things(game, 1, rng)


def _scrambled_things(game: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    from collab_overcooked.games.overcooked.engine.constants import FIRST_INGREDIENT, Thing

    things = np.zeros((count, len(Thing)), np.int32)
    things[:, Thing.ITEM] = rng.integers(0, FIRST_INGREDIENT + game.compiled.kinds, count)
    things[:, Thing.SOUP] = rng.integers(0, 4**game.compiled.kinds, count)
    things[:, Thing.TICK] = rng.integers(-1, 21, count)
    return things


def _scramble_rooms(game: Any, state: Any, seat: int, rng: np.random.Generator) -> None:
    from collab_overcooked.games.rooms.engine.constants import Clock, Generator, Player

    ago = state.clock[0, Clock.T] - state.sightings[0, seat, :, 1]
    seen = game.scene(state, 0)["known"][seat]["in_sight"]
    rooms = len(game.level.rooms)
    for j, player in enumerate(state.players[0]):
        if ago[j] > 0:
            player[[Player.ROOM, Player.BEFORE]] = rng.integers(0, rooms, 2)
            player[Player.FIXING] = rng.integers(0, 2)
        if j != seat:
            state.sightings[0, j], state.known_doors[0, j], state.known_repairs[0, j] = 0, 0, rng.integers(0, 3)
    if ago[-1] > 0:
        state.clock[0, [Clock.ADVERSARY, Clock.TARGET]] = rng.integers(0, rooms), rng.integers(0, len(state.players[0]))
        state.players[0, :, Player.SEEN] = rng.integers(0, 2)
    here = state.players[0, seat, Player.ROOM]
    for d, door in enumerate(game.level.doors):
        if here not in (*door.rooms, door.button):
            state.clock[0, Clock.DOORS] ^= int(rng.integers(0, 2)) << d
    for generator in state.generators[0]:
        if game.level.rooms[generator[Generator.ROOM]] not in seen:
            generator[[Generator.PROGRESS, Generator.FIXER]] = rng.integers(0, 2, 2)


def _scramble_kitchen(game: Any, state: Any, seat: int, rng: np.random.Generator) -> None:
    from collab_overcooked.games.collab_overcooked.engine.constants import (
        NOTHING,
        Clock,
        Group,
        MacroState,
        Param,
        Tile,
    )
    from collab_overcooked.kernels.macro_actions import Macro

    hide_counters(game, state, game.scene(state, 0), seat, rng)
    ago, tables = int(rng.integers(1, 99)), game.compiled.tables
    state.clock[0, Clock.PLACEMENTS] += ago
    counters = [s for s in tables.groups[Group.COUNTER] if s != NOTHING]
    state.tiles[0, counters, Tile.PLACED] += ago * (state.tiles[0, counters, Tile.ITEM] != NOTHING)
    for j in range(game.n_agents):
        if j != seat:
            state.macro_state[0, j, [Macro.STILL, MacroState.REASON]] = rng.integers(0, 9, 2)
    if not tables.params[Param.SHOW_LIMIT]:
        state.clock[0, Clock.LIMIT] += rng.integers(1, 99)
