"""Every rule of the household games alone, in homes drawn as diagrams; see world.py."""

from __future__ import annotations

import re

import numpy as np
import pytest
from games.house.world import GameKind

from collab_overcooked.games.house.engine import macro_actions, observe, rules, step
from collab_overcooked.games.house.engine.constants import (
    NOTHING,
    Agent,
    Belief,
    EventColumn,
    Goal,
    Known,
    KnownRoom,
    Mate,
    Param,
    Place,
    Reason,
    Rel,
    Role,
    Thing,
    Verb,
    World,
)
from collab_overcooked.kernels.macro_actions import Macro, Outcome

FURNITURE = {"fridge": (1, 3), "coffee table": (3, 1), "dishwasher": (7, 3)}
THINGS = {"apple 0": "coffee table", "pudding 1": "dishwasher"}


def a_home(**value):
    return GameKind(**{"furniture": FURNITURE, "things": THINGS, "opened": ("dishwasher",), **value})


def transport(**value):
    things = {"apple 0": (3, 1), "banana 1": 0, "bowl 10": 0, "bread 2": (2, 2)}
    home = GameKind(
        **{"kind": "transport", "furniture": {"bed": (1, 1)}, "goal": "bed", "things": things, "wants": {"apple": 1}}
        | value
    )
    return home


def event():
    return np.zeros(len(EventColumn), np.int32)


def test_room_of():
    home = a_home(agents=((1, 1), (4, 3)))
    assert [rules.room_of(home.row, i) for i in range(2)] == [0, 0]  # the doorway belongs to the first room


@pytest.mark.parametrize(("start", "cells"), [((1, 1), 8), ((7, 3), 0), ((4, 3), 3)])
def test_path_to(start, cells):
    home = a_home(agents=(start,))
    assert rules.path_to(home.row, 0, home.place("dishwasher")) == cells


def test_is_near_in_the_same_room_only():
    places = {"fridge": (5, 3), "coffee table": (3, 1)}
    home = a_home(agents=((3, 2), (4, 3)), furniture=places, things={}, opened=())
    table, fridge = home.place("coffee table"), home.place("fridge")
    assert rules.is_near(home.row, 0, table, 1)
    assert not rules.is_near(home.row, 1, fridge, 1)  # one cell away, but behind the door line


def test_free_hand_and_full_hand():
    agent = np.zeros(len(Agent), np.int32)
    for hands, free, full in (((-1, -1), 0, -1), ((3, -1), 1, 0), ((-1, 3), 0, 1), ((1, 2), -1, 0)):
        agent[Agent.LEFT_HAND : Agent.RIGHT_HAND + 1] = hands
        assert (rules.free_hand(agent), rules.full_hand(agent)) == (free, full)


def test_held_of_role_and_contents():
    home = transport()
    assert rules.held_of_role(home.row, 0, Role.CONTAINER) == 10
    assert rules.held_of_role(home.row, 0, Role.TARGET) == 1
    assert rules.held_of_role(home.row, 1, Role.TARGET) == NOTHING
    assert rules.contents(home.row, 10) == 0
    home.run("put in", "wait")
    assert rules.contents(home.row, 10) == 1


def test_why_not_grab():
    home = a_home()
    assert rules.why_not_grab(home.row, 0, 0) == Reason.OK
    assert rules.why_not_grab(home.row, 0, 5) == Reason.F_UNKNOWN
    full = a_home(things={**THINGS, "juice 2": 0, "wine 3": 0})
    assert rules.why_not_grab(full.row, 0, 0) == Reason.F_HANDS_FULL
    boxes = transport(things={"bowl 10": 0, "tray 11": (2, 2)})
    assert rules.why_not_grab(boxes.row, 0, 11) == Reason.F_ONE_CONTAINER


def test_why_not_put():
    home = a_home(agents=((3, 2), (7, 2)), things={"apple 0": 0, "juice 1": 1}, opened=())
    table, dishes = home.place("coffee table"), home.place("dishwasher")
    assert rules.why_not_put(home.row, 0, table, 1) == Reason.OK
    assert rules.why_not_put(home.row, 1, table, 1) == Reason.F_TOO_FAR
    assert rules.why_not_put(home.row, 1, dishes, 1) == Reason.F_NOT_OPEN
    home.state.places[0, table, Place.FREE] = 0
    assert rules.why_not_put(home.row, 0, table, 1) == Reason.F_NO_ROOM
    assert rules.why_not_put(a_home(knows="nothing").row, 0, table, 1) == Reason.F_UNKNOWN


def test_why_not_put_in():
    home = transport()
    assert rules.why_not_put_in(home.row, 0) == Reason.OK
    assert rules.why_not_put_in(home.row, 1) == Reason.F_NO_CONTAINER
    for o in (3, 4, 5):
        home.state.things[0, o, [Thing.REL, Thing.PARENT]] = Rel.INSIDE, 10
    assert rules.why_not_put_in(home.row, 0) == Reason.F_NO_ROOM
    empty = transport(things={"bowl 10": 0})
    assert rules.why_not_put_in(empty.row, 0) == Reason.F_HANDS_EMPTY


def test_why_not_open():
    home = a_home(agents=((1, 2), (7, 2)), things={"juice 1": 0, "wine 2": 0, "apple 0": "dishwasher"})
    fridge, dishes, table = (home.place(name) for name in ("fridge", "dishwasher", "coffee table"))
    assert rules.why_not_open(*home.rules, 0, fridge, Verb.OPEN) == Reason.OK  # the goal place, with full hands
    assert rules.why_not_open(*home.rules, 0, dishes, Verb.OPEN) == Reason.F_TOO_FAR
    assert rules.why_not_open(*home.rules, 0, table, Verb.OPEN) == Reason.F_UNKNOWN  # cannot be opened at all
    assert rules.why_not_open(*home.rules, 1, dishes, Verb.OPEN) == Reason.F_NOT_CLOSED
    assert rules.why_not_open(*home.rules, 1, dishes, Verb.CLOSE) == Reason.OK
    assert rules.why_not_open(*home.rules, 0, fridge, Verb.CLOSE) == Reason.F_NOT_OPEN
    strict = a_home(agents=((1, 2),), things={"juice 1": 0, "wine 2": 0}, auto_open=False)
    assert rules.why_not_open(*strict.rules, 0, fridge, Verb.OPEN) == Reason.F_HANDS_FULL


def test_why_not_walk():
    home = a_home(agents=((3, 1),))
    assert rules.why_not_walk(home.row, 0, home.place("coffee table")) == Reason.F_THERE
    assert rules.why_not_walk(home.row, 0, home.place("fridge")) == Reason.OK
    assert rules.why_not_walk(home.row, 0, home.place("stove")) == Reason.F_UNKNOWN


def test_why_not_take():
    home = a_home(agents=((1, 1), (3, 2)))
    assert rules.why_not_take(*home.rules, 0, 0, Verb.GRAB) == Reason.F_TOO_FAR
    assert rules.why_not_take(*home.rules, 1, 0, Verb.GRAB) == Reason.OK
    assert rules.why_not_take(*home.rules, 0, 0, Verb.WALK_TO) == Reason.OK
    assert rules.why_not_take(*home.rules, 0, 7, Verb.WALK_TO) == Reason.F_UNKNOWN


def test_why_not_primitive():
    home = a_home(agents=((3, 2), (7, 2)), things={**THINGS, "juice 2": 1})
    goal = home.place("fridge")

    def why(seat, verb, arg=0):
        return rules.why_not_primitive(*home.rules, seat, verb, arg)

    assert why(0, Verb.WALK, goal) == why(0, Verb.GRAB, 0) == why(1, Verb.CLOSE, home.place("dishwasher")) == Reason.OK
    assert why(0, Verb.PUT) == why(1, Verb.PUT, 1) == why(0, Verb.PUT_AT, goal) == Reason.F_HANDS_EMPTY
    assert why(1, Verb.PUT) == Reason.F_TOO_FAR
    assert why(1, Verb.PUT_AT, home.place("dishwasher")) == Reason.OK
    assert why(0, Verb.PUT_IN) == Reason.F_NO_CONTAINER
    assert why(0, Verb.LOOK) == Reason.F_NO_USE


def test_why_not_plan():
    home = a_home(things={**THINGS, "juice 2": 0}, furniture={**FURNITURE, "stove": (5, 1)})

    def why(verb, arg=0):
        return rules.why_not_plan(home.row, 0, verb, arg)

    assert why(Verb.GO, 0) == Reason.F_THERE
    assert why(Verb.GO, 1) == why(Verb.DELIVER) == why(Verb.FETCH, 0) == why(Verb.CHECK, home.place("stove")) == 0
    assert why(Verb.CHECK, home.place("dishwasher")) == why(Verb.CHECK, home.place("fridge")) == Reason.F_NO_USE
    assert why(Verb.CHECK, home.place("microwave")) == Reason.F_UNKNOWN
    assert why(Verb.EXPLORE) == Reason.F_NO_USE
    assert rules.why_not_plan(home.row, 1, Verb.DELIVER, 0) == Reason.F_HANDS_EMPTY
    full = a_home(things={"wine 1": 0, "juice 2": 0}, furniture={**FURNITURE, "stove": (5, 1)})
    assert rules.why_not_plan(full.row, 0, Verb.CHECK, full.place("stove")) == Reason.F_HANDS_FULL


def test_why_refused():
    home = a_home()
    texts = home.game.action_texts(home.state, 0, 0)
    assert rules.why_refused(*home.rules, 0, texts.index("wait")) == Reason.OK
    assert rules.why_refused(*home.rules, 0, texts.index("say")) == Reason.OK
    home.act("say", "wait")
    assert rules.why_refused(*home.rules, 0, texts.index("say")) == Reason.F_SPOKE
    home.act("wait", "wait")
    assert rules.why_refused(*home.rules, 0, texts.index("say")) == Reason.OK
    free = a_home(talk="free")
    assert rules.why_refused(*free.rules, 0, texts.index("say")) == Reason.F_NO_USE
    mixed = a_home(action_level={"agent_0": "primitive"})
    short = len(mixed.game.action_texts(seat=1))
    assert rules.why_refused(*mixed.rules, 1, short) == Reason.F_NO_ACTION


def test_walk_takes_a_shortest_way():
    home = a_home(agents=((1, 1),))
    width, way = home.game.compiled.tables.params[Param.GRID_WIDTH], []
    for _ in range(8):
        rules.walk(home.row, 0, home.place("dishwasher"), width)
        way.append(home.at())
    assert way == [(1, 2), (1, 3), (2, 3), (3, 3), (4, 3), (5, 3), (6, 3), (7, 3)]


def test_grab():
    home = a_home(agents=((3, 2), (7, 2)))
    assert rules.grab(home.row, 0, 0) == Reason.OK
    assert home.hands() == ["apple", None] and home.where(0) == "held 0"
    assert rules.grab(home.row, 1, 0) == Reason.F_GONE  # believed to be on the table still
    home.state.places[0, home.place("dishwasher"), Place.OPEN] = 0
    assert rules.grab(home.row, 1, 1) == Reason.F_NOT_OPEN


def test_put():
    home = a_home(agents=((1, 2),), things={"apple 0": 0, "wine 1": 0})
    fridge = home.place("fridge")
    assert rules.put(*home.rules, 0, 0, fridge) == Reason.F_NOT_OPEN
    home.state.places[0, fridge, [Place.OPEN, Place.FREE]] = 1, 1
    assert rules.put(*home.rules, 0, 0, fridge) == Reason.OK
    assert home.where(0) == "at fridge" and home.hands() == [None, "wine"]
    assert rules.put(*home.rules, 0, 1, fridge) == Reason.F_NO_ROOM


@pytest.mark.parametrize("lost", [True, False])
def test_put_in_and_empty_out_at_the_bed(lost):
    home = transport(container_lost=lost, agents=((2, 1), (7, 1)))
    assert rules.put_in(home.row, 0) == Reason.OK
    assert home.hands() == [None, "bowl"] and home.where(1) == "inside 10"
    assert re.search(r"hold bowl 10 \(containing \w+ 1\)\.", home.game.describe(home.state, 0, 0))
    bed = home.place("bed")
    assert rules.put(*home.rules, 0, 1, bed) == Reason.OK
    assert home.where(1) == "delivered bed"
    assert home.where(10) == ("delivered bed" if lost else "at bed")
    rules.empty_out(home.row, 10, bed)  # nothing is left in it
    assert rules.contents(home.row, 10) == 0


def test_set_open():
    home = a_home()
    p = home.place("dishwasher")
    assert rules.set_open(home.row, p, Verb.OPEN) == Reason.F_NOT_CLOSED
    assert rules.set_open(home.row, p, Verb.CLOSE) == Reason.OK
    assert rules.set_open(home.row, p, Verb.CLOSE) == Reason.F_NOT_OPEN
    assert home.state.places[0, p, Place.OPEN] == 0


def rivals(*verbs, arg=3):
    home = GameKind(agents=((1, 1),) * len(verbs))
    for i, verb in enumerate(verbs):
        home.state.agents[0, i, [Agent.VERB, Agent.ARG, Agent.LEFT]] = verb, arg, 0
    return home


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        (Verb.GRAB, Verb.GRAB, True),
        (Verb.OPEN, Verb.CLOSE, True),
        (Verb.GRAB, Verb.OPEN, False),
        (Verb.WALK, Verb.WALK, False),
    ],
)
def test_are_rivals_and_is_opening_or_closing(one, other, are):
    home = rivals(one, other)
    assert rules.are_rivals(home.row, 0, 1) == are
    assert rules.is_opening_or_closing(home.state.agents[0, 0]) == (one == Verb.OPEN)
    home.state.agents[0, 1, Agent.ARG] = 4
    assert not rules.are_rivals(home.row, 0, 1)


@pytest.mark.parametrize("count", [2, 3])
def test_settle_conflicts_is_fair(count):
    wins = np.zeros(count, int)
    home = rivals(*[Verb.GRAB] * count)
    for _ in range(300):
        home.state.agents[0, :, Agent.VERB] = Verb.GRAB
        rules.settle_conflicts(home.row)
        left = np.flatnonzero(home.state.agents[0, :, Agent.VERB] == Verb.GRAB)
        assert len(left) == 1
        wins[left[0]] += 1
    assert (abs(wins / 300 - 1 / count) < 0.1).all()


def test_count_goals():
    home = a_home(things={"apple 0": "fridge", "apple 1": "fridge", "wine 2": "fridge"}, wants={"apple": 1, "wine": 2})
    assert rules.count_goals(home.row) == 2
    assert home.state.goals[0, :2, Goal.HAVE].tolist() == [1, 1]


def running(home, text, seat=0):
    home.state.macro_state[0, seat, Macro.ACTION] = home.game.parse(text, home.state, 0, seat)
    home.state.agents[0, seat, Agent.AIM] = rules.room_of(home.row, seat)
    return home


def follows(home, seat=0):
    verb, arg = home.state.agents[0, seat, [Agent.VERB, Agent.ARG]]
    return Verb(verb), int(arg)


def test_plan_primitive_and_fail_plan():
    home, row = a_home(), event()
    assert macro_actions.plan_primitive(home.row, 0, Verb.GRAB, 3) == Outcome.RUNNING
    assert follows(home) == (Verb.GRAB, 3)
    assert macro_actions.fail_plan(row, Reason.F_GONE) == Outcome.FAILED and row[EventColumn.WHY] == Reason.F_GONE


def test_next_primitive_carries_out_a_primitive_action_once():
    home, row = running(a_home(), "say 2"), event()
    assert macro_actions.next_primitive(*home.rules, 0, True, row) == Outcome.RUNNING
    assert follows(home) == (Verb.SAY, 2)
    assert macro_actions.next_primitive(*home.rules, 0, False, row) == Outcome.DONE


def test_next_of_go():
    home, row = running(a_home(), "go to kitchen"), event()
    assert macro_actions.next_of_go(*home.rules, 0, 1, True, row) == Outcome.RUNNING
    assert follows(home) == (Verb.WALK, 1)
    home.state.agents[0, 0, Agent.CELL] = home.state.agents[0, 1, Agent.CELL]
    assert macro_actions.next_of_go(*home.rules, 0, 1, False, row) == Outcome.DONE
    row[EventColumn.SAW] = 1
    far = transport()
    assert macro_actions.next_of_go(*far.rules, 0, 1, True, row) == Outcome.RUNNING
    assert macro_actions.next_of_go(*far.rules, 0, 1, False, row) == Outcome.DONE  # distracted by something new


def test_next_of_explore():
    home = transport(agents=((1, 1), (7, 1)))
    home.state.know_rooms[0, 0, 0] = KnownRoom.PART
    running(home, "search")
    home.row.dist[home.row.agents[0, Agent.CELL], 0] = 3
    assert macro_actions.next_of_explore(*home.rules, 0) == Outcome.RUNNING and follows(home) == (Verb.WALK, 0)
    home.row.dist[home.row.agents[0, Agent.CELL], 0] = 2
    assert macro_actions.next_of_explore(*home.rules, 0) == Outcome.RUNNING and follows(home)[0] == Verb.LOOK
    home.state.know_rooms[0, 0, 0] = KnownRoom.ALL
    assert macro_actions.next_of_explore(*home.rules, 0) == Outcome.DONE


def test_next_of_check():
    home = a_home(agents=((1, 1), (5, 1)), furniture={**FURNITURE, "stove": (5, 1)})
    p = home.place("stove")
    assert macro_actions.next_of_check(*home.rules, 0, p) == 0 and follows(home) == (Verb.WALK, p)
    assert macro_actions.next_of_check(*home.rules, 1, p) == 0 and follows(home, 1) == (Verb.OPEN, p)
    home.act("wait", "check stove")
    assert macro_actions.next_of_check(*home.rules, 1, p) == Outcome.DONE


def test_next_of_fetch():
    home, table = a_home(agents=((1, 1), (3, 1))), 0
    table = home.place("coffee table")
    assert macro_actions.next_of_fetch(*home.rules, 0, 0, event()) == 0 and follows(home) == (Verb.WALK, table)
    assert macro_actions.next_of_fetch(*home.rules, 1, 0, event()) == 0 and follows(home, 1) == (Verb.GRAB, 0)
    home.act("pick up apple 0", "pick up apple 0")
    row = event()
    assert macro_actions.next_of_fetch(*home.rules, 0, 0, row) == Outcome.FAILED  # it saw who was faster
    assert row[EventColumn.WHY] == Reason.F_GONE
    assert macro_actions.next_of_fetch(*home.rules, 1, 0, row) == Outcome.DONE


def test_next_of_deliver():
    home = a_home(agents=((7, 1), (1, 2), (1, 1)), things={"apple 0": 0, "wine 1": 1})
    fridge = home.place("fridge")
    assert macro_actions.next_of_deliver(*home.rules, 0, event()) == 0 and follows(home) == (Verb.WALK, fridge)
    assert macro_actions.next_of_deliver(*home.rules, 1, event()) == 0 and follows(home, 1) == (Verb.OPEN, fridge)
    assert macro_actions.next_of_deliver(*home.rules, 2, event()) == Outcome.DONE
    home.act("wait", "transport", "wait")
    assert follows(home, 1) == (Verb.PUT, 0)
    row = event()
    row[EventColumn.WHY] = Reason.F_NO_ROOM
    assert macro_actions.next_of_deliver(*home.rules, 1, row) == Outcome.FAILED


def test_an_apple_comes_into_the_fridge():
    home = a_home(agents=((1, 1),), wants={"apple": 1})
    home.run("pick up apple 0")
    assert home.hands() == ["apple", None] and home.at() == (2, 1)
    assert "transport" in home.mask() and "pick up apple 0" not in home.mask()
    events = home.run("transport")
    assert home.where(0) == "at fridge" and events[0]["delivered"] == 1
    assert home.out.terminated[0] and home.out.rewards[0].tolist() == [1.0]


def test_each_wanted_thing_pays_once():
    home = a_home(agents=((1, 2), (7, 1)), action_level="primitive", wants={"apple": 2}, things={"apple 0": 0})
    paid = 0.0
    for text in ("open fridge", "put down left hand", "take apple 0", "wait", "put down at fridge"):
        if text in home.mask():
            home.act(text, "wait")
            paid += float(home.out.rewards[0, 0])
    assert paid == 1.0


def test_begin_action_of_a_busy_seat_is_refused_unless_it_may_replace():
    home = a_home()
    home.act("go to kitchen", "wait")
    assert home.mask() == {"wait"}
    assert home.act("pick up apple 0", "wait")[0]["reason"] == "F_BUSY"
    free = a_home(preempt=True)
    free.act("go to kitchen", "wait")
    assert "pick up apple 0" in free.mask()
    free.act("pick up apple 0", "wait")
    assert free.run("wait", "wait") and free.hands() == ["apple", None]


def test_continue_action_starts_the_next_primitive_action_or_ends():
    home, row = a_home(agents=((1, 1),)), event()
    step.begin_action(*home.rules, 0, home.game.parse("go to kitchen", home.state, 0, 0), row)
    step.continue_action(*home.rules, 0, row)
    agent, macro = home.row.agents[0], home.row.macro_state[0]
    assert (agent[Agent.VERB], agent[Agent.LEFT], macro[Macro.TIMER]) == (Verb.WALK, 1, 1)
    home.run("go to kitchen")
    assert home.row.macro_state[0, Macro.ACTION] == NOTHING and home.row.agents[0, Agent.LEFT] == 0


def test_end_waits_frees_who_waits_and_nobody_else():
    home, events = a_home(), np.stack([event(), event()])
    for i, text in enumerate(("go to kitchen", "wait")):
        step.begin_action(*home.rules, i, home.game.parse(text, home.state, 0, i), events[i])
        home.row.agents[i, Agent.LEFT] = 1
    step.end_waits(home.row, events)
    assert home.row.agents[:, Agent.LEFT].tolist() == [1, 0]
    assert events[:, EventColumn.ENDED].tolist() == [0, Outcome.DONE]


def test_keep_seeing_what_was_seen_at_the_last_look():
    home = a_home()
    things, mates = home.row.know_things[0], home.row.know_mates[0]
    things[:3, Belief.TICK], things[1, Belief.STATUS] = (4, 4, 3), Known.GONE
    mates[:, Mate.TICK] = 3, 4
    observe.keep_seeing(home.row, 0, 4, 7)
    assert things[:3, Belief.TICK].tolist() == [7, 4, 3] and mates[:, Mate.TICK].tolist() == [3, 7]


@pytest.mark.parametrize(
    ("have", "now", "ends"),
    [(0, 9, (False, False)), (0, 250, (False, True)), (1, 9, (True, False)), (1, 250, (True, False))],
)
def test_end_step_at_the_goal_or_a_limit(have, now, ends):
    home = a_home()
    home.row.goals[0, Goal.HAVE], home.row.world[World.T] = have, now
    assert step.end_step(home.row, home.out._replace(rewards=home.out.rewards[0]), 3) == ends
    assert home.out.rewards[0].tolist() == [3.0, 3.0] and home.row.world[World.OVER] == any(ends)


def test_tick_until_the_next_event_is_many_ticks():
    ticks, events = a_home(agents=((1, 1),)), a_home(agents=((1, 1),), stepping="event")
    ticks.run("go to kitchen")
    row = events.act("go to kitchen")[0]
    assert (row["ended"], row["ticks"]) == ("done", 6) and events.at() == ticks.at()
    assert np.array_equal(events.state.know_things, ticks.state.know_things)


def test_three_frames_of_transport():
    home = transport(agents=((1, 1),), things={"apple 0": (3, 3)}, stepping="event")
    row = home.act("pick up apple 0")[0]
    assert row["ticks"] == 2 * 6 + 6 and home.hands() == ["apple", None]  # two cells, then the grasp
    row = home.act("transport")[0]
    assert row["ticks"] == 15 and row["delivered"] == 1  # the bed is three cells away
