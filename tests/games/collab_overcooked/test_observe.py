"""What agents see, read back from the numbers: a naive encoder writes the same view from the scene in words."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.collab_overcooked.world import ODD_KITCHENS, odd_kitchen, open_world
from support.naive.collab_overcooked import NaiveKitchen
from support.scenes import write_scene

from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.blocks import blocks_of
from collab_overcooked.kernels.rng import seed_states

FACINGS = ["north", "south", "east", "west"]
STATES = ["empty", "filling", "cooking", "ready"]
KITCHENS = ("paper", "three_agents", "crowd", "cauldron")
CASES = [(kitchen, obs) for kitchen in KITCHENS for obs in ("features", "grid")]


def make(kitchen: str, **options: Any) -> CollabOvercooked:
    if kitchen in ODD_KITCHENS:
        return odd_kitchen(kitchen, **options)
    return CollabOvercooked(kitchen=kitchen, **options)


def tree(kitchen: Kitchen, food: str) -> list[str]:
    recipe = kitchen.recipe_by_product.get(food)
    return [] if recipe is None else [x for part in recipe.inputs for x in (part, *tree(kitchen, part))]


def counts(items: tuple[str, ...], names: list[str]) -> list[int]:
    return [names.count(item) for item in items]


def utensil_contents(utensil: dict[str, Any]) -> list[str]:
    return utensil["contents"] if utensil["status"] == "filling" else [p for p in [utensil["product"]] if p]


class Eyes:
    """What a seat sees of a scene, encoded the slow way."""

    def __init__(self, game: CollabOvercooked, scene: dict[str, Any], seat: int) -> None:
        self.game, self.scene, self.kitchen = game, scene, game.kitchen
        self.items = game.compiled.names.items
        self.reach = NaiveKitchen(game.kitchen, ["-"], lambda: 0)
        self.seat = seat
        n = game.n_agents
        self.order_of_seats = [(seat + k) % n for k in range(n)]
        self.left = min(255, scene["limit"] - scene["timestep"])
        knows = game.config.knowledge == "full" or self.kitchen.agents[seat].knows_recipes
        self.recipe = tree(self.kitchen, scene["orders"][0]) if knows and scene["orders"] else []
        self.counters = [c for c in scene["counters"] if self.reach.may_use(seat, tuple(c["position"]))]

    def features(self) -> list[int]:
        out: list[int] = []
        for seat in self.order_of_seats:
            agent = self.scene["agents"][seat]
            held = agent["holding"]
            out += counts(self.items, [held["item"]] if held else [])
            out += [int(bool(held and held["plated"])), *agent["position"]]
            out += [int(agent["facing"] == facing) for facing in FACINGS] + [int(agent["action"] is not None)]
        displayed = 3 if self.game.pool.refill else 1
        for q in range(displayed):
            out += counts(self.items, self.scene["orders"][q : q + 1])
        out += counts(self.items, self.recipe)
        for utensil in self.scene["utensils"].values():
            out += counts(self.items, utensil_contents(utensil))
            out += [int(utensil["status"] == state) for state in STATES] + self.progress(utensil)
        out += [*counts(self.items, [c["item"] for c in self.counters]), sum(c["plated"] for c in self.counters)]
        return [*out, min(255, self.scene["timestep"]), self.left]

    def progress(self, utensil: dict[str, Any]) -> list[int]:
        started = utensil["status"] in ("cooking", "ready")
        return [utensil["timer"], utensil["time"] - utensil["timer"]] if started else [0, 0]

    def grid(self) -> np.ndarray:
        kitchen, kinds = self.kitchen, [s.name for s in self.kitchen.stations.values() if s.kind == "utensil"]
        names = ["floor", "counter", "ingredients", "dishes", "serving", *kinds]
        marks = len(names)
        depth = marks + 14 + len(self.items)
        out = np.zeros((len(kitchen.grid), len(kitchen.grid[0]), depth), int)
        item = marks + 14

        def put(position: Any, foods: list[str]) -> None:
            out[position[1], position[0], item:] += counts(self.items, foods)

        for y, row in enumerate(kitchen.grid):
            for x, symbol in enumerate(row):
                station = kitchen.stations.get(symbol)
                name = "floor" if symbol == " " else "counter" if station is None else station.name or station.kind
                out[y, x, names.index(name)] = 1
                if name == "serving":
                    out[y, x, marks + 13] = self.left
                    put((x, y), self.scene["orders"][:1])
                if name == "ingredients":
                    put((x, y), self.recipe)
        for k, seat in enumerate(self.order_of_seats):
            agent = self.scene["agents"][seat]
            x, y = agent["position"]
            out[y, x, marks + (0 if k == 0 else 4) + FACINGS.index(agent["facing"])] = 1
            if agent["holding"]:
                out[y, x, marks + 8] = agent["holding"]["plated"]
                put((x, y), [agent["holding"]["item"]])
        for counter in self.counters:
            x, y = counter["position"]
            out[y, x, marks + 8] = counter["plated"]
            put((x, y), [counter["item"]])
        for utensil in self.scene["utensils"].values():
            x, y = utensil["position"]
            put((x, y), utensil_contents(utensil))
            out[y, x, marks + 9 : marks + 11] = self.progress(utensil)
            out[y, x, marks + 11] = utensil["status"] == "cooking"
            out[y, x, marks + 12] = utensil["status"] == "ready"
        return out


def moments(game: CollabOvercooked, steps: int, seed: int, orders: list[str] | None = None) -> Any:
    """Yield state and out after every step of a game of random masked-in actions."""
    rng = random.Random(seed)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    names = game.compiled.names
    scene = {
        "counters": [
            {
                "position": list(cell),
                "item": (item := rng.choice(names.items)),
                "plated": item != "dish" and rng.random() < 0.3,
            }
            for cell in names.tiles
            if game.kitchen.grid[cell[1]][cell[0]] == "X" and rng.random() < 0.6
        ],
        "utensils": {
            names.places[4]: {"contents": [], "product": game.kitchen.recipes[0].product, "timer": 1, "time": 2}
        },
    }
    write_scene(game, state, out, scene, {"orders": orders} if orders else None, 600)
    yield state, out
    for _ in range(steps):
        actions = [rng.choice(np.flatnonzero(out.masks[0, seat]).tolist()) for seat in range(game.n_agents)]
        game.step(state, np.array([actions], np.int32), out)
        yield state, out
        if out.terminated[0]:
            return


@pytest.mark.parametrize("kitchen, obs", CASES, ids=["-".join(case) for case in CASES])
@pytest.mark.parametrize("level", ["medium", "primitive"])
def test_observations_say_what_the_scene_says(kitchen, obs, level):
    game = make(kitchen, obs=obs, action_level=level)
    order = sorted(game.kitchen.serving)[-1]
    for state, out in moments(game, 60, 7, [order, order]):
        scene = game.scene(state, 0)
        for seat in range(game.n_agents):
            eyes = Eyes(game, scene, seat)
            expected = np.array(eyes.features()) if obs == "features" else eyes.grid()
            seen = out.observations[0, seat].reshape(game.single_observation_space.shape)
            assert (seen == expected).all(), np.argwhere(seen != expected)[:5]


@pytest.mark.parametrize("obs", ["features", "grid"])
def test_observations_of_many_orders(obs):
    game = make("crowd", obs=obs, orders=True)
    for state, out in moments(game, 30, 3):
        eyes = Eyes(game, game.scene(state, 0), 1)
        expected = np.array(eyes.features()) if obs == "features" else eyes.grid()
        assert (out.observations[0, 1].reshape(expected.shape) == expected).all()


@pytest.mark.parametrize("obs", ["features", "grid"])
@pytest.mark.parametrize("knowledge, knowers", [("asymmetric", {0}), ("full", {0, 1})])
def test_the_recipe_block_is_for_those_who_know_it(obs, knowledge, knowers):
    """Two orders that differ in their recipe only differ in what a knower sees."""
    game = make("paper", obs=obs, knowledge=knowledge, task="mashed_carrot_and_chickpea_patty")
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_))
    order = game.compiled.names.items.index("mashed_carrot_and_chickpea_patty")
    parts = {game.compiled.names.items.index(food) for food in ("mashed_carrot", "chickpea", "carrot", "carrot_slices")}
    for seat in (0, 1):
        seen = out.observations[0, seat].reshape(game.single_observation_space.shape)
        if obs == "features":
            n_items = len(game.compiled.names.items)
            at = 2 * (n_items + 8)
            expected, recipe = seen[at : at + n_items], seen[at + n_items : at + 2 * n_items]
        else:
            n_items = len(game.compiled.names.items)
            expected, recipe = seen[4, 3, -n_items:], seen[1, 0, -n_items:]
        assert np.flatnonzero(expected).tolist() == [order]  # everybody sees the order
        assert (parts <= set(np.flatnonzero(recipe).tolist())) == (seat in knowers)
        assert recipe.any() == (seat in knowers)


def test_private_counters_are_shown_to_their_users_only():
    game = make("paper")
    state, out = game.alloc(1)
    before = {}
    for cell in [(4, 1), (1, 0), (2, 1), (0, 0)]:
        game.reset(state, out, np.ones(1, np.bool_))
        empty = out.observations[0].copy()
        scene = {"counters": [{"position": list(cell), "item": "egg", "plated": False}]}
        game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        before[cell] = [(out.observations[0, seat] != empty[seat]).any() for seat in (0, 1)]
    assert before == {(4, 1): [True, False], (1, 0): [False, True], (2, 1): [True, True], (0, 0): [False, False]}


def test_long_times_stop_at_255():
    game = make("paper")
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), {"state": {"timestep": 300, "limit": 900}})
    assert out.observations[0, 0, -2:].tolist() == [255, 255]
    game.reset(state, out, np.ones(1, np.bool_), {"state": {"timestep": 300, "limit": 310}})
    assert out.observations[0, 0, -2:].tolist() == [255, 10]


def test_contents_are_bound_by_the_capacity_of_their_own_utensil():
    """The oven comes first in the grid, the pot in observations."""
    game = open_world("XOXPX\nX 0 D\nXIXSX", stations={"O": {"capacity": 5}}).game
    bounds = {block.name: set(np.ravel(block.highest)) for block in blocks_of(game.compiled.features)}
    assert bounds["pot0: contents"] == {3}
    assert bounds["oven0: contents"] == {5}
