"""Answers to items: letters that are read, policies that play, runs through the command line, accuracy."""

from __future__ import annotations

import csv
import json
import re

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving
from support.records import as_json, record_of

from benchmarks.questions.overcooked.kitchen import load_kitchen
from collab_overcooked.cli import app
from collab_overcooked.policies.llm.answers import Unreadable
from collab_overcooked.policies.llm.choices import read_letter
from collab_overcooked.questions.balance import BASELINES
from collab_overcooked.questions.items import LETTERS, read_questions, shipped_name
from collab_overcooked.questions.scoring import accuracy, cards
from collab_overcooked.questions.source import asked_seat, source_of
from collab_overcooked.runner.records import read_records

CHOICES = ("take onion from o0", "take onion from o1", "wait", "put on c12", "put on c1")


@pytest.mark.parametrize(
    "text, number",
    [
        ("B", 1),
        ("b.", 1),
        ("**C**", 2),
        ("(D)", 3),
        ("Answer: C", 2),
        ('{"answer": "D"}', 3),
        ('{"answer": "wait"}', 2),
        ('{"analysis": "A or B?", "answer": "E. put on c1"}', 4),
        ("D. put on c12", 3),
        ("A good idea is to think.\nAnswer: put on c1", 4),
        ("put on c12", 3),
        ("<think>A, surely A</think>B", 1),
        ("A or C? Well:\n$\\boxed{B}$", 1),
        ("\\boxed{\\mathbf{(B)}}", 1),
        ('{"answer": "\\uff22"}', 1),
        ("A?\n<answer>\nB\n</answer>", 1),
        ("B<|im_end|>", 1),
        ("B</s>A", 1),
        ("(B)<|eot_id|><|start_header_id|>user", 1),
        ("\uff22", 1),
        ("__B__", 1),
        ("Option E", 4),
    ],
)
def test_a_letter_or_the_text_of_a_choice_is_read(text, number):
    assert read_letter(text, CHOICES).value == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A good idea",
        "Z",
        "F",
        "I choose B because A is worse",
        "A or B",
        "Answer: B because A is worse",
        "Answer: A pot is full",
        "The answer is a matter of taste",
        "I would take onion from o1.",
        "A? <answer>B</answer> A was wrong.",
        "So it is \\boxed{B}, not A.",
        '{"answer": "A"} No: {"answer": "B"}',
        '{"answer": "A"}\nNo.\nB',
        '{"answer": "A',
        "42",
        "null",
    ],
)
def test_what_names_no_choice_or_several_is_unreadable(text):
    with pytest.raises(Unreadable, match=r"one letter from A to E|disagree"):
        read_letter(text, CHOICES)


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


@pytest.fixture
def key(monkeypatch):
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")


def answer_key(asked):
    """The right letter, found by the words alone; the question of item 2 gets no answer that can be read."""
    text = asked["messages"][-1]["content"]
    for item in read_questions().items:
        choices = "\n".join(f"{LETTERS[i]}. {choice}" for i, choice in enumerate(item.choices))
        if item.question in text and choices in text and source_of(item.scene.env_id).describe(item) in text:
            return Says(item.letters[0])
    raise AssertionError(text)


OWN = ("--games", "CollabCapture-v0", "--parts", "paper")  # 6 items of each kind


def test_a_run_is_stored_resumed_and_replayed(tmp_path, key):
    options = ["evaluate", "questions", "--team", "llm:scripted", *OWN, "--workers", 2, "--no-report"]
    with serving(answer_key) as server:
        asks = [*options, "--base-url", server.url, "--store", tmp_path / "s", "--out", tmp_path / "a"]
        done = run(*asks)
        assert done.exit_code == 0, done.output
        calls = len(server.asked)
        records = read_records(tmp_path / "a")
        assert calls == len(records) == 18 and all(record.success for record in records)
        assert {record.item.kind for record in records} == {"fact", "partner", "own"}
        full = (tmp_path / "a" / "records.jsonl").read_bytes()
        (tmp_path / "a" / "records.jsonl").write_bytes(full[: len(full) // 2])  # stopped half way
        assert run(*asks).exit_code == 0
        assert len(server.asked) == calls  # all that was missing stands in the store
    assert (tmp_path / "a" / "records.jsonl").read_bytes() == full
    done = run(*options, "--replay", tmp_path / "s", "--out", tmp_path / "b")  # the server is gone
    assert done.exit_code == 0, done.output
    assert (tmp_path / "b" / "records.jsonl").read_bytes() == full
    assert "100.0" in (tmp_path / "a" / "table.md").read_text()


def test_a_run_without_the_state_sends_nothing_of_it_and_says_so(tmp_path, key):
    """All items of a case get the same prompt, with pictures as without; tables keep the run apart."""
    options = ["--team", "llm:scripted?see=both", "--games", "CollabCapture-v0", "--parts", "generated"]
    cases = ",".join(item.id for item in read_questions().items if item.id.startswith("collabcapture-001-"))
    with serving(lambda asked: Says("A")) as server:
        asks = [*options, "--items", cases, "--base-url", server.url, "--no-report"]
        done = run("evaluate", "questions", *asks, "--without", "state", "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
        prompts = {json.dumps(asked["messages"]) for asked in server.asked}
        assert len(server.asked) == cases.count(",") + 1 > len(prompts) == 1
        assert "The state is not shown" in (prompt := prompts.pop()) and "image" not in prompt
        assert run("evaluate", "questions", *asks, "--out", tmp_path / "b").exit_code == 0
    done = run("score", tmp_path / "a", tmp_path / "b")
    assert "(words, without state)" in done.stdout and "Paired comparison" in done.stdout
    share, expected = accuracy(read_records(tmp_path / "a"))
    assert share.value == expected.value


def test_unreadable_answers_are_asked_again_and_then_counted(tmp_path, key):
    with serving(lambda asked: Says("who knows")) as server:
        options = ["--team", "all=llm:scripted?analysis=on", *OWN, "--kinds", "fact", "--base-url", server.url]
        options += ["--max-unusable", 0]
        done = run("evaluate", "questions", *options, "--out", tmp_path / "a")
        assert done.exit_code == 3 and "12 x cannot be read, for example: who knows" in " ".join(done.output.split())
        assert len(server.asked) == 12  # each of six items twice
        again = [asked for asked in server.asked if "one letter from A" in asked["messages"][-1]["content"]]
        assert len(again) == 6
    records = read_records(tmp_path / "a")
    assert [record.answer.choice for record in records] == [None] * 6
    (account,) = records[0].accounts.values()
    assert account.trouble == {"unreadable": 2}
    assert (tmp_path / "a" / "report.html").exists()


def test_a_language_model_can_play_as_well(tmp_path, key):
    with serving(lambda asked: Says('{"action": 1}')) as server:
        options = ["--team", "llm:scripted", *OWN, "--kinds", "own", "--answer-by", "play", "--base-url", server.url]
        done = run("evaluate", "questions", *options, "--no-report", "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    assert {record.answer.way for record in read_records(tmp_path / "a")} == {"play"}


def test_the_budget_ends_an_item_without_an_answer(tmp_path, key):
    with serving(lambda asked: Says("who knows")) as server:
        options = ["--team", "llm:scripted", *OWN, "--kinds", "fact", "--budget", "calls=1", "--base-url", server.url]
        assert run("evaluate", "questions", *options, "--no-report", "--out", tmp_path / "a").exit_code == 3
        assert len(server.asked) == 6


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    for spec in ("random", "mcts:simulations=4,depth=3"):
        texts = ["--team", spec, *OWN, "--workers", "1", "--no-report", "--out", folder / spec[:4]]
        done = run("evaluate", "questions", *texts)
        assert done.exit_code == 0, done.output
    return folder


def test_policies_answer_by_playing_what_they_or_their_partner_do_next(played):
    records = read_records(played / "mcts")
    assert {record.item.kind for record in records} == {"partner", "own"}
    assert all(record.answer.text for record in records)
    for record in records:
        number, item = record.answer.choice, record.item
        assert record.success == (number in item.correct)


def test_scores_of_several_runs_are_compared_in_pairs(played):
    done = run("score", played / "rand", played / "mcts")
    assert done.exit_code == 0, done.output
    assert "Paired comparison" in done.stdout and "random (play) - mcts" in done.stdout


@pytest.mark.slow
def test_policies_are_compared_by_what_they_answer(tmp_path):
    texts = ["--games", "questions", "--policies", "random", "greedy", "ppo:collab_capture", "--workers", "1"]
    done = run("compare", *texts, "--out", tmp_path / "c")
    assert done.exit_code == 0, done.output
    (board,) = json.loads((tmp_path / "c" / "report.json").read_text())["games"]
    scores = {line["policy"]: line["scores"] for line in board["policies"]}
    assert set(scores["greedy"]) == {"CollabCapture-v0", "CollabEscape-v0", "Overcooked-v0"}
    assert set(scores["ppo:collab_capture"]) == {"CollabCapture-v0"}
    assert "Paired differences of success" in (tmp_path / "c" / "report.md").read_text()


def test_several_answers_of_a_model_are_no_repetitions(tmp_path, key):
    with serving(lambda asked: Says("A")) as server:
        options = ["--team", "llm:scripted?temperature=1", *OWN, "--kinds", "fact", "--samples", 2]
        done = run("evaluate", "questions", *options, "--base-url", server.url, "--out", tmp_path / "a")
        assert done.exit_code == 0 and len(server.asked) == 12
    assert "Repetitions" not in done.output


@pytest.mark.slow
def test_answers_are_the_same_for_any_number_of_workers(played, tmp_path):
    texts = ["--team", "random", *OWN, "--workers", "2", "--no-report", "--out", tmp_path / "two"]
    assert run("evaluate", "questions", *texts).exit_code == 0
    assert (tmp_path / "two" / "records.jsonl").read_bytes() == (played / "rand" / "records.jsonl").read_bytes()


@pytest.mark.parametrize(
    "text, reply",
    [
        (["--team", "agent_0=random", "agent_1=greedy"], "one policy answers all questions"),
        (["--team", "plannner"], "did you mean planner"),
        (["--team", "random", "--kinds", "onw"], "did you mean own"),
        (["--team", "random", "--kinds", "fact"], "questions about facts cannot be answered by playing"),
        (["--team", "random", "--answer-by", "words"], "way of random"),
        (["--team", "random", "--items", "collabcapture-p1"], "unknown items"),
        (["--team", "random", "--set", "layout=locked"], "is set by each item's scene"),
        (["--team", "random", "--file", "absent.jsonl"], "cannot be read"),
        (["--team", "random", "--samples", "0"], "samples must be"),
        (["--team", "random", "--without", "state"], "policies that play see the state"),
        (["--team", "random", "--without", "rules"], "without"),
    ],
)
def test_bad_options_are_one_line(text, reply, tmp_path):
    done = run("evaluate", "questions", *text, "--out", tmp_path / "x")
    assert done.exit_code == 2 and reply in done.output and "Traceback" not in done.output


def test_list_and_show(tmp_path):
    done = run("questions", "list", *OWN, "--kinds", "own")
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 6 and "without the state: chance " in done.output
    assert all(name in done.output for name in BASELINES)
    assert "correct" not in done.stdout and "margin" not in done.stdout
    keys = run("questions", "list", *OWN, "--kinds", "own", "--keys").stdout
    assert len(re.findall(r"choices, correct [A-Z]+, margin", keys)) == 6
    name = done.stdout.split()[0]
    done = run("describe", name, "--picture", tmp_path / "p.png")
    assert done.exit_code == 0, done.output
    assert "evidence: method" in done.stdout and re.search(r"^\* [A-Z]\. ", done.stdout, re.MULTILINE)
    assert (tmp_path / "p.png").stat().st_size > 500
    done = run("describe", name, "--picture", tmp_path / "p.jpg")
    assert done.exit_code == 2 and not done.stdout and "should end in .png" in done.stderr
    done = run("describe", "overcooked-p001-own")
    assert done.stdout.count("  (worse by at least 1 step)\n") == 3
    done = run("describe", "collabcapture-p01-own")
    assert done.exit_code == 2 and "did you mean" in done.output


def test_the_authors_table_is_asked_in_its_own_words(tmp_path, key):
    told = "The thief is in room 3. Where to?\nA. room 2\nB. room 4"
    columns = [f"{kind} {what}" for kind in ("EC", "TOM", "JP") for what in ("Question", "Answer Ordinal")]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, ["", "", told, "A", told, "B"]])
    with serving(lambda asked: Says("B")) as server:
        team = ("--team", "llm:m?answer=text,analysis=on", "--base-url", server.url)
        done = run("evaluate", "questions", *team, "--file", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert [answer.success for answer in read_records(tmp_path / "out")] == [False, True]
    (text,) = {asked["messages"][-1]["content"] for asked in server.asked}
    assert text.startswith("The thief is in room 3. Where to?\n\nA. room 2\nB. room 4\n")
    done = run("evaluate", "questions", "--team", "planner", "--file", tmp_path / "t.csv", "--out", tmp_path / "no")
    assert done.exit_code == 2 and "no scene to play from" in done.output
    done = run("describe", "row000-own", "--file", tmp_path / "t.csv")
    assert done.exit_code == 0 and "* B. room 4" in done.output


def test_partners_and_own_action_of_one_seat_are_scored_together():
    right = [(True, True), (True, False), (False, True), (True, True)]
    records = [
        record(f"x-{i}", one, kind, seat=0)
        for i, pair in enumerate(right)
        for kind, one in zip(("partner", "own"), pair, strict=True)
    ]
    others = [record("y-1", True, "partner", seat=1), record("y-1", True, seat=0), record("z-1", True, "partner")]
    (card,) = cards([*records, *others])
    table = next(table for table in card.tables if "asked of one seat" in table.title)
    heads = [column.name for column in table.columns]
    assert heads[1:4] == ["n", "Theory of mind", "Situated reasoning"]
    numbers = [cell if isinstance(cell, int) else cell.value for cell in table.rows[0][1:]]
    assert numbers == pytest.approx([4, 3 / 4, 3 / 4, 2 / 4, 2 / 3])
    assert not any("one seat" in table.title for card in cards(others) for table in card.tables)


def record(task, right, kind="own", policy="a", choice=0, seat=None):
    return record_of(
        task=f"{task}-{kind}",
        suite="questions",
        env_id="Overcooked-v0",
        team={"agent_0": policy},
        success=right,
        item={
            "set": shipped_name(), "kind": kind, "seat": seat, "part": "generated", "skills": ["fetch"], "scene": "s",
            "choices": list("wxyz"), "correct": [0],
        },
        answer={"way": "words", "choice": choice, "letter": None},
    )  # fmt: skip


def test_accuracy_and_chance():
    share, rng = accuracy([record(f"x-{i}", i < 6) for i in range(8)])
    assert share.value == 0.75 and 0.3 < share.low < 0.75 < share.high <= 1.0
    assert rng.value == 0.25
    share, _ = accuracy([record(f"x-{i}", True) for i in range(8)])
    assert share.value == 1.0 and 0.6 < share.low < 0.9


@pytest.mark.parametrize(
    ("part", "field", "value", "message"),
    [
        ("answer", "choice", 4, r"answer\.choice: got 4, allowed are 0 to 3"),
        ("item", "correct", [0, 9], r"item\.correct: got 9, allowed are 0 to 3"),
    ],
)
def test_a_choice_that_an_item_lacks_is_refused(part, field, value, message):
    answered = record("x", True)
    setattr(getattr(answered, part), field, value)
    with pytest.raises(ValueError, match=message):
        cards([answered])


def test_the_paired_difference_and_its_test():
    results = [record(f"x-{i}", True) for i in range(6)]
    other = [record(f"x-{i}", i >= 5, policy="b") for i in range(6)]
    table = cards([*results, *other])[-1].tables[0]
    row = dict(zip((column.name for column in table.columns), table.rows[0], strict=True))
    assert (row["n"], row["Only the first right"], row["Only the second right"]) == (6, 5, 0)
    assert row["Difference"].value == pytest.approx(5 / 6) and row["p"] == pytest.approx(2 / 2**5)


def test_records_of_another_set_are_kept_apart():
    results = [record(f"x-{i}", True) for i in range(6)]
    other = [record(f"x-{i}", False) for i in range(6)]
    for answer in other:
        answer.item.set = "v3-of-mine"
    result = cards([*results, *other])
    assert [card.team for card in result[:2]] == ["a (words)", "a (words, set v3-of-mine)"]
    assert "v3-of-mine" in result[1].title and not result[-1].tables[0].rows  # nothing to compare


def test_the_best_constant_letter_is_printed_beside_chance():
    (card,) = cards([record(f"x-{i}", True) for i in range(4)])
    row = dict(zip((column.name for column in card.tables[0].columns), card.tables[0].rows[0], strict=True))
    assert row["Chance"] == 0.25 and row["Same letter"] == 1.0  # all four are A


@pytest.mark.parametrize("name", [None, "v1-0123", "v2-0123", "v9-0123", 5])
def test_records_of_other_versions_are_refused_with_what_to_do(played, name):
    old = json.loads((played / "rand" / "records.jsonl").read_text().splitlines()[0])
    old["item"] = {key: value for key, value in old["item"].items() if key != "set"}
    old["item"] |= {} if name is None else {"set": name}
    (played / "old.jsonl").write_text(json.dumps(old) + "\n")
    done = run("score", played / "old.jsonl")
    assert done.exit_code == 2 and "Traceback" not in done.output and "old.jsonl, line 1: item" in done.output
    reply = " ".join(done.output.split())
    assert name == 5 or "evaluate questions" in reply
    assert name in (5, "v9-0123") or "can be answered without understanding the state" in reply


def test_records_are_fit_for_json(played):
    assert json.dumps([as_json(answer) for answer in read_records(played / "rand")], allow_nan=False)


@pytest.mark.parametrize("kind", ["own", "partner"])
def test_the_first_use_of_the_hands_answers_a_question_about_directives(kind):
    item = read_questions().find(f"overcooked-p001-{kind}")
    source, seat = source_of("Overcooked-v0"), asked_seat(item)
    state = json.loads(json.dumps(item.scene.state))
    names = load_kitchen(item.scene.options["layout"])
    for number, choice in enumerate(item.choices):
        if choice == "wait":
            continue
        x, y = names.place(choice.split()[-1])
        dx, dy, facing = next(
            (dx, dy, facing)
            for facing, (dx, dy) in {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}.items()
            if (x - dx, y - dy) in names.floor()
        )
        before, after = json.loads(json.dumps(state)), json.loads(json.dumps(state))
        for scene in (before, after):
            scene["players"][seat] |= {"position": [x - dx, y - dy], "facing": facing}
        after["players"][seat]["holding"] = {"item": "something else"}
        assert source.chosen(item, [state, before], [["north", "north"]]) is None
        assert source.chosen(item, [state, before, after], [["north", "north"], ["interact", "interact"]]) == number
        texts = ["wait", "wait"]
        texts[seat] = next(text for text, cell in names.cells.items() if cell == names.cell(choice))
        assert source.chosen(item, [state, before], [texts]) == number  # a directive of a language model
    texts[seat] = "put on k99"
    assert source.chosen(item, [state, state], [texts]) is None
