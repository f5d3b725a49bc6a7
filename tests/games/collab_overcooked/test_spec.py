"""Kitchens in words: the facts of the built-in ones, and files that cannot work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from collab_overcooked.games.collab_overcooked.engine.config import time_limit_of
from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen, check_weights, kitchens, load_kitchen
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.io.documents import DocumentError

SHIPPED = ("paper", "shared_floor", "three_agents")
PAPER = load_kitchen("paper")
FACTS = Path(__file__).resolve().parents[4] / "shared" / "spec" / "collab_overcooked"


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    path = FACTS / "tasks.json"
    if not path.is_file():
        pytest.skip("needs the facts of the original in ../shared/spec, which are not part of the repository")
    return json.loads(path.read_text("utf-8"))


def test_shipped_kitchens():
    assert tuple(kitchens()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_numbers_of_the_paper(name):
    kitchen = load_kitchen(name)
    assert len(kitchen.ingredients) == 29
    per_utensil = [recipe.utensil for recipe in kitchen.recipes]
    assert [per_utensil.count(kind) for kind in ("pot", "chopping_board", "oven", "blender")] == [28, 18, 17, 14]
    assert len(kitchen.recipes) == 78 - 1  # without the dummy recipe of the public code, apple from apple
    assert all(recipe.time == 3 for recipe in kitchen.recipes)
    assert {level: len(tasks) for level, tasks in kitchen.levels().items()} == dict.fromkeys(range(1, 7), 5)
    assert len(kitchen.tasks) == 30
    assert all(kitchen.serving[task.name] == (task.level > 2) for task in kitchen.tasks.values())


@pytest.mark.parametrize("rule", ["inclusive", "strict"])
def test_time_limits_of_the_levels(rule):
    limits = [25, 35, 53, 49, 83, 97] if rule == "inclusive" else [24, 34, 52, 48, 82, 96]
    for level, tasks in PAPER.levels().items():
        assert {time_limit_of(PAPER, task, 1.5, rule) for task in tasks} == {limits[level - 1]}


def test_the_dummy_recipe_and_raw_food_cannot_be_ordered():
    assert PAPER.recipe_by_product.get("apple") is None
    assert not set(PAPER.serving) & set(PAPER.ingredients)


def test_seats_of_the_paper():
    assert [(a.name, a.role, a.start, a.facing, a.knows_recipes) for a in PAPER.agents] == [
        ("Bob", "chef", (3, 1), "north", True),
        ("Alice", "assistant", (1, 2), "north", False),
    ]


def test_recipes_are_those_of_the_original(facts):
    original = {
        (kind, recipe["output"], tuple(sorted(recipe["inputs"])), recipe["time"])
        for kind, table in facts["synthesis"].items()
        if kind != "none"
        for recipe in table
    }
    assert {(r.utensil, r.product, tuple(sorted(r.inputs)), r.time) for r in PAPER.recipes} == original
    assert set(PAPER.ingredients) == set(facts["raw_ingredients"])


def test_dishes_tasks_and_times_are_those_of_the_original(facts):
    assert all(PAPER.serving[food] == facts["need_dish"][food] for food in PAPER.serving)
    missing = set(facts["need_dish"]) - set(PAPER.serving)
    assert missing <= set(PAPER.ingredients)  # raw food; the original lets it be delivered, for nothing
    for task in facts["tasks"]:
        mine = PAPER.tasks[task["name"]]
        assert (mine.level, mine.title) == (task["level"], task["title"])
        assert mine.reference_time == task["optimal_timesteps"]
        assert len(mine.references) == task["n_references"]
        for seat in (0, 1):
            lengths = [len(reference[seat]) for reference in mine.references]
            assert set(lengths) == set(task["reference_lengths"][f"agent_{seat}"])


@pytest.fixture(scope="module")
def paper_game() -> CollabOvercooked:
    return CollabOvercooked()


def steps_of_reference(game: CollabOvercooked, task: str, reference: tuple[tuple[str, ...], ...]) -> int:
    """Carry a reference out greedily: whoever is free tries the next action and waits while it is refused."""
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), {"task": task}, 200)
    queues = [[game.parse(action) for action in plan] for plan in reference]
    wait = game.parse("wait(1)")
    for step in range(1, 200):
        actions = []
        for seat, queue in enumerate(queues):
            mask = out.masks[0, seat]
            actions.append(0 if mask[0] else queue.pop(0) if queue and mask[queue[0]] else wait)
        game.step(state, np.array([actions], np.int32), out)
        if out.terminated[0]:
            assert not any(queues)
            return step
    raise AssertionError(f"{task} was not served")


def test_references_take_as_long_as_measured_on_the_original(facts, paper_game):
    for task in facts["tasks"]:
        for number, reference in enumerate(PAPER.tasks[task["name"]].references, start=1):
            steps = steps_of_reference(paper_game, task["name"], reference)
            assert steps == task["greedy_env_steps_per_reference"][f"reference_{number}"], (task["name"], number)


def test_three_agents_leave_the_references_out():
    assert all(not task.references for task in load_kitchen("three_agents").tasks.values())


SMALL = """
name: small
grid: |
  XPXX
  I0 D
  X 1S
  XXCX
agents:
  - {name: Ann, role: cook, knows_recipes: true}
  - {name: Ben, role: cook}
stations:
  P: {utensil: pot, operation: cook}
  C: {utensil: board, operation: cut, capacity: 2}
  I: {dispenser: ingredients}
  D: {dispenser: dishes}
  S: {serving: true}
ingredients: [egg, corn]
recipes:
  pot:
    boiled_egg: [egg]
    stew: [egg, slices]
  board:
    slices: {inputs: [corn], time: 2}
serving:
  plain: [boiled_egg]
  plated: [stew]
reference_times: {1: 20}
tasks:
  boiled_egg: {level: 1}
  stew: {level: 1, title: Fine Stew, reference_time: 30}
""".lstrip()


def load(tmp_path: Path, text: str) -> Kitchen:
    path = tmp_path / "small.yaml"
    path.write_text(text, "utf-8")
    return load_kitchen(path)


def compile_text(tmp_path: Path, text: str) -> CollabOvercooked:
    path = tmp_path / "small.yaml"
    path.write_text(text, "utf-8")
    return CollabOvercooked(kitchen=path)


def test_the_small_kitchen_works(tmp_path):
    kitchen = load(tmp_path, SMALL)
    assert kitchen.tasks["stew"].title == "Fine Stew" and kitchen.tasks["boiled_egg"].title == "Boiled egg"
    assert [(r.product, r.time) for r in kitchen.recipes] == [("boiled_egg", 3), ("stew", 3), ("slices", 2)]
    assert [s.capacity for s in kitchen.stations.values()] == [3, 2, 0, 0, 0]
    assert (kitchen.delivery_reward, kitchen.max_wait, kitchen.stuck_limit) == (20, 5, 0)
    compile_text(tmp_path, SMALL)


# what to change, by what, and what the message must say
BROKEN: dict[str, tuple[str, str, list[str]]] = {
    "unknown key": ("name: small", "naem: small", ["small.yaml, line 1", "unknown key 'naem'", "did you mean name"]),
    "no name": ("name: small\n", "", ["small.yaml", "name must be a text"]),
    "unknown symbol": ("XPXX", "XQXX", ["line 3, cell (1, 0)", "unknown symbol 'Q'", "CDIPS"]),
    "ragged rows": ("XPXX", "XPX", ["line 3", "grid row 0 has 3 cells, others 4"]),
    "open edge": ("X 1S", "X 1 ", ["line 5, cell (3, 2)", "floor at the edge", "counters X"]),
    "agent on the edge": ("XPXX", "XP1X", ["line 3, cell (2, 0)", "floor at the edge"]),
    "agent on a wall": (
        "{name: Ben, role: cook}",
        "{name: Ben, role: cook, start: [2, 0]}",
        ["line 9", "agent 1 starts on a wall", "cell (2, 0)", "floor cell"],
    ),
    "agent outside": (
        "{name: Ben, role: cook}",
        "{name: Ben, role: cook, start: [9, 1]}",
        ["line 9", "outside the grid", "(9, 1)"],
    ),
    "odd start": ("{name: Ben, role: cook}", "{name: Ben, role: cook, start: top}", ["line 9", "[x, y]", "'top'"]),
    "missing start": ("X 1S", "X  S", ["line 2", "agent 1 has no start", "digit 1"]),
    "start without agent": ("X 1S", "X21S", ["line 2", "start for agent 2", "only 2 agents"]),
    "two starts": ("X 1S", "X11S", ["line 5, cell (2, 2)", "agent 1 starts twice"]),
    "same start": (
        "{name: Ben, role: cook}",
        "{name: Ben, role: cook, start: [1, 1]}",
        ["line 9", "agents 0 and 1 both start", "(1, 1)", "move one"],
    ),
    "no agents": ("agents:\n", "agents: []\nx:\n", ["unknown key 'x'"]),
    "unknown agent key": ("role: cook}", "role: cook, nose: red}", ["line 9", "unknown key 'nose'"]),
    "odd facing": ("role: cook}", "role: cook, facing: up}", ["line 9", "north, south, east, west", "'up'"]),
    "odd knowledge": ("knows_recipes: true", "knows_recipes: maybe", ["line 8", "true or false", "'maybe'"]),
    "no role": ("{name: Ben, role: cook}", "{name: Ben}", ["line 9", "role must be a text"]),
    "unknown station key": ("operation: cook}", "operation: cook, colour: red}", ["line 11", "unknown key 'colour'"]),
    "long symbol": ("  P: {", "  PP: {", ["line 11", "'PP'", "one character"]),
    "counter symbol": ("  P: {", "  X: {", ["line 11", "'X'"]),
    "station of no kind": (
        "S: {serving: true}",
        "S: {serving: perhaps}",
        ["line 15", "'S' needs one of", "serving: true"],
    ),
    "odd dispenser": ("{dispenser: dishes}", "{dispenser: cups}", ["line 14", "dispenser: dishes"]),
    "verb taken": ("operation: cut", "operation: cook", ["line 12", "'cook' is taken", "own verb"]),
    "verb reserved": ("operation: cut", "operation: wait", ["line 12", "'wait' is taken"]),
    "verb no word": ("operation: cut", "operation: cut-up", ["line 12", "'cut-up'", "small letters"]),
    "utensil twice": ("utensil: board", "utensil: pot", ["line 12", "'pot' is defined twice", "one symbol a kind"]),
    "odd capacity": ("capacity: 2", "capacity: 0", ["line 12", "capacity must be an integer from 1 to 100", "0"]),
    "odd users": ("operation: cook}", "operation: cook, users: chef}", ["line 11", "agent numbers", "'chef'"]),
    "unknown user": ("operation: cook}", "operation: cook, users: [2]}", ["line 11", "agent 2", "2 agents"]),
    "ingredients no list": ("ingredients: [egg, corn]", "ingredients: egg", ["line 16", "list of names"]),
    "ingredient twice": ("[egg, corn]", "[egg, corn, egg]", ["line 16", "'egg' is listed twice"]),
    "ingredient in capitals": ("[egg, corn]", "[egg, corn, Rice]", ["line 16", "'Rice' is no food name"]),
    "ingredient called dish": ("[egg, corn]", "[egg, corn, dish]", ["line 16", "'dish' is no food name"]),
    "unknown utensil": ("  board:\n", "  bord:\n", ["line 21", "unknown utensil 'bord'", "did you mean board"]),
    "recipes no mapping": ("    slices: {inputs: [corn], time: 2}", "    - slices", ["line 21", "`name: value`"]),
    "recipe without inputs": ("[egg, slices]", "[]", ["line 20", "recipes.pot.stew must be a list of names"]),
    "odd recipe key": ("time: 2}", "tiem: 2}", ["line 22", "unknown key 'tiem'", "did you mean time"]),
    "odd recipe time": ("time: 2}", "time: 0}", ["line 22", "time must be an integer of at least 1"]),
    "unknown input": ("[egg, slices]", "[egg, slies]", ["line 20", "unknown food 'slies'", "did you mean slices"]),
    "too many inputs": ("inputs: [corn]", "inputs: [corn, corn, egg]", ["line 22", "slices needs 3 items", "takes 2"]),
    "product is an ingredient": ("    slices:", "    corn:", ["line 22", "'corn' is already an ingredient"]),
    "product called counter": ("    slices:", "    counter:", ["line 22", "'counter' is no food name"]),
    "same inputs": ("stew: [egg, slices]", "stew: [egg]", ["line 20", "stew and boiled_egg have the same inputs"]),
    "recipe cycle": ("inputs: [corn]", "inputs: [stew]", ["recipe cycle", "stew -> slices -> stew", "take one"]),
    "serving unknown food": ("plain: [boiled_egg]", "plain: [boiled_eg]", ["line 24", "did you mean boiled_egg"]),
    "serving unknown group": ("  plain:", "  plane:", ["line 24", "unknown key 'plane'"]),
    "plain and plated": ("plated: [stew]", "plated: [stew, boiled_egg]", ["line 25", "both plain and plated"]),
    "nothing served": (
        "serving:\n  plain: [boiled_egg]\n  plated: [stew]\n",
        "serving: {}\n",
        ["line 23", "serving must hold `name: value` lines"],
    ),
    "task not served": (
        "  boiled_egg: {level: 1}",
        "  corn: {level: 1}",
        ["line 28", "'corn' cannot be ordered", "serving"],
    ),
    "no tasks": (
        "tasks:\n  boiled_egg: {level: 1}\n  stew: {level: 1, title: Fine Stew, reference_time: 30}\n",
        "tasks: {}\n",
        ["line 27", "tasks must hold `name: value` lines"],
    ),
    "task without time": ("reference_times: {1: 20}", "reference_times: {2: 20}", ["line 28", "needs reference_time"]),
    "odd level": ("{level: 1}", "{level: easy}", ["line 28", "level must be an integer"]),
    "odd title": ("title: Fine Stew", "title: 7", ["line 29", "title must be a text"]),
    "references no list": ("{level: 1}", "{level: 1, references: 5}", ["line 28", "references must be a list"]),
    "reference lacks a plan": (
        "{level: 1}",
        "{level: 1, references: [{agent_0: deliver()}]}",
        ["line 28", "agent_0, agent_1"],
    ),
    "reference plan no text": (
        "{level: 1}",
        "{level: 1, references: [{agent_0: 5, agent_1: x}]}",
        ["line 28", "agent_0 must be a text"],
    ),
    "unknown order": ("ingredients:", "order_probability: {stw: 2}\ningredients:", ["line 16", "unknown task 'stw'"]),
    "order of no weight": ("ingredients:", "order_probability: {stew: 0}\ningredients:", ["line 16", "above 0"]),
    "order of endless weight": (
        "ingredients:",
        "order_probability: {stew: .inf}\ningredients:",
        ["line 16", "above 0"],
    ),
    "orders no mapping": ("ingredients:", "order_probability: [stew]\ningredients:", ["line 16", "must map tasks"]),
    "negative reward": ("ingredients:", "delivery_reward: -1\ningredients:", ["line 16", "at least 0"]),
    "odd wait": ("ingredients:", "max_wait: 0\ningredients:", ["line 16", "max_wait", "from 1 to 1000"]),
    "odd cook time": ("recipes:\n  pot", "cook_time: yes\nrecipes:\n  pot", ["line 17", "cook_time", "True"]),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_files_that_cannot_work_are_refused(tmp_path, fault):
    old, new, hints = BROKEN[fault]
    assert SMALL.count(old) >= 1, "the fault does not change the file"
    with pytest.raises(DocumentError) as error:
        load(tmp_path, SMALL.replace(old, new, 1))
    assert str(error.value).startswith("small.yaml")
    assert all(hint in str(error.value) for hint in hints), str(error.value)


IMPOSSIBLE = {
    "unreachable station": ("XPXX", "PXXX", ["line 3, cell (0, 0)", "no agent can reach pot 'P'", "beside floor"]),
    "no ingredients": ("I0 D", "X0 D", ["small.yaml, line 2", "no ingredients station", "add one"]),
    "no serving": ("X 1S", "X 1X", ["line 2", "no serving station"]),
    "no dishes": ("I0 D", "I0 X", ["line 23", "stew needs a dish", "dish dispenser"]),
    "no board": ("XXCX", "XXXX", ["line 22", "no agent can make slices in a board", "none stands in the grid"]),
    "raw food on a dish": ("plated: [stew]", "plated: [stew, corn]", ["line 23", "corn", "onto a dish"]),
}


@pytest.mark.parametrize("fault", IMPOSSIBLE)
def test_kitchens_in_which_no_order_can_be_served_are_refused(tmp_path, fault):
    old, new, hints = IMPOSSIBLE[fault]
    assert SMALL.count(old) == 1, "the fault does not change the file"
    with pytest.raises(DocumentError) as error:
        compile_text(tmp_path, SMALL.replace(old, new))
    assert all(hint in str(error.value) for hint in hints), str(error.value)


APART = """
  XPXXXX
  I0XX1S
  XDXXCX
"""  # two cells, no counter between them


def test_food_that_cannot_be_handed_over_is_refused(tmp_path):
    text = SMALL.replace("  XPXX\n  I0 D\n  X 1S\n  XXCX\n", APART.lstrip("\n"))
    with pytest.raises(DocumentError, match=r"line 21: no agent can make slices in a board: no agent that may use one"):
        compile_text(tmp_path, text)
    shared = text.replace("I0XX1S", "I0X1SX").replace("XDXXCX", "XDXCXX")
    compile_text(tmp_path, shared)


def test_a_dish_that_never_reaches_the_food_is_refused(tmp_path):
    grid = "  XPXXXX\n  I0XX1S\n  XSXXDX\n"
    values = yaml.safe_load(SMALL)
    values |= {"grid": grid.replace("  ", ""), "recipes": {"pot": {"boiled_egg": ["egg"], "stew": ["egg", "corn"]}}}
    del values["stations"]["C"]
    with pytest.raises(DocumentError, match="no agent can get stew onto a dish"):
        compile_text(tmp_path, yaml.safe_dump(values, sort_keys=False))


def test_a_station_reserved_for_those_who_cannot_reach_it_is_refused(tmp_path):
    values = yaml.safe_load(SMALL)
    values["grid"] = "XPXXXX\nI0X1SX\nXDXCXX\n"
    values["stations"]["P"]["users"] = [1]
    with pytest.raises(DocumentError, match=r"cell \(1, 0\): no agent of users \[1\] can reach pot 'P'"):
        compile_text(tmp_path, yaml.safe_dump(values, sort_keys=False))


def test_food_that_cannot_be_brought_to_the_serving_station_is_refused(tmp_path):
    values = yaml.safe_load(SMALL)
    values["grid"] = "XPCXXXX\nI0 XX1S\nXDXXXXX\n"
    with pytest.raises(
        DocumentError, match=r"no agent can bring boiled_egg to a serving station; add a shared counter"
    ):
        compile_text(tmp_path, yaml.safe_dump(values, sort_keys=False))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_kitchens_can_be_extended(tmp_path, name):
    kitchen = load(tmp_path, f"extends: {name}\nname: mine\nmax_wait: 9\n")
    assert (kitchen.name, kitchen.max_wait) == ("mine", 9) and len(kitchen.tasks) == 30


def test_weights_given_in_code_are_checked_alike():
    assert check_weights({"boiled_egg": 2}, PAPER.tasks) == {"boiled_egg": 2.0}
    for weights in ({"boiled_eg": 1}, {"boiled_egg": -1}, {"boiled_egg": True}, {"boiled_egg": float("nan")}):
        with pytest.raises(ValueError, match="boiled_eg"):
            check_weights(weights, PAPER.tasks)
