"""Directives as pictures: numbers, distances, what is possible, how it is carried out, who gives way, that all end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from games.collab_overcooked.world import drawn
from games.overcooked.world import Rollout, open_world
from hypothesis import given, settings
from hypothesis import strategies as st

from collab_overcooked import make
from collab_overcooked.games.overcooked.engine import directives, macro_actions
from collab_overcooked.games.overcooked.engine.constants import (
    BLOCKED,
    FREE,
    MACRO_COLUMNS,
    MEMORY,
    NOTHING,
    SOUTH,
    STAY,
    TAKEN,
    WAIT,
    WEST,
    DirectiveHistory,
    EventColumn,
    Path,
    Player,
    Reason,
)
from collab_overcooked.games.overcooked.engine.spec import layouts
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.text import text
from collab_overcooked.kernels.macro_actions import Macro, Outcome

ROOM = """
    XXPXX
    O 1 O
    X 2 X
    XDXSX
"""
CORRIDOR = """
    XXXXXX
    O1  2D
    XXXPSX
"""


def directed(world: str, **options: Any) -> Rollout:
    return open_world(world, action_level="medium", **options)


def possible(rollout: Rollout, player: int = 1) -> list[str]:
    texts = rollout.game.action_texts()
    return [texts[action] for action in np.flatnonzero(rollout.out.masks[0, player - 1])]


def run(rollout: Rollout, *directives: str, steps: int = 1) -> Rollout:
    """Give each player a directive, then let them go on; those whose directive has ended wait."""
    rollout.step([rollout.game.parse(directive) for directive in directives])
    for _ in range(steps - 1):
        rows = rollout.state.macro_state[0, :, Macro.ACTION]
        rollout.step([1 if row == NOTHING else 0 for row in rows])
    return rollout


def running(rollout: Rollout) -> list[str | None]:
    return [player["directive"] for player in rollout.scene["players"]]


def moves(rollout: Rollout) -> list[int]:
    return rollout.out.events[0, :, EventColumn.PRIMITIVE].tolist()


def test_objects_are_numbered_row_by_row_and_by_kind() -> None:
    names = directed(ROOM).game.look(directed(ROOM).state, 0, 0)["objects"]
    assert list(names) == ["o0", "o1", "p0", "c0", "d0", *(f"k{n}" for n in range(9))]


def test_counters_named_by_the_layout_are_shared_and_numbered_apart() -> None:
    texts = Overcooked("forced_coordination", action_level="medium").action_texts()
    assert "put on s2" in texts and "put on s3" not in texts
    assert "put on k9" in texts and "put on k10" not in texts


@pytest.mark.parametrize(
    ("layout", "counters"),
    [
        ("cramped_room", 9),
        ("asymmetric_advantages_llmco", 29),
        ("coordination_ring", 11),
        ("forced_coordination", 10),
        ("counter_circuit", 16),
        ("gated_delivery", 4),
        ("locked", 1),
    ],
)
def test_layouts_have_the_papers_number_of_counters(layout: str, counters: int) -> None:
    texts = Overcooked(layout, action_level="medium").action_texts()
    assert sum(message.startswith("put on k") for message in texts) == counters


def test_a_pool_has_one_list_and_refuses_what_a_layout_lacks() -> None:
    env = make("Overcooked-v0", layout=["cramped_room", "locked"], action_level="medium")
    env.reset(seed=0, options={"layout": "cramped_room"})
    assert env.check("agent_0", "open g0")[0] == "ABSENT"
    assert env.check("agent_0", "put in c1") == ("ABSENT", "There is no c1 in this kitchen.")


def test_pots_are_started_by_directive_where_they_do_not_start_by_themselves() -> None:
    assert "start c0" in Overcooked(action_level="medium", dynamics="explicit").action_texts()
    rollout = directed(ROOM + "(2,0) onion", dynamics="explicit")
    assert "start c0" in possible(rollout)
    assert run(rollout, "start c0", "wait").facts == ["(2,0) onion 1/20"]


def distances(rollout: Rollout, player: int = 1) -> dict[str, int]:
    return rollout.game.look(rollout.state, 0, player - 1)["distances"][player - 1]


def test_measure_moves_counts_moves_and_nobody_walks_through_others() -> None:
    rollout = directed("""
        XXXXX
        O   D
        X X X
        X1P2S
        XXXXX
    """)
    assert distances(rollout) == distances(rollout) | {"c0": 0, "o0": 2, "p0": 4}
    assert distances(directed(CORRIDOR))["c0"] == 2


def test_distance_to_what_only_the_other_players_cell_reaches_is_blocked() -> None:
    rollout = directed(CORRIDOR)
    assert distances(rollout)["p0"] == BLOCKED + 3
    assert distances(rollout)["d0"] == BLOCKED + 3
    assert text.distance_text(distances(rollout)["p0"]) == "3 but blocked by a player"


def test_measure_objects_leaves_out_those_that_a_layout_does_not_have() -> None:
    rollout = directed("XXXXXXX\nO1 2  D\nXXXPXXS")
    objects, paths = rollout.game.compiled.tables.objects[0], rollout.game._surroundings(rollout.state, 0, 0)
    rows, moves = np.concatenate([objects, np.full_like(objects[:1], NOTHING)]), np.zeros(len(objects) + 1, np.int32)
    directives.measure_objects(rows, paths, moves)
    assert moves.tolist() == [*(directives.distance_to(row, paths) for row in objects), NOTHING]
    assert {0, NOTHING} < set(moves.tolist())


def test_what_only_a_player_keeps_out_of_reach_is_said_to_be_blocked() -> None:
    rollout = directed("XXXXXXX\nO1 2  D\nXXXPXXS")
    description = rollout.game.describe(rollout.state, 0, 0)
    assert "Your distances: o0 0, p0 blocked by a player, c0 2 but blocked by a player, d0 out of reach." in description
    assert "Bob's distances: o0 2 but blocked by a player, p0 2, c0 0, d0 out of reach." in description


@pytest.mark.parametrize(
    ("hand", "thing", "had"),
    [
        ("nothing", "take onion from o0", False),
        ("onion", "take onion from o0", True),
        ("onion", "put in c0", False),
        ("nothing", "put in c0", True),
        ("dish", "load soup from c0", False),
        ("nothing", "wait", True),
    ],
)
def test_had_effect(hand: str, thing: str, had: bool) -> None:
    rollout = directed(ROOM + (f"1 north holds {hand}" if hand != "nothing" else ""))
    row, tables = rollout.game.compiled.tables.catalogue[rollout.game.parse(thing)], rollout.game.compiled.tables
    effect = directives.had_effect(row, tables.objects[0], rollout.state.players[0, 0], rollout.state.cells[0])
    assert effect == had


def test_scenes_of_before_directives_were_marked_are_read() -> None:
    env = make("Overcooked-v0", action_level="medium", text_rules="original")
    env.reset(seed=0)
    env.step({agent: env.game.parse("take onion from o0") for agent in env.agents})
    scene = env.scene()
    assert [memory.pop("failed") for memory in scene["memory"]] == [[False] * MEMORY] * 2
    env.reset(options={"state": scene})
    assert env.scene()["memory"][0]["failed"] == [False] * MEMORY


def test_judge_directive_what_nobody_can_get_to_is_inaccessible() -> None:
    rollout = open_world("XXXXX\nO1X2S\nXPXDX\nXXXXX", action_level="medium")
    assert distances(rollout)["d0"] == -1
    assert "deliver at d0" not in possible(rollout)


def test_judge_empty_hand_takes_what_it_reaches() -> None:
    rollout = directed(ROOM + "(0,2) dish")
    assert possible(rollout) == [
        "wait",
        "move away",
        "take onion from o0",
        "take onion from o1",
        "take dish from p0",
        "take from k4",
    ]


def test_nearest_counter_is_the_only_one_to_put_things_down() -> None:
    rollout = directed(ROOM + "1 north holds dish")
    assert [message for message in possible(rollout) if message.startswith("put")] == ["put on k1"]
    assert rollout.game.check(rollout.state, 0, 0, rollout.game.parse("put on k5"))[0] == "FARTHER"


@pytest.mark.parametrize(
    ("pot", "strict", "original"),
    [
        ("", True, True),
        ("(2,0) onion, onion", True, True),
        ("(2,0) onion, onion, onion 5/20", False, True),
        ("(2,0) onion, onion, onion ready", False, True),
    ],
)
def test_judge_potting_offers_full_pots_in_the_original_only(pot: str, strict: bool, original: bool) -> None:
    for rules, offered in (("strict", strict), ("original", original)):
        rollout = directed(f"{ROOM}1 north holds onion\n{pot}", text_rules=rules)
        assert ("put in c0" in possible(rollout)) == offered


@pytest.mark.parametrize(
    ("pot", "strict"),
    [
        ("", False),
        ("(2,0) onion, onion", False),
        ("(2,0) onion, onion, onion 17/20", False),
        ("(2,0) onion, onion, onion 18/20", True),  # two steps left, two moves to go
        ("(2,0) onion, onion, onion ready", True),
    ],
)
def test_judge_load_wants_soup_ready_by_the_time_of_arrival(pot: str, strict: bool) -> None:
    world = f"XXPXX\nO   O\nX2  X\nX 1 X\nXDXSX\n1 north holds dish\n{pot}"
    assert ("load soup from c0" in possible(directed(world))) == strict
    assert "load soup from c0" in possible(directed(world, text_rules="original"))


def test_mask_directives_a_running_one_leaves_nothing_but_to_continue() -> None:
    rollout = run(directed(ROOM), "take onion from o0", "wait")
    assert running(rollout) == ["take onion from o0", None]
    assert possible(rollout) == ["continue"]
    rollout.step([rollout.game.parse("take dish from p0"), 1])
    assert rollout.refusals[-1] == ["RUNNING", None]
    assert rollout.facts == ["1 west holds onion"], "it goes on all the same"


def test_start_directive_an_impossible_one_is_refused_and_nothing_is_done() -> None:
    rollout = run(directed(ROOM), "deliver at d0", "continue")
    assert rollout.refusals == [["HANDS_EMPTY", "NOT_RUNNING"]]
    assert rollout.pictures[0] == rollout.last


def test_judge_putting_down_soup_on_shared_counters_of_one_layout_only() -> None:
    world = "XXXXXXX\nO1 X 2D\nP  X  S\nXXXXXXX\n1 north holds soup(onion, onion, onion)"
    for rules, soup, offered in (("strict", False, True), ("original", False, False), ("original", True, True)):
        rollout = directed(world, shared_counters=[[3, 1]], share_soup=soup, text_rules=rules)
        assert ("put on s0" in possible(rollout)) == offered


def test_judge_action_gates_are_opened_by_empty_hands_unless_anybody_may() -> None:
    world = "XXXXXX\nO1G 2D\nXPXXSX\nXXXXXX\n1 north holds onion"
    assert "open g0" not in possible(directed(world))
    assert "open g0" in possible(directed(world, gate_opener="anyone"))
    assert "open g0" in possible(directed(world), 2)


def test_next_move_walks_turns_and_acts() -> None:
    rollout = run(directed(ROOM), "take onion from o0", "wait", steps=2)
    assert rollout.pictures == [
        drawn("XXPXX\nO 1 O\nX 2 X\nXDXSX"),
        drawn("XXPXX\nO1  O\nX 2 X\nXDXSX\n1 west"),
        drawn("XXPXX\nO1  O\nX 2 X\nXDXSX\n1 west holds onion"),
    ]
    assert running(rollout) == [None, None]


SIDES = """
    XXXXXXX
    O     X
    X  P  D
    X    1S
    X2    X
    XXXXXXX
    1 south holds onion
"""


def test_choose_side_takes_the_nearest_the_original_the_first() -> None:
    assert moves(run(directed(SIDES), "put in c0", "wait"))[0] == 3  # west, to the cell below the pot's right side
    far = run(directed(SIDES, text_rules="original"), "put in c0", "wait")
    assert moves(far)[0] == 0  # north, on the way to the cell above the pot


def test_drop_directive_that_has_become_impossible_at_once_but_not_in_the_original() -> None:
    for rules, ended in (("strict", True), ("original", False)):
        rollout = run(directed(ROOM + "(0,2) dish", text_rules=rules), "take from k4", "wait")
        rollout.state.cells[0, 2, 0] = 0  # somebody else took it
        rollout.step([0, 1])
        assert (running(rollout)[0] is None) == ended


def test_act_in_place_loading_ends_in_the_original_though_the_soup_is_not_ready() -> None:
    world = ROOM + "1 north holds dish\n(2,0) onion, onion, onion 5/20"
    rollout = run(directed(world, text_rules="original"), "load soup from c0", "wait")
    assert moves(rollout)[0] == 4 and running(rollout)[0] is None


def test_past_directives_are_remembered_the_last_five() -> None:
    rollout = directed(ROOM)
    for message in ("wait", "move away", "wait", "wait", "move away", "wait"):
        rollout.step([rollout.game.parse(message), 1])
    assert rollout.game.look(rollout.state, 0, 0)["history"] == ["move away", "wait", "wait", "move away", "wait"]


FACE_TO_FACE = """
    XXXXXX
    O 12 D
    XXXPSX
    1 east
    2 west
"""


def test_move_away_along_x_first() -> None:
    assert moves(run(directed(FACE_TO_FACE), "move away", "move away")) == [3, 2]


def test_who_finds_the_only_side_taken_gives_up_after_a_while() -> None:
    rollout = run(directed("XXXXX\nO 12D\nXXPSX"), "take dish from p0", "wait", steps=2)
    assert running(rollout)[0] == "take dish from p0"
    for _ in range(3 * 5):
        rollout.step([0 if running(rollout)[0] else 1, 1])
    assert running(rollout)[0] is None


MEETING = """
    XXXPXXX
    O 1 2 O
    XDXXXSX
    1 east holds onion
    2 west holds onion
"""


def test_step_macro_action_of_the_original_lets_player_2_give_way_and_never_player_1() -> None:
    rollout = run(directed(MEETING, text_rules="original"), "put in c0", "put in c0")
    assert moves(rollout) == [2, 3], "both want the cell between them"
    rollout.step([0, 0])
    assert moves(rollout) == [2, 2], "player 2 steps back, player 1 goes on"


APART = """
    XXPXX
    O1 2O
    X   X
    XDXSX
    1 north holds onion
    2 north holds onion
"""


@pytest.mark.parametrize(
    ("world", "before", "gives_way"),
    [
        (APART, ["move away", "move away"], SOUTH),  # west and back again
        (APART, ["wait"], WEST),
        (APART.replace("1 2O", "12 O"), ["move away"], WEST),  # right after a wait it leaves no mark
    ],
)
def test_resolve_standoff_excludes_the_last_move_after_a_move_away(world: str, before: list, gives_way: int) -> None:
    """Players at (1, 1) and (3, 1) push towards (2, 1)."""
    rollout = directed(world, text_rules="original")
    for directive in before:
        run(rollout, "wait", directive)
    assert rollout.state.macro_state[0, 1, DirectiveHistory.AWAY] == (gives_way == SOUTH)
    run(rollout, "put in c0", "put in c0", steps=2)
    assert moves(rollout)[1] == WEST
    rollout.step([0, 0])
    assert moves(rollout)[1] == gives_way, "east is no floor; west is free but excluded after a move away"


def test_resolve_standoff_forgets_a_move_away_at_an_interaction() -> None:
    rollout = directed(APART.replace("2 north holds onion", "2 north"), text_rules="original")
    for _ in range(2):
        run(rollout, "wait", "move away")
    assert rollout.state.macro_state[0, 1, DirectiveHistory.AWAY] == 1
    run(rollout, "wait", "take onion from o1", steps=2)
    assert rollout.state.macro_state[0, 1, DirectiveHistory.AWAY] == 0, "it has taken an onion"


def test_ask_again_gives_both_a_choice_and_player_2_gives_way() -> None:
    rollout = run(directed(MEETING, text_rules="original", stalemate="paper"), "put in c0", "put in c0")
    assert moves(rollout) == [2, 3], "both want the cell between them"
    rollout.step([0, 0])
    assert moves(rollout) == [2, 2] and running(rollout) == [None, None]
    assert rollout.out.events[0, :, EventColumn.ENDED].tolist() == [Outcome.INTERRUPTED] * 2
    rollout.step([rollout.game.parse("put in c0"), rollout.game.parse("wait")])
    assert rollout.refusals[-1] == [None, None]


@pytest.mark.parametrize(("layout", "seed"), [("locked", 6), ("counter_circuit", 14)])
def test_nobody_is_without_a_choice_for_long_in_the_papers_stalemates(layout: str, seed: int) -> None:
    """Directives drawn at random; by the public code players stand still for hundreds of steps in these games."""
    longest = {}
    for stalemate in ("code", "paper"):
        options = {"text_rules": "original", "stalemate": stalemate}
        env = make("Overcooked-v0", layout=layout, action_level="medium", **options)
        env.reset(seed=seed)
        rng, ages, longest[stalemate] = np.random.default_rng(seed), np.zeros(2, int), 0
        for _ in range(120):
            masks = [env.action_mask(agent) for agent in env.agents]
            ages = np.where([mask[0] for mask in masks], ages + 1, 0)
            longest[stalemate] = max(longest[stalemate], int(ages.max()))
            actions = [int(rng.choice(np.flatnonzero(mask))) for mask in masks]
            env.step(dict(zip(env.agents, actions, strict=True)))
    assert longest["paper"] <= 20 < longest["code"]


def test_step_aside_each_of_two_gives_way_on_the_toss_of_a_coin() -> None:
    seen = set()
    for seed in range(16):
        rollout = directed(MEETING)
        rollout.state.rng[0, 0] = seed
        run(rollout, "put in c0", "put in c0", steps=2)
        seen.add(tuple(moves(rollout)))
    assert seen == {(2, 3), (3, 3), (2, 2), (3, 2)}, "nobody, player 1, player 2 or both step back"


@settings(max_examples=30, deadline=None)
@given(
    layout=st.sampled_from([name for name in layouts() if name != "chopping"]),  # directives know no stations
    players=st.sampled_from([None, 1, 3]),
    seed=st.integers(0, 2**20),
    stubborn=st.booleans(),
)
def test_step_macro_actions_strictly_always_end(layout: str, players: int | None, seed: int, stubborn: bool) -> None:
    """Whoever is given directives at random is asked again within as many steps as the map has cells."""
    env = make("Overcooked-v0", layout=layout, agents=players, action_level="medium")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    cells = env.game.compiled.tables.terrain[0].size
    ages = np.zeros(env.game.n_agents, int)
    for _ in range(120):
        actions = {}
        for i, agent in enumerate(env.agents):
            legal = np.flatnonzero(env.action_mask(agent))
            idle = stubborn and i == 0 and legal[0] == 1
            actions[agent] = 1 if idle else int(rng.choice(legal))
            ages[i] = ages[i] + 1 if legal[0] == 0 else 0
        _, _, _, _, infos = env.step(actions)
        assert not any(info["rejected"] for info in infos.values())
        assert ages.max() <= cells + 1


def test_unknown_levels_and_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown action_level"):
        Overcooked(action_level="middle")
    with pytest.raises(ValueError, match="did you mean original"):
        Overcooked(text_rules="origin")
    with pytest.raises(ValueError, match="did you mean paper"):
        Overcooked(stalemate="papers")


def floor_of(rollout: Rollout, player: int = 1) -> np.ndarray:
    """The floor as a player finds it: 0 none, 1 free, 2 taken by somebody else."""
    tables = rollout.game.compiled.tables
    paths = np.zeros((len(Path), *tables.terrain[0].shape), np.int32)
    directives.mark_floor(tables.terrain[0], rollout.state.cells[0], paths[Path.FLOOR])
    directives.measure_moves(player - 1, rollout.state.players[0], paths)
    return paths[Path.FLOOR]


def thing(rollout: Rollout, name: str) -> np.ndarray:
    return next(row for row in rollout.game.compiled.tables.objects[0] if text.object_name(row) == name)


def test_mark_floor_marks_floor_and_open_gates() -> None:
    rollout = directed("XXXXXX\nO1G 2D\nXPXXSX\nXXXXXX")
    assert floor_of(rollout)[1].tolist() == [0, FREE, 0, FREE, TAKEN, 0]
    run(rollout, "open g0", "wait", steps=2)
    assert floor_of(rollout)[1].tolist() == [0, FREE, FREE, FREE, TAKEN, 0]


def test_side_of_an_object_is_a_floor_cell_beside_it() -> None:
    rollout = directed(ROOM)
    pot, floor = thing(rollout, "c0"), floor_of(rollout)
    assert [directives.side_of(pot, side, floor) for side in range(4)] == [NOTHING, 1 * 5 + 2, NOTHING, NOTHING]


def test_has_free_side_unless_another_player_stands_there() -> None:
    rollout = directed("XXXXX\nO 12D\nXXPSX")
    seen = {
        name: bool(macro_actions.has_free_side(thing(rollout, name), floor_of(rollout))) for name in ("o0", "p0", "c0")
    }
    assert seen == {"o0": True, "p0": False, "c0": True}


def test_record_step_and_has_stood_until_a_move_or_turn() -> None:
    players, macro = np.array([[1, 2, 0, 0, 0, 0, 0]], np.int32), np.zeros(MACRO_COLUMNS, np.int32)
    macro_actions.record_step(0, players, macro, 7, 3)
    assert macro[DirectiveHistory.DIRECTIVE : DirectiveHistory.AWAY].tolist() == [7, 3, 1, 2, 0]
    assert macro_actions.has_stood(players[0], macro)
    for column in (Player.X, Player.Y, Player.FACING):
        moved = players[0].copy()
        moved[column] += 1
        assert not macro_actions.has_stood(moved, macro)


@pytest.mark.parametrize(
    ("action", "before", "last", "move", "stuck"),
    [
        (7, 7, 2, 2, True),
        (NOTHING, 7, 2, 2, False),  # its directive is over
        (7, 7, 2, 5, False),  # it interacts
        (7, 7, 5, 2, False),  # it has just interacted
        (7, WAIT, 2, 2, False),  # it has waited
        (7, 6, 2, 2, False),  # strictly, this directive is new
    ],
)
def test_is_stuck_who_neither_moved_nor_acts(action: int, before: int, last: int, move: int, stuck: bool) -> None:
    rollout, macro = directed(ROOM), np.zeros(MACRO_COLUMNS, np.int32)
    players = rollout.state.players[0]
    macro_actions.record_step(0, players, macro, before, last)
    macro[Macro.ACTION] = action
    assert bool(macro_actions.is_stuck(0, 7, move, players, macro)) == stuck


def test_nearest_player_is_the_first_of_the_nearest() -> None:
    players = np.zeros((4, len(Player)), np.int32)
    players[:, Player.X] = [0, 5, 2, 2]
    assert [macro_actions.nearest_player(seat, players) for seat in range(4)] == [2, 2, 3, 2]
    assert macro_actions.nearest_player(0, players[:1]) == NOTHING


def test_end_directive_that_runs_is_done_and_an_idle_player_has_none_to_end() -> None:
    macro, event = np.zeros(MACRO_COLUMNS, np.int32), np.zeros(len(EventColumn), np.int32)
    macro[Macro.ACTION] = 5
    macro_actions.end_directive(macro, event)
    assert (macro[Macro.ACTION], event[EventColumn.ENDED]) == (NOTHING, Outcome.DONE)
    event[:] = 0
    macro_actions.end_directive(macro, event)
    assert event[EventColumn.ENDED] == Outcome.RUNNING


def test_an_episode_starts_without_directives_and_poses() -> None:
    rollout = directed(ROOM)
    rollout.state.macro_state[:] = 9
    rollout.game.reset(rollout.state, rollout.out, np.ones(1, np.bool_))
    assert rollout.state.macro_state[0, 0].tolist() == [
        NOTHING,
        0,
        0,
        WAIT,
        0,
        NOTHING,
        NOTHING,
        NOTHING,
        0,
        0,
        0,
        0,
        0,
        0,
        *[0] * MEMORY,
    ]


def test_events_tell_how_directives_ended() -> None:
    rollout = directed(ROOM + "(0,2) dish")
    run(rollout, "take from k4", "wait")
    assert rollout.out.events[0, :, EventColumn.ENDED].tolist() == [Outcome.RUNNING, Outcome.DONE]
    rollout.state.cells[0, 2, 0] = 0  # somebody else took it
    rollout.step([0, 1])
    assert rollout.out.events[0, 0, EventColumn.ENDED] == Outcome.FAILED and moves(rollout)[0] == STAY


MIXED = {"agent_0": "medium", "agent_1": "low"}


@settings(max_examples=20, deadline=None)
@given(
    layout=st.sampled_from(["cramped_room", "locked", "counter_circuit"]),
    rules=st.sampled_from(["strict", "original"]),
    seed=st.integers(0, 2**20),
)
def test_mixed_levels_come_to_what_primitive_actions_do(layout: str, rules: str, seed: int) -> None:
    mixed = make("Overcooked-v0", layout=layout, action_level=MIXED, text_rules=rules)
    plain = make("Overcooked-v0", layout=layout)
    rng = np.random.default_rng(seed)
    for env in (mixed, plain):
        env.reset(seed=seed)
    for _ in range(60):
        masks = [mixed.action_mask(agent) for agent in mixed.agents]
        assert not masks[1][len(plain.game.action_texts()) :].any()
        actions = [int(rng.choice(np.flatnonzero(mask))) for mask in masks]
        assert [mixed.check(agent, a)[0] for agent, a in zip(mixed.agents, actions, strict=True)] == ["OK", "OK"]
        mixed.step(dict(zip(mixed.agents, actions, strict=True)))
        state, out = mixed.arrays
        plain.step(dict(zip(plain.agents, out.events[0, :, EventColumn.PRIMITIVE].tolist(), strict=True)))
        twin, other = plain.arrays
        assert all((getattr(state, name) == getattr(twin, name)).all() for name in ("players", "cells", "clock"))
        assert mixed.events() == plain.events() and (out.rewards == other.rewards).all()


def test_words_follow_the_level_of_the_seat() -> None:
    env = make("Overcooked-v0", action_level="agent_0=medium,agent_1=low")
    env.reset(seed=0)
    game, (state, out) = env.game, env.arrays
    assert game.kwargs["action_level"] == "agent_0=medium,agent_1=low" and game.levels == ("medium", "primitive")
    assert [game.action_texts(seat=seat)[game.idle_action(seat)] for seat in (0, 1)] == ["wait", "stay"]
    assert ["directives" in game.manual(state, 0, seat) for seat in (0, 1)] == [True, False]
    assert "You can: " in game.describe(state, 0, 0) and "You can: " not in game.describe(state, 0, 1)
    assert "directive" in env.scene()["players"][0] and "directive" not in env.scene()["players"][1]
    with pytest.raises(ValueError, match="names no directive"):
        env.parse("north", "agent_0")
    with pytest.raises(ValueError, match="unknown action"):
        env.parse("wait", "agent_1")
    beyond = game.n_actions - 1
    assert env.check("agent_1", beyond)[0] == "NO_SUCH_ACTION"
    env.step({"agent_0": game.idle_action(0), "agent_1": beyond})
    assert game.rejections(state, out)[0].tolist() == [0, Reason.NO_SUCH_ACTION]
