"""Records are read as they were written, and what is wrong with one is named by file and line."""

from __future__ import annotations

import json

import pytest
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.core.record import history_of
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.runner.records import RecordError, derived_fields, dump_line, parse_record, read_records
from collab_overcooked.runner.replay import first_difference

MESSAGE = {"agent": 0, "conversation": 0, "say": "", "plan": ""}


def test_records_are_read_as_they_were_written(random_run, random_records):
    assert read_records(random_run) == read_records(random_run / "records.jsonl") == random_records
    assert b"".join(map(dump_line, random_records)) == (random_run / "records.jsonl").read_bytes()


def test_a_truncated_record_is_named_by_file_and_line(tmp_path, random_run):
    data = (random_run / "records.jsonl").read_bytes()
    path = tmp_path / "cut.jsonl"
    path.write_bytes(data[:-100])
    with pytest.raises(RecordError, match=r"cut\.jsonl, line 4: is truncated or no JSON: .* in column \d+"):
        read_records(path)


def test_files_without_records_are_named(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\xff")
    for name, text in (("empty", "contains no record"), ("binary", "not a text file"), ("absent", "cannot be read")):
        with pytest.raises(RecordError, match=rf"{name}\.jsonl: {text}"):
            read_records(tmp_path / f"{name}.jsonl")


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (("schema",), "other/1", "schema must be .* not 'other/1'"),
        (("seed",), "7", "seed must be an integer"),
        (("seed",), True, "seed must be .* not True"),
        (("success",), 1, "success must be true or false"),
        (("timesteps",), 3, "timesteps: says 3, but there are 25 steps"),
        (("steps", 2), [], r"steps\[2\] must be a mapping, not "),
        (("steps", 2, "actions"), [0], r"steps\[2\]\.actions lists 1 entries; it must list 2"),
        (("steps", 2, "actions"), ["wait", 0], r"steps\[2\]\.actions\[0\] must be an integer"),
        (("steps", 2, "events", 1), {"event": "PUT"}, r"steps\[2\]\.events\[1\]"),
        (("steps", 2, "rewards", 0), "much", r"steps\[2\]\.rewards\[0\] must be a number"),
        (("steps", 2, "messages"), [MESSAGE | {"say": 1}], r"steps\[2\]\.messages\[0\]\.say must be .* not 1"),
        (("steps", 2, "messages"), [MESSAGE | {"agent": 2}], r"steps\[2\]\.messages\[0\]\.agent must be"),
        (("steps", 2, "tokens", 0), -1, r"steps\[2\]\.tokens\[0\] must be .* not -1"),
        (("history", 0, 0), {"timestamp": "1", "action": ""}, r"history\[0\]\[0\]\.timestamp must be .* not '1'"),
        (("task",), "\ud800", r"task must be a text without unpaired surrogates"),
        (("env_id",), "Chess-v0", "unknown environment id 'Chess-v0'"),
        (("env_kwargs", "kitchens"), "paper", "unknown option 'kitchens'; did you mean kitchen"),
        (("env_kwargs", "gamma"), -1, "gamma must be a number above 0"),
        (("env_kwargs", "lexicon"), [], r"lexicon must be a text"),
        (("team",), {"agent_1": "x", "agent_0": "x"}, "team has agent_1, agent_0, allowed are agent_0, agent_1"),
        (("team",), {}, "team must be"),
        (("steps", 2, "errors"), [{"agent": 0}], r"steps\[2\]\.errors\[0\]\.action"),
        (("history",), [], "history lists 0 entries; it must list 2"),
    ],
)
def test_a_wrong_field_is_named(record, path, value, text):
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(RecordError, match="^file, line 5: " + text):
        parse_record(json.dumps(record), "file, line 5")


@pytest.mark.parametrize("field", ["env_id", "env_kwargs", "team", "steps", "task", "max_cycles", "version"])
def test_a_missing_field_is_named(record, field):
    del record[field]
    with pytest.raises(RecordError, match=f"here: {field} is missing"):
        parse_record(json.dumps(record), "here")


def test_a_record_that_was_cut_ends_where_it_says(random_records):
    """A run may end an episode early; it says after how many steps, and replay holds it to that."""
    record = next(record for record in random_records if not record.success)
    steps = record.steps[:6]
    history = history_of(steps, len(record.team))
    cut = record.replace(steps=steps, timesteps=6, ends_after=6, history=history, metrics={})
    cut = cut.replace(**derived_fields(cut))
    assert first_difference(cut) is None
    for ends_after in (5, 7, None):
        assert first_difference(cut.replace(ends_after=ends_after)) == (
            "timesteps: the record ends after 6 steps, but the game goes on"
        )


def test_a_fault_in_a_games_derived_fields_is_not_swallowed(monkeypatch):
    """Only a missing file of the game leaves them out."""
    record = record_of(env_id="CollabEscape-v0")
    suite = registry.load_suite("CollabEscape-v0")
    for error, is_swallowed in (
        (DocumentError("no such file"), True),
        (ValueError("bad"), False),
        (TypeError("x"), False),
    ):

        def derived(self, record, error=error):
            raise error

        monkeypatch.setattr(type(suite), "derived", derived)
        if is_swallowed:
            assert derived_fields(record) == {}
        else:
            with pytest.raises(type(error)):
                derived_fields(record)
