"""What prompts say is true: times, prices, units, free counters, plans of others, demonstrations."""

from __future__ import annotations

import re

import pytest

from collab_overcooked.runner.conversation import Plans

pytest.importorskip("jinja2", reason="needs the extra llm")
CLOCKS = {
    "CollabOvercooked-v0": "timestep",
    "CraftKitchen-v0": "step",
    "CuisineWorld-v0": "step",
    "Overcooked-v0": "step",
    "Housework-v0": "time",
    "Transport-v0": "time",
    "CollabCapture-v0": "turn",
    "CollabEscape-v0": "turn",
    "KitchenRush-v0": "turn",
}


def last(request):
    """Choose the first of a numbered list that takes or puts something, else the last."""
    listed = re.findall(r"^(\d+)\. (.*)", request.turns[-1].content, re.MULTILINE)
    return {"action": int(next((k for k, text in listed if text.startswith(("take", "put"))), listed[-1][0]))}


@pytest.mark.parametrize("env_id", CLOCKS)
def test_memory_has_the_clock_of_the_game(play_team, env_id):
    options = {} if env_id.startswith(("CollabC", "CollabE", "Kitchen")) else {"max_cycles": 20}
    options |= {"action_level": "medium"} if env_id == "Overcooked-v0" else {}
    _, client = play_team("llm:m?agent=choose,memory=3", last, env_id, **options)
    noun, count = CLOCKS[env_id], 0
    for prompt in client.last:
        now = int(re.search(rf"(?i)\b{noun}:? (\d+)", prompt)[1])
        for line in re.findall(r"^What you did last: (.+)\.$", prompt, re.MULTILINE):
            times = re.findall(r"\((\w+) (\d+)(?: to (\d+))?\)(?:;|$)", line)
            assert times and all(name == noun for name, *_ in times)
            assert all(int(two or one) <= now - (env_id != "KitchenRush-v0") for _, one, two in times)
            count += 1
    assert count


def test_an_announced_plan_keeps_what_was_begun_in_this_step():
    plans = Plans(3, lambda seat, plan: plan.split("; "))
    plans.follow(0, "pickup(egg,pot0); wait(1)", announced=True)
    plans.follow(1, "cook(pot0)", announced=False)
    plans.begun = [plans.next(0), plans.next(1), None]
    text = lambda seat, entry: str(entry)  # noqa: E731
    assert plans.visible_to(2, text)[1] == (("pickup(egg,pot0) (begun)", "wait(1)"), (), ())
    assert plans.visible_to(0, text) == (("wait(1)",), ((), (), ()))
    plans.next(0)
    plans.begun = [None, None, None]
    assert plans.visible_to(2, text)[1] == ((), (), ())


def test_a_partner_reads_what_was_announced_and_begun(play_team):
    def answer(request):
        bob, replies = "You are Bob" in request.turns[0].content, "turn to answer" in request.turns[-1].content
        return {"analysis": "", "plan": "" if replies else "wait(3)", "say": "I wait. [END]" if bob else "[NOTHING]"}

    _, client = play_team("llm:m?agent=partner", answer, max_cycles=4)
    prompts = [r.turns[-1].content for r in client.asked if "You are Alice" in r.turns[0].content]
    assert any("Bob has announced: wait(1) (begun); wait(2)." in prompt for prompt in prompts)
    assert any("Bob: I wait. (plans: wait(3))" in prompt for prompt in prompts)
    assert not any("wait(1); wait(1)" in prompt for prompt in prompts)
