"""Cues of questions, choices and states: no answer without understanding is better than chance on the built-in set."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from benchmarks.questions.balance import MAX_ITEMS, MIN_ITEMS, draw_cases
from collab_overcooked.questions.balance import baselines, correct_texts
from collab_overcooked.questions.items import Item, Scene, read_questions
from collab_overcooked.questions.source import source_of

ITEMS = read_questions().items
GAMES = ("CollabCapture-v0", "CollabEscape-v0", "Overcooked-v0")
KINDS = ("fact", "partner", "own")
GROUPS = {
    (game, kind): [i for i in ITEMS if (i.scene.env_id, i.kind, i.part) == (game, kind, "generated")]
    for game in GAMES
    for kind in KINDS
}
IDLE = ("wait", "stay")
groups = pytest.mark.parametrize("group", GROUPS.values(), ids=map("-".join, GROUPS))


def cases(group):
    by_case = {}
    for item in group:
        by_case.setdefault(item.id.partition(f"-{item.kind}")[0], []).append(item)
    return by_case.values()


def ranks(values):
    """Rank of each value, equal for equal ones."""
    return [sorted(values).index(value) for value in values]


def numbers(item):
    return [int(n[-1]) if (n := re.findall(r"\d+", choice)) else -1 for choice in item.choices]


CUES = {
    "letter": lambda item: range(len(item.choices)),
    "length": lambda item: ranks([len(choice) for choice in item.choices]),
    "alphabet": lambda item: ranks(item.choices),
    "number": lambda item: ranks(numbers(item)),
    "idling": lambda item: [choice in IDLE for choice in item.choices],
    "text": lambda item: item.choices,
}


@pytest.mark.parametrize("cue", CUES)
@groups
def test_each_value_of_a_cue_is_right_as_often_as_it_is_offered_times_chance(group, cue):
    offered, right, expected = Counter(), Counter(), Counter()
    for item in group:
        for number, value in enumerate(CUES[cue](item)):
            offered[value] += 1
            right[value] += number in item.correct
            expected[value] += item.random_accuracy
    assert sum(right.values()) == len(group)
    for value, count in offered.items():
        assert abs(right[value] - expected[value]) <= 0.05 * count, (value, right[value], expected[value], count)


@groups
def test_answers_without_the_state_are_at_chance(group):
    blind = baselines([(item.choices, item.correct) for item in group])
    assert max(blind.values()) <= blind["chance"] + 0.08, blind


SUBJECTS = (
    r"^You (?:are|stand)\b.*",
    r"^(?:agent_\d is|Alice stands|Bob stands).*",
    r"^The (?:thief|killer).*",
    r"^The door.*open",
    r"^The door.*closed",
    r"^The generator.*needs",
    r"^Pot.*",
    r"^Counter.*",
    r"^Gate.*",
)


def state_features(item):
    """Cheap features of the options in the state's text: differences of numbers, counts, overlap of words.

    They are written without a look at those that sets are balanced against.
    """
    text = source_of(item.scene.env_id).describe(item)
    lines = [" ".join(re.findall(pattern, text, re.MULTILINE)).removeprefix("You are agent_") for pattern in SUBJECTS]
    where = {name: (int(x), int(y)) for name, x, y in re.findall(r"(\w+)(?: at)? \((\d+), (\d+)\)", text)}
    cooks = [(int(x), int(y)) for x, y in re.findall(r"stands? at \((\d+), (\d+)\)", text)]
    rows = []
    for choice, number in zip(item.choices, numbers(item), strict=True):
        words = re.findall(r"\w+", choice)
        last = words[-1]
        row = [len(re.findall(rf"\b{last}\b", text)), sum(len(re.findall(rf"\b{word}\b", text)) for word in words)]
        row += [len(set(words) & set(re.findall(r"\w+", text))), len(set(words) & set(item.question.split()))]
        for line in lines:
            there = [int(n) for n in re.findall(r"\d+", line)]
            gaps = [abs(number - n) for n in there] or [0]
            row += [len(re.findall(rf"\b{last}\b", line)), len(set(words) & set(line.split()))]
            row += [min(gaps), max(gaps), number - there[-1] if there else 0]
        firsts = [[int(n) for n in re.findall(r"\d+", line)][-1:] or [0] for line in lines[:3]]
        row += [abs(number - abs(a[0] - b[0])) for a, b in combinations(firsts, 2)]
        ways = [abs(x - where[last][0]) + abs(y - where[last][1]) if last in where else 0 for x, y in cooks] or [0, 0]
        rows.append([*row, *ways, ways[0] - ways[1]])
    columns = np.array(rows, dtype=float)
    extremes = [columns == columns.max(axis=0), columns == columns.min(axis=0)]
    return np.concatenate([columns, columns - columns.mean(axis=0), *extremes], axis=1)


def features(items):
    """Cheap features of all options, (options, features): position, length, ranks, numbers and words."""
    vocabulary = sorted({word for item in items for choice in item.choices for word in choice.split()})
    rows = []
    for item in items:
        columns = [CUES[cue](item) for cue in ("letter", "length", "alphabet", "number", "idling")]
        columns += [[len(choice) for choice in item.choices], numbers(item)]
        for number, choice in enumerate(item.choices):
            rank = [float(column[number]) for column in columns]
            middle = [float(0 < column[number] < len(item.choices) - 1) for column in columns[:4]]
            rows.append([1.0, *rank, *middle, *(word in choice.split() for word in vocabulary)])
    table = np.array(rows)
    scale = table.std(axis=0)
    return (table - table.mean(axis=0) * (scale > 0)) / np.where(scale > 0, scale, 1.0)


def fit(rows, right):
    """Weights of a logistic regression with a ridge, by Newton's method."""
    weights, ridge = np.zeros(rows.shape[1]), np.eye(rows.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (right - p) - weights
        weights = weights + np.linalg.solve((rows * (p * (1 - p))[:, None]).T @ rows + ridge, gradient)
    return weights


LIMIT = 0.08  # above chance
STATE_LIMIT = 0.1  # of regressions on the state; a group of 150 items has a standard error of 0.04


def standardised(table):
    scale = table.std(axis=0)
    return ((table - table.mean(axis=0)) / np.where(scale > 0, scale, 1.0))[:, scale > 0]


def regression(items, fold_of, with_state=False):
    """Accuracy in five folds of choosing the option that the regression finds the most likely."""
    rows = features(items)
    if with_state:
        rows = np.concatenate([rows, standardised(np.concatenate([state_features(item) for item in items]))], axis=1)
    right = np.array([float(n in item.correct) for item in items for n in range(len(item.choices))])
    starts = np.cumsum([0, *(len(item.choices) for item in items)])
    folds = np.repeat(fold_of, np.diff(starts))
    hits = 0.0
    for fold in range(5):
        weights = fit(rows[folds != fold], right[folds != fold])
        for number in np.flatnonzero(fold_of == fold):
            span = slice(starts[number], starts[number + 1])
            scores = rows[span] @ weights
            hits += right[span][scores > scores.max() - 1e-9].mean()
    return hits / len(items)


@pytest.mark.parametrize("with_state", [False, True], ids=["options", "states"])
@pytest.mark.parametrize("by", ["items", "cases"])
@groups
def test_a_regression_on_options_and_the_states_text_is_at_chance(group, by, with_state):
    rng = np.random.default_rng(0)
    keys = [item.id if by == "items" else item.id.partition(f"-{item.kind}")[0] for item in group]
    names = list(dict.fromkeys(keys))
    fold = dict(zip(names, rng.permutation(len(names)) % 5, strict=True))
    accuracy = regression(group, np.array([fold[key] for key in keys]), with_state)
    expected = sum(item.random_accuracy for item in group) / len(group)
    assert accuracy <= expected + (STATE_LIMIT if with_state else LIMIT)


def candidate(state, answer, choices, question="q", layout="cramped_room"):
    scene = Scene("", "Overcooked-v0", {"layout": layout}, {"state": state})
    return Item(
        id="", scene=scene, seat=0, kind="own", part="generated", partner="", skills=("fetch",), question=question,
        choices=tuple(choices), correct=(choices.index(answer),), margin=2, unit="steps",
        evidence={"values": [int(choice == answer) for choice in choices]},
    )  # fmt: skip


def test_the_measures_find_a_cue():
    biased = [candidate(i, "a b c", ["a b c", "d", "e"]) for i in range(40)]
    assert regression(biased, np.arange(40) % 5) == 1.0
    blind = baselines([(item.choices, item.correct) for item in biased])
    assert blind == {"chance": pytest.approx(1 / 3), "same letter": 1, "longest": 1, "first": 1, "majority": 1}


def test_baselines_share_ties_and_leave_the_item_out():
    blind = baselines([(("ab", "cd"), (0,)), (("ab", "cd"), (1,)), (("x", "long"), (1,))])
    assert blind["longest"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert blind["first"] == pytest.approx((1 + 0 + 1) / 3)
    assert blind["majority"] == pytest.approx((0 + 0 + 0.5) / 3)


def test_cases_are_drawn_from_states_that_share_a_question():
    texts = ["go", "stay", "use", "wait"]
    pool = [candidate(i, texts[i % 3], texts) for i in range(90)]  # "wait" is never right, so never offered
    pool += [candidate(100 + i, "go", ["go", "jump"], "other") for i in range(30)]  # never balanced
    drawn = draw_cases(
        pool,
        {f"{sorted(pool[0].scene.options.items())}{pool[0].scene.state}"},
        np.random.default_rng(0),
        lambda item: f"You stand at ({item.scene.state['state']}, 0).",
    )
    assert [len(case) for case in drawn] == [3] * 29 + [2]  # the used state leaves 29 for "go"
    states = [item.scene.state["state"] for case in drawn for item in case]
    assert len(set(states)) == len(states) and 0 not in states
    for case in drawn:
        assert {item.choices for item in case} == {case[0].choices} and "wait" not in case[0].choices
        assert sorted(item.correct for item in case) == [(number,) for number in range(len(case))]
        for item in case:
            assert item.evidence["values"] == [int(choice in correct_texts(item)) for choice in item.choices]


@pytest.mark.parametrize("rule", ["farthest", "nearest"])
def test_the_number_of_a_room_tells_nothing(rule):
    """In version 3, the room whose number was farthest from the partner's was right in 70 % of Capture's items."""
    group = [item for item in GROUPS["CollabCapture-v0", "own"] if sum("room" in c for c in item.choices) > 1]
    hits = expected = 0
    for item in group:
        partner = int(item.scene.state["players"][1 - item.seat]["room"])
        gaps = {i: abs(n - partner) for i, n in enumerate(numbers(item)) if n >= 0}
        hits += (max if rule == "farthest" else min)(gaps, key=gaps.__getitem__) in item.correct
        expected += item.random_accuracy
    assert len(group) > 60 and hits <= expected + 0.12 * len(group)


def test_drawing_removes_a_cue_of_the_states_text():
    """Seven of ten states of an answer name it; in the cases that are drawn, about as many as name the others."""
    rng, texts = np.random.default_rng(0), ["go", "stay", "use"]
    pool = [candidate(i, texts[i % 3], texts) for i in range(600)]
    told = {i: texts[i % 3] if rng.random() < 0.7 else texts[(i + 1) % 3] for i in range(600)}
    drawn = draw_cases(pool, set(), rng, lambda item: f"He did {told[item.scene.state['state']]} then.")
    named = [told[item.scene.state["state"]] in correct_texts(item) for case in drawn for item in case]
    assert len(named) == 150 and 45 <= sum(named) <= 56


@groups
def test_a_case_differs_in_the_state_alone_and_each_choice_is_right_once(group):
    assert MIN_ITEMS <= len(group) <= MAX_ITEMS
    for case in cases(group):
        assert len({(str(i.scene.options), i.seat, i.question, i.choices) for i in case}) == 1
        assert sorted(item.correct for item in case) == [(number,) for number in range(len(case[0].choices))]
        assert len({i.scene.name for i in case}) == len(case)


@pytest.mark.parametrize("game", GAMES)
def test_items_of_the_partner_share_no_scene_and_no_choice_with_the_own_ones(game):
    for part in (lambda i: {i.scene.name}, lambda i: set(i.choices)):
        partner, best = (set().union(*map(part, GROUPS[game, kind])) for kind in ("partner", "own"))
        assert partner and best and not partner & best


def test_a_set_is_listed_without_compiling():
    code = (
        "import sys; from collab_overcooked.cli import app\n"
        "try: app(['questions', 'list', '--kinds', 'own'])\n"
        "except SystemExit: pass\n"
        "assert 'numba' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "majority" in done.stdout + done.stderr, done.stderr
