"""Specs of policies: the factory of a name, and the parameters behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from typing import Any, cast

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Policy
from collab_overcooked.registry import load_entry

Factory = str | Callable[..., Any]
"""``"package.module:name"`` of a function of the text, or of a policy's class; or the function or class itself.

A class takes the integers of at least 1 that its ``parameters`` name, as in ``"width=500,replan=50"``.
"""


def load_factory(entry: Factory) -> Callable[[str], Policy]:
    """Return what makes a policy from the text behind its name in a spec, empty without one."""
    found: Any = load_entry(entry) if isinstance(entry, str) else entry
    if not inspect.isclass(found):
        return cast("Callable[[str], Policy]", found)
    kind: Any = found

    def make(text: str) -> Policy:
        parameters, name = getattr(kind, "parameters", ()), getattr(kind, "name", kind.__name__)
        if not parameters:
            refuse_text(name, text)
        return cast("Policy", kind(**read_numbers(name, text, parameters)))

    return make


def refuse_text(name: str, text: str) -> None:
    """Raise ValueError if a kind that takes no parameters was given some."""
    if text:
        raise ValueError(f"policy {name!r} takes no parameters, but got {text!r}; write {name!r} alone")


def read_number(name: str, parameter: str, text: str, low: int) -> int:
    """Read an integer of at least ``low`` from a spec.

    Raises:
        ValueError: Naming policy, parameter and what is allowed.
    """
    if not (text.isascii() and text.isdigit()) or int(text) < low:
        raise ValueError(f"policy {name!r}: {parameter} must be an integer of at least {low}, not {text!r}")
    return int(text)


def read_probability(name: str, text: str) -> float:
    """Read a number from 0 to 1 from a spec.

    Raises:
        ValueError: Naming the policy and what is allowed.
    """
    try:
        probability = float(text)
    except ValueError:
        probability = -1.0
    if not 0 <= probability <= 1:
        raise ValueError(f"policy {name!r}: probability must be a number from 0 to 1 as in {name}:0.2, not {text!r}")
    return probability


def read_numbers(name: str, text: str, parameters: Sequence[str]) -> dict[str, int]:
    """Read parameters such as ``"width=500,replan=50"``, integers of at least 1.

    Raises:
        ValueError: For an unknown parameter or a value that is no such number.
    """
    return {parameter: read_number(name, parameter, value, 1) for parameter, value in _pairs(name, text, parameters)}


def read_options(name: str, text: str, options: type[Any]) -> Any:
    """Read parameters such as ``"simulations=400,discount=0.9"`` into a dataclass whose defaults have the right types.

    Raises:
        ValueError: For an unknown parameter, or a value that is not of its type or that the dataclass refuses.
    """
    kinds: dict[str, type] = {field.name: type(field.default) for field in fields(options)}
    values: dict[str, Any] = {}
    for parameter, value in _pairs(name, text, kinds):
        try:
            values[parameter] = kinds[parameter](value)
        except ValueError:
            wanted = {int: "an integer", float: "a number"}[kinds[parameter]]
            raise ValueError(f"policy {name!r}: {parameter} must be {wanted}, not {value!r}") from None
    return options(**values)


def _pairs(name: str, text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield parameters with their values, none of them unknown."""
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        parameter, _, value = (word.strip() for word in part.partition("="))
        if parameter not in known:
            raise ValueError(near_matches(f"parameter of policy {name}", parameter, known))
        yield parameter, value
