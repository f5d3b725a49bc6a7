"""Conditions and blocks: what conditions of a block share, and what they differ in."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, factorial

from collab_overcooked.io.options import NoOptions
from collab_overcooked.study.design import Study
from collab_overcooked.study.documents import check_studies, differences
from collab_overcooked.study.reader import read_study

DOCS = Path(__file__).parents[2] / "docs"
WITHIN = DOCS / "examples" / "studies" / "within.yaml"


def by_pace(**block: Any) -> Study:
    conditions = {
        name: {"suite": "cuisineworld", "team": ["agent_0=person", "all=greedy"], "episodes": 3, "options": options}
        for name, options in {
            "slow": {"levels": "level_1,level_3,level_5", "agents": [2], "alphas": [1.0]},
            "fast": {"levels": "level_5,level_1,level_3", "agents": [2], "alphas": [3.0]},
        }.items()
    }
    content = {key: value for key, value in QUICK.items() if key not in ("conditions", "blocks", "forms")}
    return read_study({**content, "conditions": conditions, "blocks": [{"play": ["slow", "fast"], **block}]})


def test_conditions_of_a_block_draw_the_same_tasks_and_seeds() -> None:
    def drawn(study: Study, group: int) -> list[list[tuple[str, int]]]:
        return [
            [(match.env_kwargs["level"], match.seed) for match in c.draw(0, group)] for c in study.conditions.values()
        ]

    matched = [drawn(by_pace(), group) for group in range(8)]
    assert all(slow == fast and len(set(slow)) == 3 for slow, fast in matched)
    assert len({tuple(slow) for slow, _ in matched}) == 8, "groups draw separately"
    for block in ({"match": "none"}, {"order": "between"}):
        assert not any(slow == fast for slow, fast in (drawn(by_pace(**block), group) for group in range(8)))
    with pytest.raises(ValueError, match=r"match must be none where the order is between"):
        by_pace(match="tasks", order="between")
    content = copy.deepcopy(QUICK)
    content["conditions"]["helped"]["options"]["scenario"] = ["easy", "hard"]
    assert read_study(content).blocks[2].match == "none"
    content["blocks"][2]["match"] = "tasks"
    with pytest.raises(ValueError, match=r"match must be none: the conditions have \[2, 1\] tasks to draw from"):
        read_study(content)


def test_what_conditions_differ_in_is_shown() -> None:
    conditions = by_pace().conditions.values()
    assert differences(list(conditions)) == {"alpha": ["1.0", "3.0"]}
    quick = copy.deepcopy(QUICK)
    quick["conditions"]["helped"]["play"] = {"clock": "turns"}
    quick["conditions"]["hindered"]["team"] = ["agent_0=person"] + [f"agent_{k}=random" for k in (1, 2)]
    quick["conditions"]["hindered"]["options"]["agents"] = [3]
    values = differences(list(read_study(quick).conditions.values()))
    assert values["agent_2"] == ["no seat", "random"] and values["play.clock"] == ["turns", "game"], values
    lines = check_studies([str(WITHIN)], NoOptions()).text
    assert "helped | random: the same tasks and seeds; agent_1: greedy | random" in lines


def test_talk_is_on_or_off() -> None:
    """The number of messages of a conversation is not named where the levels are messages and none."""
    values = differences(list(read_study(factorial()).conditions.values()))
    assert values["messages"] == ["on", "off", "on", "off"] and not [name for name in values if "limits" in name]
