"""Mutated plans and records of comparisons: read or refused in a sentence that names the file."""

from __future__ import annotations

import json
import random

import pytest
from attacks.mutations import mutate
from attacks.records import write_records

from collab_overcooked.evaluation.compare import leaderboard, page
from collab_overcooked.evaluation.compare.leaderboard import read_comparison
from collab_overcooked.evaluation.compare.plan import PLAN, ComparisonPlan, Entry, read_plan
from collab_overcooked.registry import load_suite
from collab_overcooked.runner.records import RecordError

pytestmark = pytest.mark.attacks

MUTATIONS = 60


@pytest.fixture(scope="module")
def folder(donors, tmp_path_factory):
    path = tmp_path_factory.mktemp("compared")
    setting, policies = load_suite("rush").benchmark("small").settings[0], ("random", "greedy")
    entries = [Entry("rush", setting.name, (one, one), f"own/{one}") for one in policies]
    entries += [
        Entry("rush", setting.name, (one, other), f"pairs/{one}-{other}", True)
        for one in policies
        for other in policies
    ]
    ComparisonPlan(("rush",), policies, entries=tuple(entries)).write(path)
    for entry in entries:
        team = dict(zip(donors["rush"]["team"], entry.team, strict=True))
        accounts = {name: account | {"exhausted": ""} for name, account in donors["rush"]["accounts"].items()}
        write_records(path / entry.folder, [donors["rush"] | {"team": team, "accounts": accounts}])
    return path


def told(folder):
    return page.markdown(read_comparison(read_plan(folder), folder))


def test_a_plan_of_countless_episodes_is_read_without_planning_them(folder, monkeypatch):
    full, created, played = (folder / PLAN).read_text(), [], leaderboard.plays_of

    def counting(evaluation):
        created.append(len(evaluation.matches))
        return played(evaluation)

    monkeypatch.setattr(leaderboard, "plays_of", counting)
    (folder / PLAN).write_text(json.dumps(json.loads(full) | {"episodes": 3000}))
    try:
        told(folder)
    finally:
        (folder / PLAN).write_text(full)
    assert created and max(created) < 100


def test_mutated_plans_are_read_or_refused(folder, attack_seed):
    full = (folder / PLAN).read_text()
    rng, refused = random.Random(f"plan{attack_seed}"), 0
    try:
        for _ in range(MUTATIONS):
            value = mutate(rng, json.loads(full), [json.loads(full)])
            try:
                (folder / PLAN).write_text(json.dumps(value))
            except ValueError:
                continue
            try:
                told(folder)
            except ValueError as error:
                assert str(folder) in str(error), error
                refused += 1
    finally:
        (folder / PLAN).write_text(full)
    assert refused


@pytest.mark.parametrize(
    "change", [{"team": {"agent_0": "x", "agent_1": "y"}}, {"env_id": "Overcooked-v0"}, {"steps": 5}]
)
def test_records_that_are_not_of_the_plan_are_refused(folder, donors, change):
    path = folder / "own" / "greedy" / "records.jsonl"
    full = path.read_text()
    try:
        path.write_text(json.dumps(json.loads(full) | change) + "\n")
        with pytest.raises(RecordError, match=r"records\.jsonl, line 1: "):
            told(folder)
    finally:
        path.write_text(full)


def test_episodes_cut_short_are_left_out_and_told(folder):
    path = folder / "own" / "greedy" / "records.jsonl"
    full = path.read_text()
    record = json.loads(full)
    record["accounts"]["agent_0"]["exhausted"] = "calls"
    try:
        path.write_text(full + json.dumps(record | {"episode": 1}) + "\n")
        assert "greedy, easy, kitchen: 1 of 2 episodes were cut short by their budget and are left out." in told(folder)
    finally:
        path.write_text(full)
