"""Rush metrics on episodes made by hand."""

from __future__ import annotations

import pytest
from support.records import record_of

from collab_overcooked.games.rush.suite.scoring import (
    ActionCounts,
    RoundScore,
    balance,
    score_round,
    score_rounds,
    termination,
)
from collab_overcooked.games.rush.text.episode_record import RushEvent
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.intervals import Estimate

PLAIN = {"label": "", "event": "COOK", "reason": "OK", "worker": 0}
IDLE = {**PLAIN, "event": "NO_ACTION", "order": None, "advanced": False, "finished": False, "ruined": False}


def event(text: str, turn: int) -> dict:
    """Write ``"Pie + !"`` for an action on Pie that advanced and finished it; ``x`` ruined it; ``"-"`` for none."""
    if text == "-":
        return {**IDLE, "turn": turn}
    order, *marks = text.split()
    return {
        **PLAIN,
        "order": order,
        "turn": turn,
        "advanced": "+" in marks,
        "finished": "!" in marks,
        "ruined": "x" in marks,
    }


def record(*turns: str, limit: int = 10) -> dict:
    """Each turn is a line of slots between bars, each slot the actions of the agents between commas."""
    steps = [
        {"events": [event(text.strip(), t) for text in slot.split(",")]}
        for t, line in enumerate(turns)
        for slot in line.split("|")
    ]
    team = {f"agent_{seat}": "" for seat in range(len(steps[0]["events"]))}
    return record_of(env_id="KitchenRush-v0", team=team, steps=steps, max_turns=limit, scenario="", orders=[])


# Pie is finished by both, Tart is ruined by agent 1 after agent 0 had begun it, Stew is begun and left.
MIXED = record("Pie +, Tart x | Stew +, -", "Pie + !, Pie | -, Stew +")


def test_orders_are_counted_once():
    score = score_round(MIXED)
    assert (score.completed, score.ruined, score.turns, score.early) == (1, 1, 2, True)


def test_actions_count_by_what_becomes_of_their_order():
    first, second = score_round(MIXED).actions
    assert first == ActionCounts(positive=2, negative=0, neutral=2)  # Stew was never finished
    assert second == ActionCounts(positive=0, negative=1, neutral=3)
    assert first.total == second.total == 4


def test_actions_count_at_once_if_asked():
    first, second = score_round(MIXED, "immediate").actions
    assert first == ActionCounts(positive=3, negative=0, neutral=1)
    assert second == ActionCounts(positive=1, negative=1, neutral=2)


def test_what_advanced_an_order_that_is_ruined_later_is_neutral_in_the_end():
    played = record("Pie +, - | -, Pie +", "Pie x, -")
    assert score_round(played).actions == (ActionCounts(0, 1, 2), ActionCounts(0, 0, 3))
    assert score_round(played, "immediate").actions == (ActionCounts(1, 1, 1), ActionCounts(1, 0, 2))


def test_turns_may_end_half_way():
    assert score_round(record("-, - | -, -", "-, - | -, -", "Pie + !, -")).turns == 3


@pytest.mark.parametrize(
    ("contributions", "expected"),
    [((3, 3), 1.0), ((4, 0), 0.0), ((0, 0), 0.0), ((3, 1), 0.5), ((2, 2, 0), 1 / 3), ((2, 2, 2), 1.0), ((5,), None)],
)
def test_balance(contributions, expected):
    assert balance(contributions) == (None if expected is None else pytest.approx(expected))


def test_balance_of_an_episode():
    assert score_round(record("Pie +, Pie + | Pie + !, -")).balance == pytest.approx(2 / 3)


def made(completed: int, early: bool = True, first: int = 0, second: int = 0) -> RoundScore:
    return RoundScore(completed, 5 - completed, 10, early, (ActionCounts(first), ActionCounts(second)))


def test_a_scenario_is_the_mean_of_its_runs_means():
    score = score_rounds([[made(5), made(3), made(1)], [made(2), made(2), made(2)]])
    assert (score.runs, score.episodes) == (2, 6)
    assert score.completed.value == 2.5
    assert score.completed.low == 2.0 and score.completed.high == 3.0  # two runs: 3 and 2
    assert score.ruined.value == 2.5 and score.turns.value == 10


def test_one_run_has_no_interval():
    score = score_rounds([[made(5, first=4, second=2), made(4, False, first=2, second=2)]])
    assert score.completed == Estimate(4.5)
    assert [entry.value for entry in score.positive] == [3.0, 2.0]
    assert score.balance is not None and score.balance.value == pytest.approx((2 / 3 + 1) / 2)
    assert score.early == Estimate(0.5)


def test_contributions_are_shares_of_all_positive_actions():
    unused = made(0)
    score = score_rounds([[made(5, first=7, second=8), unused], [unused, unused]])
    assert [share.value for share in score.shares] == pytest.approx([7 / 15, 8 / 15])  # the others weigh nothing
    assert score_rounds([[unused]]).shares == (None, None)


def test_a_single_agent_has_no_balance():
    alone = RoundScore(5, 0, 9, True, (ActionCounts(15, 0, 3),))
    score = score_rounds([[alone]])
    assert score.balance is None and score.shares == (Estimate(1.0),)


def test_no_runs_are_refused():
    with pytest.raises(ValueError, match="runs: at least one"):
        score_rounds([])


def test_termination_by_completed_recipes():
    scores = [made(5), made(5), made(5, False), made(2, False), made(0)]
    assert termination(scores) == {0: (1, 0), 2: (0, 1), 5: (2, 1)}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("advanced", None, r"advanced must be true or false"),
        ("turn", True, r"turn must be an integer"),
        ("order", 3, r"order must be a text"),
    ],
)
def test_damaged_events_are_named(field, value, message):
    full = {**event("Pie +", 0), "event": "COOK", "label": "cook", "reason": "OK", "worker": 0}
    convert(full, RushEvent)
    with pytest.raises(ValueError, match=message):
        convert({**full, field: value}, RushEvent)
    with pytest.raises(ValueError, match="must be a mapping, not None"):
        convert(None, RushEvent)


def test_the_last_turn_is_not_early():
    played = ("-, - | -, -", "Pie + !, -")
    assert [score_round(record(*played, limit=limit)).early for limit in (2, 3)] == [False, True]


def test_unknown_attributions_are_refused():
    with pytest.raises(ValueError, match="attribution must be 'final' or 'immediate', not 'later'"):
        score_round(MIXED, "later")
