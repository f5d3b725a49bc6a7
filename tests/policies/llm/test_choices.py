"""Which option an answer names: what a person would read is read, what nobody said is not played."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collab_overcooked.policies.llm.answers import JSON, LINE, REPAIRED, TOOL, Unreadable
from collab_overcooked.policies.llm.choices import choice_schema, read_choice, read_letter

TEXTS = ["wait(1)", "pickup(egg,counter)", "cook(pot0)"]
MOVES = ["stay", "press the button", "go left", "take an onion"]
LIST = "1. wait(1)\n2. pickup(egg,counter)\n3. cook(pot0)"

OBJECTS = [
    ('{"action": 3}', JSON),
    ('{"Action": "3"}', JSON),
    ('{"action": 3.0}', JSON),
    ('{"action": "cook(pot0)"}', JSON),
    ('{"action": "3. cook(pot0)"}', JSON),
    ('{"action": "Option 3"}', JSON),
    ('Sure! {"action": "cook(pot0)"} is best', JSON),
    ('```json\n{"action": 3}\n```', JSON),
    ('```json\n{"action": 3}\n```\nThis cooks.', JSON),
    ('Of {these}: {"action": 3}', JSON),
    ('{"x": 1} {"action": 3} {"y": 2}', JSON),
    ('[{"action": 3}]', JSON),
    ('{"action": 3} // cook', JSON),
    ('{"thought": "Option 2? no", "action": 3}', JSON),
    ('{"action": 3}' + " so" * 10 + '\n{"action": 3}', JSON),
    ("x" * 24_000 + '{"action": 3}', JSON),
    ('<think>1 or 2?</think>{"action": 3}', JSON),
    ('1 or {"action": 2}?</think>{"action": 3}', JSON),
    ('I take the pot.\nAction: 3\n{"action": 3}', JSON),
    ('{\n "action": "3"\n', REPAIRED),
    ("{'action': 3,}", REPAIRED),
    ("{action: 3} it is", REPAIRED),
    ('{"action": 3, "steps": [{"id": 1}, {"id": ', REPAIRED),
]
FAMILIES = {  # calls of a tool that a server without a parser for them passes on as text
    "Hermes, Qwen": '<tool_call>\n{"name": "act", "arguments": {"action": ANSWER}}\n</tool_call>',
    "Qwen Coder": "<tool_call>\n<function=act>\n<parameter=action>\nPLAIN\n</parameter>\n</function>\n</tool_call>",
    "Llama": '<|python_tag|>{"name": "act", "parameters": {"action": ANSWER}}<|eom_id|>',
    "Llama, Python": "[act(action=ANSWER)]",
    "GLM": "<tool_call>act\n<arg_key>action</arg_key>\n<arg_value>PLAIN</arg_value>\n</tool_call>",
    "Cohere": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "act", "parameters": {"action": ANSWER}}]'
    "<|END_ACTION|>",
    "Gemma": "```tool_code\nact(action=ANSWER)\n```",
    "Gemma, printed": "```tool_code\nprint(act(action=ANSWER))\n```",
    "Mistral": '[TOOL_CALLS] [{"name": "act", "arguments": {"action": ANSWER}}]',
    "Mistral, later": '[TOOL_CALLS]act[ARGS]{"action": ANSWER}',
    "DeepSeek": "<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>act\n"
    '```json\n{"action": ANSWER}\n```',
    "Kimi": '<|tool_call_begin|>functions.act:0<|tool_call_argument_begin|>{"action": ANSWER}<|tool_call_end|>',
    "gpt-oss": '<|channel|>commentary to=functions.act <|constrain|>json<|message|>{"action": ANSWER}<|call|>',
    "arguments as text": '{"name": "act", "arguments": "{\\"action\\": 3}"}',
}
STATED = """
The answer is 3.|The answer is 3 because the pot is free.|The final answer is $\\boxed{3}$.|\\[ \\boxed{3} \\]
Antwort: 3|Die Antwort ist 3.|答案\uff1a3|回答\uff1a3|Réponse : 3|Respuesta: 3|Ответ: 3|Action: 3|**Action:** 3
Action: `3`|Action: cook(pot0)|Action: 3 (cook(pot0))|Action \u2192 3|action = 3|Selected action: 3
Action number: 3|Action chosen: 3|My action is: 3|My final answer: **Option 3**|Final answer: [3]
Decision: option 3|The correct action is 3.|My answer is 3: cook(pot0)|My next move will be 3
I think the best action is 3|Therefore, the answer is: 3|It's clear that the answer is 3
So I'll go with option 3.|I choose number 3 because it cooks|I pick 3!|I'll do action 3.|I'm going with 3.
I am choosing option 3.|I'd choose 3: cook(pot0)|Option 3 is the best choice.|<answer>3</answer>
<action>3</action>|<final_answer>3</final_answer>|[Action] 3|Answer: $3$|Answer: \\(3\\)|Answer: (3)
"""
WHOLE = """
3|3.|3.0|**3**|`3`|"3"|(3)|[3]|#3|- 3|> 3|Option 3|Option #3|Number 3|No. 3|3) cook(pot0)|3. cook(pot0)|3 - cook(pot0)
Option 3: cook(pot0)|Action 3: cook(pot0)|cook(pot0)|cook(pot0).|Cook(Pot0)|cook( pot0 )|3 because the pot is free
\uff13
"""
LINES = [
    "1 or 2?\n3",
    "1 or 2?\n$\\boxed{3}$",
    "1 or 2? \\boxed{3}",
    "3\n\nLet me know if you need anything else!",
    "Action: 3\nReason: the pot is free",
    "### Answer\n3",
    "Answer:\n\n3",
    "The answer is\n3",
    "<answer>\n3\n</answer>",
    "```\n3\n```",
    "Step 1. I look.\nStep 2. I think.\n\n3",
    f"{LIST}\n\n3",
    f"{LIST}\nI choose 3",
    "action: 1? No.\n**Final answer:** 3\n",
    "Should I choose 2? No. Answer: 3",
    "My partner's next action: 2\nAction: 3",
    "<THINKING>1</THINKING>\n3",
    "<think>" + "x" * 25_000 + "</think>3",
]


def split(table: str) -> list[str]:
    return [text for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize(("answer", "how"), OBJECTS)
def test_objects_are_read(answer, how):
    assert read_choice(answer, TEXTS) == (2, how)


@pytest.mark.parametrize("form", FAMILIES)
def test_calls_of_tools_as_text_are_read(form):
    for value in ("3", '"cook(pot0)"'):
        text = FAMILIES[form].replace("ANSWER", value).replace("PLAIN", value.strip('"'))
        assert read_choice(text, TEXTS).value == 2
        assert read_choice(text, TEXTS).how in (TOOL, JSON)


@pytest.mark.parametrize("answer", [*split(STATED), *split(WHOLE), *LINES])
def test_statements_and_lines_are_read(answer):
    assert read_choice(answer, TEXTS) == (2, LINE)


NOTHING_SAID = [
    "",
    "no idea",
    "four",
    "0",
    "33",
    "-3",
    "3.5",
    "1/3",
    "2 of 3",
    "Room 3",
    "3 eggs",
    "I go to room 3.",
    "I take 3 eggs.",
    "The pot needs 3 eggs.",
    "There are 3 options",
    "I choose to wait",
    "In room 2\nI move.",
    "2. cook(pot0)",  # the number of another one
    "1. First I check the pot",
    "1. I look at the pot.\n2. I take the egg.",
    *(LIST, "3\n2\n1", "Best to worst:\n3\n1\n2", "Actions: 3, 2", "1 or 2", "either 2 or 3"),
    *("Actions to avoid:\n3", "Bad options:\n3", "Available actions:\n3", "Plan:\n3"),
    *("Action 1 is not possible, so stay.", "Option 3 is wrong.", "<answer>3</answer> is wrong"),
    *(
        "Do not choose 3.",
        "I would never choose option 3.",
        "I cannot choose option 3.",
        "You should not take option 3.",
    ),
    *("The answer is not 3", "The answer isn't 3.", "Action: not 3", "My answer is not 3 but 2.", "Answer: none"),
    *("If the answer is 3, we lose.", "Is the answer 3?", "Should I choose 3?", "Action: 3?", "Hmm, 3?", "maybe 3"),
    *("Action: 1 or 2", "Action: 3 then 2", "Action: 3; 2", "Answer: 1-3", "Answer: 1, 2", "I choose 3 or 2"),
    *("The answer is 3. No, wait, it is 2.", "Answer: 2\nAnswer: 3", "Option 3 is best if it is free, otherwise 2."),
    *("Bob's answer: 3", "Alice's action is 2", "The partner's action is 3", "Previous action: 3"),
    *("Example: Action: 3", "Rejected option: 3", "Fallback action: 3", "So the answer would be 3"),
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
    '{"action": 3 or 2}',
    '{"action": 1',
    '{"answer": {"action": 3, "id": 1}}',
    '{"option": 2}',
    '{"analysis": "action: 1 is bad',
    '{"analysis": "{"action": 1} is bad',
    "[" * 100_000,
    '{"a":' * 50_000,
    "__import__('os').system('x')",
    "<think>2",
    "\ud800",
]
CONTRADICTIONS = [
    '{"action": 2} then {"action": 3} would be worse.',
    "{'action': 2,} then {'action': 3,} would be worse.",
    '```json\n{"action": 3}\n```\nAnother way: {"action": 2}',
    '{"action": 2}\nNo, that is wrong.\nAction: 3',
    '{"action": 3, "action": 2}',
    "{'action': 3, 'action': 2}",
]


@pytest.mark.parametrize("answer", [*NOTHING_SAID, *CONTRADICTIONS], ids=lambda answer: ascii(answer[:60]))
def test_what_is_not_said_is_not_played(answer):
    with pytest.raises(Unreadable, match=r"nothing but the number of one action from 1 to 3|disagree|twice"):
        read_choice(answer, TEXTS)


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("Ranking: 1. press the button\n2. stay", None),
        ("Action: 3 (press the button)", None),
        ("Action: 3 (go left)", 3),
        ("Press the button.", 2),
        ("2. Press the button", 2),
        ("Action: press the button", 2),
        ("1. stay\n2. press the button\n3. go left\n4. take an onion", None),
        ("Not 2\n3", 3),
    ],
)
def test_texts_of_words(answer, number):
    if number is not None:
        assert read_choice(answer, MOVES) == (number - 1, LINE)
        return
    with pytest.raises(Unreadable):
        read_choice(answer, MOVES)


def test_numbers_begin_where_the_prompt_says():
    assert read_choice("0", TEXTS, first=0).value == 0
    with pytest.raises(Unreadable, match="from 0 to 2"):
        read_choice("3", TEXTS, first=0)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        *((text, "B") for text in ("B", "b", "B.", "(B)", "B) two", "Answer: B", "The answer is (B).", "**B**")),
        *((text, "B") for text in ("Option B: two", '{"answer": "B"}', "Answer: B because a pot is free")),
        *((text, None) for text in ("A or B", "A\nB", "Answer: A pot", "I choose a pot", "Answer: E", "B) one")),
    ],
)
def test_letters(answer, letter):
    if letter is not None:
        assert read_letter(answer, ["one", "two", "three"]).value == ord(letter) - 65
        return
    with pytest.raises(Unreadable):
        read_letter(answer, ["one", "two", "three"])


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("Explanation: Bob cooks. Action: 2", 2),
        ("Explanation: Bob cooks. Action: Cook it on the stove.", 3),
        ("Action: 1 is late.\nExplanation: it boils. **Action:** cook(pot0).", 3),
        ("cook it on the stove", 3),
        ("Explanation: Action: 1 would be late. Action: 3", 3),
        ("Action: fry it", None),
        ("Explanation: no idea.", None),
        ("Action: 2 is late.", None),
    ],
)
def test_free_text_may_name_an_action_in_other_words(answer, number):
    def parse(phrase):
        return 2 if phrase.lower().strip(".") == "cook it on the stove" else None

    if number is not None:
        assert read_choice(answer, TEXTS, parse=parse) == (number - 1, LINE)
        return
    with pytest.raises(Unreadable):
        read_choice(answer, TEXTS, parse=parse)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=300))
def test_any_text_is_a_choice_or_unreadable(answer):
    try:
        assert 0 <= read_choice(answer, TEXTS).value < 3
    except Unreadable:
        pass


def test_the_schema_of_a_choice_is_bounded():
    assert choice_schema(3)["properties"]["action"] == {"type": "integer", "enum": [1, 2, 3]}
