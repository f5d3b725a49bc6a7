"""What language models took, in every form in which it is shown."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from collab_overcooked.reporting.costs import costs_of, html_section, markdown, show

MODEL = "meta-llama/Llama-3.1-70b-Instruct"


def record(*accounts, env_id="CollabOvercooked-v0", others=()):
    team = ["llm:m"] * len(accounts) + list(others)
    return {
        "env_id": env_id,
        "team": {f"agent_{seat}": spec for seat, spec in enumerate(team)},
        "accounts": {f"agent_{seat}": account for seat, account in enumerate(accounts)},
    }


def account(model=MODEL, latencies=(1.0, 3.0), dollars=0.5, exhausted="", **trouble):
    return {
        "model": model,
        "calls": len(latencies),
        "prompt_tokens": 100_000,
        "completion_tokens": 1000,
        "latencies": list(latencies),
        "dollars": dollars,
        "trouble": trouble,
        "exhausted": exhausted,
    }


def test_seats_and_episodes_of_a_model_are_added_up():
    first = record(account(length=1, exhausted="calls"), account(latencies=(2.0,), length=2, exhausted="calls"))
    second = record(account(refused=1), account("small", dollars=None))
    one, small = costs_of([first, second, {"env_id": "x", "team": {}}])
    assert (one.model, one.episodes, one.calls, one.prompt_tokens, one.exhausted) == (MODEL, 2, 5, 300_000, 1)
    assert (one.seconds, one.latency, one.dollars) == (10.0, 2.0, 1.5)
    assert one.trouble == {"length": 3, "refused": 1}
    assert (small.model, small.episodes, small.dollars) == ("small", 1, None)


def test_nothing_is_cut_off_on_a_narrow_screen():
    trouble = {"length": 4, "refused": 1, "rejected": 22, "unreadable": 12}
    costs = costs_of([record(account(latencies=[9.25] * 104, **trouble))])
    console = Console(file=io.StringIO(), width=80)
    show(console, costs)
    shown = console.file.getvalue()
    assert "…" not in shown
    for words in (MODEL, "104.0", "100,000", "962.0", "9.25", "0.5000", "22 rejected", "12 unreadable"):
        assert words in shown and words in markdown(costs) and words in html_section(costs)


A, B = account("a"), account("b")


@pytest.mark.parametrize(
    ("records", "names"),
    [
        ([record(A, B)], ["a", "b"]),
        ([record(A), record(A, env_id="Overcooked-v0")], ["a, CollabOvercooked-v0", "a, Overcooked-v0"]),
        ([record(A, others=["greedy"]), record(A, A)], ["a, agent_0=llm:m all=greedy", "a, all=llm:m"]),
    ],
    ids=["models", "games", "teams"],
)
def test_every_line_says_what_tells_it_from_the_others(records, names):
    _, _, *lines = markdown(costs_of(records)).splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[: len(names)]] == names


def test_nothing_is_shown_without_language_models():
    console = Console(file=io.StringIO())
    show(console, ())
    assert console.file.getvalue() == markdown(()) == html_section(()) == ""
