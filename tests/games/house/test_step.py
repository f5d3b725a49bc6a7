"""Whatever agents do, things stay what they are, hands and things agree, and what is seen is true."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.house.engine.constants import (
    NOTHING,
    Agent,
    Belief,
    Furniture,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Place,
    Rel,
    Role,
    Thing,
    World,
)
from collab_overcooked.games.house.env import Housework, Transport
from collab_overcooked.kernels.rng import seed_states

GAMES = {
    "homes": Housework(agents=3),
    "homes, primitive": Housework(action_level="primitive", stepping="tick", preempt=True),
    "houses": Transport(container_lost=False, max_ticks=1500),
}


def start(game, seed):
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_))
    return state, out


def play(game, state, out, rng):
    actions = [rng.choice(np.flatnonzero(mask)) for mask in out.masks[0]]
    game.step(state, np.array([actions], np.int32), out)


def expect_consistent(state):
    things, agents = state.things[0], state.agents[0]
    for o, (_, _, rel, parent, _) in enumerate(things.tolist()):
        hands = [i for i in range(len(agents)) if o in agents[i, Agent.LEFT_HAND : Agent.RIGHT_HAND + 1]]
        assert hands == ([parent] if rel == Rel.HELD else [])
        if rel == Rel.INSIDE:
            assert things[parent, Thing.REL] == Rel.HELD
        if rel in (Rel.AT, Rel.DELIVERED):
            assert state.places[0, parent, Place.KIND] > 1
    assert (state.cells[0, agents[:, Agent.CELL]] != NOTHING).all()
    assert (state.goals[0, :, Goal.HAVE] <= state.goals[0, :, Goal.NEED]).all()


def test_ticks_and_events_come_to_the_same():
    """A sub-plan ends where and when it would if time went by tick by tick."""
    ticks, events = Transport(stepping="tick", agents=1), Transport(agents=1)
    one, of_one = start(ticks, 5)
    two, of_two = start(events, 5)
    rng = np.random.default_rng(5)
    for _ in range(12):
        action = int(rng.choice(np.flatnonzero(of_two.masks[0, 0])[1:]))
        events.step(two, np.array([[action]], np.int32), of_two)
        ticks.step(one, np.array([[action]], np.int32), of_one)
        while one.macro_state[0, 0, 0] != NOTHING:
            ticks.step(one, np.zeros((1, 1), np.int32), of_one)
        known = np.array([Belief.STATUS, Belief.PLACE, Belief.NOTICED])  # the time of the last look may differ
        assert np.array_equal(one.know_things[..., known], two.know_things[..., known])
        assert np.array_equal(one.agents, two.agents)
        assert one.world[0, World.T] == two.world[0, World.T]
        if of_two.terminated[0] or of_two.truncated[0]:
            break


def test_a_belief_keeps_what_is_known_and_draws_the_rest():
    game = GAMES["homes"]
    state, out = start(game, 1)
    rng = np.random.default_rng(0)
    for _ in range(6):
        play(game, state, out, rng)
    seen = {tuple(map(int, row)) for row in state.know_things[0, 0][:, [Belief.STATUS, Belief.PLACE]]}
    drawn = []
    for seed in range(4):
        other = type(state)(*(array.copy() for array in state))
        game.sample_belief(other, 0, np.random.default_rng(seed))
        expect_consistent(other)
        assert {tuple(map(int, row)) for row in other.know_things[0, 0][:, [Belief.STATUS, Belief.PLACE]]} == seen
        drawn.append(other.things.tobytes())
    assert len(set(drawn)) > 1


def believed(game, state, seat, count):
    """Return a batch of beliefs of a state."""
    copies, _ = game.alloc(count)
    for copy, original in zip(copies, state, strict=True):
        copy[:] = original
    game.sample_belief(copies, seat, np.random.default_rng(7))
    return copies


def test_furniture_that_a_home_may_lack_is_there_in_half_of_all_beliefs():
    game = GAMES["homes"]
    state, _ = start(game, 0)
    copies, tables = believed(game, state, 0, 150), game.compiled.tables
    first = len(tables.room_types)
    rooms, optional = tables.furniture[:, Furniture.ROOM], tables.furniture[:, Furniture.OPTIONAL] == 1
    unknown = state.know_places[0, 0, first : first + len(rooms)] == KnownPlace.UNKNOWN
    is_new = state.know_rooms[0, 0, rooms] == KnownRoom.NONE
    missing = (copies.places[:, first : first + len(rooms), Place.KIND] == Kind.NONE).mean(0)
    uncertain = unknown & is_new & optional
    assert uncertain.any() and (abs(missing[uncertain] - 0.5) < 0.15).all()
    assert (missing[unknown & ~optional] == 0).all() and (missing[unknown & ~is_new & optional] == 1).all()


def test_things_in_rooms_not_entered_are_in_view_in_half_of_all_beliefs_and_in_all_rooms_alike():
    game = GAMES["houses"]
    state, _ = start(game, 1)
    copies, first = believed(game, state, 0, 400), len(game.compiled.tables.room_types)
    spots = first + len(game.compiled.tables.furniture)
    unknown = np.flatnonzero(state.know_things[0, 0, :, Belief.STATUS] == Known.UNKNOWN)
    is_there = copies.things[:, unknown, Thing.REL] == Rel.AT
    rooms = copies.places[:, spots + unknown, Place.ROOM][is_there]
    in_view = copies.things[:, unknown, Thing.IN_VIEW][is_there]
    is_new = state.know_rooms[0, 0, rooms] == KnownRoom.NONE
    assert not in_view[~is_new].any()  # the first look would have shown it
    assert is_new.sum() > 400 and abs(in_view[is_new].mean() - 0.5) < 0.05
    possible = np.flatnonzero(state.know_rooms[0, 0] != KnownRoom.ALL)
    shares = np.bincount(rooms, minlength=first)[possible] / len(rooms)
    assert (abs(shares - 1 / len(possible)) < 0.03).all()


def test_a_belief_of_what_a_teammate_carries_is_what_was_seen_last():
    """A thing that was last seen in a teammate's container is believed to be there, wherever it is by now."""
    game = GAMES["houses"]
    state, _ = start(game, 1)
    box = int(np.flatnonzero(state.things[0, :, Thing.ROLE] == Role.CONTAINER)[0])
    state.know_things[0, 0, [0, box]] = [Known.MATE, 1, 0, 1]
    state.know_mates[0, 0, 1] = [3, box, NOTHING, 0]
    drawn = []
    for rel, parent in ((Rel.INSIDE, box), (Rel.AT, int(state.things[0, 0, Thing.PARENT])), (Rel.DELIVERED, 0)):
        other = type(state)(*(array.copy() for array in state))
        other.things[0, 0, [Thing.REL, Thing.PARENT]] = rel, parent
        game.sample_belief(other, 0, np.random.default_rng(3))
        assert other.things[0, 0, [Thing.REL, Thing.PARENT]].tolist() == [Rel.INSIDE, box]
        drawn.append(b"".join(array.tobytes() for array in other))
    assert len(set(drawn)) == 1
