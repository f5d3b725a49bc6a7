"""Limits of text messages: their length, who hears them, when, and whether they arrive."""

from __future__ import annotations

import pytest

import collab_overcooked
from collab_overcooked.core.limits import Limits
from collab_overcooked.policies.api import Decision, Message
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.records import dump_line, parse_record
from collab_overcooked.runner.teams import Team

STEPS = 6


@pytest.fixture(scope="module")
def env():
    return collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg", max_cycles=STEPS)


@pytest.fixture(scope="module")
def trio():
    return collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg", kitchen="three_agents", max_cycles=2)


def play(env, *policies, seed=1, **limits):
    team = Team(tuple(policy.name for policy in policies), policies)
    return play_episode(env, team, seed, task="boiled_egg", level=1, limits=Limits(**limits))


def said(record):
    return [(message.agent, message.say) for step in record.steps for message in step.messages]


def words(views):
    """What was heard, by timestep."""
    return {view.timestep: [message.say for message in view.inbox] for view in views if view.inbox}


def speak(*messages):
    return [Decision(plan="wait(1)", say=message) for message in messages]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"max_chars": 0}, "max_chars must be an integer of at least 1, not 0"),
        ({"max_episode_chars": "9"}, "max_episode_chars must be an integer"),
        ({"message_delay": 17}, "message_delay must be an integer from 0 to 16, not 17"),
        ({"message_loss": 1}, "message_loss"),
        ({"message_loss": -0.1}, "message_loss"),
        ({"messages_to": "some"}, "unknown messages_to 'some'"),
    ],
)
def test_limits_outside_their_ranges_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        Limits(**change)


def test_limits_are_part_of_a_records_name_and_survive_its_file(env, scripted):
    limits = {"max_chars": 3, "message_delay": 1, "message_loss": 0.25, "messages_to": "ring"}
    record = parse_record(dump_line(play(env, scripted(), scripted(), **limits)), "test")
    assert record.limits == limits
    assert Limits(**record.limits) == Limits(**limits)
    title = variant_of(record).title
    assert all(f"limits.{name}" in title for name in limits)
    assert not play(env, scripted(), scripted()).limits


def test_what_is_too_long_is_cut_and_the_sender_sees_it(env, scripted):
    chef = scripted(speak("Bring an egg, please."), [Message(0, "Now, now.", "")])
    helper = scripted([], [Message(1, "I am on my way.", "")])
    record = play(env, chef, helper, max_chars=9)
    assert said(record) == [(0, "Bring an"), (1, "I am on m"), (0, "Now, now.")]
    assert [message.say for message in chef.heard[0].inbox] == ["Bring an", "I am on m"]
    assert chef.views[0].message_rules == ("A message has at most 9 characters; the rest is cut off.",)


def test_characters_of_an_episode_are_used_up_and_nothing_is_sent_afterwards(env, scripted):
    chef = scripted(speak("12345", "67890", "more"))
    record = play(env, chef, scripted(), max_episode_chars=8)
    assert said(record) == [(0, "12345"), (0, "678")]
    rules = [view.message_rules[0] for view in chef.views[:4]]
    assert [rule.split()[3] for rule in rules] == ["8", "3", "0", "0"]


def test_a_delayed_message_is_heard_later_and_not_answered_at_once(env, scripted):
    chef = scripted([Decision(plan="wait(1); wait(1); wait(1); wait(1)", say="egg")])
    helper = scripted(["wait(1)"] * STEPS)
    record = play(env, chef, helper, message_delay=2)
    assert said(record) == [(0, "egg")]
    assert not helper.heard
    assert words(helper.views) == {2: ["egg"]}
    assert [timestep for timestep, _ in helper.views[-1].past_messages] == [2]
    announced = [view.announced[0] for view in helper.views]
    assert announced[:2] == [(), ()]
    assert announced[2][0].startswith("wait(1)"), "the plan is known with the message that announces it"
    assert helper.views[0].message_rules == ("Messages arrive 2 steps later, so nobody answers at once.",)


def test_a_delayed_plan_that_was_replaced_meanwhile_is_not_shown(env, scripted):
    chef = scripted([*speak("egg"), "wait(3)", "wait(3)"])
    helper = scripted(["wait(1)"] * STEPS)
    play(env, chef, helper, message_delay=2)
    assert words(helper.views) == {2: ["egg"]}
    assert not any(view.announced[0] for view in helper.views)


def test_lost_messages_leave_no_trace_with_the_others_and_are_drawn_from_the_seed(env, scripted):
    lost = {}
    for seed in range(12):
        chef, helper = scripted(speak(*"abcdef")), scripted([], [])
        record = play(env, chef, helper, seed=seed, message_loss=0.5)
        messages = [message for step in record.steps for message in step.messages]
        lost[seed] = [message.lost for message in messages]
        arrived = [message.say for message in messages if not message.lost]
        assert [view.inbox[-1].say for view in helper.heard] == arrived, "only who has heard is asked to answer"
        assert [message.say for _, message in helper.views[-1].past_messages] == [
            say for say in arrived if say != messages[-1].say
        ]
        assert [message.say for _, message in chef.views[-1].past_messages] == list("abcde"), "senders know no losses"
        again = play(env, scripted(speak(*"abcdef")), scripted([], []), seed=seed, message_loss=0.5)
        assert [message.lost for step in again.steps for message in step.messages] == lost[seed]
        assert parse_record(dump_line(record), "test").steps[0].messages[0].lost == lost[seed][0]
    assert len(set(map(tuple, lost.values()))) > 6
    assert 24 < sum(map(sum, lost.values())) < 48


@pytest.mark.parametrize(
    ("to", "hear"),
    [("all", {0: "bc", 1: "ac", 2: "ab"}), ("ring", {0: "c", 1: "a", 2: "b"}), ("one-way", {0: "", 1: "a", 2: "a"})],
)
def test_who_hears_whom(trio, scripted, to, hear):
    policies = [scripted(speak(name)) for name in "abc"]
    play(trio, *policies, messages_to=to)
    for seat, policy in enumerate(policies):
        past = [message.say for _, message in policy.views[-1].past_messages if message.agent != seat]
        assert "".join(past) == hear[seat]
        plans = [plan for view in policy.views for k, plan in enumerate(view.announced) if plan]
        assert not plans or to != "nobody"
        speakers = {view.inbox[-1].agent for view in policy.heard}
        assert speakers <= {"abc".index(name) for name in hear[seat]}


def test_nobody_hears_the_control_and_its_agents_know(env, scripted):
    plan = Decision(plan="wait(1); wait(1)", say="egg")
    chef, helper = scripted([plan] * 3), scripted(["wait(1)"] * STEPS)
    record = play(env, chef, helper, messages_to="nobody")
    assert said(record) == [(0, "egg")] * 3
    assert not any(view.inbox or view.past_messages or view.announced[0] for view in helper.views)
    assert chef.views[0].message_rules == ("Your messages are heard by nobody.", "You hear nobody.")


def sentences(limits, seat, names):
    return [rule.sentence for rule in limits.rules(seat, names, None)]


def test_messages_that_are_off_have_no_rules():
    assert sentences(Limits(max_messages=0, message_delay=2), 0, ["A", "B"]) == []
    assert sentences(Limits(messages_to="one-way"), 1, ["A", "B", "C"]) == [
        "Your messages are heard by nobody.",
        "You hear A.",
    ]
    assert sentences(Limits(message_loss=0.125), 0, ["A", "B"]) == [
        "12.5 % of all messages are lost; nobody is told which."
    ]
    hears = sentences(Limits(messages_to="ring", message_delay=1), 0, ["A", "B", "C"])
    assert hears[:2] == ["Your messages are heard by B.", "You hear C."]
    assert hears[2] == "Messages arrive 1 step later, so nobody answers at once."
    two = sentences(Limits(messages_to="one-way"), 0, ["A", "B", "C"])
    assert two[0] == "Your messages are heard by B and C."
