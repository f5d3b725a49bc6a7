"""Speakers around any policy: they change no act, say what their names say, and know no more than their seats."""

from __future__ import annotations

import numpy as np
import pytest

from collab_overcooked import make, registry
from collab_overcooked.envs.api import clone
from collab_overcooked.evaluation.communication import measure_communication
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.speakers import SPEAKERS
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.batched import play_batch
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

V2 = ("OvercookedV2-v0", {"layout": "grounded_coord_simple", "view_radius": 2})
ESCAPE, CAPTURE = (("CollabEscape-v0", {"sight": "room"}), ("CollabCapture-v0", {"sight": "room"}))
FACTS = {"OvercookedV2-v0": V2[1], "CollabEscape-v0": ESCAPE[1], "CollabCapture-v0": CAPTURE[1]}
FACTS |= {"Housework-v0": {}, "Transport-v0": {}}


def played(env_id, team, seed=3, steps=25, **options):
    env = make(env_id, **options)
    team = [team] * env.game.n_agents if isinstance(team, str) else team
    return play_episode(env, make_team(team), seed, ends_after=steps)


def acts(record, n_acts):
    return [([action % n_acts for action in step.actions], step.rewards) for step in record.steps]


def symbols(record, n_acts):
    return np.array([step.actions for step in record.steps]) // n_acts


QUIET = [
    (*V2, "greedy"),
    (*ESCAPE, "planner"),
    (*ESCAPE, "noisy:0.3:greedy"),
    ("Overcooked-v0", {}, "greedy"),
    ("KitchenRush-v0", {}, "greedy"),
    ("CollabOvercooked-v0", {}, "greedy"),
    ("Transport-v0", {}, "random"),
]


@pytest.mark.parametrize(("env_id", "options", "spec"), QUIET, ids=lambda value: value if type(value) is str else "")
def test_a_speaker_without_listeners_changes_no_act(env_id, options, spec):
    n_acts = registry.load_game(env_id, **options).n_actions
    quiet = played(env_id, spec, **options)
    silent = played(env_id, f"say:nothing:{spec}", channel=2, **options)
    assert silent.steps == quiet.steps
    babble = played(env_id, f"say:random:{spec}", channel=2, **options)
    assert acts(babble, n_acts) == acts(quiet, n_acts)
    assert set(symbols(babble, n_acts).flat) in ({1, 2}, {0, 1, 2})  # refused attempts may be replaced by silent ones


@pytest.mark.parametrize("what", SPEAKERS)
def test_they_play_in_batches_as_they_play_alone(what):
    team, options = [f"say:{what}:greedy"] * 2, {**ESCAPE[1], "channel": 10}
    for seed, batched in zip((3, 4), play_batch("CollabEscape-v0", options, team, [3, 4]), strict=True):
        record = played("CollabEscape-v0", team, seed, None, **options)
        assert batched.actions.tolist() == [list(step.actions) for step in record.steps]


@pytest.mark.parametrize("env_id", FACTS)
def test_what_is_said_depends_on_what_the_seat_knows_alone(env_id):
    """States that differ only in what a seat may not know give the same symbols, whatever it says."""
    quiet = registry.load_game(env_id, **FACTS[env_id])
    env, rng, said = make(env_id, channel=len(quiet.facts), **FACTS[env_id]), np.random.default_rng(0), set()
    game, differing = env.game, 0
    for seed in range(2):
        env.reset(seed=seed)
        for _ in range(4):
            for seat in range(game.n_agents):
                true = clone(env.arrays[0], 0)
                states = [true, *(clone(true, 0) for _ in range(2))]
                for other in states[1:]:
                    game.sample_belief(other, seat, rng)
                differing += any(game.scene(other, 0) != game.scene(true, 0) for other in states[1:])
                for what in ("seen", "intent"):
                    answers = [answer(game, state, seat, f"say:{what}:greedy") // quiet.n_actions for state in states]
                    assert len(set(answers)) == 1
                    said |= {answers[0]} if what == "seen" else set()
            if not env.agents:
                break
            env.step({agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents})
            if not env.agents:
                break
    assert differing and len(said) > 1


def answer(game, state, seat, spec):
    policy, out = make_policy(spec), game.alloc(1)[1]
    game.observe(state, out)
    info = EnvInfo(game.id, game, "", (spec,) * game.n_agents, Simulator(game, state, seat))
    policy.reset(seat, info, 0)
    decision = policy.act(AgentView.of(game, state, out, seat))
    return getattr(decision, "action", decision)


def test_the_recipe_is_said_by_who_sees_it_and_known_one_step_later():
    env = make(V2[0], channel=2, **V2[1])
    game, recipes = env.game, env.game.facts
    team = make_team(["say:seen"] * 2)
    record = play_episode(env, team, 5, ends_after=4)
    said = symbols(record, game.quiet.n_actions)
    env.reset(seed=5)
    true = 1 + recipes.index(f"the recipe is {', '.join(env.scene()['recipe'])}")
    knows = [player["knows_recipe"] for player in env.scene()["players"]]
    assert sorted(knows) == [False, True]
    speaker = knows.index(True)
    assert set(said[:, speaker]) == {true} and set(said[:, 1 - speaker]) == {0}


@pytest.mark.parametrize("delay", [0, 2])
def test_a_listener_knows_what_it_has_heard(delay):
    env = make(V2[0], channel=2, channel_delay=delay, **V2[1])
    env.reset(seed=5)
    state, out = env.arrays
    speaker = [player["knows_recipe"] for player in env.scene()["players"]].index(True)
    listener, info = make_policy("say:seen"), EnvInfo(env.game.id, env.game, "", ("say:seen",) * 2)
    listener.reset(1 - speaker, info, 0)
    for timestep in range(delay + 2):
        listener.act(AgentView.of(env.game, state, out, 1 - speaker, timestep))
        copied = clone(state, 0).quiet
        listener.learn(copied)
        known = env.game.quiet.seat_scene(env.game.quiet.scene(copied, 0), 1 - speaker)["recipe"]
        assert known == (env.scene()["recipe"] if timestep > delay else None)
        symbol = 1 + env.game.known_fact(env.game.quiet.scene(state.quiet, 0), speaker)
        idle, acts = env.game.quiet.idle_action(), env.game.quiet.n_actions
        env.step({agent: idle + acts * symbol * (k == speaker) for k, agent in enumerate(env.agents)})


def test_news_of_a_recipe_that_was_delivered_since_are_not_believed():
    game = registry.load_game(V2[0], redraw_recipe=True, **V2[1])
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, bool))
    seat = [player["knows_recipe"] for player in game.scene(state, 0)["players"]].index(False)
    for served, known in ((1, False), (0, True)):
        game.learn_fact(state, seat, 1, {"served": served})
        assert game.scene(state, 0)["players"][seat]["knows_recipe"] == known
    assert f"the recipe is {', '.join(game.scene(state, 0)['recipe'])}" == game.facts[1]


@pytest.mark.parametrize(("env_id", "options"), [ESCAPE, CAPTURE])
def test_who_hears_of_the_adversary_remembers_it_unless_it_has_seen_it_since(env_id, options):
    game = registry.load_game(env_id, **options)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, bool))
    for _ in range(3):
        game.step(state, np.zeros((1, game.n_agents), np.int32), out)
    room = game.level.rooms[4]
    state.sightings[0, 1, game.n_agents] = 0, 1
    for then, heard in ((0, False), (1 if env_id == ESCAPE[0] else 2, True)):  # who goes there is there a turn later
        game.learn_fact(state, 1, 4, {"turn": then})
        adversary = game.seat_scene(game.scene(state, 0), 1)["adversary"]
        assert ((adversary["room"], adversary.get("seen_ago")) == (room, 1)) == heard


def test_the_killer_is_where_it_was_said_to_go_when_that_is_heard():
    """Also in texts and beliefs, which tell nothing else about it: not whom it chases, which only sight tells."""
    env, rng, told = make(ESCAPE[0], channel=10, **ESCAPE[1]), np.random.default_rng(0), 0
    game = env.game.quiet
    for seed in range(20):
        env.reset(seed=seed)
        while env.agents:
            scenes = [game.seat_scene(env.scene(), seat) for seat in (0, 1)]
            facts = [game.known_fact(scene, seat) for seat, scene in enumerate(scenes)]
            env.step({agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents})
            for seat, fact in enumerate(facts):
                if fact is None:
                    continue
                scene, state = env.scene(), clone(env.arrays[0], 0).quiet
                assert scene["adversary"]["room"] == game.level.rooms[fact]
                game.learn_fact(state, 1 - seat, fact, scenes[1 - seat])
                known = game.seat_scene(game.scene(state, 0), 1 - seat)["adversary"]
                assert known["room"] == scene["adversary"]["room"]
                if "seen_ago" not in known:
                    continue
                told += 1
                assert known == {"room": scene["adversary"]["room"], "target": None, "seen_ago": 0}
                lines = game.describe(state, 0, 1 - seat).splitlines()
                assert f"The killer is in {game.level.title(known['room'])}." in lines
                game.sample_belief(state, 1 - seat, rng)
                assert game.scene(state, 0)["adversary"]["room"] == known["room"]
    assert told > 20


@pytest.mark.parametrize(
    ("env_id", "spec"), [("Housework-v0", "mhp"), ("Transport-v0", "rhp"), ("Transport-v0", "greedy")]
)
def test_telling_where_things_are_changes_what_is_done(env_id, spec):
    n_acts, changed = registry.load_game(env_id).n_actions, 0
    for seed in range(2):
        quiet, told = (
            acts(played(env_id, f"say:{what}:{spec}", seed, channel=64), n_acts) for what in ("nothing", "seen")
        )
        changed += quiet != told
    assert changed


def test_telling_where_the_killer_goes_pays():
    one = measured(ESCAPE[0], {**ESCAPE[1], "channel": 10}, ("say:seen:planner",) * 2, range(1000, 1003), None)
    assert one.values["muted"].mean.value > 0
    assert any(listener.muted and listener.exchanged for listener in one.listening.values())


def measured(env_id, options, specs, seeds, steps):
    env = make(env_id, **options)
    records = [play_episode(env, make_team(specs), seed, ends_after=steps) for seed in seeds]
    (one,) = measure_communication(records)
    return one


@pytest.mark.parametrize("specs", [("say:nothing", "say:nothing"), ("say:seen", "say:nothing"), ("say:random",) * 2])
def test_what_nobody_listens_to_is_worth_exactly_nothing(specs):
    """A mute team, one whose listener is deaf, and one that babbles."""
    one = measured("CollabCapture-v0", {**CAPTURE[1], "channel": 9}, specs, range(20, 40), None)
    for difference in one.values.values():
        assert (difference.mean.value, difference.higher, difference.lower) == (0, 0, 0)
    listener = list(one.listening.values())[1]
    assert not listener.exchanged and not listener.muted
    for signal in one.signalling.values():
        assert signal.p > 0.01 or specs[0] == "say:seen"
        assert specs[0] != "say:nothing" or (signal.symbols, signal.information) == (1, 0)


def test_telling_the_recipe_pays():
    one = measured(V2[0], {**V2[1], "channel": 2}, ("say:seen",) * 2, range(20, 23), 70)
    assert one.values["muted"].mean.value > 0
    assert max(signal.information for (_, key), signal in one.signalling.items() if key == "recipe") > 0.5


WRONG = [
    ("say:shout", ESCAPE, 10, "unknown what to say 'shout'"),
    ("say:seen", ESCAPE, 0, "needs a channel"),
    ("say:seen", ESCAPE, 3, "needs channel=10"),
    ("say:seen", ("CollabEscape-v0", {}), 3, "no facts to tell"),
    ("say:intent:random", ESCAPE, 3, "'random' offers no plan in CollabEscape-v0"),
    ("say:seen:say:nothing", ESCAPE, 10, "chooses symbols itself"),
    ("say:nothing:person", ESCAPE, 3, "cannot change how 'person' plays"),
]


@pytest.mark.parametrize(("spec", "game", "channel", "message"), WRONG, ids=[wrong[0] for wrong in WRONG])
def test_what_cannot_be_said_is_named(spec, game, channel, message):
    with pytest.raises(ValueError, match=message):
        played(game[0], spec, steps=2, channel=channel, **game[1])
