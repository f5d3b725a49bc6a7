"""Agents that draft messages (coela) or agree on joint plans (roco, capo), in every game, with scripted models."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

import collab_overcooked as co
from collab_overcooked.policies.llm.answers import PLAN_MARK, find_step, joint_plan_text, read_joint_plan, read_steps

pytest.importorskip("jinja2", reason="needs the extra llm")

HOME = {"env_id": "Housework-v0", "task": "set_table"}
KINDS = ("coela", "roco", "capo")
OFTEN = ("Housework-v0", "CollabOvercooked-v0")  # the others with `make test-all`
IDS = [pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow) for name in co.registered()]


def words_of(request):
    return request.turns[-1].content


def listed(request):
    text = "\n".join(turn.content for turn in request.turns)
    return re.findall(r"^(\d+)\. (\S+.*)$", text.partition("Actions:")[2], re.MULTILINE)


def is_choice(request):
    return "Actions:" in words_of(request) or "actions above" in words_of(request)


def spoken(record):
    return [(m.agent, m.say) for step in record.steps for m in step.messages]


def plain(request, plans=None, message="", okay=True):
    """Answer every kind of question of these agents; plans are by name."""
    text = words_of(request)
    if "Judge it by what you know" in text:
        return {"okay": okay, "reason": "Look in the kitchen first."}
    if "joint plan" in text:
        return {"analysis": "", "message": message, **(plans or {"Alice": "search", "Bob": "search"})}
    if "Write one short message" in text:
        return {"message": message}
    return "I think so." if "Think aloud" in text else {"action": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("env_id", IDS)
def test_they_play_every_game(play_team, env_id, kind):
    def answer(request):
        if "joint plan" in words_of(request):
            names = request.schema["properties"]
            return {name: "wait" for name in names} if "okay" not in names else {"okay": True, "reason": ""}
        return plain(request)

    record, client = play_team(f"llm:m?agent={kind}", answer, env_id, max_cycles=4)
    assert 1 <= record.timesteps <= 4 and client.asked
    assert not any(step.errors for step in record.steps)
    assert {account.agent for account in record.accounts.values()} == {kind}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reply", ["", "no idea", '{"action": 9999}', '{"message": ', "x" * 50_000])
def test_no_answer_breaks_the_game(play_team, kind, reply):
    record, _ = play_team(f"llm:m?agent={kind},fallback=idle", lambda request: reply, **HOME, max_cycles=3)
    assert record.timesteps == 3
    assert {text for step in record.steps for text in step.action_texts} <= {"wait", "say", "say 2"}


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_answer_a_random_action_is_taken(play_team, kind):
    record, _ = play_team(f"llm:m?agent={kind}", lambda request: "", **HOME, max_cycles=8)
    assert len({text for step in record.steps for text in step.action_texts}) > 2
    again, _ = play_team(f"llm:m?agent={kind}", lambda request: "", **HOME, max_cycles=8)
    assert again.steps == record.steps


@pytest.mark.parametrize("kind", ("choose", *KINDS))
def test_actions_that_only_pay_for_words_are_not_offered(play_team, kind):
    _, client = play_team(f"llm:m?agent={kind}", plain, **HOME, max_cycles=3)
    texts = [text for request in client.asked for _, text in listed(request)]
    assert texts and not any(re.fullmatch(r"say( \d)?", text) for text in texts)


def test_a_draft_is_sent_by_choice_and_costs_an_action(play_team):
    def answer(request):
        if is_choice(request) and "Think aloud" not in words_of(request):
            send = [int(number) for number, text in listed(request) if text.startswith("send the message")]
            return {"action": send[0] if send else 1}
        return plain(request, message="I look in the kitchen.")

    record, client = play_team("llm:m?agent=coela,order=game", answer, **HOME, max_cycles=3)
    texts = [text for step in record.steps for text in step.action_texts]
    assert texts == ["say", "say", "wait", "wait", "say", "say"]
    assert spoken(record)[:2] == [(0, "I look in the kitchen."), (1, "I look in the kitchen.")]
    assert any("Alice: I look in the kitchen." in phrase for phrase in client.last)


def test_where_words_are_free_they_go_along_with_an_action(play_team):
    def answer(request):
        if is_choice(request) and "Think aloud" not in words_of(request):
            send = [int(number) for number, text in listed(request) if text.startswith("send the message")]
            return {"action": send[0] if send else 2}
        return plain(request, message="Hello.")

    record, client = play_team("llm:m?agent=coela,order=game", answer, **HOME, talk="free", max_cycles=1)
    before, after = [], []
    for request in filter(is_choice, client.asked):
        prompt = "\n".join(turn.content for turn in request.turns)
        (before if "send the message" in prompt else after).append(prompt)
    assert before and all("A message does not take your turn" in prompt for prompt in before)
    assert after and all("You have just sent this message" in p and "not take your turn: Hello." in p for p in after)
    assert spoken(record) == [(0, "Hello."), (1, "Hello.")]
    assert all(text.startswith("go to") for text in record.steps[0].action_texts)


@pytest.mark.parametrize("kind", ["roco", "capo"])
def test_a_proposal_is_shown_once(play_team, kind):
    def answer(request):
        return plain(request, {"Alice": "wait; search", "Bob": "wait; wait"}, "Let us share.", okay=False)

    _, client = play_team(f"llm:m?agent={kind}", answer, **HOME, max_cycles=2)
    prompts = [text for text in client.last if "Alice: Let us share." in text and "oint plan" in text]
    assert prompts and all(text.count("wait; search") == 1 and "Plan:" not in text for text in prompts)


def kinds_asked(client):
    kinds = []
    for request in client.asked:
        text = words_of(request)
        kinds.append("draft" if "one short message" in text else "think" if "Think aloud" in text else "choose")
    return kinds


@pytest.mark.parametrize(
    ("switches", "asked"),
    [
        ("", ["draft", "think", "choose"]),
        (",talk=off", ["think", "choose"]),
        (",two_stage=off", ["draft", "choose"]),
        (",talk=off,two_stage=off", ["choose"]),
    ],
)
def test_parts_of_coela_are_switched_off(play_team, switches, asked):
    _, client = play_team([f"llm:m?agent=coela{switches}", "greedy"], plain, **HOME, max_cycles=1)
    assert kinds_asked(client) == asked


def test_the_second_stage_sees_the_thoughts_of_the_first(play_team):
    _, client = play_team(["llm:m?agent=coela,talk=off", "greedy"], plain, **HOME, max_cycles=1)
    first, second = client.asked
    assert second.turns[:2] == first.turns
    assert [turn.role for turn in second.turns] == ["system", "user", "assistant", "user"]
    assert second.turns[2].content == "I think so."
    assert "Actions:" in second.turns[1].content and "Actions:" not in second.turns[3].content


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("Overcooked-v0", {"layout": "cramped_room", "action_level": "medium"}),
        ("KitchenRush-v0", {"scenario": "easy"}),
        ("CollabEscape-v0", {}),
        ("Housework-v0", {"task": "set_table"}),
    ],
)
def test_the_actions_are_listed_once(play_team, env_id, options):
    _, client = play_team("llm:m?agent=coela,talk=off", plain, env_id, max_cycles=2, **options)
    for request in client.asked:
        message = "\n".join(turn.content for turn in request.turns if turn.role == "user")
        texts = [text for _, text in listed(request)]
        assert texts and message.count("Actions:") == 1
        assert "You can:" not in message and "Valid actions" not in message
        assert all(message.count(f"1. {texts[0]}\n") == 1 for _ in texts[:1])


def test_the_room_that_one_is_in_is_not_away(play_team):
    _, client = play_team("llm:m?agent=coela,talk=off,two_stage=off", plain, **HOME, max_cycles=2)
    for request in client.asked:
        here = re.search(r"You are in the ([\w ]+) and hold", words_of(request))[1]
        assert len(re.findall(r"you are here\)", words_of(request))) == 1
        assert re.search(rf"^{here} \(.*, you are here\):", words_of(request), re.MULTILINE)


def test_parts_can_be_replaced():
    from collab_overcooked.policies.llm.coela import CoelaAgent, Communication

    class PolicyBase(Communication):
        def draft(self, values):
            return ""

    class Quiet(CoelaAgent):
        parts: ClassVar = {**CoelaAgent.parts, "communication": PolicyBase}

    assert set(CoelaAgent.parts) == {"perception", "memory", "communication", "planning", "execution"}
    assert Quiet.parts["communication"] is PolicyBase


PLANS = {"Alice": "go to kitchen; check fridge", "Bob": "go to bathroom; go to bedroom"}


def test_consent_is_silent_and_everybody_does_its_part(play_team):
    def answer(request):
        if "turn to answer" in words_of(request):
            return {"analysis": "", "message": "", "Alice": "", "Bob": ""}
        return plain(request, PLANS, "Let us share.")

    record, _ = play_team("llm:m?agent=roco", answer, **HOME, max_cycles=3)
    message = "Let us share. Plan: Alice: go to kitchen; check fridge. Bob: go to bathroom; go to bedroom."
    assert spoken(record)[0] == (0, message)
    assert len([m for m in record.steps[0].messages]) == 1
    texts = [step.action_texts for step in record.steps]
    assert texts[0] == ["say", "go to bathroom"] or texts[0] == ["say", "go to bedroom"]


def test_roco_answers_by_a_proposal_of_its_own_which_counts_in_the_end(play_team):
    other = {"Alice": "go to bedroom", "Bob": "go to kitchen"}

    def answer(request):
        if "turn to answer" in words_of(request):
            bob = "You are Bob" in request.turns[0].content
            return {"message": "Better so.", **other} if bob else {"message": "", "Alice": "", "Bob": ""}
        return plain(request, PLANS)

    record, _ = play_team("llm:m?agent=roco", answer, **HOME, max_cycles=2)
    first = [m for m in record.steps[0].messages if m.conversation == 0]
    assert [m.agent for m in first] == [0, 1]
    assert "Alice: go to bedroom" in first[1].say
    texts = [text for step in record.steps for text in step.action_texts]
    assert texts[1] == "say" and not {"go to bathroom", "check fridge"} & set(texts)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_capo_revises_until_consent_or_the_last_round(play_team, rounds):
    count = iter(range(99))

    def answer(request):
        return plain(request, {**PLANS, "Bob": f"go to bathroom; check cabinet {next(count)}"}, okay=False)

    _, client = play_team(f"llm:m?agent=capo,rounds={rounds}", answer, **HOME, max_cycles=1)
    proposals = [text for text in client.last if "joint plan" in text and "Judge it" not in text]
    judged = [message for message in client.last if "Judge it by what you know" in message]
    assert len(judged) == rounds - 1
    assert len([proposal for proposal in proposals if "was objected to" in proposal]) == rounds - 1
    assert all("Look in the kitchen first." in phrase for phrase in proposals if "objected" in phrase)


def test_news_open_a_discussion_again(play_team):
    def answer(request):
        if "turn to answer" in words_of(request):
            return {"analysis": "", "message": "", "Alice": "", "Bob": ""}
        return plain(request, PLANS)

    record, _ = play_team("llm:m?agent=roco", answer, **HOME, max_cycles=30)
    assert sum(bool(step.messages) for step in record.steps) > 2


def test_off_means_no_discussion(play_team):
    record, client = play_team("llm:m?agent=capo,rounds=off", plain, **HOME, max_cycles=3)
    assert not spoken(record) and all(is_choice(request) for request in client.asked)


def test_joint_plans_are_read_as_they_are_written():
    plan = {"Alice": ["go to kitchen", "check kitchen cabinet 1"], "Bob": ["wait"], "Carol": []}
    text = f"Hello: all. {PLAN_MARK} {joint_plan_text(plan)}"
    assert read_joint_plan(text, ("Alice", "Bob", "Carol")) == {name: entry for name, entry in plan.items() if entry}
    assert read_joint_plan("no plan, Alice: nothing", ("Alice", "Bob")) == {}


def test_steps_are_read():
    assert read_steps("1. go to kitchen; 2) fetch apple 0.\n- wait") == ["go to kitchen", "fetch apple 0", "wait"]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Go to Kitchen.", "go to kitchen"),
        ("then check kitchen cabinet 1", None),
        ("do not go to kitchen", None),
        ("check kitchen cabinet 12", "check kitchen cabinet 12"),
        ("fetch apple 0 and fetch fork 3", None),
        ("dance", None),
    ],
)
def test_steps_mean_actions(text, result):
    texts = ["wait", "go to kitchen", "check kitchen cabinet 1", "check kitchen cabinet 12", "fetch apple 0"]
    texts += ["fetch fork 3"]
    assert find_step(text, texts) == result
