"""``check`` and ``generate``."""

from __future__ import annotations

import json

from support.cli_runner import run


def test_all_of_several_files_are_checked_each_as_its_kind(tmp_path):
    good, broken, level = (tmp_path / name for name in ("good.yaml", "broken.yaml", "level.yaml"))
    good.write_text("extends: cramped_room\nname: good\n")
    broken.write_text("grid: [")
    level.write_text("extends: level_1\nname: level\n")
    done = run("check", broken, good, tmp_path / "absent.yaml", level, "--par", "none")
    assert done.exit_code == 2
    for text in ("CANNOT BE READ", "broken.yaml", "good: 5 x 4", "absent.yaml: No such file", "level"):
        assert text in done.stdout, done.stdout
    values = json.loads(run("check", broken, good, "--par", "none", "--json").stdout)
    assert sorted(values[0]) == ["error", "file"] and len(values) == 2
    assert run("check", "layouts", good, "--par", "none").exit_code == 0


def test_kitchen_files_are_checked(tmp_path):
    assert run("check", "paper").stdout.startswith("OK: paper, 2 agents, 30 tasks")
    file = tmp_path / "mine.yaml"
    file.write_text("extends: paper\nname: mine\ngravity: 9.81\n")
    done = run("check", file)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: mine.yaml, line 3: unknown key 'gravity'")


def test_check_recognises_every_kind_of_file(tmp_path):
    (tmp_path / "mine.layout").write_text("{'grid': 'XXPXX\\nO1 2O\\nX   X\\nXDXSX'}")
    (tmp_path / "level.yaml").write_text("extends: base.yaml\nname: mine\n")
    (tmp_path / "base.yaml").write_text("extends: level_1\n")
    (tmp_path / "words.yaml").write_text("name: few\nwords: {pot: zorb}\n")
    (tmp_path / "own.yaml").write_text("name: own\ngrid: |\n  XXPXX\n  O1 2O\n  X   X\n  XDXSX\n")
    replies = {
        "mine.layout": "mine: 5 x 4, 2 players",
        "level.yaml": "mine (very simple)",
        "words.yaml": "few: 4 words, one to one",
        "own.yaml": "own: 5 x 4, 2 players",
    }
    for name, text in replies.items():
        options = ["--par", "none"] if "players" in text else []
        done = run("check", tmp_path / name, *options)
        assert text in done.stdout, done.output
    assert "no word for" in run("check", tmp_path / "words.yaml").stdout
    assert run("check", tmp_path / "words.yaml").exit_code == 1
    assert run("check", tmp_path / "own.yaml", "--par", "none").exit_code == 0


def test_check_says_with_its_exit_code_whether_a_file_holds(tmp_path):
    assert run("check", "level_12", "--alphas", "1.0").exit_code == 1  # a dish that cannot be made
    assert run("check", "levels", "--alphas", "1.0").exit_code == 0  # which the built-in set holds on purpose
    result = json.loads(run("check", "level_1", "--json", "--alphas", "2.0").stdout)
    assert result["name"] == "level_1" and list(result["times"]) == ["2.0"] and result["ok"]
    assert [one["name"] for one in json.loads(run("check", "level_1", "level_2", "--json").stdout)] == [
        "level_1",
        "level_2",
    ]
    (tmp_path / "odd.yaml").write_text("colour: red\n")
    for text, message in (
        (["check", "papper"], "unknown file or name 'papper'; did you mean paper"),
        (["check", tmp_path / "odd.yaml"], "odd.yaml: has no key of a kitchen, level, craft-level, layout,"),
        (["check", "level_1", "--par", "none"], "--par is not for levels, which take --alphas"),
        (["check", "--json"], "requires an argument"),
        (["check", "level_1", "--alphas", "0"], "must be numbers above 0"),
        (["generate", "Housework-v0", "--out", "x"], 'Unknown command "Housework-v0"'),
        (["generate", "Overcookd-v0", "--out", "x"], 'Did you mean "Overcooked-v0"?'),
        (
            ["generate", "Overcooked-v0", "--out", tmp_path / "x", "--pots", "3,1"],
            "pots must be a number or a pair [least, most], not (3, 1)",
        ),
    ):
        done = run(*text)
        assert done.exit_code == 2 and message in done.stderr, (text, done.output)


def test_generate_writes_layouts_as_wished(tmp_path):
    texts = [
        "generate",
        "Overcooked-v0",
        "--count",
        "2",
        "--rooms",
        "2",
        "--pots",
        "1,3",
        "--par",
        "none",
        "--seed",
        "4",
    ]
    done = run(*texts, "--out", tmp_path)
    assert done.exit_code == 0 and done.stdout.split() == ["procedural_4_0", "procedural_4_1"], done.output
    files = sorted(tmp_path.glob("*.yaml"))
    assert len(files) == 2 and run("check", *files, "--par", "none").exit_code == 0
