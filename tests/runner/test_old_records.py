"""Records that were written before records had types are read, scored and replayed to the same numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from collab_overcooked import registry
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.reporting.results import score_records
from collab_overcooked.runner.records import dump_line, parse_record, read_records
from collab_overcooked.runner.replay import first_difference

FOLDER = Path(__file__).parent / "old_records"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def test_every_suite_has_old_records() -> None:
    read = [read_records(FOLDER / f"{name}.jsonl")[0] for name in NAMES]
    assert {registry.suite_of(record).name for record in read} == {*registry.first_suites(), *registry.COMMON_SUITES}


RECOUNTED = ("housework", "transport")
# Version 1.0.0 did not count a second thing that an agent delivered in one step, though it was paid
MORE_DELIVERED = r"events\[\d\]: recorded \{'event': 'delivered', .*'delivered': 1, .* replayed .*'delivered': 2, "


@pytest.mark.parametrize("name", NAMES)
def test_old_records_have_the_same_scores_and_replay(name: str) -> None:
    records = read_records(FOLDER / f"{name}.jsonl")
    cards = [card.to_dict() for card in score_records(records)]
    for card in cards:
        del card["result"]  # which 1.0.0 did not have
    assert json.loads(json.dumps(cards)) == json.loads((FOLDER / f"{name}.json").read_text())
    for record in records:
        assert parse_record(dump_line(record).decode(), name) == record
        difference = first_difference(record) or ""
        assert record.suite or not difference or (name in RECOUNTED and re.search(MORE_DELIVERED, difference))


def test_a_rewritten_record_loses_nothing() -> None:
    """Empty values and defaults are left out; every other value stays."""
    for name in NAMES:
        for line in (FOLDER / f"{name}.jsonl").read_text().splitlines():
            assert _lost(json.loads(line), json.loads(dump_line(parse_record(line, name)))) == []


def _lost(before: object, after: object, place: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        absent = [f"{place}.{key}" for key, value in before.items() if key not in after and value and value != "none"]
        return absent + [
            text for key in before.keys() & after.keys() for text in _lost(before[key], after[key], f"{place}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            text for k, pair in enumerate(zip(before, after, strict=True)) for text in _lost(*pair, f"{place}[{k}]")
        ]
    return [] if before == after else [place]


@pytest.mark.parametrize(("suite", "name"), [("rush", "solver"), ("cuisineworld", "scheduler:rollouts=4")])
def test_records_that_name_a_policy_of_old_are_read_scored_and_replayed(suite: str, name: str) -> None:
    """1.0.0 had two more names for ``planner``; a record needs no policy."""
    line = json.loads((FOLDER / f"{suite}.jsonl").read_text().splitlines()[0])
    line["team"] = dict.fromkeys(line["team"], name)
    record = parse_record(json.dumps(line), suite)
    assert set(record.team.values()) == {name} and first_difference(record) is None
    assert score_records([record]), "a table of its team"
    with pytest.raises(ValueError, match=r"unknown policy '(solver|scheduler)'"):
        make_policy(name)
