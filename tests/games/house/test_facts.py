"""What agents tell each other by the code of facts: the listener knows where a wanted thing is, and nothing more."""

from __future__ import annotations

import numpy as np
import pytest
from support.hidden import hide, reach

from collab_overcooked import registry
from collab_overcooked.envs.api import clone
from collab_overcooked.games.house.engine.constants import Verb
from collab_overcooked.games.house.policies.planner import SubPlans
from collab_overcooked.kernels.macro_actions import Level

HOMES = ("Housework-v0", "Transport-v0")


def heard(game, seeds=range(16), steps=(2, 12, 30)):
    """Yield states, their outputs, listeners, facts that their teammates tell, and what they know with the fact."""
    for seed in seeds:
        for count in steps:
            state, out = reach(game, seed, count)
            for seat in (0, 1):
                fact = game.known_fact(game.seat_scene(game.scene(state, 0), 1 - seat), 1 - seat)
                if fact is not None:
                    yield state, out, seat, fact, told(game, state, seat, fact)


def told(game, state, seat, fact):
    known = clone(state, 0)
    game.learn_fact(known, seat, fact, game.seat_scene(game.scene(state, 0), seat))
    return known


def observed(game, state, seat):
    out = game.alloc(1)[1]
    game.observe(state, out)
    return out.observations[0, seat]


@pytest.mark.parametrize("env_id", HOMES)
@pytest.mark.parametrize("rooms", [None, 8])
def test_every_fact_has_a_symbol(env_id, rooms):
    game = registry.load_game(env_id, **({} if rooms is None else {"rooms": rooms}))
    assert 30 <= len(game.facts) <= 64 and len(set(game.facts)) == len(game.facts)


@pytest.mark.parametrize("env_id", HOMES)
def test_a_listener_learns_where_a_thing_is_and_nothing_else(env_id):
    game, learnt, beliefs = registry.load_game(env_id), 0, 0
    for state, _, seat, fact, known in heard(game):
        before, after = (game.seat_scene(game.scene(one, 0), seat) for one in (state, known))
        new = [o for o in after["things"] if o not in before["things"]]
        if not new:
            assert after == before and game.describe(known, 0, seat) == game.describe(state, 0, seat)
            continue
        (o,), learnt = new, learnt + 1
        thing = after["things"].pop(o)
        assert after == before
        row, place = divmod(fact, len(game._fact_places))
        assert (thing["name"], thing["status"], thing["role"]) == (before["goals"][row]["name"], "seen", "target")
        label, rooms = game.place_label(game._fact_places[place]), [room["name"] for room in before["rooms"]]
        assert label == (rooms[thing["room"]] if env_id == "Transport-v0" else game.place_label(thing["place"]))
        lines = zip(game.describe(state, 0, seat).splitlines(), game.describe(known, 0, seat).splitlines(), strict=True)
        changed = [line for line in lines if line[0] != line[1]]
        assert len(changed) == 1 and changed[0][1].startswith(rooms[thing["room"]])
        differing = np.flatnonzero(observed(game, state, seat) != observed(game, known, seat))
        assert len(differing) and np.ptp(differing) < 5
        believed = clone(known, 0)
        game.sample_belief(believed, seat, np.random.default_rng(0))
        sampled = game.seat_scene(game.scene(believed, 0), seat)["things"][o]
        assert (sampled["name"], sampled["room"]) == (thing["name"], thing["room"])
        beliefs += game.scene(believed, 0)["places"][sampled["place"]]["kind"] != "none"
    assert learnt > 5 and beliefs == learnt, learnt


@pytest.mark.parametrize("env_id", HOMES)
def test_what_is_learnt_does_not_depend_on_what_is_hidden(env_id):
    game, rng, learnt = registry.load_game(env_id), np.random.default_rng(0), 0
    for state, _, seat, fact, known in heard(game):
        scene, before = (game.seat_scene(game.scene(one, 0), seat) for one in (known, state))
        learnt += scene != before
        for _ in range(3):
            other = told(game, hide(game, state, seat, rng), seat, fact)
            assert game.seat_scene(game.scene(other, 0), seat) == scene
            assert game.describe(other, 0, seat) == game.describe(known, 0, seat)
            assert (observed(game, other, seat) == observed(game, known, seat)).all()
    assert learnt > 5


@pytest.mark.parametrize("env_id", HOMES)
def test_who_was_told_of_a_thing_goes_there_to_find_it(env_id):
    game, chosen = registry.load_game(env_id), set()
    texts, rows = game.action_texts(), game.compiled.tables.catalogue[Level.MEDIUM].tolist()
    for state, out, seat, _, known in heard(game):
        before, after = (game.seat_scene(game.scene(one, 0), seat) for one in (state, known))
        if None not in after["me"]["hands"] or after["me"]["running"][0] >= 0:
            continue
        ways = SubPlans(rows, out.masks[0, seat]).to_things(after)
        for o in after["things"].keys() - before["things"].keys():
            thing = after["things"][o]
            inside, room = game.place_label(thing["place"]), after["rooms"][thing["room"]]["name"]
            assert texts[ways[o]] in (f"check {inside}", f"go to {room}", "search")
            chosen.add(texts[ways[o]].split()[0])
        fetched = SubPlans(rows, out.masks[0, seat]).ids[Verb.FETCH]
        assert SubPlans(rows, out.masks[0, seat]).to_things(before) == fetched, "what was seen is taken as before"
    assert "go" in chosen


@pytest.mark.parametrize("env_id", HOMES)
def test_who_has_looked_there_knows_better(env_id):
    game, looked = registry.load_game(env_id), 0
    for seed in range(3):
        state, _ = reach(game, seed, 40)
        scene = game.seat_scene(game.scene(state, 0), 0)
        for k, p in enumerate(game._fact_places):
            room = env_id == "Transport-v0"
            state_of = scene["rooms"][p]["known"] if room else scene["places"].get(p, {}).get("state")
            if state_of in ("all", "open", "checked"):
                looked += 1
                assert game.seat_scene(game.scene(told(game, state, 0, k), 0), 0) == scene
    assert looked > 2
