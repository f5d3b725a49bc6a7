"""The seat for TRL with a scripted model: rewards by turn, budgets, unusable answers, and the questions of evaluate."""

from __future__ import annotations

import inspect
import random
import re

import pytest

from collab_overcooked.adapters import rewards
from collab_overcooked.adapters.results import outcome_of, request_counts
from collab_overcooked.adapters.seat_client import SeatClient
from collab_overcooked.adapters.trl import OVER, TEAM, TrainingSeat, training_rows
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply
from collab_overcooked.policies.llm.tools import calls_text
from collab_overcooked.reporting import floors

GAMES = ("collab-escape", "rush")


def pick(text: str, seed: int) -> str:
    """Choose a listed action at random, the same for the same question."""
    listed = text.rpartition("\nActions:\n")[2]
    return random.Random(f"{seed}/{text}").choice(re.findall(r"^\d+\. (.+)$", listed, re.MULTILINE))


def play(seat: TrainingSeat, row: dict, seed: int = 0) -> list[str]:
    """Play a row to its end; returns the questions."""
    texts = [seat.reset(**row)]
    while (text := seat.act(pick(texts[-1], seed))) != OVER:
        texts.append(text)
    assert seat.act("anything") == OVER
    return texts


@pytest.fixture(autouse=True)
def few_anchors(monkeypatch):
    monkeypatch.setattr(rewards, "ANCHOR_MATCHES", 4)
    monkeypatch.setattr(rewards, "_anchors", {})


@pytest.mark.parametrize("suite", GAMES)
def test_questions_and_records_are_those_of_evaluate(suite):
    (row, *_) = training_rows(suite, seeds=[None], reward="outcome", episodes=1)
    seat = TrainingSeat()
    texts = play(seat, row)
    asked = []

    def model(request):
        asked.append(request)
        return Reply(calls_text([("act", f'{{"action": "{pick(request.turns[-1].content, 0)}"}}')]))

    (record,) = plan_evaluation(suite, TEAM.split(), episodes=1).matches[0].run(policy_maker(Client(model)))
    assert [request.turns[-1].content for request in asked] == texts
    assert [message["content"] for message in row["prompt"]] == [asked[0].turns[0].content, ""]
    assert seat.get_reward() == outcome_of(record) and not seat.truncated
    ((tool,),) = {request.tools and (request.tools[0]["description"],) for request in asked}
    assert inspect.getdoc(TrainingSeat.act).splitlines()[0] == tool


@pytest.mark.parametrize("reward", ["outcome", "normalized", "progress"])
@pytest.mark.parametrize("suite", GAMES)
def test_rewards_of_turns_add_up_to_that_of_the_episode(suite, reward):
    seat = TrainingSeat()
    for row in training_rows(suite, seeds=range(3), reward=reward, episodes=1):
        texts = play(seat, row)
        outcome = outcome_of(seat._client.record)
        if reward == "normalized":
            low, high = rewards.anchors_of(seat._client.match, seat._client.seats)
            outcome = (outcome - low) / (high - low)
        assert len(seat.rewards) == len(texts)
        assert seat.get_reward() == pytest.approx(sum(seat.rewards)) == pytest.approx(outcome)
        if reward != "progress":
            assert not any(seat.rewards[:-1])


def test_anchors_are_earned_by_random_and_greedy():
    (match, *_) = plan_evaluation("collab-escape", TEAM.split(), episodes=1).matches
    anchors = rewards.anchors_of(match, (0,))
    assert anchors == rewards.anchors_of(match, (0,)) and anchors.random < anchors.reference <= 1
    idle = plan_evaluation("collab-escape", TEAM.split(), episodes=1, options={"max_cycles": 1}).matches[0]
    with pytest.raises(ValueError, match="random and greedy have the same outcome"):
        rewards.anchors_of(idle, (0,))


@pytest.mark.parametrize("reward", ["outcome", "normalized", "progress", "floor"])
@pytest.mark.parametrize("way", ["turns", "trainer"])
def test_an_episode_cut_by_a_budget_is_truncated_and_no_success(reward, way, monkeypatch):
    """The partner alone finishes some orders after the cut, which do not count."""
    seat = TrainingSeat()
    (row, *_) = training_rows("rush", seeds=[4], reward=reward, turns=2 if way == "turns" else None, episodes=1)
    text = seat.reset(**row)
    for _ in range(2):
        text = seat.act(pick(text, 1))
    assert (text == OVER) == (way == "turns")
    earned = seat.get_reward()
    assert seat.truncated and len(seat.rewards) == 2 and earned == pytest.approx(sum(seat.rewards))
    record = seat._client.record
    assert outcome_of(record) > 0 and record.accounts["agent_0"].exhausted == "turns"
    assert record.accounts["agent_0"].calls == 2 and seat.unusable == 0
    if reward == "normalized":
        low, high = rewards.anchors_of(seat._client.match, seat._client.seats)
        assert earned == pytest.approx(-low / (high - low))
    elif reward == "floor":
        assert earned <= 0
    elif reward == "progress":  # what was finished before the cut stays paid
        done = sum(event.finished for step in record.steps[:2] for event in step.events)
        assert earned == pytest.approx(done / len(record.orders))
    else:
        assert earned == 0


def test_the_floor_is_taken_off_and_a_missing_one_is_named():
    seat = TrainingSeat()
    (row, *_) = training_rows("rush", seeds=[2], reward="floor", episodes=1)
    play(seat, row)
    floor = rewards.floor_of(seat._client.match)
    assert floor in floors.known_floors("rush").values()
    assert seat.get_reward() == seat._client.metrics["completed"] - floor.score
    with pytest.raises(
        ValueError, match=r"reward floor: no floor is stored for KitchenRush-v0 .* floors are stored for"
    ):
        SeatClient.of_suite("rush", "all=llm:x", reward="floor", episodes=1, options={"max_cycles": 9})


def test_unusable_answers_are_counted_and_cost_a_step_as_in_evaluate():
    seat = TrainingSeat()
    (row, *_) = training_rows("collab-escape", seeds=[None], reward="outcome", episodes=1)
    state = seat.reset(**row)
    again = seat.act("dance")
    assert "act with one of these actions" in again and again != state
    while (text := seat.act("dance")) != OVER:
        assert text
    model = policy_maker(Client(lambda request: Reply(calls_text([("act", '{"action": "dance"}')]))))
    (record,) = plan_evaluation("collab-escape", TEAM.split(), episodes=1).matches[0].run(model)
    assert seat.unusable == request_counts([record])["unusable"] == len(seat.rewards)
    assert [step.actions for step in seat._client.record.steps] == [step.actions for step in record.steps]


def test_an_answer_without_a_call_cuts_the_episode_and_seats_are_reused():
    seat = TrainingSeat()
    (row, *_) = training_rows("collab-escape", seeds=[3], episodes=1)
    first = seat.reset(**row, kitchen=None)
    seat_client = seat._client
    assert seat.get_reward() <= 0 and seat.truncated and seat.rewards == [seat.get_reward()]
    assert seat.reset(**row) == first and seat._client is seat_client and not seat.truncated
    with pytest.raises(ValueError, match="exactly one seat must be open, and answer by the tool act alone"):
        seat.reset(**{**row, "team": "agent_0=llm:x?agent=choose all=greedy"})


def test_only_act_is_a_tool():
    """GRPOTrainer takes every public method for a tool."""
    methods = [name for name, _ in inspect.getmembers(TrainingSeat, inspect.isfunction) if not name.startswith("_")]
    assert methods == ["act", "get_reward", "reset"]
