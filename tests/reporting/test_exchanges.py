"""What models were asked and said: kept beside records, named by their steps, and shown on the report's page."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import to_builtins
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.policies.llm.store import read_exchanges
from collab_overcooked.reporting import exchanges
from collab_overcooked.runner.records import read_records

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

pytest.importorskip("openai", reason="needs the extra llm")
KEY = "sk-secret-0123456789abcdef"
HURT = "<script>document.title='hurt'</script>"
SUITE = ["evaluate", "overcooked", "--layouts", "cramped_room", "--max-cycles", "2", "--set", "action_level=primitive"]


def answer(asked: dict[str, Any]) -> Says:
    """Think aloud beside the answer, with a script and the key in both."""
    message = {
        "role": "assistant",
        "content": json.dumps({"action": 1, "why": f"{HURT} {KEY}"}),
        "reasoning_content": f"Hm. {HURT}\x1b[31m",
    }
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 321, "completion_tokens": 12}
    return Says(body=json.dumps({"choices": [choice], "usage": usage}))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with two steps of two models, one of them described by a file."""
    folder = tmp_path_factory.mktemp("run")
    agent = folder / "agent.yaml"
    with pytest.MonkeyPatch.context() as patch, serving(answer) as server:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("TEAM", "secret-team-9876")
        agent.write_text(
            f"model: big\nbase_url: {server.url}\ntemperature: 0.5\ntop_p: 0.9\neffort: low\ntokens: 99\nseed: 7\n"
            "price: 2/10\nbody: {service_tier: flex}\nheaders: {X-Team: $TEAM, X-Plain: said-openly}\n"
        )
        texts = [*SUITE, "--team", f"agent_0=llm:{agent}", "agent_1=llm:small", "--base-url", server.url]
        done = CliRunner().invoke(app, [*texts, "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    return folder / "out"


def links_of(step: Any) -> list[str]:
    return [link for exchange in step.exchanges for link in exchange]


def test_every_step_names_its_exchanges(run: Path) -> None:
    record, _ = read_records(run)  # the other has the seats exchanged
    for step in record.steps:
        result = read_exchanges(run / "exchanges.jsonl", links_of(step))
        models = [result[link].request.model for link in links_of(step)]
        assert models == ["big", "small"] and [len(exchange) for exchange in step.exchanges] == [1, 1]
        for request, reply in ((exchange.request, exchange.reply) for exchange in result.values()):
            assert request.turns[0][0] == "system" and reply.prompt_tokens == 321
            assert json.loads(reply.text)["action"] == 1 and reply.reasoning.startswith("Hm. <script>")
    assert len(set(links_of(record.steps[0]) + links_of(record.steps[1]))) == 4
    exchange = read_exchanges(run / "exchanges.jsonl", links_of(record.steps[0])[:1]).popitem()[1]
    lines = [json.loads(line) for line in (run / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()]
    request = next(line["request"] for line in lines if line["key"] == exchange.key)
    assert (request["temperature"], request["max_tokens"]) == (0.5, 99)
    assert request["body"] == {"top_p": 0.9, "reasoning_effort": "low", "service_tier": "flex"}


def test_no_secret_is_in_the_folder(run: Path) -> None:
    for path in filter(Path.is_file, run.iterdir()):
        text = path.read_text(encoding="utf-8")
        assert KEY not in text and "0123456789" not in text and "secret-team" not in text, path.name
    assert "said-openly" not in (run / "config.json").read_text() + (run / "report.html").read_text()


def test_settings_of_a_file_belong_to_the_run(run: Path) -> None:
    """A file that was edited in between would mix two agents in one run."""
    file = run.parent / "agent.yaml"
    before = file.read_text()
    url = re.search(r"base_url: (\S+)", before)
    assert url is not None
    texts = [*SUITE, "--team", f"agent_0=llm:{file}", "agent_1=llm:small", "--base-url", url[1], "--out", str(run)]
    file.write_text(before.replace("top_p: 0.9", "top_p: 0.8"))
    done = CliRunner().invoke(app, texts, env={"TEAM": "x"})
    file.write_text(before)
    assert done.exit_code == 2 and "body.top_p was 0.9, now 0.8" in done.output


def test_the_report_shows_endpoint_and_settings(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    section = page[page.index("<h2>Language models</h2>") :]
    text = html.unescape(re.sub("<[^>]+>", " ", section[: section.index("</dl>")]))
    endpoint = json.loads((run / "config.json").read_text())["language"]["endpoint"]
    for expected in (
        f"endpoint {endpoint}",
        "temperature 0.5",
        "tokens 99",
        "seed 7",
        "top p 0.9",
        "reasoning effort low",
        "service tier flex",
        "X-Team: $TEAM",
        "price 2/10 dollars per million tokens",
        "model small",
    ):
        assert expected in text, expected


def test_prompts_and_answers_are_in_the_page(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="exchanges">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    steps = [step for record in read_records(run) for step in record.steps]
    assert set(data["found"]) == {link for step in steps for link in links_of(step)}
    assert HURT not in page and len(data["texts"]) == len(set(data["texts"]))


@pytest.mark.browser
def test_prompts_and_answers_are_shown_as_text(run: Path, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(f"{(run / 'report.html').as_uri()}#0.1")
    page.locator("html[data-ready=yes]").wait_for()
    dom = page.content()
    assert "<title>hurt" not in dom and dom.count('<details class="question">') == 2
    displayed = dom[dom.index('<details class="question">') :]
    assert re.search("Question 1: (big|small), 321 tokens in, 12 out", displayed)
    assert html.escape(f"Hm. {HURT}", quote=False) in displayed
    assert html.escape(HURT, quote=False) in displayed[displayed.index("<strong>answer</strong>") :]


def test_a_page_has_room_for_so_many_exchanges(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, _ = read_records(run)
    displayed = [{"steps": to_builtins(record.steps)}]
    everything = exchanges.exchange_data(run, displayed)
    monkeypatch.setattr(exchanges, "MAX_CHARACTERS", sum(map(len, everything["texts"])) - 1)
    data = exchanges.exchange_data(run, displayed)
    assert 0 < len(data["found"]) < len(everything["found"]) == 4
    assert exchanges.exchange_data(run.parent, displayed) == {"texts": [], "found": {}}


def test_a_report_can_be_written_again_without_exchanges_or_settings(run: Path, tmp_path: Path) -> None:
    shutil.copy(run / "records.jsonl", tmp_path)
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "Language models</h2>" not in (tmp_path / "report.html").read_text()
    (tmp_path / "exchanges.jsonl").write_text("{}\n")
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2 and "line 1: not a stored exchange" in done.output
