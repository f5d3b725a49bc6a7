"""Kitchens that change: when, what is lost, what is announced, and what nobody may foresee when it is not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import Rollout, game_of, picture_of, scene_of, split_world
from support.cli_runner import run
from support.naive.overcooked import NaiveKitchen

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.overcooked.engine.constants import NOTHING, Change, ChangeTime, Clock, Param, Row, Verb
from collab_overcooked.games.overcooked.engine.directives import had_effect
from collab_overcooked.games.overcooked.engine.observe import draw_change, encode_change
from collab_overcooked.games.overcooked.engine.rules import (
    change_kitchen,
    is_change_blocked,
    is_change_due,
    next_layout,
)
from collab_overcooked.games.overcooked.engine.solvability import flood, floors_in_cycle, prove, works_anywhere
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.scoring import measure_recovery, phases_of, points_by_phase
from collab_overcooked.games.overcooked.suite import CHANGING
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import replay
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import ConformanceError, check_game

FIRST = "XPXPX\nO1 2O\nX   X\nXDXSX"
SECOND = "XPXOX\nP1 2D\nX   X\nSXXXX"
STAY = 4


def layout_of(name: str, grid: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "grid": grid, "orders": [["onion"] * 3], **keys}


POOL = [layout_of("first", FIRST), layout_of("second", SECOND)]


def changing(**options: Any) -> Overcooked:
    return game_of(POOL, **options)


def start(game: Overcooked, seed: int = 0, **options: Any) -> tuple[Any, Any]:
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), options or None, 1000)
    return state, out


def wait(game: Overcooked, state: Any, out: Any, steps: int) -> list[str]:
    """Let all players stay, and tell the kitchen after each step."""
    kitchens = []
    for _ in range(steps):
        game.step(state, np.full((1, game.n_agents), STAY, np.int32), out)
        kitchens.append(game.compiled.names[state.clock[0, Clock.LAYOUT]])
    return kitchens


def rollout_of(world: str, **options: Any) -> Rollout:
    grid, facts = split_world(world)
    game = changing(**options)
    state, out = start(game, state={"layout": "first", **scene_of(grid, facts)})
    rollout = Rollout(game, state, out)
    rollout.pictures.append(picture_of(game, rollout.scene))
    return rollout


def test_change_kitchen() -> None:
    """What is on a cell that changes is lost; all else stays, and a soup goes on cooking in a pot that stays a pot."""
    rollout = rollout_of(
        """
        XPXPX
        O1 2O
        X   X
        XDXSX
        1 north holds onion
        2 west holds soup(onion, onion, onion)
        (1,0) onion, onion, onion 5/20
        (3,0) onion, onion, onion 7/20
        (0,0) dish
        (0,3) tomato
        """,
        changes=2,
    )
    rollout.step([STAY, STAY])
    assert rollout.pictures[-1].splitlines()[:2] == ["XPXPX", "O1 2O"]
    rollout.step([STAY, STAY])
    assert rollout.last == "\n".join(
        [
            "XPXOX",
            "P1 2D",
            "X   X",
            "SXXXX",
            "1 north holds onion",
            "2 west holds soup(onion, onion, onion)",
            "(0,0) dish",
            "(1,0) onion, onion, onion 7/20",
        ]
    )
    direct, _ = start(rollout.game)
    direct.cells[0, 0, 3] = direct.cells[0, 0, 1] = 2
    before = int(direct.clock[0, Clock.LAYOUT])
    change_kitchen(rollout.game.compiled.tables.terrain, row_at(direct, 0))
    assert direct.clock[0, Clock.LAYOUT] == 1 - before
    assert not direct.cells[0, 0, 3].any() and direct.cells[0, 0, 1].all()


def test_next_layout() -> None:
    terrain = np.zeros((3, 2, 2), np.int32)
    assert [next_layout(k, terrain) for k in range(3)] == [1, 2, 0]


@pytest.mark.parametrize("notice", [0, 1, 4])
def test_change_in_time_every_so_many_steps_in_the_order_of_the_pool(notice: int) -> None:
    third = layout_of("third", SECOND.replace("O", "X", 1).replace("XXXX", "XOXX"))
    game = game_of([*POOL, third], changes={"every": 5}, notice=notice)
    kitchens = wait(game, *start(game, layout="second"), 17)
    assert kitchens == [*["second"] * 4, *["third"] * 5, *["first"] * 5, *["second"] * 3]


@pytest.mark.parametrize("notice", [0, 3])
def test_random_changes_come_at_all_times_of_their_range_alike(notice: int) -> None:
    game = changing(changes={"random": [4, 7]}, notice=notice)
    batch = BatchEnv(game, 400, max_cycles=50)
    batch.reset(seed=0)
    seen: dict[int, int] = {}
    changed = np.zeros(400, np.bool_)
    first = batch.state.clock[:, Clock.LAYOUT].copy()
    for t in range(1, 9):
        batch.step(np.full((400, 2), STAY, np.int32))
        now = (batch.state.clock[:, Clock.LAYOUT] != first) & ~changed
        changed |= now
        if now.any():
            seen[t] = int(now.sum())
    assert sorted(seen) == [4, 5, 6, 7] and changed.all()
    assert min(seen.values()) > 70


@pytest.mark.parametrize("notice", [0, 3])
def test_a_delivery_changes_the_kitchen_at_once_or_after_its_notice(notice: int) -> None:
    world = f"{FIRST}\n2 north holds soup(onion, onion, onion)"
    rollout = rollout_of(world, changes={"after": "delivery"}, notice=notice)
    rollout.step([STAY, 1])
    rollout.step([STAY, 5])
    assert rollout.sparse[-1] == [0, 20]
    later = [rollout.scene["layout"]]
    for _ in range(4):
        rollout.step([STAY, STAY])
        later.append(rollout.scene["layout"])
    assert later == ["first"] * notice + ["second"] * (5 - notice)


def test_is_change_due() -> None:
    params = np.zeros(len(Param), np.int32)
    params[[Param.CHANGES, Param.CHANGE_LOW, Param.CHANGE_HIGH, Param.NOTICE]] = ChangeTime.TIMED, 6, 6, 2
    changes, rng = np.zeros(len(Change), np.int32), seed_states([0])[0]
    told = []
    for _ in range(6):
        told.append((bool(is_change_due(changes, params, False, rng)), int(changes[Change.LEFT])))
    assert told == [(False, 0)] * 3 + [(False, 2), (False, 1), (True, 0)]
    assert rng.tolist() == seed_states([0])[0].tolist()  # nothing to draw
    params[Param.CHANGES] = ChangeTime.NEVER
    changes[Change.LEFT] = 1
    assert is_change_due(changes, params, True, rng)  # what is announced comes
    assert not is_change_due(changes, params, True, rng)


@pytest.mark.parametrize("options", [{}, {"agents": 3}, {"dynamics": "explicit"}])
def test_random_play_across_changes_equals_the_naive_kitchen(options: dict[str, Any]) -> None:
    every = 7
    for seed in range(6):
        game = changing(changes=every, notice=3, **options)
        state, out = start(game, layout="first")
        cells = [tuple(cell) for cell in game.compiled.tables.starts[0].tolist()]
        naive = NaiveKitchen(game.layouts[0], cells, game.compiled.config.dynamics == "auto", 10)
        rng = random.Random(seed)
        for t in range(1, 150):
            masks = out.masks[0]
            wishes = [5 if masks[i, 5] and rng.random() < 0.8 else rng.randrange(6) for i in range(game.n_agents)]
            news = naive.step([game.action_texts()[action] for action in wishes])
            game.step(state, np.array([wishes], np.int32), out)
            if t % every == 0:
                naive.change(game.layouts[t // every % 2])
            assert out.sparse[0].tolist() == news["sparse"] and out.shaped[0].tolist() == news["shaped"]
            scene = game.scene(state, 0)
            told = naive.scene()
            assert {key: scene[key] for key in told} == told


def test_episodes_are_credited_to_the_layout_of_their_start() -> None:
    game = changing(changes=2)
    batch = BatchEnv(game, 8, max_cycles=20)
    batch.reset(seed=0)
    first = batch.layout_numbers().copy()
    assert len(set(first.tolist())) == 2
    env = collab_overcooked.make("Overcooked-v0", layout=POOL, changes=2)
    _, infos = env.reset(seed=0, options={"layout": "second"})
    for _ in range(3):
        *_, numbers = batch.step(np.full((8, 2), STAY, np.int32))
        *_, infos = env.step(dict.fromkeys(env.agents, STAY))
    assert (batch.state.clock[:, Clock.LAYOUT] != first).all()
    assert batch.layout_numbers().tolist() == first.tolist()
    assert numbers["layout"][:, 0].tolist() == first.tolist()
    assert env.scene()["layout"] == "first" and infos["agent_0"]["layout"] == 1


ANNOUNCED = {"lossless": 28, "gates": 25, "jaxmarl": 28}


@pytest.mark.parametrize("obs", ANNOUNCED)
def test_draw_change(obs: str) -> None:
    """A countdown in all cells, and the cells that change, for as long as the change is announced."""
    game = changing(changes=6, notice=2, obs=obs, axes="hwc")
    state, out = start(game, layout="first")
    shown = []
    for _ in range(7):
        picture = out.observations[0, 1].reshape(game.single_observation_space.shape)
        assert picture.shape[2] == ANNOUNCED[obs]
        shown.append((set(picture[..., -2].ravel().tolist()), np.argwhere(picture[..., -1])[:, ::-1].tolist()))
        wait(game, state, out, 1)
        game.observe(state, out)
    cells = [[3, 0], [0, 1], [4, 1], [0, 3], [1, 3], [3, 3]]
    assert shown == [({0}, [])] * 4 + [({2}, cells), ({1}, cells), ({0}, [])]
    window = changing(changes=6, notice=2, view_radius=1)
    state, out = start(window, layout="first")
    wait(window, state, out, 4)
    drawn = np.zeros(window.single_observation_space.shape, np.uint8).ravel()
    draw_change(window.compiled.tables.terrain, row_at(state, 0), 0, 0, window.compiled.tables.views, drawn)
    seen = drawn.reshape(window.single_observation_space.shape)
    assert seen[..., -2].tolist() == [[2] * 3] * 3
    assert np.argwhere(seen[..., -1]).tolist() == [[0, 1]]


def test_encode_change() -> None:
    """The last 13 features are the steps to a change, and the ways to the nearest objects as they will be."""
    game, plain = changing(changes=6, notice=3, obs="features"), changing(obs="features")
    state, out = start(game, layout="first")
    ends = []
    for _ in range(6):
        wait(game, state, out, 1)
        game.observe(state, out)
        ends.append(out.observations[0, 0, -13:].tolist())
        assert game.single_observation_space.contains(out.observations[0, 0])
    assert game.single_observation_space.shape[0] == plain.single_observation_space.shape[0] + 13
    assert [end[0] for end in ends] == [0, 0, 3, 2, 1, 0]
    for end in ends:  # player 1 at (1, 1): onions (3, 0), dishes (4, 1), pots (1, 0), (0, 1)
        after = [2, -1, 0, 0, 3, 0, 0, 0, 0, -1, -1, 0] if end[0] else [0] * 12
        assert end[1:] == after
    direct = np.ones(13, np.int8)
    state.changes[0, Change.LEFT] = 0
    encode_change(game.compiled.tables, row_at(state, 0), 0, direct)
    assert not direct.any()


NORTH = "XXXXXXX\nX1   2X\nX  X  X\nXXPOSDX"
SOUTH = "XXXXXXX\nX1 X 2X\nX     X\nXXPOSDX"
DOORS = [layout_of("north", NORTH), layout_of("south", SOUTH)]
MOVES = {"north": 0, "south": 1, "east": 2, "west": 3, "stay": STAY}


@pytest.mark.parametrize("notice", [0, 2])
def test_is_change_blocked(notice: int) -> None:
    """Walls close only where nobody stands: a change waits, told if it was announced, and comes as soon as it can."""
    game = game_of(DOORS, changes=4, notice=notice)
    state, out = start(game, layout="north")
    names, told = [], []
    walk = ["east", "east", "stay", "stay", "stay", "stay", "west", *["stay"] * 4]
    for move in walk:
        game.step(state, np.array([[MOVES[move], STAY]], np.int32), out)
        names.append(game.compiled.names[state.clock[0, Clock.LAYOUT]])
        told += [line for line in game.describe(state, 0, 1).splitlines() if "kitchen changes" in line]
        assert is_change_blocked(game.compiled.tables.terrain, row_at(state, 0)) == (state.players[0, 0, 0] == 3)
    assert names == ["north"] * 6 + ["south"] * 4 + ["north"]
    if not notice:
        assert not told
        return
    cells = "(3, 1) becomes a counter, k10 (3, 2) becomes floor"
    waits = f"In 1 step, once no player stands at (3, 1), the kitchen changes: {cells}."
    assert told[0] == waits.replace("In 1 step", "In 2 steps") and told[1:5] == [waits] * 4
    assert told[5].startswith("In 2 steps the kitchen changes: ")


def test_a_secret_change_that_waits_is_foreseen_by_no_search() -> None:
    game = game_of(DOORS, changes=4)
    state, out = start(game, layout="north")
    for move in ("east", "east", "stay", "stay"):
        game.step(state, np.array([[MOVES[move], STAY]], np.int32), out)
    assert state.changes[0, Change.LEFT] == 1
    fork = Simulator(game, state, 0).fork(8, 1)
    fork.advance(np.full((8, 2), MOVES["west"], np.int32))
    assert (fork.state.clock[:, Clock.LAYOUT] == 0).all()


@pytest.mark.parametrize("notice", [0, 3])
def test_a_change_that_waits_is_restored_from_its_scene(notice: int) -> None:
    game = game_of(DOORS, changes=4, notice=notice)
    state, out = start(game, layout="north")
    for move in ("east", "east", "stay", "stay", "stay"):
        game.step(state, np.array([[MOVES[move], STAY]], np.int32), out)
    scene = game.scene(state, 0)
    assert scene["changes"]["left"] == 1
    again, out_again = start(game, state=scene)
    step = np.array([[MOVES["west"], STAY]], np.int32)
    game.step(state, step, out)
    game.step(again, step, out_again)
    assert game.scene(again, 0) == game.scene(state, 0)
    assert game.scene(state, 0)["layout"] == "south"


@pytest.mark.parametrize("policy", ["greedy", "planner:width=60"])
@pytest.mark.parametrize("notice", [0, 20])
def test_scripted_teams_earn_in_every_phase_while_walls_move(policy: str, notice: int) -> None:
    pool = ["passage_north", "passage_south"]
    env = collab_overcooked.make("Overcooked-v0", layout=pool, changes=100, notice=notice, max_cycles=300)
    record = play_episode(env, make_team([policy] * 2), 0)
    assert all(sum(points) > 0 for _, points in phases_of(record))  # type: ignore[arg-type]


def test_an_announced_change_stands_in_texts_and_pictures() -> None:
    game = changing(changes=6, notice=2)
    state, out = start(game, layout="first")
    assert "Every 6 steps the kitchen changes" in game.manual(state, 0, 0)
    assert "becomes" not in game.describe(state, 0, 0) and "Change in" not in game.render(state, 0, "ansi")
    wait(game, state, out, 4)
    assert "In 2 steps the kitchen changes: c1 (3, 0) becomes an onion dispenser" in game.describe(state, 0, 0)
    picture = game.render(state, 0, "ansi")
    assert "Change in 2" in picture
    drawing = game.drawing(game.scene(state, 0))
    labels = {place: cell.labels for place, cell in drawing.parts[0].cells}  # type: ignore[union-attr]
    assert labels[3, 0][:2] == ("c1 soon onions", "soon onions") and labels[0, 0] == ("k0",)
    assert {place for place, names in labels.items() if len(names) > 1} == {place for place, _ in game.coming(0)}
    wait(game, state, out, 2)
    assert "kitchen changes:" not in game.describe(state, 0, 0)


def test_who_waits_for_a_change_wakes_at_its_announcement_and_when_it_comes() -> None:
    game = changing(changes=6, notice=2, action_level="medium")
    state, out = start(game, layout="first")
    values = []
    for _ in range(8):
        values.append(game.seen(state, 0, 0).wait_until_changed)
        game.step(state, np.zeros((1, 2), np.int32), out)
    news = [after != before for before, after in pairwise(values)]
    assert news == [False, False, False, True, False, True, False]


SECRET: tuple[dict[str, Any], ...] = (
    {"changes": 20},
    {"changes": {"random": [15, 25]}},
    {"changes": {"after": "delivery"}},
)


@pytest.mark.parametrize("options", SECRET)
def test_nobody_is_told_of_secret_changes(options: dict[str, Any]) -> None:
    game, plain = changing(**options), changing()
    state, _ = start(game, layout="first")
    usual, _ = start(plain, layout="first")
    assert game.single_observation_space == plain.single_observation_space
    for seat in range(2):
        assert game.manual(state, 0, seat) == plain.manual(usual, 0, seat)
        assert game.describe(state, 0, seat) == plain.describe(usual, 0, seat)
        assert game.seen(state, 0, seat).scene == plain.seen(usual, 0, seat).scene


def futures(game: Overcooked, state: Any, steps: int) -> set[int]:
    """Tell in which kitchens copies of a search are after some steps."""
    fork = Simulator(game, state, 0).fork(40, 1)
    for _ in range(steps):
        fork.advance(np.full((40, 2), STAY, np.int32))
    return set(fork.state.clock[:, Clock.LAYOUT].tolist())


@pytest.mark.parametrize(
    ("options", "foreseen"),
    [
        ({"changes": 20}, {0}),
        ({"changes": {"random": [15, 25]}}, {0}),
        ({"changes": {"random": [15, 25]}, "notice": 5}, {0}),
        ({"changes": 20, "notice": 5}, {1}),
    ],
)
def test_searches_foresee_only_what_players_are_told(options: dict[str, Any], foreseen: set[int]) -> None:
    game = changing(**options)
    state, _ = start(game, layout="first")
    assert futures(game, state, 30) == foreseen


def test_searches_foresee_a_random_change_once_it_is_announced() -> None:
    game = changing(changes={"random": [15, 25]}, notice=5)
    state, out = start(game, layout="first")
    while not state.changes[0, Change.LEFT]:
        wait(game, state, out, 1)
    assert futures(game, state, 6) == {1}


class Leaking(Overcooked):
    """A kitchen that tells its players how long ago it changed."""

    id = "Leaking-v0"

    def describe(self, state: Any, i: int, seat: int) -> str:
        return f"{super().describe(state, i, seat)} {state.changes[i, Change.SINCE]}"


def test_the_kit_finds_a_kitchen_that_tells_of_secret_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    leaking = registry.GameSpec("Leaking-v0", f"{__name__}:Leaking", "It tells.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, leaking])
    with pytest.raises(ConformanceError, match=r"the text of Alice depends on what it may not know \(changes\)"):
        check_game("Leaking-v0", layout=POOL, changes=20, checks=["knowledge"])


@pytest.mark.slow
def test_the_planner_is_surprised_by_secret_changes_and_recovers() -> None:
    scores = {}
    for notice in (0, 10):
        env = collab_overcooked.make("Overcooked-v0", layout=POOL, changes=60, notice=notice, max_cycles=240)
        record = play_episode(env, make_team(["planner:width=60", "planner:width=60"]), 0)
        scores[notice] = sum(sum(points) for _, points in phases_of(record))  # type: ignore[arg-type]
        assert scores[notice] > 0
    assert scores[0] <= scores[10]


def record_of(phases: Sequence[tuple[str, list[float]]]) -> Any:
    """Make the parts of a record that phases are read from."""

    class Paid:
        def __init__(self, sparse: float) -> None:
            self.sparse = sparse

    class Played:
        def __init__(self, paid: float) -> None:
            self.events = [Paid(paid), None]

    class Recorded:
        def __init__(self) -> None:
            self.kitchens: list[tuple[int, str]] = []
            self.steps: list[Played] = []

    record = Recorded()
    for name, points in phases:
        record.kitchens.append((len(record.steps), name))
        record.steps += map(Played, points)
    return record


def test_recovery_counts_steps_to_the_usual_rate() -> None:
    steady = [0.0, 10.0] * 5
    slow = [0.0, 0.0, 0.0, 0.0, 20.0, 10.0, 10.0, 0.0, 0.0, 0.0]  # usually 20 in 5 steps
    record = record_of([("a", steady), ("b", slow), ("a", steady)])
    assert phases_of(record)[1] == ("b", slow)
    assert measure_recovery(record) == (5 + 2) / 2  # 20 of the 16 points that are enough; 10 of 8.4
    assert measure_recovery(record_of([("a", steady)])) is None
    assert measure_recovery(record_of([("a", steady), ("b", [0.0] * 8)])) is None, "it has no usual rate"
    never = record_of([("b", [0.0, 20.0]), ("a", steady), ("b", [0.0] * 8)])
    assert measure_recovery(never) == (2 + 8) / 2, "a phase that never gets there counts with all its steps"
    assert phases_of(record_of([("a", steady), ("b", [])])) == [("a", steady)]


def test_an_episode_counts_nothing_in_phases_that_it_does_not_reach():
    blocked, changed = record_of([("a", [3.0, 3.0])]), record_of([("a", [2.0]), ("b", [4.0])])
    assert points_by_phase([blocked, changed]) == [4.0, 2.0]


def test_records_tell_the_kitchens_and_replay() -> None:
    env = collab_overcooked.make("Overcooked-v0", layout=POOL, changes=10, notice=2, max_cycles=30)
    record = play_episode(env, make_team(["greedy", "greedy"]), 0)
    names = [name for _, name in record.kitchens]  # type: ignore[attr-defined]
    assert [begin for begin, _ in record.kitchens] == [0, 10, 20, 30]  # type: ignore[attr-defined]
    assert names[0] != names[1] and names[::2] == [names[0]] * 2
    *_, last = replay(record)
    assert last.result == {"kitchens": [[begin, name] for begin, name in record.kitchens]}  # type: ignore[attr-defined]
    plain = play_episode(collab_overcooked.make("Overcooked-v0", max_cycles=5), make_team(["random", "random"]), 0)
    assert plain.kitchens == []  # type: ignore[attr-defined]


def test_a_pool_is_one_setting_of_the_suite_with_its_recovery() -> None:
    entry = {"layouts": "outage_off+outage_on", "max_cycles": 120, "options": {"changes": 40}}
    plan = plan_evaluation("overcooked", ["all=greedy"], **entry)
    (match,) = plan.matches
    assert match.task == "outage_off+outage_on" and match.env_kwargs["layout"] == ["outage_off", "outage_on"]
    records = match.run()
    (card,) = registry.load_suite("overcooked").score(records, None)
    heads = [column.name for column in card.tables[0].columns]
    assert heads.index("recovery") > heads.index("soups")
    assert card.to_dict()["data"][0]["recovery"] == measure_recovery(records[0])
    outcome = registry.load_suite("overcooked").outcome(records[0])
    assert outcome.count(" in outage_") == 3
    with pytest.raises(ValueError, match="did you mean outage_on"):
        plan_evaluation("overcooked", ["all=greedy"], layouts="outage_off+outage_onn")


def test_a_directive_whose_object_is_gone_had_no_effect() -> None:
    """Nothing else may be read in its place: objects that a layout lacks are at (-1, -1)."""
    row = np.zeros(len(Row), np.int32)
    objects, player = np.full((1, 5), NOTHING, np.int32), np.zeros(7, np.int32)
    cells = np.zeros((2, 2, 4), np.int32)
    cells[-1, -1] = 4, 3, 0, 9  # looks like a soup that was started
    for verb in (Verb.START, Verb.OPEN):
        row[Row.VERB] = verb
        assert not had_effect(row, objects, player, cells)


REFUSED: list[tuple[Any, str]] = [
    ([POOL[0]], "needs a pool of at least two layouts"),
    (
        [layout_of("rows", "XPXPX\nX1 2X\nXXXXX\nO   O\nXDXSX"), layout_of("row", "XPXPX\nX1 2X\nX   X\nXX XX\nXDOSX")],
        r"layout row cannot follow rows in .*: of the floor around \(1, 3\) it keeps 1 cells, too few for 2 players",
    ),
    (
        [POOL[0], layout_of("gated", "XPXPX\nO1 2O\nX G X\nXDXSX")],
        r"gates must be the same cells, but differ at \(2, 2\)",
    ),
    ([POOL[0], layout_of("slow", SECOND, cook_time=30)], "must have the same cook_time"),
    ([POOL[0], layout_of("limit", SECOND, gate_limit=3)], "must have the same gate_limit"),
]


@pytest.mark.parametrize(("pool", "message"), REFUSED)
def test_kitchens_that_cannot_follow_each_other_are_refused(pool: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Overcooked(pool, changes=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changes": 5, "notice": 5}, "notice must be below the 5 steps between two changes"),
        ({"changes": {"random": [5, 9]}, "notice": 6}, "notice must be below the 5 steps"),
        ({"notice": 3}, "notice=3 is for kitchens that change"),
        ({"changes": {"random": [9, 5]}}, "changes"),
        ({"changes": {"after": "lunch"}}, "lunch"),
        ({"changes": {"every": 5, "after": "delivery"}}, "changes"),
        ({"changes": 0}, "changes"),
        ({"changes": "often"}, "changes"),
    ],
)
def test_changes_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Overcooked(POOL, **options)


@pytest.mark.parametrize("wishes", [{}, {"rooms": 2}, {"agents": 3, "count": 3}, {"agents": 1}])
def test_rearranged_kitchens_follow_each_other_and_work_from_anywhere(wishes: dict[str, Any]) -> None:
    generator = {"seed": 3, "count": 4, "rearrange": True, "width": [5, 6], "height": [4, 5], **wishes}
    options = {"agents": wishes["agents"]} if "agents" in wishes else {}
    game = Overcooked("procedural", generator=generator, changes=50, **options)
    grids = [layout.grid for layout in game.layouts]
    assert len(set(grids)) == generator["count"]
    assert len({"".join(sorted("".join(grid))) for grid in grids}) == 1, "they have the same stations"
    assert len({layout.starts for layout in game.layouts}) == 1
    for layout in game.layouts:
        floors = [flood(layout.grid, start, set()) for start in layout.starts]
        assert works_anywhere(layout.grid, floors, [("onion",) * 3])


def test_a_kitchen_that_works_from_its_starts_may_not_work_from_anywhere() -> None:
    grid = ["XOXXPX", "X  X S", "XXXXDX"]
    recipes, left, right = [("onion",) * 3], frozenset({(1, 1), (2, 1)}), frozenset({(4, 1)})
    assert prove(grid, [(1, 1), (4, 1)], recipes) is not None
    assert works_anywhere(grid, [left, right], recipes)
    assert not works_anywhere(grid, [left | right, left | right], recipes), "both may be on the left"


def test_players_in_the_way_of_a_proof_may_step_aside() -> None:
    grid = ["XPOXXX", "D    X", "XSXXXX"]
    recipes, floor = [("onion",) * 3], frozenset((x, 1) for x in range(1, 5))
    assert prove(grid, [(1, 1), (2, 1)], recipes) is None
    assert works_anywhere(grid, [floor, floor], recipes)


def test_floors_in_cycle() -> None:
    """Who walks over while a wall is open stands on either side when it is closed; others stay on their side."""
    grids = [grid.splitlines() for grid in ("XXXXX\nX   X\nXXXXX", "XXXXX\nX X X\nXXXXX")]
    starts = [[(1, 1)], [(1, 1)]]
    assert floors_in_cycle(grids, starts) == [[{(1, 1), (3, 1)}], [{(1, 1), (3, 1)}]]
    assert floors_in_cycle(grids[1:] * 2, starts) == [[{(1, 1)}], [{(1, 1)}]]


def test_check_proves_built_in_kitchens_that_change() -> None:
    done = run("check", *CHANGING.values())
    assert done.exit_code == 0, done.output
    assert done.stdout.count(" soup can be served from wherever") == 2 * len(CHANGING)
    assert "could not prove" not in done.stdout
