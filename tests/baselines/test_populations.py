"""Populations, egos, responses and state-augmented self-play with tiny budgets: what they write, and going on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.baselines import population as population_module
from collab_overcooked.baselines.checkpoints import checkpoint_of, kept_policies, last_checkpoint
from collab_overcooked.baselines.ego import e3t_settings, train_responses
from collab_overcooked.baselines.max_entropy import LOWEST, EntropyBonus, train_together
from collab_overcooked.baselines.partners import met_partners, read_partners
from collab_overcooked.baselines.population import (
    PopulationSettings,
    event_rates,
    member_settings,
    play_all_seats,
    read_population_settings,
    run_population,
)
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.state_augmented import RoundSettings, collect_states, read_round_settings, run_rounds
from collab_overcooked.baselines.training import Training, train
from collab_overcooked.cli import app
from collab_overcooked.evaluation.partner_pool import read_partner_pool
from collab_overcooked.evaluation.partner_scores import FILE
from collab_overcooked.io.documents import Document
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.policy_file import REFUSED, policy_path, read_policy

OPTIONS = {"layout": "coordination_ring", "obs": "features"}
SMALL = {"environments": 16, "rollout": 20, "batch_size": 160, "epochs": 1, "trunk": (8,), "heads": (8,)}
RING = TrainingSettings(env="Overcooked-v0", options=OPTIONS, steps=640, **SMALL)
VALUES = {"env": "Overcooked-v0", "options": OPTIONS, "steps": 640, **SMALL}
GRID = {"onion_pickup": [-10, 0, 3], "soup_delivery": [-20, 0], "reward": [0.1, 1]}
TWO = PopulationSettings(members=2, scoring_games=2)


def document(**values):
    return Document("test", {**VALUES, **values}, {})


def files_of(folder, pattern):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob(pattern))}


def same_networks(one, other):
    first, second = (read_policy(path).network.layers for path in (one, other))
    return all(np.array_equal(a[1], b[1]) and np.array_equal(a[2], b[2]) for a, b in zip(first, second, strict=True))


@pytest.fixture(scope="module")
def fcp(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fcp")
    run_population(TWO, RING, folder, bar=False)
    return folder


def test_fictitious_co_play_writes_a_pool_of_three_skills(fcp):
    pool = read_partner_pool(fcp / "pool.yaml")  # checks files and digests
    names = [f"member_{k}_{skill}" for k in (0, 1) for skill in ("untrained", "middle", "last")]
    assert [partner.name for partner in pool.partners] == names
    assert {(partner.family, partner.split) for partner in pool.partners} == {("selfplay", "train")}
    files = kept_policies(fcp / "member_0")
    steps = [read_policy(policy_path(pool.spec(p).removeprefix("ppo:"))).meta["steps"] for p in pool.partners]
    assert steps[0] == 0 and steps[2] == 640 and 0 < steps[1] < 640 and len(files) == 3
    seeds = [member.seed for member in member_settings(TWO, RING.with_values({"seed": 3}))]
    assert seeds == [3000, 3001]


def test_a_stopped_population_goes_on_to_the_same_pool(fcp, tmp_path, monkeypatch, caplog):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        done = []

        def stops(settings, folder, **more):
            if done:
                raise KeyboardInterrupt
            done.append(folder)
            return train(settings, folder, **more)

        patch.setattr(population_module, "train", stops)
        run_population(TWO, RING, tmp_path, bar=False)
    assert not (tmp_path / "pool.yaml").exists() and (tmp_path / "member_0").exists()
    caplog.clear()
    run_population(TWO, RING, tmp_path, bar=False)
    assert sum("left" in line for line in caplog.messages) == 1  # the second member alone was trained
    partners = [read_partner_pool(folder / "pool.yaml").partners for folder in (fcp, tmp_path)]
    assert partners[0] == partners[1]  # digests included
    with pytest.raises(ValueError, match=r"gamma was 0\.99, now 0\.5"):
        run_population(TWO, RING.with_values({"gamma": 0.5}), tmp_path, bar=False)


def test_preferring_members_are_chosen_and_know_their_best_response(tmp_path, monkeypatch):
    monkeypatch.setattr(population_module, "MIN_RETURN", -1.0)  # nobody delivers a soup after 640 steps
    hsp = PopulationSettings(method="hsp", members=3, chosen=2, grid=GRID, scoring_games=2)
    members = member_settings(hsp, RING)
    assert len({json.dumps(member.preferences[0]) for member in members}) == 3
    assert all(member.weights == "own" and member.preferences[1] == {} for member in members)
    path = run_population(hsp, RING, tmp_path, bar=False)
    partners = read_partner_pool(path).partners
    assert len(partners) == 2 and {partner.family for partner in partners} == {"preference"}
    assert all(partner.policy.endswith("policy_0.npz") for partner in partners)
    assert all(partner.best.by.endswith("policy_1.npz") and partner.best.games == 4 for partner in partners)
    monkeypatch.setattr(population_module, "MIN_RETURN", 1e9)
    with pytest.raises(ValueError, match="no member earns more than"):
        run_population(hsp, RING, tmp_path, bar=False)


MEP = PopulationSettings(method="mep", members=2, scoring_games=2, alpha=0.5)


def interrupt_after(patch, count):
    update, updates = Training.update, []

    def interrupted(training):
        if len(updates) == count:
            raise KeyboardInterrupt
        updates.append(1)
        return update(training)

    patch.setattr(Training, "update", interrupted)


def test_members_that_learn_together_are_those_of_fcp_without_a_bonus(fcp, tmp_path):
    """Each member's random numbers are its own, whoever is updated before it."""
    members = member_settings(replace(MEP, alpha=0.0), RING)
    assert members == member_settings(TWO, RING)
    train_together(members, 0.0, tmp_path, command="", bar=False)
    assert files_of(tmp_path, "member_*/policies/*.npz") == files_of(fcp, "member_*/policies/*.npz")


@pytest.mark.parametrize("masks", [True, False])
def test_the_bonus_is_minus_the_log_of_the_mean_probability(masks):
    one, other = (Training(RING.with_values({"seed": seed, "masks": masks})) for seed in (0, 1))
    with np.errstate(all="raise"):
        one.update()
    rollout = one.learners[0].rollout
    bonus = EntropyBonus([training.learners[0].network for training in (one, other)], 0.25)(rollout)
    probabilities = []
    for training in (one, other):
        logits = training.export()[0].network.logits(rollout.observations.reshape(-1, 96)).reshape(20, 32, -1)
        logits = np.where(rollout.masks, logits, REFUSED) if masks else logits
        powers = np.exp(logits - logits.max(-1, keepdims=True))
        probabilities.append(powers / powers.sum(-1, keepdims=True))
    t, row = 7, 12
    by_hand = -0.25 * np.log(np.mean([p[t, row, rollout.actions[t, row]] for p in probabilities]))
    assert bonus.shape == (20, 32) and bonus[t, row].item() == pytest.approx(by_hand, rel=1e-4) and by_hand > 0.1


def test_the_bonus_is_paid_to_learners_and_not_reported():
    plain, paid = (Training(RING) for _ in range(2))
    paid.rollouts.bonus = lambda rollout: np.full_like(rollout.rewards, 3.0)
    entries = [training.update() for training in (plain, paid)]
    rewards = [training.learners[0].rollout.rewards for training in (plain, paid)]
    assert np.allclose(rewards[1] - rewards[0], 3.0)
    assert np.array_equal(plain.rollouts.sums, paid.rollouts.sums) and entries[0]["return"] == entries[1]["return"]
    assert entries[0]["value_loss"] != entries[1]["value_loss"]


def test_the_bonus_of_an_impossible_action_is_bounded():
    training = Training(RING)
    training.update()
    network = training.learners[0].network
    network.policy_head[-1].bias.data[:] = 0.0
    network.policy_head[-1].bias.data[2] = -1e4
    rollout = training.learners[0].rollout
    rollout.actions[...] = 2
    assert np.allclose(EntropyBonus([network], 1.0)(rollout), -np.log(LOWEST))


@pytest.mark.nightly
def test_a_stopped_population_of_members_that_learn_together_goes_on_to_the_same_pool(tmp_path, monkeypatch, caplog):
    ring = RING.with_values({"checkpoint_every": 1})
    full = run_population(MEP, ring, tmp_path / "full", bar=False)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_after(patch, 3)  # the first member is a round ahead
        run_population(MEP, ring, tmp_path / "cut", bar=False)
    assert checkpoint_of(tmp_path / "cut", 1, 1).exists()
    caplog.clear()
    cut = run_population(MEP, ring, tmp_path / "cut", bar=False)
    assert caplog.messages[0].startswith("round 2: returns ")
    assert [path.name for path in sorted((tmp_path / "cut").rglob("round_*.pt"))] == ["round_2.pt"] * 2
    partners = [read_partner_pool(path).partners for path in (full, cut)]
    assert partners[0] == partners[1] and {partner.family for partner in partners[0]} == {"population"}
    assert [partner.name.rpartition("_")[2] for partner in partners[0]] == ["untrained", "middle", "last"] * 2
    logs = [(tmp_path / name / "member_0" / "log.jsonl").read_text().count("\n") for name in ("full", "cut")]
    assert logs == [2, 2]
    with pytest.raises(ValueError, match=r"alpha was 0\.5, now 0\.1"):
        run_population(replace(MEP, alpha=0.1), ring, tmp_path / "cut", bar=False)
    with pytest.raises(ValueError, match=r"alpha was 0\.5, now None"):
        run_population(TWO, ring, tmp_path / "cut", bar=False)


def test_the_last_checkpoint_is_one_of_all_members(tmp_path):
    assert last_checkpoint(tmp_path, 2) == 0
    for member, number in ((0, 9), (0, 10), (0, 11), (1, 9), (1, 10)):  # stopped while the members of 11 were written
        checkpoint_of(tmp_path, member, number).parent.mkdir(exist_ok=True)
        checkpoint_of(tmp_path, member, number).touch()
    assert last_checkpoint(tmp_path, 2) == 10 and last_checkpoint(tmp_path, 3) == 0


def test_event_rates_are_those_of_the_policy_in_each_seat():
    game = registry.load_game(RING.env, **OPTIONS)
    file = read_policy(policy_path("coordination_ring"))
    games = play_all_seats(game, file, [file], 3, 5)
    assert [one.events.shape for one in games] == [(3, 2, len(game.event_names))] * 2
    assert np.allclose(event_rates(games), (games[0].events[:, 0].mean(0) + games[1].events[:, 1].mean(0)) / 2)
    served = games[0].events[..., 15].sum(1)  # soup_delivery
    assert served.sum() > 0 and np.array_equal(games[0].returns, 20.0 * served)


def test_an_ego_of_the_pool_met_all_its_partners(fcp, tmp_path):
    settings = RING.with_values({"pool": [str(fcp / "pool.yaml")], "history": 5})
    outcome = train(settings, tmp_path, bar=False)
    file = read_policy(outcome.policies[0])
    pool = read_partner_pool(fcp / "pool.yaml")
    assert {met.sha256 for met in file.met} == {partner.sha256 for partner in pool.partners}
    assert len(pool.met_by(file, file_digest(outcome.policies[0]))) == 6
    assert met_partners(read_partners(settings, registry.load_game(RING.env, **OPTIONS))) == list(file.met)


def test_responses_fill_the_best_of_the_pool(fcp, tmp_path, caplog):
    result = tmp_path / "pool"
    result.mkdir()
    text = (fcp / "pool.yaml").read_text().replace("ppo:member", f"ppo:{fcp}/member")
    (result / "pool.yaml").write_text(
        text.replace(
            "partners:",
            "partners:\n- {name: late, policy: 'late:9', family: scripted}\n"
            "- {name: planner, policy: planner, family: search}",
        ).replace("episodes: 100", "episodes: 4")
    )
    path = train_responses(document(), str(result / "pool.yaml"), tmp_path / "out", bar=False)
    pool = read_partner_pool(path)
    assert (
        path == result / "pool.yaml" and caplog.messages[0] == "left out, as they play one episode at a time: planner"
    )
    assert pool.partner("planner").best is None
    for partner in (one for one in pool.partners if one.name != "planner"):
        assert partner.best.games == 4 and partner.best.by.endswith(f"out/{partner.name}/policy.npz")
        met = read_policy(tmp_path / "out" / partner.name / "policy.npz").met
        assert [one.policy for one in met] == ["late:9" if partner.name == "late" else partner.name]
    lines = [json.loads(line) for line in (tmp_path / "out" / FILE).read_text().splitlines()]
    assert {(line["kind"], line["partner"]) for line in lines} == {
        ("best", one.name) for one in pool.partners if one.name != "planner"
    }, "each response plays beside its partner alone"


def test_e3t_plays_beside_its_noisy_copy_unless_told_otherwise():
    settings = e3t_settings(document())
    assert (settings.copy_rate, settings.partner_noise) == (0.1, 0.3)
    assert e3t_settings(document(partner_noise=0.5)).partner_noise == 0.5


ROUNDS = RoundSettings(seeds=2, rounds=2, buffer_games=2, every=50)


def test_states_of_all_pairs_are_kept_at_equal_distances():
    game = registry.load_game(RING.env, **OPTIONS)
    files = [read_policy(policy_path("coordination_ring")), read_policy(policy_path("bc_coordination_ring"))]
    states, returns = collect_states(game, files, ROUNDS, 7)
    assert len(states.rng) == 4 * 2 * 8  # pairs, games, every 50th of 400 steps
    assert sorted(set(states.clock[:, 0].tolist())) == list(range(0, 400, 50))
    assert returns[1, 0] == play_games(game, [files[1], files[0]], 2, 7 + 2).returns.mean()


@pytest.mark.nightly
def test_stopped_rounds_go_on_to_the_same_policies(tmp_path, monkeypatch):
    full = run_rounds(ROUNDS, RING, tmp_path / "whole")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_after(patch, 2)  # in the second round of the first seed
        run_rounds(ROUNDS, RING, tmp_path / "cut")
    assert checkpoint_of(tmp_path / "cut", 1, 1).exists() and not checkpoint_of(tmp_path / "cut", 0, 2).exists()
    cut = run_rounds(ROUNDS, RING, tmp_path / "cut")
    assert all(same_networks(one, other) for one, other in zip(full, cut, strict=True))
    assert not same_networks(full[0], full[1])
    logs = [(tmp_path / name / "log.jsonl").read_text() for name in ("whole", "cut")]
    lines = [json.loads(line) for line in logs[0].splitlines()]
    assert logs[0] == logs[1] and [line["round"] for line in lines] == [1, 2]
    assert {"return", "cross_play", "worst_pair"} <= set(lines[0])
    with pytest.raises(ValueError, match="rounds was 2, now 3"):
        run_rounds(replace(ROUNDS, rounds=3), RING, tmp_path / "cut")


def test_a_round_starts_from_the_buffer(tmp_path):
    game = registry.load_game(RING.env, **OPTIONS)
    training = Training(RING)
    states, _ = collect_states(game, training.export(), RoundSettings(seeds=1, buffer_games=1, every=150), 0)
    training.rollouts.starts_from = states
    for _ in range(3):
        training.update()
    clock = training.rollouts.batch.state.clock[:, 0]
    assert (clock > 60).any()  # later than any episode that started anew could be
    assert not training.rollouts.returns


@pytest.mark.parametrize(
    ("read", "values", "text"),
    [
        (read_population_settings, {"method": "fpc"}, "method must be one of fcp, hsp, mep"),
        (read_population_settings, {"method": "hsp"}, "grid is missing"),
        (read_population_settings, {"grid": GRID}, "grid is for hsp"),
        (read_population_settings, {"members": 0}, "members must be an integer of at least 1, not 0"),
        (read_population_settings, {"method": "hsp", "grid": {"x": 3}}, "grid.x must be a list"),
        (read_population_settings, {"pool": ["a"]}, "a population has its own"),
        (read_population_settings, {"method": "mep", "alpha": -1}, "alpha must be a number of at least 0, not -1"),
        (read_population_settings, {"method": "mep", "memory": "gru:16", "sequence": 10}, "memory: members of mep"),
        (read_round_settings, {"rounds": 0}, "rounds must be an integer of at least 1, not 0"),
        (read_round_settings, {"copy_rate": 0.1}, "copy_rate: means nothing to state-augmented self-play"),
        (read_round_settings, {"weights": "own"}, "needs weights='shared'"),
    ],
)
def test_bad_settings_are_refused_by_name(read, values, text):
    with pytest.raises(ValueError) as error:
        read({**VALUES, **values})
    assert text in str(error.value)


def test_events_of_a_grid_must_exist():
    hsp = PopulationSettings(method="hsp", members=1, grid={"onion_pikup": [1]})
    with pytest.raises(ValueError, match="did you mean onion_pickup"):
        member_settings(hsp, RING)


LITTLE = ["--hyper", "environments=16", "rollout=20", "batch_size=160", "epochs=1", "trunk=[8]", "heads=[8]"]


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


def test_the_commands(tmp_path):
    config = ("--config", "coordination_ring", "--steps", 640)
    population = ("train", "population", "--method", "fcp", *config, *LITTLE, "members=1", "scoring_games=2")
    done = run(*population, "--out", tmp_path / "fcp")
    assert done.exit_code == 0 and "member 1 of 1" in done.stderr, done.output
    pool = ("--pool", tmp_path / "fcp" / "pool.yaml")
    for text in (
        ("population", "--method", "mep", *config, *LITTLE, "members=2", "alpha=0.1", "scoring_games=2"),
        ("ego", *pool, "--config", "ego_coordination_ring", "--steps", 640, *LITTLE),
        ("e3t", "--config", "ego_coordination_ring", "--steps", 640, *LITTLE),
        ("sa", *config, *LITTLE, "seeds=1", "rounds=1", "buffer_games=1"),
        ("response", *pool, *config, *LITTLE),
    ):
        done = run("train", *text, "--out", tmp_path / text[0])
        assert done.exit_code == 0 and "written: " in done.stderr, done.output
    assert (tmp_path / "ego" / "curves.csv").exists()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (("train", "ego", "--config", "ego_coordination_ring"), "pool is missing"),
        (("train", "ego", "--config", "ego_coordination_ring", "--pool", "none.yaml"), "none.yaml"),
        (("train", "response", "--config", "coordination_ring"), "name one partner pool"),
        (("train", "population", "--method", "mpe", "--config", "coordination_ring"), "method"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*text)
    assert done.exit_code == 2 and answer in done.stderr and done.stderr.count("\n") == 1
