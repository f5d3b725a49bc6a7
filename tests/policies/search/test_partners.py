"""Planners beside partners of other kinds: plans for both seats, messages, answers, and partners that leave."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from support.records import as_json

import collab_overcooked
from collab_overcooked.policies.api import AgentView, Message
from collab_overcooked.policies.search.partners import QUESTION, RATE, Teammate, read_answer, read_partner_rating
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team


class Critic:
    """Answers plans with given texts, one after the other; it does nothing else."""

    name = "critic.py:Critic"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def reset(self, *_: Any) -> None:
        pass

    def act(self, seen: AgentView) -> int:
        return seen.idle_action

    def reply(self, seen: AgentView) -> Message | None:
        self.asked.append(seen.inbox[-1].say)
        return Message(seen.seat, self.answers.pop(0), "") if self.answers else None


class Rater(Critic):
    """Agrees with every new plan, and rates running ones."""

    def reply(self, seen: AgentView) -> Message | None:
        self.asked.append(seen.inbox[-1].say)
        asked_to_rate = self.asked[-1].endswith(RATE)
        return Message(seen.seat, self.answers[0] if asked_to_rate else "I agree.", "")


def play(critic: Critic | None, spec: str = "cots", steps: int = 6) -> dict[str, Any]:
    env = collab_overcooked.make("Housework-v0", task="set_table", max_cycles=steps)
    team = make_team([spec, "greedy"])
    if critic is not None:
        team = dataclasses.replace(team, specs=(spec, critic.name), policies=(team.policies[0], critic))
    return play_episode(env, team, 3, task="set_table")


def first_update(record: Any) -> dict[str, Any]:
    return as_json(record)["plan_updates"]["agent_0"][0]


def test_a_plan_for_both_seats_is_sent_and_consent_ends_the_search() -> None:
    critic = Critic("Yes, let us do that.")
    record = play(critic)
    update = first_update(record)
    assert "Alice: " in update["plan"] and "Bob: " in update["plan"]
    assert critic.asked[0].startswith("Plan: 1. Alice: ") and critic.asked[0].endswith(QUESTION)
    assert [message.agent for message in record.steps[0].messages] == [0, 1]
    assert [answer["score"] for answer in update["answers"]] == [1.0]
    assert len(update["nodes"]) == 1 and update["nodes"][0]["reward"] == 1.0


def test_an_objection_is_followed_by_another_plan_within_the_budget() -> None:
    critic = Critic("No, I would rather search bedroom. 3", "Still no. Score 2", "never asked")
    record = play(critic)
    update = first_update(record)
    assert [answer["score"] for answer in update["answers"]] == [0.3, 0.2]
    plans = [update["answers"][0]["plan"], update["answers"][1]["plan"], update["plan"]]
    assert plans[0] != plans[1] != plans[2]
    assert "Bob: search bedroom" in plans[1]  # the change that it asked for
    assert update["depth"] == 2
    sent = [message.say for message in record.steps[0].messages if message.agent == 0]
    assert [text.endswith(QUESTION) for text in sent] == [True, True, False]  # the budget is used up


@pytest.mark.parametrize(("rating", "searched"), [("5, go on", False), ("Rating: 2", True)])
def test_a_partner_rates_the_running_plan_itself(rating: str, searched: bool) -> None:
    """Figure 14 of CoTS' supplement: the partner evaluates the plan, and only a low rating begins a search."""
    critic = Rater(rating)
    record = play(critic, steps=25)  # type: ignore[arg-type]
    assert any(text.startswith("Plan so far: 1. ") and text.endswith(RATE) for text in critic.asked)
    updates = [update for update in as_json(record)["plan_updates"]["agent_0"] if update["rating"] is not None]
    assert updates and all(update["searched"] == searched for update in updates)
    assert {update["rating"] for update in updates} == {int(re.search(r"\d", rating)[0])}  # type: ignore[index]


def test_a_plan_that_a_partner_does_not_rate_is_rated_by_the_team_at_the_next_reason() -> None:
    critic = Critic("Yes.")
    record = play(critic, steps=40)
    updates = as_json(record)["plan_updates"]["agent_0"]
    assert len(updates) > 1 and sum(text.endswith(RATE) for text in critic.asked) >= 1


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("4", 4),
        ("rating: 2", 2),
        ("5/5", 5),
        ("I would rate it 3", 3),
        ("Okay", 5),
        ("No, it is bad", 1),
        ("cup 4?", None),
    ],
)
def test_ratings_of_partners_are_read(text: str, rating: int | None) -> None:
    assert read_partner_rating(text) == rating


def test_without_expansions_there_is_one_question_fewer() -> None:
    update = first_update(play(Critic("No. 2", "No. 2", "No. 2"), "cots:depth=1"))
    assert len(update["answers"]) == 1 and update["depth"] == 1


def test_a_silent_program_gets_no_message_and_is_rated_as_greedy() -> None:
    record = play(None)
    assert not any(step.messages for step in record.steps)
    update = first_update(record)
    assert "Bob: " in update["plan"] and len(update["nodes"]) > 0 and "answers" not in update


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("I agree", 1.0),
        ("Okay, 8", 0.8),
        ("7/10, take the cup", 0.7),
        ("score: 4. I take it", 0.4),
        ("10", 1.0),
        ("fetch cup 7", 0.1),
        ("I agree, but I take the cup", 0.1),
        ("That won't work", 0.1),
    ],
)
def test_answers_are_read_as_scores(text: str, reward: float) -> None:
    assert read_answer(text, briefing(), 0).reward == pytest.approx(reward)


def briefing() -> Any:
    options = {seat: [SubPlan("fetch cup 7"), SubPlan("search hall")] for seat in (0, 1)}
    view = PlanningView(options, {})
    seen = type("Names", (), {"names": ("Alice", "Bob")})()
    return type("Briefing", (), {"view": view, "seen": seen, "seat": 1})()


def test_named_sub_plans_are_changes_for_the_right_seat() -> None:
    hints = read_answer("No. You search hall and I fetch cup 7.", briefing(), 0).hints
    assert [(seat, option.text) for _, seat, option in hints if option] == [(0, "search hall"), (1, "fetch cup 7")]


def test_a_partner_that_walks_away_has_left_the_plan() -> None:
    def view(cost: float) -> PlanningView:
        return PlanningView({0: [], 1: [SubPlan("search hall", cost=cost)]}, {}, scale=20.0)

    partner = Teammate(1, speaks=False)
    partner.assign([SubPlan("search hall")])
    for cost in (30, 20, 25):
        partner.watch(view(cost))
    assert not partner.left_plan
    partner.watch(view(31))
    assert partner.left_plan
    partner.watch(PlanningView({0: [], 1: []}, {}))
    assert not partner.queue and partner.history == ("search hall",)
