"""Reading layout files: every complaint names the file, the line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from collab_overcooked.core.documents import Document, LayoutError, load_layout, shipped

FOLDER = "collab_overcooked"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def read(folder: Path, text: str, name: str = "mine.yaml") -> Document:
    return load_layout(write(folder, name, text), FOLDER)


def test_shipped_layouts_are_listed():
    assert shipped(FOLDER) == ["paper", "shared_floor", "three_agents"]


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
    ("a: 1\nb: 2\na: 3\n", ["mine.yaml, line 3", "'a'", "second time"]),
    ("a:\n  b: 1\n  b: 2\n", ["mine.yaml, line 3", "'b'"]),
    ("- 1\n- 2\n", ["mine.yaml", "`key: value`", "list"]),
    ("just words\n", ["mine.yaml", "`key: value`"]),
    ("", ["mine.yaml", "`key: value`"]),
    ("a: [1, 2\n", ["mine.yaml", "not valid YAML", "line 2"]),
    ("a: !!python/object:os.system x\n", ["mine.yaml", "not valid YAML"]),
    ("? [1, 2]\n: 3\n", ["mine.yaml, line 1", "a key must be a name"]),
    ("extends: [paper]\n", ["mine.yaml, line 1", "extends takes the name of a layout"]),
    ("extends: papper\n", ["papper", "shipped layouts", "paper", ".yaml"]),
    ("extends: nowhere.yaml\n", ["nowhere.yaml", "No such file"]),
    ("extends: mine.yaml\n", ["mine.yaml", "extends itself", "break the circle"]),
]


@pytest.mark.parametrize("text, hints", BROKEN, ids=[case[0][:24].replace("\n", "|") for case in BROKEN])
def test_broken_files(tmp_path, text, hints):
    with pytest.raises(LayoutError) as error:
        read(tmp_path, text)
    assert all(hint in str(error.value) for hint in hints), str(error.value)


def test_a_circle_over_two_files(tmp_path):
    write(tmp_path, "a.yaml", "extends: b.yaml\n")
    write(tmp_path, "b.yaml", "extends: a.yaml\n")
    with pytest.raises(LayoutError, match=r"extends itself through .*a\.yaml -> .*b\.yaml -> .*a\.yaml"):
        load_layout(tmp_path / "a.yaml", FOLDER)


def test_an_unknown_name_lists_the_shipped_ones():
    with pytest.raises(LayoutError, match="unknown layout 'papper'; shipped layouts: paper, shared_floor"):
        load_layout("papper", FOLDER)


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes.yaml").write_bytes(b"a: \xff\xfe\n")
    for name in ("missing.yaml", "bytes.yaml"):
        with pytest.raises(LayoutError, match=f"cannot read layout file .*{name}"):
            load_layout(tmp_path / name, FOLDER)
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(LayoutError, match=r"cannot read layout file .*folder\.yaml"):
        load_layout(tmp_path / "folder.yaml", FOLDER)
