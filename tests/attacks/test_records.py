"""Mutated records: whoever reads them takes them or says in which line and field they are wrong, nothing else."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from attacks.mutations import mutate, nested, paths
from attacks.records import PLANS, SHORT
from support.covers import first

from collab_overcooked.baselines.cloning import recorded_games
from collab_overcooked.cli.episodes import step_lines
from collab_overcooked.registry import load_game
from collab_overcooked.reporting import report, scorecard
from collab_overcooked.reporting.plan_trees import all_updates, tree_text, update_at
from collab_overcooked.reporting.results import score_records
from collab_overcooked.reporting.run_comparison import run_cards
from collab_overcooked.reporting.video import frames_of_record
from collab_overcooked.runner.records import RecordError, about, parse_record, read_records
from collab_overcooked.runner.replay import first_difference

pytestmark = pytest.mark.attacks

MUTATIONS = 40  # of each game and seed
PICTURED = 10  # every so manieth is drawn, too


def dumped(value: Any) -> str:
    try:
        return json.dumps(value)
    except ValueError:  # numbers of more digits than Python writes
        return "9" * 5000


def flipped(rng: random.Random, text: str) -> str:
    characters = list(text)
    for _ in range(rng.choice((1, 2, 5))):
        characters[rng.randrange(len(characters))] = rng.choice('{}[],:"0123456789.eE-ntf\\\x00\n ')
    return "".join(characters)


def use(path: Path, drawn: bool) -> None:
    """Do what all commands do that read records."""
    records = read_records(path)
    cards = score_records(records)
    assert scorecard.markdown(cards) and scorecard.json_text(cards)
    scorecard.csv_text(cards)
    for record in records:
        assert first_difference(record) is None or isinstance(first_difference(record), str)
        for step in record.steps:
            assert step_lines(step)
    for record in records:
        with about(record):
            result = update_at(record, 5) if all_updates(record) else None
        if result is not None:
            assert tree_text(result)
    run_cards({"a": records, "b": records})
    if drawn:
        report.build_report(records, cards)
        for record in records:
            list(frames_of_record(record))
            list(recorded_games(load_game(record.env_id, **record.env_kwargs), [record], None))


CHOSEN = [pytest.param(suite, id=suite, marks=() if suite in SHORT else pytest.mark.nightly) for suite in PLANS]


@pytest.mark.parametrize("suite", CHOSEN)
def test_mutated_records_are_used_or_refused(suite, donors, attack_seed, tmp_path):
    rng = random.Random(f"{suite}{attack_seed}")
    path, everyone = tmp_path / "records.jsonl", list(donors.values())
    refused = 0
    for number in range(MUTATIONS):
        text = dumped(mutate(rng, donors[suite], everyone))
        if rng.random() < 0.15:
            text = flipped(rng, dumped(donors[suite]))
        path.write_text(text + "\n", "utf-8")
        try:
            use(path, drawn=number % PICTURED == 0)
        except RecordError as error:
            assert str(error).startswith(f"{path}"), text[:300]
            str(error).encode()
            refused += 1
    assert refused


def without(document: Any, place: tuple[Any, ...]) -> Any:
    """Return a copy of a document without a key, in all entries of a list where a number stands in the way to it."""
    if isinstance(document, list):
        return [without(entry, place[1:]) for entry in document]
    if not isinstance(document, dict) or place[0] not in document:
        return document
    if len(place) == 1:
        return {key: value for key, value in document.items() if key != place[0]}
    return document | {place[0]: without(document[place[0]], place[1:])}


@pytest.mark.parametrize("suite", first(["rush", *(suite for suite in PLANS if suite != "rush")]))
def test_what_the_schema_lets_be_missing_may_be_missing_for_every_reader(suite, donors, tmp_path):
    donor, path = donors[suite], tmp_path / "records.jsonl"
    places = {tuple("*" if type(key) is int else key for key in place) for place in paths(donor) if place}
    optional = 0
    for place in sorted(places, key=str):
        if place[-1] == "*" or place[0] == "env_kwargs":
            continue
        text = json.dumps(without(donor, place))
        try:
            parse_record(text, "f")
        except RecordError:
            continue
        optional += 1
        path.write_text(text + "\n", "utf-8")
        try:
            use(path, drawn=True)
        except RecordError as error:  # a scene or order that the game itself needs
            assert place[0] == "options", (place, error)
    assert optional > 5


def test_the_donors_themselves_are_used(donors, tmp_path):
    for record in donors.values():
        path = tmp_path / "records.jsonl"
        path.write_text(json.dumps(record) + "\n")
        use(path, drawn=False)


LINES = {
    "deep": "[" * 100_000,
    "deep inside": '{"schema": ' + "[" * 900 + "]" * 900 + "}",
    "long number": '{"schema": ' + "9" * 6000 + "}",
    "infinity": '{"schema": 1e999}',
    "not a number": '{"schema": NaN}',
    "half a character": '{"schema": "\\ud800"}',
    "a list": "[1]",
    "nothing": "null",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_lines_that_are_no_records_are_refused(line):
    with pytest.raises(RecordError, match=r"^f, line 1: "):
        parse_record(line, "f, line 1")


def test_nothing_hides_deep_in_fields_that_may_hold_anything(donors):
    record = copy.deepcopy(donors["rush"])
    record["metrics"] = {"x": nested(60)}
    with pytest.raises(RecordError, match=r"metrics\.x.*nested more than 40 deep"):
        parse_record(json.dumps(record), "f")
    record["metrics"] = {"x\x1b[31m": {"y": "\ud800"}}
    with pytest.raises(RecordError, match=r"metrics\['x\\x1b\[31m'\]\.y must be a text without unpaired surrogates"):
        parse_record(json.dumps(record), "f")


TREES = {
    "none": [],
    "a circle": [{"parent": 1}, {"parent": 0}],
    "itself": [{"parent": 0}],
    "later": [{}, {"parent": 2}, {}],
    "a chain": [{"parent": k - 1} for k in range(2000)],
}


@pytest.mark.parametrize("name", TREES)
def test_plans_that_are_no_tree_are_refused(donors, name):
    record = copy.deepcopy(donors["rush"])
    update = record["plan_updates"]["agent_0"][0]
    update["nodes"] = [update["nodes"][0] | node for node in TREES[name]]
    with pytest.raises(RecordError, match=r"plan_updates\.agent_0\[0\]: nodes"):
        parse_record(json.dumps(record), "f")
    update["nodes"] = [update["nodes"][0] if update["nodes"] else {}]
    with pytest.raises(RecordError, match=r"plan_updates\.agent_0\[0\]"):
        parse_record(json.dumps(record), "f")


@pytest.mark.parametrize("completed", [-(10**8), 10**9, 7])
def test_a_scene_inside_a_record_cannot_write_outside_arrays(donors, completed, tmp_path):
    record = copy.deepcopy(donors["cuisineworld"])
    scene = {"accomplished": [], "completed": completed, "tools": {"servingtable0": {"content": ["x"]}}}
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record | {"options": {"state": scene}}) + "\n")
    with pytest.raises(RecordError, match=r"records\.jsonl, line 1: "):
        report.build_report(read_records(path), [])
