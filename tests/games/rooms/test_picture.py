"""Pictures of rooms: what a seat does not see is not in its picture."""

from __future__ import annotations

import numpy as np
from games.rooms.world import Moment

from collab_overcooked.games.rooms.engine.constants import Clock, Player


def frames(snapshot: Moment) -> list[np.ndarray]:
    return [snapshot.game.render(snapshot.state, 0, "rgb_array", seat) for seat in (0, None)]


def test_the_picture_of_a_seat_hides_what_is_out_of_sight() -> None:
    states = [Moment("capture", "1: 0\n6: 1\n8: adversary", sight="room").play("- | 7", "- | -") for _ in range(2)]
    state = states[1].state
    assert states[0].game.seat_scene(states[0].scene, 0)["in_sight"] == ["1", "6"]
    state.players[0, 1, [Player.ROOM, Player.BEFORE]] = 3
    state.clock[0, Clock.ADVERSARY], state.clock[0, Clock.DOORS] = 4, state.clock[0, Clock.DOORS] ^ 2
    (entry, everything), (own_changed, everything_changed) = map(frames, states)
    np.testing.assert_array_equal(entry, own_changed)
    assert (everything != everything_changed).any() and (entry != everything).any()


def test_a_drawing_marks_rooms_out_of_sight() -> None:
    state = Moment("capture", "1: 0\n6: 1\n8: adversary", sight="room")
    board = state.game.drawing(state.game.seat_scene(state.scene, 0)).parts[0]
    hidden = [cell.labels[-1] for _, cell in board.cells if cell.sprite == "unseen"]
    assert hidden == ["2", "3", "4", "5", "7", "8"]  # the door to room 2 is closed
    assert all(cell.sprite != "unseen" for _, cell in state.game.drawing(state.scene).parts[0].cells)


def test_a_room_with_a_button_names_its_doors() -> None:
    state = Moment("capture", "1: 0\n6: 1\n8: adversary")
    cells = state.game.drawing(state.scene).parts[0].cells
    named = [(cell.labels, any(icon.sprite == "button" for icon in cell.items)) for _, cell in cells]
    assert [labels for labels, button in named if button] == [("5, door 1-2", "5"), ("7, door 4-5", "7")]
    assert all(len(labels) == 1 for labels, button in named if not button)
