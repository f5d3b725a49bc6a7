"""What language models took, in every form in which it is shown."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.reporting.costs import cost_card

MODEL = "meta-llama/Llama-3.1-70b-Instruct"


def record(*accounts, env_id="CollabOvercooked-v0", others=()):
    team = ["llm:m"] * len(accounts) + list(others)
    return record_of(
        env_id=env_id,
        max_cycles=registry.load_game(env_id).max_cycles,
        team={f"agent_{seat}": spec for seat, spec in enumerate(team)},
        accounts={f"agent_{seat}": account for seat, account in enumerate(accounts)},
    )


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
    rows = cost_card([first, second, record_of()]).tables[0].to_dict()["rows"]
    one, small = ({name: value for name, value in row.items() if value is not None} for row in rows)
    assert one == {
        "Model": MODEL,
        "Episodes": 2,
        "Calls": 2.5,
        "Tokens in": 150_000,
        "Tokens out": 1500,
        "Waiting s": 5.0,
        "Latency s": 2.0,
        "p95 s": 3.0,
        "Dollars": 0.75,
        "Read as": "-",
        "Unusable": "3 length, 1 refused",
        "Cut short": 1,
    }
    assert (small["Model"], small["Episodes"], small.get("Dollars")) == ("small", 1, None)


def test_nothing_is_cut_off_on_a_narrow_screen():
    trouble = {"length": 4, "refused": 1, "rejected": 22, "unreadable": 12}
    card = cost_card([record(account(latencies=[9.25] * 104, **trouble))])
    console = Console(file=io.StringIO(), width=80)
    card.show(console)
    displayed = console.file.getvalue()
    assert "…" not in displayed
    for text in (MODEL, "104.0", "100,000", "962.0", "9.25", "0.5000", "22 rejected", "12 unreadable"):
        assert text in displayed and text in card.markdown() and text in card.tables[0].html()


A, B = account("a"), account("b")


@pytest.mark.parametrize(
    ("records", "names"),
    [
        ([record(A, B)], ["a", "b"]),
        (
            [record(A), record(A, env_id="Overcooked-v0")],
            ["a, CollabOvercooked-v0", "a, Overcooked-v0, action_level primitive"],
        ),
        ([record(A, others=["greedy"]), record(A, A)], ["a, agent_0=llm:m all=greedy", "a, all=llm:m"]),
    ],
    ids=["models", "games", "teams"],
)
def test_every_line_says_what_tells_it_from_the_others(records, names):
    assert [row[0] for row in cost_card(records).tables[0].rows] == names


def test_nothing_is_shown_without_language_models():
    assert cost_card([record_of()]) is None
