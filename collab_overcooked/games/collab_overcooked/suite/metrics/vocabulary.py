"""Which action strings count: the action sets that the original's evaluation knows, seat by seat.

An action outside the vocabulary is dropped before a history is scored, and a request for one vanishes. The
paper's two sets are a function of its food names and utensils; another kitchen passes any mapping from seat
to a set of strings, made by hand or with ``kitchen_vocabularies``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from collab_overcooked.metrics.trajectory import normal_form

Vocabularies = Mapping[int, frozenset[str]]
"""Seat -> the action strings of that seat, in normal form."""

DUMMY_ACTION = "no_action()"
"""Stands for the placeholder the original puts into an empty history; a member of every vocabulary."""

PAPER_UTENSILS: Mapping[int, Mapping[str, str]] = {
    0: {"pot0": "cook", "oven0": "bake"},
    1: {"chopping_board0": "cut", "blender0": "stir"},
}
"""Seat -> utensil -> operation in the paper's kitchen."""

_PLAIN_ACTION = re.compile(r"\w+\([\w,]*\)")


def kitchen_vocabularies(
    foods: Iterable[str],
    utensils: Mapping[int, Mapping[str, str]] = PAPER_UTENSILS,
    *,
    suppliers: Collection[int] = (1,),
    deliverers: Collection[int] = (0,),
) -> dict[int, frozenset[str]]:
    """Build the action set of each seat from the kitchen's names.

    Source: the original's action space. With the paper's 29 raw ingredients and 77 products it gives the
    same 332 strings for the chef and 538 for the assistant. Every seat may put things on a counter, take a
    dish or a food from it, and use its own utensils. Suppliers also reach the two dispensers; deliverers also
    read the recipe, fill a dish from any utensil, and deliver.

    Args:
        foods: Names of all raw ingredients and products.
        utensils: Seat -> utensil -> name of its operation.
        suppliers: Seats at the dispensers.
        deliverers: Seats at the serving window.

    Returns:
        Seat -> action strings in normal form, the placeholder included.
    """
    for field, seats in (("suppliers", suppliers), ("deliverers", deliverers)):
        if missing := sorted(set(seats) - set(utensils)):
            raise ValueError(f"{field}: seat {missing[0]} is unknown, allowed are {sorted(utensils)}")
    names = list(foods)
    everything = [utensil for operations in utensils.values() for utensil in operations]
    vocabularies = {}
    for seat, operations in utensils.items():
        actions = {DUMMY_ACTION, "place_obj_on_counter()", "pickup(dish,counter)"}
        actions |= {f"{operation}({utensil})" for utensil, operation in operations.items()}
        actions |= {f"put_obj_in_utensil({utensil})" for utensil in operations}
        sources = ["counter", *operations]
        if seat in suppliers:
            sources += ["ingredient_dispenser", "dish_dispenser"]
            actions.add("pickup(dish,dish_dispenser)")
        if seat in deliverers:
            actions |= {"deliver()", "check_recipe()", "fill_dish_with_food()"}
            actions |= {f"fill_dish_with_food({utensil})" for utensil in everything}
        actions |= {f"pickup({food},{source})" for food in names for source in sources}
        vocabularies[seat] = frozenset(actions)
    return vocabularies


def any_seat(vocabularies: Vocabularies | None) -> frozenset[str] | None:
    """Return the union over seats, which filters histories in the original; None stays None."""
    return None if vocabularies is None else frozenset().union(*vocabularies.values())


def keep_known(actions: Iterable[str], vocabulary: frozenset[str] | None) -> tuple[str, ...]:
    """Bring actions into normal form and drop the unknown ones, keeping their order.

    Args:
        actions: Action strings in any spelling of blanks.
        vocabulary: Known actions; None takes everything that has the form ``name(arg,arg)`` except waits and
            requests, for kitchens without a list.
    """
    plain = (normal_form(action) for action in actions)
    if vocabulary is not None:
        return tuple(action for action in plain if action in vocabulary)
    return tuple(a for a in plain if _PLAIN_ACTION.fullmatch(a) and not a.startswith(("wait(", "request(")))
