from __future__ import annotations

import re

import pytest

from collab_overcooked.games.collab_overcooked.suite.scoring import score_record
from collab_overcooked.registry import load_game
from collab_overcooked.runner.episode import Limits

pytest.importorskip("jinja2", reason="needs the extra llm")

from collab_overcooked.games.collab_overcooked.policies.instructions import Step, due_step, split_recipe, step_recipe

CHEF = "pickup(egg,counter); put_obj_in_utensil(pot0); cook(pot0); wait(2); pickup(boiled_egg,pot0); deliver()"
HELP = "pickup(egg,ingredient_dispenser); place_obj_on_counter()"
REQUESTS = "request('pickup(egg,ingredient_dispenser)'); request('place_obj_on_counter()')"


def cooks(request):
    """A chef who asks for what is missing and a helper who does it, as a good model would play."""
    rules, now = request.turns[0].content, request.turns[1].content
    if "You are Alice" in rules:
        say = "On my way [END]" if "Said in this timestep" in now else "[NOTHING]"
        return {
            "analysis": "",
            "plan": HELP if "asks for" in now.partition("Said in this timestep")[2] else "wait(1)",
            "say": say,
        }
    if "place_obj_on_counter() (timestep" not in now and "1 egg;" not in now and "What you did last" not in now:
        first = "Timestep 0 " in now
        plan = f"{REQUESTS}; wait(1)" if first else "wait(1)"
        return {"analysis": "", "plan": plan, "say": "Please bring an egg." if first else "[NOTHING]"}
    return {"analysis": "", "plan": CHEF, "say": "[NOTHING]"}


def test_a_pair_that_talks_delivers_and_is_scored(play_team):
    record, client = play_team("llm:m", cooks)
    assert record.success
    texts = [(m.agent, m.say) for m in record.steps[0].messages]
    assert texts == [(0, "Please bring an egg."), (1, "On my way")]
    scores = score_record(record)
    assert (scores["tes"], scores["ic"], scores["rc"]) == ([1.0, 1.0], 1.0, 1.0)
    assert sum(account.calls for account in record.accounts.values()) == len(client.asked)
    tokens = sum(tokens or 0 for step in record.steps for tokens in step.tokens)
    assert tokens == 110 * len(client.asked)  # replies count too


def test_who_knows_what(play_team):
    _, client = play_team("llm:m", lambda request: {"analysis": "", "plan": "wait(5)", "say": "hi"}, max_cycles=1)
    chef, helper = (request for request in client.asked[:2])
    assert "Recipe: Boiled Egg" in chef.turns[1].content and "Actions of Alice" in chef.turns[0].content
    assert "Recipe: Boiled Egg" not in helper.turns[1].content and "Actions of Bob" not in helper.turns[0].content
    assert "You do not know the recipe" in helper.turns[0].content


def speak(reply):
    """Say the given words in turn, then nothing."""
    left = list(reply)

    def answer(request):
        return {"analysis": "", "plan": "wait(5)", "say": left.pop(0) if left else "[NOTHING]"}

    return answer


@pytest.mark.parametrize(
    ("reply", "received"),
    [
        (["a", "b", "c", "[NOTHING]"], [(0, "a"), (1, "b"), (0, "c"), (1, "")]),
        (["a", "b [END]"], [(0, "a"), (1, "b")]),
        (["a", "b", "c [END]", "d"], [(0, "a"), (1, "b"), (0, "c")]),
        (["a", "send the blender", "c [END]"], [(0, "a"), (1, "send the blender"), (0, "c")]),
        (list("abcdefgh"), [(0, "a"), (1, "b"), (0, "c"), (1, "d")]),
    ],
    ids=["silence", "responder ends", "initiator ends", "words with end in them", "turn limit"],
)
def test_conversations_end_from_either_side_and_at_the_limit(play_team, reply, received):
    record, _ = play_team("llm:m", speak(reply), limits=Limits(max_messages=4), max_cycles=1)
    assert [(m.agent, m.say) for m in record.steps[0].messages if m.conversation == 0] == received


def test_a_refused_plan_is_corrected_with_the_validators_message_and_a_lesson(play_team):
    def answer(request):
        message = request.turns[1].content
        if "Write one sentence to remember" in message:
            return "Look into the pot before cooking."
        return {"plan": "wait(5)" if "was refused" in message or "Look into" in message else "cook(pot0)", "say": ""}

    record, client = play_team(["llm:m?analysis=off,talk=off", "greedy"], answer, max_cycles=7)
    (error,) = record.steps[0].errors
    again, lesson, later = client.last[1:4]
    assert f"Your action cook(pot0) was refused: {error.message}" in again
    assert "cook(pot0)" in lesson and "wait(5)" in lesson
    assert "What you have learned:\n- Look into the pot before cooking." in later
    assert record.steps[0].action_texts[0] == "wait(1)"


def test_a_repeated_error_brings_its_lesson_back_without_a_call_and_the_window_is_bounded(play_team):
    plans = iter(
        ["cook(pot0)", "wait(1)", "deliver()", "wait(1)", "bake(oven0)", "wait(1)", "cook(pot0)", "wait(1)", "wait(1)"]
    )
    count = [0]

    def answer(request):
        if "Write one sentence to remember" in request.turns[1].content:
            count[0] += 1
            return f"lesson {count[0]}"
        return {"plan": next(plans, "wait(1)")}

    _, client = play_team(["llm:m?analysis=off,talk=off,reflection=2", "greedy"], answer, max_cycles=5)
    assert count[0] == 3, "no call for the mistake that is made again"
    assert "- lesson 3\n- lesson 1" in client.last[-1]
    assert "lesson 2" not in client.last[-1]


def test_reflection_off_asks_nothing(play_team):
    _, client = play_team(
        ["llm:m?analysis=off,talk=off,reflection=off", "greedy"], lambda request: {"plan": "cook(pot0)"}, max_cycles=2
    )
    assert not any("remember" in message for message in client.last)


def test_a_missing_plan_is_asked_for_again(play_team):
    reply = iter([{"analysis": "hm"}, {"plan": "wait(5)"}])
    _, client = play_team(["llm:m", "greedy"], lambda request: next(reply), max_cycles=1)
    assert "lacks plan" in client.last[1]


@pytest.mark.parametrize(
    "reply", ["", "no", "{", '{"plan": {"a": 1}}', "Plan: " + "x" * 99_999, '{"plan": "os.system(1)"}']
)
def test_no_plan_breaks_the_game(play_team, reply):
    record, _ = play_team("llm:m", lambda request: reply, max_cycles=4)
    assert {text for step in record.steps for text in step.action_texts} == {"wait(1)"}


def test_plain_text_answers_are_understood(play_team):
    record, client = play_team(
        "llm:m?answer=text", lambda request: "Analysis: fine.\nPlan: wait(3)\nSay: [NOTHING]", max_cycles=3
    )
    assert all(request.schema is None for request in client.asked) and len(client.asked) == 2
    assert record.accounts["agent_0"].trouble == {}


def test_three_cooks_talk(play_team):
    record, _ = play_team(
        "llm:m", speak(["a", "b [END]", "c [END]"]), limits=Limits(max_messages=9), kitchen="three_agents", max_cycles=1
    )
    assert [(m.agent, m.say) for m in record.steps[0].messages if m.conversation == 0] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
        (0, ""),
    ]


def test_primitive_actions_are_chosen_instead(play_team):
    record, _ = play_team("llm:m", lambda request: {"action": 1}, action_level="primitive", max_cycles=2)
    assert record.accounts["agent_0"].agent == "choose"


def test_agents_made_for_a_game_do_not_play_others(play_team):
    with pytest.raises(ValueError, match="'partner' plays CollabOvercooked-v0 only"):
        play_team("llm:m?agent=partner", lambda request: "", "CuisineWorld-v0")
    with pytest.raises(ValueError, match="'dispatch' plays CuisineWorld-v0, CraftKitchen-v0 only"):
        play_team("llm:m?agent=dispatch", lambda request: "")
    for options in ({"action_level": "primitive"}, {"lexicon": "alien"}):
        with pytest.raises(ValueError, match="without a lexicon and not in primitive actions; agent=choose"):
            play_team("llm:m?agent=partner", lambda request: "", **options)
    with pytest.raises(ValueError, match="without a lexicon"):
        play_team("llm:m?agent=dispatch", lambda request: "", "CuisineWorld-v0", lexicon="alien")
    with pytest.raises(ValueError, match="no switch 'hints'"):
        play_team("llm:m?hints=off", lambda request: "")


def test_recipes_as_single_actions():
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    assert step_recipe(game, "boiled_egg") == (
        "Recipe: Boiled Egg\n"
        "1. Alice: pickup(egg,ingredient_dispenser)\n"
        "2. Alice: place_obj_on_counter()\n"
        "3. Bob: pickup(egg,counter)\n"
        "4. Bob: put_obj_in_utensil(pot0)\n"
        "5. Bob: cook(pot0)\n"
        "6. Bob: pickup(boiled_egg,pot0)\n"
        "7. Bob: deliver()"
    )


def test_what_is_due_is_put_first():
    steps = [Step(seat, action, "") for seat, action in ((1, "a"), (1, "b"), (0, "c"), (1, "d"), (0, "e"))]
    assert due_step(steps, 0, ((), ())) == 0
    assert due_step(steps, 0, ((), ((1, "a"), (2, "x")))) == 1
    assert due_step(steps, 0, (((5, "c"),), ((1, "a"), (2, "b")))) == 3
    assert due_step(steps, 0, ((), ((1, "a"), (2, "b"), (3, "d")))) is None


def test_the_rearranged_recipe_is_the_split_one_rotated_to_the_due_action():
    """Experiment C differs from B in the order of the split actions alone: 2, 3, 4, 5, 1 when the second is due."""
    order = "baked_bell_pepper_soup"
    game = load_game("CollabOvercooked-v0", task=order)
    split = [line.partition(". ")[2] for line in split_recipe(game, order).splitlines()]
    actions = game.kitchen.tasks[order].references[0][1]
    for done in range(6):
        history = ((), tuple(enumerate(actions[:done])))
        rearranged = [line.partition(". ")[2] for line in split_recipe(game, order, 0, history).splitlines()]
        turn = done % 5
        assert rearranged == [*split[:2], *split[2 + turn : 7], *split[2 : 2 + turn], *split[7:]], done


@pytest.mark.parametrize(
    ("form", "first"),
    [("actions", "1. Alice: pickup"), ("split", "1. Pick up"), ("rearranged", "1. Pick up"), ("steps", "1. Cook egg")],
)
def test_the_recipe_is_shown_in_the_form_that_is_asked_for(play_team, form, first):
    _, client = play_team(f"llm:m?recipe={form}", lambda request: {"plan": "wait(5)"}, max_cycles=1)
    assert first in client.last[0] and first not in client.last[1]


def test_a_teammates_plan_is_shown_once_it_was_announced(play_team):
    def answers(say):
        def answer(request):
            chef = "You are Bob" in request.turns[0].content
            plan = "wait(3)" if chef else "wait(1)"
            return {
                "analysis": "",
                "plan": plan,
                "say": say if chef and "Timestep 0 " in request.turns[1].content else "",
            }

        return answer

    def shown(say):
        _, client = play_team("llm:m", answers(say), max_cycles=3)
        helper = [r.turns[1].content for r in client.asked if "You are Alice" in r.turns[0].content]
        return [line for message in helper for line in message.split("\n") if "Bob has announced" in line]

    assert shown("[NOTHING]") == []
    assert shown("I wait. [END]") == [
        "Bob has announced: wait(1) (begun); wait(1).",  # of three one is taken by then
        "Bob has announced: wait(1) (begun).",
    ]


def talks_once(request):
    """The chef asks for an egg in the first step; all plans are single waits."""
    rules, now = request.turns[0].content, request.turns[1].content
    asks = "You are Bob" in rules and "Timestep 0 " in now and "Said in this timestep" not in now
    say = "An egg, please." if asks else "On my way [END]" if "An egg" in now and "Timestep 0 " in now else "[NOTHING]"
    plan = "request('pickup(egg,ingredient_dispenser)'); wait(1)" if asks else "wait(1)"
    return {"analysis": "", "plan": plan, "say": say}


def questions(client, name, timestep):
    """Return what a seat was asked in a timestep."""
    asked = (request.turns for request in client.asked if f"You are {name}" in request.turns[0].content)
    return [turns[1].content for turns in asked if f"Timestep {timestep} " in turns[1].content]


def test_earlier_messages_and_plans_are_shown_for_some_timesteps(play_team):
    _, client = play_team("llm:m", talks_once, max_cycles=4)
    for name in ("Bob", "Alice"):
        later = questions(client, name, 2)[0]
        assert (
            "Said in earlier timesteps:\n"
            "- timestep 0, Bob: An egg, please. (plans: wait(1)) (asks for: pickup(egg,ingredient_dispenser))\n"
            "- timestep 0, Alice: On my way (plans: wait(1))\n" in later
        )
        assert "Said in this timestep" not in later
    assert (
        "What you decided last: request('pickup(egg,ingredient_dispenser)'); wait(1) (timestep 0) | wait(1)"
        in (questions(client, "Bob", 2)[0])
    )
    assert "Said in earlier" not in questions(client, "Bob", 0)[0]
    _, client = play_team("llm:m?messages=1,decisions=off", talks_once, max_cycles=4)
    later = questions(client, "Bob", 2)[0]
    assert "An egg, please" not in later and "- timestep 0, Alice: On my way" in later and "decided" not in later


def test_the_papers_preset_remembers_nothing_of_talk(play_team):
    def answer(request):
        return "\n".join(f"{part}: {text}" for part, text in talks_once(request).items())

    _, client = play_team("llm:m?preset=collab", answer, max_cycles=4)
    assert any("Said in this timestep" in message for message in client.last)
    assert not any("Said in earlier" in phrase or "What you decided" in phrase for phrase in client.last)


def test_who_answers_in_a_conversation_reads_what_it_is_doing(play_team):
    """The chef has chosen to wait, then the helper speaks: its answer cannot change this step."""

    def answer(request):
        rules, now = request.turns[0].content, request.turns[1].content
        helper = "You are Alice" in rules
        say = "Ready?" if helper and "Said in this timestep" not in now else "[NOTHING]"
        return {"analysis": "", "plan": "wait(1)" if helper else "wait(1); wait(2)", "say": say}

    _, client = play_team("llm:m", answer, max_cycles=1)
    decides, replies = questions(client, "Bob", 0)
    assert "You hold nothing, free to act." in decides and "You carry out" not in decides
    assert "You hold nothing, carrying out wait(1)." in replies and "free to act" not in replies.split("Alice holds")[0]
    assert (
        "You will carry out wait(1) until it is done, whatever you answer now; a new plan starts after it." in replies
    )
    assert "You have planned to do next: wait(2)." in replies


def test_a_busy_seat_reads_the_action_that_runs_and_plans_beyond_it(play_team):
    def answer(request):
        rules, now = request.turns[0].content, request.turns[1].content
        if "You are Alice" in rules:
            return {"analysis": "", "plan": "pickup(egg,ingredient_dispenser)", "say": "[NOTHING]"}
        return {"analysis": "", "plan": "wait(1)", "say": "How far are you?" if "Timestep 1 " in now else "[NOTHING]"}

    _, client = play_team("llm:m", answer, max_cycles=2)
    (asked,) = questions(client, "Alice", 1)
    running = "pickup(egg,ingredient_dispenser)"
    assert f"You hold nothing, carrying out {running}." in asked and f"You will carry out {running} until" in asked


@pytest.mark.parametrize("task", ["boiled_egg", "baked_carrot_soup", "baked_pumpkin_soup"])
@pytest.mark.parametrize("kitchen", ["default", "three_agents"])
def test_examples_are_of_another_recipe_and_of_what_the_seat_can_do(play_team, task, kitchen):
    options = {} if kitchen == "default" else {"kitchen": kitchen}
    game = load_game("CollabOvercooked-v0", task=task, **options)
    _, client = play_team("llm:m", lambda request: {"analysis": "", "plan": "wait(1)", "say": ""}, task=task,
                          max_cycles=1, **options)  # fmt: skip
    needed = set(game.kitchen.foods_below.get(task, ())) | {task}
    assert len(client.asked) == game.n_agents
    for seat, request in enumerate(client.asked):
        form = re.search(r"in a form such as (.*) \(an example for another order\)", request.turns[1].content)[1]
        *result, asked = form.split("; ")
        asked = re.fullmatch(r"request\('(.*)'\)", asked)[1]
        assert result and set(result) <= set(game.vocabulary(seat))
        assert asked in game.vocabulary((seat + 1) % game.n_agents)
        assert not needed & {word for text in [*result, asked] for word in re.split(r"[(),]", text)}


def test_prompts_say_whether_teammates_see_plans(play_team):
    for spec, message in (
        ("llm:m", "only if you say something with it"),
        ("llm:m?talk=off", "does not see your plans"),
    ):
        _, client = play_team(spec, lambda request: {"analysis": "", "plan": "wait(1)", "say": ""}, max_cycles=1)
        assert all(message in request.turns[0].content for request in client.asked)


def test_prompts_say_what_holds_for_messages_and_not_which_are_lost(play_team):
    limits = Limits(max_chars=12, max_episode_chars=30, message_delay=2, message_loss=0.5)
    says = [{"analysis": "", "plan": "wait(1)", "say": "Please bring an egg."}]
    record, client = play_team("llm:m", lambda request: says[0], limits=limits, max_cycles=5)
    first, rules = client.last[0], client.asked[0].turns[0].content
    assert (
        "A message has at most 12 characters; the rest is cut off. You may write 30 more characters in this episode. "
        "Messages arrive 2 steps later, so nobody answers at once. 50 % of all messages are lost; nobody is told which."
    ) in first
    assert "opens a conversation within this timestep" not in rules and "is heard in a later timestep" in rules
    messages = [message for step in record.steps for message in step.messages]
    assert [(message.agent, message.say) for message in messages] == [
        *((seat, "Please bring") for seat in (0, 1, 0, 1)),
        *((seat, "Please") for seat in (0, 1)),
    ]
    assert "You may write 6 more characters" in client.last[4] and "You may write 0 more" in client.last[6]
    for seat, name in enumerate(("Bob", "Alice")):
        arrived = [message for step in record.steps[:3] for message in step.messages if message.agent == seat]
        heard = [question for question in client.last[1 - seat :: 2] if f", {name}: Please" in question]
        assert bool(heard) == any(not message.lost for message in arrived)


def test_prompts_without_limits_do_not_mention_any(play_team):
    for talk in ("", "?talk=off"):
        limits = Limits(message_delay=2) if talk else None
        _, client = play_team(f"llm:m{talk}", speak(["egg"]), limits=limits, max_cycles=2)
        assert not any("Messages arrive" in question for question in client.last)
