"""What a player with sight=room may not know reaches neither text, picture, observation nor search."""

from __future__ import annotations

import json

import numpy as np
import pytest
from games.rooms.world import Moment

from collab_overcooked.games.rooms.engine.constants import Clock, Generator, Player
from collab_overcooked.policies.search.simulator import Simulator


def shown(snapshot, seat=0):
    """Everything that a seat gets to know, as bytes."""
    game, state, out = snapshot.game, snapshot.state, snapshot.out
    game.observe(state, out)
    view = game.seen(state, 0, seat)
    fork = Simulator(game, state, seat).fork(8, 5)
    parts = [view.text, view.manual, json.dumps(view.scene), game.render(state, 0, "ansi", seat)]
    arrays = [out.observations[0, seat], out.masks[0, seat], *fork.state, *fork.out]
    return "".join(parts).encode() + b"".join(array.tobytes() for array in arrays)


def hide_and_change(snapshot, kind):
    """Change what is out of sight of player 0."""
    players, clock = snapshot.state.players[0], snapshot.state.clock[0]
    if kind == "partner":
        players[1, [Player.ROOM, Player.BEFORE]] = 4, 3
        players[1, [Player.FIXING, Player.SEEN]] = 1, 1
    elif kind == "adversary":
        clock[[Clock.ADVERSARY, Clock.TARGET]] = 4, 1
    elif kind == "door":
        clock[Clock.DOORS] ^= 1
    elif kind == "repairs":
        snapshot.state.generators[0, 1, [Generator.PROGRESS, Generator.FIXER]] = 1, 1
    else:
        snapshot.state.sightings[0, 1], snapshot.state.known_doors[0, 1] = 2, 0


@pytest.mark.parametrize("kind", ["partner", "adversary", "door", "repairs", "memory of the partner"])
def test_nothing_out_of_sight_is_shown(kind):
    start = "1: 0\n2: 1\n3: adversary"
    states = [Moment("escape", start, sight="room", loss="all", preset="paper2023") for _ in range(2)]
    for snapshot in states:
        snapshot.play("- | 3", "- | -")  # 0 stays; 1 is gone
        snapshot.state.players[0, 1, Player.ROOM] = 3
        snapshot.state.clock[0, Clock.ADVERSARY] = 6
    before = shown(states[0])
    assert shown(states[1]) == before
    hide_and_change(states[1], kind)
    assert shown(states[1]) == before
    states[1].state.players[0, 0, Player.ROOM] = 5  # what it does know is shown
    assert shown(states[1]) != before


def test_memory_says_where_and_when_somebody_was_seen():
    snapshot = Moment("capture", "1: 0\n6: 1\n8: adversary", sight="room")
    snapshot.play("- | 7", "- | -")
    text = snapshot.game.describe(snapshot.state, 0, 0)
    assert "agent_1 is out of sight; last seen 2 turns ago in room 6." in text
    seen = snapshot.game.seat_scene(snapshot.scene, 0)
    assert seen["players"][1]["seen_ago"] == 2 and "known" not in seen


def test_beliefs_keep_to_what_is_in_sight_and_within_reach():
    snapshot = Moment("escape", "1: 0\n2: 1\n5: adversary", sight="room", loss="all").play("- | 3", "- | -")
    fork = Simulator(snapshot.game, snapshot.state, 0).fork(200, 1)
    partners = set(fork.state.players[:, 1, Player.ROOM].tolist())
    assert partners <= {2, 3} and len(partners) > 1  # rooms 3 and 4: two passages from room 2, out of sight
    assert not set(fork.state.clock[:, Clock.ADVERSARY].tolist()) & {0, 1, 5}


def test_a_player_out_of_sight_is_believed_in_each_room_within_reach_alike():
    snapshot = Moment("escape", "1: 0\n2: 1\n5: adversary", sight="room", loss="all").play("- | 3", "- | -")
    fork = Simulator(snapshot.game, snapshot.state, 0).fork(2000, 1)
    shares = np.unique(fork.state.players[:, 1, Player.ROOM], return_counts=True)[1] / 2000
    assert len(shares) > 1 and (abs(shares - 1 / len(shares)) < 0.05).all()
