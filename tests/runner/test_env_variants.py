"""Identity of results: every option of every game is part of it, in every table, unless it is an axis of the table.

Options and the values that differ from their defaults are generated from the games' configurations.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.cli.significance import measured_in
from collab_overcooked.envs.channel import ChannelConfig
from collab_overcooked.evaluation import crossplay
from collab_overcooked.evaluation.compare import leaderboard
from collab_overcooked.evaluation.compare.plan import Entry, make_plan
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.reporting.results import metric_card, score_records
from collab_overcooked.reporting.run_comparison import run_cards
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import (
    axis_values,
    canonical,
    changed_options,
    default_options,
    option_text,
    setting_names,
    variant_of,
)
from collab_overcooked.runner.match import cached_env, cached_team
from collab_overcooked.runner.records import derived_fields, dump_line

EpisodeRecord = dict[str, Any]
PRESENTATION = {  # all options that are no part of a result's identity; the configurations say why
    ("CollabOvercooked-v0", "obs"),
    ("CuisineWorld-v0", "obs"),
    ("Overcooked-v0", "obs"),
    ("Overcooked-v0", "axes"),
    ("Overcooked-v0", "size"),
}
FREE: Mapping[str, Any] = {  # values of options that games check themselves; all others are generated
    "kitchen": str(resources.files("collab_overcooked") / "layouts" / "collab_overcooked" / "paper.yaml"),
    ("CraftKitchen-v0", "level"): "field",
    ("CuisineWorld-v0", "level"): "level_2",
    ("CollabOvercooked-v0", "level"): 1,
    "layout": "coordination_ring",
    "size": [9, 6],
    "scenario": "mine.yaml",
    "map": "ten_rooms_as_told",
    "orders": True,
    "turn_order": [1, 0],
    "episode": 1,
    ("Housework-v0", "task"): "wash_dishes",
    ("Transport-v0", "task"): "stuff",
    ("CollabOvercooked-v0", "task"): "baked_pumpkin_slices",
    "generator": {"seed": 1},
    "generators": "random",
    "changes": {"every": 50},
    "doors": {"1-2": True},
    "shaping": {"PUT": 1.0, "dish": 2.0},
    "action_level": {"agent_0": "primitive", "agent_1": "medium"},
    "permuted_ingredients": [0, 1],
    ("OvercookedV2-v0", "layout"): "test_time_simple",
}
SUITES: Mapping[str, tuple[Sequence[str], Mapping[str, Any], Mapping[str, Any]]] = {  # team, suite options, options
    "collab-overcooked": (["all=random"], {"tasks": ["boiled_egg"]}, {}),
    "initiations": (["agent_0=greedy"], {"tasks": ["boiled_egg"], "episodes": 1}, {}),
    "cuisineworld": (["all=random"], {"levels": "level_1", "agents": (2,), "alphas": (2.0,), "episodes": 1}, {}),
    "craft": (["all=random"], {"levels": ("house",), "agents": (2,), "paces": (2,), "episodes": 1}, {}),
    "overcooked": (["all=random"], {"layouts": "cramped_room"}, {}),
    "overcooked-v2": (["all=random"], {"layouts": "cramped_room", "episodes": 1}, {}),
    "rush": (["all=random"], {"scenario": ("hard",), "domain": ("kitchen",), "episodes": 1}, {}),
    "housework": (["all=random"], {"tasks": ("set_table",), "episodes": 1}, {}),
    "transport": (["all=random"], {"tasks": ("food",), "rooms": (6,), "containers": (5,), "episodes": 1}, {}),
    "collab-capture": (["all=random"], {"episodes": 1}, {}),
    "collab-escape": (["all=random"], {"episodes": 1}, {}),
}
PRINTED = {"cuisineworld", "craft", "overcooked", "housework", "transport"}  # beside published numbers
OPTIONS = [(env_id, name) for env_id in registry.registered() for name in registry.game_options(env_id)]


def other_value(env_id: str, name: str) -> Any:
    """Return a value of an option that is not its default."""
    default = default_options(env_id)[name]
    if name == registry.LEXICON:
        return "kitchen" if default == "alien" else "alien"
    known = (*fields(registry.game_class(env_id).config_class), *fields(ChannelConfig))
    option: Field[Any] = next(field for field in known if field.name == name)
    about = option.metadata
    if "allowed" in about:
        return next(value for value in about["allowed"] if value != default)
    if "least" in about:
        return next(value for value in (about["least"], about["least"] + 1) if value != default)
    if "below" in about:
        value = 1.25 if default is None else 2 * default
        return value if about["below"] is None or value < about["below"] else about["below"] / 2
    if isinstance(default, bool):
        return not default
    return FREE.get((env_id, name), FREE.get(name))  # type: ignore[call-overload]


@cache
def played(suite: str) -> EpisodeRecord:
    """Return the first record of a small run of a suite."""
    team, entry, options = SUITES[suite]
    record: EpisodeRecord = plan_evaluation(suite, team, options=options, **entry).matches[0].run()[0]
    return record


def altered(record: EpisodeRecord, **options: Any) -> EpisodeRecord:
    """Return a record that says that it was played with other options, and is the same in everything else."""
    result = copy.deepcopy(record)
    result.env_kwargs |= canonical(options)
    return result.replace(**derived_fields(result))


def played_game(suite: str) -> str:
    return next(record.id for record in registry.GAMES if suite in record.suites)


SUITE_OPTIONS = [(suite, name) for suite in SUITES for name in registry.game_options(played_game(suite))]


def is_part(suite: str, name: str) -> bool:
    """Tell whether an option is part of the names of a suite's results."""
    axes = {*registry.load_suite(suite).axes, *(["lexicon"] if suite == "rush" else [])}
    return name not in axes and (played_game(suite), name) not in PRESENTATION


def to_dict(cards: Sequence[Scorecard]) -> list[str]:
    return [json.dumps(card.to_dict()) for card in cards]


# ------------------------------------------------------------------------------------------- what identity is


def test_every_suite_of_games_is_tested():
    assert {*SUITES} == {*registry.suites()} - {*registry.COMMON_SUITES}


def test_few_options_are_no_part_of_identity_and_each_says_why():
    problems = {}
    for env_id in registry.registered():
        config = registry.game_class(env_id).config_class
        assert {*config.presentation} <= {*config.names()}
        problems |= {(env_id, name): reason for name, reason in config.presentation.items()}
    assert {*problems} == PRESENTATION
    assert all(len(reason) > 20 for reason in problems.values())


@pytest.mark.parametrize(("env_id", "name"), OPTIONS, ids=lambda part: part)
def test_every_option_that_differs_is_named(env_id: str, name: str):
    value = other_value(env_id, name)
    assert canonical(value) != default_options(env_id)[name], "FREE lacks a value of an option of this game"
    changed = changed_options(env_id, {name: value})
    assert changed == ({} if (env_id, name) in PRESENTATION else {name: canonical(value)})
    assert changed_options(env_id, {name: default_options(env_id)[name]}) == {} == changed_options(env_id, {})


@pytest.mark.parametrize("env_id", registry.registered())
def test_a_game_made_by_default_has_no_changed_options(env_id: str):
    assert changed_options(env_id, registry.load_game(env_id).kwargs) == {}


def test_equal_values_have_one_form_and_different_ones_different_texts():
    assert canonical((1, 2.0, Path("a"), {"x": (0.5,)})) == [1, 2, "a", {"x": [0.5]}]
    long = [{"cells": "x" * 100 + end} for end in "ab"]
    texts = [option_text("layout", value) for value in long]
    assert texts[0] != texts[1] and all(len(text) < 90 for text in texts)


# ------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("suite", SUITES)
def test_results_with_default_options_bear_the_plain_name(suite: str):
    record = played(suite)
    assert variant_of(record).changed == {}
    cards = score_records([record])
    assert not any("lexicon" in card.title for card in cards)
    assert any("ublished" in card.markdown() for card in cards) == (suite in PRINTED)


@pytest.mark.parametrize(("suite", "name"), SUITE_OPTIONS, ids=lambda part: part)
def test_runs_that_differ_in_an_option_share_neither_name_nor_row(suite: str, name: str, tmp_path: Path):
    plain = played(suite)
    other = altered(plain, **{name: other_value(plain.env_id, name)})
    if suite in ("collab-overcooked", "initiations") and name == "task":  # whose tables go by it
        other.task = other.env_kwargs["task"]
    apart, together = score_records([plain]) + score_records([other]), score_records([plain, other])
    if (plain.env_id, name) in PRESENTATION:
        assert [card.title for card in score_records([other])] == [card.title for card in score_records([plain])]
        return
    if is_part(suite, name):
        assert f"{name} " in variant_of(other).label
        assert sorted(to_dict(together)) == sorted(to_dict(apart)), "the same cards as if each run were scored alone"
        titles = [{card.title for card in score_records([entry])} for entry in (plain, other)]
        assert not titles[0] & titles[1]
        displayed = "".join(card.markdown() for card in score_records([other]))
        if (suite, name) not in {("housework", "agents"), ("transport", "agents")}:  # papers print single agents, too
            assert "ublished" not in displayed and "GPT-4" not in displayed
    elif name != "agents":  # of which the teams of records tell
        settings = setting_names([plain, other], registry.load_suite(suite).axes, lambda record: str(record.task))
        assert settings[0] != settings[1] or name == "lexicon"
        assert axis_values(plain, (name,)) != axis_values(other, (name,))
        assert "".join(to_dict(together)) != "".join(to_dict(score_records([plain, copy.deepcopy(plain)])))
        assert max_count(together) == max_count(apart), "no row but summaries counts both"
    if is_part(suite, name) or name == "lexicon":
        rows = metric_card([plain, other], ["return"]).tables[0].rows
        assert [row[2] for row in rows] == [1, 1] and rows[0][0] != rows[1][0]
        check_sheet_and_tests(plain, other, tmp_path)
        with pytest.raises(ValueError, match="one variant"):
            crossplay.from_records(["random", "greedy"], [plain, other])


def max_count(cards: Sequence[Scorecard]) -> int:
    """Return the highest number of episodes, runs or questions of a row that is no summary."""
    counts = [0]
    for card in cards:
        for table in (table for table in card.tables if not table.detail):
            heads = [column.name for column in table.columns]
            for name in {"episodes", "Runs", "runs"} & {*heads}:
                rows = [row for i, row in enumerate(table.rows) if i not in table.marks and row[0] not in ("all",)]
                counts += [int(row[heads.index(name)]) for row in rows]
    return max(counts)


def check_sheet_and_tests(plain: EpisodeRecord, other: EpisodeRecord, folder: Path) -> None:
    """Write both records as two runs, and into one file, and see that nothing is put together."""
    runs = {"plain": [plain], "other": [other], "both": [plain, other]}
    cards = run_cards(runs)
    first = [row[0] for card in cards for row in card.tables[0].rows]
    assert len(first) == len({*first}) == 4 and all(row[2] == 1 for card in cards for row in card.tables[0].rows)
    text = variant_of(other).label
    assert {"plain", "other", "both", f"both: {text}"} == {*first}
    told = {row[0]: row[1] for card in cards for row in card.tables[0].rows}
    assert text in str(told["other"]) and text not in str(told["plain"]), "options stand beside the team"
    for name, records in runs.items():
        (folder / f"{name}.jsonl").write_bytes(b"".join(map(dump_line, records)))
    paths = [folder / f"{name}.jsonl" for name in runs]
    for _, measured, _ in measured_in(paths, ["steps"]):
        for samples in measured.values():
            assert len(samples) == 4 and {len(units) for units in samples.values()} == {1}
            assert f"{paths[1]}: {text}" in samples


# ------------------------------------------------------------------------------------------- comparisons


@pytest.mark.parametrize("suite", registry.first_suites())
def test_comparisons_with_other_options_name_them_and_print_no_published_numbers(suite: str):
    env_id = played_game(suite)
    plain = make_plan(["random"], [suite], crossplay=False)
    board = leaderboard._leaderboard(plain, suite, {}, ())
    assert bool(board.references) == bool(registry.load_suite(suite).references(plain.benchmark(suite)))
    for name in registry.game_options(env_id):
        value = other_value(env_id, name)
        other = leaderboard._leaderboard(
            plain.__class__((suite,), ("random",), options={suite: {name: value}}), suite, {}, ()
        )
        if (env_id, name) in PRESENTATION:
            assert other.title == board.title
            continue
        assert other.title != board.title and f"{name} " in other.title
        assert not other.references and not any("ublished" in remark for remark in other.remarks)


def test_records_of_another_variant_do_not_belong_to_a_comparison():
    plan = make_plan(["random"], ["overcooked"], crossplay=False)
    entry: Entry = next(entry for entry in plan.entries if entry.setting == "cramped_room")
    record = played("overcooked")
    leaderboard._check_records(plan, entry, [record], Path("runs"))
    with pytest.raises(ValueError, match=r"env_kwargs: got Overcooked-v0, lexicon alien, allowed is Overcooked-v0$"):
        leaderboard._check_records(plan, entry, [record, altered(record, lexicon="alien")], Path("runs"))


def test_cross_play_says_what_was_played():
    options = {"level": "level_1", "beta": 3.0, "max_cycles": 4}
    result = crossplay.cross_play("CuisineWorld-v0", ["random"], options=options, episodes=1)
    assert result.title == "CuisineWorld-v0, level level_1, beta 3, max_cycles 4"
    assert result.title in result.markdown() and result.to_dict()["title"] == result.title


# ------------------------------------------------------------------------------------------- steps, limits, files


@pytest.mark.parametrize("suite", [name for name in SUITES if name != "initiations"])
def test_episodes_that_are_cut_off_earlier_are_another_result(suite: str):
    plain = played(suite)
    other = plain.replace(max_cycles=plain.max_cycles + 1)
    assert variant_of(other).label == f"max_cycles {plain.max_cycles + 1}"
    assert sorted(to_dict(score_records([plain, other]))) == sorted(
        to_dict(score_records([plain]) + score_records([other]))
    )


def test_each_card_has_the_result_of_its_own_variant():
    """One label may begin another: ``max_cycles 2`` and ``max_cycles 21``."""
    plain = played("rush")
    lengths = {2: 3, 21: 1}  # time limit -> episodes
    records = [plain, *(plain.replace(max_cycles=limit) for limit, count in lengths.items() for _ in range(count))]
    results = {card.title: card.result for card in score_records(records) if card.team}
    assert len(results) == 3 and all(result.startswith("CR, completed recipes") for result in results.values())
    for limit, count in lengths.items():
        (result,) = (text for title, text in results.items() if re.search(rf"max_cycles {limit}\b", title))
        assert re.search(rf"in {count} episode{'s' * (count > 1)}[.;]", result)


def test_bounds_of_conversations_are_told_where_they_differ():
    from collab_overcooked.runner.episode import Limits, play_episode

    env = cached_env("Overcooked-v0", {"max_cycles": 3})
    records = [
        play_episode(env, cached_team(("random", "random")), 1, limits=limits)
        for limits in (None, Limits(), Limits(max_corrections=3))
    ]
    assert [record.limits for record in records] == [{}, {}, {"max_corrections": 3}]
    texts = [variant_of(record).label for record in records]
    assert texts[0] == texts[1] == "max_cycles 3"
    assert texts[2] == "max_cycles 3, limits.max_corrections 3"


def test_a_file_that_is_called_like_a_shipped_one_has_a_row_of_its_own(tmp_path: Path):
    plain = played("overcooked")
    path = str(tmp_path / "mine.yaml")
    shipped = resources.files("collab_overcooked") / "layouts" / "overcooked" / "cramped_room.yaml"
    Path(path).write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    other = altered(plain, layout=path)
    (alone,) = score_records([other])
    assert alone.tables[0].rows[0][0] == f"cramped_room ({option_text('layout', path)})"
    assert "ublished" not in alone.markdown()
    (both,) = score_records([plain, other])
    assert [row[0] for row in both.tables[0].rows] == ["cramped_room", f"cramped_room ({option_text('layout', path)})"]


def test_old_records_without_newer_options_are_of_the_default_variant():
    record = copy.deepcopy(played("overcooked"))
    record.env_kwargs = {"layout": "cramped_room"}
    assert variant_of(record).changed == {}
    assert to_dict(score_records([record])) == to_dict(score_records([played("overcooked")]))


# ------------------------------------------------------------------------------------------- questions


def test_answers_to_items_of_other_options_are_not_put_together():
    plan = plan_evaluation("questions", ["all=random"], games="Overcooked-v0", kinds="own")
    plain = plan.matches[0].run()[0]
    other = altered(plain, lexicon="alien")
    (card,) = score_records([plain, other])
    rows = {row[0]: row[1] for row in card.tables[0].rows}
    assert rows["Overcooked-v0"] == rows["Overcooked-v0, lexicon alien"] == 1
