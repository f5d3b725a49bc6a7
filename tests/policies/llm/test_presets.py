"""Presets: how the papers evaluated their agents, below everything that is said beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import serving
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.cli.evaluate import presets_of
from collab_overcooked.games.overcooked import suite
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.runner.env_variants import deviations, variant_of


def test_every_paper_has_a_preset_and_other_words_stand_above_it() -> None:
    assert set(registry.presets()) == {"collab", "collab-paper", "mindagent", "llmco", "rush"}
    result = parse_settings("m?preset=mindagent")
    assert (result.preset, result.agent, result.temperature, result.tokens, result.answer) == (
        "mindagent",
        "dispatch",
        0.1,
        100,
        "text",
    )
    assert parse_settings("m?temperature=1,preset=mindagent").temperature == 1
    assert parse_settings("m?preset=llmco").for_agent("choose")["analysis"] is True
    assert parse_settings("m?preset=collab").temperature == 0.7
    with pytest.raises(ValueError, match="did you mean mindagent"):
        parse_settings("m?preset=mindagnet")


def test_presets_belong_to_the_suite_of_their_game() -> None:
    team = ["agent_0=greedy", "agent_1=llm:m?preset=llmco"]
    (preset,) = presets_of("overcooked", team)
    assert preset.options == {"text_rules": "original", "stalemate": "paper"}
    assert presets_of("rush", team) == []
    (collab,) = presets_of("collab-overcooked", ["all=llm:m?preset=collab"])
    assert collab.options == {"action_level": "medium", "preset": "original"}
    assert presets_of("collab-overcooked", ["llm:m?preset=collab"] * 2) == [collab], "specs in seat order"


def test_the_paper_of_collab_overcooked_shows_all_that_was_said_done_and_planned(play_team) -> None:
    """Without a message the teammate's plan is unknown under ``collab``, and earlier talk is forgotten."""

    def answer(request):
        text = request.turns[-1].content
        say = f"message {len(asked)}" if "Said in this timestep" not in text and len(asked) < 9 else "[NOTHING]"
        asked.append(request)
        return (
            f"Analysis: -\nPlan: wait(1); wait(2); wait(1)\nSay: {say}"
            if len(asked) % 3
            else f"Plan: wait(1)\nSay: {say}"
        )

    prompts = {}
    for preset in ("collab", "collab-paper"):
        asked: list[Any] = []
        play_team(f"llm:m?preset={preset},analysis=off", answer, max_cycles=30)
        prompts[preset] = [request.turns[-1].content for request in asked]
    assert not any("plans to do next: wait" in text or "Said in earlier" in text for text in prompts["collab"])
    assert any("plans to do next: wait" in text for text in prompts["collab-paper"])
    last = prompts["collab-paper"][-1]
    assert all(f"message {k} (plans" in last for k in (0, 2, 4, 6, 8)), "the whole conversation up to now"
    assert parse_settings("m?preset=collab-paper").for_agent("partner")["memory"] >= 120, "every action of an episode"


def test_the_paper_of_collab_overcooked_shows_its_printed_inputs(play_team) -> None:
    """Listings 1, 7, 10, 13 and 16, figures 11 and 12: actions, no limit, no positions, shared counters alone."""
    prompts = {}
    for preset in ("collab", "collab-paper"):
        options = registry.presets()[preset].options
        _, client = play_team(f"llm:m?preset={preset}", lambda r: "Plan: wait(20)", max_cycles=3, **options)
        prompts[preset] = client.asked
    for request in prompts["collab-paper"]:
        rules, now = (turn.content for turn in request.turns)
        assert "Timestep 0.\n" in now and "Positions" not in now and "yours:" not in now
        assert "shared: 3 of 3 free" in now and "from 1 to 20" in rules
        assert rules.count("fill_dish_with_food(chopping_board0)") == 0, "the assistant's"
        assert ("fill_dish_with_food(pot0)" in rules) == ("You are Bob" in rules), "the chef's own"
    assert not any("was refused" in request.turns[1].content for request in prompts["collab-paper"])
    rules, now = (turn.content for turn in prompts["collab"][0].turns)
    assert "Timestep 0 of " in now and "yours:" in now and "fill_dish_with_food(chopping_board0)" in rules


@pytest.mark.parametrize("plans", ["announced", "public"])
def test_public_plans_of_answers_are_shown_at_once(play_team, plans: str) -> None:
    """The teammate has only answered so far, with a plan and [NOTHING]."""

    def answer(request):
        now = request.turns[1].content
        opens = "You are Bob" in request.turns[0].content and "It is your turn to answer" not in now
        return "Plan: wait(1)\nSay: Go on." if opens else "Plan: wait(5)\nSay: [NOTHING]"

    options = registry.presets()["collab-paper"].options
    spec = f"llm:m?preset=collab-paper,analysis=off,plans={plans}"
    _, client = play_team(spec, answer, max_cycles=5, **options)
    shown = [r for r in client.asked if "Alice plans to do next" in r.turns[1].content]
    assert bool(shown) == (plans == "public")


@pytest.mark.parametrize("talk", ["on", "off"])
def test_rules_say_who_sees_plans(play_team, talk: str) -> None:
    for plans, public in (("announced", False), ("public", True)):
        _, client = play_team(f"llm:m?plans={plans},talk={talk}", lambda r: {"plan": "wait(1)"}, max_cycles=2)
        rules = client.asked[0].turns[0].content
        assert ("sees the actions that you have planned" in rules) == public
        assert ("always sees the actions" in rules) == (public and talk == "on")


def test_published_scores_stand_beside_language_teams_under_the_public_codes_rules() -> None:
    step = {"events": [{"label": "", "event": "soup_delivery", "sparse": 20.0, "shaped": 0.0}, None]}
    kwargs = {"layout": "cramped_room", "action_level": "medium", **registry.presets()["llmco"].options}
    results = []
    for spec in ("llm:m", "greedy"):
        team = {"agent_0": spec, "agent_1": spec}
        options = {"env_kwargs": kwargs, "max_cycles": 400}
        record = record_of(env_id="Overcooked-v0", task="cramped_room", steps=[step], team=team, **options)
        results.append(bool(suite.KitchenRow("", "cramped_room", [record]).published))
    assert results == [True, False]


def test_answers_of_llm_co_explain_first_and_use_the_words_of_the_paper(play_team) -> None:
    options = {"layout": "cramped_room", "max_cycles": 3, **registry.presets()["llmco"].options}
    answer = "Explanation: Bob is at the pot. Action: pick up onion from o0."
    record, _ = play_team("llm:m?preset=llmco", lambda _: answer, "Overcooked-v0", action_level="medium", **options)
    assert record.steps[0].action_texts == ["take onion from o0"] * 2
    assert not record.accounts["agent_0"].trouble and not record.accounts["agent_1"].trouble
    schema, _ = play_team("llm:m", lambda _: answer, "Overcooked-v0", action_level="medium", **options)
    assert "unreadable" in schema.accounts["agent_0"].trouble, "where JSON is asked for, words are not guessed at"


@pytest.mark.parametrize(("given", "counting"), [([], "steps"), (["--counting", "orders"], "orders")])
def test_a_run_with_a_preset_asks_and_counts_as_the_paper(tmp_path, monkeypatch, given: list[str], counting) -> None:
    """What is given beside it counts, also if it is the default of the suite."""
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    texts = ["evaluate", "cuisineworld", "--levels", "0", "--agents", "2", "--alphas", "1.0", "--episodes", "1"]
    with serving(lambda asked: "noop_agent0\nnoop_agent1") as server:
        team = ["--team", "all=llm:m?preset=mindagent", "--no-report", *given]
        done = CliRunner().invoke(app, [*texts, *team, "--base-url", server.url, "--out", str(tmp_path / "a")])
        assert done.exit_code == 0, done.output
        assert {(asked["temperature"], asked["max_tokens"]) for asked in server.asked} == {(0.1, 100)}
    table = json.loads((tmp_path / "a" / "table.json").read_text())
    assert table[0]["data"][0]["counting"] == counting


def test_the_preset_of_rush_shows_the_current_turn_and_the_list_alone(play_team) -> None:
    """Section 4.1: neither what was done before nor what the partner has just chosen, numbers from 0."""
    options = {"scenario": "easy", "max_cycles": 6, **registry.presets()["rush"].options}
    record, client = play_team(
        "llm:m?preset=rush,manual=off,answer=schema", lambda r: {"action": 0}, "KitchenRush-v0", **options
    )
    assert not any("What you did last" in text or "Already chosen" in text for text in client.last)
    listed = client.last[0].split("Actions:\n")[1].splitlines()
    assert listed[0].startswith("0. {'action_type': 'TAKE_INGREDIENTS'") and "NO_ACTION" in listed[15]
    assert '"action": <number from 0 to 15>' in client.last[0]
    assert client.asked[0].schema["properties"]["action"]["enum"] == list(range(16))
    assert record.steps[0].events[0].event == "TAKE_INGREDIENTS" and record.steps[0].events[1].order != ""
    _, other = play_team("llm:m?order=game", lambda r: {"action": 2}, "KitchenRush-v0", scenario="easy", max_cycles=6)
    assert any("What you did last" in text for text in other.last), "elsewhere as before"
    assert any("Already chosen" in text for text in other.last)


def test_presets_own_options_are_no_deviation_from_their_papers() -> None:
    kwargs = {"scenario": "hard", **registry.presets()["rush"].options}
    for team, further, left in (
        (["llm:m?preset=rush"] * 2, {}, set()),
        (["llm:m?preset=rush"] * 2, {"reward": "shaped", "mask": "safe"}, {"reward", "mask"}),
        (["llm:m"] * 2, {}, {"texts", "mask"}),
        (["llm:m?preset=mindagent"] * 2, {}, {"texts", "mask"}),
        (["greedy"] * 2, {}, {"texts", "mask"}),
    ):
        seats = {f"agent_{seat}": spec for seat, spec in enumerate(team)}
        played = {"scenario": "hard", "round": 0, "max_turns": 10, "max_cycles": 20, "orders": []}
        record = record_of(env_id="KitchenRush-v0", env_kwargs={**kwargs, **further}, team=seats, **played)
        assert set(deviations(record, variant_of(record))) == left
