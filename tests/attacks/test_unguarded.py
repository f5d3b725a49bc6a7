"""Callers without a main guard: scripts, standard input, ``-c``, modules and notebooks, with what they register."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.covers import cover

pytestmark = pytest.mark.attacks

POLICY = """
import os
from collab_overcooked.policies.api import PolicyBase

class Mine(PolicyBase):
    name = "mine"

    def reset(self, seat, info, seed):
        with open("players", "a") as file:
            file.write(f"{os.getpid()}\\n")

    def act(self, seen):
        return seen.idle_action
"""
LONG_WORK = """
import os
with open("ran", "a") as file:
    file.write(f"{os.getpid()}\\n")
"""
CALLS = {
    "evaluate": "co.evaluate('collab-capture', 'run', 'all=TEAM', episodes=4, options=LIMIT, WORKERS)",
    "cross_play": "co.cross_play('CollabCapture-v0', ['TEAM', 'random'], episodes=2, options=LIMIT, WORKERS)",
    "compare": "co.compare(['TEAM', 'random'], ['collab-capture'], 'compared', episodes=1, crossplay=False, "
    "options={'collab-capture': LIMIT}, only=['code2024'], WORKERS)",
}
REGISTERED = {
    "nowhere": ("", "greedy"),
    "in the caller": (POLICY + "import collab_overcooked as co\nco.register_policy('mine', Mine)\n", "mine"),
    "of a module": ("import mine_here, collab_overcooked as co\nco.register_policy('mine', mine_here.Mine)\n", "mine"),
    "by a module": ("import mine_there\n", "mine"),
}
WAYS = ("script", "stdin", "-c", "module", "notebook")


def program(call: str, registered: str, workers: str) -> str:
    """Return an unguarded program that trains, plays and prints."""
    before, team = REGISTERED[registered]
    played = (
        CALLS[call].replace("TEAM", team).replace("WORKERS", f"workers={workers}").replace("LIMIT", "{'max_cycles': 3}")
    )
    late = "from collab_overcooked.runner import workers; workers.START_SECONDS = 0.0; workers._cores = lambda: 2\n"
    return f"{LONG_WORK}import collab_overcooked as co\n{late}{before}{played}\nprint('played', flush=True)\n"


def run(way: str, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "mine_here.py").write_text(POLICY)
    (folder / "mine_there.py").write_text(POLICY + "import collab_overcooked as co\nco.register_policy('mine', Mine)\n")
    (folder / "program.py").write_text(text)
    message = {
        "script": ["program.py"],
        "stdin": ["-"],
        "-c": ["-c", text],
        "module": ["-m", "program"],
        "notebook": ["-c", "exec(open('program.py').read())"],
    }[way]
    known = {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)]), "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, *message],
        cwd=folder,
        env=os.environ | known,
        input=text if way == "stdin" else None,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("way", "call", "registered", "workers"), cover(WAYS, CALLS, REGISTERED, ("2", "None"), strength=1)
)
def test_the_caller_runs_once_and_its_policies_play(way, call, registered, workers, tmp_path):
    done = run(way, program(call, registered, workers), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("played") == 1
    (caller,) = (tmp_path / "ran").read_text().split()
    if registered == "nowhere":
        return
    players = set((tmp_path / "players").read_text().split())
    if registered == "in the caller":
        assert players == {caller}
    else:
        assert players - {caller}, "no other process has played"


def test_a_caller_in_a_process_that_may_start_none_plays_alone(tmp_path):
    text = program("evaluate", "nowhere", "2").replace(
        "print('played'", "print(multiprocessing.current_process().daemon"
    )
    text = f"import multiprocessing\n{text}"
    (tmp_path / "work.py").write_text(f"def work():\n    exec({text!r}, {{}})\n")
    code = (
        "import multiprocessing, work\nif __name__ == '__main__':\n  p = multiprocessing.get_context('spawn').Process("
    )
    code += "target=work.work, daemon=True)\n  p.start(); p.join(); raise SystemExit(p.exitcode)"
    done = run("script", code, tmp_path)
    assert done.returncode == 0 and "True" in done.stdout, done.stderr
