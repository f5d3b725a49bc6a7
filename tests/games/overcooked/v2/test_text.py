"""Texts and pictures: who knows the recipe, what the button costs, what is out of view."""

from __future__ import annotations

from games.overcooked.v2.world import Rollout

from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.registry import make

HALL = """
    WWPWWWWXW
    Ra  W  bL
    W0W1WWWBW
"""


def test_descriptions_tell_the_recipe_to_those_who_have_seen_it():
    rollout = Rollout(HALL, view_radius=2)
    seeing, blind = (rollout.game.describe(rollout.state, 0, seat) for seat in (0, 1))
    assert "Recipe: 3 onions." in seeing and "Bob is out of view." in seeing
    assert "you have not seen it; it is one of: 3 onions; 2 onions, 1 tomato; 3 tomatoes" in blind
    rollout.play("", "E I")
    lit = rollout.game.describe(rollout.state, 0, 1)
    assert "Recipe: 3 onions." in lit and "Button (8, 1): shows the recipe for 9 more steps." in lit


def test_pictures_show_the_recipe_in_view_only():
    rollout = Rollout(HALL, view_radius=2)
    seeing, blind = (rollout.game.render(rollout.state, 0, "ansi", seat) for seat in (0, 1))
    assert "R000" in seeing and "R000" not in blind and "recipe: you have not seen it" in blind
    assert "out of view" in blind and blind.count("?") == 3
    assert rollout.play("", "E I").game.render(rollout.state, 0, "ansi", 1).count("L000") == 1


def test_manuals_say_who_sees_what_and_what_things_cost():
    game = OvercookedV2(view_radius=2, negative_rewards=True, redraw_recipe=True)
    manual = game.manual(seat=1)
    for sentence in (
        "You are Bob, a cook in one kitchen with Alice.",
        "Soup of the recipe pays 20 points.",
        "The recipe is one of: 3 onions; 3 tomatoes. It is drawn at random, and drawn again after each delivery of it.",
        "You see 2 cells in each direction.",
        "A recipe indicator shows the recipe to all players who have it in view.",
        "Pressing a button with empty hands costs the team 5 points.",
        "recipe for 9 steps",
        "costs the team 20 points.",
        "- L buttons: (3, 2)",
    ):
        assert sentence in manual, sentence
    plain = OvercookedV2("cramped_room").manual()
    assert "indicator" not in plain and "button" not in plain.split("\n\n")[0] and "pays nothing" in plain


def test_events_have_labels_and_points():
    env = make("OvercookedV2-v0", layout="grounded_coord_simple")
    env.reset(options={"state": {"players": [{"position": [2, 2], "facing": "east"}, {"position": [5, 2]}]}})
    env.step({"agent_0": env.parse("interact"), "agent_1": env.parse("stay")})
    event, nothing = env.game.events(env.arrays[1], 0)
    assert event == {"event": "press", "label": "press button", "sparse": -5.0, "shaped": 0.0} and nothing is None
