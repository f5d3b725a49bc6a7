"""Practice: goals, tutorials of games, and who practises first."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from play.world import ESCAPE, first_legal, lines, play, ready_after
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.games.rooms.env import CollabEscape
from collab_overcooked.play import rooms
from collab_overcooked.play.practice import BEGINS_AGAIN, COUNTS_NOW, TUTORIAL, TUTORIAL_ROUNDS, Goal, Practice
from collab_overcooked.play.recording import TUTORIALS
from collab_overcooked.play.rooms import playable
from collab_overcooked.play.server import page_file
from collab_overcooked.play.settings import LANGUAGES
from collab_overcooked.reporting.pictures import picture_of, places_of
from collab_overcooked.runner.records import read_records


def test_practice_is_skipped_by_each_for_themselves() -> None:
    tutorial = (("take", r"\w+ take onion", "crate"), ("serve", r"\w+ deliver soup", "serving"))
    goal = Goal(TUTORIAL, 0, lambda step, seat, idle: False)
    practice = Practice(goal, {0: "stay", 1: "stay"}, {0: tutorial, 1: tutorial})
    pay = {"sparse": 0, "shaped": 0}
    events = [
        {"event": "onion_pickup", "label": "take onion", **pay},
        {"event": "soup_delivery", "label": "deliver soup", **pay},
    ]
    record = record_of(env_id="Overcooked-v0", steps=[{"events": [event, None]} for event in events])
    step, last = record.steps
    assert not practice.reached(step)
    assert practice.progress(0) == {"type": "progress", "steps": ["take", "serve"], "done": ["take"]}
    assert practice.progress(1)["done"] == []
    assert practice.places(0) == "serving" and practice.places(1) == "crate"
    practice.skip(1)
    assert not practice.over and not practice.places(1)
    assert practice.reached(last) and practice.over


TASKS = {
    "Overcooked-v0": "cramped_room",
    "OvercookedV2-v0": "grounded_coord_simple",
    "CollabOvercooked-v0": "boiled_egg",
    "CuisineWorld-v0": "level_1, 2 agents, alpha 2",
    "CraftKitchen-v0": "house, 2 agents, pace 3",
    "Housework-v0": "wash_dishes",
    "Transport-v0": "food, 6 rooms, 2 containers",
    "KitchenRush-v0": "easy, kitchen, 2 agents",
    "AlienRush-v0": "easy, alien, 2 agents",
    "CollabCapture-v0": "code2024",
    "CollabEscape-v0": "code2024, ten_rooms_as_told",
}


def test_games_with_a_tutorial_are_known() -> None:
    assert {game for game in playable() if registry.game_class(game).tutorial} == TASKS.keys()


@pytest.mark.parametrize("game", TASKS)
def test_playing_well_completes_every_step_of_a_tutorial(game: str) -> None:
    match = next(match for match in rooms.matches_of(game) if match.task == TASKS[game])
    env = registry.make(match.env_id, **match.env_kwargs)
    policies = ("greedy", "random")  # only a random cook puts things down that nobody needs there
    played = [replace(match, team=(policy,) * len(match.team)).run()[0].steps for policy in policies]
    steps = {name for name, *_ in env.game.tutorial}
    taught, done = set(), set()
    for seat in range(env.game.n_agents):
        tutorial = env.game.tutorial_for(seat)
        taught |= {name for name, *_ in tutorial}
        for record_steps in played:
            practice = Practice(Goal(TUTORIAL, 0, lambda step, seat, idle: False), {seat: ""}, {seat: tutorial})
            for step in record_steps:
                practice.reached(step)
            done |= set(practice.progress(seat)["done"])
        assert 1 <= len(tutorial) <= 3, "practice is short"
    assert taught == done == steps


def test_a_tutorial_of_a_seat_without_a_pot_leaves_the_pot_out() -> None:
    env = registry.make("Overcooked-v0", layout="forced_coordination")
    names = [[name for name, *_ in env.game.tutorial_for(seat)] for seat in range(2)]
    assert sorted(names, key=len) == [["take", "put_down"], ["take", "pot", "put_down"]]


@pytest.mark.parametrize("game", TASKS)
def test_every_step_of_a_tutorial_marks_places_that_the_board_shows(game: str) -> None:
    """Some places come into view only later."""
    match = next(match for match in rooms.matches_of(game) if match.task == TASKS[game])
    env = registry.make(match.env_id, **match.env_kwargs)
    env.reset(seed=match.seed)
    scene, seen_at_once = env.scene(), set[str]()
    for seat in range(env.game.n_agents):
        seen = env.game.seat_scene(scene, seat)
        marked = [places_of(env.game, seen, seat, places) for _, _, places in env.game.tutorial_for(seat)]
        assert set().union(*marked) <= picture_of(env.game, seen, seat).keys()
        seen_at_once |= set().union(*marked)
    assert seen_at_once


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_of_a_tutorial_has_a_text(language: str) -> None:
    texts = json.loads(page_file(f"words.{language}.json"))["page"]["tutorials"]
    names = {name for game in TASKS for name, *_ in registry.game_class(game).tutorial}
    assert texts.keys() == names and all(texts.values())


@pytest.mark.parametrize(
    ("tutorial", "goals"), [(True, [TUTORIAL] * TUTORIAL_ROUNDS + ["speak"]), (False, ["act", "effect", "speak"])]
)
def test_practice_is_kept_apart(make_session, monkeypatch, tutorial: bool, goals: list[str]) -> None:
    if not tutorial:
        monkeypatch.setattr(CollabEscape, "tutorial", ())

    def eager(message):
        answer = first_legal(message)
        return answer | {"say": "hello"} if answer and answer["type"] == "act" else answer

    session = make_session(["all=person"], practice=True, **ESCAPE)
    player, _ = play(session, eager)
    assert [welcome["goal"] for welcome in player.of_type("welcome")] == [*goals, ""]
    assert [over["outcome"] for over in player.of_type("over") if over["practice"]][-1] == COUNTS_NOW
    before = [message["type"] for message in player.got].index("over")
    assert "welcome" not in [m["type"] for m in player.got[before : player.got.index(ready_after(player.got, before))]]
    assert len(lines(session, TUTORIALS)) == len(goals) and len(read_records(session.folder.path)) == 1


@pytest.mark.parametrize("wish", ["practise", "ready"])
def test_people_choose_to_practise_first(make_session, wish: str) -> None:
    """One of two asks for it, while and after the first round is to begin; both skip it."""

    def chooses(wish):
        last = {}

        def choose(message):
            last.update(message if message["type"] == "welcome" else {})
            if message["type"] == "frame" and message["timestep"] == 1:
                return {"type": "practise"}  # too late
            answer = first_legal(message)
            if answer and answer["type"] == "ready":
                return {"type": wish if last["offers_practice"] else "ready"}
            return {"type": "skip"} if answer and last["goal"] else answer

        return choose

    session = make_session(["all=person"], practice=None, **ESCAPE)
    players = play(session, [chooses(wish), chooses("ready")])
    goals = [TUTORIAL, "speak", ""] if wish == "practise" else []
    for player in players:
        offers = [(message["goal"], message["offers_practice"]) for message in player.of_type("welcome")]
        assert offers == [("", True), *((goal, False) for goal in goals)]
    assert len(session.records) == 1 and session.error is None


def test_a_tutorial_is_done_if_the_partner_catches_the_thief(make_session) -> None:
    """Somebody who only walks beside one that catches the thief."""

    def walker(message):
        answer = first_legal(message)
        if answer and answer["type"] == "act":
            answer["plan"] = next(action for action in message["actions"] if action.startswith("go to"))
        return answer

    session = make_session(["agent_0=person", "agent_1=greedy"], practice=True, suite="collab-capture", episodes=1)
    (player,) = play(session, walker)
    assert player.of_type("progress")[-1]["done"] == ["walk", "catch"]
    assert [message["goal"] for message in player.of_type("welcome")][:2] == ["tutorial", ""]


def test_a_tutorial_whose_game_ends_too_early_begins_again(make_session) -> None:
    def waits(message):
        answer = first_legal(message)
        if answer and answer["type"] == "act":
            answer["plan"] = message["idle"]
        return answer

    session = make_session(["agent_0=person", "agent_1=random"], practice=True, **ESCAPE)
    (player,) = play(session, waits)
    assert [message["goal"] for message in player.of_type("welcome")][:4] == [TUTORIAL] * TUTORIAL_ROUNDS + [""]
    assert [message["outcome"] for message in player.of_type("over")][:3] == [BEGINS_AGAIN, BEGINS_AGAIN, COUNTS_NOW]
