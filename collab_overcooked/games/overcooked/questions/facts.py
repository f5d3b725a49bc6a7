"""Questions about facts of a moment, whose answers are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collab_overcooked.games.overcooked.constants import BLOCKED, MAX_INGREDIENTS, NOTHING
from collab_overcooked.games.overcooked.questions.kitchen import Kitchen
from collab_overcooked.games.overcooked.text import NAMES
from collab_overcooked.questions.facts import Fact

State = Mapping[str, Any]
EVERYBODY = 3  # both players have a way
SPAN = 3  # numbers beside the right one among the choices
FACING = {"o": "the onion dispenser", "p": "the dish dispenser", "c": "the pot", "d": "the serving", "g": "the gate"}


def facts(kitchen: Kitchen, state: State, seat: int) -> list[Fact]:
    """Return all facts that can be asked of a moment from a seat's view."""
    seen = kitchen.seen(state, seat)["distances"]
    found = [*_contents(kitchen, state)]
    for name in kitchen.objects:
        if name[0] in FACING:
            found += _distances(name, seen, seat, bool(state["gates"]))
    return found


def _contents(kitchen: Kitchen, state: State) -> Iterator[Fact]:
    """Ask how many onions a pot needs before it cooks, and how long its soup takes."""
    lying = {tuple(thing["position"]): thing for thing in state["objects"]}
    for name in kitchen.objects:
        soup = lying.get(kitchen.place(name))
        if name[0] != "c":
            continue
        if soup is None or soup["tick"] < 0:
            count = MAX_INGREDIENTS - (0 if soup is None else len(soup["ingredients"]))
            choices = tuple(map(str, range(MAX_INGREDIENTS + 1)))
            yield Fact(f"needs {name}", f"How many more onions does pot {name} need to cook?", choices, count, "count")
        elif soup["tick"] < soup["time"]:
            left = soup["time"] - soup["tick"]
            numbers = [n for n in range(left - 1, left + SPAN) if n > 0]
            question = f"Counted from now, in which step can the soup of pot {name} be taken out first?"
            yield Fact(f"ready {name}", question, tuple(map(str, numbers)), numbers.index(left + 1), "timing")


def _distances(name: str, seen: Mapping[int, Mapping[str, int]], seat: int, gated: bool) -> Iterator[Fact]:
    """Ask who is nearer to a thing, and who can get to it."""
    own, theirs = (seen[who][name] for who in (seat, 1 - seat))
    thing, other = f"{FACING[name[0]]} {name}", NAMES[1 - seat]
    if NOTHING not in (own, theirs) and max(own, theirs) < BLOCKED:
        nearer = 0 if own < theirs else 1 if theirs < own else 2
        nearest = ("you", other, "both are equally near")
        question = f"Who needs fewer moves to where {thing} can be used?"
        yield Fact(f"nearer {name}", question, nearest, nearer, "distance")
    reached = (own != NOTHING) + 2 * (theirs != NOTHING)
    if reached == EVERYBODY and not gated:
        return
    choices = ("neither of you", "you alone", f"{other} alone", "both of you")
    question = f"With gates as they are now, who has a way to where {thing} can be used?"
    yield Fact(f"reach {name}", question, choices, reached, "reach")
