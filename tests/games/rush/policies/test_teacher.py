"""Teachers between episodes, and who hears them."""

from __future__ import annotations

from typing import Any

import pytest
from support.records import record_of

import collab_overcooked
from collab_overcooked.games.rush.policies.teacher import ScriptedTeacher
from collab_overcooked.games.rush.suite.scoring import score_record
from collab_overcooked.policies.api import Learner, Lesson
from collab_overcooked.policies.per_game import PerGamePolicy
from collab_overcooked.policies.random import RandomPolicy
from collab_overcooked.runner.teaching import Teaching, make_teaching, play_series
from collab_overcooked.runner.teams import Team

CAFE = {
    "name": "cafe",
    "workers": 1,
    "max_turns": 4,
    "episodes": [
        {
            "recipes": {
                "Toast": {"ingredients": {"bread": 1}, "cook_time": 1},
                "Carrot Soup": {"ingredients": {"carrot": 1}, "cook_time": 1},
                "Salad": {"ingredients": {"lettuce": 1}, "cook_time": 0},
            },
            "pantries": [{"id": 0, "spaces": 1, "stock": {"bread": 1, "carrot": 1, "lettuce": 1}}],
            "spicebags": [{"id": 1, "spaces": 1}],
            "stoves": [{"id": 2, "spaces": 2}],
        }
    ]
    * 2,
}
TAKE_TOAST = "{'action_type': 'TAKE_INGREDIENTS', 'area_id': 0, 'value': {'order': 'Toast'}}"
COOK_TOAST = "{'action_type': 'COOK_MEAL', 'area_id': 2, 'value': {'order': 'Toast'}}"
COOK_SOUP = "{'action_type': 'COOK_MEAL', 'area_id': 2, 'value': {'order': 'Carrot Soup'}}"
TAKE_SALAD = TAKE_TOAST.replace("Toast", "Salad")
IDLE = "0"


class Pupil:
    """Does what it was given and writes down what it hears."""

    name = "pupil"

    def __init__(self, *script: str) -> None:
        self.script = script
        self.lessons: list[Lesson] = []
        self.seen: list[Any] = []
        self.calls: list[str] = []

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.left = list(self.script)
        self.calls.append("reset")

    def act(self, seen: Any) -> Any:
        self.seen.append(seen.feedback)
        return self.left.pop(0) if self.left else IDLE

    def reply(self, seen: Any) -> None:
        return None

    def between_episodes(self, lesson: Lesson) -> None:
        self.lessons.append(lesson)
        self.calls.append("between")
        self.begun = len(self.seen)


def play(teacher: str | Teaching, *policies: Any, env_id: str = "KitchenRush-v0") -> list[dict[str, Any]]:
    env = collab_overcooked.make(env_id, scenario=CAFE, order="game")
    return play_series(
        env,
        Team(tuple(policy.name for policy in policies), policies),
        0,
        [("cafe", 0), ("cafe", 1)],
        score=score_record,
        teaching=teacher if isinstance(teacher, Teaching) else make_teaching(teacher),
    )


def scripts(say=lambda text: text) -> tuple[Pupil, Pupil]:
    return Pupil(*map(say, (TAKE_TOAST, COOK_TOAST, TAKE_SALAD))), Pupil(*map(say, (IDLE, COOK_SOUP, IDLE)))


def test_the_group_is_told_what_went_wrong():
    first, second = play("teacher_group", *scripts())
    assert not first.feedback
    assert second.feedback == [second.feedback[0]] * 2
    assert second.feedback[0].splitlines() == [
        "2 of 3 orders were finished and 1 ruined in 3 turns.",
        "agent_1 ruined Carrot Soup in turn 2: it was cooked before its ingredients were collected.",
        "Worker 0 of agent_1 did nothing in 2 of 3 turns.",
        "The work was unequal: of 3 useful actions agent_0 did 3, agent_1 did 0.",
        "Strategy: agent_0 takes orders 1, 3 of the list, with all its workers in every turn. "
        "agent_1 takes order 2 of the list, with all its workers in every turn.",
        "Collect ingredients before cooking, and count the cooking.",
    ]


def test_each_agent_is_told_its_own_part():
    _, second = play("teacher_individual", *scripts())
    one, two = second.feedback
    assert one.splitlines() == [
        "2 of 3 orders were finished and 1 ruined in 3 turns.",
        "The work was unequal: of 3 useful actions agent_0 did 3.",
        "Your role: agent_0 takes orders 1, 3 of the list, with all its workers in every turn.",
    ]
    assert "agent_1 ruined Carrot Soup in turn 2" in two and "Worker 0 of agent_1 did nothing" in two
    assert two.endswith("Your role: agent_1 takes order 2 of the list, with all its workers in every turn.")


def test_unfinished_orders_and_refusals_are_named():
    again = Pupil(TAKE_TOAST, COOK_TOAST.replace("Toast", "Salad"), IDLE, IDLE)
    late = Pupil(TAKE_SALAD)  # agent_0 has taken the one action space
    first, second = play("teacher_group", again, late)
    assert [(e.agent, e.code) for e in first.steps[0].errors] == [(1, "NO_SPACE")]
    assert "Not finished: Toast, Carrot Soup." in second.feedback[0]
    assert "agent_1 was refused once: no space." in second.feedback[0]


def test_cooking_once_too_often_is_told_apart():
    record = play("none", *scripts())[0]
    steps = record.steps
    steps[1].events[1].order = "Toast"
    text = ScriptedTeacher().teach_group(Lesson(collab_overcooked.make("KitchenRush-v0").game, record))
    assert "agent_1 ruined Toast in turn 2: it was cooked more often than its recipe says." in text
    steps[2].events[1].reason = "OUT_OF_STOCK"
    steps[0].events[1].reason = "OUT_OF_STOCK"
    text = ScriptedTeacher().teach_group(Lesson(collab_overcooked.make("KitchenRush-v0").game, record))
    assert "agent_1 was refused 2 times: out of stock." in text


def test_teachers_speak_the_language_of_the_game():
    env = collab_overcooked.make("AlienRush-v0", scenario=CAFE)
    _, second = play("teacher_group", *scripts(env.game.translate), env_id="AlienRush-v0")
    plain = play("teacher_group", *scripts())[1].feedback[0]
    assert second.feedback[0] == env.game.translate(plain) != plain


@pytest.mark.parametrize("teacher", ["teacher_group", "teacher_individual:scripted"])
def test_feedback_is_in_the_record_and_in_every_view_of_the_next_episode(teacher):
    pupils = scripts()
    _, second = play(teacher, *pupils)
    for seat, pupil in enumerate(pupils):
        begun = pupil.begun  # of the first episode; a seat that can only wait is not asked
        assert all(message == "" for message in pupil.seen[:begun])
        assert len(pupil.seen) > begun
        assert all(notice == second.feedback[seat] for notice in pupil.seen[begun:])


def test_learners_hear_of_the_episode_between_two_resets():
    pupil, other = scripts()
    first, second = play("teacher_individual", pupil, other)
    assert pupil.calls == ["reset", "between", "reset"]
    (lesson,) = pupil.lessons
    assert lesson.record == first and lesson.results == first.metrics
    assert lesson.manual.startswith("Kitchen Rush: manual") and lesson.game.id == "KitchenRush-v0"
    assert lesson.feedback == second.feedback[0] != other.lessons[0].feedback


def test_learners_hear_of_the_episode_without_a_teacher():
    pupils = scripts()
    _, second = play("none", *pupils)
    assert [pupil.lessons[0].feedback for pupil in pupils] == ["", ""]
    assert not second.feedback and pupils[0].seen[-1] == ""


def test_policies_that_do_not_learn_still_play():
    assert not isinstance(RandomPolicy(), Learner)
    _, second = play("teacher_group", RandomPolicy(), RandomPolicy())
    assert len(second.feedback) == 2


def test_what_one_learns_from_feedback_changes_the_next_episode():
    class Obedient(Pupil):
        def act(self, seen: Any) -> Any:
            if "before its ingredients were collected" in seen.feedback:
                return next((text for text in seen.legal_actions if "TAKE" in text), IDLE)
            return next((text for text in seen.legal_actions if "COOK" in text), IDLE)

    first, second = play("teacher_group", Obedient(), Obedient())
    assert (first.metrics["completed"], first.metrics["ruined"]) == (0, 3)
    assert (second.metrics["completed"], second.metrics["ruined"]) == (1, 0)


def test_a_policy_by_game_hands_lessons_on():
    inner = Pupil()
    play("teacher_group", wrapping(inner), RandomPolicy())
    assert len(inner.lessons) == 1
    play("teacher_group", wrapping(RandomPolicy()), RandomPolicy())


def wrapping(policy: Any) -> PerGamePolicy:
    wrapped = PerGamePolicy("wrapped", {"KitchenRush-v0": "collab_overcooked.policies.random:RandomPolicy"})
    wrapped._made["KitchenRush-v0"] = policy
    return wrapped


@pytest.mark.parametrize("way", ["group", "individual"])
def test_a_placebo_is_the_feedback_of_another_team(way):
    """It depends on the team in nothing, has the lines of the teacher's feedback, and learners keep their own past."""
    busy, idle = scripts(), (Pupil(), Pupil())
    (_, one), (first, other) = play(f"placebo_{way}", *busy), play(f"placebo_{way}", *idle)
    assert one.feedback == other.feedback != play(f"teacher_{way}", *scripts())[1].feedback
    assert all("of 3 orders were finished" in text for text in one.feedback)
    lesson = idle[0].lessons[0]
    assert lesson.record == first and lesson.feedback == other.feedback[0]
    assert [step.actions for step in play("none", Pupil(), Pupil())[0].steps] == [step.actions for step in first.steps]


def test_teachers_must_speak_to_everybody():
    class Shy(ScriptedTeacher):
        name = "shy"

        def teach_individual(self, lesson: Lesson) -> list[str]:
            return ["Well."]

    with pytest.raises(ValueError, match="teacher 'shy' gave feedback to 1 agents; there are 2"):
        play(Teaching("teacher_individual", "teacher_individual", Shy()), *scripts())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("teacher_grup", "unknown teacher 'teacher_grup'; did you mean teacher_group"),
        ("none:scripted", "unknown teacher 'none:scripted'"),
        ("teacher_group:xyz", "unknown teacher of 'teacher_group' 'xyz'; known: scripted, llm"),
        ("teacher_group:scripted:x", "'scripted' takes no parameters, but got 'x'"),
        ("teacher_group:", "unknown teacher of 'teacher_group' ''"),
    ],
)
def test_unknown_teachers_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        make_teaching(spec)


def test_the_scripted_teacher_teaches_rush_only():
    record = record_of(env_id="CuisineWorld-v0")
    with pytest.raises(ValueError, match="the scripted teacher teaches Rush, not CuisineWorld-v0"):
        ScriptedTeacher().teach_group(Lesson(None, record))  # type: ignore[arg-type]
