"""Whole evaluations through the command line, against a scripted endpoint on the loopback."""

from __future__ import annotations

import json
import re
import threading

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.registry import load_game
from collab_overcooked.runner.records import read_records

pytest.importorskip("openai", reason="needs the extra llm")

KEY = "sk-secret-0123456789"
SPEC = "all=llm:scripted?agent=choose,order=game"
SMALL = ["evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--gamma", "0.25", "--no-report"]


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text])


def choose(asked):
    """An answer that depends on the question alone."""
    text = asked["messages"][-1]["content"]
    return json.dumps({"action": 1 + len(text) % min(3, len(re.findall(r"^\d+\. ", text, re.MULTILINE)))})


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def records(folder):
    return (folder / "records.jsonl").read_bytes()


def test_a_run_is_stored_and_replayed_without_the_network(tmp_path, key):
    options = ["--team", SPEC, "--episodes", 3, "--price", "2/10", "--budget", "calls=50", "--workers", 3]
    with serving(choose) as server:
        done = run(*SMALL, *options, "--base-url", server.url, "--store", tmp_path / "s.jsonl", "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
        calls = len(server.asked)
    assert "at temperature 0 or with a fixed seed, the 3 episodes of a task may be identical" in done.stderr
    assert "Sample sizes" in done.stdout and "--repetitions counted counts them" in done.stdout
    assert "Cost and latency" in done.stdout
    assert calls > 3
    done = run(*SMALL, *options, "--replay", tmp_path / "s.jsonl", "--out", tmp_path / "b")  # the server is gone
    assert done.exit_code == 0, done.output
    assert records(tmp_path / "a") == records(tmp_path / "b")
    table = json.loads((tmp_path / "b" / "table.json").read_text())
    (cost,) = (row for card in table if card["game"] == "costs" for row in card["tables"][0]["rows"])
    assert cost["Model"] == "scripted" and cost["Episodes"] == 3 and cost["Dollars"] > 0
    assert "Tokens in" in (tmp_path / "b" / "table.md").read_text()


@pytest.mark.nightly
def test_a_comparison_holds_language_and_other_policies(tmp_path, key):
    spec = "llm:scripted?agent=choose,order=game"
    texts = [
        "compare",
        "--policies",
        "random",
        spec,
        "--games",
        "rush",
        "--episodes",
        1,
        "--workers",
        2,
        "--no-crossplay",
    ]
    store = tmp_path / "s.jsonl"
    with serving(choose) as server:
        done = run(*texts, "--base-url", server.url, "--store", store, "--price", "2/10", "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    assert "Cost and latency" in done.stdout and "language" in done.stdout
    values = json.loads((tmp_path / "a" / "report.json").read_text())
    spoken = next(entry for entry in values["games"][0]["policies"] if entry["policy"] == spec)
    assert spoken["kind"] == "language" and spoken["milliseconds"] > 0
    assert values["costs"]["tables"][0]["rows"][0]["Dollars"] > 0
    assert "Language models" in (tmp_path / "a" / "report.html").read_text()
    done = run(*texts, "--replay", store, "--out", tmp_path / "b")  # the server is gone
    assert done.exit_code == 0, done.output
    again = json.loads((tmp_path / "b" / "report.json").read_text())
    scores = [[policy["scores"] for policy in value["games"][0]["policies"]] for value in (values, again)]
    assert scores[0] == scores[1]


@pytest.mark.slow
def test_one_wrong_model_does_not_end_a_comparison(tmp_path, key):
    def half(asked):
        return choose(asked) if asked["model"] == "right" else Says("no such model", 404)

    specs = [f"llm:{name}?agent=choose" for name in ("wrong", "right")]
    texts = ["compare", "--games", "rush", "--episodes", 1, "--workers", 2, "--no-crossplay", "--policies"]
    with serving(half) as server:
        done = run(*texts, *specs, "--base-url", server.url, "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
        assert done.stderr.count("no such model") == 2 and "the others go on" in done.stderr  # two settings
        values = json.loads((tmp_path / "a" / "report.json").read_text())
        assert [policy["policy"] for policy in values["games"][0]["policies"]] == specs[1:]
        done = run(*texts, specs[0], "--base-url", server.url, "--out", tmp_path / "b")
        assert done.exit_code == 2 and "no such model" in done.stderr


def test_keys_are_nowhere(tmp_path, key):
    with serving(lambda asked: choose(asked) + f" my key is {KEY}") as server:
        team = ["--team", "all=llm:scripted?agent=choose,answer=text"]
        done = run(
            *SMALL[:-1], *team, "--base-url", server.url, "--store", tmp_path / "s.jsonl", "--out", tmp_path / "a"
        )
        assert done.exit_code == 0, done.output
    written = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 9  # lock and exchanges of the run among them
    for text in [*written, done.output]:
        assert KEY not in text


def test_an_endpoint_that_dies_ends_the_run_and_the_same_command_goes_on(tmp_path, key):
    lock, count = threading.Lock(), [0]

    def dying(asked):
        with lock:
            count[0] += 1
        return choose(asked) if count[0] <= 16 else Says(f"out of money: {KEY}", 402)

    out = ["--team", SPEC, "--episodes", 4, "--workers", 2, "--out", tmp_path / "a"]
    with serving(dying) as server:
        texts = [*SMALL, *out, "--base-url", server.url]
        done = run(*texts)
        assert (
            done.exit_code == 2
            and "status 402" in done.output
            and "Traceback" not in done.output
            and KEY not in done.output
        )
        kept = records(tmp_path / "a").splitlines()
        assert 1 <= len(kept) < 4
        server.script = choose
        done = run(*texts)
        assert done.exit_code == 0, done.output
    assert set(kept) <= set(records(tmp_path / "a").splitlines())
    assert len(records(tmp_path / "a").splitlines()) == 4


def test_passing_troubles_leave_no_trace(tmp_path, key):
    troubles = iter([Says("", 429, {"Retry-After": "0"}), Says("", 500), Says("x", cut=True), Says(body="{")])
    lock = threading.Lock()

    def shaky(asked):
        with lock:
            if asked["messages"][-1]["content"] not in seen:
                seen.add(asked["messages"][-1]["content"])
                return next(troubles, choose(asked))
            return choose(asked)

    seen: set[str] = set()
    folders = []
    for name, script in (("shaky", shaky), ("calm", choose)):
        with serving(script) as server:
            out = tmp_path / name
            done = run(*SMALL, "--team", SPEC, "--base-url", server.url, "--workers", 1, "--out", out)
            assert done.exit_code == 0, done.output
            folders.append([json.loads(line) for line in records(out).splitlines()])
    for one, other in zip(*folders, strict=True):
        assert one["steps"] == other["steps"]


def test_a_replay_that_lacks_an_answer_says_so(tmp_path, key):
    with serving(choose) as server:
        out = ["--base-url", server.url, "--store", tmp_path / "s.jsonl", "--out", tmp_path / "a"]
        assert run(*SMALL, "--team", SPEC, *out).exit_code == 0
    other = "all=llm:scripted?agent=choose,memory=1,helper=on"
    done = run(*SMALL, "--team", other, "--replay", tmp_path / "s.jsonl", "--out", tmp_path / "b")
    assert done.exit_code == 2 and "contains no reply to a request" in done.output


def test_cuisineworld_is_dispatched(tmp_path, key):
    texts = ["evaluate", "cuisineworld", "--levels", "0", "--agents", "2", "--alphas", "1.0", "--episodes", "1"]
    with serving(lambda asked: "goto_agent0_storage0\ngoto_agent1_storage0") as server:
        reach = ["--base-url", server.url, "--budget", "calls=3"]
        done = run(*texts, "--team", "all=llm:m", *reach, "--out", tmp_path / "a")
        assert done.exit_code == 3, done.output
    assert "nothing was measured: all 1 episodes were cut short" in done.stderr
    assert "Cost and latency" in (tmp_path / "a" / "report.html").read_text()
    assert len(server.asked) == 3


def test_a_chef_is_asked_in_the_papers_states(tmp_path, key):
    def chef(asked):
        return json.dumps(
            {"analysis": "", "plan": "request('pickup(egg,ingredient_dispenser)')", "say": "An egg, please."}
        )

    texts = ["evaluate", "initiations", "--tasks", "boiled_egg", "--episodes", "1", "--no-report", "--price", "1/1"]
    with serving(chef) as server:
        team = ["--team", "agent_0=llm:m?recipe=rearranged"]
        done = run(*texts, *team, "--base-url", server.url, "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    asked = [asked["messages"][-1]["content"] for asked in server.asked]  # side by side, so in any order
    first, second = sorted(asked, key=lambda text: "1. Pick up egg from ingredient_dispenser." not in text)
    assert "1. Pick up egg from ingredient_dispenser." in first and "1. Place egg on a counter." in second
    limit = load_game("CollabOvercooked-v0", task="boiled_egg").max_cycles
    assert all(f" of {limit}" in message for message in asked)
    played = read_records(tmp_path / "a")
    assert [record.accounts["agent_0"].calls for record in played] == [1, 1]
    table, due, _, cost = json.loads((tmp_path / "a" / "table.json").read_text())
    assert due["tables"][1]["rows"][0]["right %"] == 0.5
    kinds = next(entry["rows"] for entry in table["tables"] if entry["title"] == "Initiations")
    assert [row["Conversations"] for row in kinds] == [1, 0, 1, 0, 0]  # right, repetitive
    (row,) = cost["tables"][0]["rows"]
    assert (row["Episodes"], row["Calls"]) == (2, 1)


def test_rush_is_taught_by_a_model(tmp_path, key):
    def answer(asked):
        text = asked["messages"][0]["content"]
        return "Share the orders." if "You are the teacher" in text else choose(asked)

    texts = ["evaluate", "rush", "--domain", "alien", "--scenario", "easy", "--runs", "1", "--no-report"]
    with serving(answer) as server:
        team = ["--team", "agent_0=llm:small", "agent_1=llm:other", "--teacher", "teacher_group:llm:big"]
        done = run(*texts, *team, "--base-url", server.url, "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    played = read_records(tmp_path / "a")
    assert [record.feedback for record in played] == [[], *[["Share the orders."] * 2] * 2]
    assert {asked["model"] for asked in server.asked} == {"small", "other", "big"}
    table = json.loads((tmp_path / "a" / "table.json").read_text())
    models = [row["Model"] for card in table if card["game"] == "costs" for row in card["tables"][0]["rows"]]
    assert sorted(models) == ["big", "other", "small"]


def test_a_model_that_only_teaches_is_asked_at_the_endpoint_that_was_named(tmp_path, key, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # where nobody listens
    texts = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--no-report", "--team", "all=greedy"]
    with serving(lambda asked: "Share the orders.") as server:
        reach = ["--base-url", server.url, "--price", "2/10"]
        done = run(*texts, "--teacher", "none,teacher_group:llm:big", *reach, "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
        assert {asked["model"] for asked in server.asked} == {"big"}
    played = read_records(tmp_path / "a")
    assert [record.feedback for record in played] == [[]] * 4 + [["Share the orders."] * 2] * 2
    assert json.loads((tmp_path / "a" / "config.json").read_text())["language"]["endpoint"] in server.url


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["--team", "all=greedy", "--store", "x"], "--store is for teams with llm policies"),
        (["--team", SPEC, "--budget", "coins=3"], "unknown limit"),
        (["--team", SPEC, "--budget", "dollars=3", "--base-url", "http://127.0.0.1:9"], "needs a price"),
        (
            ["--team", SPEC, "--budget", "dollars=3", "--price", "m=1/1", "--base-url", "http://127.0.0.1:9"],
            "of 'scripted'",
        ),
        (["--team", SPEC, "--price", "3"], "2.5/10"),
        (["--team", SPEC, "--base-url", "nowhere"], "base-url"),
        (
            ["--team", SPEC, "--base-url", "http://me:password@127.0.0.1:9/v1"],
            "must not contain user, password or query",
        ),
        (["--team", SPEC, "--rate", "0", "--base-url", "http://127.0.0.1:9"], "rate must be"),
        (["--team", SPEC, "--replay", "none.jsonl"], "no such file"),
        (["--team", SPEC, "--replay", "x", "--base-url", "http://127.0.0.1:9"], "only one of"),
        (["--team", SPEC, "--replay", "x", "--store", "y"], "only one of"),
        (["--team", SPEC, "--local", "none.gguf"], "No such file"),
        (["--team", "all=llm:m?memroy=3", "--base-url", "http://127.0.0.1:9"], "did you mean memory"),
        (["--team", "all=llm:m?agent=dispatch", "--base-url", "http://127.0.0.1:9"], "plays CuisineWorld-v0"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(tmp_path, key, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    done = run(*SMALL, *text, "--out", tmp_path / "a")
    assert done.exit_code == 2
    assert message in done.output and len(done.output.strip().splitlines()) == 1


def thinking(asked):
    """A model that thinks for 2,000 tokens before it answers, and has no more than it is given."""
    value = asked.get("max_tokens", 10**6)
    answer = json.dumps({"action": 1})
    if value < 2_000:
        return Says("", finish="length", usage=(10, value))
    return Says(answer, usage=(10, 2_000))


@pytest.mark.parametrize(("switch", "code"), [("", 0), (",tokens=512", 3)])
def test_a_reasoning_model_has_room_by_default_and_the_warning_names_the_setting(tmp_path, key, switch, code):
    texts = ["evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--episodes", "1", "--no-report"]
    with serving(thinking) as server:
        team = ["--team", f"all=llm:m?agent=choose{switch}"]
        done = run(*texts, *team, "--max-unusable", 0, "--base-url", server.url, "--out", tmp_path / "a")
    assert done.exit_code == code, done.output
    assert all(asked.get("max_tokens", 0) == (512 if switch else 0) for asked in server.asked)
    warned = "answers were cut off (finish_reason length, thoughts count): raise tokens=512 or write tokens=0"
    assert (warned in done.stderr) == bool(switch)
    assert ("max_tokens" in server.asked[0]) == bool(switch)
