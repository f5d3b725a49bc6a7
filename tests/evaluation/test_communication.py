"""Communication of teams whose messages are known: mute, babbling, with a fixed code, and not listened to."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.evaluation import communication
from collab_overcooked.evaluation.communication import measure_communication
from collab_overcooked.evaluation.communication_card import communication_card
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.api import Decision
from collab_overcooked.policies.policy_file import REFUSED
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.policies.trained import NetworkPolicy
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.teaching import play_series
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import check_game

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
EPISODES, NUMBERS = 40, 4


@pytest.fixture(autouse=True)
def game(monkeypatch):
    """Import the example, which registers itself, and forget it again."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    before = list(registry.GAMES)
    import signal_game

    registry.register_game(signal_game.RECORD)
    yield signal_game
    registry.GAMES[:] = before


class Speaker:
    """Says what its kind says; acts by chance."""

    speaks = True

    def __init__(self, name):
        self.name = name

    def reset(self, seat, info, seed):
        self.rng, self.acts = np.random.default_rng([seed, seat]), info.game.quiet.n_actions

    def act(self, seen):
        act = int(self.rng.choice(np.flatnonzero(seen.mask[: self.acts])))
        babble = int(self.rng.integers(1, NUMBERS + 1))
        symbol = {"mute": 0, "deaf": 0, "babbling": babble}[self.name]
        return act + symbol * self.acts

    def reply(self, seen):
        return None


class Network(NetworkPolicy):
    """Names what it hears with a probability, and anything else with equal ones; says nothing."""

    name, speaks = "network", True

    def __init__(self, follows):
        super().__init__({}, "sample")
        self.follows = follows

    def logits(self, observations):
        heard = observations[:, -NUMBERS:].astype(np.float64)
        named = np.where(heard.any(1, keepdims=True), self.follows * heard, 0) + (1 - self.follows) / NUMBERS
        shares = np.full((len(observations), 5 * (NUMBERS + 1)), np.exp(REFUSED))
        shares[:, 1:5] = np.where(heard.any(1, keepdims=True), named, 1 / NUMBERS)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(shares), REFUSED).astype(np.float32)


def maker(spec):
    if spec.startswith("network"):
        return Network(float(spec.partition("=")[2]))
    return make_known_policy(spec) if spec == "greedy" else Speaker(spec)


def measured(*team, make=maker, **options):
    env = collab_overcooked.make("Signal-v0", **{"channel": NUMBERS, **options})
    seats = make_team(team, make)
    records = [play_episode(env, seats, seed) for seed in range(100, 100 + EPISODES)]
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:  # specs of test policies are no registered ones
        patch.setattr("collab_overcooked.evaluation.communication.PolicySpec", NoSpec)
        (one,) = measure_communication(records, make)
    return one, records


class NoSpec:
    kind = ""

    @classmethod
    def parse(cls, text):
        return cls()


def test_the_example_conforms_with_and_without_a_channel():
    assert check_game("Signal-v0", episodes=1).ok and check_game("Signal-v0", episodes=1, channel=NUMBERS).ok


def test_a_fixed_code_has_all_bits_and_is_worth_what_naming_pays():
    one, records = measured("greedy", "greedy")
    numbers = np.bincount([json.loads(str(r.steps[1].actions[0] // 5)) for r in records], minlength=5)[1:] / EPISODES
    signal = one.signalling["agent_0", "number"]
    assert signal.information == pytest.approx(signal.entropy) == pytest.approx(-(numbers * np.log2(numbers)).sum())
    assert signal.p < 0.01 and list(one.signalling) == [("agent_0", "number")]
    listener = one.listening["agent_1"]
    assert listener.exchanged == 1 and 0.6 < listener.muted < 0.9 and listener.divergence is None
    assert one.returns["with"].value > 9 and one.values["muted"].mean.low > 6 and one.values["scrambled"].mean.low > 4


@pytest.mark.parametrize("kind", ["mute", "babbling", "deaf"])
def test_messages_of_no_use_are_worth_nothing(kind):
    """Also said by the fixed code to a listener that ignores it: equal digit for digit."""
    team = ("greedy", kind) if kind == "deaf" else (kind, kind)
    one, _ = measured(*team)
    for difference in one.values.values():
        assert (difference.mean.value, difference.higher, difference.lower) == (0, 0, 0)
    listener = one.listening["agent_1"]
    assert listener.exchanged == (None if kind == "mute" else 0) and not listener.muted
    signal = one.signalling["agent_0", "number"]
    if kind == "mute":
        assert (signal.symbols, signal.entropy, signal.information, signal.p) == (1, 0, 0, 1)
    elif kind == "babbling":
        assert signal.information < 0.05 and signal.p > 0.05 and signal.entropy > 1.9


@pytest.mark.parametrize("follows", [0, 0.5, 1])
def test_networks_are_measured_by_their_probabilities(follows):
    """Exchanged messages move the share that follows; against silence, a quarter of it would have been named anyway."""
    one, _ = measured("greedy", f"network={follows}")
    listener = one.listening["agent_1"]
    assert listener.exchanged == pytest.approx(follows, abs=1e-5)
    assert listener.muted == pytest.approx(0.75 * follows, abs=1e-5)
    assert (listener.divergence < 1e-6) == (follows == 0) and listener.divergence <= 1


def run_cli(*words):
    """Run a command in a process of its own, whose commands include those of the plug-in."""
    done = subprocess.run(
        [sys.executable, "-m", "collab_overcooked", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_command_plays_a_run_again_and_prints_its_tables(tmp_path):
    run = tmp_path / "signal"
    plugin = ["--import", str(EXAMPLES / "signal_game.py")]
    team = ["--team", "all=greedy", "--set", "channel=4", "--episodes", "10"]
    run_cli(*plugin, "evaluate", "signal", *team, "--out", str(run), "--no-report")
    printed = run_cli(*plugin, "communication", str(run)).stdout
    for word in ("Value of communication", "Positive signalling", "Positive listening", "scrambled", "number"):
        assert word in printed
    (card,) = json.loads(run_cli(*plugin, "communication", str(run), "--format", "json").stdout)
    assert [row["messages"] for row in card["data"]] == ["with", "muted", "scrambled"]


@pytest.mark.slow
def test_a_network_trained_with_a_channel_speaks(tmp_path):
    plugin = ["--import", str(EXAMPLES / "signal_game.py")]
    hyper = ["--hyper", "environments=8", "rollout=10", "batch_size=32"]
    trained = tmp_path / "trained"
    run_cli(*plugin, "train", "ppo", "Signal-v0", "--set", "channel=4", "--steps", "160", *hyper, "--out", str(trained))
    policy, run = f"all=ppo:{trained / 'policy.npz'}", tmp_path / "run"
    options = ["--team", policy, "--set", "channel=4", "--episodes", "4", "--no-report"]
    run_cli(*plugin, "evaluate", "signal", *options, "--out", str(run))
    (card,) = json.loads(run_cli(*plugin, "communication", str(run), "--format", "json").stdout)
    listening = next(table for table in card["tables"] if table["title"] == "Positive listening")
    assert all(0 <= row["exchanged"] <= 1 and row["divergence, bits"] is not None for row in listening["rows"])


@pytest.mark.slow
def test_a_network_with_memory_is_measured_in_a_game_with_limited_sight(tmp_path):
    hyper = ["--hyper", "memory=gru:8", "environments=8", "rollout=10", "sequence=5", "batch_size=40"]
    options, trained, run = ["--set", "channel=4", "sight=room"], tmp_path / "trained", tmp_path / "run"
    steps = ["--steps", "160", "--seeds", "0", "1", "--workers", "1"]
    run_cli("train", "ppo", "CollabEscape-v0", *options, *steps, *hyper, "--out", str(trained))
    team = ["--team", f"all=ppo:{trained / 'seed_1' / 'policy.npz'}", *options, "--episodes", "2", "--no-report"]
    run_cli("evaluate", "collab-escape", *team, "--out", str(run))
    (card,) = json.loads(run_cli("communication", str(run), "--format", "json").stdout)
    listening = next(table for table in card["tables"] if table["title"] == "Positive listening")
    assert all(0 <= row["exchanged"] <= 1 and row["divergence, bits"] is not None for row in listening["rows"])


def test_later_episodes_of_a_series_are_played_again_as_they_were(monkeypatch):
    """Their orders go on from those before, and the seeds of policies are their own."""
    env = collab_overcooked.make("CuisineWorld-v0", level="level_3", agents=2, channel=NUMBERS)
    team = make_team(("greedy", "babbling"), maker)
    monkeypatch.setattr("collab_overcooked.evaluation.communication.PolicySpec", NoSpec)
    records = play_series(env, team, 5, [("orders", k) for k in range(3)], score=lambda record: {})
    returns = [episode_return([step.rewards for step in record.steps]) for record in records]
    assert len(set(returns)) > 1
    (one,) = measure_communication(records, maker)
    assert one.returns["with"].value == pytest.approx(np.mean(returns))


@pytest.mark.parametrize(
    ("game", "axis", "values", "steps"),
    [
        ("CollabOvercooked-v0", "task", ["boiled_egg", "zucchini_green_pea_and_onion_patty"], 18),
        ("OvercookedV2-v0", "layout", ["cramped_room_v2", "demo_cook_simple"], 100),
    ],
)
def test_episodes_of_each_task_or_layout_are_played_again_in_their_own(game, axis, values, steps):
    records = []
    for value in values:
        env = collab_overcooked.make(game, channel=NUMBERS, max_cycles=steps, **{axis: value})
        records += [play_episode(env, make_team(["say:random:greedy"] * 2), seed) for seed in (0, 1)]
    returns = [episode_return([step.rewards for step in record.steps]) for record in records]
    assert len(set(returns)) > 1
    (one,) = measure_communication(records)
    assert one.returns["with"].value == pytest.approx(np.mean(returns))


def test_the_return_has_one_definition_in_all_conditions(monkeypatch):
    """Or equal episodes would differ in their last bits."""
    monkeypatch.setattr(communication, "episode_return", lambda rewards: 7.0)
    one, _ = measured("greedy", "greedy")
    assert {name: returns.value for name, returns in one.returns.items()} == {"with": 7, "muted": 7, "scrambled": 7}


def test_seats_are_named_as_in_the_first_episode(monkeypatch):
    """Whichever episode was played last, whose task or layout may have other names."""

    class Renamed(communication.EditedChannel):
        @property
        def display_names(self):
            return tuple(f"{name} in {self.quiet.kwargs['layout']}" for name in super().display_names)

    monkeypatch.setattr(communication, "EditedChannel", Renamed)
    layouts, records = ["cramped_room_v2", "demo_cook_simple"], []
    for layout in layouts:
        env = collab_overcooked.make("OvercookedV2-v0", channel=NUMBERS, max_cycles=5, layout=layout)
        records.append(play_episode(env, make_team(["say:random:greedy"] * 2), 0))
    (one,) = measure_communication(records)
    assert all(name.endswith(f" in {layouts[0]}") for name in one.listening)


class Heeding(Speaker):
    """Waits without feedback, and answers at the second attempt only."""

    def act(self, seen):
        if not seen.feedback:
            return 0
        return Decision(plan="nonsense") if seen.error is None else super().act(seen)


@pytest.mark.parametrize("max_corrections", [0, 1])
@pytest.mark.parametrize("feedback", [(), ("Name it.", "Name it.")])
def test_limits_and_feedback_of_a_record_hold_when_it_is_played_again(max_corrections, feedback, monkeypatch):
    monkeypatch.setattr("collab_overcooked.evaluation.communication.PolicySpec", NoSpec)
    env, limits = collab_overcooked.make("Signal-v0", channel=NUMBERS), Limits(max_corrections=max_corrections)
    team = make_team(("deaf", "deaf"), Heeding)
    records = [play_episode(env, team, seed, limits=limits, feedback=feedback) for seed in range(8)]
    returns = [episode_return([step.rewards for step in record.steps]) for record in records]
    assert any(returns) == bool(feedback and max_corrections)
    (one,) = measure_communication(records, Heeding)
    assert one.returns["with"].value == pytest.approx(np.mean(returns))


def test_what_cannot_be_measured_is_named():
    env = collab_overcooked.make("Signal-v0")
    silent = [play_episode(env, make_team(["greedy", "greedy"]), seed) for seed in (0, 1)]
    with pytest.raises(ValueError, match="without a channel"):
        list(measure_communication(silent))
    env = collab_overcooked.make("Signal-v0", channel=2)
    random = [play_episode(env, make_team(["random", "random"]), seed) for seed in (0, 1)]
    with pytest.raises(ValueError, match="no policy of all=random speaks"):
        list(measure_communication(random))
    with pytest.raises(ValueError, match="at least 2 episodes"):
        list(measure_communication(random[:1]))


def test_a_card_has_a_table_for_each_measure():
    one, _ = measured("greedy", "greedy", channel_noise=0.2)
    assert [table.title for table in communication_card(one).tables] == [
        "Value of communication",
        "Positive signalling",
        "Positive listening",
    ]


def test_cards_say_what_a_return_is():
    """Also of text messages, whose notes are others."""
    one, _ = measured("greedy", "greedy", channel_noise=0.2)
    for result in (one, replace(one, notes=("People cannot be asked again.",))):
        assert any("sum of the rewards of an episode" in note for note in communication_card(result).notes)
