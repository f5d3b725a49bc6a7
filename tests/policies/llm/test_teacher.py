from __future__ import annotations

import itertools
import re

import pytest

import collab_overcooked as co
from collab_overcooked.envs.lexicon import load_lexicon, split_text
from collab_overcooked.games.rush.suite.scoring import score_record
from collab_overcooked.policies.llm.agents import LanguagePolicy, policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.runner.teaching import make_teaching, play_series
from collab_overcooked.runner.teams import make_team

pytest.importorskip("jinja2", reason="needs the extra llm")


def series(client, teaching, env_id="KitchenRush-v0", answer="Share the work."):
    lessons = answer if callable(answer) else lambda request: answer

    def says(request):
        return lessons(request) if "You are the teacher" in request.turns[0].content else {"action": 1}

    asked = client(says)
    env = co.make(env_id, max_cycles=3)
    make = policy_maker(Client(asked.complete))
    team = make_team(["llm:m?memory=off,order=game"] * env.game.n_agents, make)
    keys = [("rush", 0), ("rush", 1)]
    metrics = {"completed": 0, "positive": [0, 0], "words": {"not": "shown"}}
    records = play_series(env, team, 1, keys, score=lambda record: metrics, teaching=make_teaching(teaching, make))
    return records, asked


@pytest.mark.parametrize("env_id", ["KitchenRush-v0", "AlienRush-v0"])
def test_what_the_teacher_writes_to_the_group_is_read_by_all(client, env_id):
    records, asked = series(client, "teacher_group:llm:big", env_id)
    (lesson,) = [request for request in asked.asked if request.model == "big"]
    say = co.make(env_id).game.translate if env_id == "AlienRush-v0" else str
    assert re.search(r"- turn 1 of \d+, worker 0: agent_0 NO_ACTION; agent_1 NO_ACTION", lesson.turns[0].content)
    assert say("worker 0") in lesson.turns[0].content
    assert say("completed: 0 (orders finished)") in lesson.turns[0].content
    assert say("positive: 0, 0 (actions of each agent that advanced a finished order)") in lesson.turns[0].content
    assert "completed: 0" in lesson.turns[0].content and '"shown"' not in lesson.turns[0].content
    rules = co.make(env_id).game.manual().splitlines()[0]
    assert rules in lesson.turns[0].content
    assert records[1].feedback == ["Share the work."] * 2
    students = [request.turns[-1].content for request in asked.asked if request.model == "m"]
    half = len(students) // 2
    assert not any("Share the work." in student for student in students[:half])
    assert all("Share the work." in text for text in students[half:])
    account = records[0].accounts["teacher"]
    assert (account.model, account.agent, account.calls) == ("big", "teacher", 1)
    assert "teacher" not in records[1].accounts


def test_each_student_reads_its_own_words(client):
    messages = {"agent_0": "Cook.", "agent_1": "Fetch."}
    records, asked = series(client, "teacher_individual:llm:big", answer=messages)
    assert records[1].feedback == ["Cook.", "Fetch."]
    assert "Cook." in asked.last[-2] and "Fetch." not in asked.last[-2]
    assert "Fetch." in asked.last[-1]


@pytest.mark.parametrize("teaching", ["teacher_group:llm:big", "teacher_individual:llm:big"])
def test_a_teacher_without_words_does_no_harm(client, teaching):
    records, _ = series(client, teaching, answer="")
    assert set(records[1].feedback) <= {""}


def test_teachers_are_checked():
    with pytest.raises(ValueError, match="did you mean"):
        make_teaching("teacher_group:lmm:x")
    with pytest.raises(ValueError, match="did you mean memory"):
        make_teaching("teacher_group:llm:x?memroy=1")
    with pytest.raises(ValueError, match="name of a model"):
        make_teaching("teacher_group:llm")


def test_the_teacher_sees_recipes_stock_outcomes_and_all_earlier_episodes_and_strategies(client):
    """Everything of the run so far is in the third lesson's question; numbers are rounded."""
    lessons = iter(["Fetch first.", "Cook later."])

    def says(request):
        return next(lessons) if "You are the teacher" in request.turns[0].content else {"action": 2}

    asked = client(says)
    make = policy_maker(Client(asked.complete))
    env = co.make("AlienRush-v0", scenario="easy", max_cycles=4)
    team = make_team(["llm:m?memory=off"] * 2, make)
    keys = [("rush", number) for number in range(3)]
    teaching = make_teaching("teacher_group:llm:big", make)
    play_series(env, team, 1, keys, score=lambda record: {"balance": 2 / 3, "positive": [1, 0]}, teaching=teaching)
    first, second = (entry.turns[0].content for entry in asked.asked if entry.model == "big")
    say = env.game.translate
    for number in (1, 2):
        assert f"Episode {number}" in second and f"How episode {number} ended" in second
    assert "What you told all after episode 1:\nFetch first." in second and "Fetch first." not in first
    recipe = say("Mac and Cheese")
    assert recipe == "Fuzkiq vrel Brentix" and env.game.lexicon.exchange(recipe) == "Mac and Cheese"
    for text in ("Recipes:", "Areas at the start:", "stock meat", "Orders at the end:", "turn 1 of 2, worker 0"):
        assert say(text) in second
    assert "balance: 0.67" in second and "positive: 1, 0" in second


@pytest.mark.parametrize("scenario", ["easy", "hard"])
@pytest.mark.parametrize("teacher", ["teacher_group:llm:big", "teacher_individual:llm:big", "teacher_individual"])
def test_prompts_of_alien_rush_are_the_kitchens_with_english_left_as_it_is(client, monkeypatch, scenario, teacher):
    """A history such as "COOK_MEAL of Mac and Cheese" has the names in other words and no other word."""
    monkeypatch.setattr(LanguagePolicy, "apart", False)
    prompts = {}
    for env_id in ("KitchenRush-v0", "AlienRush-v0"):
        choices = itertools.count(3)

        def says(request, choices=choices):
            taught = "You are the teacher" in request.turns[0].content
            return {"agent_0": "Cook.", "agent_1": "Fetch."} if taught else str(next(choices) * 7 % 16 + 1)

        asked, env = client(says), co.make(env_id, scenario=scenario)
        make = policy_maker(Client(asked.complete))
        team = make_team(["llm:m?preset=rush"] * 2, make)
        keys = [(scenario, episode) for episode in range(3)]
        teaching = make_teaching(teacher, make)
        play_series(env, team, 1, keys, score=score_record, teaching=teaching)
        prompts[env_id] = ["\n".join(turn.content for turn in request.turns) for request in asked.asked]
    kitchen, alien = prompts.values()
    assert "llm" not in teacher or any(" of Mac and Cheese at " in prompt for prompt in kitchen)
    lexicon = load_lexicon("alien")
    names = sorted(map(lexicon.exchange, co.make("KitchenRush-v0", scenario=scenario).game.names()), key=len)
    for plain, foreign in zip(kitchen, alien, strict=True):
        assert len(re.findall("[A-Za-z]+", plain)) == len(re.findall("[A-Za-z]+", foreign))
        for name in reversed(names):
            foreign = foreign.replace(name, "")
        assert not {lexicon.links[word] for word in ("and", "in", "of", "on", "the", "with")} & set(split_text(foreign))
