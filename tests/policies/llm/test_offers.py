"""Prompts offer what has an effect, say why something had none, and show what seats did and said without gaps."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.hidden import reach

import collab_overcooked as co
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.registry import load_game

pytest.importorskip("jinja2", reason="needs the extra llm")

GENERAL = ("choose", "coela", "roco", "capo")


def listed(prompt: str) -> list[str]:
    """Return the actions that a prompt lists, numbered or in a row."""
    row = re.search(r"^Actions that you could begin now: (.+)\.$", prompt, re.MULTILINE)
    return row[1].split("; ") if row else re.findall(r"^\d+\. (.+)$", prompt.partition("Actions:")[2], re.MULTILINE)


def prompts_of(client: Any, game: Any, state: Any, out: Any, kind: str, seat: int = 0) -> list[str]:
    """Return what an agent of a kind is asked in a state."""
    asked = client(lambda request: "")
    game.observe(state, out)
    policy = policy_maker(Client(asked.complete))(f"llm:m?agent={kind},repairs=0")
    policy.reset(seat, EnvInfo(game.id, game, "", ("llm:m",) * game.n_agents), 0)
    policy.act(AgentView.of(game, state, out, seat))
    return [prompt for prompt in asked.last if listed(prompt)]


def repaired(progress: int) -> tuple[Any, Any, Any]:
    """Return Escape with the generator in agent_0's room repaired or not."""
    game = load_game("CollabEscape-v0")
    state, _ = reach(game, 0, 0)
    scene = game.scene(state, 0)
    scene["generators"][0]["progress"] = progress
    return game, *reach(game, 0, 0, {"state": scene})


@pytest.mark.parametrize("kind", GENERAL)
@pytest.mark.parametrize("progress", [0, 2])
def test_repaired_generators_are_not_offered_for_repair(client, kind, progress):
    game, state, out = repaired(progress)
    prompts = prompts_of(client, game, state, out, kind)
    assert prompts
    for prompt in prompts:
        assert ("fix the generator" in listed(prompt)) == (progress == 0)
        assert "go to room 2" in listed(prompt)
    assert ("- fix the generator" in game.describe(state, 0, 0)) == (progress == 0)
    assert out.masks[0, 0, -1] == 1  # the game accepts it as before


def test_fixes_of_a_repaired_generator_have_no_effect():
    """The reason for the test above: state and chances are the same as after waiting."""
    game, state, out = repaired(2)
    after = []
    for action in (0, game.n_actions - 1):
        copy, _ = reach(game, 0, 0, {"state": game.scene(state, 0)})
        game.step(copy, np.array([[action, 0]], np.int32), out)
        scene = game.scene(copy, 0)
        scene["generators"][0]["progress"] = min(scene["generators"][0]["progress"], 2)
        scene["players"][0]["fixing"] = False
        after.append(scene)
    assert after[0] == after[1]


def directive(env: Any, text: str) -> None:
    """Let Alice carry out a directive to its end while Bob waits."""
    game, action = env.game, env.game.action_texts().index(text)
    for _ in range(40):
        env.step({"agent_0": action, "agent_1": game.idle_action(1)})
        action = 0  # continue
        if not env.action_mask("agent_0")[0]:
            return
    raise AssertionError(f"{text} does not end")


def last_directives(env: Any) -> str:
    return re.search(r"^Your last directives: (.+)$", env.game.describe(env.arrays[0], 0, 0), re.MULTILINE)[1]


@pytest.fixture
def full_pot() -> Any:
    """Return LLM-Co's kitchen by the public code's rules, with a pot that cooks."""
    env = co.make("Overcooked-v0", layout="cramped_room", action_level="medium", text_rules="original")
    env.reset(seed=1)
    for _ in range(3):
        directive(env, "take onion from o0")
        directive(env, "put in c0")
        assert "without effect" not in last_directives(env)
    return env


def test_a_directive_that_failed_says_why(full_pot):
    directive(full_pot, "take onion from o0")
    assert "put in c0" in full_pot.game.describe(full_pot.arrays[0], 0, 0).partition("You can:")[2]  # as in the paper
    directive(full_pot, "put in c0")
    reason = "c0 takes nothing right now: it is full, cooking or done"
    assert last_directives(full_pot).endswith(f"put in c0 (without effect: {reason}).")
    directive(full_pot, "wait")
    assert last_directives(full_pot).endswith("put in c0 (without effect), wait.")
    directive(full_pot, "put on k0")
    assert last_directives(full_pot).count("without effect") == 1


def test_soup_that_is_not_ready_says_so(full_pot):
    directive(full_pot, "take dish from p0")
    directive(full_pot, "load soup from c0")
    assert "load soup from c0 (without effect: The soup in c0 will not be ready" in last_directives(full_pot)


@pytest.mark.parametrize(
    ("spec", "offers"),
    [("llm:m?repairs=0", True), ("llm:m?repairs=0,patience=off", False), ("llm:m?repairs=0,preset=llmco", False)],
)
def test_a_long_wait_is_offered_unless_the_paper_is_asked_for(play_team, spec, offers):
    options = {"layout": "cramped_room", "action_level": "medium"}
    _, client = play_team(spec, lambda request: "", "Overcooked-v0", max_cycles=1, **options)
    assert all(("wait until something changes, 20 steps at most" in listed(prompt)) == offers for prompt in client.last)
    assert all("wait" in listed(prompt) for prompt in client.last)


def test_a_long_wait_asks_again_when_something_has_changed(play_team):
    """Alice takes an onion in her first steps; Bob, who waits, is asked again then, and after 20 steps without news."""

    def answer(request):
        texts = listed(request.turns[-1].content)
        if "You are Alice" not in request.turns[0].content:
            return {"action": texts.index("wait until something changes, 20 steps at most") + 1}
        return {"action": 1 + next(k for k, text in enumerate(texts) if text.startswith(("take onion", "wait until")))}

    options = {"layout": "cramped_room", "action_level": "medium"}
    record, client = play_team("llm:m", answer, "Overcooked-v0", max_cycles=60, **options)
    bob = [r.turns[-1].content for r in client.asked if "You are Bob" in r.turns[0].content]
    steps = [int(re.search(r"Step (\d+) of", prompt)[1]) for prompt in bob]
    assert steps[0] == 0 and "Alice holds an onion" in bob[1] and 0 < steps[1] < 10
    assert steps[2] - steps[1] == 20 and len(steps) == 4
    assert {step.action_texts[1] for step in record.steps} == {"wait"}


def test_games_that_do_not_say_what_changes_offer_no_long_wait(play_team):
    for env_id in ("Overcooked-v0", "CollabEscape-v0"):
        _, client = play_team("llm:m", lambda request: "", env_id, max_cycles=1)
        assert not any("until something changes" in prompt for prompt in client.last)


@pytest.mark.parametrize("kind", GENERAL)
@pytest.mark.parametrize(
    ("env_id", "options", "rule"),
    [
        ("CollabOvercooked-v0", {"task": "boiled_egg"}, "fill the dish that you hold"),
        ("CuisineWorld-v0", {"level": "level_0", "agents": 2}, "Put finished dishes on the serving table"),
    ],
)
def test_kitchens_without_a_manual_explain_their_actions(client, kind, env_id, options, rule):
    game = load_game(env_id, **options)
    state, out = reach(game, 0, 0)
    asked = client(lambda request: "")
    policy = policy_maker(Client(asked.complete))(f"llm:m?agent={kind},repairs=0")
    policy.reset(0, EnvInfo(game.id, game, "", ("llm:m",) * game.n_agents), 0)
    policy.act(AgentView.of(game, state, out, 0))
    assert asked.asked and all(rule in request.turns[0].content for request in asked.asked)


def test_the_memory_names_things_and_joins_equal_actions(play_team):
    def answer(request):
        texts = listed(request.turns[-1].content)
        fetch = [k for verb in ("pick up", "check") for k, t in enumerate(texts, start=1) if t.startswith(verb)]
        return {"action": fetch[0] if fetch else min(len(texts), 2)}

    _, client = play_team("llm:m?agent=choose", answer, "Housework-v0", task="set_table", max_cycles=40)
    memories = [m[1] for p in client.last if (m := re.search(r"^What you did last: (.+)\.$", p, re.MULTILINE))]
    assert memories and not any("thing" in memory for memory in memories)
    assert any(re.search(r"pick up [a-z ]+ \d+ \(time \d+", memory) for memory in memories)
    for memory in memories:
        entries = [re.fullmatch(r"(.+) \(time (\d+)(?: to (\d+))?\)", entry) for entry in memory.split("; ")]
        assert len(entries) <= 5
        for one, two in pairwise(entries):
            assert one[1] != two[1] or int(one[3] or one[2]) < int(two[2])


def test_messages_of_earlier_timesteps_are_remembered_by_those_who_opened(play_team):
    """Bob consents with a remark, which ends the conversation: Alice reads it in the next timestep."""

    def answer(request):
        prompt = request.turns[-1].content
        if "joint plan" not in prompt:
            return {"action": 1}
        if "turn to answer" in prompt:
            return {"message": "The cellar is empty.", "Alice": "", "Bob": ""}
        return {"message": "Let us share.", "Alice": "wait", "Bob": "wait"}

    _, client = play_team("llm:m?agent=roco", answer, "Housework-v0", task="set_table", max_cycles=6)
    alice = [r.turns[-1].content for r in client.asked if r.turns[0].content.startswith("You are Alice")]
    assert "Bob: The cellar is empty." not in alice[0]
    assert all("Bob: The cellar is empty." in prompt for prompt in alice[1:]) and len(alice) > 1
