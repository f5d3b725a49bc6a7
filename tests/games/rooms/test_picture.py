"""Pictures of rooms: what a seat does not see is not in its picture."""

from __future__ import annotations

import numpy as np
from games.rooms.world import Moment

from collab_overcooked.games.rooms.engine.constants import Clock, Player


def frames(moment: Moment) -> list[np.ndarray]:
    return [moment.game.render(moment.state, 0, "rgb_array", seat) for seat in (0, None)]


def test_the_picture_of_a_seat_hides_what_is_out_of_sight() -> None:
    moments = [Moment("capture", "1: 0\n6: 1\n8: adversary", sight="room").play("- | 7", "- | -") for _ in range(2)]
    state = moments[1].state
    assert moments[0].game.seat_scene(moments[0].scene, 0)["in_sight"] == ["1", "6"]
    state.players[0, 1, [Player.ROOM, Player.BEFORE]] = 3
    state.clock[0, Clock.ADVERSARY], state.clock[0, Clock.DOORS] = 4, state.clock[0, Clock.DOORS] ^ 2
    (own, everything), (own_changed, everything_changed) = map(frames, moments)
    np.testing.assert_array_equal(own, own_changed)
    assert (everything != everything_changed).any() and (own != everything).any()


def test_a_sheet_marks_rooms_out_of_sight() -> None:
    moment = Moment("capture", "1: 0\n6: 1\n8: adversary", sight="room")
    board = moment.game.sheet(moment.game.seat_scene(moment.scene, 0)).parts[0]
    hidden = [cell.labels[0] for _, cell in board.cells if cell.sprite == "unseen"]
    assert hidden == ["2", "3", "4", "5", "7", "8"]  # the door to room 2 is closed
    assert all(cell.sprite != "unseen" for _, cell in moment.game.sheet(moment.scene).parts[0].cells)
