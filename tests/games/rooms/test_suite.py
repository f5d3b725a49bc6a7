"""The suites of room games: settings, seats and scores."""

from __future__ import annotations

from typing import Any

import pytest
from support.records import record_of

from collab_overcooked.cli.play import PlayOptions, people_options
from collab_overcooked.evaluation.suites import SettingRow, plan_evaluation
from collab_overcooked.games.rooms.options import RoomOptions
from collab_overcooked.games.rooms.suite import EscapeSuite, as_published, rate


def row(turns: tuple[int, ...], successes: tuple[bool, ...]) -> SettingRow:
    records = [
        record_of(env_id="CollabCapture-v0", team={}, timesteps=turn, success=success, max_cycles=30)
        for turn, success in zip(turns, successes, strict=True)
    ]
    return SettingRow("CollabCapture-v0", "code2024", records)


def test_failures_are_printed_as_the_original_does() -> None:
    result = row((4, 6, 30), (True, True, False))
    assert as_published(result) == "13.33 ± 6.82"
    assert as_published(result, 35) == "15.00 ± 8.18"
    assert rate([result]).value == pytest.approx(2 / 3) and result.mean("success_turns").value == 5


def test_different_policies_play_every_setting_from_both_seats() -> None:
    results = {"presets": "code2024,paper2023", "adversaries": "own,closest", "episodes": 2}
    mixed = plan_evaluation("collab-capture", ["agent_0=greedy", "agent_1=random"], **results)
    matches = mixed.matches
    assert len(matches) == 4 * 2 * 2 and len({match.task for match in matches}) == 8
    first, swapped = matches[0], next(match for match in matches if match.task == matches[0].task + ", seats swapped")
    assert swapped.team == first.team[::-1] and swapped.seed == first.seed
    assert len(plan_evaluation("collab-capture", ["all=random"], **results).matches) == 4 * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"presets": "paper2022"}, "presets.*paper2022"),
        ({"maps": "ten_rooms"}, "a layout of the game escape"),
        ({"adversaries": "kind"}, "adversary.*kind"),
        ({"episodes": 0}, "episodes"),
    ],
)
def test_bad_suite_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_evaluation("collab-capture", ["all=random"], **options)


def test_people_escape_first_where_teams_of_greedy_escape() -> None:
    options: dict[str, Any] = dict(EscapeSuite.for_people)
    plan = plan_evaluation("collab-escape", ["all=greedy"], seed=1, episodes=4, **options)
    assert all(record.success for match in plan.matches for record in match.run())


def test_settings_of_people_stand_only_where_they_choose_none() -> None:
    options = RoomOptions(episodes=1)
    assert people_options("collab-escape", options, PlayOptions()) == EscapeSuite.for_people
    assert not people_options("collab-escape", RoomOptions(maps="seven_rooms"), PlayOptions())
    assert not people_options("collab-escape", options, PlayOptions(settings=["map=ten_rooms"]))
