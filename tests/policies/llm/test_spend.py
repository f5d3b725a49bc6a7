"""What a whole run spends: bounded, summed up, kept, and as fast as its endpoint allows."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.cli.evaluate import language_models
from collab_overcooked.cli.options import LlmOptions
from collab_overcooked.evaluation.dry_run import upper_bounds
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.budget import Price, parse_prices
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointError, Reply, Request
from collab_overcooked.policies.llm.store import read_exchanges
from collab_overcooked.runner.records import read_records

pytest.importorskip("openai", reason="needs the extra llm")
SMALL = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--episodes", "1", "--no-report", "--set"]
SMALL += ["max_turns=1", "--team", "all=llm:m?memory=off,tokens=512"]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def run(*text: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in (*SMALL, *text)])


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
        for total, asked in ((6, 6), (9, 9), (9, 9)):
            done = run(*out, *reach, "--budget-total", f"calls={total}")
            assert done.exit_code == 2 and len(server.asked) == asked, "what the folder has spent counts"
        done = run(*out, *reach, "--budget-total", "dollars=0.0003")
        assert done.exit_code == 2 and len(server.asked) == 9 and "dollars of this run are used up" in done.output
        done = run(*out, *reach)
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
        done = run("--runs", 1, "--workers", 1, "--base-url", server.url, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    (record,) = read_records(tmp_path / "a")
    accounts = record.accounts.values()
    assert sum(account.attempts or account.calls for account in accounts) == len(server.asked) == 5
    assert sum(account.calls for account in accounts) == 4


def test_cached_tokens_are_paid_at_their_price_and_told(tmp_path: Path) -> None:
    with serving([Says(json.dumps({"action": 1}), usage=(1000, 100, 800))]) as server:
        done = run("--runs", 1, "--base-url", server.url, "--price", "2/10/0.5", "--out", tmp_path / "a")
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
            done = run("--runs", 1, "--base-url", server.url, *way, "--out", tmp_path / name)
            assert done.exit_code == 0, done.output
    assert run("--runs", 1, "--replay", tmp_path / "s.jsonl", "--out", tmp_path / "replayed").exit_code == 0
    for name in (*ways, "replayed"):
        (record,) = read_records(tmp_path / name)
        links = [link for step in record.steps for exchange in step.exchanges for link in exchange]
        kept = read_exchanges(tmp_path / name / "exchanges.jsonl", links)
        assert len(links) == len(set(links)) == 4 and set(kept) == set(links)
        assert {exchange.reply.text for exchange in kept.values()} == {'{"action": 1}'}


def test_a_dry_run_asks_nothing_and_counts_what_is_missing(tmp_path: Path) -> None:
    with serving([json.dumps({"action": 1})]) as server:
        reach = ["--base-url", server.url, "--out", tmp_path / "a"]
        price, limits = ["--price", "2/10"], ["--budget", "calls=5,dollars=1", "--budget-total", "dollars=2"]
        done = run("--runs", 3, *reach, *price, *limits, "--dry-run")
        assert done.exit_code == 0, done.output
        assert not server.asked and not (tmp_path / "a").exists()
        assert bounds_of(done.stdout) == [3, 12]
        assert "Limits set by the budgets: 15 calls, 2 dollars." in " ".join(done.stdout.split())
        done = run("--runs", 3, "--workers", 1, *reach, "--budget-total", "calls=5")  # the second run is begun
        assert done.exit_code == 2
        assert bounds_of(run("--runs", 3, *reach, "--dry-run").stdout) == [2, 8]


@pytest.mark.parametrize("option", ["--budget", "--budget-total"])
def test_a_dry_run_refuses_a_budget_of_dollars_without_a_price(option: str) -> None:
    done = run(option, "dollars=1", "--dry-run")
    assert done.exit_code == 2 and "dollars needs a price of 'm'" in done.output


def test_a_dry_run_says_what_prompts_cost(tmp_path: Path) -> None:
    """From the prompts of the first states, as a run sends them; 12 decisions with answers of 100 tokens."""
    with serving([json.dumps({"action": 1})]) as server:
        run("--base-url", server.url, "--out", tmp_path / "a")
    lengths = [sum(len(turn["content"]) for turn in asked["messages"]) / 4 for asked in server.asked]
    row = run("--runs", 3, "--price", "2/10", "--dry-run").stdout.splitlines()
    (cells,) = (line.split() for line in row if "llm:m?memory=off" in line)
    prompt, tokens, dollars = (float(cell.replace(",", "")) for cell in cells[-3:])
    assert prompt == pytest.approx(sum(lengths) / len(lengths), rel=0.1)
    assert tokens == pytest.approx(12 * (prompt + 100), abs=12)
    assert dollars == pytest.approx((12 * prompt * 2 + 1200 * 10) / 1e6, abs=0.01)


def test_one_that_commands_all_seats_is_counted_once() -> None:
    plan = plan_evaluation("cuisineworld", ["all=llm:m"], levels="0", agents=(3,), alphas=(1.5,), episodes=1)
    assert upper_bounds(plan, []) == {("llm:m", "dispatch"): (1, 60)}


def test_a_running_evaluation_extrapolates_from_what_it_has_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collab_overcooked.cli.progress.LOG_GAP", 0.0)
    with serving([json.dumps({"action": 1})]) as server:
        reach = ["--base-url", server.url, "--price", "2/10", "--workers", 1, "--out", tmp_path / "a"]
        assert run("--runs", 4, *reach, "--budget-total", "calls=5").exit_code == 2
        done = run("--runs", 4, *reach)
    assert done.exit_code == 0, done.output
    first = next(line for line in " ".join(done.output.split()).split("2 of 4 episodes, ")[1:])
    assert re.match(r"about 9 questions, 117 tokens, 0\.000[45] dollars in all, about 0 min left", first), done.output


def test_a_dry_run_counts_teachers(tmp_path: Path) -> None:
    texts = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--teacher", "teacher_group:llm:big"]
    done = CliRunner().invoke(app, [*texts, "--team", "all=greedy", "--dry-run", "--out", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    (row,) = (line.split() for line in done.stdout.splitlines() if "llm:big" in line)
    assert row[2] == "teacher" and row[4] == "2"  # after the first and the second of three episodes


def test_a_dry_run_of_a_comparison_has_a_row_for_each_suite(tmp_path: Path) -> None:
    texts = ["compare", "--games", "rush", "overcooked", "--policies", "greedy", "llm:m", "--price", "2/10"]
    done = CliRunner().invoke(app, [*texts, "--dry-run", "--out", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines() if "llm:m" in line] == ["rush", "overcooked"]
    assert not (tmp_path / "a").exists()


def test_a_dry_run_refuses_what_the_run_refuses(tmp_path: Path) -> None:
    texts = ["evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--team", "all=llm:m?rounds=2"]
    for more in (["--dry-run"], ["--base-url", "http://127.0.0.1:9/v1"]):
        done = CliRunner().invoke(app, [*texts, *more, "--out", str(tmp_path / "a")])
        assert done.exit_code == 2 and "the agent 'partner' has no switch 'rounds'" in done.output, done.output


def test_a_dry_run_without_models_is_refused() -> None:
    done = CliRunner().invoke(app, ["evaluate", "rush", "--team", "all=greedy", "--dry-run"])
    assert done.exit_code == 2 and "option --dry-run is for teams with llm policies" in done.output


def bounds_of(text: str) -> list[int]:
    """Return numbers of the row of a model: episodes, and decisions at most."""
    (row,) = (line.split() for line in text.splitlines() if "llm:m?memory=off" in line)
    return [int(cell.replace(",", "")) for cell in row[3:5]]


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
        with language_models(options, value, tmp_path) as (shared, _):
            assert shared["workers"] == expected and shared["make"] is not None
