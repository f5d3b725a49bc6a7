"""Questions about facts of a state whose answers are computed and not contained in the description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import MAX_INGREDIENTS
from collab_overcooked.games.overcooked.questions.kitchen import Kitchen
from collab_overcooked.games.overcooked.text.text import NAMES
from collab_overcooked.questions.facts import Fact, numbers_around

State = Mapping[str, Any]
MIN_STEPS = 3  # of a route that is asked for; shorter ones can be seen at once
FACING = {"o": "onion dispenser", "p": "dish dispenser", "c": "pot", "d": "serving", "g": "gate"}
ALONE = "Suppose that gates stay as they are now and that the cooks never stand in each other's way."


def facts(kitchen: Kitchen, state: State, seat: int, rng: np.random.Generator) -> list[Fact]:
    """Return all facts of a state that a seat can be asked about.

    Args:
        kitchen: Layout.
        state: Scene.
        seat: Seat that is asked.
        rng: Source of the wrong numbers.
    """
    seats = (seat, 1 - seat)
    steps = {name: [kitchen.steps_to_use(state, who, name) for who in seats] for name in kitchen.objects}
    facts = [*_missing(kitchen, state)]
    for name in kitchen.objects:
        if name[0] in FACING:
            facts += _routes(name, steps[name], seat, rng)
        if name[0] == "c":
            facts += _ready(kitchen, state, name, seat, rng)
    return facts


def _missing(kitchen: Kitchen, state: State) -> Iterator[Fact]:
    lying = {tuple(thing["position"]): thing for thing in state["objects"]}
    hands = [player["holding"] for player in state["players"]]
    at_hand = sum(thing is not None and thing["item"] == "onion" for thing in [*hands, *state["objects"]])
    for name in kitchen.objects:
        soup = lying.get(kitchen.place(name))
        if name[0] != "c" or not at_hand or (soup is not None and soup["tick"] >= 0):
            continue
        count = MAX_INGREDIENTS - at_hand - (0 if soup is None else len(soup["ingredients"]))
        question = (
            f"If all onions in hands and on counters go into pot {name}, how many more onions from dispensers does it "
            "need to begin to cook?"
        )
        choices = tuple(map(str, range(MAX_INGREDIENTS)))
        yield Fact(f"missing {name}", question, choices, max(0, count), "count")


def _ready(kitchen: Kitchen, state: State, name: str, seat: int, rng: np.random.Generator) -> Iterator[Fact]:
    soup = next((thing for thing in state["objects"] if tuple(thing["position"]) == kitchen.place(name)), None)
    if soup is None or soup["tick"] < 0:
        return
    cooked = soup["time"] - soup["tick"] + 1  # step in which it can be taken out first
    for who in (seat, 1 - seat):
        cook, verb = ("you", "do you") if who == seat else (NAMES[who], f"does {NAMES[who]}")
        held = state["players"][who]["holding"]
        if held is None:
            source = next(other for other in kitchen.objects if other[0] == "p")
            with_dish = f"first taking a dish from dish dispenser {source}"
            steps = kitchen.steps_to_use(state, who, source, name)
        elif held["item"] == "dish":
            with_dish = f"using the dish that {cook} already {'hold' if who == seat else 'holds'}"
            steps = kitchen.steps_to_use(state, who, name)
        else:
            continue
        if steps is None:
            continue
        question = (
            f"{ALONE} In which step, counted from 1 for the present one, {verb} take the soup out of pot {name} at the "
            f"earliest, {with_dish}?"
        )
        answer = max(cooked, steps)
        yield Fact(f"soup {who} {name}", question, *numbers_around(answer, 1, rng), "timing")


def _routes(name: str, steps: list[int | None], seat: int, rng: np.random.Generator) -> Iterator[Fact]:
    own_steps, other_steps = steps
    thing, other = f"{FACING[name[0]]} {name}", NAMES[1 - seat]
    for who, count in zip((seat, 1 - seat), steps, strict=True):
        if count is None or count < MIN_STEPS:
            continue
        verb = "do you" if who == seat else f"does {NAMES[who]}"
        question = f"{ALONE} How many steps {verb} need at least to face {thing} and use it, the use included?"
        yield Fact(f"steps {who} {name}", question, *numbers_around(count, 1, rng), "distance")
    if own_steps is not None and other_steps is not None:
        if max(own_steps, other_steps) >= MIN_STEPS:
            nearer = 0 if own_steps < other_steps else 1 if other_steps < own_steps else 2
            question = f"{ALONE} Who needs fewer steps to face {thing} and use it?"
            choices = ("you", other, "neither: both need equally many")
            yield Fact(f"nearer {name}", question, choices, nearer, "distance")
        return
    everybody = ("neither of you", "you alone", f"{other} alone", "both of you")
    question = f"{ALONE} Who can get to a cell from which {thing} can be used?"
    reached = (own_steps is not None) + 2 * (other_steps is not None)
    yield Fact(f"reach {name}", question, everybody, reached, "reach")
