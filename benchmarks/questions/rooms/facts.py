"""Fact questions about a state of a room game, with computed answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from benchmarks.questions.facts import Fact, numbers_around
from collab_overcooked.games.rooms.engine.constants import UNREACHABLE, Clock, Goal
from collab_overcooked.games.rooms.engine.state import State

Scene = Mapping[str, Any]
MIN_MOVES = 2  # shorter distances are too easy to ask about
NO_WAY = "there is no way now"


def facts(game: Any, state: State, scene: Scene, seat: int) -> list[Fact]:
    """Return all fact questions about a state from a seat's view; none can be answered from the description directly.

    There are none if a player is out of the game.

    Args:
        game: Compiled game.
        state: The state, as a batch of one.
        scene: The same state as a scene.
        seat: Seat that is asked.
    """
    if not all(player["active"] for player in scene["players"]):
        return []
    return [
        *_distances(game, state, scene, seat),
        *_nearer(game, state, scene, seat),
        *_adversary(game, state, scene, seat),
    ]


def is_useful(game: Any, state: State, seat: int, action: int) -> bool:
    """Return whether an action is useful: a move, or a use of a room in which something is left to do."""
    return action != game.n_actions - 1 or not game.is_useless(state, 0, seat)


def _room(game: Any, name: str) -> int:
    return int(game.level.rooms.index(name))


def _targets(game: Any, scene: Scene) -> list[tuple[int, str]]:
    level = game.level
    targets = [(_room(game, scene["adversary"]["room"]), game.level.adversary_name)]
    for door, name in zip(level.doors, level.door_names, strict=True):
        targets.append((door.button, f"button of the door {name}"))
    for generator in scene["generators"]:
        title = level.title(generator["room"])
        targets.append((_room(game, generator["room"]), f"generator in {title}"))
    return targets + [(room, "exit") for room in level.exits]


def _now(game: Any) -> str:
    return "If doors stay as they are now, " if game.level.doors else ""


def _distances(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    distances, now = game.compiled.tables.distances[state.clock[0, Clock.DOORS]], _now(game)
    for who in (seat, 1 - seat):
        player = scene["players"][who]
        verb = "do you" if who == seat else f"does {game.display_names[who]}"
        for room, what in _targets(game, scene):
            moves = int(distances[_room(game, player["room"]), room])
            if moves < MIN_MOVES:
                continue
            question = (
                f"{now or 'Wherever the others go, '}how many moves {verb} need at least from {_title(game, player)} "
                f"to the room of the {what}{', wherever the others go' if now else ''}?"
            )
            question = question[0].upper() + question[1:]
            numbers, correct = numbers_around(MIN_MOVES if moves == UNREACHABLE else moves, MIN_MOVES)
            choices = (*numbers, NO_WAY) if now else numbers
            yield Fact(question, choices, correct if moves != UNREACHABLE else len(numbers), "distance")


def _title(game: Any, player: Mapping[str, Any]) -> str:
    return game.level.title(player["room"])


def _nearer(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    distances, now = game.compiled.tables.distances[state.clock[0, Clock.DOORS]], _now(game)
    other = game.display_names[1 - seat]
    for room, what in _targets(game, scene):
        mine, other_moves = (
            int(distances[_room(game, scene["players"][who]["room"]), room]) for who in (seat, 1 - seat)
        )
        if max(mine, other_moves) < MIN_MOVES:
            continue
        nearer = 0 if mine < other_moves else 1 if other_moves < mine else 2
        question = f"{now}who needs fewer moves to the room of the {what}?"
        question = question[0].upper() + question[1:]
        choices = ("you", other, f"neither: both need equally many{' or have no way' if now else ''}")
        yield Fact(question, choices, nearer, "distance")


def _adversary(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    clock = state.clock[0]
    level = game.level
    texts = game.action_texts()
    if game.goal == Goal.ESCAPE and clock[Clock.TARGET] < 0:  # its move is random
        return
    other, name = game.display_names[1 - seat], game.level.adversary_name
    menus = (
        [action for action in game.menu(state, 0, who) if is_useful(game, state, who, action)]
        for who in (seat, 1 - seat)
    )
    for mine, others in product(*menus):
        after, out = State(*(array.copy() for array in state)), game.alloc(1)[1]
        joint = np.zeros((1, game.n_agents), np.int32)
        joint[0, [seat, 1 - seat]] = mine, others
        game.step(after, joint, out)
        start = f'Suppose that your action in this turn is "{texts[mine]}" and that of {other} is "{texts[others]}".'
        if game.goal == Goal.CAPTURE:
            near = level.neighbours[int(clock[Clock.ADVERSARY])]
            goes = int(after.clock[0, Clock.ADVERSARY])
            ways = game.compiled.tables.ways[clock[Clock.DOORS], clock[Clock.ADVERSARY]]
            if goes not in near or (ways >= 0).sum() < 2:
                continue
            choices = tuple(f"to {level.title(room)}" for room in near)
            question = f"{start} Where does the {name} go?"
            yield Fact(question, choices, near.index(goes), "adversary")
        elif not out.terminated[0]:
            target = int(after.clock[0, Clock.TARGET])
            correct = {seat: 0, 1 - seat: 1}.get(target, 2)
            question = f"{start} Whom does the {name} go for in the turn after it?"
            yield Fact(question, ("you", other, "nobody"), correct, "adversary")
