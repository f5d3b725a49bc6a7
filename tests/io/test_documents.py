"""Reading layout files: every complaint names the file, the line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.documents import Document, DocumentError, builtin_names, load_layout, read_value
from collab_overcooked.io.yaml_reader import read_yaml
from collab_overcooked.registry import load_game

FOLDER = "collab_overcooked"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def read(folder: Path, text: str, name: str = "mine.yaml") -> Document:
    return load_layout(write(folder, name, text), FOLDER)


def test_long_messages_are_shortened():
    message = f"file.yaml, line 3: must be a number, not {'x' * 5000}; write 0.5"
    for error in (DocumentError(message), OptionError("memory", message)):
        assert len(str(error)) < 2100
        assert str(error).startswith("file.yaml, line 3") and str(error).endswith("write 0.5")


def test_shipped_layouts_are_listed():
    assert builtin_names(FOLDER) == ["paper", "shared_floor", "three_agents"]


def test_values_and_lines(tmp_path):
    doc = read(tmp_path, "a: 1\nb:\n  c: [x, y]\n  d: {e: 2}\n")
    assert doc.content == {"a": 1, "b": {"c": ["x", "y"], "d": {"e": 2}}}
    assert doc.where("b", "c", 1) == "mine.yaml, line 3"
    assert doc.where("b", "d", "e") == "mine.yaml, line 4"
    assert doc.where("b", "unknown") == "mine.yaml, line 2"
    assert doc.where("unknown") == "mine.yaml"
    assert str(doc.error("is odd", "a")) == "mine.yaml, line 1: is odd"


def test_rows_of_a_block_text_have_lines(tmp_path):
    doc = read(tmp_path, "# a comment\ngrid: |\n  XX\n  XX\n")
    assert [doc.row_of("grid", row) for row in (0, 1)] == ["mine.yaml, line 3", "mine.yaml, line 4"]


def test_blank_lines_above_a_grid_count(tmp_path):
    doc = read(tmp_path, "grid: |\n\n\n  XXX\n  XXX\n  XX\n")
    with pytest.raises(DocumentError, match=r"^mine\.yaml, line 6: grid row 2 has 2 cells, others 3"):
        doc.rows("grid", remedy="extend it")


def test_extends_replaces_top_level_keys_and_keeps_their_lines(tmp_path):
    write(tmp_path, "base.yaml", "a: 1\nb:\n  c: 2\n")
    doc = read(tmp_path, "extends: base.yaml\n\nb:\n  d: 3\n")
    assert doc.content == {"a": 1, "b": {"d": 3}}
    assert doc.where("a") == "base.yaml, line 1"
    assert doc.where("b", "d") == "mine.yaml, line 4"
    assert doc.where("b", "c") == "mine.yaml, line 3"  # not the line of what was replaced


def test_extends_finds_shipped_names_and_neighbours_up_the_tree(tmp_path):
    assert read(tmp_path, "extends: paper\nname: mine\n")["max_wait"] == 5
    write(tmp_path, "base.yaml", "a: 1\n")
    assert load_layout(write(tmp_path, "deep/mine.yaml", "extends: ../base.yaml\n"), FOLDER).content == {"a": 1}


def test_files_of_one_name_may_extend_each_other(tmp_path):
    write(tmp_path, "kitchen.yaml", "a: 1\n")
    deep = write(tmp_path, "deep/kitchen.yaml", "extends: ../kitchen.yaml\nb: 2\n")
    assert load_layout(deep, FOLDER).content == {"a": 1, "b": 2}
    assert read(tmp_path, "extends: paper\nname: mine\n", "paper.yaml")["name"] == "mine"


BROKEN = [
    ("a: 1\nb: 2\na: 3\n", ["mine.yaml, line 3", "'a'", "duplicate key"]),
    ("a:\n  b: 1\n  b: 2\n", ["mine.yaml, line 3", "'b'"]),
    ("- 1\n- 2\n", ["mine.yaml", "`key: value`", "list"]),
    ("just words\n", ["mine.yaml", "`key: value`"]),
    ("", ["mine.yaml", "`key: value`"]),
    ("a: [1, 2\n", ["mine.yaml, line 2", "not valid YAML", "that begins in line 1"]),
    ("a:\n  b: 1\n c: 2\n", ["mine.yaml, line 3: the indentation does not fit"]),
    ("a:\n  - b: 1\n   c: 2\n", ["mine.yaml, line 3: the indentation does not fit"]),
    ("a: b\n  c: d\n", ["mine.yaml, line 2: the indentation does not fit"]),
    ("a\nb: 2\n", ["mine.yaml, line 2: ", "the line before lacks its colon"]),
    ("a: x: y\n", ["mine.yaml, line 1: a text with a colon and a space needs quotation marks"]),
    ("a:\n\tb: 1\n", ["mine.yaml, line 2: a tab in the indentation; write spaces"]),
    ("a: 1\nb: \x01\n", ["mine.yaml, line 2: not valid YAML: character '\\x01'"]),
    ("a: !!python/object:os.system x\n", ["mine.yaml", "not valid YAML"]),
    ("? [1, 2]\n: 3\n", ["mine.yaml, line 1", "a key must be a name"]),
    ("extends: [paper]\n", ["mine.yaml, line 1", "extends takes the name of a layout"]),
    ("extends: papper\n", ["papper", "built-in layouts", "paper", ".yaml"]),
    ("extends: nowhere.yaml\n", ["nowhere.yaml", "No such file"]),
    ("extends: mine.yaml\n", ["mine.yaml", "extends itself", "remove one of these"]),
]


@pytest.mark.parametrize("text, hints", BROKEN, ids=[case[0][:24].replace("\n", "|") for case in BROKEN])
def test_broken_files(tmp_path, text, hints):
    with pytest.raises(DocumentError) as error:
        read(tmp_path, text)
    assert all(hint in str(error.value) for hint in hints), str(error.value)


def test_a_circle_over_two_files(tmp_path):
    write(tmp_path, "a.yaml", "extends: b.yaml\n")
    write(tmp_path, "b.yaml", "extends: a.yaml\n")
    with pytest.raises(DocumentError, match=r"extends itself through .*a\.yaml -> .*b\.yaml -> .*a\.yaml"):
        load_layout(tmp_path / "a.yaml", FOLDER)


def test_an_unknown_name_lists_the_shipped_ones():
    with pytest.raises(DocumentError, match="unknown layout 'papper'; built-in layouts: paper, shared_floor"):
        load_layout("papper", FOLDER)


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes.yaml").write_bytes(b"a: \xff\xfe\n")
    for name in ("missing.yaml", "bytes.yaml"):
        with pytest.raises(DocumentError, match=f"cannot read layout file .*{name}"):
            load_layout(tmp_path / name, FOLDER)
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(DocumentError, match=r"cannot read layout file .*folder\.yaml"):
        load_layout(tmp_path / "folder.yaml", FOLDER)


# ------------------------------------------------------------------------------------------- readers of values

VALUES = """
count: 3
share: 0.5
huge: 99999999999
nan: .nan
yes_or_no: true
word: dish
list: [a, b]
twice: [a, a]
empty: []
deep:
  inner: {k: -1, other: x}
""".lstrip()


def letters(doc: Document, name: object, *path: object) -> None:
    if not isinstance(name, str) or not name.isalpha():
        raise doc.error(f"{name!r} is no word", *path)


def test_values_are_read_by_kind(tmp_path):
    doc = read(tmp_path, VALUES)
    assert (doc.integer("count"), doc.number("share"), doc.number("count", low=3)) == (3, 0.5, 3)
    assert (doc.boolean("yes_or_no"), doc.boolean("none"), doc.boolean("none", default=True)) == (True, False, True)
    assert (doc.choice(("dish", "pot"), "word"), doc.text("word"), doc.text("none", default="x")) == (
        "dish",
        "dish",
        "x",
    )
    assert doc.names(letters, "list") == ("a", "b") and doc.names(letters, "twice", twice=True) == ("a", "a")
    assert doc.names(letters, "none", default=("z",)) == ("z",) and doc.listed("things", "empty", default=[]) == []
    assert doc.mapping("deep", "inner", only=("k", "other")) == {"k": -1, "other": "x"}
    assert doc.integer("none", default=None) is None and doc.mapping("none", default={}) == {}
    assert doc.integer("deep", "inner", "k", low=-1, high=0) == -1


REFUSED = [
    (lambda doc: doc.integer("share"), "line 2: share must be an integer of at least 0, not 0.5"),
    (lambda doc: doc.integer("yes_or_no"), "line 5: yes_or_no must be an integer of at least 0, not True"),
    (lambda doc: doc.integer("huge"), "line 3: huge must be an integer of at most 1000000000, not 99999999999"),
    (lambda doc: doc.integer("count", high=2), "line 1: count must be an integer from 0 to 2, not 3"),
    (lambda doc: doc.integer("none"), "mine.yaml: none must be an integer of at least 0; it is missing"),
    (lambda doc: doc.integer("deep", "inner", "k"), "line 11: deep.inner.k must be an integer of at least 0, not -1"),
    (lambda doc: doc.number("nan"), "line 4: nan must be a number, not nan"),
    (
        lambda doc: doc.number("deep", "inner", "k", positive=True),
        "line 11: deep.inner.k must be a number above 0, not -1",
    ),
    (lambda doc: doc.number("word"), "line 6: word must be a number, not 'dish'"),
    (lambda doc: doc.boolean("count"), "line 1: count must be true or false, not 3"),
    (lambda doc: doc.choice(("pot", "pan"), "word"), "line 6: word must be one of pot, pan, not 'dish'"),
    (lambda doc: doc.choice(("pot",), "list"), "line 7: list must be one of pot, not ['a', 'b']"),
    (lambda doc: doc.names(letters, "empty"), "line 9: empty must be a list of names, not []"),
    (lambda doc: doc.names(letters, "twice"), "line 8: 'a' is listed twice under twice"),
    (lambda doc: doc.names(letters, "word"), "line 6: word must be a list of names, not 'dish'"),
    (lambda doc: doc.listed("cells", "count"), "line 1: count must be a list of cells, not 3"),
    (lambda doc: doc.mapping("list"), "line 7: list must hold `name: value` lines, not ['a', 'b']"),
    (
        lambda doc: doc.mapping("deep", "inner", only=("k", "others")),
        "line 11: unknown key 'other'; did you mean others?",
    ),
]


@pytest.mark.parametrize("reader, message", REFUSED, ids=[message for _, message in REFUSED])
def test_values_of_the_wrong_kind_are_refused_with_their_place(tmp_path, reader, message):
    with pytest.raises(DocumentError) as error:
        reader(read(tmp_path, VALUES))
    assert message in str(error.value)


def test_values_given_from_python_are_copied():
    mine = {"extends": "paper", "name": "mine", "agents": ({"name": "Ann"},)}
    doc = load_layout(mine, FOLDER)
    mine["agents"][0]["name"] = "Ben"
    assert doc.at("agents", 0, "name") == "Ann" and doc["max_wait"] == 5
    assert doc.where("agents") == "inline layout" and doc.where("max_wait").startswith("paper.yaml, line")
    mine["agents"] = mine
    with pytest.raises(DocumentError, match="nested more than"):
        load_layout(mine, FOLDER)


# ------------------------------------------------------------------------------------------- hostile files

NINES = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
HOSTILE = {
    "aliases that multiply": (NINES, "more than 50000 values"),
    "a list that holds itself": ("name: &a [*a]\n", "line 1: an alias refers to a value that contains it"),
    "a deep list": ("name: " + "[" * 5000 + "]" * 5000, "line 1: values are nested more than 40 deep"),
    "many values": ("a: [" + "1," * 50_001 + "]", "more than 50000 values"),
    "a long text": ("a: " + "x" * 2_000_001, "more than 2000000 characters"),
    "a long number": (
        "a: 1\nb: " + "9" * 10_000,
        "line 2: '9999999999999999999999999999999999999999...' cannot be read",
    ),
    "a date that is none": ("a: !!int x\n", "line 1: 'x' cannot be read as int"),
    "a boolean that is none": ("a: !!bool x\n", "line 1: 'x' cannot be read as bool"),
    "a set as a key": ("? !!set {a, b}\n: c\n", "line 1: a key must be a name"),
    "a set": ("a: !!set {a, b}\n", "type 'tag:yaml.org,2002:set'"),
    "pairs": ("a: !!omap [b: 1]\n", "type 'tag:yaml.org,2002:omap'"),
    "bytes": ("a: !!binary aGk=\n", "type 'tag:yaml.org,2002:binary'"),
    "a command": ("a: !!python/object/apply:os.system [x]\n", "not valid YAML"),
    "two documents": ("a: 1\n---\nb: 2\n", "not valid YAML"),
    "a merge": ("a: &a {b: 1}\nc:\n  <<: *a\n", "line 3: not valid YAML"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused_with_their_place(tmp_path, kind):
    text, message = HOSTILE[kind]
    with pytest.raises(DocumentError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith("mine.yaml") and message in str(error.value)


def test_dates_are_texts_and_aliases_are_copies(tmp_path):
    doc = read(tmp_path, "a: 2001-99-99\nb: !!timestamp x\nc: &c {d: 1}\ne: *c\n")
    assert doc.content == {"a": "2001-99-99", "b": "x", "c": {"d": 1}, "e": {"d": 1}}
    assert doc["c"] is not doc["e"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("3e-4", 3e-4),
        ("2.5e-1", 0.25),
        ("1.25e1", 12.5),
        ("1.0", 1.0),
        ("1e999", float("inf")),
        ("1e6", 1_000_000),
        ("-2E+3", -2000),
        ("1.e2", 100),
        ("1.6e5", 160_000),
        ("2.5e6", 2_500_000),
        (".5e1", 5),
        ("+1.25E+2", 125),
    ],
)
def test_numbers_may_have_exponents_without_point_and_sign(text, value):
    """YAML 1.1 reads these as texts or floats; whole numbers are integers, for example a number of steps."""
    for read in (read_value(text), read_yaml(f"rate: {text}", "x")[0]["rate"]):
        assert read == value and type(read) is type(value)


@pytest.mark.parametrize("text", ["1e", "e5", "1e5a", "1e5-3", "'1e3'"])
def test_texts_that_only_look_like_exponents_stay_texts(text):
    assert read_value(text) == text.strip("'")


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("CollabOvercooked-v0", {"kitchen": ["paper"]}),
        ("CuisineWorld-v0", {"level": ["level_1"]}),
        ("CollabEscape-v0", {"map": ["escape_small"]}),
        ("KitchenRush-v0", {"scenario": ["easy"]}),
    ],
)
def test_games_that_play_one_layout_say_so_of_a_list(env_id, options):
    (name,) = options
    with pytest.raises(ValueError, match=rf"{name}: takes one name, file or mapping, not a list"):
        load_game(env_id, **options)


@pytest.mark.parametrize("text", ["1:30", "1:30:00.5", "-2:00"])
def test_times_of_day_stay_texts(text):
    assert read_yaml(f"a: {text}", "f")[0] == {"a": text}


@pytest.mark.parametrize("text", ["017", "-017", "00"])
def test_a_number_with_a_zero_in_front_is_refused_as_readers_differ(text):
    with pytest.raises(DocumentError, match=rf"f, line 2: {text} with a zero in front .*leave the zero out"):
        read_yaml(f"b: 0\na: {text}", "f")
    assert read_yaml(f"a: '{text}'\nb: [0, 0.5, 10]", "f")[0] == {"a": text, "b": [0, 0.5, 10]}
