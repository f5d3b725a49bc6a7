"""Generated kitchens: as wished for, the same for the same seed, and soup is served in every one of them."""

from __future__ import annotations

from collections import deque
from hashlib import sha256

import numpy as np
import pytest
import yaml
from support.covers import first

import collab_overcooked
from collab_overcooked.evaluation.par_score import play_par
from collab_overcooked.games.overcooked.documents import par_score
from collab_overcooked.games.overcooked.engine.compile import belts_ahead, compile_terrain
from collab_overcooked.games.overcooked.engine.constants import SYMBOLS
from collab_overcooked.games.overcooked.engine.generate import (
    generate,
    layout_text,
    orders_to_prove,
    prove_layout,
    read_generator_config,
)
from collab_overcooked.games.overcooked.engine.solvability import (
    Proof,
    Subtask,
    flood,
    neighbours,
    prove,
    works_anywhere,
)
from collab_overcooked.games.overcooked.engine.spec import layouts, load_kitchen
from collab_overcooked.kernels.grid import OFFSETS

STAY, INTERACT = 4, 5
WISHES = {
    "default": {},
    "two rooms": {"rooms": 2},
    "three players in one to three rooms": {"agents": 3, "rooms": [1, 3], "width": [7, 11]},
    "tomatoes": {"tomatoes": [1, 2], "onions": [0, 1]},
    "alone": {"agents": 1, "width": 4, "height": [4, 5]},
    "four players among counters": {"agents": 4, "counters": [0.3, 0.5], "width": [6, 9], "height": [5, 7]},
    "large": {"width": [12, 16], "height": [8, 12], "pots": 3, "count": 8},
    "belts": {"belts": [1, 2]},
    "preparation": {"prepared": 1},
    "two rooms with belts and preparation": {"belts": 2, "prepared": 2, "tomatoes": 1, "rooms": 2, "width": [7, 9]},
}


def drawn(name: str, **more) -> list:
    return generate(read_generator_config({"count": 24, "seed": 5, **WISHES[name], **more}))


def way(proof: Proof, seat: int, scene: dict, target: tuple[int, int]) -> list[int]:
    """Return the moves that bring a player to face a cell, walking on its own part of the floor."""
    player = scene["players"][seat]
    start = (*player["position"], ["north", "south", "east", "west"].index(player["facing"]))
    queue, moves = deque([start]), {start: []}
    while queue:
        x, y, facing = queue.popleft()
        if (x + OFFSETS[facing][0], y + OFFSETS[facing][1]) == target:
            return moves[x, y, facing]
        for action, (dx, dy) in enumerate(OFFSETS):
            free = (x + dx, y + dy) in proof.zones[seat]
            pose = (x + dx, y + dy, action) if free else (x, y, action)
            if pose not in moves:
                moves[pose] = [*moves[x, y, facing], action]
                queue.append(pose)
    raise AssertionError(f"player {seat} cannot get to {target}")


def act(env, seat: int, action: int) -> None:
    env.step({agent: action if i == seat else STAY for i, agent in enumerate(env.agents)})


def use(env, proof: Proof, seat: int, cell: tuple[int, int]) -> None:
    """Walk to a cell and interact, waiting as long as that would do nothing; others stay where they are."""
    for action in way(proof, seat, env.scene(), cell):
        act(env, seat, action)
    while not env.action_mask(env.agents[seat])[INTERACT]:
        act(env, seat, STAY)
    act(env, seat, INTERACT)


def take(env, proof: Proof, seat: int, cell: tuple[int, int]) -> None:
    """Interact with a cell until a thing is in the hand, which takes several interacts at a board or blender."""
    while env.scene()["players"][seat]["holding"] is None:
        use(env, proof, seat, cell)


def carry_out(env, proof: Proof) -> int:
    pot = None
    for subtask in proof.subtasks:
        if subtask.thing != "soup" or subtask.source != pot:  # there it is in the hand that brought the dish
            take(env, proof, subtask.seat, subtask.source)
        use(env, proof, subtask.seat, subtask.target)
        pot = subtask.target if subtask.thing == "dish" else pot
    return env.scene()["score"]


@pytest.mark.parametrize("name", WISHES)
def test_every_generated_kitchen_serves_by_its_proof(name: str) -> None:
    pool = drawn(name)
    env = collab_overcooked.make("Overcooked-v0", layout=[layout.document.content for layout in pool])
    for layout in pool:
        env.reset(options={"layout": layout.name})
        assert carry_out(env, prove_layout(layout)) == 20, layout.grid


@pytest.mark.slow
@pytest.mark.parametrize("name", first(list(WISHES)))
def test_every_generated_kitchen_is_served_by_a_policy(name: str) -> None:
    """Greedy players stand in each other's way for good in one kitchen out of twelve; the planner does not."""
    for layout in drawn(name):
        assert par_score(layout, "greedy") > 0 or par_score(layout, "planner") > 0, layout.grid


GIVE_WAY = "small_corridor"  # no proof is found: subtasks end where they begin to make way for each other


def test_a_kitchen_where_players_must_give_way_is_served_by_a_policy() -> None:
    layout = load_kitchen(GIVE_WAY)
    assert prove_layout(layout) is None and par_score(layout, "greedy") > 0


@pytest.mark.parametrize(
    "name", [name for name in layouts() if ("forced" not in name or name == "forced_coordination") and name != GIVE_WAY]
)
def test_every_shipped_kitchen_without_gates_serves_by_its_proof(name: str) -> None:
    layout = load_kitchen(name)
    proof = prove_layout(layout)
    assert proof is not None
    if not layout.cells("G"):
        env = collab_overcooked.make("Overcooked-v0", layout=name)
        env.reset()
        assert carry_out(env, proof) == 20


def test_proof_says_who_carries_what() -> None:
    proof = prove(["XOXXPDX", "X  X  S", "XXXXXXX"], [(1, 1), (4, 1)], [("onion",)])
    assert proof is not None
    assert proof.subtasks == (
        Subtask(0, "onion", (1, 0), (3, 1)),
        Subtask(1, "onion", (3, 1), (4, 0)),
        Subtask(1, "dish", (5, 0), (4, 0)),
        Subtask(1, "soup", (4, 0), (6, 1)),
    )
    assert str(proof.subtasks[-1]) == "player 1 carries soup from (4, 0) to (6, 1)"


@pytest.mark.parametrize(
    "grid",
    [
        ["XOXPXDX", "X  W  S", "XXXXXXX"],  # nothing goes through a wall
        ["XOXPXXX", "X  X DX", "X  X  S", "XXXXXXX"],  # the dish cannot be fetched: no one is over there
        ["XOXXXDX", "X     S", "XXXXXXX"],  # no pot
    ],
)
def test_no_proof_of_what_cannot_be(grid: list[str]) -> None:
    assert prove(grid, [(1, 1)], [("onion",) * 3]) is None


def test_player_in_the_way_is_walked_around_or_helps() -> None:
    """In a corridor player 1 bars the way; it hands nothing over, as there is no counter, so there is no proof."""
    corridor = ["WOWWWWW", "W     S", "WPDWWWW"]
    assert prove(corridor, [(1, 1), (4, 1)], [("onion",)]) is None
    assert prove(corridor, [(1, 1)], [("onion",)]) is not None


@pytest.mark.parametrize("name", WISHES)
def test_generated_kitchens_are_as_wished_for(name: str) -> None:
    pool = drawn(name)
    wishes = read_generator_config(WISHES[name])
    for layout in pool:
        assert len(layout.starts) == wishes.agents
        for symbol, (low, high) in zip(
            "POTDS", (wishes.pots, wishes.onions, wishes.tomatoes, wishes.dishes, wishes.servings), strict=True
        ):
            assert low <= len(layout.cells(symbol)) <= high
        assert wishes.width[0] <= layout.width <= wishes.width[1]
        assert wishes.height[0] <= layout.height <= wishes.height[1]
        assert wishes.belts[0] <= len(belts_of(layout)) <= wishes.belts[1]
        assert wishes.prepared[0] <= len(layout.prepare) <= wishes.prepared[1]
        assert [len(layout.cells(symbol)) for symbol in "CHM"] == [
            int(station in layout.prepare.values()) for station in ("board", "grill", "blender")
        ]
    assert len({layout.grid for layout in pool}) == len(pool)


def belts_of(layout) -> list[list[tuple[int, int]]]:
    """Return the cells of each belt: as none leads to another one, a belt begins where none of its kind is behind."""
    belts = []
    for symbol, (dx, dy) in zip("^v><", OFFSETS, strict=True):
        cells = layout.cells(symbol)
        for x, y in cells:
            if (x - dx, y - dy) not in cells:
                run = [(x + k * dx, y + k * dy) for k in range(len(cells))]
                belts.append([cell for k, cell in enumerate(run) if set(run[: k + 1]) <= set(cells)])
    return belts


@pytest.mark.parametrize("options", [{}, {"rooms": 2, "counters": 0.5, "width": [7, 12], "height": [6, 9]}])
def test_players_can_stand_beside_both_ends_of_a_belt_and_nothing_is_lost_on_it(options: dict) -> None:
    directions = set()
    for layout in drawn("belts", **options):
        floor = set(layout.cells(" "))
        (terrain,) = compile_terrain([layout.grid], SYMBOLS)
        for belt in belts_of(layout):
            for cell in [belt[0], *belts_ahead(layout.name, terrain, belt[0])]:
                assert not floor.isdisjoint(neighbours(cell)), (layout.grid, belt)
            assert 2 <= len(belt) <= 4
            directions.add(layout.grid[belt[0][1]][belt[0][0]])
    assert directions == set("^v><")


def test_layouts_of_a_pool_share_one_preparation_that_depends_on_the_seed() -> None:
    pools = [drawn("preparation", tomatoes=1, seed=seed, count=2) for seed in range(12)]
    assert all(first.prepare == second.prepare for first, second in pools)
    assert {name for layout, _ in pools for name in layout.prepare} == {"onion", "tomato"}
    assert {station for layout, _ in pools for station in layout.prepare.values()} == {"board", "grill", "blender"}


def test_greedy_players_use_belts_and_stations() -> None:
    for layout in drawn("belts", prepared=1, count=6):
        env = play_par("Overcooked-v0", "greedy", layout=layout.document.content, max_cycles=150)
        assert env.scene()["score"] > 0, layout.grid


def test_kitchens_with_belts_and_stations_are_rearranged() -> None:
    first, second, third = drawn("belts", prepared=1, rearrange=True, count=3)
    assert belts_of(first) == belts_of(second) == belts_of(third) != []
    assert first.cells(" ") == second.cells(" ") and first.grid != second.grid != third.grid
    for layout in (first, second, third):
        floors = [flood(layout.grid, start, set()) for start in layout.starts]
        assert works_anywhere(layout.grid, floors, orders_to_prove(layout), layout.prepare)
    collab_overcooked.make(
        "Overcooked-v0", layout=[layout.document.content for layout in (first, second, third)], changes=50, notice=5
    )


def test_layouts_without_belts_and_preparation_are_those_drawn_before_there_were_any() -> None:
    digest = sha256()
    for options in ({}, {"rooms": 2}, {"tomatoes": [1, 2], "onions": [0, 1]}, {"rearrange": True}):
        for layout in generate(read_generator_config({"seed": 5, "count": 4, **options})):
            digest.update(str(layout.document.content).encode())
    assert digest.hexdigest()[:16] == "cf1d381b28a0460d"


def test_directives_refuse_generated_preparation() -> None:
    options = {"layout": "procedural", "action_level": "medium"}
    with pytest.raises(ValueError, match="directives know no boards"):
        collab_overcooked.make("Overcooked-v0", generator={"count": 2, "prepared": 1}, **options)
    collab_overcooked.make("Overcooked-v0", generator={"count": 2, "belts": 1}, **options)


def test_layout_of_a_seed_is_the_same_however_many_are_drawn() -> None:
    few, many = drawn("default", count=3), drawn("default", count=9)
    assert [layout.grid for layout in few] == [layout.grid for layout in many[:3]]
    assert few[0].grid != drawn("default", seed=6)[0].grid


def test_written_layout_reads_back(tmp_path) -> None:
    for layout in (drawn("tomatoes")[0], drawn("belts", tomatoes=1, prepared=2)[0]):
        path = tmp_path / "kitchen.yaml"
        path.write_text(layout_text(layout.document.content, par=140))
        read = load_kitchen(path)
        assert (read.grid, read.starts, read.orders, read.par) == (layout.grid, layout.starts, layout.orders, 140)
        assert read.prepare == layout.prepare
        assert yaml.safe_load(layout_text(layout.document.content))["name"] == "procedural_5_0"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"potts": 2}, "potts.*pots"),
        ({"pots": 0}, "pots must be an integer from 1"),
        ({"width": [5, 9, 12]}, "pair"),
        ({"agents": 5}, "agents must be an integer from 1 to 4"),
        ({"rooms": 3}, "rooms must be an integer from 1 to 2"),
        ({"counters": 1.5}, "counters must be a share"),
        ({"counters": [0.4, 0.1]}, "counters must be a share"),
        ({"onions": 0}, "a soup needs one"),
        ({"count": 0}, "count must be"),
        ({"belts": -1}, "belts must be an integer from 0 to 40"),
        ({"belts": [2, 1]}, "belts must be a number or a pair"),
        ({"prepared": 3}, "prepared must be an integer from 0 to 2"),
        ({"prepared": [0, 2]}, "prepared must be at most 1, not 2; .* has a dispenser: onion$"),
        ({"prepared": 2, "tomatoes": [0, 1]}, "prepared must be at most 1, not 2"),
        ({"prepared": 1, "onions": [0, 1], "tomatoes": [0, 1]}, "prepared must be at most 0, not 1; .*: none$"),
    ],
)
def test_impossible_wishes_are_refused(value: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_generator_config(value)


def test_no_room_is_said() -> None:
    with pytest.raises(ValueError, match="no layout number 0 found"):
        generate(read_generator_config({"width": 4, "height": 4, "pots": 9, "count": 1}))


def test_environment_draws_a_layout_at_every_reset() -> None:
    env = collab_overcooked.make_vec(
        "Overcooked-v0", num_envs=64, layout="procedural", generator={"count": 16, "seed": 2}
    )
    env.reset(seed=0)
    first = env.state.clock[:, 3].copy()
    env.reset()
    assert len(np.unique(first)) > 8
    assert (env.state.clock[:, 3] != first).any()
    with pytest.raises(ValueError, match="generator is for layout 'procedural'"):
        collab_overcooked.make("Overcooked-v0", layout="cramped_room", generator={"count": 3})


def test_number_of_players_is_the_generators_too() -> None:
    env = collab_overcooked.make("Overcooked-v0", layout="procedural", agents=3, generator={"count": 2})
    assert len(env.possible_agents) == 3
    assert all(len(layout.starts) == 3 for layout in env.game.compiled.layouts)
