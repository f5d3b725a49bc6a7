"""Runs of plans: in processes, threads and folders that are continued."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.episode import episode_seed


def test_two_processes_write_what_one_writes(tmp_path, random_run, two_randoms):
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    states = []
    records = evaluate(plan, tmp_path, workers=2, progress=lambda *state: states.append(state))
    assert (tmp_path / "records.jsonl").read_bytes() == (random_run / "records.jsonl").read_bytes()
    assert [(record.task, record.episode) for record in records] == [
        ("boiled_egg", 0),
        ("boiled_egg", 1),
        ("baked_pumpkin_slices", 0),
        ("baked_pumpkin_slices", 1),
    ]
    assert [state[:2] for state in states] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    episodes = evaluate("overcooked", team="all=random", layouts="cramped_room", max_cycles=5, workers=1)
    assert [record.timesteps for record in episodes] == [5]
    assert not list(tmp_path.iterdir())


def test_an_error_in_a_worker_ends_the_run_and_keeps_what_was_played(tmp_path, two_randoms):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"], episodes=3)

    class Failing:
        name = "failing"
        episodes = 0

        def reset(self, seat, info, seed):
            Failing.episodes += seat
            if Failing.episodes == 2:
                raise ValueError("no more")

        def act(self, seen):
            return "wait(1)"

        def reply(self, seen):
            return None

    with pytest.raises(ValueError, match="no more"):
        evaluate(plan, tmp_path, workers=1, make=lambda _: Failing())
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_command_leaves_whole_records_and_no_process(tmp_path, number):
    team = ["--team", "agent_0=random", "agent_1=random", "--workers", "2", "--episodes", "2000", "--levels", "1"]
    command = [
        sys.executable,
        "-m",
        "collab_overcooked",
        "evaluate",
        "collab-overcooked",
        *team,
        "--out",
        tmp_path / "run",
    ]
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # children of jobs in the background ignore it
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    signal.signal(signal.SIGINT, inherited)
    records = tmp_path / "run" / "records.jsonl"
    while process.poll() is None and not (records.exists() and records.read_bytes().count(b"\n") >= 5):
        time.sleep(0.1)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.kill()
    stderr = process.communicate()[1]  # returns when no child holds the pipe any more
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert stderr.startswith("stopped;")
    assert records.read_bytes().count(b"\n") >= 5


def test_an_episode_does_not_depend_on_what_else_is_played(two_randoms):
    few = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"], episodes=1, seed=9).matches
    many = plan_evaluation("collab-overcooked", two_randoms, levels="1-2", episodes=3, seed=9).matches
    assert few[0] in many
    assert few[0].seed == episode_seed(9, "boiled_egg", 0)
    assert len({match.seed for match in many}) == len(many) == 30


def test_records_name_what_was_played(random_records):
    record = random_records[-1]
    assert record.env_id == "CollabOvercooked-v0"
    assert record.team == {"agent_0": "random", "agent_1": "random"}
    assert (record.task, record.level, record.episode) == ("baked_pumpkin_slices", 2, 1)
    assert record.env_kwargs["task"] == "baked_pumpkin_slices"
    assert record.max_cycles == 35


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_the_number_of_processes_is_checked(tmp_path, two_randoms, workers):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"])
    with pytest.raises(ValueError, match="workers must be"):
        evaluate(plan, tmp_path / "never", workers=workers)
    assert not (tmp_path / "never").exists()


def test_policies_of_ones_own_play_in_threads(tmp_path, two_randoms, talker):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_bell_pepper"], episodes=3)
    one = evaluate(plan, tmp_path / "one", make=talker)
    three = evaluate(plan, tmp_path / "three", workers=3, make=talker)
    assert one == three
    assert (tmp_path / "one" / "records.jsonl").read_bytes() == (tmp_path / "three" / "records.jsonl").read_bytes()


def test_an_error_stops_the_other_threads(tmp_path, two_randoms, scripted):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"], episodes=4)
    created, stopped = [], []

    def make(spec):
        created.append(spec)
        return scripted([3.5] if len(created) > 6 else [])  # the team that is looked at, those of two episodes, others

    with pytest.raises(ValueError, match="a policy answered"):
        evaluate(plan, tmp_path, workers=2, make=make, stop=lambda: stopped.append(True))
    assert stopped == [True]
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) in (1, 2)  # at least one made room for the third


def test_a_run_is_continued_only_under_the_same_configuration(tmp_path, two_randoms):
    plan = plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"])
    evaluate(plan, tmp_path, workers=1, run_config={"budget": {"calls": 3}})
    with pytest.raises(ValueError, match=r"budget\.calls was"):
        evaluate(plan, tmp_path, workers=1, run_config={"budget": {"calls": 4}})


def test_a_run_is_extended_and_never_cut(tmp_path, two_randoms, caplog):
    def plan(episodes):
        return plan_evaluation("collab-overcooked", two_randoms, tasks=["boiled_egg"], episodes=episodes, seed=4)

    first = evaluate(plan(1), tmp_path / "run", workers=1)
    both = evaluate(plan(2), tmp_path / "run", workers=1)
    assert both[:1] == first and caplog.messages == [f"{tmp_path / 'run'}: continuing, 1 of 2 episodes are there"]
    written = (tmp_path / "run" / "records.jsonl").read_bytes()
    assert both == evaluate(plan(2), None, workers=1), "the same as played at once"
    with pytest.raises(ValueError, match="holds 1 episode beyond those of this run, such as episode 1 of boiled_egg"):
        evaluate(plan(1), tmp_path / "run", workers=1)
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == written
