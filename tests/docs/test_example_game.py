"""The example games of the documentation conform; one is played and recorded, trained on, and told in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import MappingProxyType

import pytest
from support.endpoints import serving
from support.records import as_json, from_json

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.training import train
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.agents import from_text
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.reporting.results import score_records
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import replay
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import check_game

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture(autouse=True)
def relay(monkeypatch):
    """Import the example, which registers itself, and forget it again."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    before = list(registry.GAMES)
    import beacon
    import quota
    import relay

    for example in (relay, beacon, quota):
        registry.register_game(example.RECORD)
    yield relay
    registry.GAMES[:] = before


@pytest.mark.parametrize("name", ["beacon", "quota", "relay"])
def test_a_game_takes_150_lines(name):
    assert (EXAMPLES / f"{name}.py").read_text("utf-8").count("\n") <= 150


def test_a_seat_learns_nothing_that_is_hidden_from_it():
    """Wherever the wreck is, the diver has the same observation, mask, text, picture and searches."""
    assert check_game("Beacon-v0", episodes=1).ok
    seen = {0: set(), 1: set()}
    for wreck in range(9):
        env = collab_overcooked.make("Beacon-v0", render_mode="ansi")
        env.reset(seed=0, options={"state": {"wreck": wreck, "chance": {"seed": 3, "draws": 1}}})
        env.step({"agent_0": env.game.parse("left"), "agent_1": env.game.parse("wait")})
        for seat, agent in enumerate(env.agents):
            view = env.game.seen(env.arrays[0], 0, seat)
            numbers = env.arrays[1].observations[0, seat].tolist(), env.action_mask(agent).tolist()
            picture = env.game.render(env.arrays[0], 0, "ansi", seat)
            seen[seat].add(str((numbers, env.describe(agent), view.scene, view.text, view.manual, picture)))
    assert (len(seen[0]), len(seen[1])) == (9, 1) and "wreck: " not in seen[1].pop()


def test_a_search_knows_no_more_than_its_seat():
    game = collab_overcooked.make("Beacon-v0").game
    states = [game.state_of({"wreck": wreck, "chance": {"seed": 3, "draws": 1}}) for wreck in (0, 8)]
    copies = [Simulator(game, state, 1).fork(3, 20).state.bay for state in states]
    assert (copies[0] == copies[1]).all() and len(set(copies[0][:, 0].tolist())) > 1
    env = collab_overcooked.make("Beacon-v0")
    assert len(play_episode(env, make_team(["mcts:simulations=4", "mcts:simulations=4"]), seed=3).steps) == 40


def test_a_guided_diver_finds_the_wreck():
    env = collab_overcooked.make("Beacon-v0")
    env.reset(seed=0, options={"state": {"wreck": 3, "diver": 4}})
    assert follow(env, "left | wait\nwait | left\nwait | act") == [0, 0, 1]
    assert env.events()[1]["event"] == "found" and env.game.check(env.arrays[0], 0, 0, 3)[0] == "F_KEEPER_STAYS"


def test_kernels_get_working_memory_on_demand(relay):
    class Roomy(relay.Relay):
        sizes = MappingProxyType({"scratch": 20})

    assert Roomy().alloc(3)[1].scratch.shape == (3, 20) and relay.Relay().alloc(3)[1].scratch.shape == (3, 0)


def follow(env, message):
    """Play lines of two action texts and return the rewards."""
    paid = []
    for line in message.strip().splitlines():
        texts = [text.strip() for text in line.split("|")]
        actions = {agent: env.game.parse(text) for agent, text in zip(env.agents, texts, strict=True)}
        paid.append(env.step(actions)[1]["agent_0"])
    return paid


def test_it_conforms():
    assert check_game("Relay-v0", episodes=1).ok
    assert check_game("Relay-v0", checks=["masks", "batch", "all_masks"], episodes=1, max_cycles=13).ok


def test_a_parcel_goes_over_the_shelf():
    env = collab_overcooked.make("Relay-v0", render_mode="ansi")
    env.reset(seed=0, options={"state": {"orders": ["blue"]}})
    paid = follow(
        env,
        """
        take blue | left
        right     | left
        right     | take blue
        put       | wait
        wait      | take blue
        left      | right
        left      | right
        take red  | put
        """,
    )
    assert paid == [0] * 7 + [1]  # the first try to take from the empty shelf was refused
    assert env.scene()["served"] == 1 and env.scene()["couriers"]["agent_0"] == {"cell": 0, "holds": "red"}
    assert env.events()[1]["event"] == "delivered" and "served: 1" in env.render()


def test_refusals_have_reasons_and_words_near_matches():
    env = collab_overcooked.make("Relay-v0")
    env.reset(seed=0)
    assert env.game.check(env.arrays[0], 0, 0, 1) == ("F_WALL", "Wall.")
    assert env.game.check(env.arrays[0], 0, 0, 3) == ("OK", "Accepted.")
    with pytest.raises(ValueError, match="did you mean take red"):
        env.game.parse("take rad")


def test_teams_play_it_and_records_replay():
    env = collab_overcooked.make("Relay-v0")
    record = play_episode(env, make_team(["random", "mcts:simulations=4"]), seed=3)
    assert from_json(as_json(record)) == record and len(record.steps) == 40
    *_, last = replay(record)
    assert last.env.scene() == env.scene()


def test_its_suite_plays_and_scores_episodes_with_seeds_of_their_own(tmp_path):
    plan = plan_evaluation("relay", ["all=random"], episodes=30, seed=4, options={"max_cycles": 60})
    records = evaluate(plan, tmp_path, make=make_policy)
    assert len({record.seed for record in records}) == 30 and all(record.timesteps == 60 for record in records)
    returns = [sum(step.rewards[0] for step in record.steps) for record in records]
    (card,) = score_records(records)
    ((game, team, episodes, mean, steps),) = card.tables[0].rows
    assert (game, episodes, steps.value) == ("Relay-v0, max_cycles 60", 30, 60) and "random" in team
    assert 0 < mean.value == pytest.approx(sum(returns) / 30)
    suite = registry.load_suite("Relay-v0")
    assert suite.outcome(records[0]) == f"return {returns[0]:g}" and suite.summary(records).score == mean
    assert suite.benchmark("small").settings[0].suite_options == {"episodes": 5}
    with pytest.raises(ValueError, match="max_stepz"):
        plan_evaluation("relay", ["all=random"], options={"max_stepz": 60})
    with pytest.raises(ValueError, match="episodes must be"):
        plan_evaluation("relay", ["all=random"], episodes=0)


def test_a_language_model_plays_it(monkeypatch):
    """The answer is the first of the numbered actions that brings the order on, as far as one line of text tells."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def script(asked):
        message = asked["messages"][-1]["content"]
        texts = re.findall(r"^\d+\. (.*)$", message, re.MULTILINE)
        order, held = (
            re.search("orders: (red|blue)", message)[1],
            re.search(r"agent_0: cell \d, holds (\w+)", message)[1],
        )
        expected = [f"take {order}", "put", "left" if held == "nothing" else "right"]
        return json.dumps({"action": 1 + next((texts.index(text) for text in expected if text in texts), 0)})

    with serving(script) as server, connect(server.url) as client:
        model = from_text("scripted", client)
        team = make_team(["llm:scripted", "random"], lambda spec: model if spec != "random" else make_policy(spec))
        record = play_episode(collab_overcooked.make("Relay-v0", max_cycles=8), team, seed=0)
    assert len(server.asked) == 8 and "Parcels lie at cell 0" in json.dumps(server.asked[0])
    assert [step.events[0].event for step in record.steps][:4] == ["took", "moved", "moved", "put"]


def test_ppo_learns_it_and_is_evaluated_beside_others(tmp_path):
    settings = TrainingSettings(
        env="Relay-v0",
        steps=150_000,
        environments=64,
        rollout=40,
        batch_size=1280,
        trunk=(64,),
        heads=(32,),
        gamma=0.95,
        target_return=1.5,
    )
    outcome = train(settings, tmp_path, bar=False)
    result = cross_play("Relay-v0", ["random", f"ppo:{outcome.policies[0]}"], episodes=10)
    assert result.cell(1, 1).value > 1 > result.cell(0, 0).value


def test_a_game_with_options_ends_by_its_quota(relay):
    assert check_game("Quota-v0", checks=["ends", "masks", "batch"], episodes=1, quota=1, max_cycles=13).ok
    with pytest.raises(ValueError, match="quota"):
        collab_overcooked.make("Quota-v0", quota=0)
