"""What language models took, in every form in which it is shown."""

from __future__ import annotations

import io

from rich.console import Console

from collab_overcooked.evaluation.costs import costs_of, html_section, markdown, show

MODEL = "meta-llama/Llama-3.1-70b-Instruct"


def record(*accounts):
    return {
        "env_id": "CollabOvercooked-v0",
        "team": {f"agent_{seat}": "llm:m" for seat in range(len(accounts))},
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


def test_nothing_is_shown_without_language_models():
    console = Console(file=io.StringIO())
    show(console, ())
    assert console.file.getvalue() == markdown(()) == html_section(()) == ""
