"""Own networks: exported, named by one word of a team, shown the observation that they were trained on."""

from __future__ import annotations

import textwrap
import zipfile

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.export import export_policy
from collab_overcooked.policies.policy_file import read_policy
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team, parse_seats

ROOM = {"layout": "cramped_room", "max_cycles": 30}


def play(spec, seats=None, **options):
    env = registry.make("Overcooked-v0", **{**ROOM, **options})
    return play_episode(env, make_team(parse_seats([f"all={spec}"], env.game.n_agents)), seed=3)


def actions(record):
    return [step.actions for step in record.steps]


def made_ppo(**options):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    vec = collab_overcooked.make_vec("Overcooked-v0", 4, "sb3", layout="cramped_room", **options)
    return stable_baselines3.PPO("MlpPolicy", vec, n_steps=8, batch_size=32, seed=1, device="cpu")


@pytest.fixture(scope="module")
def ppo():
    return made_ppo(obs="features")


def test_a_space_of_two_observations_is_refused(tmp_path):
    made_ppo().save(tmp_path / "plain.zip")
    with pytest.raises(ValueError, match=r"obs=lossless, obs=lossless,axes=whc all have its space.*zip,obs=lossless,"):
        play(f"sb3:{tmp_path}/plain.zip,greedy")


def test_a_class_in_a_file_gets_the_observation_that_it_declares(tmp_path):
    (tmp_path / "declared_class.py").write_text(
        textwrap.dedent("""
        seen_shapes = set()

        class Mine:
            name = "mine"
            observation = {"obs": "features"}

            def reset(self, seat, info, seed):
                pass

            def act(self, seen):
                seen_shapes.add(seen.observation.shape)
                return seen.idle_action

            def reply(self, seen):
                return None

        class Plain(Mine):
            observation = None
        """)
    )
    play(f"{tmp_path}/declared_class.py:Mine")
    import sys

    shapes = sys.modules["declared_class"].seen_shapes
    assert shapes == {
        registry.load_game("Overcooked-v0", layout="cramped_room", obs="features").single_observation_space.shape
    }
    play(f"{tmp_path}/declared_class.py:Plain", obs="lossless")
    assert len(shapes) == 2


def test_a_file_declares_the_observation_of_its_classes(tmp_path):
    (tmp_path / "declared_file.py").write_text(
        textwrap.dedent("""
        observation = {"layout": "coordination_ring"}

        class Mine:
            name = "mine"

            def reset(self, seat, info, seed):
                pass

            def act(self, seen):
                return seen.idle_action

            def reply(self, seen):
                return None
        """)
    )
    with pytest.raises(ValueError, match=r"'layout' changes Overcooked-v0 itself.* allowed: obs, axes"):
        play(f"{tmp_path}/declared_file.py:Mine")


def test_a_model_plays_as_it_would_predict_whatever_is_shown(ppo, tmp_path):
    """Three formats of one model choose the same actions as the model itself, on another observation."""
    ppo.save(tmp_path / "plain.zip")  # before the export, which adds a description to the model
    export_policy(ppo, tmp_path / "a.npz")
    export_policy(ppo, tmp_path / "a.zip")
    files = ["ppo:{}/a.npz,greedy", "sb3:{}/a.zip,greedy", "sb3:{}/plain.zip,greedy,obs=features"]
    records = [play(file.format(tmp_path), obs="lossless") for file in files]
    assert all(actions(record) == actions(records[0]) for record in records)
    assert actions(play(f"sb3:{tmp_path}/plain.zip,greedy")) == actions(records[0]), "only features have its space"
    env = registry.make("Overcooked-v0", **ROOM, obs="features")
    observations, _ = env.reset(seed=records[0].seed)
    for chosen in actions(records[0]):
        expected = [int(ppo.predict(observations[agent], deterministic=True)[0]) for agent in env.agents]
        assert chosen == expected
        observations, *_ = env.step(dict(zip(env.agents, expected, strict=True)))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_recurrent_model_remembers_as_it_does_when_it_predicts(layers, tmp_path):
    """Weights of the state are large, so that what was remembered changes what is chosen."""
    contrib = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib, of the rl extra")
    import torch

    vec = collab_overcooked.make_vec("Overcooked-v0", 2, "sb3", layout="cramped_room", obs="features")
    options = {"lstm_hidden_size": 32, "n_lstm_layers": layers, "net_arch": [16]}
    model = contrib.RecurrentPPO("MlpLstmPolicy", vec, policy_kwargs=options, n_steps=8, seed=5, device="cpu")
    with torch.no_grad():
        for name, weights in model.policy.lstm_actor.named_parameters():
            weights.normal_(std=2 if "hh" in name else 0.1)
        model.policy.action_net.weight.normal_()
        model.policy.action_net.bias[5] = -1000  # interact, the only action that masks refuse
    specs = [f"sb3:{export_policy(model, tmp_path / 'model.zip')},greedy"]
    if layers == 1:
        specs.append(f"ppo:{export_policy(model, tmp_path / 'model.npz')},greedy")
    else:
        with pytest.raises(ValueError, match=r"its layers are not supported in \.npz files.* write a \.zip file"):
            export_policy(model, tmp_path / "model.npz")
    for spec in specs:
        record = play(spec, obs="lossless")
        env = registry.make("Overcooked-v0", **ROOM, obs="features")
        observations, _ = env.reset(seed=record.seed)
        states, forgot = dict.fromkeys(env.agents), 0
        for step, chosen in enumerate(actions(record)):
            start, expected = np.array([step == 0]), []
            for agent in env.agents:
                seen = observations[agent]
                action, states[agent] = model.predict(seen, states[agent], start, deterministic=True)
                forgot += int(action) != int(model.predict(seen, deterministic=True)[0])
                expected.append(int(action))
            assert chosen == expected
            observations, *_ = env.step(dict(zip(env.agents, expected, strict=True)))
        assert forgot, "a policy that forgets would have played the same"


def test_modes_of_networks(ppo, tmp_path):
    path = export_policy(ppo, tmp_path / "b.zip", mode="greedy")
    assert make_policy(f"sb3:{path}").mode == "greedy"
    assert make_policy(f"sb3:{path},sample").mode == "sample"
    assert read_policy(export_policy(ppo, tmp_path / "b.npz")).mode == "sample"
    with pytest.raises(ValueError, match="unknown mode 'gredy'; did you mean greedy"):
        make_policy(f"sb3:{path},gredy")


def test_masks_hold_for_own_networks(tmp_path):
    """Logits that want a refused action most: it is never chosen."""
    game = registry.load_game("CollabOvercooked-v0", task="boiled_egg")
    size = int(np.prod(game.single_observation_space.shape))
    refused = 5
    bias = np.zeros(game.n_actions)
    bias[refused] = 100
    export_policy([(np.zeros((game.n_actions, size)), bias)], tmp_path / "c.npz", game, mode="greedy")
    state, out = game.alloc(1)
    state.rng[:] = 1
    game.reset(state, out, np.ones(1, np.bool_))
    policy = make_policy(f"ppo:{tmp_path}/c.npz")
    policy.reset(0, EnvInfo(game.id, game, "", ("a", "b")), 0)
    for allowed in (1, 0):
        out.masks[0, 0] = 1
        out.masks[0, 0, refused] = allowed
        assert (policy.act(AgentView.of(game, state, out, 0)) == refused) is bool(allowed)


@pytest.fixture(scope="module")  # a module is imported once in a process
def net_file(tmp_path_factory):
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("networks") / "own_network.py"
    path.write_text(
        textwrap.dedent("""
        import torch
        from torch import nn

        class Net(nn.Module):
            observation = {"obs": "features"}

            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(96, 8), nn.Tanh(), nn.Linear(8, 6))

            def forward(self, observations):
                return self.layers(observations), None

        class Sized(nn.Module):
            def __init__(self, observation_shape, n_actions):
                super().__init__()
                self.layers = nn.Linear(observation_shape[0], n_actions)

            def forward(self, observations):
                return self.layers(observations).sin()
        """)
    )
    return path


def test_a_torch_module_with_weights(net_file, tmp_path):
    import torch

    from collab_overcooked.plugins import load_module

    module = load_module(str(net_file))
    torch.manual_seed(0)
    network = module.Net()
    torch.save(network.state_dict(), tmp_path / "w.pt")
    env = collab_overcooked.make("Overcooked-v0", layout="cramped_room", obs="features")
    export_policy(network, tmp_path / "w.npz", env)
    export_policy(network.state_dict(), tmp_path / "v.pt", env)
    specs = [
        f"torch:{net_file}:Net@{tmp_path}/w.pt",
        f"torch:{net_file}:Net@{tmp_path}/v.pt,greedy",
        f"ppo:{tmp_path}/w.npz,greedy",
    ]
    records = [play(spec, obs="lossless") for spec in specs]
    assert all(actions(record) == actions(records[0]) for record in records)
    assert PolicySpec.parse(specs[0]).weight_files == [f"{tmp_path}/w.pt"]


def test_a_module_that_is_no_chain_of_layers_is_refused_as_npz_and_plays_from_weights(net_file, tmp_path):
    from collab_overcooked.plugins import load_module

    env = collab_overcooked.make_vec("Overcooked-v0", 2, "gymnasium", layout="cramped_room", obs="features")
    network = load_module(str(net_file)).Sized([96], 6)
    with pytest.raises(ValueError, match=r"its layers are not supported.*write a \.pt file instead"):
        export_policy(network, tmp_path / "s.npz", env)
    assert not (tmp_path / "s.npz").exists()
    export_policy(network, tmp_path / "s.pt", env)
    assert len(play(f"torch:{net_file}:Sized@{tmp_path}/s.pt", obs="lossless").steps) == 30


def test_a_picture_policy_of_a_procedural_pool_plays_the_classic_kitchens(net_file, tmp_path):
    options = {"generator": {"count": 2, "width": [4, 9], "height": [4, 5]}, "layout": "procedural"}
    env = collab_overcooked.make("Overcooked-v0", **options)
    size = int(np.prod(env.observation_space("agent_0").shape))
    export_policy([(np.zeros((6, size)), np.zeros(6))], tmp_path / "drawn.npz", env)
    for layout in ("cramped_room", "asymmetric_advantages", "forced_coordination", "counter_circuit"):
        assert len(play(f"ppo:{tmp_path}/drawn.npz", layout=layout).steps) == 30
    with pytest.raises(ValueError, match="size 9 x 5 is too small for layouts of 13 x 5"):
        play(f"ppo:{tmp_path}/drawn.npz", layout={"name": "wide", "grid": WIDE.strip()})


WIDE = """
XXXXXPXXXXXXX
O 1         O
X     2     X
X           X
XDXXXXXXXXXSX
"""


@pytest.fixture(scope="module")
def recurrent_file(tmp_path_factory):
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("networks") / "recurrent_network.py"
    path.write_text(
        textwrap.dedent("""
        import torch
        from torch import nn

        class Forgets(nn.Module):
            observation = {"obs": "features"}

            def __init__(self):
                super().__init__()
                self.memory, self.last = nn.GRUCell(96, 8), nn.Linear(8, 6)

            def forward(self, observations):
                return self.last(self.memory(observations))

        class Remembers(Forgets):
            def initial_state(self, rows):
                return torch.zeros(rows, 8)

            def forward(self, observations, state):
                after = self.memory(observations, state)
                return self.last(after), after

        class Misshaped(Remembers):
            def forward(self, observations, state):
                return self.last(self.memory(observations, state)), state[0]
        """)
    )
    return path


def test_a_recurrent_module_carries_its_state_or_is_refused(recurrent_file, tmp_path):
    """Weights of the state are large, so that what was remembered changes what is chosen."""
    import torch

    from collab_overcooked.plugins import load_module

    module = load_module(str(recurrent_file))
    torch.manual_seed(1)
    network = module.Remembers()
    with torch.no_grad():
        network.memory.weight_hh.normal_(std=3)
        network.last.weight.normal_()
        network.last.bias[5] = -1000  # interact, the only action that masks refuse
    torch.save(network.state_dict(), tmp_path / "w.pt")
    record = play(f"torch:{recurrent_file}:Remembers@{tmp_path}/w.pt", obs="lossless")
    env = registry.make("Overcooked-v0", **ROOM, obs="features")
    observations, _ = env.reset(seed=record.seed)
    states, forgot = {agent: network.initial_state(1) for agent in env.agents}, 0
    for chosen in actions(record):
        expected = []
        for agent in env.agents:
            inputs = torch.from_numpy(observations[agent][None].astype(np.float32))
            with torch.no_grad():
                alone, _ = network(inputs, network.initial_state(1))
                logits, states[agent] = network(inputs, states[agent])
            forgot += int(alone.argmax()) != int(logits.argmax())
            expected.append(int(logits.argmax()))
        assert chosen == expected
        observations, *_ = env.step(dict(zip(env.agents, expected, strict=True)))
    assert forgot, "a policy that forgets would have played the same"
    refused = r"Forgets is recurrent \(GRUCell\) and would forget its state.* give it initial_state\(rows\)"
    with pytest.raises(ValueError, match=refused):
        make_policy(f"torch:{recurrent_file}:Forgets@{tmp_path}/w.pt")
    with pytest.raises(ValueError, match=refused):
        export_policy(module.Forgets(), tmp_path / "f.npz", env)
    assert not (tmp_path / "f.npz").exists()
    export_policy(module.Forgets(), tmp_path / "f.pt", env)  # weights, for a policy class that carries the state
    with pytest.raises(ValueError, match=refused):
        make_policy(f"torch:{recurrent_file}:Forgets@{tmp_path}/f.pt")
    with pytest.raises(ValueError, match=r"must return logits and the next state of shape \(1, 8\)"):
        play(f"torch:{recurrent_file}:Misshaped@{tmp_path}/w.pt")


def test_a_features_extractor_with_memory_is_refused(tmp_path):
    """Stable-Baselines3 calls it step by step without a state, so that it would play with an empty memory."""
    stable_baselines3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from torch import nn

    class Extractor(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, 8)
            self.memory = nn.GRU(space.shape[0], 8)

        def forward(self, observations):
            return self.memory(observations)[0]

    vec = collab_overcooked.make_vec("Overcooked-v0", 2, "sb3", layout="cramped_room", obs="features")
    options = {"features_extractor_class": Extractor}
    model = stable_baselines3.PPO("MlpPolicy", vec, policy_kwargs=options, n_steps=8, batch_size=32, device="cpu")
    for name in ("m.zip", "m.npz"):
        with pytest.raises(ValueError, match=r"has recurrent layers \(GRU\) whose state cannot be carried"):
            export_policy(model, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_sizes_that_do_not_fit_are_told_from_layers_that_are_not_supported(tmp_path):
    nn = pytest.importorskip("torch").nn
    env = collab_overcooked.make("Overcooked-v0", obs="features")
    for network, message in (
        (nn.Linear(95, 6), r"size does not fit: observations of Overcooked-v0 have the shape \(96,\)"),
        (nn.Linear(96, 5), r"size does not fit: it has 5 outputs, Overcooked-v0 has 6 actions"),
        (nn.Sequential(nn.Linear(96, 6), nn.Softplus()), r"its layers are not supported.*write a \.pt file instead"),
    ):
        with pytest.raises(ValueError, match=message):
            export_policy(network, tmp_path / "n.npz", env)


@pytest.mark.parametrize("spec", ["runs/w.pt", "runs/w.pt,greedy", "runs/w.pth", "w.pt:Actor", "torch:w.pt"])
def test_a_file_of_weights_alone_says_how_to_name_its_class(spec):
    file, _, name = spec.removeprefix("torch:").partition(",")[0].partition(":")
    expected = f"torch:file.py:{name or 'Net'}@{file};"
    with pytest.raises(ValueError, match="must name the class of its weights") as error:
        make_policy(spec)
    assert expected in str(error.value)


def test_a_class_that_is_missing_is_named_beside_its_files():
    with pytest.raises(ValueError, match=r"as in torch:nets\.py:Net@own\.pt;"):
        make_policy("torch:nets.py@own.pt")


def test_a_torchscript_file_is_refused_by_name(net_file, tmp_path):
    with zipfile.ZipFile(tmp_path / "script.pt", "w") as archive:  # as torch.jit.save writes it
        archive.writestr("script/code/__torch__.py", "class Linear(Module): ...")
        archive.writestr("script/data.pkl", b"")
    with pytest.raises(ValueError, match=r"script\.pt: a TorchScript archive has no weights for Net; save them by"):
        make_policy(f"torch:{net_file}:Net@{tmp_path}/script.pt")


def test_weights_are_not_unpickled(net_file, tmp_path):
    import pickle

    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    (tmp_path / "evil.pt").write_bytes(pickle.dumps({"a": Evil()}))
    with pytest.raises(ValueError, match=r"evil\.pt: policy 'torch' cannot be made"):
        make_policy(f"torch:{net_file}:Net@{tmp_path}/evil.pt")
    assert not (tmp_path / "written").exists()


def test_specs_and_exports_that_cannot_be(ppo, net_file, tmp_path):
    with pytest.raises(ValueError, match=r"as in torch:my\.py:Net@weights\.pt"):
        make_policy("torch:my.py:Net")
    with pytest.raises(ValueError, match="unknown network 'Nt'; did you mean Net"):
        make_policy(f"torch:{net_file}:Nt@w.pt")
    with pytest.raises(ValueError, match=r"none\.zip: cannot be read"):
        make_policy(f"sb3:{tmp_path}/none.zip")
    (tmp_path / "sized.py").write_text(
        "import torch\nclass Net(torch.nn.Linear):\n"
        "    def __init__(self, observation_shape, n_actions):\n"
        "        super().__init__(observation_shape[0], n_actions)\n"
    )
    torch = pytest.importorskip("torch")
    torch.save(torch.nn.Linear(96, 6).state_dict(), tmp_path / "sized.pt")
    with pytest.raises(ValueError, match=r"Net takes observation_shape and n_actions, .* export_policy\(network"):
        make_policy(f"torch:{tmp_path}/sized.py:Net@{tmp_path}/sized.pt")
    with pytest.raises(ValueError, match=r"SB3 model is written to \.npz or \.zip"):
        export_policy(ppo, tmp_path / "a.pt")
    with pytest.raises(ValueError, match="name the environment that the network was trained on"):
        export_policy([(np.zeros((6, 96)), np.zeros(6))], tmp_path / "a.npz")
    with pytest.raises(ValueError, match="its last layer has 5 outputs, Overcooked-v0 has 6"):
        env = collab_overcooked.make("Overcooked-v0", obs="features")
        export_policy([(np.zeros((5, 96)), np.zeros(5))], tmp_path / "a.npz", env)
    with pytest.raises(ValueError, match="cannot play CuisineWorld-v0"):
        export_policy(ppo, tmp_path / "a.zip")
        play_episode(registry.make("CuisineWorld-v0", agents=2), make_team([f"sb3:{tmp_path}/a.zip"] * 2), seed=0)


def test_observations_of_a_suite_are_not_set_on_the_command_line():
    from collab_overcooked.evaluation.suites import plan_evaluation

    with pytest.raises(ValueError, match=r"'obs' cannot be set with --set: each policy declares.*FILE\.py:Class"):
        plan_evaluation("overcooked", ["all=greedy"], options={"obs": "features"})


def test_other_weights_under_the_same_name_are_another_run(ppo, tmp_path):
    from collab_overcooked.evaluation.suites import plan_evaluation

    plan = plan_evaluation("overcooked", [f"all=sb3:{tmp_path}/m.zip"], layouts="cramped_room")
    ppo.save(tmp_path / "m.zip")
    before = plan.config()["plugins"]
    (tmp_path / "m.zip").write_bytes((tmp_path / "m.zip").read_bytes() + b"\0")
    assert plan.config()["plugins"] != before


@pytest.mark.parametrize("suffix", [".npz", ".zip"])
def test_an_export_leaves_the_model_as_it_was(suffix, tmp_path):
    model = made_ppo(obs="features")
    model.policy.set_training_mode(True)
    model.policy.action_net.eval()
    before, names = {part: part.training for part in model.policy.modules()}, {*vars(model)}
    export_policy(model, tmp_path / f"model{suffix}")
    assert {part: part.training for part in model.policy.modules()} == before
    assert {*vars(model)} == names
    play(f"{'ppo' if suffix == '.npz' else 'sb3'}:{tmp_path}/model{suffix}")


def test_spaces_around_a_mode_do_not_matter():
    for text in ("ppo:cramped_room, greedy", "ppo: cramped_room ,greedy"):
        assert PolicySpec.parse(text).mode == make_policy(text).mode == "greedy"
