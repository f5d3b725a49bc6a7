"""Files of question sets, and the built-in one."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from benchmarks.questions.balance import balance_positions
from benchmarks.questions.generate import generate
from benchmarks.questions.overcooked.generator import judge
from benchmarks.questions.overcooked.kitchen import load_kitchen
from benchmarks.questions.overcooked.search import Goal
from benchmarks.questions.rooms.renaming import renamed
from collab_overcooked.games.rooms.engine.spec import load_rooms
from collab_overcooked.questions.balance import correct_texts, letter_accuracies
from collab_overcooked.questions.items import (
    KINDS,
    LETTERS,
    OWN,
    SHIPPED,
    Item,
    QuestionError,
    Scene,
    read_questions,
    shipped_name,
)
from collab_overcooked.questions.sets import read_set
from collab_overcooked.questions.source import source_of

SCENE = Scene("s", "Overcooked-v0", {"layout": "cramped_room"}, {})
ITEM = Item(
    id="a",
    scene=SCENE,
    seat=0,
    kind="own",
    part="generated",
    partner="plays well",
    skills=("fetch",),
    question="What now?",
    choices=("wait", "take dish from p0", "take onion from o0"),
    correct=(1,),
    margin=2,
    unit="steps",
    evidence={"values": [None, 5, None]},
)


SOUP = {"ingredients": ["onion"] * 3, "tick": 20, "time": 20, "ready": True}


@pytest.fixture(scope="module")
def shipped():
    return read_questions()


@pytest.mark.parametrize(
    "change, text",
    [
        ({"kind": "ownn"}, "kind 'ownn'; did you mean own"),
        ({"part": "other"}, "part 'other'"),
        ({"choices": ("wait",)}, "choices: 1 of them"),
        ({"choices": ("wait", "Wait ", "go")}, "choices: 'Wait ' is empty or a duplicate"),
        ({"correct": ()}, r"correct: \[\]"),
        ({"correct": (3,)}, r"correct: \[3\]"),
        ({"correct": (0, 1, 2)}, "all choices are"),
        ({"margin": None}, "margin: None"),
        ({"margin": 0}, "margin: 0"),
        ({"evidence": {"values": [1]}}, "evidence: values"),
    ],
)
def test_an_item_that_contradicts_itself_is_refused(change, text):
    with pytest.raises(ValueError, match=text):
        replace(ITEM, **change)


def test_chance_and_letters():
    assert ITEM.random_accuracy == pytest.approx(1 / 3)
    assert ITEM.letters == "B"


def lines(shipped, tmp_path):
    """The first scenes and items of the built-in set as a small file."""
    small = replace(shipped, items=shipped.items[:2])
    small.write(tmp_path / "q.jsonl")
    return (tmp_path / "q.jsonl").read_text().splitlines()


def test_a_file_is_read_as_it_was_written(shipped, tmp_path):
    shipped.write(tmp_path / "q.jsonl")
    assert read_questions(tmp_path / "q.jsonl") == shipped
    assert (tmp_path / "q.jsonl").read_bytes() == SHIPPED.read_bytes()


def test_damage_is_named_with_its_line(shipped, tmp_path):
    good = lines(shipped, tmp_path)
    at = len(good) - 1  # the last item
    for damaged, text in (
        ([], "line 1: is truncated or no JSON"),
        (["[]", *good[1:]], r"line 1: must be a mapping, not "),
        ([good[0].replace("questions/4", "questions/9"), *good[1:]], "schema must be one of"),
        ([good[0].replace("questions/4", "questions/1"), *good[1:]], "version 1 .* without understanding"),
        ([good[0].replace("questions/4", "questions/3"), *good[1:]], "version 3 .* without understanding"),
        (good[:-1], "its heading says"),
        ([*good[:at], good[at][:-20]], f"line {at + 1}: is truncated"),
        ([*good[:at], good[at].replace('"seat":', '"seta":')], "unknown key 'seta'"),
        ([*good[:at], edited(good[at], seat="x")], "seat must be an integer from 0 to 1"),
        ([*good[:at], edited(good[at], scene="nowhere")], "unknown scene 'nowhere'"),
        ([*good[:at], edited(good[at], skills=[1])], r"skills\[0\] must be .* not 1"),
        ([*good[:at], edited(good[at], correct=[99])], "correct: "),
        ([*good[:at], good[at - 1]], "is a duplicate"),
        ([*good[:at], edited(good[at], pair="nobody")], "unknown key 'pair'"),
        ([good[0], edited(good[1], env_id="Overcook-v0"), *good[2:]], "env_id"),
        ([good[0], edited(good[1], env_id="CuisineWorld-v0"), *good[2:]], "has no questions"),
    ):
        (tmp_path / "bad.jsonl").write_text("\n".join(damaged))
        with pytest.raises(QuestionError, match=text):
            read_questions(tmp_path / "bad.jsonl")
    with pytest.raises(QuestionError, match="cannot be read"):
        read_questions(tmp_path / "absent.jsonl")


def edited(line, **values):
    return json.dumps({**json.loads(line), **values})


def test_the_shipped_set_has_the_papers_shape_and_many_more(shipped):
    paper = {(item.scene.env_id, item.scene.name) for item in shipped.items if item.part == "paper"}
    scenarios = Counter(env_id for env_id, _ in paper)
    assert scenarios == {"CollabCapture-v0": 6, "CollabEscape-v0": 7, "Overcooked-v0": 5}
    groups = Counter((item.scene.env_id, item.kind) for item in shipped.items if item.part == "generated")
    assert len(groups) == 9 and min(groups.values()) >= 150


def test_scenarios_of_the_paper_ask_one_seat_for_its_partners_action_and_its_own(shipped):
    cases: dict[str, list[Item]] = {}
    for item in shipped.items:
        if item.part == "paper":
            cases.setdefault(item.id.rpartition("-")[0], []).append(item)
    assert len(cases) == 18
    for items in cases.values():
        assert sorted(item.kind for item in items) == sorted(KINDS)
        assert len({item.seat for item in items}) == len({item.scene.name for item in items}) == 1
    for item in (item for items in cases.values() for item in items if "Overcooked" in item.scene.env_id):
        described = source_of(item.scene.env_id).describe(item)
        assert ("You can: " in described and "Your distances: " in described) == (item.kind != "fact")
        if item.kind == "own":
            possible = described.partition("You can: ")[2].rstrip(".").split("; ")
            assert set(item.choices) <= set(possible)


def test_questions_speak_of_what_their_scene_has(shipped):
    """Nothing is said of gates where there are none, of a partner who is out, or of a limit that rules do not have."""
    for item in shipped.items:
        state = item.scene.state
        if item.scene.env_id == "Overcooked-v0":
            assert "gates" not in item.question or state["gates"]
        else:
            assert item.kind != OWN or all(player["active"] for player in state["players"])
        assert state["limit"] < 10_000


def test_both_seats_are_asked_and_choices_are_shuffled(shipped):
    for kind in KINDS:
        seats = Counter(item.seat for item in shipped.items if item.kind == kind)
        assert min(seats.values()) > 0.4 * sum(seats.values())


def test_no_constant_answer_beats_chance_in_any_kind_of_any_game(shipped):
    """Each letter is right as often as chance expects of it, up to one item in each part."""
    groups = {(item.scene.env_id, item.kind) for item in shipped.items}
    assert len(groups) == 9
    for game, kind in groups:
        group = [item for item in shipped.items if (item.scene.env_id, item.kind) == (game, kind)]
        for letter, share in letter_accuracies([(item.choices, item.correct) for item in group]).items():
            has = [item for item in group if LETTERS.index(letter) < len(item.choices)]
            expected = sum(item.random_accuracy for item in has)
            assert abs(share * len(group) - expected) <= 2, (game, kind, letter)


def test_positions_are_balanced_whatever_stood_first():
    items = [replace(ITEM, id=f"x{i}", correct=(0,)) for i in range(30)]
    placed = balance_positions(items, np.random.default_rng(3))
    assert Counter(item.correct for item in placed) == {(0,): 10, (1,): 10, (2,): 10}
    assert [item.id for item in placed] == [item.id for item in items]
    for item in placed:
        assert correct_texts(item) == {"wait"} and item.evidence["values"][item.choices.index(ITEM.choices[1])] == 5
    assert balance_positions(items, np.random.default_rng(3)) == placed
    assert balance_positions(items, np.random.default_rng(4)) != placed


def test_no_correct_choice_is_among_the_wrong_ones(shipped):
    for item in shipped.items:
        wrong = {choice for i, choice in enumerate(item.choices) if i not in item.correct}
        assert not {text.casefold() for text in wrong} & {text.casefold() for text in correct_texts(item)}
        values = item.evidence.get("values")
        if values is not None:
            right = {values[i] for i in item.correct}
            assert None not in right
            assert not right & {value for i, value in enumerate(values) if i not in item.correct}


def test_no_item_asks_about_what_is_not_there(shipped):
    """Episodes of normal length, both players in the game, gates and doors where there are some, possible uses."""
    for item in shipped.items:
        state, text = item.scene.state, source_of(item.scene.env_id).describe(item)
        names = re.findall(r"\b(?:[opdckgs]\d+|room \d+)\b", " ".join((item.question, *item.choices)))
        known = f"{text} {source_of(item.scene.env_id).rules(item)}"
        assert all(name.removeprefix("room ") in known for name in names), item.id
        assert state["limit"] <= 100 and not re.search(r"of \d{4,}", text), item.id
        if "Overcooked" in item.scene.env_id:
            assert state["gates"] or "gate" not in item.question, item.id
            assert "and use it" not in item.question and "can be used" not in item.question, item.id
            continue
        assert all(player["active"] for player in state["players"]) and "out of the game" not in text, item.id
        assert state["doors"] or "door" not in item.question, item.id
        fixed = {repair["room"] for repair in state["generators"] if repair["progress"] >= repair["needed"]}
        uses = item.choices if item.kind == "own" else re.findall(r'your action in this turn is "(.+?)"', item.question)
        others = re.findall(r'that of agent_\d is "(.+?)"', item.question)
        for seat, texts in ((item.seat, uses), (1 - item.seat, others)):
            assert "fix the generator" not in texts or state["players"][seat]["room"] not in fixed, item.id


def test_rooms_are_renamed_without_another_change():
    for name in ("nine_rooms", "themed_rooms"):
        level = load_rooms(name)
        other = load_rooms(json.loads(json.dumps(renamed(level, np.random.default_rng(1)))))
        assert other.rooms != level.rooms and len(set(other.rooms)) == len(level.rooms)
        graphs = []
        for one in (level, other):
            marks = [tuple(room in kind for kind in (one.generators, one.exits, one.players, [one.adversary]))
                     for room in range(len(one.rooms))]  # fmt: skip
            edges = [(marks[room], sorted(marks[near] for near in nears)) for room, nears in enumerate(one.neighbours)]
            doors = [(door.is_open, marks[door.button], *(marks[room] for room in door.rooms)) for door in one.doors]
            graphs.append((sorted(edges), doors))
        assert graphs[0] == graphs[1]
        assert [other.rooms[room] == level.rooms[old] for room, old in zip(other.exits, level.exits, strict=True)] == [
            True for _ in level.exits
        ]


def test_rooms_of_generated_items_have_drawn_numbers(shipped):
    maps = {str(item.scene.options["map"]) for item in shipped.items if is_drawn(item)}
    assert len(maps) >= 50
    near = Counter(
        abs(int(number) - int(other))
        for values in (item.scene.options["map"] for item in shipped.items if is_drawn(item))
        if values["name"] != "themed_rooms"
        for number, others in values["rooms"].items()
        for other in others
    )
    assert near[1] < 0.2 * near.total()  # most neighbours had neighbouring numbers


def is_drawn(item):
    return item.part == "generated" and "Overcooked" not in item.scene.env_id


def test_every_item_can_be_put_into_words(shipped):
    for item in shipped.items[::7]:
        source = source_of(item.scene.env_id)
        assert source.rules(item) and source.describe(item) and "{" not in source.describe(item) + item.question


def test_texts_state_the_rules_that_answers_need(shipped):
    for item in shipped.items:
        source = source_of(item.scene.env_id)
        rules, text = source.rules(item), source.describe(item) + item.question
        if "Capture" in item.scene.env_id:
            assert "it takes the one that is listed first" in " ".join(rules.split())
        if "Escape" in item.scene.env_id:
            assert "the one with the lower number if there are two" in " ".join(rules.split())
            assert "door" not in rules + text
        if "Overcooked" in item.scene.env_id and item.kind == "fact":
            assert "out of reach" not in text and "moves to where" not in text  # what facts ask for


def test_the_name_of_a_set_changes_with_its_contents(shipped):
    other = replace(shipped, items=shipped.items[1:])
    renamed = replace(shipped, version="9.9", seed=1)
    assert shipped.name.startswith("v4-") and other.name != shipped.name == renamed.name


def test_waiting_is_no_answer_where_the_partner_delivers_alone(shipped):
    """The scene of version 1 in which Bob delivers in two steps, whatever Alice does."""
    state = {
        "timestep": 0, "limit": 60, "served": 0, "score": 0, "layout": "gated_delivery_forced",
        "players": [
            {"position": [1, 4], "facing": "north", "holding": None},
            {"position": [3, 4], "facing": "west", "holding": {**SOUP, "item": "soup"}},
        ],
        "objects": [{"position": [2, 0], **SOUP, "item": "soup"}],
        "gates": [
            {"position": [1, 3], "open": True, "counter": 3, "limit": 7},
            {"position": [3, 3], "open": False, "counter": 0, "limit": 7},
        ],
    }  # fmt: skip
    judged = judge(load_kitchen("gated_delivery_forced"), state, Goal.DELIVER)
    assert judged is None or not judged.best[0]


def test_the_other_cook_is_no_wall_in_facts():
    """Bob's way to the onions leads past Alice, who stands below an open gate; version 1 had him shut in."""
    players = [
        {"position": [1, 4], "facing": "north", "holding": None},
        {"position": [3, 4], "facing": "west", "holding": None},
    ]
    gates = [{"position": [1, 3], "open": True}, {"position": [3, 3], "open": False}]
    entry, state = load_kitchen("gated_delivery_forced"), {"players": players, "gates": gates}
    # west, west, north to (1, 1) in three steps, west is the dispenser: turn and use
    assert entry.steps_to_use(state, 1, "o0") == 2 + 3 + 1 + 1
    gates[0]["open"] = False
    assert entry.steps_to_use(state, 1, "o0") is None


@pytest.mark.nightly
@pytest.mark.parametrize("game", ["CollabCapture-v0", "CollabEscape-v0", "Overcooked-v0"])
def test_the_shipped_items_are_those_that_the_command_makes(shipped, game):
    """By game: all of ``python -m benchmarks.questions`` takes minutes, and games do not depend on each other."""
    created = generate(shipped.seed, [game])
    assert list(created.items) == [item for item in shipped.items if item.scene.env_id == game]


TOLD = "You are in room 6, the thief is in room 3.\n{}\nAvailable Answers:\nA. move to room 3\nB. move to room 5.\n"


def table(tmp_path, *rows):
    """A table of our own in the form of the public one."""
    columns = [f"{kind} {what}" for kind in ("EC", "TOM", "JP") for what in ("Question", "Answer Ordinal")]
    path = tmp_path / "trials.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["Game", *columns], *rows])
    return path


def test_the_authors_table_is_a_question_set(tmp_path):
    asked = [TOLD.format(f"Question {number}?") for number in range(3)]
    hanabi = ["Hanabi", *["Which card?\nA. red\nB. blue", "A"] * 3]
    row = ["Games", asked[0], "", asked[1], "A", asked[2], "A, B "]
    with pytest.raises(QuestionError, match="row 0: correct: all choices are"):
        read_set(table(tmp_path, row))
    result = read_set(table(tmp_path, hanabi, [*row[:-1], "B"]))
    assert [(item.id, item.kind, item.correct) for item in result.items] == [
        ("row001-partner", "partner", (0,)),
        ("row001-own", "own", (1,)),
    ]
    (partner, own) = result.items
    assert own.choices == ("move to room 3", "move to room 5.") and own.scene.env_id == "CollabCapture-v0"
    assert partner.scene.told.endswith("Question 1?\nAvailable Answers:") and result.name != shipped_name()
    for damaged, text in (([*row[:-1], "C"], "row 0: JP: key 'C'"), (hanabi, "has no question of .*CollabCapture-v0")):
        with pytest.raises(QuestionError, match=text):
            read_set(table(tmp_path, damaged))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(QuestionError, match="has no column 'EC Question'"):
        read_set(tmp_path / "other.csv")


def test_a_game_without_questions_is_refused():
    with pytest.raises(ValueError, match="game with questions"):
        generate(0, ["CuisineWorld-v0"])
