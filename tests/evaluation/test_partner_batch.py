"""Batches with one learner in each environment, whose partners are policies."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import yaml

import collab_overcooked
from collab_overcooked.evaluation.partner_pool import read_partner_pool
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.policies.api import PolicyBase
from collab_overcooked.policies.observation import Observer
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.policies.trained import NetworkPolicy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

POOL = "coordination_ring"
KITCHEN = {"layout": "cramped_room", "max_cycles": 30}


def played(vec: Any, steps: int = 70) -> list[Any]:
    """Play the first allowed action in each row, with resets of what is over."""
    log = [vec.reset(seed=3)]
    for _ in range(steps):
        mask = log[-1][-1]["action_mask"]
        log.append(vec.step(mask.argmax(-1), copy=True))
        if vec.over.any():
            observations, infos = vec.reset(which=vec.over)
            log.append((observations, infos))
    return log


def test_the_learner_has_one_row_and_meets_partners_in_all_seats():
    vec = collab_overcooked.make_vec("Overcooked-v0", 24, partners=["greedy", "random", "noisy:0.5"], **KITCHEN)
    observations, infos = vec.reset(seed=0)
    assert observations.shape == (24, 1, *vec.single_observation_space.shape)
    assert infos["action_mask"].shape == (24, 1, vec.single_action_space.n) == vec.action_masks().shape
    met = set(zip(infos["seat"][:, 0].tolist(), infos["partner"][:, 0].tolist(), strict=True))
    assert met == {(seat, k) for seat in range(2) for k in range(3)} and vec.partner_names == (
        "greedy",
        "random",
        "noisy:0.5",
    )
    for name in ("terminated", "truncated"):
        assert getattr(vec.out, name).shape == (24,)


@pytest.mark.parametrize("partners", [["greedy"], ["random", "ppo:cramped_room,sample"]])
def test_the_same_seed_gives_the_same_play(partners):
    first, again = (
        played(collab_overcooked.make_vec("Overcooked-v0", 5, partners=partners, **KITCHEN)) for _ in range(2)
    )
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one[0], other[0])


class First(PolicyBase):
    """Plays the first allowed action, as ``played`` does."""

    name = "first"

    def reset(self, seat: int, info: Any, seed: int) -> None:
        pass

    def act(self, seen: Any) -> int:
        return int(seen.mask.argmax())


class Echo(First):
    """Plays an action that depends on all that it sees, and keeps what it saw."""

    name, batched = "echo", True
    objects: ClassVar[list[Echo]] = []

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.sights: list[tuple[int, ...]] = []
        Echo.objects.append(self)

    def act(self, seen: Any) -> int:
        allowed = np.flatnonzero(seen.mask)
        self.sights.append((seen.seat, seen.timestep, *seen.observation.tolist()))
        return int(allowed[(int(seen.observation.sum()) + seen.timestep) % len(allowed)])


def test_partners_see_what_they_see_in_an_episode_of_their_own():
    Echo.objects.clear()
    options = {"layout": "cramped_room", "obs": "features", "max_cycles": 40}
    log = played(collab_overcooked.make_vec("Overcooked-v0", 4, partners=[Echo], **options), 39)
    in_batch = [policy.sights for policy in Echo.objects]
    for e, seed in enumerate(derive_seeds(3, 4)):
        Echo.objects.clear()
        team = ["echo", "echo"]
        team[int(log[0][1]["seat"][e, 0])] = "first"
        partners = make_team(team, lambda spec: {"echo": Echo, "first": First}[spec]())
        play_episode(collab_overcooked.make("Overcooked-v0", **options), partners, seed)
        assert Echo.objects[-1].sights[:39] == in_batch[e]


def test_a_network_in_a_partner_s_seat_reads_the_observation_it_was_trained_on():
    """The learner sees a map, the partner its features; the pair delivers soup as the network does in self-play."""
    vec = collab_overcooked.make_vec(
        "Overcooked-v0", 4, partners=["ppo:cramped_room"], layout="cramped_room", obs="lossless", max_cycles=200
    )
    observations, infos = vec.reset(seed=5)
    assert observations.ndim == 5
    network, earned = make_policy("ppo:cramped_room"), np.zeros(4)
    assert isinstance(network, NetworkPolicy)
    env = collab_overcooked.make("Overcooked-v0", layout="cramped_room", obs="lossless")
    features = Observer(env.game, network.observation_of(env.game))
    for _ in range(199):
        actions = np.zeros((4, 1), int)
        for e in range(4):
            seat = int(infos["seat"][e, 0])
            seen = features.observe(env.game.seen(vec.state, e, seat), observations[e, 0])
            actions[e, 0] = network.forward(seen[None], network.initial_state(1))[0].argmax()
        observations, rewards, _, _, infos = vec.step(actions)
        earned += rewards[:, 0]
    assert earned.min() > 0


class Counting(PolicyBase):
    """Counts its episodes and the timesteps that it sees."""

    name, batched = "counting", True
    objects: ClassVar[list[Counting]] = []

    def __init__(self) -> None:
        self.timesteps: list[int] = []
        Counting.objects.append(self)

    def reset(self, seat: int, info: Any, seed: int) -> None:
        assert info.team[1 - seat] == "?", "the learner is not named"

    def act(self, seen: Any) -> int:
        self.timesteps.append(seen.timestep)
        return int(seen.mask.argmax())


def test_a_batch_with_partners_is_not_restored():
    vec = collab_overcooked.make_vec("Overcooked-v0", 2, partners=["random"], **KITCHEN)
    vec.reset(seed=0)
    with pytest.raises(ValueError, match="with partners cannot be restored"):
        vec.restore(0, vec.clone(1))


def test_an_episode_begins_with_a_new_policy_at_timestep_0():
    Counting.objects.clear()
    vec = collab_overcooked.make_vec("Overcooked-v0", 3, partners=[Counting], **KITCHEN)
    played(vec, 65)
    begun = [policy for policy in Counting.objects if policy.timesteps]
    assert len(begun) == 9
    assert [policy.timesteps for policy in begun[:6]] == [list(range(30))] * 6


def test_all_kinds_have_a_row_for_each_environment():
    stable_baselines3 = pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the rl extra")
    options = {"partners": ["greedy"], **KITCHEN}
    rows = collab_overcooked.make_vec("Overcooked-v0", 4, "sb3", **options)
    assert rows.num_envs == 4
    rows.reset()
    infos = rows.step(np.zeros(4, int))[-1]
    assert all(info["seat"] in (0, 1) and info["partner"] == 0 for info in infos)
    model = stable_baselines3.PPO("MlpPolicy", rows, n_steps=40, batch_size=32, n_epochs=1, seed=0).learn(160)
    assert model.num_timesteps == 160
    for mode in ("NEXT_STEP", "SAME_STEP"):
        vec = collab_overcooked.make_vec("Overcooked-v0", 4, "gymnasium", autoreset_mode=mode, **options)
        observations, _ = vec.reset(seed=0)
        assert observations.shape[0] == vec.num_envs == 4
        ended = 0
        for _ in range(65):
            _, rewards, terminated, truncated, infos = vec.step(vec.action_space.sample())
            ended += int((terminated | truncated).sum())
            assert rewards.shape == (4,) and infos["seat"].shape == (4,)
        assert ended == 8


def test_a_pool_stands_for_its_training_split_and_names_its_partners(tmp_path):
    pool = read_partner_pool(POOL)
    name = pool.select("test")[0].name
    vec = collab_overcooked.make_vec("Overcooked-v0", 6, partners=[f"{POOL}#{name}"], layout=POOL)
    vec.reset(seed=1)
    vec.step(np.zeros((6, 1), int))
    vec = collab_overcooked.make_vec("Overcooked-v0", 2, partners=[POOL], layout=POOL)
    assert vec.partner_names == tuple(f"{POOL}#noisy_{percent}" for percent in (10, 30, 50))
    partners = [
        {"name": n, "policy": n, "family": "selfplay", "split": "train", "seat": "any"} for n in ("greedy", "random")
    ]
    file = tmp_path / "two.yaml"
    file.write_text(yaml.safe_dump({"env": "Overcooked-v0", "options": {"layout": POOL}, "partners": partners}))
    vec = collab_overcooked.make_vec("Overcooked-v0", 2, partners=[str(file)], layout=POOL)
    assert vec.partner_names == (f"{file}#greedy", f"{file}#random")
    file.write_text(file.read_text().replace("split: train", "split: test"))
    with pytest.raises(ValueError, match=r"two\.yaml has no partner of split train; name one"):
        collab_overcooked.make_vec("Overcooked-v0", 2, partners=[str(file)], layout=POOL)


@pytest.mark.parametrize(
    ("partners", "message"),
    [
        ("greedy", r"partners must be a list of policy specs"),
        ([], r"partners must be a list of policy specs"),
        ([3], r"not 3"),
        (["gredy"], r"gredy"),
        (["llm:gpt-4o"], r"llm:gpt-4o cannot play in a batch"),
    ],
)
def test_bad_partners_are_named(partners, message):
    with pytest.raises(ValueError, match=message):
        collab_overcooked.make_vec("Overcooked-v0", 2, partners=partners, **KITCHEN)
    with pytest.raises(ValueError, match="has one agent"):
        collab_overcooked.make_vec("CuisineWorld-v0", 2, partners=["random"], agents=1)
