"""Other frameworks play our matches through the adapters, each in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from adapters.frameworks import greedy
from support.locked import torch_constraint

from collab_overcooked.adapters.results import outcome_of
from collab_overcooked.runner.records import key_of, read_records

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {
    "inspect": ["inspect-ai==0.3.285"],
    "mcp": ["mcp==2.3.0"],
    "datasets": ["datasets==5.2.0", "pyarrow==26.0.1"],
    "providers": ["litellm==1.106.2"],
    "verifiers": ["verifiers==0.4.0", "uv"],
    "openenv": ["openenv==0.10.0"],
    "trl": ["trl==1.16.0", "transformers==5.24.0"],
}
RESULTS = "ADAPTER_RESULTS"  # variable with the file that the documentation's table is made from
DISTRIBUTIONS = {name: ROOT / "integrations" / name for name in ("openenv", "verifiers")}


@pytest.fixture(scope="module")
def greedy_records():
    """Records of ten episodes with greedy in all seats."""
    return greedy.greedy_records()


def check_records(name: str, folder: Path, expected: list[dict]) -> None:
    """Compare a run folder with records of ``evaluate``, byte for byte but for costs; ``RESULTS`` notes the numbers."""
    played = sorted(read_records(folder), key=key_of)  # an unfinished folder has the order in which episodes ended
    assert [greedy.comparable(record) for record in played] == [greedy.comparable(record) for record in expected]
    if path := os.environ.get(RESULTS):
        file = Path(path)
        kept = json.loads(file.read_text()) if file.exists() else {}
        kept["evaluate"] = summary(expected)
        kept[name] = {"versions": [need for need in NEEDS.get(name, ()) if "==" in need]} | summary(played)
        file.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def summary(records: list[dict]) -> dict:
    """Return the numbers that the documentation shows side by side."""
    turns = sum(record.metrics["turns"] for record in records)
    outcome = sum(map(outcome_of, records))
    return {"episodes": len(records), "outcome": outcome / len(records), "turns": turns / len(records)}


def environment(name: str) -> Path:
    """Install what an adapter needs, once; skip if it cannot be installed."""
    folder = ROOT / ".cache" / "adapters" / name
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    if not stamp.is_file() or json.loads(stamp.read_text()) != NEEDS[name]:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        command = [python, "-m", "pip", "install", "--quiet", "--constraint", torch_constraint(folder)]
        actual = ["--editable", f"{ROOT}[llm]", *(["--editable", DISTRIBUTIONS[name]] if name in DISTRIBUTIONS else [])]
        created = subprocess.run([*command, *NEEDS[name], *actual], capture_output=True, text=True)
        if created.returncode:
            pytest.skip(f"{', '.join(NEEDS[name])} cannot be installed: {created.stderr.strip().splitlines()[-1]}")
        stamp.write_text(json.dumps(NEEDS[name]))
    return folder


def play(name: str, *arguments: str) -> dict:
    """Run the script of an adapter in its environment; returns what it prints."""
    folder = environment(name)
    python = folder / "bin" / "python"
    script = ROOT / "tests" / "adapters" / "frameworks" / f"play_{name}.py"
    settings = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba"), "PYTHONPATH": str(ROOT / "tests")}
    settings["PATH"] = f"{folder / 'bin'}{os.pathsep}{settings['PATH']}"  # verifiers looks for uv there
    done = subprocess.run([python, script, *arguments], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_the_kept_numbers_are_those_of_the_same_episodes_now(greedy_records):
    kept = json.loads((ROOT / "docs" / "results" / "adapters.json").read_text())
    assert kept["evaluate"] == summary(greedy_records), "measure them again: make test-adapters"


@pytest.mark.adapters
def test_inspect(tmp_path, greedy_records):
    played = play("inspect", str(tmp_path / "records"), str(tmp_path / "log"))
    check_records("inspect", tmp_path / "records", greedy_records)
    assert played["samples"] == 10
    assert [value["outcome"] for value in played["values"]] == [outcome_of(record) for record in greedy_records]
    assert {"mean", "stderr"} == set(played["scores"]["turns"])
    assert all(played["asked"].values()), "each role is asked"
    assert played["pictures"] > 0, "the log has pictures of states"
    extras = played["extras"]
    assert all(extra["value"]["unusable"] == 0 for extra in extras.values())
    assert all(extra["value"]["requests"] == extra["requests"] for extra in extras.values())
    assert extras["pictures"]["first"][:3] == [1, [], "none"] and extras["tools"]["first"][:3] == [0, ["act"], "any"]
    sampling = extras["sampling"]["first"][3]
    assert (sampling["temperature"], sampling["max_tokens"], sampling["top_p"]) == (0.5, 77, 0.9)
    assert sampling["response_schema"]["json_schema"]["required"] == ["action"] and sampling["seed"] > 0
    assert extras["questions"]["requests"] == 1 and extras["questions"]["value"]["outcome"] in (0, 1)


@pytest.mark.adapters
def test_mcp(tmp_path, greedy_records):
    """A client plays a seat beside greedy; a seat reads what it may know and no more."""
    played = play("mcp", str(tmp_path / "run"))
    check_records("mcp", tmp_path / "run", greedy_records)
    ends = [json.loads(end.removeprefix("The episode is over. ")) for end in played["ends"]]
    assert ends == [record.metrics for record in greedy_records]
    assert played["tools"] == ["act", "look"]
    assert played["resources"] == ["kitchen://manual", "kitchen://picture", "kitchen://recipe"]
    assert "has no recipe" in played["recipes"]["helper"] and "has no recipe" not in played["recipes"]["chef"]
    assert played["picture"] == ["image/png", "iVBORw0K"]


@pytest.mark.adapters
def test_verifiers(tmp_path, greedy_records):
    """Self-play trains both seats, a seat of another model is fixed, and a seat inside has no trace."""
    played = play("verifiers", str(tmp_path))
    assert [trace["seat"] for trace in played["inside"]] == ["agent_0"]
    assert {(trace["seat"], trace["model"], trace["trained"]) for trace in played["fixed"]} == {
        ("agent_0", "scripted", True),
        ("agent_1", "other", False),
    }
    assert len(played["self_play"]) == 20 and all(trace["trained"] for trace in played["self_play"])
    for trace in (*played["self_play"], *played["inside"], *played["fixed"]):
        assert trace["rewards"] == {"outcome": trace["metrics"]["outcome"]} and "turns" in trace["metrics"]
    check_records("verifiers", tmp_path / "records", greedy_records)


@pytest.mark.adapters
def test_openenv(tmp_path, greedy_records):
    """A client plays a seat, seeds are honoured, the page draws the seat, and clients cannot choose files."""
    played = play("openenv", str(tmp_path))
    (folder,) = tmp_path.glob("collab-escape-*")
    check_records("openenv", folder, greedy_records)
    outcomes = [outcome_of(record) for record in greedy_records]
    assert played["rewards"] == outcomes
    first, again, other = played["seeds"]
    assert first == again != other
    picture, text, button, timestep, tasks = played["web"]
    assert picture.startswith("<img") and text and button and timestep == 1 and tasks > 0
    assert played["page"] == 200
    assert "names a file or module of the server" in played["refused"]
    assert "exactly one seat must be open" in played["open"]


@pytest.mark.adapters
def test_openenv_validates():
    command = environment("openenv") / "bin" / "openenv"
    done = subprocess.run(
        [command, "validate", DISTRIBUTIONS["openenv"], "--level", "static"], capture_output=True, text=True
    )
    assert done.returncode == 0 and "Verdict: PASS" in done.stdout, done.stdout + done.stderr


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


@pytest.mark.nightly
@pytest.mark.adapters
def test_trl(tmp_path):
    """All commands of the page train a tiny model, whose rollouts are checked one by one, and give it a row."""
    played = play("trl", str(tmp_path))
    assert len(played["warm"]["norms"]) == 100 and played["warm"]["losses"][-1] < played["warm"]["losses"][0] / 2
    norms, rollouts = played["train"]["norms"], played["rollouts"]
    assert len(norms) == 2 and 0 <= norms[0] < float("inf") and 0 < norms[1] < float("inf"), "rewards differ in one"
    assert sorted({rollout["suite"] for rollout in rollouts}) == ["collab-escape", "rush"]
    assert len(rollouts) == 16 and any(rollout["calls"] > 1 for rollout in rollouts)
    for rollout in (*rollouts, *played["cut"]):
        assert rollout["paid"] == pytest.approx(sum(rollout["rewards"]), abs=1e-5)
        assert 0 < rollout["own"] <= rollout["tokens"]
        assert len(rollout["rewards"]) == max(1, rollout["calls"]) or not rollout["truncated"]
    assert all(rollout["truncated"] and rollout["tokens"] <= 60 for rollout in played["cut"])
    assert len({rollout["paid"] for rollout in played["cut"]}) == 1, "none is a success"
    assert "llm:trained" in played["board"] and played["asked"] > 0
