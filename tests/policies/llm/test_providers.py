"""Models of several providers in one run, through the command line: hosted ones, and one from a file beside them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app, progress
from collab_overcooked.cli.app import TextConsole
from collab_overcooked.policies.llm import client
from collab_overcooked.policies.llm.exchange import EndpointConfig

pytest.importorskip("openai", reason="needs the extra llm")
SUITE = ["evaluate", "overcooked", "--layouts", "cramped_room", "--max-cycles", "1", "--set", "action_level=primitive"]
CHOICE = json.dumps({"action": 1})


def run(*text: Any, suite: list[str] = SUITE) -> Any:
    return CliRunner().invoke(app, [*suite, "--no-report", *map(str, text)])


def costs(folder: Path) -> dict[str, float | None]:
    """Return dollars by model."""
    (card,) = (card for card in json.loads((folder / "table.json").read_text()) if card["game"] == "costs")
    return {row["Model"].split(",")[0]: row["Dollars"] for row in card["tables"][0]["rows"]}


def test_two_providers_play_one_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", "sk-first-00000000")
    monkeypatch.setenv("SECOND_KEY", "sk-second-1111111")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving([CHOICE]) as first, serving([CHOICE]) as second:
        file = tmp_path / "second.yaml"
        file.write_text(
            f"model: two\nbase_url: {second.url}\nkey_variable: SECOND_KEY\nprice: 20/40\ntemperature: 0.7\n"
        )
        spec = f"llm:one?base_url={first.url},key_variable=FIRST_KEY,price=2/4,temperature=0.2"
        done = run("--team", f"agent_0={spec}", f"agent_1=llm:{file}", "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    assert set(first.keys) == {"Bearer sk-first-00000000"} and set(second.keys) == {"Bearer sk-second-1111111"}
    assert {(asked["model"], asked["temperature"]) for asked in first.asked} == {("one", 0.2)}
    assert {(asked["model"], asked["temperature"]) for asked in second.asked} == {("two", 0.7)}
    result = costs(tmp_path / "a")
    assert result["one"] == pytest.approx((10 * 2 + 3 * 4) / 1e6) and result["two"] == pytest.approx(result["one"] * 10)


class Stub:
    """Stands for a model from a file: another server's address."""

    url = ""
    opened: list[Path]

    def __init__(self, path: str, threads: int | None) -> None:
        self.base_url = self.url
        self.opened.append(Path(path))

    def close(self) -> None:
        """Close nothing."""


@pytest.mark.parametrize("default", ["local", "hosted"])
def test_a_model_from_a_file_plays_beside_a_hosted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default: str
) -> None:
    monkeypatch.setenv("HOSTED_KEY", "sk-hosted-0000000")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = tmp_path / "tiny.gguf"
    file.write_bytes(b"GGUF")
    with serving([CHOICE]) as hosted, serving([CHOICE]) as result:
        monkeypatch.setattr(Stub, "url", result.url)
        monkeypatch.setattr(Stub, "opened", [], raising=False)
        monkeypatch.setattr(client, "LocalServer", Stub)
        if default == "local":
            team = ["agent_0=llm:tiny", f"agent_1=llm:big?base_url={hosted.url},key_variable=HOSTED_KEY,price=2/4"]
            reach = ["--local", file]
        else:
            team = [f"agent_0=llm:tiny?local={file}", "agent_1=llm:big?price=2/4"]
            reach = ["--base-url", hosted.url, "--key-variable", "HOSTED_KEY"]
        done = run("--team", *team, *reach, "--out", tmp_path / "a")
        assert done.exit_code == 0, done.output
    assert Stub.opened == [file], "one server for the file, whatever the number of questions"
    assert {asked["model"] for asked in result.asked} == {"tiny"} and set(result.keys) == {"Bearer none"}
    assert {asked["model"] for asked in hosted.asked} == {"big"} and set(hosted.keys) == {"Bearer sk-hosted-0000000"}
    assert costs(tmp_path / "a")["tiny"] is None


def test_patience_follows_where_each_model_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stub, "url", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(Stub, "opened", [], raising=False)
    monkeypatch.setattr(client, "LocalServer", Stub)
    for value, expected in ((None, [1800, 120]), (7.0, [7, 7])):
        with client.connect("http://127.0.0.1:8/v1", timeout=value) as reached:
            reaches = (EndpointConfig(local="tiny.gguf"), None)
            assert [reached.transport_for(reach).retry_policy.timeout for reach in reaches] == expected


def test_giving_up_sooner_does_not_shorten_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a model from a file is named: in its settings, or on the command line."""
    monkeypatch.setattr(Stub, "url", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(Stub, "opened", [], raising=False)
    monkeypatch.setattr(client, "LocalServer", Stub)
    with client.connect("http://127.0.0.1:8/v1", give_up=5.0) as reached:
        patience = [reached.transport_for(reach).retry_policy for reach in (EndpointConfig(local="tiny.gguf"), None)]
    assert [(one.timeout, one.give_up) for one in patience] == [(1800, 5), (120, 5)]
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    with client.connect(local=tmp_path / "tiny.gguf", give_up=5.0) as reached:
        one = reached.transport_for(None).retry_policy
    assert (one.timeout, one.give_up) == (1800, 5)


def troubled() -> list[Says | str]:
    return [Says("the kitchen is full", 503, {"Retry-After": "0"}), CHOICE]


def test_retries_are_told_in_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LOG_GAP", 0.0)
    with serving(troubled()) as server:
        done = run("--team", "all=llm:m", "--base-url", server.url, "--workers", 1, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert "status 503: Error code: 503" in done.stderr and "the kitchen is full" in done.stderr
    assert "asking again in 1 s, attempt 2" in done.stderr
    assert "1 of 1 episodes" in done.stderr, "a log without a bar tells how far the run is"


def test_retries_are_told_beside_the_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = TextConsole(file=screen, force_terminal=True, soft_wrap=True, highlight=False, width=200)
    monkeypatch.setattr(progress, "ERR", console)
    monkeypatch.setitem(progress.say.__globals__, "ERR", console)
    with serving(troubled()) as server:
        done = run("--team", "all=llm:m", "--base-url", server.url, "--workers", 1, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    message = screen.getvalue()
    assert "the kitchen is full" in message and "asking again" in message
    assert message.index("episodes") < message.index("asking again") < message.rindex("episodes"), (
        "the bar goes on below it"
    )


def test_a_quota_that_is_used_up_ends_the_run_at_once(tmp_path: Path) -> None:
    with serving([Says("You exceeded your current quota", 429)]) as server:
        done = run("--team", "all=llm:m", "--base-url", server.url, "--workers", 1, "--out", tmp_path / "a")
    assert done.exit_code == 2 and "exceeded your current quota" in done.stderr
    assert len(server.asked) <= 2, "each seat's first question, none twice"
