"""What people see at the end of an episode in a home."""

from __future__ import annotations

import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.play.ending import summary_of


@pytest.mark.parametrize(("suite", "lower"), [("housework", True), ("transport", False)])
def test_the_best_episode_is_that_of_the_best_score_also_where_less_is_better(suite: str, lower: bool) -> None:
    loaded = registry.load_suite(suite)
    good, bad = (
        collab_overcooked.evaluate(suite, team=f"all={policy}", episodes=1)[0]
        for policy in ("greedy", "always:nothing")
    )
    metric, game = loaded.score_metric, registry.load_game(good.env_id, **good.env_kwargs)
    assert (good.metrics[metric] < bad.metrics[metric]) == lower == loaded.lower_is_better
    for record, earlier in ((good, bad), (bad, good)):
        assert summary_of(game, record, [earlier.replace(task=record.task)])["best"] == loaded.outcome(good)
