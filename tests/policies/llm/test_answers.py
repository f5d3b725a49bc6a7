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
    REPAIRED,
    Unreadable,
    choice_schema,
    read_choice,
    read_fields,
    read_letter,
    read_object,
    read_plan,
    read_say,
    read_verdict,
)

TEXTS = ["wait(1)", "pickup(egg,counter)", "cook(pot0)"]


@pytest.mark.parametrize(
    ("answer", "number", "how"),
    [
        ('{"action": 2}', 2, JSON),
        ('{"Action": "2"}', 2, JSON),
        ('Sure! {"action": "cook(pot0)"} is best', 3, JSON),
        ('```json\n{"action": 2}\n```', 2, JSON),
        ('```json\n{"action": 1}\n```\nRather {"action": 3}', 3, JSON),
        ('Of {these}: {"action": 3}', 3, JSON),
        ('{"x": 1} {"action": 2} {"y": 3}', 2, JSON),
        ('{"action": 3}' + " so" * 10 + '\n{"action": 3}', 3, JSON),
        ("x" * 24_000 + '{"action": 3}', 3, JSON),
        ('<think>1 or 2?</think>{"action": 3}', 3, JSON),
        ('1 or {"action": 2}?</think>{"action": 3}', 3, JSON),
        ('{\n "action": "3"\n', 3, REPAIRED),
        ("{'action': 2,}", 2, REPAIRED),
        ("{action: 2} it is", 2, REPAIRED),
        ('{"action": 2, "steps": [{"id": 1}, {"id": ', 2, REPAIRED),
        ("2", 2, LINE),
        (" 2. ", 2, LINE),
        ("**2**", 2, LINE),
        ("2. pickup(egg,counter)", 2, LINE),
        ("pickup(egg, counter)", 2, LINE),
        ("Action: cook(pot0)", 3, LINE),
        ("I think so.\nAction: 2", 2, LINE),
        ("action: 1? No.\n**Final answer:** 3\n", 3, LINE),
        ("1 or 2?\n$\\boxed{2}$", 2, LINE),
        ("1 or 2?\n<answer>2</answer>", 2, LINE),
        ("<THINKING>1</THINKING>\n3", 3, LINE),
        ("<think>" + "x" * 25_000 + "</think>3", 3, LINE),
        ("\uff12", 2, LINE),
    ],
)
def test_what_the_grammar_reads(answer, number, how):
    assert read_choice(answer, TEXTS) == (number - 1, how)


REJECTED = [  # what a model only mentions, or takes back
    "1. wait(1)\n2. pickup(egg,counter)\n3. cook(pot0)\nI choose 3",
    "Action 1 is not possible, so stay.",
    "Do not choose 3.",
    '{"action": 2} then {"action": 3} would be worse.',
    "{'action': 2,} then {'action': 3,} would be worse.",
    '{"action": 2}\nNo, that is wrong.\nAction: 3',
    "I go to room 3.",
    "Action: not 1",
    "Action: 1 or 2",
    '{"analysis": "action: 1 is bad',
    '{"analysis": "{"action": 1} is bad',
    '{"action": 1',
    '{"answer": {"action": 3, "id": 1}}',
    "The answer is 2",
    "2. cook(pot0)",
    "1 or 2? \\boxed{2}",
    "<answer>1</answer> is wrong",
    "I choose number 3 because it cooks",
    "[Action] 2",
    '{"option": 2}',
]


@pytest.mark.parametrize("answer", REJECTED)
def test_nothing_is_inferred_from_prose(answer):
    with pytest.raises(Unreadable, match=r"nothing but the number of one action from 1 to 3|disagree"):
        read_choice(answer, TEXTS)


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("Explanation: Bob cooks. Action: 2", 2),
        ("Explanation: Bob cooks. Action: Cook it on the stove.", 3),
        ("Action: 1 is late.\nExplanation: it boils. **Action:** cook(pot0).", 3),
        ("cook it on the stove", 3),
        ("Explanation: Action: 1 would be late. Action: 3", 3),
    ],
)
def test_free_text_may_explain_itself_on_the_line_of_its_action(answer, number):
    def parse(phrase):
        return 2 if phrase.lower().strip(".") == "cook it on the stove" else None

    assert read_choice(answer, TEXTS, parse=parse) == (number - 1, LINE)
    with pytest.raises(Unreadable):
        read_choice(answer, TEXTS)


@pytest.mark.parametrize("answer", ["Action: fry it", "Explanation: no idea.", "Action: 1 or 2", "Action: 2 is late."])
def test_free_text_without_an_action_is_unreadable(answer):
    with pytest.raises(Unreadable):
        read_choice(answer, TEXTS, parse=lambda phrase: None)


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


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no idea",
        "1 or 2",
        '{"action": 4}',
        '{"action": 0}',
        '{"action": -1}',
        '{"action": true}',
        '{"action": null}',
        '{"action": [1]}',
        '{"action": {"action": 1}}',
        '{"action": 1.5}',
        '{"action": 1.5, "steps": [1, ',
        '{"action": "pickup", "data": {\n    "id": 1,\n    "name": "pickup", "type": ',
        '{"action": 1e999}',
        '{"action": NaN}',
        '{"action": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 50_000,
        "__import__('os').system('x')",
        "<think>2",
        "\ud800",
    ],
)
def test_what_is_no_choice_is_unreadable(answer):
    with pytest.raises(Unreadable, match="from 1 to 3"):
        read_choice(answer, TEXTS)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_choice_or_unreadable(answer):
    try:
        assert 0 <= read_choice(answer, TEXTS).value < 3
    except Unreadable:
        pass


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


def test_the_schema_of_a_choice_is_bounded():
    assert choice_schema(3)["properties"]["action"] == {"type": "integer", "enum": [1, 2, 3]}


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
