"""Rush metrics on episodes made by hand."""

from __future__ import annotations

import pytest
from support.records import record_of

from collab_overcooked.games.rush.suite.scoring import RushRow, balance, score_record
from collab_overcooked.games.rush.suite.tables import group_table, individual_table, termination_table
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
    metrics = score_record(MIXED)
    assert [metrics[name] for name in ("completed", "ruined", "turns", "early")] == [1, 1, 2, True]


def actions(played, attribution="final") -> list[tuple[int, int, int]]:
    """A+, A- and A= of each agent."""
    metrics = score_record(played, attribution)
    return list(zip(metrics["positive"], metrics["negative"], metrics["neutral"], strict=True))


def test_actions_count_by_what_becomes_of_their_order():
    assert actions(MIXED) == [(2, 0, 2), (0, 1, 3)]  # Stew was never finished


def test_actions_count_at_once_if_asked():
    assert actions(MIXED, "immediate") == [(3, 0, 1), (1, 1, 2)]
    assert score_record(MIXED)["advanced"] == [3, 1]


def test_what_advanced_an_order_that_is_ruined_later_is_neutral_in_the_end():
    played = record("Pie +, - | -, Pie +", "Pie x, -")
    assert actions(played) == [(0, 1, 2), (0, 0, 3)]
    assert actions(played, "immediate") == [(1, 1, 1), (1, 0, 2)]


def test_turns_may_end_half_way():
    assert score_record(record("-, - | -, -", "-, - | -, -", "Pie + !, -"))["turns"] == 3


@pytest.mark.parametrize(
    ("contributions", "expected"),
    [((3, 3), 1.0), ((4, 0), 0.0), ((0, 0), 0.0), ((3, 1), 0.5), ((2, 2, 0), 1 / 3), ((2, 2, 2), 1.0), ((5,), None)],
)
def test_balance(contributions, expected):
    assert balance(contributions) == (None if expected is None else pytest.approx(expected))


def test_balance_of_an_episode():
    played = record("Pie +, Pie + | Pie + !, -")
    assert score_record(played)["balance"] == pytest.approx(2 / 3)
    assert score_record(record("Pie +, Tart + | Pie + !, -"), "immediate")["balance"] == pytest.approx(2 / 3)


def made(completed: int, early: bool = True, first: int = 0, second: int = 0) -> dict:
    """Metrics of an episode of two agents."""
    return {
        "completed": completed,
        "ruined": 5 - completed,
        "turns": 10,
        "early": early,
        "positive": [first, second],
        "negative": [0, 0],
        "neutral": [0, 0],
        "balance": balance([first, second]),
    }


def row(*runs: list[dict], agents: int = 2) -> RushRow:
    by_seed = {("", seed): run for seed, run in enumerate(runs)}
    return RushRow("", ("random",) * agents, "hard", "kitchen", agents, "none", 5, by_seed)


def cells(table) -> list[dict]:
    return [{column.name: cell for column, cell in zip(table.columns, cells, strict=True)} for cells in table.rows]


def test_a_scenario_is_the_mean_of_its_runs_means():
    (shown,) = cells(group_table([row([made(5), made(3), made(1)], [made(2), made(2), made(2), made(2)])]))
    assert (shown["runs"], shown["episodes"]) == (2, 7)
    assert shown["CR"].value == 2.5  # episodes of the longer run do not weigh more
    assert shown["CR"].low == 2.0 and shown["CR"].high == 3.0  # two runs: 3 and 2
    assert shown["RR"].value == 2.5 and shown["turns"].value == 10


def test_one_run_has_no_interval():
    score = row([made(5, first=4, second=2), made(4, False, first=2, second=2)])
    assert score.mean("completed") == Estimate(4.5)
    assert [score.mean("positive", seat) for seat in (0, 1)] == [Estimate(3.0), Estimate(2.0)]
    assert score.mean("balance").value == pytest.approx((2 / 3 + 1) / 2)
    assert score.mean("early") == Estimate(0.5)


def test_contributions_are_shares_of_all_positive_actions():
    unused = made(0)
    shown = cells(individual_table([row([made(5, first=7, second=8), unused], [unused, unused])]))
    shares = [line["share of A+ %"].value for line in shown]
    assert shares == pytest.approx([7 / 15, 8 / 15])  # the others weigh nothing
    assert [line["share of A+ %"] for line in cells(individual_table([row([unused])]))] == [None, None]


def test_a_single_agent_has_no_balance():
    alone = row([{**made(5), "positive": [15], "negative": [0], "neutral": [3], "balance": None}], agents=1)
    assert alone.mean("balance") is None and alone.share("positive", 0) == Estimate(1.0)


def test_ends_are_shares_of_all_episodes():
    (shown,) = cells(termination_table([row([made(5), made(5), made(5, False), made(2, False), made(0)])], False))
    assert {name: cell for name, cell in shown.items() if name.endswith("%")} == {
        "CR 0 %": 0.0, "CR 1 %": 0.0, "CR 2 %": 0.2, "CR 3 %": 0.0, "CR 4 %": 0.0, "CR 5 %": 0.2, "early %": 0.6,
    }  # fmt: skip


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
    assert [score_record(record(*played, limit=limit))["early"] for limit in (2, 3)] == [False, True]


def test_unknown_attributions_are_refused():
    with pytest.raises(ValueError, match="attribution must be 'final' or 'immediate', not 'later'"):
        score_record(MIXED, "later")
