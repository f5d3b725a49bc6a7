"""What a whole run spends: bounded, summed up, kept, and as fast as its endpoint allows."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import SMALL, CliRunner, run_small
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.cli.evaluate import language_models
from collab_overcooked.cli.options import LlmOptions
from collab_overcooked.policies.llm.budget import Price, parse_prices
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointError, Reply, Request
from collab_overcooked.policies.llm.store import read_exchanges
from collab_overcooked.runner.records import read_records

pytest.importorskip("openai", reason="needs the extra llm")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


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
        done = run_small(*out, *reach, "--budget-total", "calls=6")
        assert done.exit_code == 2 and "budget-total: calls of this run are used up (6)" in done.output
        assert len(server.asked) == 6
        for total, asked in ((6, 6), (9, 9), (9, 9)):
            done = run_small(*out, *reach, "--budget-total", f"calls={total}")
            assert done.exit_code == 2 and len(server.asked) == asked, "what the folder has spent counts"
        done = run_small(*out, *reach, "--budget-total", "dollars=0.0003")
        assert done.exit_code == 2 and len(server.asked) == 9 and "dollars of this run are used up" in done.output
        done = run_small(*out, *reach)
        assert done.exit_code == 0, done.output
        assert len(server.asked) == 12, "4 questions an episode, none of them paid twice"
    assert "language models: 3 questions asked, 30 tokens in, 9 out, 0.000" in done.output
    assert len((tmp_path / "a" / "exchanges.jsonl").read_text().splitlines()) == 12


def test_a_resumed_run_has_spent_what_settings_priced(tmp_path: Path) -> None:
    words = [*SMALL[:-1], "all=llm:m?memory=off,tokens=512,price=2/10", "--workers", "1", "--out", str(tmp_path / "a")]
    with serving([json.dumps({"action": 1})]) as server:
        words += ["--runs", "2", "--base-url", server.url, "--budget-total"]
        done = CliRunner().invoke(app, [*words, "calls=4"])
        assert done.exit_code == 2 and len(server.asked) == 4, done.output
        done = CliRunner().invoke(app, [*words, "dollars=0.0002"])
    assert done.exit_code == 2 and len(server.asked) == 4, done.output
    assert "budget-total: dollars of this run are used up (0.0002)" in done.output


def test_what_a_store_answers_costs_a_resumed_run_nothing(tmp_path: Path) -> None:
    request = Request("m", (ChatMessage("user", "?"),))
    with serving(["yes"]) as server:
        for name in "ab":
            reach = {"store": tmp_path / "s.jsonl", "keep": tmp_path / f"{name}.jsonl", "price": "2/10"}
            with connect(server.url, **reach) as client:
                client.complete(request)
    assert len(server.asked) == 1
    for name, calls in (("a", 1), ("b", 0)):
        with connect(server.url, keep=tmp_path / f"{name}.jsonl") as client:
            assert client.earlier.spent()["calls"] == calls
            assert client.earlier.spent()["dollars"] == pytest.approx(calls * 5e-5)


@pytest.mark.parametrize("total", ["tokens=8000", "dollars=0.008"])
def test_answers_without_a_maximum_length_reserve_tokens(total: str) -> None:
    """Requests that do not fit are not sent, and the error says why."""
    turns = (ChatMessage("user", "?"),)
    with serving(["yes"]) as server, connect(server.url, price="m=1/1", budget_total=total) as client:
        with pytest.raises(EndpointError, match="without `tokens` it reserves 8,192 for its answer"):
            client.complete(Request("m", turns))
        assert not server.asked and client.complete(Request("m", turns, max_tokens=100)).text == "yes"


def test_the_total_counts_money(tmp_path: Path) -> None:
    with serving(["yes"]) as server, connect(server.url, price="m=1/1", budget_total="dollars=0.00002") as client:
        ask = client.complete
        request = Request("m", (ChatMessage("user", "?"),), max_tokens=3)
        assert [ask(request).text for _ in range(2)] == ["yes", "yes"]
        with pytest.raises(EndpointError, match="dollars of this run are used up"):
            ask(request)
        with pytest.raises(EndpointError, match="needs a price of 'free'"):
            ask(Request("free", request.turns))


@pytest.mark.parametrize("total", ["calls=5", "tokens=600", "dollars=0.0006"])
def test_requests_in_flight_reserve_what_they_may_cost(total: str) -> None:
    """Sixteen at a time spend no more than one after the other."""
    begun = threading.Barrier(5)
    answer = Says("yes", usage=(20, 100, 0), wait=lambda: begun.wait(60))
    request = Request("m", (ChatMessage("user", "?" * 60),), max_tokens=100)
    outcomes: list[str] = []

    def ask(client: Any) -> None:
        try:
            outcomes.append(client.complete(request).text)
        except EndpointError as error:
            outcomes.append(str(error)[:12])

    with serving(lambda asked: answer) as server, connect(server.url, price="m=1/1", budget_total=total) as client:
        threads = [threading.Thread(target=ask, args=(client,)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count("yes") == len(server.asked) == 5 and outcomes.count("budget-total") == 11
        spent = client.usage.spent()
        assert (spent["calls"], spent["tokens"]) == (5, 600) and spent["dollars"] == pytest.approx(0.0006)


def test_attempts_that_failed_are_calls(tmp_path: Path) -> None:
    answers = iter([Says("down", 500)])
    with serving(lambda asked: next(answers, Says(json.dumps({"action": 1})))) as server:
        done = run_small("--runs", 1, "--workers", 1, "--base-url", server.url, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    (record,) = read_records(tmp_path / "a")
    accounts = record.accounts.values()
    assert sum(account.attempts or account.calls for account in accounts) == len(server.asked) == 5
    assert sum(account.calls for account in accounts) == 4


def test_cached_tokens_are_paid_at_their_price_and_told(tmp_path: Path) -> None:
    with serving([Says(json.dumps({"action": 1}), usage=(1000, 100, 800))]) as server:
        done = run_small("--runs", 1, "--base-url", server.url, "--price", "2/10/0.5", "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    asked = len(server.asked)
    dollars = asked * (200 * 2 + 800 * 0.5 + 100 * 10) / 1e6
    message = (
        f"{asked} questions asked, {asked}000 tokens in ({asked * 800} of them cached), {asked}00 out, {dollars:.4f}"
    )
    assert message in done.output
    (record,) = read_records(tmp_path / "a")
    assert sum(account.dollars for account in record.accounts.values()) == pytest.approx(dollars)


def test_a_comparison_ends_at_its_total(tmp_path: Path) -> None:
    texts = ["compare", "--games", "rush", "--policies", "llm:m?memory=off", "--episodes", "1", "--no-crossplay"]
    texts += ["--workers", "1", "--budget-total", "calls=3", "--out", str(tmp_path / "a")]
    with serving([json.dumps({"action": 1})]) as server:
        done = CliRunner().invoke(app, [*texts, "--base-url", server.url])
    assert done.exit_code == 2 and "calls of this run are used up" in done.output, done.output
    assert "the others go on" not in done.output and len(server.asked) == 3


def test_what_was_said_stands_in_the_run_folder_whatever_it_came_from(tmp_path: Path) -> None:
    """Without a store, with one elsewhere, and when a store answers alone."""
    with serving([json.dumps({"action": 1})]) as server:
        ways = {"plain": [], "stored": ["--store", tmp_path / "s.jsonl"]}
        for name, way in ways.items():
            done = run_small("--runs", 1, "--base-url", server.url, *way, "--out", tmp_path / name)
            assert done.exit_code == 0, done.output
    assert run_small("--runs", 1, "--replay", tmp_path / "s.jsonl", "--out", tmp_path / "replayed").exit_code == 0
    for name in (*ways, "replayed"):
        (record,) = read_records(tmp_path / name)
        links = [link for step in record.steps for exchange in step.exchanges for link in exchange]
        kept = read_exchanges(tmp_path / name / "exchanges.jsonl", links)
        assert len(links) == len(set(links)) == 4 and set(kept) == set(links)
        assert {exchange.reply.text for exchange in kept.values()} == {'{"action": 1}'}


class Together:
    """Holds every answer back until as many questions wait as may be in flight, or all are asked."""

    def __init__(self, in_flight: int, questions: int) -> None:
        self.in_flight, self.left = in_flight, questions
        self.waiting, self.most, self.batch = 0, 0, 0
        self.changed = threading.Condition()

    def __call__(self, asked: Any) -> Says:
        return Says(json.dumps({"action": 1}), wait=self.wait)

    def wait(self) -> None:
        with self.changed:
            self.waiting, self.left, batch = self.waiting + 1, self.left - 1, self.batch
            self.most = max(self.most, self.waiting)
            if self.waiting == self.in_flight or not self.left:
                self.waiting, self.batch = 0, batch + 1
                self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.batch > batch, timeout=120), "not asked side by side"


def test_sixteen_questions_are_in_flight(tmp_path: Path) -> None:
    """Eight episodes in which two seats decide on the same moment."""
    texts = ["evaluate", "overcooked", "--layouts", "cramped_room", "--max-cycles", "1", "--no-report"]
    texts += ["--set", "action_level=medium", "--team", "all=llm:m?memory=off,manual=off", "--workers", "8"]

    def play(model: Any, folder: Path) -> list[Any]:
        with serving(model) as server:
            done = CliRunner().invoke(app, [*texts, "--base-url", server.url, "--episodes", "48", "--out", str(folder)])
        assert done.exit_code == 0 and len(server.asked) == 96, done.output
        return [json.loads(line)["steps"] for line in (folder / "records.jsonl").read_text().splitlines()]

    together = Together(16, 96)
    steps = play(together, tmp_path / "together")
    assert together.most == 16
    assert steps == play(lambda asked: json.dumps({"action": 1}), tmp_path / "each")


def test_sixteen_episodes_are_in_flight_by_default(tmp_path: Path) -> None:
    options = LlmOptions(base_url="http://127.0.0.1:9/v1")
    for value, expected in ((None, 16), ("3", "3")):
        with language_models(options, value, tmp_path) as models:
            assert models.workers == expected and models.make("random").name == "random"
