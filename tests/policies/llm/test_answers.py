from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collab_overcooked.io.text import harmless
from collab_overcooked.policies.llm.answers import (
    JSON,
    LINE,
    MAX_PLAN,
    MAX_SAY,
    Unreadable,
    read_fields,
    read_object,
    read_plan,
    read_say,
    read_verdict,
)
from collab_overcooked.policies.llm.choices import read_choice, read_letter

TEXTS = ["wait(1)", "pickup(egg,counter)", "cook(pot0)"]

THOUGHTS = [
    *(
        f"<{tag}>DRAFT</{tag}>FINAL"
        for tag in ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
    ),
    *(f"<{tag}>DRAFT</{tag}>FINAL" for tag in ("antThinking", "seed:think", "inner_thoughts", "chain_of_thought")),
    "<think>DRAFT<reflection>DRAFT</reflection>DRAFT</think>FINAL",
    "<thought>DRAFT</thinking>FINAL",
    "[THINK]DRAFT[/THINK]FINAL",
    "DRAFT[/THINK]FINAL",
    "DRAFT</thought>FINAL",
    "DRAFT<|end_of_thought|>FINAL",
    "\u25c1think\u25b7DRAFT\u25c1/think\u25b7FINAL",
    "<|begin_of_thought|>DRAFT<|end_of_thought|><|begin_of_solution|>FINAL<|end_of_solution|>",
    "<|START_THINKING|>DRAFT<|END_THINKING|><|START_RESPONSE|>FINAL<|END_RESPONSE|>",
    "<|channel|>analysis<|message|>DRAFT<|end|><|start|>assistant<|channel|>final<|message|>FINAL<|return|>",
    "<|channel|>analysis<|message|>DRAFT<|end|><|channel|>final <|constrain|>json<|message|>FINAL",
    "analysisWell: DRAFTassistantfinalFINAL",
    "<|channel>thought\nDRAFT<channel|>FINAL",
    "<think>DRAFT</think><answer>FINAL</answer>",
    "<|im_start|>assistant\n<think>DRAFT</think>FINAL<|im_end|>\n<|im_start|>user\nDRAFT",
    *(f"FINAL{end}DRAFT" for end in ("<|im_end|>", "</s>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "[/INST]")),
    "FINAL<\uff5cend\u2581of\u2581sentence\uff5c>DRAFT",
    "FINAL\n<reflection>Why not DRAFT?",
]


@pytest.mark.parametrize("form", THOUGHTS)
def test_an_idea_that_is_rejected_is_not_played(form):
    text = form.replace("DRAFT", '{"action": 1, "plan": "a", "okay": true}')
    text = text.replace("FINAL", '{"action": 3, "plan": "c", "okay": false}')
    assert read_choice(text, TEXTS).value == 2
    assert read_fields(text, ["plan"], ["plan"]).value == {"plan": "c"}
    assert not read_verdict(text).value[0]
    assert read_letter(form.replace("DRAFT", "Answer: A").replace("FINAL", "C"), TEXTS).value == 2


@pytest.mark.parametrize("form", [text.partition("DRAFT")[0] + "DRAFT" for text in THOUGHTS if text[0] in "<[a\u25c1"])
def test_a_thought_without_end_is_no_answer(form):
    with pytest.raises(Unreadable):
        read_choice(form.replace("DRAFT", '{"action": 1}'), TEXTS)


def test_marks_within_an_answer_are_its_text():
    answer = read_fields('{"plan": "<think>", "say": "[/think]"}', ["plan", "say"], [])
    assert answer.value == {"plan": "<think>", "say": "[/think]"}


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_read_or_unreadable(value):
    for read in (lambda t: read_choice(t, TEXTS), lambda t: read_fields(t, ["plan", "say"], ["plan"]), read_verdict):
        for answer in (json.dumps({"action": value, "plan": value, "say": value, "okay": value}), json.dumps(value)):
            try:
                read(answer)
            except Unreadable:
                pass


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "b", "c": "d.', {"a": "b", "c": "d."}),
        ('{"a": ["b", "c"', {"a": ["b", "c"]}),
        ('{"a": "wait(1);\ncook(pot0)"}', {"a": "wait(1);\ncook(pot0)"}),
        ('{{ self }} {% x %} { "a": "b" }', {"a": "b"}),
        ("none", None),
        ("{", None),
        ("{}", None),
    ],
)
def test_only_syntax_is_repaired(text, value):
    answer = read_object(text, ["a", "c"])
    assert (answer and answer.value) == value


def test_named_parts_are_found_in_json_and_in_plain_text():
    names, needed = ["analysis", "plan", "say"], ["plan"]
    expected = {"analysis": "hm", "plan": "wait(1); cook(pot0)", "say": "hello"}
    assert read_fields(json.dumps(expected), names, needed) == (expected, JSON)
    other = '{"Analysis": "hm", "plan": ["wait(1)", "cook(pot0)"], "SAY": "hello", "x": 1}'
    assert read_fields(other, names, needed) == (expected, JSON)
    assert read_fields("Analysis: hm\nPlan: wait(1); cook(pot0)\n**Say:** hello", names, needed) == (expected, LINE)
    assert read_fields("Plan: wait(1)", names, needed).value == {"analysis": "", "plan": "wait(1)", "say": ""}
    with pytest.raises(Unreadable, match="several parts plan that disagree"):
        read_fields("Plan: wait(1)\nPlan: cook(pot0)", names, needed)
    with pytest.raises(Unreadable, match="several JSON objects that disagree"):
        read_fields('{"plan": "wait(1)"} {"plan": "cook(pot0)"}', names, needed)
    with pytest.raises(Unreadable, match="lacks plan"):
        read_fields("Analysis: hm", names, needed)
    with pytest.raises(Unreadable, match="lacks plan"):
        read_fields('{"plan": {"a": 1}}', names, needed)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Hello", ("Hello", False)),
        ("Hello [END]", ("Hello", True)),
        ("[END]", ("", True)),
        ("[NOTHING]", ("", True)),
        ("nothing.", ("", True)),
        ("", ("", True)),
        ("send the blender, my friend", ("send the blender, my friend", False)),
    ],
)
def test_words_and_the_end_marker(text, reply):
    assert read_say(text) == reply


def test_long_words_and_plans_are_cut():
    assert len(read_say("x" * 9999)[0]) == MAX_SAY
    plan = read_plan("wait(1);" * 2000)
    assert len(plan) <= MAX_PLAN and plan.endswith("wait(1)")
    assert read_plan("x" * 9999) == ""
    assert read_plan("a;\n b\n;;c") == "a; b; c"


def test_verdicts():
    assert read_verdict('{"okay": false, "reason": "the pot is full"}') == ((False, "the pot is full"), JSON)
    assert read_verdict("Not okay: the pot is full.") == ((False, "the pot is full"), LINE)
    assert read_verdict("Okay").value == (True, "")
    for text in ("maybe", "It is okay", "okay I think not", '{"okay": "no"}', '{"okay": true} {"okay": false}'):
        with pytest.raises(Unreadable):
            read_verdict(text)


@settings(deadline=None)
@given(st.text())
def test_clean_text_can_be_written_down(text):
    cleaned = harmless(text)
    cleaned.encode("utf-8")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert harmless(cleaned) == cleaned
