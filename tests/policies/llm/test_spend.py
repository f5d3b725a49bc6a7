"""What a whole run spends: bounded, summed up, kept, and as fast as its endpoint allows."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from endpoints import Says, serving
from typer.testing import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.policies.llm.budget import Price, parse_prices
from collab_overcooked.policies.llm.client import EndpointError, Reply, Request, Turn
from collab_overcooked.policies.llm.connection import connect

pytest.importorskip("openai", reason="needs the extra llm")
SMALL = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--episodes", "1", "--no-report", "--set"]
SMALL += ["max_turns=1", "--team", "all=llm:m?memory=off"]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in (*SMALL, *words)])


def test_cached_tokens_have_their_price() -> None:
    (price,) = parse_prices("2/10/0.5").values()
    assert price == Price(2, 10, 0.5)
    reply = Reply("x", prompt_tokens=1_000_000, completion_tokens=100_000, cached_tokens=400_000)
    assert price.of(reply) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 1.0)
    assert Price(2, 10).of(reply) == pytest.approx(3.0)


def test_a_run_ends_at_its_total_and_goes_on_with_a_larger_one_without_paying_twice(tmp_path: Path) -> None:
    out = ["--runs", 3, "--workers", 1, "--out", tmp_path / "a"]
    with serving([json.dumps({"action": 1})]) as server:
        reach = ["--base-url", server.url, "--price", "2/10"]
        done = run(*out, *reach, "--budget-total", "calls=6")
        assert done.exit_code == 2 and "budget-total: calls of this run are used up (6)" in done.output
        assert len(server.asked) == 6
        done = run(*out, *reach)
        assert done.exit_code == 0, done.output
        assert len(server.asked) == 12, "4 questions an episode, none of them paid twice"
    assert "language models: 6 questions asked, 60 tokens in, 18 out, 0.0003 dollars" in done.output
    assert len((tmp_path / "a" / "exchanges.jsonl").read_text().splitlines()) == 12


def test_the_total_counts_money(tmp_path: Path) -> None:
    with serving(["yes"]) as server, connect(server.url, price="m=1/1", budget_total="dollars=0.00002") as connection:
        ask = connection.client.complete
        request = Request("m", (Turn("user", "?"),))
        assert [ask(request).text for _ in range(2)] == ["yes", "yes"]
        with pytest.raises(EndpointError, match="dollars of this run are used up"):
            ask(request)
        with pytest.raises(EndpointError, match="needs a price of 'free'"):
            ask(Request("free", request.turns))


def test_sixteen_episodes_are_in_flight_by_default(tmp_path: Path) -> None:
    """100 questions of 0.2 s would take 20 s one after the other."""
    with serving(lambda asked: Says(json.dumps({"action": 1}), wait=0.2)) as server:
        begin = time.perf_counter()
        done = run("--runs", 25, "--base-url", server.url, "--out", tmp_path / "a")
        seconds = time.perf_counter() - begin
    assert done.exit_code == 0, done.output
    assert len(server.asked) == 100 and seconds < 9
