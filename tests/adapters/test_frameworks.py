"""Other frameworks play our jobs through the adapters, each in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.api import Decision, Silent

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {
    "inspect": ["inspect-ai==0.3.285"],
    "textarena": ["textarena==0.7.4"],
    "skyrl": ["skyrl-gym==0.4.0"],
    "mcp": ["mcp==2.3.0"],
    "datasets": ["datasets==5.2.0", "pyarrow==26.0.1"],
    "providers": ["litellm==1.106.2"],
}


class First(Silent):
    """Always takes the first legal action, as the scripts' answers do."""

    name = "first"

    def reset(self, seat, info, seed):
        pass

    def act(self, seen):
        return Decision(action=next(iter(seen.legal_actions.values())))


@pytest.fixture(scope="module")
def expected():
    """Metrics of the first job, with the first legal action in the open seat."""
    from collab_overcooked.policies.registry import make_policy

    team = ["agent_0=llm:model?agent=choose", "agent_1=greedy"]
    job = plan_evaluation("collab-capture", team, episodes=1).jobs[0]
    return job.run(lambda spec: First() if spec.startswith("llm:") else make_policy(spec))[0]["metrics"]


def play(name: str, *arguments: str) -> dict:
    """Install what an adapter needs, once, and run its script; skip if it cannot be installed."""
    folder = ROOT / ".cache" / "adapters" / name
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    if not stamp.is_file() or json.loads(stamp.read_text()) != NEEDS[name]:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        command = [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt"]
        made = subprocess.run([*command, *NEEDS[name], "--editable", f"{ROOT}[llm]"], capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"{', '.join(NEEDS[name])} cannot be installed: {made.stderr.strip().splitlines()[-1]}")
        stamp.write_text(json.dumps(NEEDS[name]))
    script = ROOT / "tests" / "adapters" / "frameworks" / f"play_{name}.py"
    settings = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba")}
    done = subprocess.run([python, script, *arguments], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.adapters
def test_inspect(tmp_path, expected):
    played = play("inspect", str(tmp_path / "records"), str(tmp_path / "log"))
    assert played["samples"] == 2
    assert played["values"]["turns"] == expected["turns"]
    assert played["values"]["outcome"] == float(expected["success_turns"] is not None)
    assert {"mean", "stderr"} == set(played["scores"]["turns"])
    records = [json.loads(line) for line in (tmp_path / "records" / "records.jsonl").read_text().splitlines()]
    assert records[0]["metrics"] == expected


@pytest.mark.adapters
def test_textarena():
    played = play("textarena")
    assert played["players"] == [0, 1]
    assert all(0 <= reward <= 1 for reward in played["rewards"].values())


@pytest.mark.adapters
def test_skyrl():
    played = play("skyrl")
    assert played["roles"] == ["user", "system", "user"]
    assert played["metrics"]["turns"] >= played["steps"] > 0


@pytest.mark.adapters
def test_mcp(expected):
    played = play("mcp")
    assert played["tools"] == ["act", "leave", "look"]
    assert json.loads(played["end"].removeprefix("The episode is over. ")) == expected
    assert played["manual"] > 100


@pytest.mark.adapters
def test_datasets(tmp_path):
    played = play("datasets", str(tmp_path))
    assert played == {"rows": 16, "agents": [0, 1], "length": 26 * 5 * 4}


@pytest.mark.adapters
def test_providers(tmp_path):
    """One run per provider, at servers of this machine that speak its protocol."""
    played = play("providers", str(tmp_path))
    paths = {
        "anthropic": "/v1/messages",
        "gemini": "/models/gemini-2.5-pro:generateContent",
        "bedrock": "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        "ollama_chat": "/api/chat",
        "hosted_vllm": "/v1/chat/completions",
    }
    assert set(played) == set(paths)
    for provider, run in played.items():
        assert run["exit_code"] == 0, run["output"]
        assert run["letters"] == ["A"] * 6 and run["tokens"] == [10] * 6, provider
        assert set(run["paths"]) == {paths[provider]}
        assert "sk-local-0123456789" not in run["files"]
    assert played["anthropic"]["marked"] and played["bedrock"]["marked"], "the rules are marked for the cache"
    assert not played["gemini"]["marked"] and played["anthropic"]["retried"] == 1


def test_trl_takes_the_seat_as_an_environment():
    from collab_overcooked.adapters.trl import KitchenSeat

    tools = [name for name in vars(KitchenSeat) if not name.startswith("_") and name not in ("reset", "get_reward")]
    assert tools == ["act", "look"]  # TRL finds tools on the class, by name
    seat = KitchenSeat()
    opening = seat.reset(team="agent_0=llm:x?agent=choose agent_1=greedy", episodes=1)
    assert "Actions:" in opening and seat.look() in opening
    while "The episode is over" not in (text := seat.act("1")):
        assert "Actions:" in text
    assert seat.get_reward() in (0.0, 1.0)
    assert seat.act("1") == "The episode is over."
