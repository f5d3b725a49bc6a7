"""Generated kitchens: as wished for, the same for the same seed, and soup is served in every one of them."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
import yaml
from support.covers import first

import collab_overcooked
from collab_overcooked.games.overcooked.documents import par_score
from collab_overcooked.games.overcooked.engine.generate import (
    generate,
    layout_text,
    prove_layout,
    read_generator_config,
)
from collab_overcooked.games.overcooked.engine.solvability import Proof, Subtask, prove
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


def carry_out(env, proof: Proof) -> int:
    pot = None
    for subtask in proof.subtasks:
        if subtask.thing != "soup" or subtask.source != pot:  # there it is in the hand that brought the dish
            use(env, proof, subtask.seat, subtask.source)
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
    if not layout.cells("G") and not layout.prepare:  # subtasks do not say how ingredients are prepared
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
    assert len({layout.grid for layout in pool}) == len(pool)


def test_layout_of_a_seed_is_the_same_however_many_are_drawn() -> None:
    few, many = drawn("default", count=3), drawn("default", count=9)
    assert [layout.grid for layout in few] == [layout.grid for layout in many[:3]]
    assert few[0].grid != drawn("default", seed=6)[0].grid


def test_written_layout_reads_back(tmp_path) -> None:
    layout = drawn("tomatoes")[0]
    path = tmp_path / "kitchen.yaml"
    path.write_text(layout_text(layout, par=140))
    read = load_kitchen(path)
    assert (read.grid, read.starts, read.orders, read.par) == (layout.grid, layout.starts, layout.orders, 140)
    assert yaml.safe_load(layout_text(layout))["name"] == "procedural_5_0"


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
