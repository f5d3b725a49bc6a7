"""Questions about facts of a state of a room game, whose answers are computed, some by the game's own kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from collab_overcooked.games.rooms.engine.constants import UNREACHABLE, Clock, Goal
from collab_overcooked.games.rooms.engine.state import State
from collab_overcooked.games.rooms.text import text
from collab_overcooked.questions.facts import Fact, numbers_around

Scene = Mapping[str, Any]
MIN_MOVES = 2  # of a distance that is asked for; shorter ones can be seen at once
NO_WAY = "there is no way now"


def facts(game: Any, state: State, scene: Scene, seat: int, rng: np.random.Generator) -> list[Fact]:
    """Return all facts that can be asked of a state from a seat's view; none can be read off the description.

    Args:
        game: Compiled game.
        state: The state, a batch of one.
        scene: The same as a scene.
        seat: Who is asked.
        rng: Draws the wrong numbers.
    """
    return [
        *_distances(game, state, scene, seat, rng),
        *_nearer(game, state, scene, seat),
        *_adversary(game, state, scene, seat),
    ]


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


def _now(game: Any) -> str:
    """Return the condition of questions about ways: doors stay as they are, where there are doors."""
    return "If doors stay as they are now, " if game.level.doors else ""


def _distances(game: Any, state: State, scene: Scene, seat: int, rng: np.random.Generator) -> Iterator[Fact]:
    """Ask how many moves it is to a room."""
    distances, now = game.compiled.tables.distances[state.clock[0, Clock.DOORS]], _now(game)
    for who in (seat, 1 - seat):
        player, verb = scene["players"][who], "do you" if who == seat else f"does {game.display_names[who]}"
        for room, what in _targets(game, scene) if player["active"] else ():
            moves = int(distances[_room(game, player["room"]), room])
            if moves < MIN_MOVES:
                continue
            question = (
                f"{now or 'Wherever the others go, '}how many moves {verb} need at least from {_title(game, player)} "
                f"to the room of the {what}{', wherever the others go' if now else ''}?"
            )
            question = question[0].upper() + question[1:]
            known = moves if moves != UNREACHABLE else int(rng.integers(MIN_MOVES, game.compiled.n_rooms - 2))
            numbers, correct = numbers_around(known, 1, rng)
            choices = (*numbers, NO_WAY) if now else numbers
            yield Fact(
                f"moves {who} {what}", question, choices, correct if moves != UNREACHABLE else len(numbers), "distance"
            )


def _title(game: Any, player: Mapping[str, Any]) -> str:
    return text.room_title(game.compiled, player["room"])


def _nearer(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    """Ask who is nearer to a room."""
    if not all(player["active"] for player in scene["players"]):
        return
    distances, now = game.compiled.tables.distances[state.clock[0, Clock.DOORS]], _now(game)
    other = game.display_names[1 - seat]
    for room, what in _targets(game, scene):
        own, theirs = (int(distances[_room(game, scene["players"][who]["room"]), room]) for who in (seat, 1 - seat))
        if max(own, theirs) < MIN_MOVES:
            continue
        nearer = 0 if own < theirs else 1 if theirs < own else 2
        question = f"{now}who needs fewer moves to the room of the {what}?"
        question = question[0].upper() + question[1:]
        choices = ("you", other, f"neither: both need equally many{' or have no way' if now else ''}")
        yield Fact(f"nearer {what}", question, choices, nearer, "distance")


def _adversary(game: Any, state: State, scene: Scene, seat: int) -> Iterator[Fact]:
    """Ask what the adversary does if both players act in some way: where a thief goes, whom a killer notices then."""
    clock, level, texts = state.clock[0], game.level, game.action_texts()
    if not all(player["active"] for player in scene["players"]):
        return
    if game.goal == Goal.ESCAPE and clock[Clock.TARGET] < 0:  # it goes anywhere
        return
    other, name = game.display_names[1 - seat], text.ADVERSARIES[game.goal]
    for mine, theirs in product(*(game.menu(state, 0, who) for who in (seat, 1 - seat))):
        after, out = State(*(array.copy() for array in state)), game.alloc(1)[1]
        joint = np.zeros((1, game.n_agents), np.int32)
        joint[0, [seat, 1 - seat]] = mine, theirs
        game.step(after, joint, out)
        start = f'Suppose that your action in this turn is "{texts[mine]}" and that of {other} is "{texts[theirs]}".'
        if game.goal == Goal.CAPTURE:
            near = level.neighbours[int(clock[Clock.ADVERSARY])]
            goes = int(after.clock[0, Clock.ADVERSARY])
            ways = game.compiled.tables.ways[clock[Clock.DOORS], clock[Clock.ADVERSARY]]
            if goes not in near or (ways >= 0).sum() < 2:
                continue
            choices = tuple(f"to {level.title(room)}" for room in near)
            question = f"{start} Where does the {name} go?"
            yield Fact(f"goes {mine} {theirs}", question, choices, near.index(goes), "adversary")
        elif not out.terminated[0]:
            target = int(after.clock[0, Clock.TARGET])
            correct = {seat: 0, 1 - seat: 1}.get(target, 2)
            question = f"{start} Whom does the {name} go for in the turn after it?"
            yield Fact(f"target {mine} {theirs}", question, ("you", other, "nobody"), correct, "adversary")
