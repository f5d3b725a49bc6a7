from __future__ import annotations

import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.collab_overcooked.due_tables import due_cards
from collab_overcooked.games.collab_overcooked.initiations import stages
from collab_overcooked.games.collab_overcooked.scoring import score_records
from collab_overcooked.policies.api import Decision
from collab_overcooked.policies.registry import make_policy
from collab_overcooked.registry import load_game
from collab_overcooked.runner.replay import first_difference


class Asking:
    """A chef that always asks for the same, in words and plan."""

    name = "asking"

    def __init__(self, wish: str) -> None:
        self.wish = wish

    def reset(self, seat, info, seed):
        self.asked = []

    def act(self, seen):
        self.asked.append(seen.timestep)
        return Decision(plan=f"request('{self.wish}'); wait(1)", say="please")

    def reply(self, seen):
        return None


def test_every_action_of_the_assistant_is_due_once():
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    first, second = stages(game)
    assert (first.action, first.before) == ("pickup(egg,ingredient_dispenser)", ())
    assert second.action == "place_obj_on_counter()" and len(second.before) > 0
    for task in ("boiled_potato_slices", "baked_pumpkin_soup"):
        game = load_game("CollabOvercooked-v0", task=task)
        own = [action for action in game.kitchen.tasks[task].references[0][1]]
        assert [stage.action for stage in stages(game)] == own


@pytest.mark.parametrize(
    ("wish", "kinds"),
    [
        ("pickup(egg,ingredient_dispenser)", {"right": 2, "premature": 0, "repetitive": 2, "irrelevant": 0}),
        ("place_obj_on_counter()", {"right": 2, "premature": 2, "repetitive": 0, "irrelevant": 0}),
        ("cut(chopping_board0)", {"right": 0, "premature": 0, "repetitive": 0, "irrelevant": 4}),
    ],
)
def test_what_the_chef_asks_for_is_told_apart(tmp_path, wish, kinds):
    plan = plan_evaluation("initiations", ["agent_0=asking"], tasks=["boiled_egg"], episodes=2)
    records = evaluate(plan, tmp_path, make=lambda spec: Asking(wish))
    assert [(record["task"], record["episode"], record["due"]) for record in records] == [
        ("boiled_egg", 0, "pickup(egg,ingredient_dispenser)"),
        ("boiled_egg", 1, "pickup(egg,ingredient_dispenser)"),
        ("boiled_egg", 2, "place_obj_on_counter()"),
        ("boiled_egg", 3, "place_obj_on_counter()"),
    ]
    for record in records:
        assert sum(len(step["messages"]) for step in record["steps"]) == 1
        assert not any(step["errors"] for step in record["steps"])
        assert first_difference(record) is None
    (table,) = score_records(records)
    assert table.initiations == kinds


def test_the_papers_level_is_usual():
    plan = plan_evaluation("initiations", ["agent_0=greedy"])
    assert len(plan.tasks) == 5 and set(plan.tasks.values()) == {3} and plan.samples == 20
    assert plan.team == ("greedy", "reference")


def test_other_seats_are_not_asked():
    for team in (["all=greedy"], ["agent_1=greedy"], ["agent_0=greedy", "agent_1=greedy"]):
        with pytest.raises(ValueError, match="agent_0 alone is asked"):
            plan_evaluation("initiations", team)


class Hesitant(Asking):
    """A chef that asks for the egg in the first episode of each state, and says nothing in the others."""

    def reset(self, seat, info, seed):
        self.silent = getattr(self, "silent", True) is False

    def act(self, seen):
        return seen.idle_action if self.silent else Decision(plan=f"request('{self.wish}'); wait(1)", say="please")


def test_silent_chefs_stay_in_the_denominator_and_are_a_kind_of_their_own(tmp_path):
    chef = Hesitant("pickup(egg,ingredient_dispenser)")
    plan = plan_evaluation("initiations", ["agent_0=asking"], tasks=["boiled_egg"], episodes=2)
    records = evaluate(plan, tmp_path, make=lambda spec: chef if spec == "asking" else make_policy(spec))
    (card,) = due_cards(records)
    by_due, by_task = card.tables
    heads = [column.name for column in by_due.columns]
    assert heads == ["Due action", "questions", "right %", "right", "premature", "repetitive", "irrelevant", "silent"]
    assert by_due.rows == (
        ("pickup(egg,ingredient_dispenser)", 2, 0.5, 1, 0, 0, 0, 1),
        ("place_obj_on_counter()", 2, 0.0, 0, 0, 1, 0, 1),
        ("all", 4, 0.25, 1, 0, 1, 0, 2),
    )
    assert by_task.rows[0] == ("boiled_egg", 4, 0.25, 1, 0, 1, 0, 2)
    assert due_cards([{**record, "due": ...} for record in ()]) == []
