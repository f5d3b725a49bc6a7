"""Factories of policies, and the parameters in the text of a spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

from collab_overcooked.io.checks import OptionError, near_matches, refuse_twice
from collab_overcooked.io.structs import check_fields
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.registry import Factory
from collab_overcooked.registry import load_entry

T = TypeVar("T")


@dataclass(frozen=True)
class PolicyOptions:
    """Options of a policy: a dataclass whose fields are checked by their types.

    Raises:
        OptionError: A value is not allowed.
    """

    def __post_init__(self) -> None:
        check_fields(self)


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
        name = getattr(kind, "name", kind.__name__)
        if options_class := getattr(kind, "options_class", None):
            return cast("Policy", kind(read_options(name, text, options_class)))
        refuse_text(name, text)
        return cast("Policy", kind())

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


def read_options(name: str, text: str, options: type[T]) -> T:
    """Parse parameters such as ``"simulations=400,discount=0.9"`` into the options of a policy.

    Raises:
        ValueError: A parameter is unknown or invalid.
    """
    kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(options)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for parameter, value in _pairs(name, text, kinds):
        values[parameter] = value
        with suppress(ValueError):  # texts that are no numbers are refused by the options
            values[parameter] = kinds[parameter](value)
    try:
        return options(**values)
    except OptionError as error:
        raise ValueError(f"policy {name!r}: {error}") from None


def _pairs(name: str, text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    given: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        parameter, _, value = (word.strip() for word in part.partition("="))
        if parameter not in known:
            raise ValueError(near_matches(f"parameter of policy {name}", parameter, known))
        refuse_twice(f"policy {name!r}", parameter, given)
        given.append(parameter)
        yield parameter, value
