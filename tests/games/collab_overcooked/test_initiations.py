from __future__ import annotations

import pytest
from support.records import record_of

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.collab_overcooked.options import CollaborationOptions
from collab_overcooked.games.collab_overcooked.policies.instructions import split_recipe
from collab_overcooked.games.collab_overcooked.suite.initiations import paper_stages, stages, verb_of
from collab_overcooked.games.collab_overcooked.suite.scoring import score_records
from collab_overcooked.games.collab_overcooked.suite.tables import comparison_tables, due_cards
from collab_overcooked.policies.api import Decision, Message
from collab_overcooked.policies.specs import make_policy
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
        results = [action for action in game.kitchen.tasks[task].references[0][1]]
        assert [stage.action for stage in stages(game)] == results


@pytest.mark.parametrize(
    ("wish", "kinds"),
    [
        (
            "pickup(egg,ingredient_dispenser)",
            {"right": 2, "premature": 0, "repetitive": 2, "irrelevant": 0, "in words": 0},
        ),
        ("place_obj_on_counter()", {"right": 2, "premature": 2, "repetitive": 0, "irrelevant": 0, "in words": 0}),
        ("cut(chopping_board0)", {"right": 0, "premature": 0, "repetitive": 0, "irrelevant": 4, "in words": 0}),
    ],
)
def test_what_the_chef_asks_for_is_told_apart(tmp_path, wish, kinds):
    plan = plan_evaluation("initiations", ["agent_0=asking"], tasks=["boiled_egg"], episodes=2)
    records = evaluate(plan, tmp_path, make=lambda spec: Asking(wish))
    assert [(record.task, record.episode, record.due) for record in records] == [
        ("boiled_egg", 0, "pickup(egg,ingredient_dispenser)"),
        ("boiled_egg", 1, "pickup(egg,ingredient_dispenser)"),
        ("boiled_egg", 2, "place_obj_on_counter()"),
        ("boiled_egg", 3, "place_obj_on_counter()"),
    ]
    for record in records:
        assert len(record.steps[-1].messages) == 1
        assert not any(step.errors for step in record.steps)
        assert first_difference(record) is None
    (table,) = score_records(records)
    assert table.initiations == kinds


def test_the_papers_level_is_usual():
    plan = plan_evaluation("initiations", ["agent_0=greedy"])
    assert len({kind.task for kind in plan.templates}) == 5 and len(plan.matches) == 20 * len(plan.templates)
    assert {(kind.level, kind.team) for kind in plan.templates} == {(3, ("greedy", "reference"))}


def test_the_chef_is_always_asked():
    with pytest.raises(ValueError, match="in the suite initiations agent_0 is asked"):
        plan_evaluation("initiations", ["agent_1=greedy"])
    assert plan_evaluation("initiations", ["all=greedy"]).teams() == [("greedy", "greedy")]


class Answering(Asking):
    """An assistant that announces the same whatever it is asked."""

    def act(self, seen):
        raise AssertionError("the assistant is asked to answer, not what to do")

    def reply(self, seen):
        return Message(seen.seat, "all right", self.wish)


def test_the_assistant_answers_and_initiations_meet_responses_in_a_table(tmp_path):
    """The chef asks for the egg twice, which is right once; the assistant announces the egg, and then the counter."""
    egg, place = "pickup(egg,ingredient_dispenser)", "place_obj_on_counter()"
    items = {"ask": Asking(egg), "right": Answering(egg), "late": Answering(place)}
    tables = {}
    for helper in ("right", "late"):
        plan = plan_evaluation("initiations", ["agent_0=ask", f"agent_1={helper}"], tasks=["boiled_egg"], episodes=1)
        records = evaluate(plan, tmp_path / helper, make=items.get)
        assert [len(record.steps[-1].messages) for record in records] == [2, 2]
        assert not any(first_difference(record) for record in records)
        (card,) = due_cards(records)
        tables[helper] = card.tables[-1]
    assert [column.name for column in tables["right"].columns] == [
        "Initiation",
        "response right",
        "response wrong",
        "all",
        "strict",
    ]
    assert tables["right"].rows[:2] == (("initiation right", 1, 0, 1, 1), ("initiation wrong", 0, 1, 1, 1))
    assert tables["late"].rows == (
        ("initiation right", 0, 1, 1, 1),
        ("initiation wrong", 1, 0, 1, 1),
        ("initiation in words", 0, 0, 0, None),
        ("silent, no request", None, None, 0, 0),
    )


def test_the_chef_knows_the_conversation_that_led_to_the_state(tmp_path):
    """Section C.3.1: states come with the memories of their play, which are no part of the answer."""
    task, seen = "baked_carrot_soup", []
    chef = Asking("pickup(carrot,ingredient_dispenser)")
    chef.act = lambda now: seen.append(now) or "wait(1)"
    plan = plan_evaluation("initiations", ["agent_0=asking"], tasks=[task], actions="paper", episodes=1)
    records = evaluate(plan, tmp_path, make=lambda spec: chef if spec == "asking" else make_policy(spec))
    due = [record.due for record in records]
    for number, (now, record) in enumerate(zip(seen, records, strict=True)):
        requests, answers = now.past_messages[::2], now.past_messages[1::2]
        assert [message.plan for _, message in requests] == [f"request('{action}')" for action in due[:number]]
        assert [message.plan.rpartition("; ")[2] for _, message in answers] == due[:number]
        assert [message.agent for _, message in now.past_messages] == [0, 1] * number
        assert now.inbox == () and score_records([record])[0].initiations == {}, "asked before is not asked now"
        assert first_difference(record) is None
        played = [tuple(step.actions) for step in record.steps[:-1]]
        assert played == list(stages(load_game("CollabOvercooked-v0", task=task))[number].before), (
            "talk changes nothing"
        )
    assert seen[1].past_messages[0][1].say == "Next for you: Pick up carrot from ingredient_dispenser."


def test_steps_that_an_action_of_the_table_is_due_in_have_a_share_of_right_responses_and_a_curve(tmp_path):
    """Figure 5(a), and what a chef reaches that asks for the whole first step in every state."""
    egg = "pickup(egg,ingredient_dispenser)"
    items = {"ask": Asking(egg), "right": Answering(egg)}
    plan = plan_evaluation("initiations", ["agent_0=ask", "agent_1=right"], tasks=["boiled_egg"], episodes=1)
    records = evaluate(plan, tmp_path, make=items.get)
    (card,) = due_cards(records, CollaborationOptions(quotes="any"))
    assert card.title.endswith("IC and RC with requests in any quotes")
    heads = [column.name for column in card.tables[0].columns]
    at = heads.index("response right %")
    assert [row[at] for row in card.tables[0].rows] == [1.0, 0.0, 0.5]
    tables, charts = comparison_tables({"runs/a": records})
    curves = {table.title: {row[0]: [cell.value for cell in row[1:]] for row in table.rows} for table in tables}
    assert curves == {
        "Right initiations by due action, %": {"runs/a": [1.0, 0.0], "runs/a: blind": [1.0, 1.0]},
        "Right responses by due action, %": {"runs/a": [1.0, 0.0]},
    }
    assert len(charts) == 2


class Talking(Asking):
    """A chef that asks in words alone."""

    def act(self, seen):
        return Decision(plan="wait(1)", say=f"Alice, please {self.wish}, then wait.")


def test_requests_in_words_are_a_class_of_their_own_beside_the_papers_count(tmp_path):
    egg = "pickup(egg, ingredient_dispenser)"
    items = {"talk": Talking(egg), "help": Answering(egg)}
    plan = plan_evaluation("initiations", ["agent_0=talk", "agent_1=help"], tasks=["boiled_egg"], episodes=1)
    records = evaluate(plan, tmp_path, make=items.get)
    (card,) = due_cards(records)
    assert card.tables[-1].rows == (
        ("initiation right", 0, 0, 0, 0),
        ("initiation wrong", 0, 0, 0, 2),
        ("initiation in words", 1, 1, 2, None),
        ("silent, no request", None, None, 0, 0),
    )
    (table,) = score_records(records)
    assert table.initiations["in words"] == 2 and table.levels[-1].value("ic").value == 0.0


def test_the_chef_sees_the_time_limit_of_its_task(tmp_path):
    chef = Asking("pickup(egg,ingredient_dispenser)")
    plan = plan_evaluation("initiations", ["agent_0=asking"], tasks=["boiled_egg"], episodes=1)
    limits = []
    chef.act = lambda seen: limits.append(seen.to_dict()["limit"]) or "wait(1)"
    records = evaluate(plan, tmp_path, make=lambda spec: chef if spec == "asking" else make_policy(spec))
    real = load_game("CollabOvercooked-v0", task="boiled_egg").max_cycles
    assert set(limits) == {real}
    for record in records:
        assert record.max_cycles == real and record.timesteps == record.ends_after < real
        assert first_difference(record) is None


def test_the_papers_five_actions_are_a_preset_and_a_table():
    plan = plan_evaluation("initiations", ["agent_0=greedy"], actions="paper", episodes=1)
    assert len(plan.matches) == 25, "five actions in each of the five tasks of level 3"
    game = load_game("CollabOvercooked-v0", task="baked_carrot_soup")
    names = [verb_of(stage.action) for stage in paper_stages(game)]
    assert names == ["pickup", "put_obj_in_utensil", "operate", "pickup", "place_obj_on_counter"]
    with pytest.raises(ValueError, match="actions: paper means pickup, put_obj_in_utensil, operate, pickup, place"):
        plan_evaluation("initiations", ["agent_0=greedy"], actions="paper", tasks=["boiled_egg"])
    with pytest.raises(ValueError, match="actions"):
        plan_evaluation("initiations", ["agent_0=greedy"], actions="five")


def test_actions_of_several_tasks_are_counted_by_their_place():
    team = {"agent_0": "a", "agent_1": "reference"}
    records = [
        record_of(
            team=team,
            task=task,
            env_kwargs={"task": task},
            max_cycles=load_game("CollabOvercooked-v0", task=task).max_cycles,
            due=f"pickup({item},x)",
            due_number=number,
        )
        for task, item in (("boiled_egg", "egg"), ("boiled_mushroom", "mushroom"))
        for number in (1, 2)
    ]
    (card,) = due_cards(records)
    assert [row[:2] for row in card.tables[0].rows] == [("1. pickup", 2), ("2. pickup", 2), ("all", 4)]
    assert len(card.tables) == 3, "no table of responses where nobody was asked"


def test_the_first_step_alone_is_split_and_the_rest_stays_prose():
    game = load_game("CollabOvercooked-v0", task="baked_carrot_soup")
    assert split_recipe(game, "baked_carrot_soup").split("\n") == [
        "Recipe: Baked Carrot Soup",
        "Ingredients: 1 carrot",
        "1. Pick up carrot from ingredient_dispenser.",
        "2. Put carrot in chopping_board0.",
        "3. Cut carrot in chopping_board0, and wait until chopping_board0 is done.",
        "4. Pick up carrot_slices from chopping_board0.",
        "5. Place carrot_slices on a counter.",
        "6. Bake carrot_slices in the oven for 3 timesteps to get baked_carrot_slices.",
        "7. Cook baked_carrot_slices in the pot for 3 timesteps to get baked_carrot_soup.",
        "8. Fill a dish with the baked_carrot_soup from the pot.",
        "9. Deliver the baked_carrot_soup.",
    ]
    egg = split_recipe(load_game("CollabOvercooked-v0", task="boiled_egg"), "boiled_egg").split("\n")
    assert egg[-2:] == ["6. Pick up boiled_egg from pot0.", "7. Deliver the boiled_egg."]


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
    by_due, by_task = card.tables[:2]
    heads = [column.name for column in by_due.columns]
    assert heads == [
        "Due action",
        "questions",
        "right %",
        "blind %",
        "response right %",
        "right",
        "premature",
        "repetitive",
        "irrelevant",
        "in words",
        "silent",
    ]
    assert by_due.rows == (
        ("pickup(egg,ingredient_dispenser)", 2, 0.5, 1.0, None, 1, 0, 0, 0, 0, 1),
        ("place_obj_on_counter()", 2, 0.0, 1.0, None, 0, 0, 1, 0, 0, 1),
        ("all", 4, 0.25, 1.0, None, 1, 0, 1, 0, 0, 2),
    )
    assert by_task.rows[0] == ("boiled_egg", 4, 0.25, 1.0, None, 1, 0, 1, 0, 0, 2)
    assert due_cards([{**record, "due": ...} for record in ()]) == []
