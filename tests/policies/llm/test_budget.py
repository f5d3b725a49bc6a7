from __future__ import annotations

import pytest

from collab_overcooked.policies.llm.budget import Budget, Exhausted, Price, UsageMeter, parse_budget, parse_prices
from collab_overcooked.policies.llm.exchange import Reply

REPLY = Reply("x", prompt_tokens=1000, completion_tokens=100, seconds=0.5)


def test_budgets_are_read():
    assert parse_budget("") == Budget()
    assert parse_budget("calls=3, tokens=1e5,seconds=0.5,dollars=2") == Budget(3, 100_000, 0.5, 2)


@pytest.mark.parametrize("text", ["call=3", "calls", "calls=0", "calls=-1", "calls=x", "calls=nan", "calls=inf"])
def test_bad_budgets_are_refused(text):
    with pytest.raises(ValueError, match="budget"):
        parse_budget(text)
    with pytest.raises(ValueError, match="budget-total: "):
        parse_budget(text, "budget-total")


def test_prices_are_read():
    assert parse_prices("2.5/10") == {"": Price(2.5, 10)}
    assert parse_prices("a=1/2,b:7b=0/0") == {"a": Price(1, 2), "b:7b": Price(0, 0)}
    for bad in ("3", "a=3", "x/1", "-1/1"):
        with pytest.raises(ValueError, match="price"):
            parse_prices(bad)


def test_money_needs_prices():
    with pytest.raises(ValueError, match="--price"):
        UsageMeter(Budget(dollars=1)).open(0, "m")
    UsageMeter(Budget(dollars=1)).open(0, "m", Price(1, 1))
    usage = UsageMeter(Budget(dollars=1), {"m": Price(1, 1)})
    usage.open(0, "m")
    with pytest.raises(ValueError, match="price of 'free', for example --price free="):
        usage.open(1, "free")
    UsageMeter(Budget(dollars=1), {"": Price(1, 1)}).open(0, "any")


@pytest.mark.parametrize(
    ("budget", "calls"), [("calls=3", 3), ("tokens=2000", 2), ("seconds=1.4", 3), ("dollars=0.01", 4), ("", 9)]
)
def test_a_budget_ends_after_the_call_that_reaches_it(budget, calls):
    usage = UsageMeter(parse_budget(budget), {"m": Price(2, 10)})
    usage.open(0, "m")
    usage.open(1, "m")
    created = 0
    for i in range(9):
        try:
            usage.check()
        except Exhausted as limit:
            assert usage.to_dict(0)["exhausted"] == str(limit) == budget.partition("=")[0]
            break
        usage.add(i % 2, "m", REPLY)
        created += 1
    assert created == calls


def test_books_are_kept_by_seat_and_cleared_with_the_next_episode():
    usage = UsageMeter(prices={"": Price(1, 1)})
    usage.open(0, "m")
    usage.open(1, "m")
    usage.add(1, "any", REPLY)
    assert usage.to_dict(0)["calls"] == 0
    assert usage.to_dict(1) == {
        "calls": 1,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "seconds": 0.5,
        "latencies": [0.5],
        "dollars": 0.0011,
        "trouble": {},
        "exhausted": "",
    }
    usage.open(0, "m")
    usage.open(1, "m")
    assert usage.to_dict(1)["calls"] == 0
