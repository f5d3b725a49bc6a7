"""Training beside partners: seats and partners are drawn, past actions are read, events pay, buffers give starts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from collab_overcooked import registry
from collab_overcooked.baselines.checkpoints import choose_skills, due, kept_policies
from collab_overcooked.baselines.preferences import draw_preferences, select_diverse
from collab_overcooked.baselines.rollouts import Rollouts
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.baselines.seating import SeatAssignment
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.train_logger import read_log
from collab_overcooked.baselines.training import CHECKPOINT, Training, train
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.evaluation.partner_pool import PartnerPool, make_partner, read_partner_pool, write_partner_pool
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.action_history import ActionHistory, append_history
from collab_overcooked.policies.policy_file import read_policy
from collab_overcooked.policies.random import RandomPolicy
from collab_overcooked.policies.trained import TrainedPolicy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import Team

SMALL = {"environments": 16, "rollout": 20, "batch_size": 160, "epochs": 1, "trunk": (8,), "heads": (8,)}
RING = TrainingSettings(
    env="Overcooked-v0", options={"layout": "coordination_ring", "obs": "features"}, steps=960, **SMALL
)
ALL = np.ones(16, np.bool_)


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """Return the file of a pool of two tiny policies."""
    folder = tmp_path_factory.mktemp("pool")
    for seed in (0, 1):
        train(RING.with_values({"steps": 320, "seed": seed}), folder / f"m{seed}", bar=False)
    partners = tuple(
        make_partner(f"m{seed}", f"ppo:m{seed}/policy.npz", family, folder, split="train")
        for seed, family in ((0, "selfplay"), (1, "population"))
    )
    write_partner_pool(folder / "pool.yaml", PartnerPool("pool", RING.env, RING.options, partners, folder=folder))
    return folder / "pool.yaml"


def ring():
    return registry.load_game(RING.env, **RING.options)


def weights(training):
    return [tensor for learner in training.learners for tensor in learner.network.state_dict().values()]


def test_every_row_belongs_to_one_learner_or_partner():
    beside = RING.with_values({"partners": ("a", "b")})
    seating = SeatAssignment(beside, 3, [None, None])
    seating.draw(ALL, np.random.default_rng(0))
    rows = np.concatenate([*seating.learners, *seating.partners])
    assert sorted(rows.tolist()) == list(range(48))
    assert (seating.learners[0] // 3).tolist() == list(range(16))  # always the same column of the buffer
    result = SeatAssignment(RING.with_values({"weights": "own"}), 2, [])
    result.draw(ALL, np.random.default_rng(0))
    assert result.learners[1].tolist() == list(range(1, 32, 2))  # each learner has a seat of its own


def test_partners_and_seats_are_drawn_alike_often_and_only_where_an_episode_starts():
    seating = SeatAssignment(RING.with_values({"partners": ("a",) * 4, "environments": 1000}), 2, [None] * 4)
    rng = np.random.default_rng(0)
    seating.draw(np.ones(1000, np.bool_), rng)
    drawn = np.bincount(seating.partner[:, 1] * 2 + seating.first, minlength=8)
    assert drawn.sum() == 1000 and 85 < drawn.min() and drawn.max() < 170  # 125 each, within four deviations
    partner, first = seating.partner.copy(), seating.first.copy()
    seating.draw(np.arange(1000) < 300, rng)
    assert np.array_equal(seating.partner[300:], partner[300:]) and np.array_equal(seating.first[300:], first[300:])
    assert not np.array_equal(seating.partner[:300], partner[:300])


def test_partners_beside_whom_less_is_earned_are_drawn_more_often():
    """Ranks 2, 3, 3 and 1 to the power of 2: 4, 9, 9 and 1 of 23, the unmet partner before all, the copy apart."""
    values = {"partners": ("a",) * 4, "environments": 9000, "priority": 2.0, "copy_rate": 1.0, "copy_share": 0.5}
    seating = SeatAssignment(RING.with_values(values), 2, [None] * 5)
    assert np.allclose(seating.probabilities(4), 0.25)
    for k, returns in enumerate(([40, 20], [30], [30], [70], [10])):
        seating.partner[0, 1] = k
        assert k == 4 or seating.probabilities(4)[k] == seating.probabilities(4).max()
        for earned in returns:
            seating.note(0, float(earned))
    assert np.allclose(seating.means, [39, 30, 30, 70, 10])
    seating.draw(np.ones(9000, np.bool_), np.random.default_rng(0))
    drawn = np.bincount(seating.partner[:, 1], minlength=5) / 9000
    assert np.allclose(drawn, [2 / 23, 4.5 / 23, 4.5 / 23, 0.5 / 23, 0.5], atol=0.02)


def test_a_partner_for_one_seat_gets_it():
    seating = SeatAssignment(RING.with_values({"partners": ("a", "b")}), 2, [1, None])
    seating.draw(ALL, np.random.default_rng(3))
    assert (seating.partners[0] % 2 == 1).all() and set((seating.partners[1] % 2).tolist()) == {0, 1}
    with pytest.raises(ValueError, match="trained for any seat"):
        SeatAssignment(RING, 3, [1])


def test_partners_are_redrawn_at_the_end_of_an_episode_and_not_before(pool):
    training = Training(RING.with_values({"pool": [str(pool)]}))
    rollouts, seen = training.rollouts, []
    step = rollouts._step

    def watched(*args):
        before = rollouts.seating.partner[:, 1].copy(), rollouts.seating.first.copy()
        step(*args)
        after = rollouts.seating.partner[:, 1].copy(), rollouts.seating.first.copy()
        seen.append((rollouts.starts.copy(), before, after))

    rollouts._step = watched
    for _ in range(3):
        rollouts.collect(training.learners, 1.0)
    for over, before, after in seen:
        assert all(np.array_equal(was[~over], now[~over]) for was, now in zip(before, after, strict=True))
    assert any(over.any() for over, _, _ in seen)


def test_the_file_of_an_ego_lists_whom_it_met_and_returns_are_kept_by_family(pool, tmp_path):
    settings = RING.with_values({"pool": [str(pool)], "steps": 6400, "rollout": 100, "history": 3})
    outcome = train(settings, tmp_path, bar=False)
    file = read_policy(outcome.policies[0])
    digests = [file_digest(pool.parent / name / "policy.npz") for name in ("m0", "m1")]
    assert [(met.policy, met.sha256, met.family) for met in file.met] == [
        ("m0", digests[0], "selfplay"),
        ("m1", digests[1], "population"),
    ]
    assert file.history == 3 and outcome.score is None
    log = read_log(tmp_path)
    assert {"return/selfplay", "return/population"} <= set(log[-1])
    start = str(tmp_path / "policy.npz")
    again = Training(settings.with_values({"pool": [], "start": start})).export()[0]  # what its start knows it knows
    assert again.met == (*file.met, ("policy.npz", file_digest(tmp_path / "policy.npz"), "selfplay"))
    header, *lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert header == "steps,all partners,selfplay,population" and len(lines) == len(log)
    assert (tmp_path / "curves.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    "values",
    [
        {"pool": True, "history": 2},
        {"pool": True, "copy_rate": 1.0, "copy_share": 0.25, "priority": 1.0},
        {"copy_rate": 0.1, "partner_noise": 0.3, "history": 2},
        {"copy_rate": 0.1, "memory": "gru:4", "sequence": 10, "critic": "central"},
        {"weights": "own", "preferences": [{"dish_pickup": 3.0}, {}]},
    ],
    ids=["pool", "pool and copy", "copy", "memory", "preferences"],
)
def test_an_interrupted_training_beside_partners_goes_on_to_the_same_result(pool, values, tmp_path):
    settings = RING.with_values({**values, "pool": [str(pool)]} if "pool" in values else values)
    full = Training(settings)
    while not full.over:
        full.update()
    first = Training(settings)
    first.update()
    first.save(tmp_path / CHECKPOINT)
    second = Training(settings)
    torch.manual_seed(99)
    second.load(tmp_path / CHECKPOINT)
    while not second.over:
        second.update()
    assert second.updates == full.updates == 3
    assert all(torch.equal(a, b) for a, b in zip(weights(full), weights(second), strict=True))
    assert np.array_equal(full.rollouts.past.actions, second.rollouts.past.actions)
    assert all(np.array_equal(a, b) for a, b in zip(full.rollouts.states, second.rollouts.states, strict=True))
    for one, other in zip(full.partners, second.partners, strict=True):
        for (_, weight, _), (_, same, _) in zip(one.file.network.layers, other.file.network.layers, strict=True):
            assert np.array_equal(weight, same)


def test_a_pool_that_changed_is_refused_by_a_resumed_training(pool, tmp_path):
    settings = RING.with_values({"pool": [str(pool)]})
    training = Training(settings)
    training.partners.pop()  # as if the pool had one partner less
    training.save(tmp_path / CHECKPOINT)
    with pytest.raises(ValueError, match="the files of its partners changed"):
        Training(settings).load(tmp_path / CHECKPOINT)


def test_pools_that_cannot_be_trained_beside_are_refused(pool, tmp_path):
    with pytest.raises(
        ValueError, match=r"pool\.yaml is for Overcooked-v0 with layout='\w+', the training for layout='cramped_room'$"
    ):
        Training(RING.with_values({"pool": [str(pool)], "options": {"layout": "cramped_room", "obs": "features"}}))
    searching = tmp_path / "searching.yaml"
    partners = (make_partner("planner", "planner", "search"),)
    write_partner_pool(searching, replace(read_partner_pool("coordination_ring"), partners=partners))
    with pytest.raises(ValueError, match=r"partner planner: training takes policy files, .* not 'planner'"):
        Training(RING.with_values({"partners": [f"{searching}#planner"]}))
    with pytest.raises(ValueError, match=r"partner_noise: partner greedy is a program; use noisy:0\.5"):
        Training(RING.with_values({"partners": ["coordination_ring#greedy"], "partner_noise": 0.5}))
    named = Training(RING.with_values({"partners": [f"{pool}#m1"]}))
    assert [partner.met.policy for partner in named.partners] == ["m1"]


def test_programs_play_in_their_seats_and_beside_networks(pool):
    """The partner of every episode is the one that is drawn, and a program acts as it does in an episode alone."""
    training = Training(RING.with_values({"partners": [f"{pool}#m1", "coordination_ring#static"]}))
    rollouts, idle = training.rollouts, training.game.idle_action(0)
    taken, step = [], rollouts.batch.step
    rollouts.batch.step = lambda joint: (taken.append((rollouts.seating.held.copy(), joint.copy())), step(joint))[1]
    training.update()
    held, actions = (np.array(arrays) for arrays in zip(*taken, strict=True))
    assert ((held == -1).sum(-1) == 1).all(), "one learner in every environment"
    assert set(held.flat) == {-1, 0, 1}
    assert (actions[held == 1] == idle).all() and (actions[held != 1] != idle).any()
    assert [met.policy for met in training.export()[0].met] == ["m1", "late:400:random"]


def test_the_copy_takes_its_share_of_the_episodes_beside_a_pool_and_nobody_names_it_as_met(pool):
    values = {"pool": [str(pool)], "copy_rate": 1.0, "copy_share": 0.25}
    training = Training(RING.with_values(values))
    assert [partner.family for partner in training.partners] == ["selfplay", "population", "copy"]
    seating, rng = training.rollouts.seating, np.random.default_rng(0)
    drawn = np.zeros(3)
    for _ in range(500):
        seating.draw(np.ones(seating.environments, np.bool_), rng)
        drawn += np.bincount(seating.partner[:, 1], minlength=3)
    shares = drawn / drawn.sum()
    assert np.allclose(shares, [0.375, 0.375, 0.25], atol=4 * 0.5 / np.sqrt(drawn.sum()))
    training.update()
    learned = training.learners[0].network.actor().layers[0][1]
    assert np.allclose(training.partners[-1].file.network.layers[0][1], learned, atol=1e-6)
    assert [met.policy for met in training.export()[0].met] == ["m0", "m1"]


def test_the_slow_copy_moves_by_its_share_and_noise_is_uniform():
    training = Training(RING.with_values({"copy_rate": 0.25, "partner_noise": 1.0}))
    (copy,) = training.partners
    before = copy.file.network.layers[0][1].copy()
    assert np.array_equal(before, training.learners[0].network.actor().layers[0][1])
    training.update()
    learned = training.learners[0].network.actor().layers[0][1]
    assert np.allclose(copy.file.network.layers[0][1], 0.75 * before + 0.25 * learned, atol=1e-6)
    masks = np.tile(np.array([[1, 0, 1, 1, 0, 0]], np.int8), (6000, 1))
    actions, _ = copy.act(np.zeros((6000, 96), np.uint8), masks, np.random.default_rng(0), np.zeros((6000, 0)))
    drawn = np.bincount(actions, minlength=6)
    assert drawn[[1, 4, 5]].sum() == 0 and drawn[[0, 2, 3]].min() > 1850  # 2000 each, within four deviations
    assert training.export()[0].met == ()  # nobody but itself


def naive_history(actions, seat, n_agents, n_actions, steps):
    """Return a seat's features, one number after the other."""
    padded = [None] * steps + list(actions)
    features = []
    for joint in padded[len(padded) - steps :]:
        for k in range(n_agents):
            for action in range(n_actions):
                features.append(int(joint is not None and joint[(seat + k) % n_agents] == action))
    return features


def test_history_features_equal_a_naive_computation():
    rng = np.random.default_rng(1)
    history = ActionHistory(3, 3, 4, 5)
    played = [[] for _ in range(3)]
    observations = rng.integers(0, 9, (3, 3, 2, 2)).astype(np.uint8)
    for _ in range(9):
        actions = rng.integers(0, 4, (3, 3))
        history.push(actions)
        over = rng.random(3) < 0.2
        history.clear(over)
        played = [[] if over[e] else [*played[e], actions[e].tolist()] for e in range(3)]
        for steps in (0, 2, 5):
            joined = history.append_to(observations, steps).reshape(3, 3, -1)
            for e, seat in np.ndindex(3, 3):
                expected = [*observations[e, seat].ravel(), *naive_history(played[e], seat, 3, 4, steps)]
                assert joined[e, seat].tolist() == expected
                if steps:
                    alone = append_history(observations[e, seat], played[e], seat, 3, 4, steps)
                    assert alone.tolist() == expected


def test_a_policy_reads_the_same_history_in_training_in_scores_and_in_a_team(tmp_path, monkeypatch):
    train(RING.with_values({"history": 4, "steps": 320}), tmp_path, bar=False)
    file = read_policy(tmp_path / "policy.npz")
    policy = TrainedPolicy(file)
    seen, forward = [], policy.forward
    monkeypatch.setattr(policy, "forward", lambda rows, state: seen.append(rows[0].tolist()) or forward(rows, state))
    env = registry.make(RING.env, **RING.options)
    team = Team(("ppo", "random"), (policy, RandomPolicy()))
    record = play_episode(env, team, 3, ends_after=8)
    actions = [step.actions for step in record.steps]
    for t, row in enumerate(seen):
        assert row[96:] == naive_history(actions[:t], 0, 2, 6, 4)
    assert len(seen) == 8
    assert play_games(ring(), [file, file], 2, 0).returns.shape == (2,)


def test_history_is_refused_where_actions_are_not_seen():
    with pytest.raises(ValueError, match=r"history: a seat of Housework-v0 does not see"):
        Training(TrainingSettings("Housework-v0", 100, history=2, **SMALL))


def test_each_learner_is_paid_by_its_own_preference():
    settings = RING.with_values({"weights": "own", "preferences": [{"onion_pickup": 5.0}, {}], "shaping": 0.0})
    training = Training(settings)
    rollouts = training.rollouts
    paid, counts = [], []
    original = rollouts._rewards

    def watched(shaping):
        rewards = original(shaping)
        counts.append(rollouts.batch.game.event_counts(rollouts.batch.out)[..., 5].reshape(-1))
        true = rollouts.batch.out.rewards.reshape(-1).copy()
        paid.append((rewards.copy(), [learner.copy() for learner in rollouts.seating.learners], true))
        return rewards

    rollouts._rewards = watched
    for _ in range(4):
        rollouts.collect(training.learners, 0.0)
    assert sum(count.sum() for count in counts) > 0
    for (rewards, (first, second), true), count in zip(paid, counts, strict=True):
        assert np.array_equal(rewards[first], 5.0 * count[first])
        assert np.array_equal(rewards[second], true[second])


def test_unknown_events_and_games_without_counts_are_refused():
    with pytest.raises(ValueError, match="did you mean onion_pickup"):
        Training(RING.with_values({"weights": "own", "preferences": [{"onion_pikup": 1.0}, {}]}))
    with pytest.raises(ValueError, match="preferences must be 2 mappings"):
        Training(RING.with_values({"weights": "own", "preferences": [{}]}))
    home = TrainingSettings("CuisineWorld-v0", 100, weights="own", preferences=[{"x": 1.0}, {}, {}], **SMALL)
    with pytest.raises(ValueError, match="CuisineWorld-v0 does not count events"):
        Training(home)


def test_drawn_preferences_differ_and_prefer_something():
    grid = {"onion_pickup": [-10, 0, 10], "soup_delivery": [-10, 0], "reward": [0, 1]}
    drawn = draw_preferences(grid, 10, 0)
    assert len({tuple(sorted(weights.items())) for weights in drawn}) == 10  # all that there are
    assert all(set(weights) - {"reward"} and 0.0 not in weights.values() for weights in drawn)
    assert drawn == draw_preferences(grid, 10, 0) and drawn != draw_preferences(grid, 10, 1)
    with pytest.raises(ValueError, match="10 combinations with a preference, fewer than 11"):
        draw_preferences(grid, 11, 0)


def test_diverse_members_are_chosen_by_distance():
    rates = np.array([[0.0, 0.0], [10.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    assert sorted(select_diverse(rates, 2)) == [1, 3]
    assert sorted(select_diverse(rates, 3)) == [0, 1, 3]
    assert select_diverse(rates, 9) == [0, 1, 2, 3]


def test_episodes_start_from_the_states_of_a_buffer_exactly():
    game = ring()
    batch = BatchEnv(game, 8)
    batch.reset(5)
    rng = np.random.default_rng(0)
    for _ in range(60):
        batch.step(rng.integers(0, 6, (8, 2)))
    rollouts = Rollouts(RING, game)
    rollouts.starts_from = batch.state
    generators = rollouts.batch.state.rng.copy()
    rollouts._restart(ALL)
    fresh = game.alloc(16)
    origin = []
    for i in range(16):
        same = [
            k
            for k in range(8)
            if all(
                np.array_equal(getattr(rollouts.batch.state, name)[i], array[k])
                for name, array in batch.state._asdict().items()
                if name != "rng"
            )
        ]
        assert same
        origin += same
    assert len(set(origin)) > 3  # drawn, not the first of them
    for array, copied in zip(fresh[0], rollouts.batch.state, strict=True):
        array[...] = copied
    game.observe(*fresh)
    assert np.array_equal(fresh[1].observations, rollouts.batch.out.observations)
    assert np.array_equal(fresh[1].masks, rollouts.batch.out.masks)
    assert not rollouts.batch.over.any() and not np.array_equal(generators, 0 * generators)
    assert len({tuple(row) for row in rollouts.batch.state.rng.tolist()}) == 16  # the future is not the buffer's


def test_policies_are_kept_from_the_untrained_to_the_last(tmp_path):
    train(RING.with_values({"kept_policies": 3, "steps": 1600}), tmp_path, bar=False)
    files = [read_policy(path) for path in kept_policies(tmp_path)]
    assert [file.meta["steps"] for file in files] == [0, 960, 1600]
    last = read_policy(tmp_path / "policy.npz")
    assert np.array_equal(files[-1].network.layers[0][1], last.network.layers[0][1])
    marks = [[k for k in range(0, 101) if due(k - 1, k, 100, count)] for count in (0, 1, 2, 5)]
    assert marks == [[], [0], [0, 100], [0, 25, 50, 75, 100]]
    assert all(before < now for before, now in pairwise(kept_policies(tmp_path)))


def test_the_middle_policy_is_nearest_to_half_of_the_last_return():
    assert choose_skills([0, 10, 60, 90, 100]) == {"untrained": 0, "middle": 2, "last": 4}
    assert choose_skills([0, 40, 60, 100]) == {"untrained": 0, "middle": 1, "last": 3}
    assert choose_skills([0, 100]) == {"untrained": 0, "last": 1}
    assert choose_skills([7]) == {"last": 0}
