"""``events_to_rewards``: every kind of environment pays the weighted sum of the events that its records name."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.envs.event_rewards import EventReward

ROOM = {"layout": "cramped_room", "obs": "features", "max_cycles": 120}
WEIGHTS = {"ONION_PICKUP": 1.0, "potting_onion": 3.0, "dish_pickup": -0.5, "soup_delivery": 7.0, "reward": 0.25}
ENVS, STEPS = 5, 250


def drawn_actions(count):
    return np.random.default_rng(4).choice(6, size=(STEPS, count), p=[0.13, 0.13, 0.13, 0.13, 0.04, 0.44])


def expected(game, out, e, plain):
    """Return the rewards of environment ``e`` by the names of its events."""
    weights = {name.lower(): weight for name, weight in WEIGHTS.items()}
    names = [event["events"] if event else [] for event in game.events(out, e)]
    paid = [sum(weights.get(name, 0.0) for name in events) for events in names]
    return [pay + 0.25 * reward for pay, reward in zip(paid, plain, strict=True)]


def test_a_batch_pays_the_events_of_its_records_and_nothing_after_the_end():
    batch, twin = (collab_overcooked.make_vec("Overcooked-v0", ENVS, **ROOM) for _ in range(2))
    batch.events_to_rewards(WEIGHTS)
    batch.reset(seed=1)
    twin.reset(seed=1)
    total = 0.0
    for actions in drawn_actions(ENVS * 2):
        over = twin.over.copy()
        _, rewards, _, _, _ = batch.step(actions.reshape(ENVS, 2))
        _, plain, _, _, _ = twin.step(actions.reshape(ENVS, 2))
        assert not rewards[over].any()
        for e in np.flatnonzero(~over).tolist():
            assert rewards[e].tolist() == pytest.approx(expected(twin.game, twin.out, e, plain[e].tolist()))
            total += float(np.abs(rewards[e]).sum())
    assert batch.over.all() and total > 30
    batch.events_to_rewards(None)
    batch.reset(seed=1)
    twin.reset(seed=1)
    for actions in drawn_actions(ENVS * 2):
        assert np.array_equal(batch.step(actions.reshape(ENVS, 2))[1], twin.step(actions.reshape(ENVS, 2))[1])


def rows(kind, **options):
    """Yield the rewards of each step of a kind of vector environment, (E, 2), shaped rewards added."""
    env = collab_overcooked.make_vec("Overcooked-v0", ENVS, kind, **ROOM, **options)
    env.events_to_rewards(WEIGHTS)
    env.set_shaping(0.5)
    env.seed(1) if kind == "sb3" else None
    env.reset() if kind == "sb3" else env.reset(seed=1)
    for actions in drawn_actions(ENVS * 2):
        rewards = env.step(actions.reshape(ENVS, 2) if kind == "native" else actions)[1]
        yield rewards.reshape(ENVS, 2).copy()


@pytest.mark.parametrize(("kind", "options"), [("gymnasium", {"autoreset_mode": "SAME_STEP"}), ("sb3", {})])
def test_other_kinds_pay_the_same_also_in_the_last_step(kind, options):
    if kind == "sb3":
        pytest.importorskip("stable_baselines3")
    pairs = list(zip(rows("native"), rows(kind, **options), strict=True))[:120]  # afterwards only these start again
    assert all(np.allclose(one, other) for one, other in pairs)
    assert sum(np.abs(one).sum() for one, _ in pairs) > 30


def test_a_parallel_env_pays_the_same_as_a_batch():
    env = collab_overcooked.make("Overcooked-v0", **ROOM)
    batch = collab_overcooked.make_vec("Overcooked-v0", 1, **ROOM)
    env.events_to_rewards(WEIGHTS)
    batch.events_to_rewards(WEIGHTS)
    env.reset(seed=3)
    batch.reset(seed=3)
    for actions in drawn_actions(2)[:120]:
        rewards = env.step(dict(zip(env.agents, actions.tolist(), strict=True)))[1]
        assert list(rewards.values()) == batch.step(actions[None])[1][0].tolist()


GAMES = ["CollabOvercooked-v0", "CraftKitchen-v0", "KitchenRush-v0", "Housework-v0", "Transport-v0", "CollabEscape-v0"]


@pytest.mark.parametrize("env_id", GAMES)
def test_codes_of_other_games_are_those_of_their_records(env_id):
    batch = collab_overcooked.make_vec(env_id, 3)
    game = batch.game
    _, infos = batch.reset(seed=0)
    decoders = {name: EventReward(game, {name: 1.0}) for name in game.event_names}
    rng, counted = np.random.default_rng(0), 0
    for _ in range(40):
        actions = (rng.random(infos["action_mask"].shape) * infos["action_mask"]).argmax(-1)
        infos = batch.step(actions)[-1]
        counts = game.event_counts(batch.out)
        for k, name in enumerate(game.event_names):
            assert np.array_equal(decoders[name].of(batch.out), counts[..., k])
        for e in range(3):
            for seat, event in enumerate(game.events(batch.out, e)):
                if event is not None and event["event"] and event.get("reason", "OK") == "OK":
                    assert counts[e, seat, game.event_names.index(str(event["event"]).lower())] == 1
                    counted += 1
    assert counted > 10


@pytest.mark.parametrize(
    ("env_id", "weights", "message"),
    [
        ("Overcooked-v0", {"POTTED": 3}, "events: unknown event 'potted'.*potting_onion"),
        ("Overcooked-v0", {"potting_onion": "3"}, "the weight of potting_onion must be a number, not '3'"),
        ("Overcooked-v0", {"potting_onion": float("nan")}, "must be a number"),
        ("Overcooked-v0", {"potting_onion": 1e308}, "must be a number of at most 1000000000"),
        ("Overcooked-v0", [3], "weights must be a mapping"),
        ("CuisineWorld-v0", {"get": 1}, "CuisineWorld-v0 does not count events"),
    ],
)
def test_wrong_weights_are_refused(env_id, weights, message):
    with pytest.raises(ValueError, match=message):
        collab_overcooked.make_vec(env_id, 2).events_to_rewards(weights)


def test_a_refused_command_of_craft_is_no_wait():
    batch = collab_overcooked.make_vec("CraftKitchen-v0", 1, level="field")
    batch.reset(seed=0)
    batch.events_to_rewards({"wait": -1.0, "goto": 0.5})
    refused, goto = (batch.game.parse(text) for text in ("killMob(chicken)", "goto(chicken)"))
    assert batch.step([[refused, 0]])[1].tolist() == [[0.0, -1.0]]
    assert batch.game.event_counts(batch.out)[0, 0].sum() == 0
    assert batch.step([[goto, refused]])[1].tolist() == [[0.5, 0.0]]


def test_seats_can_be_paid_by_different_weights():
    batch, twin, all_seats = (collab_overcooked.make_vec("Overcooked-v0", ENVS, **ROOM) for _ in range(3))
    batch.events_to_rewards({"agent_1": WEIGHTS})
    all_seats.events_to_rewards(WEIGHTS)
    for one in (batch, twin, all_seats):
        one.reset(seed=1)
    for actions in drawn_actions(ENVS * 2):
        rewards, plain, paid = (one.step(actions.reshape(ENVS, 2))[1] for one in (batch, twin, all_seats))
        assert np.array_equal(rewards[:, 0], plain[:, 0]) and np.array_equal(rewards[:, 1], paid[:, 1])
    with pytest.raises(ValueError, match="unknown agent 'reward'"):
        batch.events_to_rewards({"agent_1": WEIGHTS, "reward": 1.0})
