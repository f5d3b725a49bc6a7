"""A channel of symbols: ids, observations by every form of picture, who hears whom, noise, and quiet policies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from collab_overcooked import make, make_vec, registered, registry
from collab_overcooked.envs.api import ActionError, clone
from collab_overcooked.envs.channel import TalkingGame, quiet_arrays
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.batched import play_batch
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import random_legal

K = 3
ESCAPE = "CollabEscape-v0"


def talking(env_id=ESCAPE, channel=K, **options):
    env = make(env_id, channel=channel, **options)
    env.reset(seed=1)
    return env


def say(env, *symbols):
    """Every agent takes its first legal act and says a symbol."""
    n_acts = env.game.quiet.n_actions
    acts = [int(np.flatnonzero(env.action_mask(agent)[:n_acts])[0]) for agent in env.agents]
    return env.step({a: act + n_acts * symbol for a, act, symbol in zip(env.agents, acts, symbols, strict=True)})


@pytest.mark.parametrize("env_id", [ESCAPE, "Overcooked-v0"])
def test_an_action_is_symbol_times_acts_plus_act(env_id):
    env, quiet = talking(env_id), make(env_id)
    quiet.reset(seed=1)
    assert env.action_space("agent_0").n == (K + 1) * quiet.action_space("agent_0").n
    say(env, 2, 0)
    say(quiet_twin := copy.deepcopy(env), 0, 3)
    assert env.scene()["said"] == [2, 0] and quiet_twin.scene()["said"] == [0, 3]
    texts = env.game.action_texts()
    n_acts = env.game.quiet.n_actions
    assert texts[:n_acts] == quiet.game.action_texts()
    assert texts[2 * n_acts] == f"say 2: {texts[0]}"
    np.testing.assert_array_equal(env.action_mask("agent_0"), np.tile(env.action_mask("agent_0")[:n_acts], K + 1))


SHAPES = {
    "vector": (ESCAPE, {}, -1),
    "x first": ("Overcooked-v0", {"axes": "whc"}, 2),
    "rows first": ("Overcooked-v0", {"axes": "hwc"}, 2),
    "channels first": ("Overcooked-v0", {"axes": "chw"}, 0),
    "window": ("OvercookedV2-v0", {"view_radius": 2}, 2),
    "grid": ("CollabOvercooked-v0", {"obs": "grid"}, 2),
}


@pytest.mark.parametrize(("env_id", "options", "axis"), SHAPES.values(), ids=SHAPES)
def test_observations_add_a_plane_for_each_agent_and_symbol_own_ones_first(env_id, options, axis):
    env = talking(env_id, **options)
    observations, *_ = say(env, 2, 3)
    quiet = env.game.quiet
    quiet_shape = quiet.single_observation_space.shape
    _, plain = quiet.alloc(1)
    plain.fresh[:] = True
    quiet.observe(quiet_arrays(env.arrays[0]), plain)
    for seat, heard in enumerate(([2, 3], [3, 2])):
        before, planes = np.split(observations[f"agent_{seat}"], [quiet_shape[axis]], axis=axis)
        np.testing.assert_array_equal(before, plain.observations[0, seat].reshape(quiet_shape))
        np.testing.assert_array_equal(before, env.game.quiet_part(observations[f"agent_{seat}"]))
        expected = np.zeros((2, K), np.uint8)
        expected[[0, 1], np.array(heard) - 1] = 1
        by_plane = np.moveaxis(planes, axis, 0).reshape(2 * K, -1)
        assert (by_plane == expected.reshape(-1, 1)).all()
    assert env.observation_space("agent_0").contains(observations["agent_0"])


@pytest.mark.parametrize("env_id", registered())
def test_what_a_game_shows_is_what_it_shows_without_a_channel(env_id):
    env, quiet = talking(env_id), registry.load_game(env_id)
    shape, (_, plain) = quiet.single_observation_space.shape, quiet.alloc(1)
    for _ in range(3):
        say(env, *range(1, quiet.n_agents + 1))
        plain.fresh[:] = True
        quiet.observe(quiet_arrays(env.arrays[0]), plain)
        for seat, agent in enumerate(env.agents):
            shown = env.game.quiet_part(env.arrays[1].observations[0, seat].reshape(env.observation_space(agent).shape))
            np.testing.assert_array_equal(shown, plain.observations[0, seat].reshape(shape))


def test_a_refused_act_says_nothing_and_an_end_keeps_what_was_said():
    batch, rng, refused = make_vec("KitchenRush-v0", 8, channel=K, max_cycles=20), np.random.default_rng(0), 0
    batch.reset(seed=0)
    n_acts, symbols = batch.game.quiet.n_actions, np.array([2, 3])
    for _ in range(20):
        running = ~batch.over
        infos = batch.step(random_legal(batch, rng) % n_acts + n_acts * symbols)[-1]
        refused += (infos["rejected"] > 0).sum()
        np.testing.assert_array_equal(batch.state.said[running], np.where(infos["rejected"] == 0, symbols, 0)[running])
    assert refused and batch.over.all()
    last = batch.state.said.copy()
    batch.step(np.full((8, 2), n_acts))
    np.testing.assert_array_equal(batch.state.said, last)
    batch.reset()
    assert not batch.state.said.any()


HEARD = {"all": [[1, 2, 3], [1, 2, 3], [1, 2, 3]], "ring": [[1, None, 3], [1, 2, None], [None, 2, 3]]}
HEARD["one-way"] = [[1, None, None], [1, 2, None], [1, None, 3]]
HEARD["nobody"] = [[1, None, None], [None, 2, None], [None, None, 3]]


@pytest.mark.parametrize("to", HEARD)
def test_seats_hear_whom_the_option_lets_them_hear(to):
    env = talking(agents=3, channel_to=to)
    say(env, 1, 2, 3)
    for seat, heard in enumerate(HEARD[to]):
        view = env.game.seen(env.arrays[0], 0, seat)
        assert view.scene["said"] == heard
        names = [*env.game.display_names]
        names[seat] = "You"
        assert view.text.splitlines()[-1] == [f"{n} said {s}." for n, s in zip(names, heard, strict=True) if s][-1]
        assert view.surroundings.endswith(view.text.splitlines()[-1])
        planes = env.arrays[1].observations[0, seat, -3 * K :].reshape(3, K)
        order = [(seat + k) % 3 for k in range(3)]
        assert [int(row.argmax()) + 1 if row.any() else None for row in planes] == [heard[k] for k in order]


def test_searches_believe_anything_of_what_a_seat_does_not_hear():
    env = talking(channel_to="nobody")
    say(env, 1, 2)
    said = Simulator(env.game, env.arrays[0], 0).fork(200, 0).state.said
    assert (said[:, 0] == 1).all() and set(said[:, 1].tolist()) == set(range(K + 1))


def test_noise_replaces_symbols_with_its_probability_and_changes_nothing_else():
    envs, heard = 400, {}
    for noise in (None, 0.5):
        batch = make_vec("Overcooked-v0", envs, channel=4, channel_noise=noise)
        batch.reset(seed=3)
        n_acts = batch.game.quiet.n_actions
        symbols = [batch.step(np.full((envs, 2), 2 * n_acts)) and batch.state.said.copy() for _ in range(10)]
        heard[noise], arrays = np.array(symbols), quiet_arrays(batch.state)
        if noise is None:
            before = arrays
    assert (heard[None] == 2).all()
    changed = (heard[0.5] != 2).mean()  # of the replacements, a quarter is the same symbol
    assert abs(changed - 0.375) < 4 * np.sqrt(0.375 * 0.625 / heard[0.5].size)
    counts = np.bincount(heard[0.5].reshape(-1), minlength=5)
    assert counts[0] == 0 and counts[[1, 3, 4]].min() > 0.8 * counts[[1, 3, 4]].max()
    for name, one, other in zip(before._fields, before, arrays, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


def test_a_delay_shifts_what_is_heard_and_nothing_else():
    """With a delay of 2, what is said in step t is heard after step t + 2; resets and scenes keep what is pending."""
    quick, late = talking("KitchenRush-v0"), talking("KitchenRush-v0", channel_delay=2)
    said = [(1, 0), (2, 3), (0, 0), (3, 1), (1, 1)]
    heard = []
    for symbols in said:
        step = say(quick, *symbols)[1]
        assert say(late, *symbols)[1] == step
        heard.append(tuple(late.scene()["said"]))
    assert heard == [(0, 0), (0, 0), *said[:3]]
    assert late.scene()["pending"] == [list(symbols) for symbols in said[3:]]
    assert "pending" not in late.game.seen(late.arrays[0], 0, 0).scene
    again = make("KitchenRush-v0", channel=K, channel_delay=2)
    again.reset(options={"state": late.scene()})
    say(again, 0, 0)
    assert again.scene()["said"] == list(said[3])
    again.reset(seed=0)
    assert again.scene()["pending"] == [[0, 0]] * 2


def test_a_cost_is_subtracted_from_all_for_each_symbol_that_was_said():
    """Refused acts say nothing and cost nothing; rewards are those of the quiet game less the costs, exactly."""
    cost, envs, rng = 0.25, 16, np.random.default_rng(0)
    options = {"max_cycles": 20}
    priced = make_vec("KitchenRush-v0", envs, channel=K, channel_cost=cost, **options)
    quiet = make_vec("KitchenRush-v0", envs, **options)
    priced.reset(seed=0)
    quiet.reset(seed=0)
    n_acts, refused = quiet.game.n_actions, 0
    for _ in range(25):
        over, symbols = priced.over.copy(), rng.integers(0, K + 1, (envs, 2))
        acts = random_legal(quiet, rng)
        rewards, free = priced.step(acts + n_acts * symbols)[1], quiet.step(acts)[1]
        rejected = priced.game.rejections(priced.state, priced.out)
        refused += (rejected > 0).sum()
        counted = ((symbols > 0) & (rejected == 0) & ~over[:, None]).sum(1)
        np.testing.assert_array_equal(rewards, free - cost * counted[:, None])
    assert refused and priced.over.all()


@pytest.mark.parametrize("env_id", [ESCAPE, "Overcooked-v0"])
def test_options_that_are_off_change_nothing(env_id):
    off = {"channel_delay": 0, "channel_cost": None, "channel_noise": None, "channel_to": "all"}
    plain, spelled = talking(env_id), talking(env_id, **off)
    assert plain.game.kwargs == spelled.game.kwargs and plain.state_space == spelled.state_space
    for symbols in ((1, 2), (0, 3), (2, 2)):
        for one, other in zip(say(plain, *symbols), say(spelled, *symbols), strict=True):
            assert str(one) == str(other)
    assert plain.scene() == spelled.scene() and "pending" not in plain.scene()


def test_rules_tell_delay_cost_and_direction():
    manual = talking(channel_delay=1, channel_cost=0.5, channel_to="one-way").game.channel_rules()
    assert "All others hear" in manual and "2 steps later" in manual and "costs every agent 0.5" in manual


def test_spoken_texts_are_parsed_and_wrong_symbols_named():
    env = talking()
    n_acts = env.game.quiet.n_actions
    text = env.game.action_texts(env.arrays[0], 0, 0)[0]
    assert env.game.parse(f"SAY 2:  {text}", env.arrays[0], 0, 0) == 2 * n_acts
    with pytest.raises(ActionError, match="the symbol must be an integer from 1 to 3, not 4"):
        env.game.parse(f"say 4: {text}", env.arrays[0], 0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channel": -1}, "channel must be an integer from 0 to 64, not -1"),
        ({"channel": 65}, "channel must be an integer from 0 to 64, not 65"),
        ({"channel": 2, "channel_to": "everybody"}, "channel_to"),
        ({"channel": 2, "channel_noise": 1.5}, "channel_noise must be a number above 0 and below 1"),
        ({"channel": 2, "channel_delay": 17}, "channel_delay must be an integer from 0 to 16, not 17"),
        ({"channel": 2, "channel_cost": -1}, "channel_cost must be a number above 0"),
        ({"channel_to": "ring"}, "channel_to needs channel"),
        ({"channel_cost": 1}, "channel_cost needs channel"),
        ({"channel": 2, "agents": 1}, "channel needs at least 2 agents"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make(ESCAPE, **options)


def test_no_channel_is_the_game_itself():
    game = registry.load_game(ESCAPE, channel=0)
    assert not isinstance(game, TalkingGame) and game.kwargs == registry.load_game(ESCAPE).kwargs
    assert game.quiet is game and quiet_arrays(state := game.alloc(1)[0]) is state


def test_a_lexicon_translates_what_is_said_with():
    env = talking("AlienRush-v0")
    texts, quiet = env.game.action_texts(), make("AlienRush-v0").game.action_texts()
    assert texts[len(quiet) + 1] == f"say 1: {quiet[1]}"
    view = env.game.seen(env.arrays[0], 0, 0)
    assert view.quiet.action_texts == quiet and view.action_texts == texts
    assert env.parse(texts[len(quiet) + 1], "agent_0") == len(quiet) + 1


def test_states_are_copied_pickled_and_share_their_memory_with_quiet_ones():
    env = talking()
    state, out = env.arrays
    assert state.quiet is state.quiet and np.shares_memory(state.quiet.rng, state.rng)
    for copied in (copy.deepcopy(state), pickle.loads(pickle.dumps(state)), clone(state, 0)):
        assert type(copied) is type(state) and np.array_equal(copied.said, state.said)
        assert np.shares_memory(copied.quiet.rng, copied.rng) and not np.shares_memory(copied.rng, state.rng)
    assert out.quiet.observations is out.observations and out.quiet.masks is out.quiet_masks
    game = pickle.loads(pickle.dumps(env.game))
    assert game.kwargs == env.game.kwargs and game.n_actions == env.game.n_actions


class Babbler:
    """Any legal action, whatever it says."""

    name, speaks, batched = "babbler", True, True

    def reset(self, seat, info, seed):
        self.rng, self.game = np.random.default_rng([seed, seat]), info.game

    def act(self, seen):
        assert len(seen.mask) == self.game.n_actions and "said" in seen.scene
        return int(self.rng.choice(np.flatnonzero(seen.mask)))

    def reply(self, seen):
        return None


def maker(spec):
    return Babbler() if spec == "babbler" else make_known_policy(spec)


def acts_and_pay(record):
    return [(step.actions, step.action_texts, step.rewards) for step in record.steps]


@pytest.mark.parametrize("spec", ["greedy", "planner", "random", "noisy:0.3:greedy"])
@pytest.mark.parametrize("env_id", [ESCAPE, "KitchenRush-v0"])
def test_policies_of_quiet_games_play_as_without_a_channel(env_id, spec):
    records, batches = [], []
    for options in ({}, {"channel": K}):
        env = make(env_id, **options)
        records.append(play_episode(env, make_team([spec] * 2), 5, ends_after=30))
        played = play_batch(env_id, {**options, "max_cycles": 30}, [spec] * 2, [5, 6])
        batches.append([one and (one.actions.tolist(), one.rewards.tolist()) for one in played])
    assert acts_and_pay(records[0]) == acts_and_pay(records[1]) and batches[0] == batches[1]


def test_policies_that_speak_sit_beside_others_alone_and_in_batches():
    env = make(ESCAPE, channel=K)
    n_acts, team = env.game.quiet.n_actions, ["babbler", "random"]
    record = play_episode(env, make_team(team, maker), 5)
    said = [[action // n_acts for action in step.actions] for step in record.steps]
    assert {symbols[1] for symbols in said} == {0} and len({symbols[0] for symbols in said}) > 1
    assert first_difference(record) is None
    (decided,) = play_batch(ESCAPE, {"channel": K}, team, [5], maker)
    assert decided.actions.tolist() == [list(step.actions) for step in record.steps]


@pytest.mark.parametrize("env_id", registered())
def test_every_game_takes_a_channel(env_id):
    game = registry.load_game(env_id, channel=2)
    assert game.n_actions == 3 * game.quiet.n_actions and registry.load_game(env_id, **game.kwargs).symbols == 2
