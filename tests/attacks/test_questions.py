"""Mutated question sets: read and shown, or refused in a sentence that names file and line or the scene."""

from __future__ import annotations

import json
import random

import pytest
from attacks.mutations import mutate
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.questions.answering import checked_env
from collab_overcooked.questions.items import SHIPPED, QuestionError, read_questions

pytestmark = pytest.mark.attacks

MUTATIONS = 40
GAME = "CollabCapture-v0"


@pytest.fixture(scope="module")
def entries():
    """Heading, scene and item of a set with one question."""
    full = read_questions()
    item = next(item for item in full.items if item.scene.env_id == GAME and item.kind == "own")
    lines = [json.loads(line) for line in SHIPPED.read_text("utf-8").split("\n") if line]
    scene = next(line for line in lines if line.get("name") == item.scene.name)
    return [lines[0] | {"scenes": 1, "items": 1}, scene, next(line for line in lines if line.get("id") == item.id)]


def write(path, entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")


def show(path, name):
    return CliRunner().invoke(app, ["describe", name, "--file", str(path)], catch_exceptions=False)


def test_mutated_sets_are_shown_or_refused(entries, attack_seed, tmp_path):
    rng, path = random.Random(f"questions{attack_seed}"), tmp_path / "questions.jsonl"
    refused = displayed = 0
    for _ in range(MUTATIONS):
        value = mutate(rng, entries, [entries])
        try:
            write(path, value)
        except (ValueError, TypeError):  # no list, or numbers of more digits than Python writes
            continue
        try:
            result = read_questions(path)
        except QuestionError as error:
            assert str(error).startswith(f"{path}"), error
            refused += 1
            continue
        done = show(path, result.items[0].id)
        assert done.exit_code in (0, 2) and "\x1b" not in done.output and "\x00" not in done.output
        assert done.exit_code == 0 or (done.stderr.startswith("error: ") and done.stderr.count("\n") == 1)
        displayed += done.exit_code == 0
    assert refused and displayed


@pytest.mark.parametrize("line", ["[" * 100_000, "9" * 6000, "[1]", "null", '{"schema": NaN}', '{"scenes": -1}'])
def test_lines_that_are_none_are_named(line, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(line + "\n", "utf-8")
    with pytest.raises(QuestionError, match=r"questions\.jsonl, line 1: "):
        read_questions(path)


def test_values_of_other_lengths_and_types_are_refused(entries, tmp_path):
    for values in (5, "abc", [None], [[], {}, 1, 2]):
        item = entries[2] | {"evidence": {"values": values}}
        write(tmp_path / "questions.jsonl", [*entries[:2], item])
        with pytest.raises(QuestionError, match=r"line 3.*values"):
            read_questions(tmp_path / "questions.jsonl")


def test_a_scene_that_lacks_something_is_not_asked_about(entries, tmp_path):
    for change in ({"state": {}}, {"state": entries[1]["state"] | {"turn": -1}}, {"options": {"agents": 1}}):
        write(tmp_path / "questions.jsonl", [entries[0], entries[1] | change, entries[2]])
        with pytest.raises(QuestionError, match=f"scene '{entries[1]['name']}': "):
            checked_env(read_questions(tmp_path / "questions.jsonl").items[0])


def test_texts_of_a_set_are_shown_as_texts(entries, tmp_path):
    path = tmp_path / "questions.jsonl"
    write(path, [*entries[:2], entries[2] | {"question": "\x1b]0;evil\x07\x1b[31mred\u202e [red]x[/red]"}])
    done = show(path, entries[2]["id"])
    assert done.exit_code == 0 and not {"\x1b", "\x07", "\u202e"} & set(done.output)
    assert "[red]x[/red]" in done.output
