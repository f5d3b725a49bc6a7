"""What language agents read and write: observation, manual, answers, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.games.rush.text import text

DINER = {
    "name": "diner",
    "agents": 2,
    "workers": 2,
    "max_turns": 3,
    "episodes": [
        {
            "recipes": {
                "Mac and Cheese": {"ingredients": {"cheese": 2, "pasta": 1}, "spices": {"black": 1}, "cook_time": 1},
                "Garden Salad": {"ingredients": {"lettuce": 1}, "cook_time": 0},
                "Toast": {"ingredients": {"bread": 1}, "cook_time": 2},
            },
            "orders": ["Mac and Cheese", "Garden Salad"],
            "pantries": [{"id": 4, "spaces": 1, "stock": {"cheese": 2, "pasta": 1}}],
            "spicebags": [{"id": 7, "spaces": 2, "stock": {"black": 1}}],
            "stoves": [{"id": 9, "spaces": 2}],
        },
        {
            "recipes": {"Toast": {"ingredients": {"bread": 1}, "cook_time": 2}},
            "pantries": [{"id": 1, "spaces": 1, "stock": {"bread": 1}}],
            "spicebags": [{"id": 2, "spaces": 1}],
            "stoves": [{"id": 3, "spaces": 1}],
        },
    ],
}
TAKE = "{'action_type': 'TAKE_INGREDIENTS', 'area_id': 'pantry', 'value': {'order': 'Mac and Cheese'}}"
COOK = "{'action_type': 'COOK_MEAL', 'area_id': 'stove', 'value': {'order': 'Mac and Cheese'}}"
IDLE = "{'action_type': 'NO_ACTION', 'area_id': None, 'value': None}"


@pytest.fixture
def diner():
    env = collab_overcooked.make("KitchenRush-v0", scenario=DINER, order="game")
    env.reset(seed=0)
    return env


def code_of(env, message):
    with pytest.raises(text.ActionError) as refusal:
        env.parse(message)
    return refusal.value.code


def test_the_observation_is_written_like_this(diner):
    assert diner.describe("agent_1").splitlines() == [
        "Turn 1 of 3. You are agent_1 and act with worker 0 of your 2.",
        "",
        "Recipes:",
        "- Mac and Cheese: ingredients cheese 2, pasta 1; spices black 1; cook time 1",
        "- Garden Salad: ingredients lettuce 1; spices none; cook time 0",
        "- Toast: ingredients bread 1; spices none; cook time 2",
        "",
        "Orders:",
        "- Mac and Cheese: ingredients not collected, spices not collected, cooked 0 of 1",
        "- Garden Salad: ingredients not collected, no spices needed, cooked 0 of 0",
        "",
        "Areas:",
        "- pantry: 1 of 1 action spaces left; stock meat 0, carrot 0, lettuce 0, bread 0, pasta 1, cheese 2",
        "- spicebag: 2 of 2 action spaces left; stock green 0, black 1, white 0, yellow 0, red 0",
        "- stove: 2 of 2 action spaces left",
        "",
        "Valid actions; answer with a number or with the full action:",
        f"0. {IDLE}",
        f"1. {TAKE}",
        "2. {'action_type': 'TAKE_SPICES', 'area_id': 'spicebag', 'value': {'order': 'Mac and Cheese'}}",
        f"3. {COOK}",
        "4. {'action_type': 'COOK_MEAL', 'area_id': 'stove', 'value': {'order': 'Garden Salad'}}",
    ]


def test_orders_show_how_far_they_are(diner):
    diner.step({"agent_0": diner.parse(TAKE), "agent_1": diner.parse("4")})
    lines = diner.describe("agent_0").splitlines()
    assert lines[0] == "Turn 1 of 3. You are agent_0 and act with worker 1 of your 2."
    assert "- Mac and Cheese: ingredients collected, spices not collected, cooked 0 of 1" in lines
    assert "- Garden Salad: ruined" in lines
    assert "- pantry: 0 of 1 action spaces left; stock meat 0, carrot 0, lettuce 0, bread 0, pasta 0, cheese 0" in lines
    assert lines[-2].startswith("1. {'action_type': 'TAKE_SPICES'") and lines[-1] == f"2. {COOK}"


def test_finished_orders_and_the_end_are_shown(diner):
    scene = diner.scene()
    scene["orders"][0] |= {"ingredients": True, "spices": True, "cooked": 1, "finished": True, "rewarded": 3}
    del scene["areas"]  # what the order took is missing from the stock
    diner.reset(options={"state": scene})
    assert "- Mac and Cheese: finished" in diner.describe("agent_0")
    for _ in range(6):
        diner.step({agent: 0 for agent in diner.agents})
    assert diner.describe("agent_0").startswith("There are no turns left.")


def test_the_manual_has_the_scenarios_numbers():
    message = registry.load_game("KitchenRush-v0", scenario=DINER).manual()
    assert "agent_0 and agent_1 share a kitchen" in message and "An episode has 3 turns." in message
    assert "each of its 2 workers once" in message and TAKE not in message
    assert "Answer" not in message
    for number, convention in enumerate(("exactly one action per turn", "is refused if", "its type, its area"), 1):
        assert convention in message.split("Form of actions\n")[1].split(f"{number}. ")[1].split(f"\n{number + 1}. ")[0]
    alone = registry.load_game("KitchenRush-v0", scenario=DINER, agents=1, workers=1, max_turns=1).manual()
    assert "agent_0 share" in alone and "An episode has 1 turn." in alone and "each of its 1 worker once" in alone
    many = registry.load_game("KitchenRush-v0", scenario=DINER, agents=3).manual()
    assert "agent_0, agent_1 and agent_2" in many


def test_the_papers_manual_has_its_three_conventions_and_no_rule_beyond_them():
    """Figure 8; what the paper leaves to its agents to find out is told by the other manual only."""
    game = registry.load_game("KitchenRush-v0", scenario=DINER, texts="paper")
    message, default = game.manual(), registry.load_game("KitchenRush-v0", scenario=DINER).manual()
    conventions = message.split("Conventions\n")[1].splitlines()
    assert len(conventions) == 3
    for line, labels in zip(conventions, (("ingredients", "before"), ("finished", "ruined"), ("ruins",)), strict=True):
        assert all(word in line for word in labels)
    for rule in ("the same order", "more often than", "before or after", "does not warn"):
        assert rule in " ".join(default.split()) and rule not in " ".join(message.split())
    assert "costs you points" in message and "An episode has 3 turns." in message
    assert all(f"{good}," in message or f"{good}." in message for good in game.scenario.goods)


def test_the_papers_list_begins_with_ingredients_at_0_and_ends_with_doing_nothing():
    env = collab_overcooked.make("KitchenRush-v0", scenario=DINER, texts="paper", order="game")
    env.reset(seed=0)
    lines = env.describe("agent_0").split(f"{text.LIST}\n")[1].splitlines()
    assert lines[0] == f"0. {TAKE}" and lines[-1] == f"{len(lines) - 1}. {IDLE}"
    assert [env.parse(line) for line in lines] == [env.parse(str(k)) for k in range(len(lines))]
    assert "- stoves: 2 of 2 action spaces left" in env.describe("agent_0")


@pytest.mark.parametrize("texts", ["own", "paper"])
@pytest.mark.parametrize(
    ("env_id", "values", "area"),
    [
        ("KitchenRush-v0", ("COOK_MEAL", "order", "Fettucine Alfredo"), "stove"),
        ("AlienRush-v0", ("JANTROX_POKEM", "irenkel", "Zarnorblat Alfrek"), "yorvex"),
    ],
)
def test_an_only_stove_is_called_stoves_as_the_paper_prints_it(env_id, values, area, texts):
    verb, word, order = values
    cook = str({"action_type": verb, "area_id": "AREA", "value": {word: order}})
    game = registry.load_game(env_id, scenario="easy", texts=texts)
    actions = {game.parse(cook.replace("AREA", name)) for name in (area, f"{area}s", f"{area}1")}
    assert len(actions) == 1
    printed = cook.replace("AREA", f"{area}s" if texts == "paper" else area)
    assert game.action_texts()[actions.pop()] == printed


def test_the_papers_mask_offers_finished_and_ruined_orders_and_the_rules_refuse_them():
    """Its second convention is of use only if such actions can be chosen."""
    options = {"scenario": DINER, "order": "game"}
    envs = {mask: collab_overcooked.make("KitchenRush-v0", mask=mask, **options) for mask in ("valid", "paper")}
    for env in envs.values():
        env.reset(seed=0)
        env.step({"agent_0": env.parse(COOK), "agent_1": 0})  # ruins it
    extra = envs["paper"].action_mask("agent_0") - envs["valid"].action_mask("agent_0")
    texts = envs["paper"].game.action_texts()
    assert {texts[action] for action in np.flatnonzero(extra)} == {
        TAKE,
        COOK,
        COOK.replace("COOK_MEAL", "TAKE_SPICES").replace("stove", "spicebag"),
    }
    before = envs["paper"].scene()
    envs["paper"].step({"agent_0": envs["paper"].parse(COOK), "agent_1": 0})
    assert envs["paper"].scene()["orders"] == before["orders"]
    assert envs["paper"].game.events(envs["paper"].arrays[1], 0)[0]["reason"] == "ORDER_RUINED"


def test_safe_masks_shorten_the_list():
    env = collab_overcooked.make("KitchenRush-v0", scenario=DINER, mask="safe")
    env.reset(seed=0)
    assert "COOK_MEAL" not in env.describe("agent_0")


@pytest.mark.parametrize("scenario", ["easy", "hard", DINER], ids=lambda s: s if isinstance(s, str) else "diner")
def test_texts_of_actions_are_read_back_in_every_episode(scenario):
    env = collab_overcooked.make("KitchenRush-v0", scenario=scenario)
    for episode in range(len(env.game.scenario.episodes)):
        env.reset(seed=0, options={"episode": episode})
        state = env.arrays[0]
        texts = env.game.action_texts(state)
        assert len(set(texts)) == len(texts) == env.game.n_actions
        assert [env.game.parse(message, state) for message in texts] == list(range(env.game.n_actions))


def test_texts_belong_to_the_present_episode(diner):
    diner.reset(seed=0, options={"episode": 1})
    assert code_of(diner, TAKE.replace("'pantry'", "4")) == "F_AREA" and code_of(diner, TAKE) == "F_ORDER"
    assert diner.parse("{'action_type': 'TAKE_INGREDIENTS', 'area_id': 1, 'value': {'order': 'Toast'}}") == 1
    assert diner.game.action_texts()[1] == TAKE  # without a state the first episode is meant


@pytest.mark.parametrize(
    "message",
    [
        TAKE,
        f"  {TAKE}\n",
        json.dumps({"action_type": "TAKE_INGREDIENTS", "area_id": 4, "value": {"order": "Mac and Cheese"}}),
        json.dumps({"value": {"order": "Mac and Cheese"}, "area_id": "4", "action_type": "TAKE_INGREDIENTS"}, indent=1),
        "1",
        "1.",
        " 1) ",
        f"1. {TAKE}",
        TAKE.replace("'pantry'", "4"),
        TAKE.replace("pantry", "Pantry"),
        TAKE.replace("pantry", "pantry1"),
    ],
)
def test_many_spellings_mean_the_same(diner, message):
    assert diner.parse(message) == 1


def test_areas_have_the_names_that_the_paper_prints():
    game = registry.load_game("KitchenRush-v0", scenario="hard")
    cook = "{'action_type': 'COOK_MEAL', 'area_id': 'stove1', 'value': {'order': 'Lasagne'}}"
    assert game.action_texts() == registry.load_game("KitchenRush-v0", scenario="hard", texts="paper").action_texts()
    assert game.action_texts()[game.parse(cook)] == cook
    assert game.parse(cook.replace("'stove1'", "3")) == game.parse(cook) != game.parse(cook.replace("1", "2"))
    with pytest.raises(text.ActionError, match="there is no area_id 'stove'; COOK_MEAL needs one of: stove1, stove2"):
        game.parse(cook.replace("stove1", "stove"))
    alien = registry.load_game("AlienRush-v0", scenario="hard")
    assert alien.parse("{'action_type': 'JANTROX_POKEM', 'area_id': 'yorvex1', 'value': {'irenkel': 'Praebon'}}") == (
        game.parse(cook)
    )


@pytest.mark.parametrize(
    "message", [IDLE, '{"action_type": "NO_ACTION"}', "{'action_type': 'NO_ACTION', 'area_id': 4, 'value': {}}", "0"]
)
def test_doing_nothing_needs_no_area(diner, message):
    assert diner.parse(message) == 0


def test_numbers_mean_the_list_of_the_moment(diner):
    assert diner.game.action_texts()[diner.parse("3")] == COOK
    diner.step({"agent_0": 1, "agent_1": 0})
    assert diner.game.action_texts()[diner.parse("2")] == COOK
    assert [diner.parse(str(n)) for n in range(4)] == np.flatnonzero(diner.action_mask("agent_0")).tolist()


@pytest.mark.parametrize(
    ("phrase", "code", "message"),
    [
        ("5", "F_NUMBER", "5 is not in the list; valid actions have numbers 0 to 4"),
        ("take the pasta", "F_UNREADABLE", "cannot parse 'take the pasta'; write the number of a valid action"),
        ("{" * 2000, "F_UNREADABLE", "cannot parse"),
        ("(" * 900, "F_UNREADABLE", "cannot parse"),
        ("__import__('os')", "F_UNREADABLE", "cannot parse"),
        ("{'action': 'NO_ACTION'}", "F_KEY", "unknown key 'action'; did you mean action_type"),
        ("{'area_id': 4}", "F_KEY", "action_type is missing"),
        (TAKE.replace("TAKE_INGREDIENTS", "TAKE"), "F_ACTION_TYPE", "unknown action_type 'TAKE'"),
        (TAKE.replace("'pantry'", "5"), "F_AREA", "there is no area_id 5; TAKE_INGREDIENTS needs one of: pantry"),
        (TAKE.replace("pantry", "1234567890"), "F_AREA", "there is no area_id '1234567890';"),
        (TAKE.replace("pantry", "pantry2"), "F_AREA", "there is no area_id 'pantry2';"),
        (TAKE.replace("pantry", ""), "F_AREA", "there is no area_id '';"),
        (TAKE.replace("'pantry'", "9"), "F_AREA_KIND", "area_id 9 is a stove; TAKE_INGREDIENTS needs one of: pantry"),
        (TAKE.replace("pantry", "stove"), "F_AREA_KIND", "area_id 'stove' is a stove; TAKE_INGREDIENTS needs one of"),
        (TAKE.replace("Mac and Cheese", "Mac & Cheese"), "F_ORDER", "unknown order 'Mac & Cheese'; did you mean Mac"),
        (TAKE.replace("Mac and Cheese", "Toast"), "F_ORDER", "Toast is not ordered in this episode; orders: Mac and"),
        (TAKE.replace("'Mac and Cheese'", "3"), "F_ORDER", "unknown order 3"),
        (TAKE.replace("{'order': 'Mac and Cheese'}", "'Mac'"), "F_VALUE", "value must be an object such as"),
        (TAKE.replace("order", "dish"), "F_VALUE", "value must be an object"),
        ("unused_3", "F_UNREADABLE", "cannot parse"),
    ],
)
def test_what_is_no_action_is_refused_with_a_reason(diner, phrase, code, message):
    assert code_of(diner, phrase) == code
    with pytest.raises(text.ActionError, match=message.replace("(", r"\(")):
        diner.parse(phrase)


@pytest.mark.parametrize(
    ("plan", "parts"),
    [
        (TAKE, [TAKE]),
        (f"{TAKE}; {COOK}", [TAKE, COOK]),
        (f"{TAKE}\n\n3\n", [TAKE, "3"]),
        ("1;0", ["1", "0"]),
        (f"[{TAKE}, {COOK}]", [TAKE, COOK]),
        ('{"action_type": "NO_ACTION",\n "area_id": null}', ['{"action_type": "NO_ACTION",\n "area_id": null}']),
        ("", []),
    ],
)
def test_plans_are_split(diner, plan, parts):
    assert diner.game.parse_plan(plan) == (parts, [])


@pytest.mark.parametrize(
    ("first", "then", "code", "message"),
    [
        ((TAKE, IDLE), TAKE, "ALREADY_COLLECTED", "The ingredients of Mac and Cheese have been collected already."),
        ((COOK, IDLE), TAKE, "ORDER_RUINED", "Mac and Cheese is ruined; nothing more can be done for it."),
        (
            (TAKE, IDLE),
            TAKE.replace("Mac and Cheese", "Garden Salad"),
            "NO_SPACE",
            "Pantry has no action space left in this turn; all its spaces are free again in the next turn.",
        ),
        (
            (IDLE, IDLE),
            TAKE.replace("Mac and Cheese", "Garden Salad"),
            "OUT_OF_STOCK",
            "Pantry does not have everything that Garden Salad needs: lettuce 1.",
        ),
        ((IDLE, IDLE), COOK, "OK", "Accepted."),
    ],
)
def test_refusals_say_what_is_wrong(diner, first, then, code, message):
    diner.step(dict(zip(diner.agents, map(diner.parse, first), strict=True)))
    assert diner.check("agent_0", then) == (code, message)


def test_what_an_episode_lacks_is_said(diner):
    diner.reset(seed=0, options={"episode": 1})
    missing = diner.game.action_texts(diner.arrays[0]).index("unused_2")
    assert diner.check("agent_0", missing) == ("NO_SUCH_ORDER", "There is no such order in this episode.")
