from __future__ import annotations

from types import SimpleNamespace

import pytest

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.teams import make_team, parse_seats, read_team


def test_seats_may_come_in_any_order():
    assert parse_seats(["agent_1=b:0.2,3", "agent_0=a"], 2) == ("a", "b:0.2,3")


def test_a_policy_text_may_hold_an_equals_sign():
    assert parse_seats(["agent_0=planner:width=5"], 1) == ("planner:width=5",)


def test_all_stands_for_the_seats_not_named():
    assert parse_seats(["all=a"], 3) == ("a", "a", "a")
    assert parse_seats(["all=a", "agent_1=b"], 3) == ("a", "b", "a")
    assert parse_seats(["agent_0=b", "all=a"], 1) == ("b",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["agent_0=random"], "no policy for agent_1"),
        ([], "no policy for agent_0, agent_1"),
        (["agent_0=random", "agent_2=random"], "unknown seat 'agent_2'"),
        (["agent_0=random", "agent_0=greedy", "agent_1=random"], "agent_0 is given twice"),
        (["random", "agent_1=random"], "seat=policy"),
        (["all=random", "all=greedy"], "all is given twice"),
        (["al=random"], "unknown seat 'al'; did you mean all"),
        (["agent_0=", "agent_1=random"], "seat=policy"),
    ],
)
def test_wrong_teams_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_seats(text, 2)


def test_unknown_policies_are_named():
    with pytest.raises(ValueError, match="unknown policy 'randm'; did you mean random"):
        make_team(parse_seats(["agent_0=randm", "agent_1=random"], 2))


def test_every_seat_has_a_policy_of_its_own():
    team = make_team(["random"] * 3)
    assert team.names == ("random",) * 3
    assert len({id(policy) for policy in team.policies}) == 3


@pytest.mark.parametrize(
    "team",
    [
        {"agent_1": "noisy:0.2:greedy", "agent_0": "planner:width=5"},
        ["planner:width=5", "noisy:0.2:greedy"],
        ["agent_1=noisy:0.2:greedy", "agent_0=planner:width=5"],
        "agent_0=planner:width=5 agent_1=noisy:0.2:greedy",
        " agent_0=planner:width=5   all=noisy:0.2:greedy ",
    ],
)
def test_teams_have_several_forms(team):
    specs = ("planner:width=5", "noisy:0.2:greedy")
    assert parse_seats(read_team(team), 2) == specs
    if "all" in str(team):
        with pytest.raises(ValueError, match="'all' leaves open how many seats there are"):
            make_team(team)
    else:
        assert make_team(team, lambda spec: SimpleNamespace(name=spec)).specs == specs


def test_plans_take_every_form_of_a_team_and_print_as_one_line():
    plans = [
        plan_evaluation("overcooked", team, layouts="cramped_room", episodes=2)
        for team in (["all=random"], {"all": "random"}, "all=random", ["random", "random"])
    ]
    assert len({str(plan.teams()) for plan in plans}) == 1
    assert repr(plans[0]) == "<MatchPlan: overcooked, 2 episodes, all=random>"
