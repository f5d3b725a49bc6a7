"""Language models that search joint plans together, with answers written down."""

from __future__ import annotations

import dataclasses
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest

from collab_overcooked.policies.api import Message
from collab_overcooked.policies.llm.answers import JSON, LINE, Unreadable
from collab_overcooked.policies.llm.cots_agent import (
    find_option,
    findings_in,
    read_plans,
    read_rating,
    read_satisfaction,
    read_scores,
)
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.policies.search.deliberation import Briefing
from collab_overcooked.policies.search.subplans import Finding, PlanningView, SubPlan, plan_text
from collab_overcooked.reporting.plan_trees import costs_of

SPEC = "llm:scripted?agent=cots"
KINDS = {
    "Judge it": "criticise",
    "still fit": "rate",
    "Write down the plan": "write",
    "Write one plan": "propose",
    "better than the last": "propose",
    "do you begin now": "follow",
}


def kind_of(question: str) -> str:
    return next(kind for text, kind in KINDS.items() if text in question)


def listed(question: str, name: str) -> list[str]:
    """Return the sub-plans that a question offers an agent."""
    line = re.search(rf"^{name}: (.+)$", question, re.MULTILINE)
    return [re.sub(r" \(\d+[^)]*\)$", "", part) for part in line[1].split("; ")] if line else []


def answer(question: str, scores: tuple[int, int] = (4, 4)) -> Any:
    """Answer by what is asked: plans of the first sub-plans of the lists."""
    kind = kind_of(question)
    if kind == "rate":
        assert "no plan" not in question
        return {"rating": 2}
    if kind == "follow":
        return {"subplan": re.findall(r"^- (.+)$", question, re.MULTILINE)[0]}
    if kind == "criticise":
        return {"message": "I have seen nothing.", "distance": scores[0], "task": scores[1]}
    alice, bob = listed(question, "Alice"), listed(question, "Bob")
    steps = [{"Alice": alice[0], "Bob": bob[k % len(bob)]} for k in range(1)]
    if kind == "write":
        return {"steps": steps}
    many = 1 if "Write one plan" in question else 3
    plans = [{"steps": [{"Alice": alice[0], "Bob": bob[(k + 1) % len(bob)]}], "message": "go"} for k in range(many)]
    return {"plans": plans}


def play(play_team: Any, say: Any, spec: str = SPEC, **options: Any) -> Any:
    values = {"env_id": "Housework-v0", "task": "set_table", "max_cycles": 12, **options}
    return play_team(spec, lambda request: say(request.turns[-1].content), **values)


def test_an_update_takes_eight_or_twelve_calls_and_is_recorded(play_team: Any) -> None:
    """One less at the start, where there is no plan to rate."""
    for scores, calls, plans in (((4, 4), 8, 4), ((2, 2), 12, 7)):
        record, asked = play(play_team, lambda question, scores=scores: answer(question, scores))
        first, second = record.plan_updates["agent_0"][:2]
        assert (first.calls, first.trigger, second.calls) == (calls - 1, "start", calls)
        assert len(first.nodes) == plans
        texts = [json.dumps(answer(text, scores)) for text in asked.last[: calls - 1]]
        assert (first.characters, first.seconds) == (len("".join(texts)), 0.5 * len(texts))
        costs = costs_of([record])
        assert costs is not None
        row = {column.name: cell for column, cell in zip(costs.columns, costs.rows[0], strict=True)}
        assert row["seconds each"].value > 3
        looks = record.plan_updates["agent_0"]
        assert row["calls per episode"].value == sum(look.calls for look in looks) > row["calls each"].value
        assert row["characters per episode"].value == sum(look.characters for look in looks)
        kinds = [kind_of(text) for text in asked.last[: calls - 1]]
        assert kinds[:2] == ["propose", "criticise"] and kinds[-1] == "write"
        assert kinds.count("criticise") == plans
        assert record.accounts["agent_1"].agent == "cots"


def test_planner_and_critic_ask_with_their_own_knowledge(play_team: Any) -> None:
    _, asked = play(play_team, answer)
    for request in asked.asked:
        kind = kind_of(request.turns[-1].content)
        if kind == "follow":  # each seat follows the plan by what it knows itself
            result = request.turns[0].content[len("You are ") :].split(",")[0]
            assert f"You are {result}. Time" in request.turns[-1].content
            continue
        result = "Bob" if kind in ("criticise", "rate") else "Alice"  # figure 14 of the supplement: Bob evaluates
        assert request.turns[0].content.startswith(f"You are {result},")
        if kind == "criticise":
            assert f"You are {result}. Time" in request.turns[-1].content


@pytest.mark.parametrize("told", ["on", "off"])
def test_critics_read_what_the_planner_was_told_before_its_plan(play_team: Any, told: str) -> None:
    """Figure 13 of the supplement."""
    _, asked = play(play_team, answer, f"{SPEC},input={told}")
    prompts = [r.turns[-1].content for r in asked.asked if kind_of(r.turns[-1].content) == "criticise"]
    for prompt in prompts:
        assert ("You are Alice. Time" in prompt) == (told == "on")
        assert told == "off" or prompt.index("What Alice was told") < prompt.index("You are Bob. Time")
    assert prompts


@pytest.mark.parametrize(
    "text", ["", "I would rather not.", "{", "[]", '{"plans": 3, "rating": "x", "distance": null}', "9" * 400, "\x00🙂"]
)
def test_unreadable_answers_never_crash(play_team: Any, text: str) -> None:
    record, asked = play(play_team, lambda question: text)
    assert record.timesteps > 0
    assert len(asked.asked) > 3
    assert record.plan_updates["agent_0"][0].nodes[0].reward == 0.1


def test_words_are_said_aloud_only_if_that_is_asked_for(play_team: Any) -> None:
    silent, _ = play(play_team, answer)
    assert not any(step.messages for step in silent.steps)
    record, _ = play(play_team, answer, f"{SPEC},charge=on")
    replies = [message for step in record.steps for message in step.messages]
    assert {message.agent for message in replies} == {0, 1}
    assert any(text.startswith("say") for step in record.steps for text in step.action_texts)  # it has its price


def test_scores_are_found_in_any_form() -> None:
    assert read_scores('{"message": "a", "distance": "4", "task": 5}') == ((4, 5, "a"), JSON)
    assert read_scores("Message: far apart.\nDistance: 2\n**task** = 3") == ((2, 3, "far apart."), LINE)
    assert read_scores("<think>task: 1</think>distance: 1\ntask: 4").value == (1, 4, "")
    assert [read_rating(text).value for text in ("4", "Rating: 2", '{"rating": 5}')] == [4, 2, 5]
    assert [read_satisfaction(text).value for text in ("Satisfied.", '{"rating": "unsatisfied"}')] == [5, 1]
    for message in ("distance: 4", "", "none", '{"distance": true, "task": []}', '{"distance": 4.4, "task": 9}'):
        with pytest.raises(Unreadable):
            read_scores(message)
    for message in ("between 1 and 5", "I say 3/5.", "Rating: not 4"):
        with pytest.raises(Unreadable):
            read_rating(message)


def briefing() -> Briefing:
    options = {
        0: [SubPlan("fetch apple 3"), SubPlan("fetch apple 31")],
        1: [SubPlan("check fridge"), SubPlan("deliver")],
    }
    seen: Any = SimpleNamespace(names=("Alice", "Bob"))
    return Briefing(0, (0, 1), seen, PlanningView(options, {}), {}, {}, False)


@pytest.mark.parametrize(
    "text",
    [
        '{"plans": [{"steps": [{"Alice": "fetch apple 3", "Bob": "Check fridge."}], "message": "m"}]}',
        '{"steps": [{"alice": "fetch apple 3", "bob": "check fridge"}, {"alice": "dance"}]}',
        '{"plan": "1. Alice: fetch apple 3; Bob: check fridge"}',
        "1. Alice: fetch apple 3; Bob: check fridge\n2. Alice: I will fetch apple 3",
        "Step 1: Alice fetch apple 3 | Bob: check fridge.",
    ],
)
def test_plans_are_found_in_any_form(text: str) -> None:
    (draft,) = read_plans(text, briefing(), 3).value
    assert plan_text(draft.plan, ("Alice", "Bob")) == "1. Alice: fetch apple 3; Bob: check fridge"


def test_sub_plans_are_never_invented() -> None:
    options = briefing().view.options[0]
    assert find_option("Fetch apple 31.", options) == options[1]
    for text in ("fetch apple", "fetch apple 31 now", "do not fetch apple 31"):
        assert find_option(text, options) is None
    with pytest.raises(Unreadable, match="word for word"):
        read_plans('{"plans": [{"steps": [{"Alice": "fetch gold"}]}]}', briefing(), 3)


def test_bad_words_are_refused() -> None:
    assert parse_settings("m?agent=cots,stop=0.9,n=2,profile=released").switches["stop"] == 0.9
    for text, complaint in (
        ("m?agent=cots,stop=high", "stop must be a number"),
        ("m?agent=cots,memory=3", "has no switch 'memory'"),
        ("m?agent=cots,mode=tree", "mode must be cots, dfs, talk, cot"),
    ):
        with pytest.raises(ValueError, match=complaint):
            parse_settings(text)


def test_games_without_sub_plans_refuse(play_team: Any) -> None:
    with pytest.raises(ValueError, match="the agent 'cots' plays CollabOvercooked-v0"):
        play_team(SPEC, lambda request: "", env_id="CollabCapture-v0")


def informed() -> Briefing:
    """Return Bob's briefing: he has found a fridge that nobody has heard of."""
    results = {"fridge": Finding("fridge: kitchen, not checked.", ("place", 7)), "apple 3": Finding("apple 3", 3)}
    return dataclasses.replace(briefing(), view=dataclasses.replace(briefing().view, findings=results))


def test_what_a_message_names_is_told() -> None:
    assert list(findings_in("I found the Fridge, and apple 31.", informed().news)) == ["fridge"]
    (draft,) = read_plans('{"steps": [{"Alice": "fetch apple 3"}], "message": "apple 3 is here"}', informed(), 1).value
    assert list(draft.findings) == ["apple 3"]


def test_parts_that_cannot_be_read_are_reported() -> None:
    text = '{"steps": [{"Alice": "fetch apple 3", "Bob": "fetch gold 9"}, {"Alice": "wait", "Bob": "deliver"}]}'
    (draft,) = read_plans(text, briefing(), 1).value
    assert draft.left_out == ("Bob: fetch gold 9 (in no list)",)


def test_steps_and_plans_that_are_cut_are_reported() -> None:
    steps = [{"Bob": "check fridge"}] * 5
    text = json.dumps({"plans": [{"steps": steps}, {"steps": [{"Bob": "fetch gold 9"}]}]})
    (draft,) = read_plans(text, briefing(), 3).value
    assert len(draft.plan) == 3
    first, second = draft.left_out
    assert first == "2 further steps (a plan has 3 at most)"
    assert second.startswith("a plan without a listed sub-plan") and "gold 9" in second


def test_a_part_that_clashes_is_told_to_all_that_carry_out_or_rate_the_plan(play_team: Any) -> None:
    def say(question: str) -> Any:
        kind = kind_of(question)
        if kind == "write":
            part = listed(question, "Alice")[0]
            return {"steps": [{"Alice": part, "Bob": part}]}
        return {"rating": 3} if kind == "rate" else answer(question)

    record, asked = play(play_team, say, max_cycles=20)
    update = record.plan_updates["agent_0"][0]
    (lost,) = [part for part in update.left_out if "uses the same" in part]
    assert lost.startswith("Bob: ")
    prompts = [request.turns[-1].content for request in asked.asked]
    first = prompts.index(next(prompt for prompt in prompts if kind_of(prompt) == "follow"))
    following = [prompt for prompt in prompts[first:] if kind_of(prompt) in ("follow", "rate")][:3]
    assert following and all(lost in prompt for prompt in following)
    bob = next(prompt for prompt in following if "You are Bob. Time" in prompt and kind_of(prompt) == "follow")
    assert "The plan names nothing for you" in bob


def test_critics_read_what_a_draft_lost(play_team: Any) -> None:
    def say(question: str) -> Any:
        if kind_of(question) != "propose":
            return answer(question)
        steps = [{"Alice": listed(question, "Alice")[0], "Bob": "fetch gold 9"}]
        return {"plans": [{"steps": steps, "message": "go"}]}

    _, asked = play(play_team, say)
    first = next(r.turns[-1].content for r in asked.asked if kind_of(r.turns[-1].content) == "criticise")
    assert "Left out: Bob: fetch gold 9 (in no list)." in first and "Alice says: go" in first


@pytest.mark.parametrize(
    ("env_id", "options", "rule"),
    [
        ("CollabOvercooked-v0", {"task": "boiled_egg"}, "fill the dish that you hold"),
        ("CuisineWorld-v0", {"level": "level_0", "agents": 2}, "Put finished dishes on the serving table"),
        ("Overcooked-v0", {"layout": "cramped_room", "action_level": "medium"}, "You choose directives"),
    ],
)
def test_kitchens_explain_their_sub_plans(play_team: Any, env_id: str, options: dict[str, Any], rule: str) -> None:
    _, asked = play_team(SPEC, lambda request: "", env_id=env_id, max_cycles=1, **options)
    assert asked.asked and all(rule in request.turns[0].content for request in asked.asked)


def test_an_agent_without_sub_plans_has_nothing_to_do_and_may_wait(play_team: Any) -> None:
    _, asked = play_team(SPEC, lambda request: "", task="boiled_egg", max_cycles=1)
    first = asked.asked[0]
    assert "Bob: nothing now" in first.turns[-1].content and "Bob: unknown" not in first.turns[-1].content
    assert '"wait" if it has nothing to do' in first.turns[0].content


def test_what_the_critic_tells_enters_the_lists_of_the_planner(play_team: Any) -> None:
    """Bob names what he has found: Alice is offered it afterwards, for both of them."""

    def say(question: str) -> Any:
        if kind_of(question) != "criticise":
            return answer(question)
        known = question.partition("What you know:\n")[2].partition("What you can do")[0]  # Bob names all that he knows
        return {"message": " ".join(known.splitlines()[3:]), "distance": 4, "task": 4}

    def offers(asked: Any) -> list[set[str]]:
        prompts = [r.turns[-1].content for r in asked.asked if kind_of(r.turns[-1].content) == "propose"]
        return [set(listed(prompt, "Alice")) for prompt in prompts[:2]]

    _, asked = play(play_team, say)
    first, second = offers(asked)
    assert second != first  # what he has found is there, what he has searched is not
    _, silent = play(play_team, answer)
    first, second = offers(silent)
    assert second == first


@pytest.mark.parametrize("reasoning", ["on", "off"])
def test_reasoning_comes_first_where_it_is_asked_for(play_team: Any, reasoning: str) -> None:
    _, asked = play(play_team, answer, f"{SPEC},reasoning={reasoning}")
    for request in asked.asked:
        if kind_of(request.turns[-1].content) != "write":
            assert ("reasoning" in request.turns[-1].content) == (reasoning == "on")
            assert ('"reasoning"' in json.dumps(request.schema)) == (reasoning == "on")


def test_a_program_follows_the_plan_if_models_do_not_parse_it(play_team: Any) -> None:
    kinds = [
        {kind_of(r.turns[-1].content) for r in play(play_team, answer, f"{SPEC},parse={parse}")[1].asked}
        for parse in ("on", "off")
    ]
    assert kinds[0] - kinds[1] == {"follow"}


@pytest.mark.parametrize(
    ("rating", "there", "missing"),
    [("labelled", "small changes would do", "still good"), ("unlabelled", "a higher number", "small changes"),
     ("basic", "still good", "small changes")],
)  # fmt: skip
def test_ratings_are_asked_for_in_three_ways(play_team: Any, rating: str, there: str, missing: str) -> None:
    def say(question: str) -> Any:
        rated = "unsatisfied" if rating == "basic" else 2
        return {"rating": rated} if '"rating"' in question else answer(question)

    record, asked = play(play_team, say, f"{SPEC},rating={rating}")
    prompts = [r.turns[-1].content for r in asked.asked if '"rating"' in r.turns[-1].content]
    ratings = {update.rating for update in record.plan_updates["agent_0"]} - {None}
    assert prompts and ratings == {1 if rating == "basic" else 2}
    for prompt in prompts:
        assert there in prompt and missing not in prompt
        assert prompt.index('"you" means Bob') < prompt.index("You are Bob.")  # whose notes these are
        assert "Previous sub-plans of" in prompt


def test_critics_see_dialogue_and_their_previous_sub_plans(play_team: Any) -> None:
    _, asked = play(play_team, answer, max_cycles=20)
    last = [r.turns[-1].content for r in asked.asked if kind_of(r.turns[-1].content) == "criticise"][-1]
    assert "Last messages:" in last and "Your previous sub-plans" in last
    for prompt in (r.turns[-1].content for r in asked.asked):
        assert "(searched, you are here)" in prompt or "Notes of" in prompt or kind_of(prompt) == "write"


def test_sub_plans_are_explained_and_what_hands_do_not_allow_is_marked(play_team: Any) -> None:
    _, asked = play(play_team, answer)
    assert all("`search ROOM` walks" in r.turns[0].content for r in asked.asked)
    for request in asked.asked:
        prompt = request.turns[-1].content
        if kind_of(prompt) == "follow" and "hold nothing" in prompt:
            assert "- transport" not in prompt


def test_examples_can_be_left_out(play_team: Any) -> None:
    for examples in ("on", "off"):
        _, asked = play(play_team, answer, f"{SPEC},examples={examples}")
        assert any("Example, with other agents" in r.turns[-1].content for r in asked.asked) == (examples == "on")


def test_a_model_beside_a_person_plans_for_both_and_reads_the_answer(play_team: Any) -> None:
    """Table 4 of the paper: the prompt names both agents, and the answer is a comment on the plan."""

    class Person:
        name = "person"

        def reset(self, *_: Any) -> None:
            self.answers = ["No, I have found nothing here. Score 2.", "I agree."]

        def act(self, seen: Any) -> int:
            return int(seen.idle_action)

        def reply(self, seen: Any) -> Message | None:
            return Message(seen.seat, self.answers.pop(0), "") if self.answers else None

    record, asked = play(play_team, answer, [SPEC, "greedy"], mates={1: Person()}, max_cycles=3)
    assert all("one of a team: Alice, Bob." in request.turns[0].content for request in asked.asked)
    assert not any(kind_of(request.turns[-1].content) == "criticise" for request in asked.asked)
    assert not any("You are Bob. Time" in request.turns[-1].content for request in asked.asked)
    better = [r.turns[-1].content for r in asked.asked if "better than the last" in r.turns[-1].content]
    assert "I have found nothing here" in better[0]
    update = record.plan_updates["agent_0"][0]
    assert [entry.score for entry in update.answers] == [0.2, 1.0]
    assert all("Alice: " in node.plan and "Bob: " in node.plan for node in update.nodes)
    assert update.characters > 0 and update.calls >= 4


def test_ablations_of_the_paper_are_switches(play_team: Any) -> None:
    record, asked = play(play_team, answer, f"{SPEC},reward=0,update=0")
    updates = record.plan_updates["agent_0"]
    assert len(updates) > 1 and all(update.searched and update.rating is None for update in updates)
    assert all(node.reward == 0.0 for update in updates for node in update.nodes)
    assert not any(kind_of(request.turns[-1].content) == "rate" for request in asked.asked)
