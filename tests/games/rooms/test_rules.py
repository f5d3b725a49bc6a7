"""Every rule of the room games alone, as a diagram; see world.py."""

from __future__ import annotations

import numpy as np
import pytest
from games.rooms.world import Moment

from collab_overcooked.games.rooms.engine import rules
from collab_overcooked.games.rooms.engine.constants import FREE, NOTHING, Clock, Generator, Outcome, Player
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.rng import seed_states


def arrays(snapshot):
    state = snapshot.state
    return state.players[0], state.generators[0], state.clock[0], snapshot.game.compiled.tables


@pytest.mark.parametrize(
    ("passage", "doors", "opens"), [(FREE, 0, True), (NOTHING, 3, False), (1, 2, False), (2, 2, True)]
)
def test_is_open(passage, doors, opens):
    assert rules.is_open(passage, doors) == opens


def test_generator_in_a_room():
    _, generators, _, _ = arrays(Moment("escape"))
    assert [rules.generator_in(room, generators) for room in (0, 1, 2)] == [0, NOTHING, 1]


@pytest.mark.parametrize(
    ("room", "word", "reason"),
    [
        ("1", "-", "OK"),
        ("1", "6", "OK"),
        ("1", "3", "NO_PASSAGE"),
        ("1", "1", "NO_PASSAGE"),
        ("1", "2", "DOOR_CLOSED"),
        ("1", "use", "NOTHING_TO_USE"),
        ("5", "use", "OK"),
        ("8", "7", "NO_PASSAGE"),
    ],
)
def test_why_refused(room, word, reason):
    snapshot = Moment("capture", f"{room}: 0")
    code, text = snapshot.game.check(snapshot.state, 0, 0, snapshot.action(word))
    assert code == reason and text
    assert snapshot.out.masks[0, 0, snapshot.action(word)] == (reason == "OK")
    snapshot.play(f"{word} | -")
    assert snapshot.events[0]["reason"] == reason
    if reason != "OK":
        assert snapshot.scene["players"][0]["room"] == room and snapshot.events[0]["event"] == "stayed"


def test_who_was_caught_can_only_stay():
    snapshot = Moment("escape", "1: 0x\n2: 1\n5: adversary", loss="all")
    assert snapshot.out.masks[0, 0].tolist() == [1] + [0] * 9
    assert snapshot.game.check(snapshot.state, 0, 0, 2)[0] == "OUT_OF_GAME"


def test_count_ways_follow_the_list_and_the_doors():
    _, _, _, tables = arrays(Moment("capture"))
    for doors, expected in ((2, [5]), (3, [1, 5])):
        ways = tables.ways[doors, 0]
        assert rules.count_ways(ways) == len(expected)
        assert ways.tolist() == [*expected, *[NOTHING] * (len(ways) - len(expected))]


def test_judge_action_agrees_with_why_refused():
    for state in (Moment("capture", "5: 0"), Moment("escape", "1: 0\n2: 1x", loss="all")):
        players, generators, _, tables = arrays(state)
        for player in players:
            for action in range(state.game.n_actions):
                reason = rules.why_refused(action, player, generators, 0, tables.passages, tables.rooms)
                assert rules.judge_action(action, player, generators, 0, tables) == reason


def test_interrupt_repairs_when_nobody_goes_on():
    state = Moment("escape", "1: 0 generator 1\n3: 1 generator 1\n7: adversary")
    assert state.play("fix | -").repairs == [2, 0]
    assert state.play("- | fix").repairs == [2, 1]  # what is repaired stays so


def test_interrupt_repairs_spares_what_another_player_goes_on_with():
    state = Moment("escape", "1: 0 1 generator 1\n7: adversary", fixes=4)
    assert state.play("fix | 2").repairs == [2, 0]
    state = Moment("escape", "1: 0 1 generator 2 by 0\n7: adversary", fixes=4, fix_by="player")
    assert state.play("6 | fix").repairs == [1, 0]
    assert state.scene["generators"][0]["fixer"] == 1


def test_fix_counts_everybody_or_the_one_who_began():
    assert Moment("escape", "1: 0 1\n7: adversary").play("fix | fix").repairs == [2, 0]
    alone = Moment("escape", "1: 0 1 generator 1 by 1\n7: adversary", fixes=4, fix_by="player")
    assert alone.play("fix | fix").repairs == [2, 0]
    assert alone.scene["generators"][0]["fixer"] == 1
    over = Moment("escape", "1: 0 1 generator 2\n7: adversary").play("fix | fix")
    assert over.repairs == [4, 0] and not over.events[0]["completed"]
    done = Moment("escape", "1: 0 generator 1\n3: 1\n7: adversary").play("fix | -")
    assert done.events[0]["completed"]


def test_is_repaired_when_all_generators_are():
    assert not Moment("escape", "1: generator 2").scene["gate"]
    _, generators, _, tables = arrays(Moment("escape", "1: generator 2\n3: generator 3"))
    assert rules.is_repaired(generators, tables.params)
    generators[0, Generator.PROGRESS] = 1
    assert not rules.is_repaired(generators, tables.params)


def test_use_toggles_doors_and_two_presses_cancel():
    state = Moment("capture", "5: 0 1\n2: adversary")
    assert state.play("press | -").scene["doors"] == {"1-2": True, "4-5": True}
    assert state.events[0]["label"] == "pressed the button of door 1-2"
    assert state.play("press | press").scene["doors"]["1-2"] is True


def test_act_moves_by_the_doors_of_the_turns_start():
    state = Moment("capture", "7: 0\n4: 1\n1: adversary")
    assert state.play("press | 5").rooms[:2] == [7, 5]
    assert not state.scene["doors"]["4-5"]
    assert state.play("press | 4").rooms[:2] == [7, 5]  # it opens for the next turn


def test_act_says_of_the_first_of_two_only_that_it_worked():
    both = "1: 0 1\n7: adversary"
    assert [player["fixing"] for player in Moment("escape", both).play("fix | fix").scene["players"]] == [True, False]
    later = Moment("escape", both, preset="paper2023", fixes=2).play("fix | fix")
    assert [player["fixing"] for player in later.scene["players"]] == [True, True]


def test_is_unaware_is_the_coded_killer_without_target():
    for kind, options, expected in (("escape", {}, 1), ("escape", {"adversary": "closest"}, 0), ("capture", {}, 0)):
        _, _, clock, tables = arrays(Moment(kind, **options))
        clock[Clock.TARGET] = NOTHING
        assert rules.is_unaware(clock, tables.params) == expected


def test_draw_way_takes_all_ways_alike():
    snapshot = Moment("escape", "2: 0\n3: 1\n6: adversary")
    env, tables = row_at(snapshot.state, 0), snapshot.game.compiled.tables
    env.rng[:] = seed_states([1])[0]
    drawn = np.bincount([rules.draw_way(tables, env) for _ in range(3000)])
    assert len(drawn) == 3 and drawn.min() > 900
    env.clock[Clock.TARGET] = 0
    assert rules.draw_way(tables, env) == NOTHING


def test_distance_to_players_is_that_of_the_closest_in_the_game():
    players, _, _, tables = arrays(Moment("escape", "1: 0\n2: 1x\n5: adversary", loss="all"))
    assert rules.distance_to_players(2, players, Player.ROOM, tables.distances[1]) == 2
    players[1, Player.ACTIVE] = 1
    assert rules.distance_to_players(2, players, Player.ROOM, tables.distances[1]) == 1


def test_difference_to_players_is_that_of_room_numbers():
    players, _, _, tables = arrays(Moment("capture", "1: 0\n6: 1"))
    assert [rules.difference_to_players(room, players, tables.rooms) for room in range(8)] == [0, 1, 2, 2, 1, 0, 1, 2]


@pytest.mark.parametrize(
    ("text", "turn", "kind", "room"),
    [
        ("1: 0\n6: 1\n3: adversary", "- | -", "coded", 4),  # 2 is one from 1, 4 is two from 6
        ("8: 0\n8: 1\n6: adversary", "- | -", "coded", 1),  # numbers say that 1 is farthest
        ("2: 0\n2: 1\n3: adversary", "- | -", "coded", 4),  # the only other way leads to them
        ("1: 0\n5: 1\n3: adversary\ndoor 1-2 open", "2 | -", "distance", 4),  # it knows where they are going
        ("1: 0\n6: 1\n3: adversary\ndoor 1-2 open", "- | -", "closest", 3),  # no way leads farther away
        ("2: 0\n2: 1\n3: adversary", "- | -", "closest", 4),
        ("2: 0\n6: 1\n1: adversary\ndoor 1-2 open", "- | 5", "closest", 1),
    ],
)
def test_flee(text, turn, kind, room):
    assert Moment("capture", text, adversary=kind, catch_on_exchange="never").play(turn).rooms[2] == room


def test_flee_stays_when_shut_in():
    level = {"rooms": {1: [2, 3], 2: [1], 3: [1]}, "doors": [{"between": [1, 2], "button": 3, "open": False}]}
    level |= {"name": "cell", "game": "capture", "starts": {"agents": [1], "adversary": 2}}
    assert Moment("capture", map=level).play("-").rooms == [1, 2]


def test_step_towards_takes_the_first_shortest_way():
    _, _, _, tables = arrays(Moment("escape"))
    assert [rules.step_towards(4, goal, 1, tables) for goal in (0, 2, 4, 7)] == [5, 3, 4, 5]
    assert rules.step_towards(4, 2, 0, tables) == 5  # around the closed door


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("1: 0\n3: 1\n7: adversary", None),
        ("1: 0\n3: 1\n6: adversary", 0),
        ("1: 0!\n5: 1\n6: adversary\ntarget 0", 1),  # who is new in sight
        ("1: 0!\n5: 1!\n6: adversary\ntarget 1", 1),  # nobody is
        ("1: 0\n5: 1\n6: adversary", 0),  # both are, the first counts
        ("1: 0!\n3: 1!\n6: adversary\ntarget 1", 0),
        ("1: 0x\n5: 1\n6: adversary", 1),
    ],
)
def test_notice(text, target):
    state = Moment("escape", text, loss="all")
    rules.notice(state.game.compiled.tables, row_at(state.state, 0))
    assert state.scene["adversary"]["target"] == target
    near = {"1", "5", "7"} if "6: adversary" in text else {"6", "8"}
    assert [player["seen"] for player in state.scene["players"]] == [
        player["active"] and player["room"] in near for player in state.scene["players"]
    ]


def test_notice_by_the_text_of_2023_is_of_the_closest():
    state = Moment("escape", "1: 0\n3: 1\n5: adversary", adversary="closest")
    assert state.scene["adversary"]["target"] == 0
    assert Moment("escape", "1: 0\n3: 1\n4: adversary", adversary="closest").scene["adversary"]["target"] == 1


def test_chase_goes_where_the_target_was():
    state = Moment("escape", "1: 0\n3: 1\n6: adversary").play("2 | -")
    assert state.rooms == [2, 3, 1] and state.scene["outcome"] == "running"
    assert Moment("escape", "1: 0\n3: 1\n6: adversary").play("- | -").scene["outcome"] == "lost"


@pytest.mark.parametrize(
    ("exchange", "turn", "caught"), [("never", 5, False), ("later", 0, False), ("later", 1, True), ("always", 0, True)]
)
def test_is_caught_on_the_way(exchange, turn, caught):
    state = Moment("capture", f"3: 0\n8: 1\n2: adversary\nturn {turn}", catch_on_exchange=exchange).play("2 | -")
    assert state.rooms == [2, 8, 3]  # the closed door leaves one way
    assert (state.scene["outcome"] == "success") == caught == state.events[0]["caught"]


def test_judge_capture_takes_one_player():
    state = Moment("capture", "2: 0\n4: 1\n3: adversary").play("3 | -")
    assert state.scene["outcome"] == "running"
    assert Moment("capture", "2: 0\n4: 1\n3: adversary").play("- | -").scene["outcome"] == "success"


def test_judge_escape_by_any_and_by_all():
    text = "1: 0\n3: 1\n6: adversary"
    lost = Moment("escape", text).play("- | -")
    assert lost.scene["outcome"] == "lost" and lost.out.terminated[0] and lost.events[0]["caught"]
    out = Moment("escape", text, loss="all").play("- | -")
    assert out.scene["outcome"] == "running" and not out.scene["players"][0]["active"]


@pytest.mark.parametrize(
    ("text", "turn", "outcome"),
    [
        ("7: 0\n2: 1\n1: generator 2\n3: generator 2\n5: adversary", "8 | -", Outcome.SUCCESS),
        ("7: 0\n2: 1\n1: generator 2\n5: adversary", "8 | -", Outcome.RUNNING),
        ("7: 0\n3: 1\n1: generator 2\n3: generator 1\n5: adversary", "8 | fix", Outcome.SUCCESS),
        ("7: 0\n4: 1\n1: generator 2\n3: generator 2\n5: adversary", "8 | -", Outcome.LOST),  # loss is judged first
    ],
)
def test_judge_escape_at_the_exit(text, turn, outcome):
    state = Moment("escape", text).play(turn)
    assert state.scene["outcome"] == outcome.name.lower()
    assert state.events[0]["escaped"] == (outcome == Outcome.SUCCESS)


def test_team_reward_is_the_same_for_all():
    won = Moment("escape", "7: 0\n2: 1\n1: generator 2\n3: generator 2\n5: adversary").play("8 | -")
    assert won.out.rewards.tolist() == [[1, 1]]
    lost = Moment("escape", "1: 0\n3: 1\n6: adversary", reward="timed").play("- | -")
    np.testing.assert_allclose(lost.out.rewards, [[-1.01, -1.01]])
    late = Moment("capture", "turn 29").play("- | -")
    assert late.out.truncated[0] and late.scene["outcome"] == "time_out" and late.out.rewards.tolist() == [[0, 0]]


def test_shaped_reward_is_half_a_point_for_a_repaired_generator():
    state = Moment("escape", "1: 0 generator 1\n3: 1\n7: adversary").play("fix | fix")
    assert state.out.shaped.tolist() == [[0.5, 0.5]] and not state.out.rewards.any()
    assert not state.play("fix | -").out.shaped.any()
