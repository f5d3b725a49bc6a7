"""Time to read and to score records; off by default, run by `make bench`."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.reporting.results import score_records
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.records import dump_line, read_records
from collab_overcooked.runner.teams import make_team

EPISODES = 100


@pytest.mark.parametrize("what", ["read", "score"])
def test_records_of_400_steps(benchmark: Any, tmp_path: Any, what: str) -> None:
    env = registry.make("Overcooked-v0", layout="cramped_room", max_cycles=400)
    record = play_episode(env, make_team(("random", "random")), 0, task="cramped_room")
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"".join(dump_line(record.replace(episode=number)) for number in range(EPISODES)))
    read = read_records(path)
    result = benchmark(read_records, path) if what == "read" else benchmark(score_records, read)
    assert len(result) == (EPISODES if what == "read" else 1)
    benchmark.extra_info |= {"kind": f"{what} records", "episodes": EPISODES, "steps": EPISODES * record.timesteps}
