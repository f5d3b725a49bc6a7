"""The replays of the public Overcooked codes' recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import pytest
from rich.console import Console

from collab_overcooked.evaluation.parity import run_parity, scan
from collab_overcooked.evaluation.parity.report import read_recording

TRACES, GATES = "golden_traces.jsonl.gz", "golden_traces_gates.jsonl.gz"
DIRECTED, DIRECTED_GATES = "golden_directed.jsonl.gz", "golden_directed_gates.jsonl.gz"


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "llm_co"


@pytest.mark.parametrize("name", [TRACES, GATES, DIRECTED, DIRECTED_GATES])
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    (known,) = [known for recording, known in scan(recordings) if recording.path.name == name]
    assert known is not None
    report = known.replay(read_recording(recordings / name))
    assert report.mismatches == 0, report.first
    assert report.share == 1.0
    assert not report.stops + report.passed
    assert report.compared == sum(len(episode["steps"]) for episode in read_recording(recordings / name).episodes)


def _change(path: tuple, change):
    def tamper(document) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = change(document[path[-1]])

    return tamper


def _up(value):
    return value + 1


def _first_with(key: str, change):
    """Change the first step that has an entry."""

    def tamper(episode) -> None:
        step = next(step for step in episode["steps"] if step.get(key))
        step[key] = change(step[key])

    return tamper


TAMPERINGS = {
    "where a player stands": (TRACES, _change(("steps", 9, "s", "p", 0, 0), _up)),
    "where a player looks": (TRACES, _change(("steps", 9, "s", "p", 1, 2), lambda facing: (facing + 1) % 4)),
    "what a player holds": (TRACES, _change(("steps", 9, "s", "p", 0, 3), lambda held: "dish")),
    "the start": (TRACES, _change(("s0", "p", 0, 1), _up)),
    "an action": (TRACES, _change(("steps", 0, "a", 0), lambda action: (action + 1) % 4)),
    "an object": (TRACES, _change(("steps", 60, "s", "o"), lambda objects: [*objects, [0, 0, "onion"]])),
    "sparse reward of a player": (TRACES, _change(("steps", 9, "r", 1), lambda paid: 20)),
    "shaped reward of a player": (TRACES, _change(("steps", 9, "sh", 0), lambda paid: 3)),
    "whose shaped reward it is": (TRACES, _first_with("ev", lambda events: [[name, 1 - i] for name, i in events])),
    "an event too few": (TRACES, _first_with("ev", lambda events: events[1:])),
    "an event too many": (TRACES, _first_with("ev", lambda events: [*events, ["soup_drop", 0]])),
    "deliveries": (TRACES, _change(("deliveries",), _up)),
    "return": (TRACES, _change(("return",), _up)),
    "shaped return": (TRACES, _change(("shaped",), _up)),
    "dynamics": (TRACES, _change(("dyn",), lambda dynamics: "new")),
    "whether a gate is open": (GATES, _change(("steps", 9, "s", "g", 0, 2), lambda state: 1 - state)),
    "a gate's counter": (GATES, _change(("steps", 9, "s", "g", 1, 3), _up)),
    "team reward": (GATES, _change(("steps", 9, "r"), lambda paid: 20)),
    "team's shaped reward": (GATES, _change(("steps", 9, "sh"), _up)),
    "a directed case": (DIRECTED, _change(("steps", 0, "sh", 0), _up)),
    "a directed case with gates": (DIRECTED_GATES, _change(("steps", 5, "s", "g", 0, 3), _up)),
    "a missing key": (DIRECTED, _change(("steps", 0), lambda step: {"a": step["a"]})),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_a_tampered_recording_is_found_out(recordings: Path, tmp_path: Path, what: str) -> None:
    name, tamper = TAMPERINGS[what]
    original = read_recording(recordings / name).episodes[0]
    episode = copy.deepcopy(original)
    tamper(episode)
    assert episode != original
    with gzip.open(tmp_path / name, "wt") as file:
        file.write(json.dumps(episode))
    console = Console(record=True, width=200, quiet=True)
    assert run_parity(tmp_path, console) == 1
