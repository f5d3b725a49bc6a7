"""One run judged by several time limits, and agents that are not told theirs."""

from __future__ import annotations

import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.collab_overcooked.options import CollabScoring
from collab_overcooked.games.collab_overcooked.suite import tables
from collab_overcooked.games.collab_overcooked.suite.scoring import score_records
from collab_overcooked.registry import load_suite, make
from collab_overcooked.reporting.results import score_paths


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Two tasks played at gamma 2; their reference times are 16 and 23 timesteps."""
    plan = plan_evaluation(
        "collab-overcooked", ["all=reference"], tasks=["boiled_egg", "baked_pumpkin_slices"], gamma=2.0
    )
    folder = tmp_path_factory.mktemp("long")
    return folder, evaluate(plan, folder)


def test_a_run_at_2_is_judged_by_smaller_limits(long):
    """Success at a limit is delivery in time for it, whatever came later; a cut run loses what came after."""
    folder, records = long
    steps = {record.task: record.timesteps for record in records}
    assert all(record.success for record in records)
    reference = {"boiled_egg": 16, "baked_pumpkin_slices": 23}
    for gamma in (0.5, 1.0, 1.25, 1.5, 2.0):
        (score,) = score_records(records, CollabScoring(gamma=gamma))
        expected = sum(steps[task] <= int(gamma * time) + 1 for task, time in reference.items()) / 2
        assert score.levels[-1].value("success_rate").value == expected, gamma
        assert f"judged by gamma {gamma:g}" in score.title
    (short,) = score_records(records, CollabScoring(gamma=0.5))
    (full,) = score_records(records)
    assert short.levels[-1].value("pc").value < full.levels[-1].value("pc").value
    cards = score_paths([folder], {"gamma": (0.5, 1.5)})
    table = next(card for card in cards if card.game == "gamma").tables[0]
    assert [column.name for column in table.columns] == ["Team", "gamma 0.5", "gamma 1.5"]
    assert [cell.value for cell in table.rows[0][1:]] == [0.0, 1.0]


def test_limits_beyond_what_was_played_are_refused(long):
    _, records = long
    unfinished = [records[0].replace(success=False, max_cycles=33)]
    assert score_records(unfinished, CollabScoring(gamma=2.0))
    with pytest.raises(ValueError, match="gamma 3: boiled_egg was played for at most 33 timesteps, too few for 49"):
        score_records(unfinished, CollabScoring(gamma=3.0))
    with pytest.raises(ValueError, match="gamma must be a number above 0"):
        CollabScoring(gamma=(1.0, 0.0))


def test_a_comparison_has_the_curve_of_success_by_gamma(long):
    _, records = long
    unfinished = [record.replace(success=False) for record in records]
    (*levels, table), (*_, chart) = load_suite("collab-overcooked").comparison_tables({"a": records, "b": unfinished})
    assert [table.title.partition(" by ")[0] for table in levels] == [
        "Success rate",
        "Progress completeness",
        "Initiating capability",
        "Responding capability",
    ]
    assert [column.name for column in levels[0].columns] == ["Team", "level 1", "level 2"]
    assert [[cell.value for cell in row[1:]] for row in levels[0].rows] == [[1.0, 1.0], [0.0, 0.0]]
    assert [column.name for column in table.columns] == ["Team", "gamma 1", "gamma 1.2", "gamma 1.5", "gamma 2"]
    assert [row[-1].value for row in table.rows] == [1.0, 0.0]
    assert chart.curve and chart.groups == ("1", "1.2", "1.5", "2")
    assert tables.played_gammas([unfinished[0].replace(max_cycles=21)]) == [1.0, 1.2]


@pytest.mark.parametrize("obs", ["features", "grid"])
def test_nothing_tells_agents_a_hidden_limit(obs):
    """Text, picture, JSON and observation are the same whatever the limit is."""
    displayed = {}
    for gamma in (1.0, 3.0):
        env = make("CollabOvercooked-v0", show_limit=False, gamma=gamma, obs=obs)
        observations, _ = env.reset(seed=0)
        view = env.game.seen(env.arrays[0], 0, 0)
        assert view.limit is None and "limit" not in view.scene
        picture = env.game.drawing(view.scene, 0)
        displayed[gamma] = (
            view.text,
            repr(picture),
            observations["agent_0"].tobytes(),
            observations["agent_1"].tobytes(),
        )
    assert displayed[1.0] == displayed[3.0]
    assert displayed[1.0][0].startswith("Timestep 0.\n")
