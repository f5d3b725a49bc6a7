"""Options as fields of frozen dataclasses: default, help, allowed values; keywords are validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from collab_overcooked.io.checks import check_distinct, check_options, near_matches, quote_value
from collab_overcooked.io.schema import read
from collab_overcooked.io.structs import parser_of

T = TypeVar("T")

# Metavars of options that take several values, separated by spaces or commas.
NAMES = "NAME..."
NUMBERS = "NUMBER..."
PAIRS = "NAME=VALUE..."
SEATS = "SEAT=POLICY..."


@dataclass(frozen=True)
class NoOptions:
    """No options."""


def option(default: object, help: str, *, allowed: Sequence[str] = (), flag: str = "", metavar: str = "") -> Any:
    """Return a dataclass field for an option.

    Args:
        default: Default value.
        help: One sentence for users.
        allowed: Allowed values, if these can be listed.
        flag: Names on the command line, separated by spaces; by default the field's name.
        metavar: Placeholder of the value in the help text. If it ends in ``...``, the option takes several values,
            separated by spaces or commas.
    """
    return field(default=default, metadata={"help": help, "allowed": tuple(allowed), "flag": flag, "metavar": metavar})


def read_names(name: str, text: str) -> list[str]:
    """Parse comma-separated names.

    Raises:
        ValueError: If there is none, or one is given twice.
    """
    parts = (part.strip() for part in text.split(","))
    names = [part for part in parts if part]
    if not names:
        raise ValueError(f"{name}: cannot read {quote_value(text)}; write names separated by commas")
    check_distinct(name, (part for part in names if "=" not in part))  # switches belong to the spec before them
    return names


def list_of_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names given as a list, or a single one as its text."""
    return (names,) if isinstance(names, str) else tuple(names)


def _read_value(name: str, value: Any, hint: Any, metavar: str) -> Any:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    item = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)
    if item is None:
        return _read_single(name, value, kinds, metavar)
    return _read_several(name, value, item, is_set(hint))


def _read_single(name: str, value: Any, kinds: Sequence[Any], metavar: str) -> Any:
    """Return the value of an option of one value; a name may have digits only, and names may be in one text."""
    if isinstance(value, (list, tuple)):
        if str not in kinds:
            return tuple(value)
        if not metavar.endswith("..."):
            raise ValueError(f"{name}: got {quote_value(value)}, expected a single name")
        value = ",".join(map(str, value))
    elif _is_number(value) and str in kinds and int not in kinds and float not in kinds:
        value = str(value)
    if metavar == NAMES and isinstance(value, str) and value.strip():
        read_names(name, value)
    return value


def _read_several(name: str, value: Any, item: Any, distinct: bool) -> Any:
    """Return the values of an option that takes several; a single name or number is a list of one."""
    if isinstance(value, str):
        if item is not str:
            raise ValueError(f"{name}: got {quote_value(value)}, expected a list of numbers such as [2, 3]")
        return tuple(read_names(name, value))
    if _is_number(value):
        return (value,)
    if not isinstance(value, (list, tuple)):
        return value
    if distinct:
        check_distinct(name, (entry for entry in value if not (isinstance(entry, str) and "=" in entry)))
    return tuple(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_set(hint: Any) -> bool:
    """Return whether an option takes any number of different values, ``tuple[int, ...]``; pairs are ranges."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return any(get_origin(kind) is tuple and Ellipsis in get_args(kind) for kind in kinds)


def make_options(kind: type[T], values: Mapping[str, Any], what: str = "option") -> T:
    """Create an instance of an options dataclass; None means the default, lists become tuples.

    Args:
        kind: Frozen dataclass whose fields are made by ``option``.
        values: Values by field name; for a field that takes several values, a single one stands for a list.
        what: Noun for the fields in messages.

    Raises:
        ValueError: A name is unknown, or its value is invalid.
    """
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    check_options(values, known, what)
    hints = get_type_hints(kind)
    chosen = {
        name: _read_value(name, value, hints[name], known[name].metadata.get("metavar", ""))
        for name, value in values.items()
        if value is not None
    }
    for name, value in chosen.items():
        read(parser_of(hints[name]), value, name)
        allowed = known[name].metadata.get("allowed")
        if allowed and value not in allowed:
            raise ValueError(near_matches(name, value, allowed))
    return kind(**chosen)
