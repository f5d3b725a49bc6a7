"""Lines of a study's files as types: events of its journal, identities of participants, requests of other processes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from collab_overcooked.io.schema import MAX_NUMBER, one_of, read
from collab_overcooked.io.structs import Count, Name, Text, convert
from collab_overcooked.study.design import ENDS, REFUSALS

MAX_LIMIT = 100_000  # of participants, seconds or minutes
MAX_LOSSES = 10_000  # of the focus that a page reports

Answer = Text | list[Text] | Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)] | None
"""Answer to an item, see ``forms.FormItem.read``."""
Limit = Annotated[float, Meta(ge=0, le=MAX_LIMIT)]


class Event(Struct, tag_field="event", tag=str.lower):
    """Line of the journal; ``event`` is the name of the class in lower case. Lines may have further fields."""

    time: Annotated[float, Meta(ge=0, le=10**11)]  # Seconds since 1970


class Joined(Event):
    """A person gave consent."""

    id: Name
    number: Count
    consent: Name
    orders: dict[str, list[Count]] = {}


class Declined(Event):
    """A person declined."""


class Refused(Event):
    """A person cannot take part."""

    how: Name

    def __post_init__(self) -> None:
        read(one_of(REFUSALS), self.how, "how")


class Grouped(Event):
    """Participants form a group."""

    group: Count
    members: list[Name]
    row: Count = 0  # of the balanced orders; files of version 1.0.0 lack it, as it is the number of the group
    yoke: Count = 0


class Extended(Event):
    """More participants are needed; written by version 1.0.0."""

    places: Annotated[int, Meta(ge=1, le=MAX_LIMIT)]


class Raised(Event):
    """A limit is raised."""

    name: Text
    value: Limit


class _OfPerson(Event):
    id: Name
    step: Count


class Opened(_OfPerson):
    """A participant sees a step for the first time."""


class Skipped(_OfPerson):
    """A step does not apply to a participant."""


class Passed(_OfPerson):
    """A participant completes a page or a condition."""

    window: Literal["small", "medium", "large"] = "small"
    focus_losses: Annotated[int, Meta(ge=0, le=MAX_LOSSES)] = 0


class Answered(_OfPerson):
    """A participant answers a questionnaire."""

    form: Name
    condition: Name
    group: Count | None
    place: Count
    answers: dict[str, Answer]
    window: Literal["small", "medium", "large"] = "small"
    focus_losses: Annotated[int, Meta(ge=0, le=MAX_LOSSES)] = 0


class Retried(_OfPerson):
    """A participant gives answers that are not accepted."""

    form: Name
    answers: dict[str, Answer]


class Ended(_OfPerson):
    """Participation ends."""

    how: Name

    def __post_init__(self) -> None:
        read(one_of(ENDS), self.how, "how")


AnyEvent = (
    Joined | Declined | Refused | Grouped | Extended | Raised | Opened | Skipped | Passed | Answered | Retried | Ended
)


class Identity(Struct):
    """Who a participant is; kept apart from the journal."""

    id: Name
    token: Name
    kept: dict[str, Text]


class Forget(Struct):
    """Request to delete a participant."""

    forget: Text


class Raise(Struct):
    """Request to raise a limit."""

    name: Text = field(name="raise")
    to: Limit


def check_event(value: Any) -> None:
    """Check a line of the journal."""
    convert(value, AnyEvent)  # type: ignore[arg-type]


def check_identity(value: Any) -> None:
    """Check a line of the file of identities."""
    convert(value, Identity)


def check_request(value: Any) -> None:
    """Check a request: a participant to forget, or a limit to raise."""
    is_forget = isinstance(value, dict) and "forget" in value
    convert(value, Forget if is_forget else Raise)
