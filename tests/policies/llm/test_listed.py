"""Numbered lists of actions: their order tells nothing, and answers by position alone score like random ones."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.covers import first

import collab_overcooked as co
from collab_overcooked import registry
from collab_overcooked.evaluation.compare.run import compare
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.blind_rules import RULES
from collab_overcooked.policies.listed import ActionList, in_order
from collab_overcooked.policies.specs import make_policy

pytest.importorskip("jinja2", reason="needs the extra llm")
NUMBERED = re.compile(r"^(\d+)\. (\S+.*)$", re.MULTILINE)
EPISODES = {
    "collab-capture": 60,
    "collab-escape": 60,
    "craft": 8,
    "rush": 20,
    "transport": 4,
}  # others: those of the small budget
# What a rule is better for, see Threats to validity: no button costs points, and thieves are caught on the move.
CONSTANT = tuple(f"always:{rule}" for rule in (*range(1, 7), *RULES) if rule != "random")
KNOWN = {("overcooked-v2", "grounded_coord_simple", policy) for policy in CONSTANT}
KNOWN |= {("collab-capture", "code2024", "always:never-idle")}
BUTTON = {"CollabCapture-v0": "lettered", "CollabEscape-v0": "numbered"}


def lists(client: Any) -> list[list[str]]:
    """Return the texts of all lists that a model read."""
    prompts = (request.turns[-1].content.rpartition("Actions:")[2] for request in client.asked)
    return [[text for _, text in NUMBERED.findall(prompt)] for prompt in prompts]


@pytest.mark.parametrize("agent", ["choose", "choose,channel=tools", "coela,two_stage=off,talk=off", "roco,rounds=off"])
@pytest.mark.parametrize("env_id", first(co.registered(), 2))
def test_lists_are_drawn_and_reproducible(play_team: Any, agent: str, env_id: str) -> None:
    spec = f"llm:m?agent={agent}"

    def answer(request: Any) -> Any:
        if not request.tools:
            return {"action": 1}
        (action,) = request.tools[0]["parameters"]["properties"].values()
        return {"calls": [{"name": "act", "arguments": {"action": action["enum"][0]}}]}

    record, client = play_team(spec, answer, env_id, max_cycles=4)
    again, same = play_team(spec, answer, env_id, max_cycles=4)
    assert lists(client) == lists(same)
    assert [step.actions for step in record.steps] == [step.actions for step in again.steps]
    _, plain = play_team(f"{spec},order=game", answer, env_id, max_cycles=4)
    assert sorted(lists(client)[0]) == sorted(lists(plain)[0]) and lists(client) != lists(plain)
    for request, texts in zip(client.asked, lists(client), strict=True):
        if request.tools:
            (action,) = request.tools[0]["parameters"]["properties"].values()
            assert action["enum"] == texts


def test_tools_of_partners_are_drawn(play_team: Any) -> None:
    reply = {"calls": [{"name": "act", "arguments": {"action": "wait(1)"}}]}
    enums = []
    for order in ("shuffled", "game"):
        _, client = play_team(f"llm:m?channel=tools,order={order}", lambda request: reply, max_cycles=4)
        tools = [tool["parameters"]["properties"] for request in client.asked for tool in request.tools]
        enums.append([tool["action"].get("enum") for tool in tools if "action" in tool])
    drawn, plain = enums
    assert drawn != plain and [sorted(texts or ()) for texts in drawn] == [sorted(texts or ()) for texts in plain]


@pytest.mark.parametrize(("position", "answer"), [("1", 1), ("2", 2), ("3", 3), ("40", 40), ("nothing", "hm")])
@pytest.mark.parametrize("env_id", first(list(dict.fromkeys(["KitchenRush-v0", "Overcooked-v0", *co.registered()])), 2))
def test_position_policies_play_as_a_model_with_that_answer(
    play_team: Any, env_id: str, position: str, answer: Any
) -> None:
    record, _ = play_team("llm:m?agent=choose", lambda request: {"action": answer}, env_id, max_cycles=25)
    mates = {seat: make_policy(f"always:{position}") for seat in range(len(record.team))}
    other, client = play_team("llm:m?agent=choose", lambda request: "", env_id, mates=mates, max_cycles=25)
    assert [step.actions for step in record.steps] == [step.actions for step in other.steps]
    assert not client.asked


REPEATABLE = [rule for rule in RULES if rule not in ("random", "nothing")]


@pytest.mark.parametrize("rule", REPEATABLE)
@pytest.mark.parametrize("env_id", first(["Transport-v0", *co.registered()]))
def test_blind_rules_choose_what_they_say(play_team: Any, env_id: str, rule: str) -> None:
    """A rule plays by the lists, the state's text and what it was offered and chose before."""
    spec = f"always:{rule}"
    env = co.make(env_id)
    record, _ = play_team([spec] * env.game.n_agents, lambda request: "", env_id, max_cycles=8)
    again, _ = play_team([spec] * env.game.n_agents, lambda request: "", env_id, max_cycles=8)
    assert [step.actions for step in record.steps] == [step.actions for step in again.steps]
    policy, env = make_policy(spec), co.make(env_id)
    env.reset(seed=0)
    policy.reset(0, EnvInfo(env.game.id, env.game, "", (spec,) * env.game.n_agents), 0)
    seen = AgentView.of(env.game, *env.arrays, 0)
    listed = ActionList(env.game, 0, "game").options(seen)
    count = len(set(listed.values()))
    chosen = [int(policy.act(seen)) for _ in range(2 * count)]
    said, busy = (
        re.findall(r"\w+", seen.text.lower()),
        [t for t, action in listed.items() if action != seen.idle_action],
    )
    mentions = {text: sum(map(said.count, set(re.findall(r"\w+", text.lower())))) for text in listed}
    if rule == "never-idle":
        assert seen.idle_action not in chosen
    elif rule == "never-repeat":
        assert all(one != other for one, other in pairwise(chosen))
    elif rule == "alphabetical":
        assert set(chosen) == {listed[min(listed)]}
    elif rule == "longest":
        assert set(chosen) <= {listed[text] for text in busy if len(text) == max(map(len, busy))}
    elif rule == "most-mentioned":
        assert set(chosen) <= {action for text, action in listed.items() if mentions[text] == max(mentions.values())}
    elif rule == "round-robin" and seen.view.wait_until_changed is None:
        assert sorted(chosen[:count]) == sorted(listed.values())
        assert chosen[:count] == chosen[count:]


def options_of(*texts: str) -> dict[str, int]:
    return {text: action for action, text in enumerate(texts, start=1)}


def test_the_newest_and_the_rarest_action_are_chosen(start: Any, see: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    game = registry.load_game("Overcooked-v0")
    seen = see(game, start(game), 0)
    lists = [options_of("take an onion", "take a dish", "put it down"), options_of("take a dish", "serve", "wait now")]
    chosen = {}
    monkeypatch.setattr(ActionList, "goes_on_waiting", lambda *_: False)
    for rule in ("newest", "rarest"):
        policy = make_policy(f"always:{rule}")
        policy.reset(0, EnvInfo(game.id, game, "", (f"always:{rule}",) * 2), 0)
        ready = iter(lists)
        monkeypatch.setattr(ActionList, "options", lambda self, seen, ready=ready: next(ready))
        chosen[rule] = [policy.act(seen) for _ in lists]
    assert chosen == {"newest": [1, 2], "rarest": [3, 1]}


@pytest.mark.parametrize("text", ["", "0", "x", "2,sorted", "-1", "never"])
def test_other_positions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="policy 'always' must be written"):
        make_policy(f"always:{text}")


@pytest.mark.parametrize("env_id", ["KitchenRush-v0", "AlienRush-v0", "CollabCapture-v0", "CollabEscape-v0"])
def test_labels_of_the_texts_of_games_are_drawn_and_mean_what_they_say(env_id: str) -> None:
    options = {"menu": BUTTON[env_id]} if env_id in BUTTON else {}
    env, plain = (co.make(env_id, order=order, **options) for order in ("shuffled", "game"))
    orders = []
    for seed in range(3):
        env.reset(seed=seed)
        plain.reset(seed=seed)
        for _ in range(6):
            agent = env.agents[0]
            read = [re.findall(r"^(\w+)\. (.+)$", one.describe(agent), re.MULTILINE) for one in (env, plain)]
            assert sorted(text for _, text in read[0]) == sorted(text for _, text in read[1])
            assert [label for label, _ in read[0]] == [label for label, _ in read[1]]
            for label, text in read[0]:
                assert env.parse(label, agent) == env.parse(text, agent)
            orders.append(read[0] == read[1])
            actions = {name: int(env.game.idle_action(0)) for name in env.agents}
            env.step(actions)
            plain.step(actions)
            if not env.agents:
                break
    assert sum(orders) < len(orders) / 2


def test_every_order_is_drawn_equally_often(start: Any, see: Any) -> None:
    game = registry.load_game("CollabOvercooked-v0")
    seen = see(game, start(game), 1)
    counts = [in_order("abc", "shuffled", seed, seen).index("a") for seed in range(3000)]
    assert all(900 < counts.count(position) < 1100 for position in range(3))
    assert in_order("abc", "game", 0, seen) == ["a", "b", "c"]


@pytest.mark.nightly
@pytest.mark.parametrize("game", registry.first_suites())
def test_no_constant_answer_beats_random_choice(game: str, tmp_path: Path) -> None:
    comparison = compare(
        [*CONSTANT, "always:random"], [game], tmp_path, episodes=EPISODES.get(game), seed=31, crossplay=False, workers=1
    )
    board = comparison.leaderboards[0]
    sign = -1 if board.benchmark.lower_is_better else 1
    by_policy = {line.policy: line.scores for line in board.lines}
    for policy in CONSTANT:
        for setting, score in by_policy[policy].items():
            if (game, setting, policy) in KNOWN:
                continue
            drawn = by_policy["always:random"][setting]
            assert score is not None and drawn is not None
            worst = min(sign * (end if end is not None else score.value) for end in (score.low, score.high))
            best = max(sign * (end if end is not None else drawn.value) for end in (drawn.low, drawn.high))
            assert worst <= best, (setting, policy, score, drawn)
