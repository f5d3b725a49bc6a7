from __future__ import annotations

import re

import pytest

import collab_overcooked as co
from collab_overcooked.policies.llm.budget import Budget, Price
from collab_overcooked.policies.llm.exchange import Reply

pytest.importorskip("jinja2", reason="needs the extra llm")

SPEC = "llm:m?agent=choose,order=game"
MALICIOUS = [
    "",
    "no idea",
    "__import__('os').system('exit')",
    "{{ self }} {% include 'x' %}",
    '{"action": 9999}',
    '{"action": ' + "[" * 5000,
    "x" * 200_000,
    "\x1b[2J\ud800\u202e",
    "; DROP TABLE actions; --",
    Reply("", "refused"),
    Reply("", "rejected", detail="too long"),
    Reply('{"acti', "length"),
]


def listed(request):
    """The numbered actions of a question."""
    return re.findall(r"^(\d+)\. (\S+.*)$", request.turns[-1].content.partition("Actions:")[2], re.MULTILINE)


@pytest.mark.parametrize("env_id", [env for env in co.registered()])
def test_the_agent_plays_every_game(play_team, env_id):
    record, client = play_team(SPEC, lambda request: {"action": 1}, env_id, max_cycles=4)
    assert 1 <= record.timesteps <= 4 and client.asked  # some are over sooner
    assert not any(step.errors for step in record.steps)
    for request in client.asked:
        numbers = [int(number) for number, _ in listed(request)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert request.schema["properties"]["action"]["enum"] == numbers
        assert [turn.role for turn in request.turns] == ["system", "user"]


def test_the_named_action_is_carried_out(play_team):
    expected = "pickup(egg,ingredient_dispenser)"

    def answer(request):
        actions = dict((text, int(number)) for number, text in listed(request))
        return {"action": actions.get(expected, actions["wait(1)"])}

    record, _ = play_team(["greedy", SPEC], answer, max_cycles=5)
    assert record.steps[0].action_texts[1] == expected
    assert record.steps[0].tokens == [None, 110]


@pytest.mark.parametrize("reply", MALICIOUS, ids=range(len(MALICIOUS)))
def test_no_answer_breaks_the_game(play_team, reply):
    record, _ = play_team(SPEC, lambda request: reply, max_cycles=4)
    assert {text for step in record.steps for text in step.action_texts} <= {"wait(1)"}
    trouble = record.accounts["agent_0"].trouble
    kind = reply.finish if isinstance(reply, Reply) else "unreadable"
    assert trouble == {kind: record.accounts["agent_0"].calls}


def test_an_unreadable_answer_is_asked_for_again_with_what_is_wrong(play_team):
    reply = iter(["hm", {"action": 2}, *[{"action": 1}] * 99])
    record, client = play_team(["greedy", SPEC], lambda request: next(reply), max_cycles=3)
    first, again = client.asked[:2]
    assert again.turns[:2] == first.turns
    assert again.turns[2] == ("assistant", "hm")
    assert again.turns[3].content.startswith("Your answer names no option. Answer with JSON, ")
    assert again.turns[3].content.endswith(f"nothing but the number of one action from 1 to {len(listed(first))}.")
    assert record.steps[0].action_texts[1] == listed(first)[1][1]
    assert record.accounts["agent_1"].trouble == {"unreadable": 1}
    assert record.accounts["agent_1"].readings == {"corrected": 1, "json": 1}


@pytest.mark.parametrize("repairs", [0, 3])
def test_repairs_are_bounded(play_team, repairs):
    _, client = play_team(f"{SPEC},repairs={repairs}", lambda request: "hm", max_cycles=1)
    assert len(client.asked) == 2 * (repairs + 1)


def test_plain_text_needs_no_schema(play_team):
    _, client = play_team(f"{SPEC},answer=text", lambda request: "1", max_cycles=2)
    assert all(request.schema is None and "JSON" not in request.turns[-1].content for request in client.asked)


def test_thoughts_come_before_the_action(play_team):
    _, client = play_team(f"{SPEC},analysis=on", lambda request: {"analysis": "hm", "action": 1}, max_cycles=1)
    assert list(client.asked[0].schema["properties"]) == ["analysis", "action"]


@pytest.mark.parametrize(
    ("budget", "calls", "limit"),
    [
        ({"calls": 3}, 3, "calls"),
        ({"tokens": 250}, 3, "tokens"),
        ({"seconds": 0.8}, 2, "seconds"),
        ({"dollars": 3e-4}, 3, "dollars"),
    ],
)
def test_a_budget_ends_in_waiting(play_team, budget, calls, limit):
    conditions = {"budget": Budget(**budget), "prices": {"": Price(1, 1)}}
    record, client = play_team(SPEC, lambda request: {"action": 2}, client_options=conditions, max_cycles=5)
    assert len(client.asked) == calls
    assert record.timesteps == 5
    assert record.steps[-1].action_texts == ["wait(1)", "wait(1)"]
    assert {account.exhausted for account in record.accounts.values()} == {limit}
    assert sum(account.calls for account in record.accounts.values()) == calls


def test_accounts_are_in_the_record(play_team):
    conditions = {"prices": {"m": Price(2, 10)}}
    record, client = play_team([SPEC, "greedy"], lambda request: {"action": 1}, client_options=conditions, max_cycles=3)
    assert list(record.accounts) == ["agent_0"]
    account = record.accounts["agent_0"]
    assert account.model == "m" and account.agent == "choose"
    assert account.calls == len(client.asked) and account.prompt_tokens == 100 * len(client.asked)
    assert account.dollars == pytest.approx(0.0003 * len(client.asked))
    assert account.latencies == [0.5] * len(client.asked)
    tokens = sum(step.tokens[0] or 0 for step in record.steps)
    assert tokens == 110 * len(client.asked)


def test_memory_shows_ones_own_last_actions(play_team):
    actions = ["pickup(egg,ingredient_dispenser)", "place_obj_on_counter()"]

    def answer(request):
        offered = dict((text, int(number)) for number, text in listed(request))
        return {"action": next((offered[text] for text in actions if text in offered), 1)}

    _, client = play_team(["reference", f"{SPEC},memory=1"], answer, max_cycles=15)
    displayed = [re.findall(r"What you did last: (.*)\.", text) for text in client.last]
    assert not displayed[0]
    assert any(line and line[0].startswith("pickup(egg,ingredient_dispenser) (timestep ") for line in displayed)
    assert all(";" not in line[0] for line in displayed if line)
    _, client = play_team(["reference", f"{SPEC},memory=off"], answer, max_cycles=15)
    assert not any("What you did last" in text for text in client.last)


def test_the_helper_directive_is_an_instruction(play_team):
    rules = {}
    for helper in ("on", "off"):
        _, client = play_team(f"{SPEC},helper={helper}", lambda request: {"action": 1}, max_cycles=1)
        rules[helper] = client.asked[0].turns[0].content
    assert len(rules["on"]) > len(rules["off"]) and "partner" in rules["on"] and "partner" not in rules["off"]


MANUALS = [
    ("KitchenRush-v0", {}, "Kitchen Rush: manual"),
    ("AlienRush-v0", {}, "TAKE_AYPLIXS"),
    ("Overcooked-v0", {"action_level": "medium"}, "You are Bob, a cook"),
    ("Overcooked-v0", {"action_level": "medium", "lexicon": "alien"}, "You are Bob, a jantrox"),
]


@pytest.mark.parametrize(("env_id", "options", "text"), MANUALS)
def test_the_games_manual_can_be_left_out(play_team, env_id, options, text):
    messages = {}
    for manual in ("on", "off"):
        _, client = play_team(f"{SPEC},manual={manual}", lambda request: {"action": 1}, env_id, max_cycles=1, **options)
        messages[manual] = client.asked[1].turns[0].content
    assert text in messages["on"] and text not in messages["off"]


@pytest.mark.parametrize("manual", ["on", "off"])
@pytest.mark.parametrize(("env_id", "options"), [case[:2] for case in MANUALS])
def test_the_helper_directive_comes_with_and_without_a_manual(play_team, env_id, options, manual):
    spec, message = f"{SPEC},manual={manual}", {}
    for helper in ("on", "off"):
        _, client = play_team(f"{spec},helper={helper}", lambda request: {"action": 1}, env_id, max_cycles=1, **options)
        message[helper] = client.asked[0].turns[0].content
    assert message["on"].startswith(message["off"]) and "prefer" in message["on"].removeprefix(message["off"])


def test_the_partners_intention_is_asked_first(play_team):
    def answer(request):
        return "They fetch an <egg>." if "most likely" in request.turns[-1].content else {"action": 1}

    _, client = play_team(f"{SPEC},intention=on", answer, max_cycles=1)
    assert "most likely" in client.last[0]
    assert "They fetch an <egg>." in client.last[1]


def test_the_self_check_can_object(play_team):
    verdicts = iter(
        [{"okay": False, "reason": "too slow"}, {"okay": True, "reason": ""}, *[{"okay": True, "reason": ""}] * 9]
    )

    def answer(request):
        text = request.turns[-1].content
        if "Judge it" in text:
            return next(verdicts)
        return {"action": 3 if "too slow" in text else 2}

    record, client = play_team([f"{SPEC},check=1", "greedy"], answer, max_cycles=1)
    assert record.steps[0].action_texts[0] == "wait(3)"
    assert "You first chose wait(2). This speaks against it: too slow" in client.last[2]
    assert len(client.asked) == 3  # one objection is heeded


def test_an_intention_has_as_much_room_as_any_answer(play_team):
    _, client = play_team(f"{SPEC},intention=on,tokens=4000", lambda request: {"action": 1}, max_cycles=1)
    assert {request.max_tokens for request in client.asked} == {4000}  # thoughts of reasoning models count too


def test_a_decision_is_carried_out_though_nothing_is_left_for_its_check(play_team):
    record, client = play_team(
        [f"{SPEC},check=1", "greedy"],
        lambda request: {"action": 2},
        client_options={"budget": Budget(calls=1)},
        max_cycles=1,
    )
    assert len(client.asked) == 1 and record.steps[0].action_texts[0] == "wait(2)"
    assert record.accounts["agent_0"].exhausted == "calls"


def both_at_one_board(request):
    """Two cooks start the same chopping board in the same step."""
    message = request.turns[-1].content
    offered = {text: int(number) for number, text in listed(request)}
    step = int(re.search(r"current game step: (\d+)", message)[1])
    cook = ["goto storage0", "get tuna storage0", "goto chopboard0", "put chopboard0", "activate chopboard0"]
    mate = ["noop", "noop", "goto chopboard0", "noop", "activate chopboard0"]
    plan = cook if "You are agent0" in request.turns[0].content else mate
    return {"action": offered.get("noop", 1) if step > 4 else offered[plan[step]]}


FISH = {"env_id": "CuisineWorld-v0", "level": "level_3", "agents": 2, "max_cycles": 7}


def test_a_refused_choice_is_told_in_the_next_step_and_learned_from(play_team):
    record, client = play_team(f"{SPEC},reflection=2,memory=off", both_at_one_board, **FISH)
    assert record.steps[4].events[1] is None
    reply = "chopboard0 is occupied, therefore cannot be activated"
    (question,) = [message for message in client.last if "Write one sentence to remember" in message]
    assert f"activate chopboard0, but it was refused: {reply}" in question
    (messages,) = [text for text in client.last if "Your last action" in text]
    assert f"Your last action activate chopboard0 was refused: {reply}" in messages
    assert "What you have learned" in messages


def test_equal_questions_are_drawn_anew_at_a_temperature(play_team):
    record, client = play_team(f"{SPEC},temperature=0.5,memory=off", lambda request: {"action": 1}, max_cycles=5)
    assert len({request.key for request in client.asked}) == len(client.asked)
    again, other = play_team(f"{SPEC},temperature=0.5,memory=off", lambda request: {"action": 1}, max_cycles=5)
    assert [request.key for request in other.asked] == [request.key for request in client.asked]
    assert record == again
    _, client = play_team(SPEC, lambda request: {"action": 1}, max_cycles=5)
    assert {request.sample for request in client.asked} == {""}


def test_own_prompts_come_first(play_team, tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "choose_rules.j2").write_text("Be {{ me }}.")
    _, client = play_team(f"{SPEC},prompts={tmp_path}", lambda request: {"action": 1}, max_cycles=1)
    assert client.asked[0].turns[0].content == "Be Bob."
    assert "Actions:" in client.asked[0].turns[1].content
    (tmp_path / "common" / "choose_rules.j2").write_text("{{ nobody }}")
    with pytest.raises(ValueError, match=r"choose_rules.*nobody"):
        play_team(f"{SPEC},prompts={tmp_path}", lambda request: {"action": 1}, max_cycles=1)
    with pytest.raises(ValueError, match="is not a folder"):
        play_team(f"{SPEC},prompts={tmp_path}/none", lambda request: {"action": 1}, max_cycles=1)


def test_answers_are_never_templates(play_team):
    def answer(request):
        return "{{ 6 * 7 }}" if "most likely" in request.turns[-1].content else {"action": 1}

    _, client = play_team(f"{SPEC},intention=on", answer, max_cycles=1)
    assert "{{ 6 * 7 }}" in client.last[1] and "42" not in client.last[1].partition("Actions")[0]


@pytest.mark.parametrize("form", ["schema", "text"])
def test_the_partners_next_action_is_predicted_in_the_same_answer(play_team, form):
    def answer(request):
        return {"partner": "They take an onion.", "action": 2} if form == "schema" else "They wait.\nAction: 2"

    spec = f"llm:m?agent=choose,order=game,memory=off,predict=on,answer={form}"
    record, client = play_team(spec, answer, "Overcooked-v0", action_level="medium", max_cycles=1)
    assert len(client.asked) == 2, "one question for each seat"
    assert "what your partner will do next" in client.last[0]
    if form == "schema":
        assert list(client.asked[0].schema["properties"]) == client.asked[0].schema["required"] == ["partner", "action"]
    assert record.steps[0].action_texts == ["move away"] * 2


def test_the_helper_directive_of_overcooked_names_no_gate(play_team):
    spec = "llm:m?agent=choose,helper=on"
    _, client = play_team(
        f"{spec},manual=off", lambda request: {"action": 1}, "Overcooked-v0", action_level="medium", max_cycles=1
    )
    on = client.asked[0].turns[0].content
    _, client = play_team(f"{spec},manual=on", lambda request: {"action": 1}, "Overcooked-v0", max_cycles=1)
    assert "prefer" in on and "gate" not in on
    assert "prefer" in client.asked[0].turns[0].content and "gate" not in client.asked[0].turns[0].content


def first_taking(request):
    """Take the ingredients of the first order that still needs them."""
    for number, action in listed(request):
        if "TAKE_INGREDIENTS" in action:
            return {"action": int(number)}
    raise AssertionError("no ingredients can be taken")


@pytest.mark.parametrize("agent", ["choose", "coela", "roco", "capo"])
def test_the_second_seat_of_rush_sees_the_kitchen_as_the_first_one_leaves_it(play_team, agent):
    switches = {"choose": ",menu=legal", "coela": ",talk=off,two_stage=off"}.get(agent, ",rounds=off")
    env_id = "KitchenRush-v0"
    record, client = play_team(f"llm:m?agent={agent}{switches}", first_taking, env_id, scenario="easy", max_cycles=1)
    first, second = client.last
    taken, other = record.steps[0].action_texts
    assert taken != other and taken in first and not any(step.errors for step in record.steps)
    assert f"agent_0: {taken}." in second and taken not in [action for _, action in listed(client.asked[1])]
    assert "Already chosen" not in first and "counted in what is written above" in second
    order = re.search(r"'order': '([^']+)'", taken)[1]
    assert f"- {order}: ingredients not collected" in first and f"- {order}: ingredients collected" in second


def test_choices_that_are_not_yet_carried_out_are_told_as_such(play_team):
    record, client = play_team(
        SPEC, lambda request: {"action": 2}, "CuisineWorld-v0", level="level_3", agents=2, max_cycles=1
    )
    first, second = client.last
    assert "Already chosen" not in first and "one after the other in this order" in client.asked[0].turns[0].content
    reply = record.steps[0].action_texts[0]
    assert f"but not yet carried out in what is written above: agent0: {reply}." in second


def test_games_that_are_not_played_in_turns_say_nothing_of_choices(play_team):
    _, client = play_team(SPEC, lambda request: {"action": 1}, max_cycles=1)
    assert len(client.last) == 2 and not any("Already chosen" in text for text in client.last)
    assert "Both of you act at the same time" in client.asked[0].turns[0].content


def test_what_the_seat_before_has_made_impossible_is_refused_at_once(play_team):
    """Two workers want the same ingredients: the second one is told before the step, and corrects itself."""
    from collab_overcooked.policies.api import Decision

    class Wants:
        name = "wants"

        def reset(self, seat, info, seed):
            self.masks, self.errors = [], []

        def act(self, seen):
            self.masks.append(seen.mask)
            self.errors.append(seen.error)
            assert seen.observation.shape == seen.observation.reshape(-1).shape
            return Decision(action=1 if seen.error is None else seen.idle_action)

        def reply(self, seen):
            return None

    mates = {0: Wants(), 1: Wants()}
    record, _ = play_team(
        ["greedy", "greedy"], lambda r: "", "KitchenRush-v0", scenario="easy", max_cycles=1, mates=mates
    )
    assert mates[0].masks[0][1] == 1 and mates[1].masks[0][1] == 0
    assert mates[1].errors[0] is None and mates[1].errors[1][0] == "ALREADY_COLLECTED"
    assert record.steps[0].actions == [1, 0]
