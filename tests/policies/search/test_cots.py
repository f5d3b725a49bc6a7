"""Teams that deliberate in every game with sub-plans: what they know, and what becomes of their plans."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import open_world
from support.cli_runner import CliRunner
from support.hidden import hide, reach
from support.records import as_json

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.games.overcooked.engine.constants import AWAY, WAIT, Item, Player
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.search.cots import CotsPolicy, Member, provider_of
from collab_overcooked.policies.search.deliberation import Briefing
from collab_overcooked.policies.search.plan_functions import programmed_functions
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.search.subplans import PlanningView
from collab_overcooked.registry import load_game
from collab_overcooked.reporting.plan_trees import all_updates, report_section, tree_text
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.records import dump_line, parse_record
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

SMALL: dict[str, dict[str, Any]] = {
    "Housework-v0": {"task": "set_table", "max_ticks": 30},
    "Transport-v0": {"max_ticks": 400, "rooms": 6},
    "CollabOvercooked-v0": {"task": "boiled_egg"},
    "CuisineWorld-v0": {"level": "level_1", "agents": 2},
    "Overcooked-v0": {"layout": "cramped_room", "action_level": "medium"},
}
GAMES = sorted(SMALL)


def test_every_game_with_sub_plans_is_tested() -> None:
    assert sorted(record.id for record in registry.games() if record.subplans) == GAMES


def play(env_id: str, spec: str = "cots", seed: int = 3, steps: int = 25) -> dict[str, Any]:
    env = collab_overcooked.make(env_id, **SMALL[env_id], max_cycles=steps)
    team = make_team([spec] * env.game.n_agents)
    return play_episode(env, team, seed, task=str(SMALL[env_id].get("task", "small")))


class Played(dict[str, Any]):
    """Records by game, each played when it is asked for: workers share the games."""

    def __missing__(self, env_id: str) -> Any:
        self[env_id] = play(env_id)
        return self[env_id]


@pytest.fixture(scope="module")
def records() -> Played:
    return Played()


@pytest.mark.parametrize("env_id", GAMES)
def test_plans_are_searched_recorded_and_played_the_same_again(env_id: str, records: Played) -> None:
    record = records[env_id]
    assert first_difference(record) is None
    assert play(env_id) == record
    updates = all_updates(record)
    assert updates[0].trigger == "start"
    assert any(update.searched for update in updates)
    for update in updates:
        taken = [
            part.partition(": ")[2]
            for line in update.plan.splitlines()
            for part in line.partition(" ")[2].split("; ")
            if re.match("fetch|pick up|bring", part)
        ]
        assert len(set(taken)) == len(taken)
    assert not any(error["code"] == "F_NO_ACTION" for step in record.steps for error in step.errors)


def words_of(state: PlanningView) -> str:
    """Return all that a moment holds."""
    options = {seat: [dataclasses.asdict(option) for option in entry] for seat, entry in state.options.items()}
    further = (state.places, state.held, state.room, sorted(state.triggers), sorted(state.urgent), state.describe())
    return repr((options, further))


def first_plan(seen: AgentView, state: PlanningView, members: tuple[int, ...]) -> str:
    """Return the first plan that a seat would propose, in words."""
    result = Briefing(seen.seat, members, seen, state, {}, {}, had_plan=False)
    return programmed_functions().propose(result, (), (), 1)[0].text


@pytest.mark.parametrize("env_id", GAMES)
def test_what_a_seat_may_not_know_reaches_no_plan(env_id: str) -> None:
    """In all games chance and orders to come are hidden; in Collab-Overcooked also counters out of reach; in both
    household games all that the seat has not seen. Nothing of the moment itself is hidden in CuisineWorld and
    Overcooked.
    """
    game = load_game(env_id, **SMALL[env_id])
    look, rng = provider_of(game), np.random.default_rng(0)
    for steps in (0, 4, 9):
        state, out = reach(game, steps, steps)
        for seat in range(game.n_agents):
            members = (seat, *(entry for entry in range(game.n_agents) if entry != seat))
            seen = AgentView.of(game, state, out, seat, steps)
            message, plan = words_of(look(seen)), first_plan(seen, look(seen), members)
            member = Member(seat, Simulator(game, state, seat), look, programmed_functions())
            assert member.see(steps).to_dict() == seen.to_dict()  # what it looks up at any time is what it may know
            assert words_of(look(member.see(steps))) == message
            for _ in range(2):
                other, fresh = hide(game, state, seat, rng), game.alloc(1)[1]
                assert any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
                game.observe(other, fresh)
                again = AgentView.of(game, other, fresh, seat, steps)
                later = Member(seat, Simulator(game, other, seat), look, programmed_functions()).see(steps)
                assert words_of(look(again)) == words_of(look(later)) == message
                assert first_plan(again, look(again), members) == plan


KITCHEN = """
extends: paper
name: mine
recipes: {pot: {boiled_egg: [%s], boiled_mushroom: [%s]}}
serving: {plain: [boiled_egg, boiled_mushroom]}
reference_times: {1: 16}
tasks:
  boiled_egg: {title: Boiled Egg, level: 1}
"""


def test_a_recipe_reaches_no_plan_of_a_cook_who_lacks_it(tmp_path: Any) -> None:
    """The order is made of another thing: the chef's first plan is another one, the assistant's is not."""
    plans, message = [], []
    for number, inputs in enumerate((("egg", "mushroom"), ("mushroom", "egg"))):
        file = tmp_path / f"{number}.yaml"
        file.write_text(KITCHEN % inputs)
        game = load_game("CollabOvercooked-v0", kitchen=file, task="boiled_egg")
        look, (state, out) = provider_of(game), reach(game, 1, 0)
        views = [AgentView.of(game, state, out, seat) for seat in range(2)]
        plans.append([first_plan(views[seat], look(views[seat]), (seat, 1 - seat)) for seat in range(2)])
        message.append([words_of(look(view)) for view in views])
    (chef, assistant), (other_chef, other_assistant) = plans
    assert "egg" in chef and "mushroom" in other_chef
    assert assistant == other_assistant and message[0][1] == message[1][1]


def test_a_cook_without_the_recipe_knows_no_use_of_anything() -> None:
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    look, (state, out) = provider_of(game), reach(game, 1, 0)
    views = [look(AgentView.of(game, state, out, seat)) for seat in range(2)]
    assert any(option.value > 0 for item in views[0].options.values() for option in item)  # the chef
    assert not any(option.value > 0 for entry in views[1].options.values() for option in entry)


def test_seats_of_one_spec_share_a_plan_and_others_do_not() -> None:
    team = make_team(["cots", "cots:n=1", "cots"])
    first, other, last = team.policies
    assert isinstance(first, CotsPolicy) and isinstance(other, CotsPolicy) and isinstance(last, CotsPolicy)
    assert first.team is last.team is not other.team


def test_a_seat_beside_other_policies_plans_for_both() -> None:
    env = collab_overcooked.make("Housework-v0", **SMALL["Housework-v0"])
    record = play_episode(env, make_team(["greedy", "cots"]), 1, task="set_table")
    assert list(record.plan_updates) == ["agent_1"]
    assert any("Alice:" in update.plan and "Bob:" in update.plan for update in all_updates(record))
    assert not any(step.messages for step in record.steps)  # a program does not read


def test_talk_costs_only_where_it_is_charged() -> None:
    for spec, message in (("cots", False), ("cots:charge=1", True)):
        record = play("Housework-v0", spec)
        assert any(step.messages for step in record.steps) == message
        replies = [text for step in record.steps for text in step.action_texts if text.startswith("say")]
        assert bool(replies) == message


@pytest.mark.parametrize(
    ("env_id", "options", "text"),
    [
        ("CollabCapture-v0", {}, "plays games with sub-plans"),
        ("Housework-v0", {"action_level": "primitive"}, "action_level=medium"),
        ("Overcooked-v0", {}, "action_level=medium"),
    ],
)
def test_games_that_cannot_be_planned_are_refused(env_id: str, options: dict[str, Any], text: str) -> None:
    env = collab_overcooked.make(env_id, **options)
    with pytest.raises(ValueError, match=text):
        play_episode(env, make_team(["cots"] * env.game.n_agents), 0)


def test_records_hold_whole_trees(records: Played) -> None:
    record = records["Housework-v0"]
    parse_record(dump_line(record).decode(), "here")
    broken = as_json(record)
    broken["plan_updates"]["agent_0"][0]["nodes"][0]["visits"] = -1
    with pytest.raises(ValueError, match="plan_updates"):
        parse_record(json.dumps(broken), "here")


def test_trees_in_reports_are_escaped(records: Played) -> None:
    update = next(u for u in all_updates(records["Housework-v0"]) if u.searched and len(u.nodes) > 1)
    assert "<- chosen" in tree_text(update)
    bad = copy.deepcopy(update)
    bad.nodes[0].plan = bad.nodes[0].messages[0] = "<script>alert(1)</script>\x1b[31m"
    record = records["Housework-v0"].replace(plan_updates={"agent_0": [bad]})
    text = report_section([record])
    assert "&lt;script&gt;" in text and "<script" not in text and "\x1b" not in text


def test_show_plan(tmp_path: Any, records: Played) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(b"".join(dump_line(records[g]) for g in ("Housework-v0", "Overcooked-v0")))

    def run(*text: Any) -> Any:
        return CliRunner().invoke(app, ["replay", *map(str, (file, *text))])

    done = run("--episode", 1, "--plan", 9)
    assert done.exit_code == 0 and "Plan that is carried out" in done.stdout
    done = run("--episode", 7, "--plan", 0)
    assert done.exit_code == 2 and done.stderr.startswith("error: ")
    file.write_bytes(dump_line(records["Housework-v0"].replace(plan_updates={})))
    assert "no plan was searched" in run("--plan", 0).stderr


@pytest.mark.parametrize("carrier", [0, 1])
def test_a_cook_who_waits_makes_room_whoever_carries_something(carrier: int) -> None:
    """A carrier waiting for a pot must not block the one who fetches the dish for it, nor the other way round."""
    game = load_game("Overcooked-v0", **SMALL["Overcooked-v0"])
    look, (state, out) = provider_of(game), reach(game, 0, 0)
    state.players[0, carrier, Player.HAND] = Item.ONION
    game.observe(state, out)
    assert [look(AgentView.of(game, state, out, 0, t)).idle for t in range(4)] == [AWAY, WAIT, WAIT, AWAY]


def test_of_cooks_who_all_hold_what_no_pot_has_room_for_one_clears_its_hands() -> None:
    """Otherwise both would wait for ever: nobody could fetch the dish that empties the pot."""
    world = """
        XXPXX
        O1 2X
        XDXSX
        1 north holds onion
        2 north holds onion
        (2,0) {soup}
    """
    for soup, expected in (("onion, onion, onion ready", 1), ("onion, onion", 0)):
        film = open_world(world.format(soup=soup), action_level="medium", orders=[["onion"] * 3])
        look = provider_of(film.game)
        texts = [
            [option.text for option in look(seen).options[seat] if option.action is not None]
            for seat in (0, 1)
            for seen in [AgentView.of(film.game, film.state, film.out, seat, 0)]
        ]
        assert sum(text.startswith("put on k") for row in texts for text in row) == expected
        assert sum("put in c0" in row for row in texts) == 1
