"""Factories of policies, and the parameters in the text of a spec."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from collab_overcooked.io.checks import near_matches, refuse_twice
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.registry import Factory
from collab_overcooked.registry import load_entry


def load_factory(entry: Factory) -> Callable[[str], Policy]:
    """Return a function that creates a policy from the text after its name in a spec, which may be empty.

    Raises:
        ValueError: The factory needs torch, which is not installed.
    """
    try:
        factory: Any = load_entry(entry) if isinstance(entry, str) else entry
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ValueError("the policy needs torch: pip install 'collab-overcooked[rl]'") from None
    if not inspect.isclass(factory):
        return cast("Callable[[str], Policy]", factory)
    kind: Any = factory

    def make(text: str) -> Policy:
        parameters, name = getattr(kind, "parameters", ()), getattr(kind, "name", kind.__name__)
        if options_class := getattr(kind, "options_class", None):
            return cast("Policy", kind(read_options(name, text, options_class)))
        if not parameters:
            refuse_text(name, text)
        return cast("Policy", kind(**read_numbers(name, text, parameters)))

    return make


def refuse_text(name: str, text: str) -> None:
    """Raise ValueError if a policy without parameters gets any."""
    if text:
        raise ValueError(f"policy {name!r} takes no parameters, but got {text!r}; write {name!r} alone")


def read_number(name: str, parameter: str, text: str, low: int) -> int:
    """Parse an integer of at least ``low`` in a spec.

    Raises:
        ValueError: The text is not an integer, or less than ``low``.
    """
    if not (text.isascii() and text.isdecimal()) or int(text) < low:
        raise ValueError(f"policy {name!r}: {parameter} must be an integer of at least {low}, not {text!r}")
    return int(text)


def read_probability(name: str, text: str) -> float:
    """Parse a number from 0 to 1 in a spec.

    Raises:
        ValueError: The text is not a number from 0 to 1.
    """
    try:
        probability = float(text)
    except ValueError:
        probability = -1.0
    if not 0 <= probability <= 1:
        raise ValueError(f"policy {name!r}: probability must be a number from 0 to 1 as in {name}:0.2, not {text!r}")
    return probability


def read_numbers(name: str, text: str, parameters: Sequence[str]) -> dict[str, int]:
    """Parse parameters such as ``"width=500,replan=50"``, all positive integers."""
    return {parameter: read_number(name, parameter, value, 1) for parameter, value in _pairs(name, text, parameters)}


def read_options(name: str, text: str, options: type[Any]) -> Any:
    """Parse parameters such as ``"simulations=400,discount=0.9"`` into a dataclass, with the types of its defaults.

    Raises:
        ValueError: A parameter is unknown or invalid.
    """
    kinds: dict[str, type] = {field.name: type(field.default) for field in fields(options)}
    values: dict[str, Any] = {}
    for parameter, value in _pairs(name, text, kinds):
        try:
            values[parameter] = kinds[parameter](value)
        except ValueError:
            type_name = {int: "an integer", float: "a number"}[kinds[parameter]]
            raise ValueError(f"policy {name!r}: {parameter} must be {type_name}, not {value!r}") from None
    return options(**values)


def check_settings(
    name: str, settings: Any, ranges: Mapping[str, tuple[float, float]], choices: Mapping[str, Sequence[str]]
) -> None:
    """Raise ValueError for a setting outside its range or not among its choices."""
    values = vars(settings)
    for parameter, (low, high) in ranges.items():
        if not low <= values[parameter] <= high:
            allowed = f"at least {low}" if high == math.inf else f"from {low} to {high}"
            raise ValueError(f"policy {name!r}: {parameter} must be {allowed}, not {values[parameter]}")
    for parameter, known in choices.items():
        if values[parameter] not in known:
            raise ValueError(
                near_matches(f"{parameter} of policy {name}", values[parameter], list(filter(None, known)))
            )


def _pairs(name: str, text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    given: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        parameter, _, value = (word.strip() for word in part.partition("="))
        if parameter not in known:
            raise ValueError(near_matches(f"parameter of policy {name}", parameter, known))
        refuse_twice(f"policy {name!r}", parameter, given)
        given.append(parameter)
        yield parameter, value
