"""``list`` and ``describe``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli_runner import run

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.baselines.commands import ALGORITHMS
from collab_overcooked.baselines.settings import shipped_configs

FILES = Path(collab_overcooked.__file__).parent / "layouts"


def test_list_alone_names_what_can_be_listed():
    names = run("list").stdout.split()
    assert {"envs", "suites", "policies", "tasks", "layouts"} <= set(names)
    assert "collab-escape" in run("list", "suites").stdout


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("envs", ["CollabOvercooked-v0"]),
        ("tasks", ["boiled_egg", "level 6, reference time 64"]),
        ("kitchens", ["paper", "shared_floor", "three_agents"]),
        ("policies", ["random", "planner", "noisy"]),
        ("levels", ["1  baked_bell_pepper, ", "6  "]),
        ("maps", ["collab-capture:\n", "collab-escape:\n", "ten_rooms "]),  # every suite that has some
    ],
)
def test_list_shows_what_there_is(what, text):
    done = run("list", what)
    assert done.exit_code == 0
    assert all(word in done.stdout for word in text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CollabOvercooked-v0", ["Discrete(234)", "gamma: Time limit"]),
        (
            "boiled_egg",
            ["Cook egg in the pot", "Time limit: 25 timesteps", "agent_1 (Alice): pickup(egg,ingredient_dispenser)"],
        ),
        ("three_agents", ["1 X 0", "agent_2: Carol", "Level 6"]),
        ("craft", ["craft: Orders with deadlines", "CraftKitchen-v0:", "pace: Pace of orders"]),
        ("questions", ["questions: Questions with proven answers", "A suite of several games."]),
    ],
)
def test_describe_tells_about_it(name, text):
    done = run("describe", name)
    assert done.exit_code == 0
    assert all(word in done.stdout for word in text), done.stdout


def test_describe_a_task_in_a_kitchen_without_references():
    assert "No reference trajectories" in run("describe", "boiled_egg", "--set", "kitchen=three_agents").stdout


@pytest.mark.parametrize("what", ["envs", "suites", "policies", "lexicons", "teachers", "metrics"])
@pytest.mark.parametrize("option", [("--suite", "craft"), ("--set", "kitchen=paper")])
def test_list_refuses_options_of_games_for_other_names(what, option):
    done = run("list", what, *option)
    assert done.exit_code == 2 and f"{option[0]} is for names that a game has" in done.stderr


def test_list_alone_takes_no_option_of_a_game():
    assert "--set is for names that a game has, such as tasks" in " ".join(
        run("list", "--set", "kitchen=paper").stderr.split()
    )
    assert "tasks" not in run("list", "--suite", "craft").stdout.split()


@pytest.mark.parametrize("name", ["overcooked-p001-own", "lexicons/alien.yaml", "studies/cots_partner.yaml"])
def test_describe_refuses_options_where_no_game_reads_them(name):
    name = str(FILES / name) if "/" in name else name
    done = run("describe", name, "--set", "kitchen=paper")
    assert done.exit_code == 2 and "--set is for" in done.stderr


@pytest.mark.parametrize("file", ["craft/field.yaml", "overcooked/outage_off.yaml", "overcooked_v2/long_room.yaml"])
def test_describe_checks_options_of_files_as_of_names(file):
    for name in (FILES / file, Path(file).stem):
        assert run("describe", name).exit_code == 0
        assert "unknown option 'nonsense'" in run("describe", name, "--set", "nonsense=1").stderr


def test_describe_tells_about_files_of_every_game():
    """Also where games share a kind of file."""
    for folder in ("rooms", "overcooked", "rush"):
        for file in sorted((FILES / folder).glob("*.yaml")):
            done = run("describe", file)
            assert done.exit_code == 0, f"{file}: {done.output}"


@pytest.mark.parametrize("env_id", registry.registered())
def test_describe_shows_a_space_on_one_line(env_id):
    (line,) = (line for line in run("describe", env_id).stdout.splitlines() if line.startswith("observation: "))
    assert re.fullmatch(r"observation: Box\(-?[\d.]+\.\.[\d.]+, \([\d, ]+\), \w+\)", line)


def test_counts_of_summaries_are_those_of_listings():
    """Such as "22 layouts": what a game says that it has is what ``list`` shows."""
    for game in registry.games():
        listed = {}
        for suite in game.suites:
            listed |= registry.load_suite(suite).listed
        for count, plural in re.findall(r"(\d+) (\w+)", game.summary):
            if plural in listed:
                assert int(count) == len(listed[plural].names({})), game.summary


def test_list_configs_names_algorithm_environment_and_steps():
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in run("list", "configs").stdout.splitlines()}
    assert lines.keys() == {*shipped_configs()}
    assert lines["cramped_room"] == "ppo, Overcooked-v0, 800,000 steps"
    assert lines["pbt_cramped_room"] == "pbt, Overcooked-v0, 1,000,000 steps"
    assert {text.partition(",")[0] for text in lines.values()} <= {*ALGORITHMS}


def test_an_unknown_listing_is_answered_with_all_of_them():
    known = run("list").stdout.split()
    assert f"known: {', '.join(known)}" in " ".join(run("list", "xyz").stderr.split())


def test_lines_of_policies_are_not_wide():
    assert max(map(len, run("list", "policies").stdout.splitlines())) < 160
