"""Files of layouts: grids as pages and JaxMARL print them, messages with row and column, and every command on them."""

from __future__ import annotations

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.cli.documents import recognise
from collab_overcooked.games.overcooked.v2.engine.spec import load_kitchen
from collab_overcooked.io.documents import DocumentError

PLAIN = "WWPWW\n0A A1\nW   R\nWBWXW\n"


def test_letters_of_pages_and_symbols_of_jaxmarl_are_read() -> None:
    plain = load_kitchen({"grid": PLAIN})
    letters = load_kitchen({"grid": PLAIN.replace("A A", "b a")})
    jaxmarl = load_kitchen({"grid": PLAIN.replace("0", "O"), "possible_recipes": [[0, 0, 1]]})
    assert letters.starts == plain.starts[::-1] and letters.grid == plain.grid == jaxmarl.grid
    assert jaxmarl.recipes == ((0, 0, 1),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"grid": PLAIN.replace("A A", "A b")}, r"cell \(3, 1\): start 'b' beside 'A'"),
        ({"grid": PLAIN.replace("A A", "a a")}, r"cell \(3, 1\): start 'a' stands twice"),
        ({"grid": PLAIN.replace("A A", "a c")}, r"cell \(3, 1\): start 'c' of 2; use a, b"),
        ({"grid": "WWPWWWW\n0AAAAA1\nWBWXWWW\n"}, r"cell \(5, 1\): start number 5; a layout has at most 4"),
        ({"grid": PLAIN.replace("R", "Q")}, r"cell \(4, 2\): unknown symbol 'Q'"),
        ({"grid": PLAIN, "recipes": [[0, 0, 0]], "possible_recipes": [[0, 0, 0]]}, "keep one of them"),
    ],
)
def test_messages_name_the_cell(values: dict, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        load_kitchen(values)


def test_commands_know_files_of_this_game(tmp_path) -> None:
    """A file with a name and a grid alone, whose keys are those of Overcooked's layouts too."""
    mine, classic = tmp_path / "mine.yaml", tmp_path / "classic.yaml"
    mine.write_text("name: mine\ngrid: |\n  " + PLAIN.replace("\n", "\n  "))
    classic.write_text("name: classic\ngrid: |\n  XXPXX\n  O1 2O\n  X   X\n  XDXSX\n")
    assert (recognise(str(mine)).name, recognise(str(classic)).name) == ("v2-layout", "layout")

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, done.output
        return done.stdout

    assert run("check", str(mine), "--par", "none").startswith("mine: 5 x 4, 2 players, 4 recipes")
    assert run("describe", str(mine)).startswith("mine") and run("describe", str(classic)).startswith("classic")
    arguments = ["--team", "all=random", "--episodes", "1", "--max-cycles", "3", "--no-report"]
    assert "mine.yaml" in run(
        "evaluate", "overcooked-v2", "--layouts", str(mine), *arguments, "--out", str(tmp_path / "a")
    )
