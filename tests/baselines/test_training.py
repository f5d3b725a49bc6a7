"""Training with tiny budgets: it learns what is easy, goes on to the same result, and exports what it learned."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from collab_overcooked import registry
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.pbt import read_pbt_settings
from collab_overcooked.baselines.population import read_population_settings
from collab_overcooked.baselines.rollouts import Rollouts, observation_scale
from collab_overcooked.baselines.settings import (
    TrainingSettings,
    load_game,
    read_config,
    settings_from,
    shipped_configs,
)
from collab_overcooked.baselines.train_logger import TrainLogger, read_log
from collab_overcooked.baselines.training import Training, is_finished, train
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.policies.policy_file import read_policy

SMALL = {"environments": 16, "rollout": 20, "batch_size": 128, "epochs": 2, "trunk": (16,), "heads": (16,)}
COOKING = TrainingSettings(env="CuisineWorld-v0", options={"level": "level_1", "agents": 2}, steps=1600, **SMALL)
PICTURES = TrainingSettings(
    env="Overcooked-v0", options={"layout": "cramped_room", "axes": "chw"}, steps=1600, convolutions=(4,), **SMALL
)


REMEMBERING = COOKING.with_values({"memory": "gru:8", "sequence": 10, "batch_size": 160})
KINDS = [pytest.param(COOKING, id="dense"), pytest.param(REMEMBERING, id="memory", marks=pytest.mark.nightly)]


def weights(training: Training) -> list[torch.Tensor]:
    return [tensor for learner in training.learners for tensor in learner.network.state_dict().values()]


def first_inputs(network, observations) -> Inputs:
    """Return observations of the first steps of episodes as the input of a network."""
    yes = torch.ones(len(observations), dtype=torch.bool)
    state = torch.zeros(len(observations), network.memory.size if network.memory else 0)
    return Inputs(torch.from_numpy(observations), state, yes, yes, torch.zeros(len(yes), 0))


def quiet(settings, folder, **more):
    return train(settings, folder, bar=False, **more)


@pytest.fixture
def state_of_torch():
    """Three threads and a generator that was used before; both are to stay as they are."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    yield
    kept = torch.get_num_threads()
    torch.set_num_threads(before)
    assert kept == 3 and torch.equal(torch.get_rng_state(), state)


@pytest.mark.usefixtures("state_of_torch")
def test_a_training_leaves_torch_as_it_was(tmp_path):
    settings = COOKING.with_values({"steps": 640, "evaluate_every": 320, "evaluation_games": 1})
    quiet(settings, tmp_path)
    training = Training(settings)
    training.update()


def test_a_training_does_not_depend_on_the_state_of_torch():
    trainings, before = [], torch.get_num_threads()
    for threads, seed in ((1, 0), (3, 99)):
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        training = Training(COOKING)
        training.update()
        trainings.append(training)
    torch.set_num_threads(before)
    assert all(map(torch.equal, *map(weights, trainings)))


@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize("shared", ["shared", "own"])
def test_each_learner_trains_and_exports_a_policy_for_each_set_of_weights(tmp_path, masks, shared):
    outcome = quiet(COOKING.with_values({"masks": masks, "weights": shared, "steps": 640}), tmp_path)
    assert outcome.steps == 640
    assert len(outcome.policies) == (1 if shared == "shared" else 2)
    meta = read_policy(outcome.policies[0]).meta
    assert (meta["algorithm"], meta["steps"], meta["seed"]) == ("ppo", 640, 0)
    assert meta["score"]["games"] == 100
    assert [line["steps"] for line in read_log(tmp_path)] == [320, 640]


def test_numbers_that_are_zero_in_a_whole_rollout_change_no_gradient():
    """Columns that are left out of the first product: the same loss, and gradients of 0 where they were left out."""
    training = Training(PICTURES.with_values({"convolutions": (), "batch_size": 640}))
    training.rollouts.collect(training.learners, 1.0)
    network, rollout = training.learners[0].network, training.learners[0].rollout
    used, gradients, judged = rollout.used_columns(), [], []
    assert len(used) < rollout.observations[0, 0].size / 2
    observations = rollout.observations.reshape(640, -1)
    assert set(used.tolist()) == set(np.argwhere(observations.any(0)).ravel().tolist())
    for every in (False, True):
        network.reads_columns = not every
        inputs, actions, *_ = next(rollout.minibatches(torch.Generator()))
        assert (inputs.columns is None) == every
        log_probs, values, _ = network(inputs)
        log_probs = log_probs.gather(-1, actions[:, None]).squeeze(-1)
        training.learners[0].optimizer.gradient.zero_()
        (values.sum() + log_probs.sum()).backward()
        judged.append(torch.cat([values, log_probs]))
        gradients.append([weight.grad.clone() for weight in network.parameters()])
    assert torch.allclose(*judged, atol=1e-5)
    assert all(torch.allclose(one, other, atol=1e-3) for one, other in zip(*gradients, strict=True))
    others = np.setdiff1d(np.arange(gradients[1][0].shape[1]), used)
    assert not gradients[1][0][:, others].any() and gradients[0][0][:, used].any()


@pytest.mark.parametrize("settings", KINDS)
def test_a_resumed_folder_holds_the_same_policy_and_one_line_for_each_update(tmp_path, monkeypatch, settings):
    settings = settings.with_values({"checkpoint_every": 2})
    quiet(settings, tmp_path / "whole")
    update = Training.update

    def interrupted(training):
        if training.updates == 3:
            raise KeyboardInterrupt
        return update(training)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Training, "update", interrupted)
        quiet(settings, tmp_path / "cut")
    assert len(read_log(tmp_path / "cut")) == 3  # the checkpoint is of the second
    quiet(settings, tmp_path / "cut")
    assert [line["update"] for line in read_log(tmp_path / "cut")] == [1, 2, 3, 4, 5]
    one, other = (read_policy(tmp_path / name / "policy.npz") for name in ("whole", "cut"))
    for (_, weight, bias), (_, same_weight, same_bias) in zip(one.network.layers, other.network.layers, strict=True):
        assert np.array_equal(weight, same_weight) and np.array_equal(bias, same_bias)
    assert one.meta["score"] == other.meta["score"]


@pytest.mark.parametrize(("seconds", "kept"), [(0, 3), (1e9, None)])
def test_a_checkpoint_is_written_when_the_last_one_is_old(tmp_path, monkeypatch, seconds, kept, caplog):
    """A training of fewer updates than ``checkpoint_every`` keeps its work too."""
    update = Training.update

    def interrupted(training):
        if training.updates == 3:
            raise KeyboardInterrupt
        return update(training)

    settings = COOKING.with_values({"checkpoint_seconds": seconds})
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Training, "update", interrupted)
        quiet(settings, tmp_path)
    quiet(settings, tmp_path)
    assert caplog.messages == ([f"{tmp_path}: {320 * kept:,} of 1,600 steps are there, continuing"] if kept else [])


def test_going_on_hides_from_tensorboard_what_came_after_the_checkpoint_and_nothing_else(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    entry = {"return": 1.0, "steps_per_second": 1.0}
    with TrainLogger(tmp_path, 960, bar=False) as logger:
        for steps in (320, 640, 960):
            logger.write({"steps": steps, **entry})
    (first,) = (tmp_path / "tensorboard").iterdir()
    first.rename(first.with_name("events.out.tfevents.0"))  # files are read in the order of their names
    with TrainLogger(tmp_path, 960, updates=2, bar=False) as logger:
        logger.write({"steps": 960, **entry, "return": 2.0})
    board = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in board.Scalars("return")] == [(320, 1.0), (640, 1.0), (960, 2.0)]


def test_resuming_with_other_settings_is_refused(tmp_path):
    quiet(COOKING.with_values({"steps": 320}), tmp_path)
    with pytest.raises(ValueError, match="steps was 320, now 160; it can only be extended"):
        quiet(COOKING.with_values({"steps": 160}), tmp_path)
    with pytest.raises(ValueError, match=r"gamma was 0\.99, now 0\.5"):
        quiet(COOKING.with_values({"gamma": 0.5}), tmp_path)
    (tmp_path / "checkpoint.pt").unlink()  # as if it had been stopped before the first
    with pytest.raises(ValueError, match=r"gamma was 0\.99, now 0\.5"):
        quiet(COOKING.with_values({"gamma": 0.5}), tmp_path)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(ValueError, match=r"holds policy\.npz of something else"):
        quiet(COOKING, tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "checkpoint.pt").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ValueError, match="is not a checkpoint of this kind of training"):
        quiet(COOKING, tmp_path)


@pytest.mark.parametrize("settings", [COOKING, PICTURES, REMEMBERING], ids=["dense", "convolutions", "memory"])
def test_the_exported_network_is_the_trained_one(settings):
    training = Training(settings)
    network = training.learners[0].network
    with torch.no_grad():
        network.policy_head[-1].weight.mul_(100)  # otherwise all logits are nearly 0 at the start
    shape = training.game.single_observation_space.shape
    observations = np.random.default_rng(0).integers(0, 3, (6, *shape)).astype(np.uint8)
    (file,) = training.export()
    with torch.no_grad():
        expected, _, _ = network(first_inputs(network, observations))
    logits = torch.from_numpy(file.network.logits(observations))
    assert torch.allclose(logits.log_softmax(-1), expected, atol=1e-4) and expected.std() > 0.01


def test_masked_learners_never_take_a_refused_action():
    training = Training(COOKING)
    training.rollouts.collect(training.learners, 0.0)
    rollout = training.learners[0].rollout
    assert np.take_along_axis(rollout.masks, rollout.actions[..., None], -1).all() and not rollout.masks.all()


def test_it_stops_at_the_target_return(tmp_path):
    settings = COOKING.with_values({"target_return": -3.0, "steps": 16_000, "environments": 64})
    outcome = quiet(settings, tmp_path)
    assert outcome.reached and outcome.mean_return >= -3.0
    assert outcome.steps < settings.steps


def test_learning_improves_the_return():
    training = Training(COOKING.with_values({"environments": 64, "rollout": 60, "batch_size": 512, "steps": 80_000}))
    training.update()
    first = training.mean_return
    while not training.over:
        training.update()
    assert training.mean_return > first + 0.5


def test_a_frozen_partner_from_a_file_holds_the_other_seat(tmp_path):
    quiet(COOKING.with_values({"steps": 320}), tmp_path / "partner")
    partner = str(tmp_path / "partner" / "policy.npz")
    settings = COOKING.with_values({"partners": (partner,), "steps": 640})
    outcome = quiet(settings, tmp_path / "run")
    assert outcome.score is None and len(outcome.policies) == 1
    with pytest.raises(ValueError, match="sees observations of shape"):
        Training(settings.with_values({"options": {"level": "level_4", "agents": 2}}))


@pytest.mark.parametrize("settings", KINDS)
def test_a_training_can_start_from_a_policy(tmp_path, settings):
    quiet(settings.with_values({"steps": 320}), tmp_path)
    start = str(tmp_path / "policy.npz")
    (begun,) = Training(settings.with_values({"start": start, "seed": 5})).export()
    for (_, weight, bias), (_, same, same_bias) in zip(
        begun.network.layers, read_policy(tmp_path / "policy.npz").network.layers, strict=True
    ):
        assert np.array_equal(weight, same) and np.array_equal(bias, same_bias)
    with pytest.raises(ValueError, match=r"trunk: \[8\] is set, start=.*policy.npz has \[16\]; leave it out"):
        Training(settings.with_values({"start": start, "trunk": [8]}))
    with pytest.raises(ValueError, match="start: its layers are"):
        Training(settings.with_values({"start": start, "options": {"level": "level_4", "agents": 2}}))
    training = Training(settings.with_values({"start": start}))
    training.save(tmp_path / "begun.pt")
    (other,) = training.export()
    other.save(tmp_path / "policy.npz")  # with another origin
    with pytest.raises(ValueError, match="the file that it started from changed; restore what was there"):
        Training(training.settings).load(tmp_path / "begun.pt")


SIZES = [
    {},
    {"trunk": [16, 8], "heads": [12], "activation": "tanh"},
    {"trunk": [], "heads": [12]},
    {"trunk": [12], "heads": []},
    {"trunk": [16], "heads": [12, 8], "memory": "gru:8"},
    {"trunk": [], "heads": [], "memory": "gru:8"},
    {"history": 2, "trunk": [8], "heads": [8]},
    {"options": PICTURES.options, "env": PICTURES.env, "convolutions": [4], "trunk": [8], "heads": [8]},
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_training_has_the_sizes_of_the_policy_that_it_starts_from(tmp_path, sizes):
    values = {"env": COOKING.env, "options": COOKING.options, "steps": 320, "environments": 16, "rollout": 16}
    values |= {name: sizes[name] for name in ("env", "options") if name in sizes}
    (file,) = Training(TrainingSettings(**values | sizes)).export()
    file.save(tmp_path / "policy.npz", np.float32)
    values["start"] = str(tmp_path / "policy.npz")
    for given in ({}, sizes):
        (begun,) = Training(TrainingSettings(**values | given)).export()
        layers = zip(begun.network.layers, file.network.layers, strict=True)
        assert all(
            np.array_equal(one, same) for pair in layers for one, same in zip(*(p[1:] for p in pair), strict=True)
        )
    others = {"trunk": [5], "heads": [5], "activation": "elu", "memory": "gru:5", "history": 3, "convolutions": [5]}
    for name, other in others.items():
        with pytest.raises(ValueError, match=rf"^{name}: .* is set, start="):
            TrainingSettings(**values | {name: other})


@pytest.mark.parametrize("settings", KINDS)
def test_the_value_learns_before_a_policy_leaves_its_start_and_the_divergence_holds_it(tmp_path, settings):
    settings = settings.with_values({"steps": 320 * 6, "learning_rate": 0.01, "final_learning_rate": 0.01})
    training = Training(settings)
    training.update()
    training.export()[0].save(tmp_path / "policy.npz", np.float32)
    values = {"start": str(tmp_path / "policy.npz"), "value_updates": 2, "seed": 7}
    left = []
    for weight in (0.0, 100.0):
        begun = Training(settings.with_values({**values, "start_kl": weight, "final_start_kl": weight}))
        start = begun.export()[0].network
        for update in range(6):
            value = weights(begun)[-1].clone()
            begun.update()
            assert not torch.equal(value, weights(begun)[-1])
            now = begun.export()[0].network
            same = [np.array_equal(one[1], other[1]) for one, other in zip(start.layers, now.layers, strict=True)]
            assert all(same) if update < 2 else not any(same)
        seen = begun.learners[0].rollout.observations[0]
        chances = [torch.from_numpy(network.logits(seen)).softmax(-1) for network in (start, now)]
        left.append((chances[0] - chances[1]).abs().mean().item())
    assert left[1] < left[0] / 2


@pytest.mark.parametrize("name", ["value_updates", "start_kl", "final_start_kl"])
def test_what_holds_a_policy_to_its_start_needs_one(name):
    with pytest.raises(ValueError, match=f"^{name}: there is no policy to start from"):
        COOKING.with_values({name: 1})


def test_a_training_of_an_earlier_version_goes_on(tmp_path):
    quiet(COOKING.with_values({"steps": 320}), tmp_path)
    path = tmp_path / "settings.json"
    settings = json.loads(path.read_text())
    for name in ("value_updates", "start_kl", "final_start_kl"):
        del settings[name]
    path.write_text(json.dumps(settings))
    assert is_finished(COOKING.with_values({"steps": 320}), tmp_path)
    (tmp_path / "checkpoint.pt").unlink()
    assert quiet(COOKING.with_values({"steps": 320}), tmp_path).steps == 320


@pytest.mark.parametrize("sequence", [1, 7, 10, 16, 60, 100])
def test_a_sequence_that_does_not_fit_is_refused_with_values_that_do(sequence):
    values = {"env": COOKING.env, "options": COOKING.options, "steps": 320, "memory": "gru:8", "sequence": sequence}
    if 64 % sequence == 0:
        assert TrainingSettings(**values).gradient_steps == sequence
        return
    with pytest.raises(ValueError, match=f"^sequence={sequence} does not divide rollout=64") as refused:
        TrainingSettings(**values)
    advised = dict(re.findall(r"(\w+)=(\d+)", str(refused.value).partition(";")[2]))
    assert set(advised) == {"rollout", "sequence"}
    for name, value in advised.items():
        TrainingSettings(**values | {name: int(value)})


def test_gradient_steps_take_the_whole_sequences_that_fit_into_a_batch():
    training = Training(REMEMBERING.with_values({"batch_size": 128}))  # no multiple of 10
    training.rollouts.collect(training.learners, 1.0)
    sizes = [len(batch.actions) for batch in training.learners[0].rollout.minibatches(training.generator)]
    assert sum(sizes) == 2 * 640 and max(sizes) == 120 and not any(size % 10 for size in sizes)


def test_first_episodes_end_at_different_times():
    rollouts = Rollouts(COOKING, registry.load_game(COOKING.env, **COOKING.options), [])
    assert rollouts.counted.sum() == 1  # one of 16 environments plays its first episode to the end
    learner = Training(COOKING).learners
    for _ in range(3):
        rollouts.collect(learner, 0.0)
    steps = rollouts.batch.state.clock[:, 0]
    assert len(set(steps.tolist())) > 8


def test_an_episode_that_was_cut_off_goes_on_in_value():
    training = Training(COOKING.with_values({"weights": "own"}))
    rewards = np.zeros(32, np.float32)
    cut_off = np.zeros(16, np.bool_)
    cut_off[3] = True
    with torch.inference_mode():
        training.rollouts._bootstrap_truncated(training.learners, rewards, cut_off)
    observations = training.rollouts.batch.out.observations
    values = [
        learner.network(first_inputs(learner.network, observations[3, seat][None]))[1].item()
        for seat, learner in enumerate(training.learners)
    ]
    assert rewards[6:8] == pytest.approx(np.array(values) * 0.99)
    assert not rewards[:6].any() and not rewards[8:].any()


def test_features_are_scaled_to_at_most_one():
    game = registry.load_game(COOKING.env, **COOKING.options)
    scale = observation_scale(game, 0, by_channel=False)
    assert scale.shape == game.single_observation_space.shape and scale.dtype == np.float32
    assert 0 < scale.min() < 0.1 and scale.max() == 1.0
    with pytest.raises(ValueError, match="convolutions: observations must be"):
        Training(COOKING.with_values({"convolutions": (4,)}))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"masks": "yes"}, "masks must be true or false, not 'yes'"),
        ({"device": "cudo"}, "device must be one of auto, cpu, cuda, not 'cudo'"),
        ({"threads": 0}, "threads must be an integer of at least 1, not 0"),
        ({"checkpoint_seconds": -1}, "checkpoint_seconds must be a number of at least 0, not -1"),
        ({"steps": 0}, "steps must be an integer of at least 1, not 0"),
        ({"learning_rate": "1e-3"}, "learning_rate must be a number of at least 0, not '1e-3'"),
        ({"trunk": [0]}, "trunk[0] must be an integer of at least 1, not 0"),
        ({"trunk": 8}, "trunk must be a list of entries, for example [8], not 8"),
        ({"partners": "a.npz"}, "partners must be a list of entries, for example ['a.npz'], not 'a.npz'"),
        ({"env": "CuisineWord-v0"}, "did you mean CuisineWorld-v0"),
        ({"weights": "own", "partners": ["a"]}, "'own' is for self-play"),
        ({"learning_rat": 1.0}, "did you mean learning_rate"),
        ({"copy_rate": 1.5}, "copy_rate must be a number from 0 to 1, not 1.5"),
        ({"copy_share": 1.5}, "copy_share must be a number from 0 to 1, not 1.5"),
        ({"priority": 1.0}, "priority: there are no partners"),
        ({"partner_noise": 0.1}, "partner_noise: there are no partners"),
        ({"preferences": [{}]}, "they need weights='own'"),
        ({"weights": "own", "preferences": [{"dish_pickup": "x"}]}, "dish_pickup must be a number, not 'x'"),
        ({"memory": "lstm:8"}, "memory must be gru:SIZE, such as gru:64, not 'lstm:8'"),
        ({"memory": "gru:8", "rollout": 20}, "sequence=16 does not divide rollout=20; set rollout=32 or sequence=20"),
        ({"critic": "centre"}, "critic must be one of central, concat, local, not 'centre'"),
        ({"history": 99}, "history must be at most 16, not 99"),
        ({"history": 5, "convolutions": [4]}, "past actions are no picture"),
        ({"weights": "own", "kept_policies": 3}, "one policy is kept at a time"),
    ],
)
def test_bad_settings_are_refused_by_name(values, text):
    with pytest.raises(ValueError) as error:
        settings_from(TrainingSettings, {"env": "CuisineWorld-v0", "steps": 10, **values})
    assert text in str(error.value)


def test_configurations_that_are_shipped_are_whole():
    loaded = set()
    for name in shipped_configs():
        values = read_config(name)
        if "population" in values:
            _, settings = read_pbt_settings({**values, "start": ""})
        elif "grid" in values:
            _, settings = read_population_settings({**values, "method": "hsp"})
        else:
            settings = settings_from(TrainingSettings, {**values, "start": ""})  # which another training writes first
        game = (settings.env, json.dumps(settings.options, sort_keys=True))
        if game not in loaded:  # several configurations train in one kitchen
            registry.load_game(settings.env, **settings.options)
        loaded.add(game)


def test_configurations_of_ones_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("env: CuisineWorld-v0\nsteps: 10\n")
    assert settings_from(TrainingSettings, read_config(str(path))).steps == 10
    path.write_text("- 1\n")
    with pytest.raises(ValueError, match="holds `key: value` lines, not list"):
        read_config(str(path))
    with pytest.raises(ValueError, match="cannot read configuration file"):
        read_config(str(tmp_path / "none.yaml"))
    with pytest.raises(ValueError, match="env is missing"):
        settings_from(TrainingSettings, {"steps": 1})


def test_settings_go_through_json():
    again = json.loads(json.dumps(COOKING.to_dict()))
    assert settings_from(TrainingSettings, again).to_dict() == again


@pytest.mark.parametrize("env", ["KitchenRush-v0", "AlienRush-v0", "CollabCapture-v0", "Overcooked-v0", "Transport-v0"])
def test_shorter_games_end_in_every_kind_of_game(env):
    batch = BatchEnv(load_game(env, {"max_cycles": 3}), 2)
    batch.reset(seed=0)
    steps = 0
    while not batch.over.all():
        batch.step(batch.out.masks.argmax(-1))
        steps += 1
    assert steps == 3 == batch.game.max_cycles


def test_episodes_of_a_training_can_be_shorter(tmp_path):
    settings = COOKING.with_values({"options": {**COOKING.options, "max_cycles": 9}})
    training = Training(settings)
    training.rollouts.collect(training.learners, 0.0)
    batch = training.rollouts.batch
    assert batch.game.max_cycles == 9 and batch.state.clock[:, 0].max() <= 9
    assert registry.load_game(COOKING.env, **COOKING.options).max_cycles > 9
    train(settings, tmp_path)
    assert read_policy(tmp_path / "policy.npz").meta["env_kwargs"] == batch.game.kwargs, "it plays games of any length"
    with pytest.raises(ValueError, match="max_cycles must be a positive integer"):
        Training(COOKING.with_values({"options": {"max_cycles": 0}}))
