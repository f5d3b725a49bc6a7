"""Words of CuisineWorld: actions, plans, reasons, events and the text form of a state."""

from __future__ import annotations

import pytest
from games.cuisineworld.world import Kitchen, plain_game

from collab_overcooked import make
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.games.cuisineworld.text.text import ActionError, feedback_text


def test_state_reads_as_in_the_prompts():
    kitchen = Kitchen(
        "0 pan0\n1 mixer0 lettuceSlice busy 1\npan0: sauteedBeef ready busy 2\nmixer0: bread, cheese\norder MaxJr 12",
        scene={"timestep": 7, "limit": 60, "accomplished": ["MaxJr", "cheeseBurger"]},
    )
    assert kitchen.game.describe(kitchen.state, 0, 0) == (
        "-game state:\n"
        "current game level: test\n"
        "current dishes:\n"
        "    name: MaxJr lifetime: 12\n"
        "current game step: 7\n"
        "maximum game steps: 60\n"
        "\n"
        "-agent state:\n"
        "at(agent0, pan0)\n"
        "hold(agent0, None)\n"
        "at(agent1, mixer0)\n"
        "hold(agent1, lettuceSlice)\n"
        "occupy(agent1, True)\n"
        "\n"
        "-kitchen state:\n"
        "inside(storage0, None)\n"
        "inside(pan0, sauteedBeef)\n"
        "occupy(pan0)\n"
        "inside(pan1, None)\n"
        "inside(mixer0, bread&cheese)\n"
        "inside(chopboard0, None)\n"
        "inside(blender0, None)\n"
        "inside(servingtable0, None)\n"
        "inside(servingtable1, None)\n"
        "\n"
        "-accomplished task:\n"
        "MaxJr, cheeseBurger, \n"
    )


def test_feedback_reads_as_in_the_prompts():
    assert feedback_text(["pan0 is empty, therefore cannot be activated"]) == (
        "-execution error messages:\n"
        "  --  ['pan0 is empty, therefore cannot be activated']\n"
        "-execution suggestions:\n"
        "  --  []"
    )


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("noop", "noop"),
        (" goto pan0 ", "goto pan0"),
        ("goto_agent1_pan0", "goto pan0"),
        ("get_agent0_egg_storage0", "get egg storage0"),
        ("get egg storage0", "get egg storage0"),
        ("get egg pan0", "get pan0"),
        ("put beef pan0", "put pan0"),
        ("noop_agent3", "noop"),
    ],
)
def test_actions_are_read_in_both_spellings(text, action):
    game = plain_game()
    assert game.action_texts()[game.parse(text)] == action


@pytest.mark.parametrize("text", ["get storage0", "get nonsense storage0", "get servingtable0", "activate storage0"])
def test_well_formed_actions_that_nobody_ever_carries_out_lie_beyond_the_space(text):
    game = plain_game()
    kitchen = Kitchen("0 storage0\n1 servingtable0")
    action = game.parse(text)
    assert action >= game.n_actions
    assert game.check(kitchen.state, 0, 0 if "storage" in text else 1, action)[0] != "OK"


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "F_VERB"), ("fry pan0", "F_VERB"), ("goto", "F_WORDS"), ("goto pan9", "F_PLACE"), ("noop pan0", "F_WORDS")],
)
def test_what_is_no_action_is_refused_with_a_reason(text, code):
    with pytest.raises(ActionError) as error:
        plain_game().parse(text)
    assert error.value.code == code


def test_every_action_text_names_its_action():
    for level in ("level_0", "level_12_fryer"):
        game = CuisineWorld(level)
        assert [game.parse(text) for text in game.action_texts()] == list(range(game.n_actions))
        commands = [game.command_text(1, action) for action in range(game.n_actions)]
        assert [game.parse(command) for command in commands] == list(range(game.n_actions))


def test_plans_are_split_at_lines_and_semicolons():
    game = plain_game()
    assert game.parse_plan("goto pan0; get pan0\n\n noop ;") == (["goto pan0", "get pan0", "noop"], [])


def test_check_gives_the_first_reason_with_the_games_words():
    kitchen = Kitchen("0 chopboard0\nchopboard0: lettuce")
    action = kitchen.game.parse("put chopboard0")
    assert kitchen.game.check(kitchen.state, 0, 0, action) == (
        "PUT_EMPTY_HANDED",
        "agent0 is not holding objects, therefore cannot put objects into the tool",
    )
    assert kitchen.game.check(kitchen.state, 0, 0, 0) == ("OK", "Accepted.")


def test_events_tell_what_each_agent_brought_about():
    kitchen = Kitchen("0 pan0 beef\n1 storage0\n2 mixer0", agents=4)
    kitchen.play("put_agent0_pan0 get_agent1_egg_storage0 activate_agent2_mixer0 noop_agent3")
    assert kitchen.game.events(kitchen.out, 0) == [
        {"event": "PUT", "item": "beef", "place": "pan0", "label": "put pan0"},
        {"event": "GET", "item": "egg", "place": "storage0", "label": "get egg storage0"},
        None,
        None,
    ]
    assert kitchen.game.feedback(kitchen.out, 0) == ("mixer0 is empty, therefore cannot be activated",)


def test_infos_have_text_and_reason():
    env = make("CuisineWorld-v0", level="level_0", text_info=True)
    env.reset(seed=0)
    infos = env.step({"agent_0": env.parse("put blender0"), "agent_1": 0})[4]
    assert infos["agent_0"]["reason"] == "agent0 is not located in blender0"
    assert infos["agent_1"]["reason"] == ""
    assert infos["agent_0"]["text"].startswith("-game state:")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": 0}, "agents must be an integer"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"turn_order": [0, 0]}, "turn_order must name each seat"),
        ({"obs": "feature"}, "features"),
        ({"mask": "orignal"}, "original"),
        ({"level": "level_13"}, "unknown level"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        CuisineWorld(**{"agents": 2, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"orders": ["tunaSashimi"]}, "unknown order"),
        ({"order": ["MaxJr"]}, "did you mean orders"),
        ({"state": {"agent": []}}, "did you mean agents"),
        ({"state": {"agents": [{}]}}, "lists 1 agents"),
        ({"state": {"tools": {"pan9": {}}}}, "unknown location"),
        ({"state": {"tools": {"chopboard0": {"content": ["egg", "egg"]}}}}, "it takes 1"),
        ({"state": {"orders": [{"name": "x", "remaining": 1}]}}, "unknown order"),
    ],
)
def test_reset_options_are_checked(options, message):
    env = make("CuisineWorld-v0", level="level_9", agents=2)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=0, options=options)
