"""The study of plan search: the same scenes for all ways, rows that name their options, sentences made of intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plan_study
import pytest
from plan_study import (
    BOUND,
    join_studies,
    run_study,
    studied,
    studied_games,
    study_plan,
    study_table,
    variant_title,
    verdict,
)
from support.records import record_of

from collab_overcooked.runner.env_variants import changed_options

GAME = "CollabOvercooked-v0"


def matches_of(game: str, spec: str, **options: Any) -> list[Any]:
    return list(study_plan(game, spec, 6, 3, options).matches)


def named_by(match: Any) -> Any:
    """Return what names of results are made of, without playing."""
    from collab_overcooked.registry import load_game

    game = load_game(match.env_id, **match.env_kwargs)
    team = {f"agent_{seat}": spec for seat, spec in enumerate(match.team)}
    required = {"family": "", "wanted": 1, "goal": {}} if match.env_id in ("Housework-v0", "Transport-v0") else {}
    return record_of(env_id=match.env_id, env_kwargs=game.kwargs, team=team, max_cycles=game.max_cycles, **required)


def test_ways_are_compared_on_the_same_scenes(tmp_path: Path) -> None:
    ways = ("cots", "cots:mode=cot")
    result = run_study(tmp_path, [GAME], ways, scenes=2, progress=lambda text: None)
    study = result["games"][GAME]
    rows = study["ways"]
    assert (study["scenes"], study["seed"]) == (2, 0)
    assert rows["cots"]["difference"] is None and rows["cots:mode=cot"]["plans"] == 1
    assert rows["cots:mode=cot"]["difference"]["low"] is not None
    again = run_study(tmp_path, [GAME], ways, scenes=2, progress=lambda message: None)
    assert again == result  # nothing is played twice
    with pytest.raises(ValueError, match="game with sub-plans"):
        run_study(tmp_path, ["KitchenRush-v0"])


@pytest.mark.parametrize("game", studied_games())
def test_every_option_that_differs_is_named(game: str) -> None:
    """All options of the scenes but those that scenes differ in are in the title of the game's table."""
    study = studied(game)
    for match in matches_of(game, "cots"):
        title = variant_title(study, [named_by(match)])
        for name, value in changed_options(game, match.env_kwargs).items():
            assert (f"{name} {value}" in title) != (name in plan_study.varied(study)), (name, title)


@pytest.mark.parametrize("game", studied_games())
def test_further_options_and_those_of_the_bound_are_named(game: str) -> None:
    study = studied(game)
    entry, other = (
        variant_title(study, [named_by(matches_of(game, "cots", **o)[0])]) for o in ({}, {"lexicon": "alien"})
    )
    assert other.replace(", lexicon alien", "") == entry != other
    bound = variant_title(study, [named_by(matches_of(game, BOUND)[0])])
    assert (bound != entry) == bool(study.bound)
    assert [match.seed for match in matches_of(game, BOUND)] == [match.seed for match in matches_of(game, "cots")]


def a_study(low: float, high: float, better: str = "lower", **row: Any) -> dict[str, Any]:
    costs = dict.fromkeys((*plan_study.COSTS, "first_draft", "solved"))
    first = {"variant": "G", "score": {"value": 5.0, "low": 4.0, "high": 6.0}, "difference": None, "p": None, **costs}
    difference = {"value": (low + high) / 2, "low": low, "high": high}
    return {
        "metric": "steps", "better": better, "heading": "steps", "scale": 1.0, "scenes": 9, "seed": 7,
        "varied": {"task": ["a", "b"], "many": [str(k) for k in range(30)]},
        "ways": {"cots": first, "other": {**first, "difference": difference, **row}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "better", "reply"),
    [
        (1.0, 2.0, "lower", "worse"),
        (1.0, 2.0, "higher", "better"),
        (-2.0, -1.0, "lower", "better"),
        (-2.0, -1.0, "higher", "worse"),
        (0.0, 2.0, "lower", "no difference shown"),
        (-1.0, 1.0, "higher", "no difference shown"),
        (0.0, 0.0, "lower", "equal in every scene"),
    ],
)
def test_verdicts_say_no_more_than_intervals(low: float, high: float, better: str, reply: str) -> None:
    study = a_study(low, high, better)
    assert verdict(study, study["ways"]["other"]) == reply
    assert verdict(study, study["ways"]["cots"]) == ""


def test_tables_name_scenes_and_rows_of_other_options() -> None:
    table = study_table(a_study(1.0, 2.0, variant="G, level 3"))
    assert table.title == "G: 9 scenes, seed 7, task a, b; 30 values of many"
    assert [row[0] for row in table.rows] == ["cots", "other (G, level 3)"]


def part(values: dict[str, list[float]], scenes: int = 3) -> dict[str, Any]:
    costs = dict.fromkeys((*plan_study.COSTS, "first_draft", "solved"))
    rows = {way: {"variant": "G", "values": row, **costs} for way, row in values.items()}
    return {"scenes": scenes, "seed": 7, "metric": "steps", "varied": {}, "ways": plan_study.with_differences(rows)}


def test_games_and_ways_of_an_older_file_stay() -> None:
    old = {
        "version": "1",
        "games": {"a": part({"cots": [1, 2, 3]}), "b": part({"greedy": [4, 4, 4], "dfs": [9, 9, 9]})},
    }
    new = {"version": "2", "games": {"b": part({"cots": [1, 2, 3], "dfs": [1, 2, 3]})}}
    joined = join_studies(old, new)
    assert joined["version"] == "2" and joined["games"]["a"] == old["games"]["a"]
    ways = joined["games"]["b"]["ways"]
    assert [*ways] == ["cots", "greedy", "dfs"]
    assert (ways["greedy"]["difference"]["value"], ways["dfs"]["difference"]["value"]) == (2.0, 0.0)
    assert join_studies(None, new) == new


def test_ways_on_other_scenes_are_not_mixed() -> None:
    old = {"version": "1", "games": {"b": part({"greedy": [4, 4]}, scenes=2)}}
    new = {"version": "2", "games": {"b": part({"cots": [1, 2, 3]})}}
    assert [*join_studies(old, new)["games"]["b"]["ways"]] == ["cots"]


@pytest.mark.parametrize("text", [["--game", "nope"], ["--scenes", "0"], ["--seed", "-1"], ["--workers", "0"]])
def test_wrong_words_are_refused(text: list[str], tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        plan_study.main([str(tmp_path / "new"), "--scenes", "1", *text])
    assert stopped.value.code == 2 and "error: " in capsys.readouterr().err


def test_the_script_keeps_its_numbers(tmp_path: Path) -> None:
    plan_study.main([str(tmp_path), "--scenes", "1", "--game", GAME])
    result = json.loads((tmp_path / "results.json").read_text())
    assert {*result["games"][GAME]["ways"]} == {*plan_study.WAYS}
