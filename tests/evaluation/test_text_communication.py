"""Text messages of teams whose messages are known: obeyed, ignored, of people, and of language models."""

from __future__ import annotations

import numpy as np
import pytest
from support.endpoints import serving

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation import text_communication
from collab_overcooked.evaluation.communication import measure_communication
from collab_overcooked.evaluation.communication_card import communication_card
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.api import Decision, Message, PolicyBase, as_decision
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.records import dump_line, parse_record
from collab_overcooked.runner.teaching import play_series
from collab_overcooked.runner.teams import Team, make_team

EPISODES = 24


@pytest.fixture(autouse=True)
def game(monkeypatch, request):
    """Import the example, which registers itself, and forget it again; specs of the tests are no registered ones."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "docs" / "examples"))
    before = list(registry.GAMES)
    import signal_game

    registry.register_game(signal_game.RECORD)
    monkeypatch.setattr(text_communication, "PolicySpec", Spec)
    yield signal_game
    registry.GAMES[:] = before


class Spec:
    def __init__(self, kind):
        self.kind = kind

    @classmethod
    def parse(cls, text):
        return cls("human" if text == "person" else "")


class Player(PolicyBase):
    """agent_1 asks for the number in the first step, and names what it has been told; agent_0 answers."""

    def __init__(self, name):
        self.name = name

    def reset(self, seat, info, seed):
        self.rng = np.random.default_rng([seed, seat])

    def act(self, seen):
        guess = int(self.rng.integers(1, 5))
        told = [int(m.say[-2]) for _, m in seen.past_messages if m.agent == 0 and m.say[-2:-1].isdigit()]
        say = "Which number?" if seen.timestep == 0 and self.name != "mute" else ""
        return Decision(action=told[-1] if told and self.name != "deaf" else guess, say=say)

    def reply(self, seen):
        if seen.seat == 1:
            return None
        return Message(0, f"It is {seen.scene['number']}." if self.name != "babbling" else "Who knows", "")


def records_of(speaker, listener, names=None, limits=None):
    env = collab_overcooked.make("Signal-v0")
    team = make_team((speaker, listener), Player)
    team = Team(names or team.specs, team.policies)
    records = [play_episode(env, team, seed, limits=limits) for seed in range(100, 100 + EPISODES)]
    return [parse_record(dump_line(record), "test") for record in records]


def measured(*team, **options):
    (one,) = measure_communication(records_of(*team, **options), Player)
    return one


def test_answers_that_are_used_are_worth_what_they_tell():
    one = measured("telling", "asking")
    assert one.returns["with"].value > 9
    assert one.returns["muted"].value < 4 and one.values["muted"].mean.low > 4
    assert one.values["scrambled"].mean.low > 3
    named = one.signalling["agent_0", "number, name in it"]
    kind = one.signalling["agent_0", "number, kind of message"]
    assert named.p < 0.01 and named.symbols == 5 and named.information > 0.15
    assert kind.p > 0.05 and kind.information < 0.01
    assert one.words == (5 * EPISODES, 0, None)
    assert not one.listening


@pytest.mark.parametrize("team", [("telling", "deaf"), ("babbling", "asking")])
def test_answers_that_are_not_used_are_worth_nothing(team):
    one = measured(*team)
    for name in ("muted", "scrambled"):
        assert (one.values[name].mean.value, one.values[name].higher, one.values[name].lower) == (0, 0, 0)


def test_what_limits_let_nobody_hear_is_worth_nothing():
    one = measured("telling", "asking", limits=Limits(messages_to="nobody"))
    assert one.values["muted"].mean.value == 0 and "limits.messages_to" in one.title


def test_messages_of_people_are_measured_without_playing_again():
    one = measured("telling", "asking", names=("person", "asking"))
    assert list(one.returns) == ["with"] and not one.values
    assert one.signalling["agent_0", "number, name in it"].p < 0.01
    card = communication_card(one)
    assert [table.title for table in card.tables] == ["Value of communication", "Positive signalling", "Words"]
    assert any("people cannot be asked again" in note for note in card.notes)


def test_who_says_nothing_and_has_no_channel_is_refused():
    with pytest.raises(ValueError, match="without a channel, and nobody said anything"):
        measured("telling", "mute")


class Chatterer(PolicyBase):
    """Plays like greedy with a share of random actions and talks in every step; listens to nobody."""

    needs_simulator = True

    def __init__(self, name):
        self.name, self.player = name, make_known_policy("noisy:0.3:greedy")

    def reset(self, seat, info, seed):
        self.player.reset(seat, info, seed)

    def act(self, seen):
        answer = as_decision(self.player.act(seen))
        return Decision(action=answer.action, plan=answer.plan, say="Well, well.")


@pytest.mark.parametrize(
    "env_id, options", [("CuisineWorld-v0", {"level": "level_3", "agents": 2}), ("CraftKitchen-v0", {})]
)
def test_later_episodes_of_a_series_are_played_again_as_they_were(env_id, options):
    """Their orders go on from those before, and the seeds of policies are their own."""
    env, team = collab_overcooked.make(env_id, **options), make_team(("one", "two"), Chatterer)
    records = play_series(env, team, 5, [("orders", k) for k in range(3)], score=lambda record: {})
    records = [parse_record(dump_line(record), "test") for record in records]
    assert len({episode_return([step.rewards for step in record.steps]) for record in records}) > 1
    (one,) = measure_communication(records, Chatterer)
    for name in ("muted", "scrambled"):
        assert (one.values[name].mean.value, one.values[name].higher, one.values[name].lower) == (0, 0, 0)


def test_one_episode_is_not_enough():
    with pytest.raises(ValueError, match="at least 2 episodes"):
        list(measure_communication(records_of("telling", "asking")[:1], Player))


class Model:
    """The chef says what its recipe needs; the helper fetches an egg if it reads the word."""

    def complete(self, request):
        question = request.turns[-1].content
        if "Recipe:" in question:
            say = "We cook mushrooms." if "ushroom" in question.partition("Recipe:")[2] else "We cook an egg."
            return Reply(f"analysis: x\nplan: wait(5)\nsay: {say} [END]")
        return Reply("analysis: x\nplan: wait(1)\nsay: [NOTHING]")


def test_language_models_are_asked_again_and_recipes_are_private_states():
    make, records = policy_maker(Client(Model().complete)), []
    for k in range(8):
        task = ("boiled_egg", "boiled_mushroom")[k % 2]
        env = collab_overcooked.make("CollabOvercooked-v0", task=task, max_cycles=6)
        record = play_episode(env, make_team(("llm:m", "llm:m"), make), k, task=task)
        records.append(parse_record(dump_line(record), "test"))
    (one,) = measure_communication(records, make)
    named = one.signalling["Bob", "recipe, name in it"]
    assert named.symbols == 3 and named.states == 2 and named.p < 0.05
    assert set(one.returns) == {"with", "muted", "scrambled"}
    assert ("Alice", "recipe, name in it") not in one.signalling


def run_command(words):
    with pytest.raises(SystemExit) as done:
        app(words)
    assert done.value.code == 0


def test_the_command_asks_models_again_at_their_endpoint(tmp_path, capsys, monkeypatch):
    """As documented; nothing is written to the run."""

    def script(asked):
        say = "Cook it." if "Recipe:" in asked["messages"][-1]["content"] else "[NOTHING]"
        return f"analysis: x\nplan: wait(5)\nsay: {say}"

    monkeypatch.setattr(text_communication, "PolicySpec", PolicySpec)
    run = tmp_path / "talk"
    with serving(script) as server:
        reach = ["--base-url", server.url]
        chosen = ["--tasks", "boiled_egg", "--episodes", "2", "--set", "max_cycles=3", "--out", str(run)]
        run_command(["evaluate", "collab-overcooked", "--team", "all=llm:m", *chosen, *reach])
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        asked = len(server.asked)
        capsys.readouterr()
        run_command(["communication", str(run), *reach, "--format", "json"])
        assert len(server.asked) > asked
    shown = capsys.readouterr().out
    assert "muted" in shown and "scrambled" in shown and "kind of message" in shown and "words per delivery" in shown
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
