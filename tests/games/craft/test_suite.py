"""Suite, scores, policies and words of CraftKitchen."""

from __future__ import annotations

import random
import string

import numpy as np
import pytest
import yaml
from games.craft.world import Yard

from collab_overcooked import registry
from collab_overcooked.envs.api import ActionError
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.craft.engine.solvability import upper_bounds
from collab_overcooked.games.craft.engine.spec import load_level
from collab_overcooked.games.craft.suite import (
    LevelGenerator,
    LevelOptions,
    check_levels,
    published,
    score_record,
    score_records,
)
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.runner.replay import first_difference


def play(team, folder, **options):
    default = {"levels": ("field",), "agents": (2,), "paces": (1, 5), "episodes": 1}
    return evaluate(plan_evaluation("craft", team, **{**default, **options}), folder, workers=1)


def test_the_suite_of_the_paper():
    plan = plan_evaluation("craft", ["all=greedy"])
    assert [(match.env_kwargs["agents"], match.env_kwargs["pace"]) for match in plan.matches] == [
        (agents, pace) for agents in (1, 2, 3, 4) for pace in (1, 2, 3, 4, 5)
    ]
    assert {(match.episodes, match.env_kwargs["level"]) for match in plan.matches} == {(3, "house")}


@pytest.mark.parametrize(("options", "message"), [
    ({"paces": (6,)}, "paces must be an integer from 1 to 5"),
    ({"agents": (5,)}, "agents must be an integer from 1 to 4"),
    ({"levels": ("moon",)}, "unknown level 'moon'"),
    ({"options": {"pace": 1}}, "option 'pace' is set by --paces"),
    ({"options": {"wak": 1}}, "unknown option 'wak'"),
])  # fmt: skip
def test_wrong_plans_are_refused(options, message):
    with pytest.raises((ValueError, DocumentError), match=message):
        plan_evaluation("craft", ["all=greedy"], **options)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return play(["all=greedy"], tmp_path_factory.mktemp("craft"))


def test_records_replay_and_are_scored_beside_the_published_row(records):
    assert all(first_difference(record) is None for record in records)
    (card,) = registry.load_suite("craft").score(records, None)
    text = card.markdown()
    assert "| 0.195 |" in text and "no team can exceed" in text and "compare policies with each other" in text
    (result,) = score_records(records)
    for record, pace in zip(records, (1, 5), strict=True):
        single = score_record(record)
        cell = result.tables[2].cell("field", pace)
        assert (cell.completed, cell.resolved) == (single["completed"], single["completed"] + single["failed"])
        assert single["completed"] == single["return"] <= single["stored"] and single["stocked"] <= single["completed"]
        assert cell.ratio <= upper_bounds("field", 2, {})[pace - 1]
    assert score_record(records[0])["completed"] > 9 and score_record(records[0])["stocked"] > 0


def test_the_published_score_stands_beside_runs_at_all_paces_only(records, tmp_path):
    def published_row(played):
        (card,) = registry.load_suite("craft").score(played, None)
        return card, next(cells for name, *cells in card.tables[0].rows if "published" in name)

    card, (*shares, score) = published_row(records)  # paces 1 and 5
    assert shares == ["0.195", None, None, None, "0.833"] and score.value == pytest.approx((0.195 + 0.833) / 2)
    assert any("only some paces" in note for note in card.notes)
    everywhere = [
        records[0].replace(env_kwargs={**records[0].env_kwargs, "pace": pace}, task=f"field, 2 agents, pace {pace}")
        for pace in (1, 2, 3, 4, 5)
    ]
    card, (*shares, score) = published_row(everywhere)
    assert shares == ["0.195", "0.381", "0.704", "0.792", "0.833"] and score.value == 0.581
    assert not any("only some paces" in note for note in card.notes)


def test_the_planner_serves_more_than_the_greedy_team(records, tmp_path):
    planned = play(["all=planner:rollouts=32,horizon=16"], tmp_path, paces=(1,))
    assert score_record(planned[0])["completed"] > score_record(records[0])["completed"]


def test_the_published_numbers_and_their_reading():
    assert np.mean(published()["shares"]) == pytest.approx(published()["cos"], abs=5e-4)
    for share, fraction, dishes in zip(
        published()["shares"], published()["inferred"], (17, 16, 19, 19, 15), strict=True
    ):
        done, resolved = map(int, fraction.split("/"))
        assert (done, round(done / resolved, 3)) == (dishes, share)


def test_levels_are_checked_and_generated(tmp_path):
    file = tmp_path / "mine.yaml"
    result = LevelGenerator(seed=4, dishes=3, furnaces=2).write(file, "generate")
    level = load_level(str(file))
    assert len(level.dishes) == 3 and "3 agents: first dish in step" in result.text
    assert yaml.safe_load(file.read_text())["name"] == "mine"
    assert len(check_levels(["house", "butchery"], LevelOptions(agents=(2,))).values) == 2
    for wish, message in (({"dishes": 5}, "dishes must be"), ({"size": 5}, "size must be")):
        with pytest.raises(ValueError, match=message):
            LevelGenerator(**wish).write(file, "generate")
    with pytest.raises(ValueError, match=r"should end in \.yaml"):
        LevelGenerator().write(tmp_path / "mine.txt", "generate")


@pytest.mark.parametrize(("text", "seat", "action"), [
    ("goto(chest)", None, "goto(chest)"),
    ("goto(bot2, 'chicken2')", 1, "goto(chicken2)"),
    (' PUTINCHEST( bot1 , "mutton" ) ;', 0, "putInChest(mutton)"),
    ("takeOutFurnace(bot1)", 0, "takeOutFurnace()"),
    ("killMob sheep", None, "killMob(sheep)"),
    ("wait", None, "wait()"),
])  # fmt: skip
def test_commands_as_the_paper_writes_them(text, seat, action):
    game = Yard().game
    assert game.read_command(text) == (seat, game.action_texts().index(action))


@pytest.mark.parametrize(("text", "code"), [
    ("eval(1)", "F_COMMAND"), ("goto(bot9, chest)", "F_AGENT"), ("goto()", "F_WORDS"), ("goto(moon)", "F_NAME"),
    ("mineBlock(chicken)", "F_NAME"), ("goto(chest, chest)", "F_WORDS"), ("", "F_WORDS"), ("goto((chest))", "F_WORDS"),
    ("goto(bot1, 'chest", "F_WORDS"), ("x" * 10_000, "F_WORDS"),
])  # fmt: skip
def test_wrong_commands_say_what_is_wrong(text, code):
    with pytest.raises(ActionError) as problem:
        Yard().game.read_command(text)
    assert problem.value.code == code


@pytest.mark.parametrize("lists", [500, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_hostile_lists_never_raise_anything_else(lists):
    game, rng = Yard().game, random.Random(0)
    pieces = ["goto", "killMob", "(", ")", "'", '"', ",", "bot1", "bot-1", "bot999", "chest", "oak_log", " ", "\n",
              "\x00", "__import__('os')", "\u0661", "\u017f", "\u202e", ";", "putInChest", "9" * 50]  # fmt: skip
    for _ in range(lists):
        commands = [
            "".join(rng.choices(pieces, k=rng.randrange(8))) if rng.random() < 0.8
            else "".join(rng.choices(string.printable, k=rng.randrange(30)))
            for _ in range(10)
        ]  # fmt: skip
        result, problems, _ = game.read_list(commands)
        assert len(result) + len(problems) == 10 and all(0 <= seat < 2 for seat in result)


def test_an_unknown_name_voids_a_list_if_lists_are_strict():
    for strict, at in ((True, ""), (False, "bot1 at chest")):
        yard = Yard(strict_lists=strict)
        assert yard.play("1 goto(chest); 2 jump(chest)") == at
        assert yard.obeyed == (not strict, False) and "unknown command 'jump'" in yard.feedback[0]
    yard = Yard()
    yard.play("1 goto(chest); 1 goto(furnace); 2 goto(moon)")
    assert yard.obeyed == (True, False, False)
    first, second = yard.feedback
    assert first.startswith("an agent got two commands:") and second.startswith("bot2: unknown place 'moon'; known")
