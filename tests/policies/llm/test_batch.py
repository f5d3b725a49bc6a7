"""Questions sent as a batch: requests in OpenAI's format, replies from a file, the records of a live run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoints import Says, serving
from typer.testing import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.runner.records import read_records

pytest.importorskip("openai", reason="needs the extra llm")
ITEMS = ["evaluate", "questions", "--games", "CollabCapture-v0", "--parts", "paper", "--kinds", "fact"]
STATES = ["evaluate", "initiations", "--tasks", "boiled_egg", "--episodes", "2"]
Answer = Callable[[dict[str, Any]], Says]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def run(*text: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, text), "--no-report"], catch_exceptions=False)


def answer_batch(requests: Path, answers: Path, answer: Answer) -> list[dict[str, Any]]:
    """Do what a provider does with a file of requests; return their bodies."""
    asked = [json.loads(line) for line in requests.read_text().splitlines()]
    with answers.open("w") as file:
        for request in reversed(asked):  # in an order of its own
            says = answer(request["body"])
            response = {"status_code": says.status, "request_id": "r", "body": json.loads(says.bytes())}
            file.write(json.dumps({"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}))
            file.write("\n")
    assert {(request["method"], request["url"]) for request in asked} <= {("POST", "/v1/chat/completions")}
    assert len({request["custom_id"] for request in asked}) == len(asked)
    return [request["body"] for request in asked]


def without_seconds(folder: Path) -> str:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(entry) for key, entry in value.items() if key not in ("seconds", "latencies")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return json.dumps(strip(read_records(folder)))


def as_live(suite: list[str], team: list[str], answer: Answer, folder: Path) -> tuple[list[int], str]:
    """Play live and in batches; return the sizes of the batches, and the records, which must be the same."""
    with serving(answer) as server:
        done = run(*suite, "--team", *team, "--base-url", server.url, "--out", folder / "live")
        live = {json.dumps(asked, sort_keys=True) for asked in server.asked}
    texts = [*suite, "--team", *team, "--base-url", server.url, "--out", folder / "batch"]
    assert done.exit_code == 0, done.output
    sizes, replies, bodies = [], [], []
    while not sizes or sizes[-1]:
        requests, answers = folder / f"{len(sizes)}.jsonl", folder / f"{len(sizes)}-answers.jsonl"
        done = run(*texts, *replies, "--requests", requests)
        assert done.exit_code == 0, done.output
        assert not (folder / "batch" / "records.jsonl").exists()
        asked = answer_batch(requests, answers, answer)
        sizes.append(len(asked))
        bodies += asked
        if asked:
            replies = ["--answers", answers]
    done = run(*texts, *replies)
    assert done.exit_code == 0, done.output
    assert live == {json.dumps(body, sort_keys=True) for body in bodies}
    assert without_seconds(folder / "batch") == without_seconds(folder / "live")
    return sizes, without_seconds(folder / "live")


def test_questions_as_a_batch_give_the_records_of_a_live_run(tmp_path: Path) -> None:
    """Answers that cannot be read are asked for again in a second batch."""

    def stubborn(asked: dict[str, Any]) -> Says:
        return Says("who knows" if len(asked["messages"]) == 2 else "B", usage=(100, 7))

    sizes, _ = as_live(ITEMS, ["llm:m"], stubborn, tmp_path / "a")
    assert sizes == [6, 6, 0]
    sizes, records = as_live(ITEMS, ["llm:m?answer=text"], lambda asked: Says("A"), tmp_path / "b")
    assert sizes == [6, 0] and '"letter": "A"' in records


def test_initiations_as_a_batch_give_the_records_of_a_live_run(tmp_path: Path) -> None:
    plan = {"analysis": "", "plan": "request('pickup(egg, ingredient_dispenser)'); wait(1)", "say": "An egg, please."}
    team = ["agent_0=llm:m?temperature=0.7,intention=on,tokens=300"]
    sizes, records = as_live(STATES, team, lambda asked: Says(json.dumps(plan)), tmp_path)
    assert len(sizes) == 3 and sizes[0] == sizes[1] > 0, "the prediction, then the plan"
    assert "pickup(egg, ingredient_dispenser)" in records and "An egg, please." in records


def test_unsupported_features_are_left_out_of_the_next_batch(tmp_path: Path) -> None:
    def answer(asked: dict[str, Any]) -> Says:
        return Says("'temperature' is not supported", 400) if "temperature" in asked else Says("A")

    texts = [*ITEMS, "--team", "llm:m", "--out", tmp_path / "run"]
    assert run(*texts, "--requests", tmp_path / "a").exit_code == 0
    first = answer_batch(tmp_path / "a", tmp_path / "a2", answer)
    assert run(*texts, "--answers", tmp_path / "a2", "--requests", tmp_path / "b").exit_code == 0
    second = answer_batch(tmp_path / "b", tmp_path / "b2", answer)
    assert second == [{key: value for key, value in body.items() if key != "temperature"} for body in first]
    assert run(*texts, "--answers", tmp_path / "b2").exit_code == 0
    assert all(record["answer"]["letter"] == "A" for record in read_records(tmp_path / "run"))


def test_rejected_and_expired_requests(tmp_path: Path) -> None:
    """A request that is too long has its answer, which is none; one that expired is to be sent again."""
    texts = [*ITEMS, "--team", "llm:m", "--out", tmp_path / "run"]
    assert run(*texts, "--requests", tmp_path / "a").exit_code == 0
    left = ["too long", "expired"]

    def answer(asked: dict[str, Any]) -> Says:
        match left.pop() if left else "":
            case "too long":
                return Says("maximum context length exceeded", 400)
            case "expired":
                return Says("This request could not be executed before the completion window expired", 503)
        return Says("A")

    answer_batch(tmp_path / "a", tmp_path / "b", answer)
    done = run(*texts, "--answers", tmp_path / "b")
    assert done.exit_code == 2 and "answers: 1 requests have no usable reply" in done.output
    assert "--requests FILE" in done.output and not (tmp_path / "run" / "records.jsonl").exists()
    assert run(*texts, "--answers", tmp_path / "b", "--requests", tmp_path / "c").exit_code == 0
    assert len(answer_batch(tmp_path / "c", tmp_path / "d", lambda asked: Says("B"))) == 1
    assert run(*texts, "--answers", tmp_path / "d").exit_code == 0
    letters = [record["answer"]["letter"] for record in read_records(tmp_path / "run")]
    assert sorted(map(str, letters)) == ["A"] * 4 + ["B", "None"]


def test_a_live_run_goes_on_where_the_batch_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: Says("B")) as server:
        texts = [*ITEMS, "--team", "llm:m", "--base-url", server.url, "--out", tmp_path / "run"]
        assert run(*texts, "--requests", tmp_path / "a").exit_code == 0
        answers = ["who knows", *["A"] * 5]
        answer_batch(tmp_path / "a", tmp_path / "b", lambda asked: Says(answers.pop()))
        assert run(*texts, "--answers", tmp_path / "b").exit_code == 2 and not server.asked
        assert run(*texts).exit_code == 0
        assert len(server.asked) == 1
    assert sorted(record["answer"]["letter"] for record in read_records(tmp_path / "run")) == ["A"] * 5 + ["B"]


@pytest.mark.parametrize(
    "suite, texts, reply",
    [
        (ITEMS, ["--answers", "absent.jsonl"], "absent.jsonl"),
        (ITEMS, ["--answers", "BROKEN"], "line 1: not a reply of a batch: custom_id: is missing"),
        (ITEMS, ["--answers", "OTHER"], "none of the 1 replies belongs to a request of this run"),
        (ITEMS, ["--requests", "x", "--replay", "y"], "give only one of requests or answers, and replay"),
        (["evaluate", "overcooked"], ["--requests", "x"], "each request of the suite overcooked depends"),
    ],
)
def test_bad_batches_are_one_line(suite: list[str], texts: list[str], reply: str, tmp_path: Path) -> None:
    (tmp_path / "BROKEN").write_text('{"id": 5}\n')
    (tmp_path / "OTHER").write_text('{"custom_id": "q-1", "response": null}\n')
    texts = [str(tmp_path / word) if word.isupper() else word for word in texts]
    done = run(*suite, "--team", "all=llm:m", *texts, "--out", tmp_path / "run")
    assert done.exit_code == 2 and reply in done.output and "Traceback" not in done.output
    assert "option --requests is for teams with llm" in run(*ITEMS[:4], "--team", "random", "--requests", "x").output


def test_the_former_name_of_the_ways_of_answering_is_read(tmp_path: Path) -> None:
    results = [*ITEMS[:-1], "own"]
    done = run(*results, "--team", "random", "--answers", "play", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert run(*results, "--team", "random", "--answers", "words", "--out", tmp_path / "run").exit_code == 2
