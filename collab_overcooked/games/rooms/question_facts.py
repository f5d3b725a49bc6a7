"""Questions about facts of a moment of a room game, whose answers are computed, some by the game's own kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from collab_overcooked.games.rooms import text
from collab_overcooked.games.rooms.constants import UNREACHABLE, Adversary, Clock, Goal, Param
from collab_overcooked.games.rooms.state import State
from collab_overcooked.questions.facts import Fact

Scene = Mapping[str, Any]
MOST = 6  # choices of a distance


def facts(game: Any, state: State, scene: Scene, seat: int) -> list[Fact]:
    """Return all facts that can be asked of a moment from a seat's view.

    Args:
        game: Compiled game.
        state: The moment, a batch of one.
        scene: The same in words and numbers.
        seat: Who is asked.
    """
    return [*_distances(game, state, scene, seat), *_nearer(game, state, scene, seat), *_goes(game, state, seat)]


def _room(game: Any, name: str) -> int:
    return int(game.level.rooms.index(name))


def _targets(game: Any, scene: Scene) -> list[tuple[int, str]]:
    """Return rooms that matter, with what they are."""
    level = game.level
    found = [(_room(game, scene["adversary"]["room"]), text.ADVERSARIES[game.goal])]
    for door, name in zip(level.doors, level.door_names, strict=True):
        found.append((door.button, f"button of the door {name}"))
    for generator in scene["generators"]:
        title = text.room_title(game.compiled, generator["room"])
        found.append((_room(game, generator["room"]), f"generator in {title}"))
    return found + [(room, "exit") for room in level.exits]


def _distances(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    """Ask how many moves it is to a room."""
    distances = game.compiled.tables.distances[state.clock[0, Clock.DOORS]]
    for who in (seat, 1 - seat):
        verb = "do you" if who == seat else f"does {game.display_names[who]}"
        for room, what in _targets(game, scene):
            moves = int(distances[_room(game, scene["players"][who]["room"]), room])
            answer = MOST - 1 if moves == UNREACHABLE else moves
            if answer >= MOST or (moves != UNREACHABLE and moves >= MOST - 1):
                continue
            choices = (*map(str, range(MOST - 1)), "there is no way now")
            question = (
                f"With doors as they are now, how many moves {verb} need at least to the room of the {what}, wherever "
                "the others go?"
            )
            yield Fact(f"moves {who} {what}", question, choices, answer, "distance")


def _nearer(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    """Ask who is nearer to a room."""
    distances = game.compiled.tables.distances[state.clock[0, Clock.DOORS]]
    other = game.display_names[1 - seat]
    for room, what in _targets(game, scene):
        own, theirs = (int(distances[_room(game, scene["players"][who]["room"]), room]) for who in (seat, 1 - seat))
        nearer = 0 if own < theirs else 1 if theirs < own else 2
        question = f"With doors as they are now, who needs fewer moves to the room of the {what}?"
        choices = ("you", other, "neither: both need as many, or have no way")
        yield Fact(f"nearer {what}", question, choices, nearer, "distance")


def _goes(game: Any, state: State, seat: int) -> Iterator[Fact]:
    """Ask where the adversary goes if nobody moves, where that is not left to chance."""
    params, clock = game.compiled.tables.params, state.clock[0]
    if game.goal == Goal.ESCAPE and params[Param.ADVERSARY] == Adversary.CODED and clock[Clock.TARGET] < 0:
        return
    after = State(*(own.copy() for own in state))
    _, out = game.alloc(1)
    level, now = game.level, int(clock[Clock.ADVERSARY])
    game.step(after, np.zeros((1, game.n_agents), np.int32), out)
    goes = int(after.clock[0, Clock.ADVERSARY])
    near = list(dict.fromkeys([now, *level.neighbours[now]]))
    if goes not in near:
        return
    name = text.ADVERSARIES[game.goal]
    other = game.display_names[1 - seat]
    question = f"If you and {other} both stay where you are in this turn, where does the {name} go?"
    choices = tuple("it stays" if room == now else f"to {level.title(room)}" for room in near)
    yield Fact("goes", question, choices, near.index(goes), "adversary")
