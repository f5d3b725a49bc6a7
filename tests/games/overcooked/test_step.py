"""Whole games: against a naive kitchen step by step, and what must hold in every game."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import ODD_KITCHENS, game_of, odd_kitchen
from support.covers import cover
from support.naive.overcooked import NaiveKitchen

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.games.overcooked.engine.constants import Clock, EventColumn
from collab_overcooked.games.overcooked.engine.spec import Layout, layouts
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.kernels.grid import OFFSETS, Direction
from collab_overcooked.kernels.rng import seed_states

KITCHENS = (*layouts(), *ODD_KITCHENS)
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "explicit": {"dynamics": "explicit"},
    "three": {"agents": 3},
    "gates": {"gate_limit": 2, "gate_pause": False, "gate_opener": "anyone"},
}
CASES = cover(KITCHENS, list(OPTIONS))


UNTOLD = ("limit", "layout", "chance", "memory")  # what the naive kitchen does not tell


def game_for(kitchen: str, **options: Any) -> Overcooked:
    if kitchen in ODD_KITCHENS:
        return odd_kitchen(kitchen, **options)
    return game_of(kitchen, **options)


def naive_of(game: Overcooked) -> NaiveKitchen:
    (layout,) = game.layouts
    options = game.compiled.config
    cells = [tuple(cell) for cell in game.compiled.tables.starts[0].tolist()]
    limit = layout.gate_limit if options.gate_limit is None else options.gate_limit
    auto, anyone = options.dynamics == "auto", options.gate_opener == "anyone"
    return NaiveKitchen(layout, cells, auto, limit, options.gate_pause, anyone)


class Pair:
    """The kernels and the naive kitchen, playing the same game from the same moment."""

    def __init__(self, game: Overcooked, scene: dict[str, Any] | None = None) -> None:
        self.game, self.naive = game, naive_of(game)
        self.state, self.out = game.alloc(1)
        self.state.rng[:] = seed_states([0])
        game.reset(self.state, self.out, np.ones(1, np.bool_), {"state": scene} if scene else None, 10**6)
        if scene:
            self.naive.load(game.scene(self.state, 0))
        self.compare(None)

    def step(self, actions: list[int]) -> None:
        texts = [self.game.action_texts()[action] for action in actions]
        news = self.naive.step(texts)
        self.game.step(self.state, np.array([actions], np.int32), self.out)
        message = f"{texts} led to {self.game.scene(self.state, 0)}"
        events = [sorted(event["events"]) if event else [] for event in self.game.events(self.out, 0)]
        assert events == [sorted(names) for names in news["events"]], message
        assert self.out.sparse[0].tolist() == news["sparse"], message
        assert self.out.shaped[0].tolist() == news["shaped"], message
        assert self.out.rewards[0].tolist() == [sum(news["sparse"])] * len(actions), message
        assert (self.out.events[0, :, EventColumn.REASON] == 0).tolist() == news["done"], message
        self.compare(message)

    def compare(self, notice: str | None) -> None:
        actual = {key: value for key, value in self.game.scene(self.state, 0).items() if key not in UNTOLD}
        assert actual == self.naive.scene(), notice


def some_thing(rng: random.Random) -> dict[str, Any]:
    item = rng.choice(["onion", "tomato", "dish", "soup"])
    return {"item": item, **({"ingredients": some_ingredients(rng)} if item == "soup" else {})}


def some_ingredients(rng: random.Random) -> list[str]:
    return [rng.choice(["onion", "onion", "tomato"]) for _ in range(rng.randint(1, 3))]


def some_scene(game: Overcooked, rng: random.Random) -> dict[str, Any]:
    """Draw a moment: full hands, laid counters, pots in every state, gates at every count."""
    (layout,), n_players = game.layouts, game.n_agents
    limit = layout.gate_limit if game.compiled.config.gate_limit is None else game.compiled.config.gate_limit
    places = rng.sample(layout.cells(" "), n_players)
    objects = []
    for cell in layout.cells("X"):
        if rng.random() < 0.3:
            objects.append({"position": list(cell), **some_thing(rng)})
    for cell in layout.cells("P"):
        if rng.random() < 0.8:
            ingredients = some_ingredients(rng)
            time = layout.cook_times[ingredients.count("onion"), ingredients.count("tomato")]
            soup = {"item": "soup", "ingredients": ingredients, "tick": rng.randint(-1, time)}
            objects.append({"position": list(cell), **soup})
    return {
        "players": [
            {
                "position": list(cell),
                "facing": some_facing(layout, cell, rng),
                "holding": some_thing(rng) if rng.random() < 0.6 else None,
            }
            for cell in places
        ],
        "objects": objects,
        "gates": [
            {"position": list(cell), "open": True, "counter": rng.randint(0, limit)}
            for cell in layout.cells("G")
            if rng.random() < 0.5
        ],
    }


def some_facing(layout: Layout, cell: tuple[int, int], rng: random.Random) -> str:
    """Mostly face a station, pots and dispensers before counters."""
    ranked = [rng.choice(list(Direction))]
    for symbols in ("X", "OTDSG", "P"):
        ranked += [side for side in Direction if symbol_ahead(layout, cell, side) in symbols and rng.random() < 0.8]
    return ranked[-1].name.lower()


def symbol_ahead(layout: Layout, cell: tuple[int, int], side: Direction) -> str:
    dx, dy = OFFSETS[side]
    return layout.grid[cell[1] + dy][cell[0] + dx]


def some_actions(pair: Pair, rng: random.Random, eager: float) -> list[int]:
    """Interact where that does something, by a chance; otherwise anything."""
    masks = pair.out.masks[0]
    return [5 if masks[i, 5] and rng.random() < eager else rng.randrange(6) for i in range(pair.game.n_agents)]


@pytest.mark.parametrize(("kitchen", "options"), CASES)
def test_random_play_equals_the_naive_kitchen(kitchen: str, options: str) -> None:
    game = game_for(kitchen, **OPTIONS[options])
    for seed in range(20):
        rng = random.Random(f"{kitchen} {options} {seed}")
        pair = Pair(game, some_scene(game, rng) if seed else None)
        for _ in range(30 if seed else 200):
            pair.step(some_actions(pair, rng, 0.7))


def test_a_pool_draws_layouts_alike_and_keeps_their_sizes() -> None:
    game = game_of(["cramped_room", "locked", "counter_circuit"])
    batch = BatchEnv(game, 300)
    batch.reset(seed=0)
    drawn = np.bincount(batch.state.clock[:, Clock.LAYOUT], minlength=3)
    assert drawn.min() > 70
    for b in range(12):
        k = batch.state.clock[b, Clock.LAYOUT]
        assert batch.scene(b)["layout"] == game.compiled.names[k]
        starts = [player["position"] for player in batch.scene(b)["players"]]
        assert starts == [list(cell) for cell in game.layouts[k].starts]


@pytest.mark.parametrize("name", ["cramped_room", "locked", "counter_circuit"])
def test_a_layout_plays_in_a_pool_as_it_does_alone(name: str) -> None:
    pool, alone = game_of(["cramped_room", "locked", "counter_circuit"]), game_of(name)
    rng = random.Random(name)
    states = []
    actions = [[rng.randrange(6), rng.randrange(6)] for _ in range(200)]
    for game in (pool, alone):
        state, out = game.alloc(1)
        state.rng[:] = seed_states([1])
        game.reset(state, out, np.ones(1, np.bool_), {"layout": name})
        scenes = []
        for pair in actions:
            game.step(state, np.array([pair], np.int32), out)
            scenes.append((game.scene(state, 0), out.events.tolist(), out.shaped.tolist()))
        states.append(scenes)
    assert states[0] == states[1]
