"""Every script of the repository runs with a tiny budget, and every target of the Makefile is one that make can run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from support.covers import first

from collab_overcooked.questions.items import read_questions

ROOT = Path(__file__).resolve().parents[2]
TINY = {"layouts": ["cramped_room", "grounded_coord_simple"], "seconds": 0.01, "batches": [2]}
SCRIPTS: dict[str, list[str]] = {  # with arguments that end them soon; OUT and FOLDER are the test's own
    "benchmarks/batched_play.py": ["--pool", "2", "--episodes", "2", "--steps", "20"],
    ".ci/release.py": ["--here", "--only", "core", "stats", "llm", "--out", "FOLDER"],
    ".ci/smoke.py": ["2"],
    "benchmarks/changing_results.py": "--kitchen split --notice 5 --seeds 1 --steps 12800 --out FOLDER".split(),
    "benchmarks/floors.py": ["FOLDER", "--games", "rush", "--out", "OUT"],
    "benchmarks/gpu.py": "--out OUT --device cpu --steps 25600".split(),
    "benchmarks/gradient_results.py": "--task features --seeds 1 --steps 6400 --out FOLDER".split(),
    "benchmarks/network_results.py": ["--seeds", "1", "--steps", "256", "--out", "FOLDER"],
    "benchmarks/partner_results.py": [
        *("kitchen_rush", "--steps", "600", "--seeds", "2", "--games", "2", "--out", "FOLDER", "--stage"),
        *("population", "e3t", "score", "table"),
    ],
    "benchmarks/people.py": ["1", "1"],
    "benchmarks/results_check.py": "--only baselines --samples 1 --seed 3".split(),
    "benchmarks/plan_study.py": ["FOLDER", "--scenes", "1", "--game", "CollabOvercooked-v0"],
    "benchmarks/peers/ours.py": [json.dumps(TINY)],
    "benchmarks/stalled_kitchens.py": "FOLDER --count 1 --steps 4 --planner planner:width=4".split(),
    "benchmarks/threads.py": "--games Overcooked-v0 --sizes 1 2 --seconds 0.01 --out OUT".split(),
    "benchmarks/v2_results.py": "--layout demo_cook_wide --method sp fcp --seeds 1 --steps 60000 --out FOLDER".split(),
    "benchmarks/time_to_score.py": ["--seeds", "1", "--steps", "256", "--out", "OUT"],
    "docs/trainers/sb3_supersuit.py": ["256"],
}
ELSEWHERE = {  # scripts that other tests or targets run
    "docs/films.py": "make docs",
    "benchmarks/train_results.py": "tests/baselines/test_commands.py",
    "benchmarks/against.py": "make bench-against",
    "benchmarks/make_tables.py": "tests/docs/test_docs_fresh.py",
    "benchmarks/peers/cogrid_cpu.py": "make bench-peers",
    "benchmarks/peers/jax_timing.py": "make bench-peers",
    "benchmarks/peers/jaxmarl_cpu.py": "make bench-peers",
    "benchmarks/peers/overcooked_ai.py": "make bench-peers",
    "benchmarks/peers/run.py": "make bench-peers",
    "docs/examples/beacon.py": "tests/docs/test_example_game.py",
    "docs/examples/level_replay.py": "tests/scripts/test_level_replay.py",
    "docs/examples/quota.py": "tests/docs/test_docs_fresh.py",
    "docs/examples/relay.py": "tests/docs/test_docs_fresh.py",
    "docs/examples/signal_game.py": "tests/evaluation/test_communication.py",
    "docs/examples/train_text.py": "tests/scripts/test_train_text.py",
    "docs/examples/train_trl.py": "tests/adapters/test_frameworks.py",
    "docs/facts.py": "tests/docs/test_docs_fresh.py",
    "docs/trainers/ippo.py": "tests/baselines/test_single_file.py",
    "docs/trainers/vdn.py": "tests/baselines/test_single_file.py",
}
IN_A_BROWSER = ("benchmarks/first_picture.py", "benchmarks/key_to_picture.py")  # measured runs, by hand
TRAINERS = (  # make test-trainers
    "agilerl_ippo",
    "benchmarl_mappo",
    "optuna_sweep",
    "rllib_ppo",
    "tianshou_dqn",
    "torchrl_ppo",
)
LONG = (
    "baselines",
    "network-results",
    "partner-results",
    "train-",
    "v2-results",
)  # targets that train for minutes to hours

MAKEFILE = "".join((ROOT / name).read_text("utf-8") for name in ("Makefile", "benchmarks/training.mk"))
TARGETS = sorted(
    {name for line in re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M) for name in line.split() if "$" not in name}
)


def python_scripts() -> set[str]:
    folders = (".ci", "benchmarks", "benchmarks/peers", "docs", "docs/examples", "docs/trainers")
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).glob("*.py")
        if not path.name.startswith("test_")
    }


def run(*command: str | Path, **environment: str) -> str:
    known = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | environment
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_every_script_is_run_by_a_test_or_a_target():
    trained = {f"docs/trainers/{name}.py" for name in TRAINERS}
    assert python_scripts() == SCRIPTS.keys() | ELSEWHERE.keys() | trained | {*IN_A_BROWSER}
    for command in ELSEWHERE.values():
        kind, _, name = command.partition(" ")
        assert name in TARGETS if kind == "make" else (ROOT / command).is_file(), command


LASTING = {  # which take long whatever their budget; other tests train and install by the same commands
    ".ci/release.py",
    ".ci/smoke.py",
    "benchmarks/changing_results.py",
    "benchmarks/floors.py",
    "benchmarks/gpu.py",
    "benchmarks/gradient_results.py",
    "benchmarks/network_results.py",
    "benchmarks/partner_results.py",
    "benchmarks/people.py",
    "benchmarks/time_to_score.py",
    "benchmarks/v2_results.py",
}


@pytest.mark.parametrize(
    "script", [pytest.param(s, marks=pytest.mark.nightly if s in LASTING else pytest.mark.slow) for s in SCRIPTS]
)
def test_script(script: str, tmp_path: Path):
    results = {"OUT": str(tmp_path / "out.json"), "FOLDER": str(tmp_path)}
    texts = [results.get(word, word) for word in SCRIPTS[script]]
    run(sys.executable, ROOT / script, *texts)
    if "OUT" in SCRIPTS[script]:
        assert json.loads((tmp_path / "out.json").read_text())


@pytest.mark.slow
def test_questions_are_made_of_few_states(tmp_path: Path):
    out = tmp_path / "questions.jsonl"
    printed = run(
        sys.executable, "-m", "benchmarks.questions", *"--games CollabCapture-v0 --states 10 --out".split(), out
    )
    made = read_questions(out)
    assert f"written: {out}, {len(made.items)} items" in printed
    assert {item.part for item in made.items} == {"paper", "generated"}


@pytest.mark.slow
def test_a_gpu_that_is_not_there_is_asked_for(tmp_path: Path):
    command = [sys.executable, ROOT / "benchmarks/gpu.py", "--out", tmp_path / "out.json"]
    hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=hidden, capture_output=True, text=True)
    assert done.returncode == 2 and "torch finds no GPU; it needs a driver" in done.stderr
    assert not (tmp_path / "out.json").exists()


@pytest.mark.nightly
def test_egos_start_from_a_clone_and_a_stage_that_fails_is_named(tmp_path: Path):
    tiny = ["--steps", "52000", "--seeds", "1", "--games", "2", "--out", tmp_path]
    command = [sys.executable, ROOT / "benchmarks/partner_results.py", "forced_coordination", *tiny, "--stage"]
    run(*command, "population", "clone", "fcp_clone")
    settings = json.loads((tmp_path / "fcp_clone" / "seed_0" / "settings.json").read_text())
    assert settings["start"] == f"{tmp_path}/clone/policy.npz" and (settings["memory"], settings["copy_rate"]) == (
        "gru:64",
        1,
    )
    failed = subprocess.run([*command, "hsp", "clone"], cwd=ROOT, capture_output=True, text=True)
    assert failed.returncode == 1 and "failed: hsp; the other stages are done" in failed.stderr
    assert failed.stdout.count("$ collab-overcooked train bc") == 1


@pytest.mark.nightly
def test_benchmarks_run_once_each():
    printed = run(sys.executable, "-m", "pytest", "benchmarks", "-q", "--benchmark-disable", "-p", "no:cacheprovider")
    assert re.search(r"\d+ passed", printed) and "skipped" not in printed, printed[-500:]


@pytest.mark.skipif(shutil.which("make") is None, reason="GNU make is not installed")
@pytest.mark.parametrize("target", TARGETS)
def test_make_target_is_complete(target: str):
    """What a target would run is printed by make; its programs and files exist."""
    printed = run("make", "--dry-run", "--always-make", "RECORDINGS=recordings", target)
    assert printed.strip()
    folders = "benchmarks|tests|docs|parity|collab_overcooked"
    for path in re.findall(rf"(?<![\w./-])((?:{folders})/[\w./-]+)", printed):
        if "*" not in path and not path.endswith("-"):
            assert (ROOT / path).exists(), f"{target}: {path}"


def collected(arguments: str) -> set[str]:
    command = f"{shlex.quote(sys.executable)} -m pytest {arguments} --collect-only -q"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.returncode in (0, 5), done.stdout[-2000:] + done.stderr[-2000:]  # 5: nothing is selected
    return {line for line in done.stdout.splitlines() if re.match(r"tests/\S+\.py::", line)}


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("make") is None, reason="GNU make is not installed")
def test_every_test_is_run_by_a_target():
    printed = run("make", "--dry-run", "--always-make", "test", "test-slow", "test-nightly")
    calls = [line.partition("-m pytest ")[2] for line in printed.splitlines() if "-m pytest " in line]
    calls = [re.sub(r"--attack-\S+ \S+", "", call) for call in calls]  # how many seeds is no matter here
    everything = collected("tests -m ''")
    ran = set().union(*map(collected, calls))
    assert len(everything) > 8000 and everything - ran == set()


def test_the_nightly_run_goes_on_after_a_part_that_fails():
    """Its parts are targets of their own, which one make runs with ``--keep-going``; workflows end by themselves."""
    printed = run("make", "--dry-run", "test-nightly")
    assert "--keep-going" in printed and "nightly-browser" in printed
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(path.read_text())["jobs"]
        assert all("timeout-minutes" in job for job in jobs.values()), path.name


def test_a_commit_and_the_workflow_run_what_make_lint_runs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["entry"] for repo in hooks for hook in repo["hooks"]] == ["make lint"]
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert [step["run"] for step in jobs["lint"]["steps"] if "run" in step] == ["make lint"]
    assert all(job["needs"] == "lint" for name, job in jobs.items() if name != "lint")


def test_every_extra_of_the_environment_is_locked():
    """``make lock`` renews it; packages for one system or Python alone are locked, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.search(r"^EXTRAS := (.*)$", MAKEFILE, re.M)
    assert extras is not None
    asked = [
        *project["dependencies"],
        *(one for e in extras[1].split(",") for one in project["optional-dependencies"][e]),
    ]
    names = {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in asked}  # type: ignore[index]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    locked = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert names <= locked, f"run make lock: {sorted(names - locked)}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="GNU make is not installed")
@pytest.mark.parametrize("target", first(["train-cramped_room", "train-kitchen_rush_easy", "train-pbt_cramped_room"]))
def test_training_targets_train(target: str, tmp_path: Path):
    """One target of each algorithm, for a few steps."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".installed").touch()
    for name in ("Makefile", "benchmarks", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    where = f"BIN={Path(sys.executable).parent}"
    run("make", "-C", tmp_path, "-o", ".venv/.installed", where, "SEEDS=0", "BRIEFLY=--steps 512", target)
    assert list((tmp_path / "runs" / "train").glob("*-0/policy.npz"))
