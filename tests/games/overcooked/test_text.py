"""Descriptions in LLM-Co's order, answers and how they are read, refusals, events in words, the manual."""

from __future__ import annotations

import re

import numpy as np
import pytest
from games.overcooked.world import open_world

from collab_overcooked import make
from collab_overcooked.games.overcooked.engine.constants import Clock
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.text import text

WORLD = """
    XXPXXPXX
    O 1    O
    X   2  X
    XDXGXXSX
    XXX XXXX
    XXXXXXXX
    1 north holds onion
    2 east holds soup(onion, onion, onion)
    (2,0) onion, onion
    (5,0) onion, onion, onion 7/20
    (0,2) dish
    (3,3) open 4
"""


def described(player: int = 1, **options: object) -> list[str]:
    rollout = open_world(WORLD, action_level="medium", **options)
    return rollout.game.describe(rollout.state, 0, player - 1).split("\n")


def test_a_description_has_llm_cos_parts_in_its_order() -> None:
    lines = described()
    assert lines[:3] == [
        "You are Alice. Step 0 of 400; earned so far: 0.",
        "Your last directives: none.",
        "You hold an onion. Bob holds a soup of 3 onions in a dish.",
    ]
    assert lines[3] == "Your distances: o0 1, o1 4, p0 2, c0 0, c1 3, d0 5, g0 2."
    assert lines[4].startswith("Bob's distances: o0 4")
    assert lines[5:7] == ["c0: 2 of 3 ingredients, off, not cooking.", "c1: 3 of 3 ingredients, on, still cooking."]
    assert lines[7] == "Counters: k6 (distance 2) has a dish."
    assert "g0: open for 7 more steps." in lines
    assert "g0: open for 6 more steps." in described(text_rules="original"), "as the original counts them"
    assert lines[-2] == "Nearest empty counter: k1, distance 1."
    assert lines[-1] == "You can: wait; move away; put in c0; put on k1."


def test_the_original_menu_has_more_in_it() -> None:
    assert "put in c1" in described(text_rules="original")[-1]


def test_primitive_actions_have_a_description_without_menu() -> None:
    rollout = open_world(WORLD)
    assert not rollout.game.describe(rollout.state, 0, 0).split("\n")[-1].startswith("You can")


PHRASES = {  # of the paper's table 5, of its code, and of other spellings, by the directive that they mean
    "take onion from o1": ["pick onion from o1", "pick up onion from o1.", "3. pick up the onion from o1"],
    "take dish from p0": ["pick plate from p0", "pick up plate from p0.", "Take a dish from p0"],
    "take from k6": ["pick onion from k6", "pick plate from k6", "pick up plate from k6.", "Take dish from k6"],
    "take from s0": ["pick onion from s0", "pick up a plate from s0.", "pick up onion from s0."],
    "put in c0": ["put onion in c0", "place onion in c0.", "Place the onion in c0.", "put it into pot c0"],
    "load soup from c0": ["put soup on plate from c0", "load soup on plate from c0.", "take soup from c0"],
    "deliver at d0": ["deliver soup in d0", "deliver soup at d0", "place soup for delivery in d0.", "put soup on d0"],
    "put on s0": ["place onion on s0", "place plate on s0", "place plate in s0.", "place soup on s0"],
    "put on k6": ["place onion on k6", "place plate on k6.", "put the soup on the nearest empty counter k6"],
    "open g0": ["open g0.", "Open gate g0"],
    "wait": ["wait.", "Wait"],
    "move away": ["move away.", "Move away"],
}


@pytest.mark.parametrize("meant", PHRASES)
def test_every_phrase_of_the_paper_means_its_directive(meant: str) -> None:
    game = Overcooked("locked" if "open" in meant else "soup_passing", action_level="medium")
    texts = game.action_texts()
    assert meant in texts
    assert {phrase: texts[game.parse(phrase)] for phrase in PHRASES[meant]} == dict.fromkeys(PHRASES[meant], meant)


PRINTED = {  # all forms of the public code's action list, by the directive that they mean
    "take onion from o{}": ["pick up onion from o{}."],
    "take dish from p{}": ["pick up plate from p{}."],
    "put in c{}": ["place onion in c{}."],
    "load soup from c{}": ["load soup on plate from c{}."],
    "start c{}": ["turn on c{}."],
    "deliver at d{}": ["place soup for delivery in d{}."],
    "open g{}": ["open g{}."],
    "take from k{}": ["pick up onion from k{}.", "pick up plate from k{}.", "pick up cooked soup from k{}."],
    "put on k{}": ["place onion on k{}.", "place plate on k{}.", "place cooked soup on k{}."],
    "take from s{}": [
        "pick up onion from s{}.",
        "pick up plate from s{}.",
        "pick up a plate from s{}.",
        "pick up cooked soup from s{}.",
    ],
    "put on s{}": ["place onion in s{}.", "place plate in s{}.", "place plate in s{}", "place cooked soup in s{}."],
    "wait": ["wait."],
    "move away": ["move away."],
}


@pytest.mark.parametrize("layout", ["asymmetric_advantages_llmco", "counter_circuit", "gated_delivery", "soup_passing"])
def test_everything_that_the_public_code_prints_means_its_directive(layout: str) -> None:
    """Every form with every object of a layout."""
    game = Overcooked(layout, action_level="medium", dynamics="explicit")
    read = {}
    for directive in game.action_texts()[1:]:
        name = (re.findall(r"\d+", directive) or [""])[0]
        for form in PRINTED[re.sub(r"\d+", "{}", directive)]:
            read[form.format(name)] = (directive, game.action_texts()[game.parse(form.format(name))])
    assert {phrase: pair for phrase, pair in read.items() if len(set(pair)) > 1} == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("pick up cooked onion from k0", "F_NO_DIRECTIVE"),
        ("turn on k0", "F_WRONG_OBJECT"),
        ("dance", "F_NO_DIRECTIVE"),
        ("put in c77", "F_NO_DIRECTIVE"),
        ("open c0", "F_WRONG_OBJECT"),
        ("take onion from p0", "F_WRONG_OBJECT"),
        ("put plate in c0", "F_WRONG_OBJECT"),
        ("put onion on d0", "F_WRONG_OBJECT"),
        ("put onion from c0", "F_WRONG_OBJECT"),
        ("do not put onion in c0", "F_NO_DIRECTIVE"),
        ("put soup on plate in c0", "F_NO_DIRECTIVE"),
        ("take onion near c0", "F_NO_DIRECTIVE"),
    ],
)
def test_no_phrase_is_matched_by_its_last_noun_alone(message: str, code: str) -> None:
    game = Overcooked("soup_passing", action_level="medium")
    with pytest.raises(text.ActionError) as caught:
        game.parse(message)
    assert caught.value.code == code


def test_of_an_answer_the_last_action_counts() -> None:
    answer = "Bob will deliver. Action: wait would be lazy.\nAction: put in c0; take dish from p0"
    assert text.read_answer(answer) == ["put in c0", "take dish from p0"]
    assert text.read_answer("1. wait\n- move away") == ["wait", "move away"]


def test_every_text_is_read_as_itself() -> None:
    for layout in ("locked", "forced_coordination"):
        game = Overcooked(layout, action_level="medium")
        assert [game.parse(action_text) for action_text in game.action_texts()] == list(range(game.n_actions))


def test_refusals_name_object_and_hand() -> None:
    rollout = open_world(WORLD, action_level="medium")
    for phrase, code, message in (
        ("deliver at d0", "WRONG_ITEM", "Alice holds an onion, which does not go there."),
        ("put in c1", "REFUSES", "c1 takes nothing right now: it is full, cooking or done."),
        ("open g0", "HANDS_FULL", "Alice holds an onion; that needs an empty hand."),
    ):
        assert rollout.game.check(rollout.state, 0, 0, rollout.game.parse(phrase)) == (code, message)


def test_the_manual_names_rules_and_objects_and_leaves_the_form_of_answers_to_who_asks() -> None:
    game = Overcooked("locked", action_level="medium")
    manual = game.manual(seat=1)
    for message in (
        "You are Bob",
        "3 onions pay 20",
        "cooks for 20 steps",
        "closes after 10 steps",
        "g0 (3, 3)",
        "in 400 steps",
    ):
        assert message in manual
    assert "Interact with an empty hand to start it" in Overcooked(dynamics="explicit", action_level="medium").manual()
    assert "alone" in Overcooked(agents=1, action_level="medium").manual()
    assert "Action:" not in manual and "Answer" not in manual
    rollout = open_world(WORLD, action_level="medium")
    rollout.state.clock[0, Clock.LIMIT] = 60
    assert "in 60 steps" in rollout.game.manual(rollout.state, 0)


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("cramped_room", "rectangular"),
        ("forced_coordination", "narrow"),
        ("coordination_ring", "circular"),
        ("counter_circuit", "circular"),
        ("asymmetric_advantages", "irregular"),
        ("gated_delivery", "rectangular"),
    ],
)
def test_the_manual_has_a_word_for_the_shape_of_the_kitchen(layout: str, shape: str) -> None:
    assert f"The kitchen is {layout}, {shape}, " in Overcooked(layout, action_level="medium").manual()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, [False, False, True]),
        ({"text_rules": "original"}, [True, False, False]),
        ({"text_rules": "original", "stalemate": "paper"}, [True, True, False]),
    ],
)
def test_the_manual_of_the_original_rules_has_the_papers_directives(options: dict[str, str], told: list[bool]) -> None:
    manual = Overcooked("locked", action_level="medium", **options).manual()
    parts = ("while one soup cooks, get the next one ready", "If you cannot go on", "ends by itself")
    assert [part in manual for part in parts] == told
    assert ("may be nearer to you than the dispenser" in manual) == told[0]


def test_primitive_actions_have_a_map_positions_and_a_manual_with_orders() -> None:
    rollout = open_world(WORLD)
    lines = rollout.game.describe(rollout.state, 0, 1).split("\n")
    assert lines[1:4] == ["Alice is 1 at (2, 1), facing north. You are 2 at (4, 2), facing east.", "Map:", "kkckkckk"]
    assert lines[4:6] == ["o 1    o", "k   2  k"]
    manual = Overcooked("locked").manual(seat=1)
    for message in (
        "You are Bob",
        "3 onions pay 20",
        "cooks for 20 steps",
        "c0 (",
        "interact works",
        "c pots",
        "Blank cells are floor",
    ):
        assert message in manual
    assert "directive" not in manual


@pytest.mark.parametrize("layout", ["locked", "forced_coordination", "counter_circuit"])
def test_names_of_objects_map_and_legend_use_the_same_letters(layout: str) -> None:
    env = make("Overcooked-v0", layout=layout)
    env.reset(seed=0)
    rows = env.describe("agent_0").partition("Map:\n")[2].split("\n")
    manual = env.game.manual(seat=0)
    objects = re.findall(r"([a-z])\d+ \((\d+), (\d+)\)", manual)
    assert objects and all(rows[int(y)][int(x)] == letter for letter, x, y in objects)
    legend = dict(re.findall(r"([a-zW]) ([a-z ]+)", manual.partition("names of objects: ")[2].partition(".")[0]))
    assert set(legend) >= {letter for letter, *_ in objects}
    for title, letter in re.findall(r"^- ([a-z ]+): ([a-z])0", manual, re.MULTILINE):
        assert legend[letter] == title


def test_the_manual_is_that_of_the_layout_that_is_played() -> None:
    game = Overcooked(["cramped_room", "locked"], action_level="medium")
    state, out = game.alloc(2)
    for i, layout in enumerate(("locked", "cramped_room")):
        game.reset(state, out, np.arange(2) == i, {"layout": layout})
    assert "The kitchen is locked," in game.manual(state, 0) and "The kitchen is cramped_room," in game.manual(state, 1)


def test_the_manual_says_who_can_get_to_what() -> None:
    forced = Overcooked("forced_coordination").manual(seat=1)
    assert "You can reach o0, o1, p0, s0, s1, s2, k1, k7." in forced
    assert "Alice can reach c0, c1, d0, s0, s1, s2, k4, k5." in forced
    assert "Counters that all players can reach, for handing things over: s0, s1, s2." in forced
    locked = Overcooked("locked").manual(seat=0)
    assert "You can reach o0, p1, c0, d0, g0; only through an open gate to o1, p0, c1." in locked
    assert "All players can reach o0, o1, p0, c0, d0, " in Overcooked("cramped_room").manual()
    assert "You can reach o0" in Overcooked("cramped_room", agents=1).manual()
