"""Options as fields of frozen dataclasses: default, help, allowed values; made from keywords with exact complaints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from collab_overcooked.io.checks import check_options, near_matches, quote_value

T = TypeVar("T")

# Metavars of options that take several values, separated by spaces or commas.
NAMES, PAIRS, SEATS = "NAME...", "NAME=VALUE...", "SEAT=POLICY..."


@dataclass(frozen=True)
class NoOptions:
    """Nothing to choose."""


def option(default: Any, help: str, *, allowed: Sequence[str] = (), flag: str = "", metavar: str = "") -> Any:
    """Return a dataclass field for an option.

    Args:
        default: Its value where none is given.
        help: One sentence for users.
        allowed: Allowed values, if these can be listed.
        flag: Names on the command line with a space between them, if they are not the field's own.
        metavar: What help calls its value; with ``...`` at its end the option takes several, after spaces or commas.
    """
    return field(default=default, metadata={"help": help, "allowed": tuple(allowed), "flag": flag, "metavar": metavar})


def read_names(name: str, text: str) -> list[str]:
    """Read names with commas between them, each once.

    Raises:
        ValueError: If there is none.
    """
    found = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise ValueError(f"{name}: cannot read {quote_value(text)}; write names with commas between them")
    return found


def make_options(kind: type[T], given: Mapping[str, Any], what: str = "option") -> T:
    """Make an instance of an options dataclass; None stands for the default, lists become tuples.

    Args:
        kind: Frozen dataclass whose fields are made by ``option``.
        given: Values by field name.
        what: What the fields are called in messages.

    Raises:
        ValueError: For an unknown name or a value that is not allowed; the message lists near matches.
    """
    known = {own.name: own for own in fields(kind)}  # type: ignore[arg-type]
    check_options(given, known, what)
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        allowed = known[name].metadata.get("allowed")
        if allowed and value not in allowed:
            raise ValueError(near_matches(name, value, allowed))
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()})
