"""Workers: which jobs run beside each other, on what, with equal records; one writer in a run folder."""

from __future__ import annotations

import importlib.util
import multiprocessing
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner import workers
from collab_overcooked.runner.registrations import JobNeeds
from collab_overcooked.runner.run import Run
from collab_overcooked.runner.workers import Workers, read_workers, run_jobs

HAS_RAY = importlib.util.find_spec("ray") is not None


@dataclass
class Log:
    """Notes when jobs begin and end."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    def job(self, name: str, wait: Any = None) -> Any:
        log = self

        class Logged:
            needs = JobNeeds()

            def run(self, make: Any = None) -> list[dict[str, Any]]:
                log.lines.append(("begin", name))
                if wait is not None:
                    wait()
                time.sleep(0.02)
                log.lines.append(("end", name))
                return [{"name": name}]

        return Logged()


def in_threads(jobs: list[Any], count: int) -> list[str]:
    return [record["name"] for record in run_jobs(jobs, Workers(count), make=lambda spec: None)]  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (3, Workers(3)),
        ("2", Workers(2)),
        ("ray", Workers(1, "")),
        ("ray:10.0.0.1:6379", Workers(1, "10.0.0.1:6379")),
        ("ray:auto", Workers(1, "auto")),
    ],
)
def test_workers_are_read(value: Any, result: Workers) -> None:
    assert read_workers(value) == result
    assert read_workers(None).count >= 1 and read_workers(None, default=4) == Workers(4)


@pytest.mark.parametrize("value", ["0", "-1", "x", "", "2:3", "1.5", "rays", 0, True, 1.5])
def test_other_workers_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="workers must be an integer of at least 1"):
        read_workers(value)


@pytest.mark.parametrize(("seconds", "here"), [(1e9, ["a0", "a1", "b0"]), (0.0, [])])
def test_short_runs_start_no_process(monkeypatch: pytest.MonkeyPatch, seconds: float, here: list[str]) -> None:
    log, this, ran_here = Log(), threading.get_ident(), []

    def note(name: str) -> Any:
        return lambda: ran_here.append(name) if threading.get_ident() == this else None

    monkeypatch.setattr(workers, "START_SECONDS", seconds)
    monkeypatch.setattr(workers, "open_pool", lambda *options: ThreadPoolExecutor(2))
    jobs = [log.job(name, note(name)) for name in ("a0", "a1", "b0")]
    records = list(run_jobs(jobs, Workers(2, begins_here=True)))
    assert sorted(record["name"] for record in records) == ["a0", "a1", "b0"] and ran_here == here


def test_in_threads_of_one_process_no_job_waits_for_the_first() -> None:
    log, all_three = Log(), threading.Barrier(3, timeout=30)
    assert len(in_threads([log.job(name, all_three.wait) for name in "abc"], 3)) == 3


def test_what_finishes_beside_an_error_is_not_lost() -> None:
    log, both, names = Log(), threading.Barrier(2, timeout=30), []

    def fail() -> None:
        both.wait()
        raise ValueError("no more")

    jobs = [log.job("fails", fail), log.job("a", both.wait), log.job("never")]
    with pytest.raises(ValueError, match="no more"):
        for record in run_jobs(jobs, Workers(2), make=lambda spec: None):
            names.append(record["name"])
    assert "a" in names


def test_one_worker_keeps_the_order() -> None:
    log = Log()
    assert in_threads([log.job("a0"), log.job("a1"), log.job("b0")], 1) == ["a0", "a1", "b0"]
    assert in_threads([], 3) == []


def test_crossplay_is_the_same_with_two_workers() -> None:
    texts: dict[str, Any] = {"options": {"scenario": "easy"}, "episodes": 2, "seed": 5}
    one = cross_play("KitchenRush-v0", ["random", "greedy"], workers=1, **texts)
    two = cross_play("KitchenRush-v0", ["random", "greedy"], workers=2, **texts)
    assert one.returns.tolist() == two.returns.tolist() and one.returns.any()


# ------------------------------------------------------------------------------------------- Ray


def test_ray_is_asked_for_by_name(tmp_path, two_randoms, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"])
    with pytest.raises(ValueError, match=r"needs Ray: pip install 'collab-overcooked\[ray\]'"):
        evaluate(plan, tmp_path, workers="ray")


@pytest.mark.nightly
@pytest.mark.skipif(not HAS_RAY, reason="the extra 'ray' is not installed")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray_writes_what_one_process_writes(tmp_path, random_run, two_randoms, on_ray):
    import ray

    tasks = ["boiled_egg", "baked_pumpkin_slices"]
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=tasks, episodes=2, seed=3)
    on_ray(lambda: evaluate(plan, tmp_path, workers="ray"))
    assert (tmp_path / "records.jsonl").read_bytes() == (random_run / "records.jsonl").read_bytes()
    assert not ray.is_initialized()  # what was started has ended


def test_ray_plays_no_policies_of_this_process():
    with pytest.raises(ValueError, match="threads of this process"):
        list(run_jobs([Log().job("a")], read_workers("ray"), make=lambda spec: None))  # type: ignore[arg-type, return-value]


# ------------------------------------------------------------------------------------------- one writer


def test_a_second_writer_is_refused(tmp_path, two_randoms):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"])
    with Run(tmp_path, plan.config()):
        with pytest.raises(OSError, match="another evaluation writes to this folder"):
            evaluate(plan, tmp_path, workers=1)
        assert not (tmp_path / "records.jsonl").exists()
    assert len(evaluate(plan, tmp_path, workers=1)) == 1


def test_a_killed_writer_leaves_the_folder_to_others(tmp_path):
    code = (
        "import sys, time\nfrom collab_overcooked.runner.run import Run\n"
        "folder = Run(sys.argv[1], {})\nprint('open', flush=True)\ntime.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "open\n"
        with pytest.raises(OSError, match="another evaluation writes"):
            Run(tmp_path, {})
    finally:
        process.kill()
        process.communicate()
    with Run(tmp_path, {}) as folder:
        assert folder.results == {}


def test_a_folder_that_is_refused_is_not_kept_locked(tmp_path):
    with Run(tmp_path, {"seed": 0}):
        pass
    with pytest.raises(ValueError, match="another configuration"):
        Run(tmp_path, {"seed": 1})
    with Run(tmp_path, {"seed": 0}):
        pass


def test_an_interrupt_ends_the_processes_of_its_pool_and_no_others() -> None:
    """Without an end to the first process the test would wait for it."""
    context = multiprocessing.get_context("spawn")
    bystander = context.Process(target=time.sleep, args=(3600,), daemon=True)
    bystander.start()
    with pytest.raises(KeyboardInterrupt), workers.terminating(workers.open_pool(Workers(1), 1)) as pool:
        future = pool.submit(time.sleep, 3600)
        while not future.running():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert bystander.is_alive()
    bystander.terminate()
