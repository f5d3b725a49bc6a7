"""Options as fields of frozen dataclasses: default, help, allowed values; keywords are validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from collab_overcooked.io.checks import check_options, near_matches, quote_value

T = TypeVar("T")

# Metavars of options that take several values, separated by spaces or commas.
NAMES, NUMBERS, PAIRS, SEATS = "NAME...", "NUMBER...", "NAME=VALUE...", "SEAT=POLICY..."


@dataclass(frozen=True)
class NoOptions:
    """No options."""


def option(default: Any, help: str, *, allowed: Sequence[str] = (), flag: str = "", metavar: str = "") -> Any:
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
    """Parse comma-separated names; duplicates are dropped."""
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise ValueError(f"{name}: cannot read {quote_value(text)}; write names separated by commas")
    return names


def make_options(kind: type[T], values: Mapping[str, Any], what: str = "option") -> T:
    """Create an instance of an options dataclass; None means the default, lists become tuples.

    Args:
        kind: Frozen dataclass whose fields are made by ``option``.
        values: Values by field name.
        what: Noun for the fields in messages.
    """
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    check_options(values, known, what)
    chosen = {name: value for name, value in values.items() if value is not None}
    for name, value in chosen.items():
        allowed = known[name].metadata.get("allowed")
        if allowed and value not in allowed:
            raise ValueError(near_matches(name, value, allowed))
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()})
