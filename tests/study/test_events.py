"""Lines of a study's journal are read strictly; those of version 1.0.0 are read still."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.io.schema import SchemaError
from collab_overcooked.study.events import check_event, check_identity, check_request

PERSON = {"time": 1.5, "id": "p-1", "step": 2}
ANSWERED = {"event": "answered", **PERSON, "form": "f", "condition": "", "group": None, "place": 0}


@pytest.mark.parametrize(
    "event",
    [
        {"event": "grouped", "time": 1, "group": 0, "members": ["p-1"]},
        {"event": "extended", "time": 1, "places": 4},
        {"event": "passed", **PERSON},
        {"event": "ended", **PERSON, "how": "done", "more": "of a later version"},
        {**ANSWERED, "answers": {"a": "x", "b": ["x", "y"], "c": -3, "d": None}},
    ],
)
def test_lines_without_later_fields_and_with_more_are_read(event: dict[str, Any]) -> None:
    check_event(event)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ([], "must be a mapping"),
        ({"time": 1}, "event must be one of "),
        ({"event": "joinde", "time": 1}, "event must be one of "),
        ({"event": "passed", "time": 1, "id": "p-1"}, "step is missing"),
        ({"event": "passed", **PERSON, "step": -1}, "step must be an integer of at least 0, not -1"),
        ({"event": "passed", **PERSON, "window": "huge"}, "window must be one of large, medium, small, not 'huge'"),
        ({"event": "ended", **PERSON, "how": "so"}, "how must be one of done, declined"),
        ({"event": "refused", "time": 1, "how": "done"}, "how must be one of full"),
        ({"event": "raised", "time": -1, "name": "limit", "value": 3}, "time must be a number of at least 0"),
        ({**ANSWERED, "answers": {"a": {}}}, "answers.a must be "),
        ({**ANSWERED, "answers": {"a": ["x", 1]}}, "answers.a[1] must be a text, not 1"),
        ({**ANSWERED, "answers": {"a": "x" * 100_001}}, "answers.a must be a text of at most 100000 characters"),
    ],
)
def test_other_lines_are_refused_by_field(event: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        check_event(event)
    assert str(caught.value).startswith(message)


def test_identities_and_requests_are_refused_by_field() -> None:
    check_identity({"id": "p-1", "token": "t", "kept": {"pid": "x"}})
    check_request({"forget": "p-1"})
    check_request({"raise": "limit", "to": 5})
    with pytest.raises(SchemaError, match=r"^kept\.pid must be a text, not 1"):
        check_identity({"id": "p-1", "token": "t", "kept": {"pid": 1}})
    with pytest.raises(SchemaError, match=r"^to must be a number from 0 to 100000, not 'x'|^to must be a number"):
        check_request({"raise": "limit", "to": "x"})
    with pytest.raises(SchemaError, match=r"^raise is missing"):
        check_request({})
