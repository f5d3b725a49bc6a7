from __future__ import annotations

import json
import shutil

import pytest
from records import as_json, record_of

from collab_overcooked import registry
from collab_overcooked.core.record import history_of, unpack
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.documents import LayoutError
from collab_overcooked.runner.records import RecordError, derived_fields, dump_line, parse_record, read_records
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.run import Run

MESSAGE = {"agent": 0, "conversation": 0, "say": "", "plan": ""}


@pytest.fixture
def record(random_records):
    return as_json(random_records[0])


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


@pytest.mark.parametrize("cut", [1, 40, 3000])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path, random_run, two_randoms, cut):
    full = (random_run / "records.jsonl").read_bytes()
    folder = tmp_path / "killed"
    folder.mkdir()
    (folder / "config.json").write_bytes((random_run / "config.json").read_bytes())
    (folder / "records.jsonl").write_bytes(full[:-cut])
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    notes, played = [], []
    evaluate(plan, folder, workers=1, note=notes.append, progress=lambda done, total, _: played.append((done, total)))
    assert (folder / "records.jsonl").read_bytes() == full
    assert played == [(4, 4)]
    assert "dropped an unfinished last line" in notes[0]
    assert "3 of 4 episodes are there" in notes[1]


def test_a_finished_run_is_not_played_again(tmp_path, random_run, two_randoms):
    folder = tmp_path / "done"
    folder.mkdir()
    for name in ("config.json", "records.jsonl"):
        (folder / name).write_bytes((random_run / name).read_bytes())
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    played = []
    records = evaluate(plan, folder, workers=1, note=lambda _: None, progress=lambda *state: played.append(state))
    assert len(records) == 4
    assert not played


def test_a_damaged_line_in_the_middle_is_not_passed_over(tmp_path, random_run):
    lines = (random_run / "records.jsonl").read_bytes().splitlines(keepends=True)
    config = json.loads((random_run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "records.jsonl").write_bytes(lines[0] + lines[1][:50] + b"\n" + lines[2])
    with pytest.raises(RecordError, match=r"records\.jsonl, line 2: is truncated"):
        Run(tmp_path, config)


def test_a_folder_played_with_another_file_of_the_same_name_says_so(tmp_path, random_run):
    config = json.loads((random_run / "config.json").read_text()) | {"plugins": {"a.npz": "sha256:0123456789abcdef"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"holds a run of another a\.npz, which has changed since; choose another"):
        Run(tmp_path, config | {"plugins": {"a.npz": "sha256:fedcba9876543210"}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("seed", 4), ("episodes", 9), ("team", {"agent_0": "greedy"}), ("options", {"gamma": 2.0}), ("added", 1)],
)
def test_a_folder_with_another_configuration_is_refused(random_run, field, value):
    config = json.loads((random_run / "config.json").read_text())
    before = (random_run / "records.jsonl").read_bytes()
    with pytest.raises(ValueError, match=f"another configuration: {field} was .*; choose another folder"):
        Run(random_run, config | {field: value})
    assert (random_run / "records.jsonl").read_bytes() == before


def test_a_run_of_another_version_of_the_package_is_continued(tmp_path, random_run, random_records):
    config = json.loads((random_run / "config.json").read_text())
    shutil.copytree(random_run, tmp_path / "run")
    notes = []
    with Run(tmp_path / "run", config | {"version": "9.9.9"}, notes.append) as run:
        assert list(map(unpack, run.results.values())) == random_records
    assert (
        len(notes) == 1 and f"begun with version {config['version']} of the package, continued with 9.9.9" in notes[0]
    )


def test_records_without_a_configuration_are_left_alone(tmp_path, random_run):
    (tmp_path / "records.jsonl").write_bytes((random_run / "records.jsonl").read_bytes())
    with pytest.raises(ValueError, match=r"holds records\.jsonl but no config\.json"):
        Run(tmp_path, {"seed": 0})


def test_an_episode_that_is_there_twice_must_be_the_same(tmp_path, random_run, random_records):
    lines = (random_run / "records.jsonl").read_bytes().splitlines(keepends=True)
    config = json.loads((random_run / "config.json").read_text())
    (tmp_path / "config.json").write_bytes((random_run / "config.json").read_bytes())
    (tmp_path / "records.jsonl").write_bytes(b"".join([*lines, lines[0]]))
    with Run(tmp_path, config) as folder:
        assert list(map(unpack, folder.results.values())) == random_records
    other = dump_line(random_records[0].replace(success=not random_records[0].success))
    (tmp_path / "records.jsonl").write_bytes(b"".join([*lines, other]))
    with pytest.raises(RecordError, match=rf"line {len(lines) + 1}: contradicts line 1 about the same episode"):
        Run(tmp_path, config)


def test_records_are_on_disk_as_soon_as_they_are_made(tmp_path, random_records):
    with Run(tmp_path, {"seed": 0}) as folder:
        for count, record in enumerate(random_records, start=1):
            folder.append(record)
            assert len(read_records(tmp_path)) == count


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
        (LayoutError("no such file"), True),
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
