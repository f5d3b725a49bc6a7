"""Records of many episodes in little memory: packed ones say the same as whole ones, and take a fraction of it."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.covers import first

from collab_overcooked import registry
from collab_overcooked.core.record import PACKED, EpisodeRecord, compress, pack, unpack
from collab_overcooked.evaluation.run import Episodes, evaluate
from collab_overcooked.export.formats import write_npz
from collab_overcooked.export.trajectories import read_trajectories
from collab_overcooked.reporting.frame import frame
from collab_overcooked.reporting.results import score_paths, score_records
from collab_overcooked.runner.records import RECORDS, RecordError, dump_line, parse_record, read_packed, read_records
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.run import Run

FEW = 20


def packed_of(record: Any) -> Any:
    return pack(record, compress(dump_line(record)))


SUITES = [name for name in registry.first_suites() if registry.load_suite(name).record_class]


@pytest.mark.parametrize("suite", first(SUITES, 3))
def test_a_packed_record_has_every_field_of_the_whole_one(suite, record_of_suite):
    record = record_of_suite(suite)
    packed = packed_of(record)
    expected = parse_record(dump_line(record).decode(), "here")
    assert PACKED in packed.__dict__ and "steps" not in {name for name in dir(packed) if name in packed.__dict__}
    for name in type(record).__struct_fields__:
        assert getattr(packed, name) == getattr(expected, name), name
    assert unpack(packed) == expected and unpack(expected) is expected
    assert packed.replace(task="other") == expected.replace(task="other")
    assert packed.specs == expected.specs and packed.suite_name == expected.suite_name
    assert not hasattr(packed, "no_field") and first_difference(packed) is None


@pytest.fixture(scope="module")
def record_of_suite() -> Callable[[str], Any]:
    played: dict[str, Any] = {}

    def play(suite: str) -> Any:
        if suite not in played:
            few = {"max_cycles": 6}
            played[suite] = evaluate(suite, team="all=random", workers=1, options=few)[0]
        return played[suite]

    return play


def test_the_record_that_is_packed_stays_whole(random_records):
    record = random_records[0]
    before = dump_line(record)
    packed_of(record)
    assert dump_line(record) == before and PACKED not in record.__dict__


def test_episodes_are_a_sequence_of_whole_records(random_records):
    episodes = Episodes(map(packed_of, random_records))
    assert episodes == random_records and random_records == episodes and episodes == Episodes(random_records)
    assert episodes != random_records[:-1] and episodes != [*random_records[1:], random_records[0]]
    assert all(PACKED not in record.__dict__ for record in episodes)
    assert episodes[1:3] == random_records[1:3] and episodes[-1] == random_records[-1]
    assert random_records[2] in episodes and episodes.index(random_records[2]) == 2
    assert episodes + random_records == random_records + episodes == random_records * 2
    assert list(reversed(episodes)) == random_records[::-1] and len(episodes) == len(random_records)


def test_packed_and_whole_records_get_equal_scores_and_frames(random_run, random_records):
    packed = read_packed(random_run)
    assert [unpack(record) for record in packed] == random_records == read_records(random_run)
    assert repr(score_records(packed)) == repr(score_records(random_records))
    assert frame(packed).equals(frame(random_records))
    assert [record.where for record in packed] == [record.where for record in random_records]


def test_contradictions_are_found_among_packed_records(tmp_path, random_records):
    record = random_records[0]
    lines = [dump_line(record), dump_line(record), dump_line(record.replace(metrics={"x": 1.0}))]
    (tmp_path / "same.jsonl").write_bytes(b"".join(lines[:2]))
    (tmp_path / "other.jsonl").write_bytes(b"".join(lines))
    for read in (read_records, read_packed):
        assert len(read(tmp_path / "same.jsonl")) == 1
        with pytest.raises(RecordError, match="line 3: contradicts line 1 about the same episode"):
            read(tmp_path / "other.jsonl")


def test_lines_end_with_any_newline_and_damage_is_placed_in_the_file(tmp_path, random_records):
    file, lines = tmp_path / RECORDS, [dump_line(record)[:-1] for record in random_records]
    file.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\n\n")
    assert read_records(file) == random_records
    content = b"\n".join(lines) + b"\n"
    file.write_bytes(content + b"\xff\n")
    with pytest.raises(RecordError, match=f"not a text file: invalid start byte at byte {len(content)}"):
        read_records(file)


# ------------------------------------------------------------------------------------------- growth


BUDGET = 300_000_000 / 10_000  # bytes an episode, so that ten thousand take 300 MB


@pytest.fixture(scope="module")
def sample() -> Any:
    """A record of 60 steps."""
    options = {"max_cycles": 60}
    return evaluate("overcooked", team="all=random", layouts="cramped_room", episodes=1, workers=1, options=options)[0]


def whole_size(record: EpisodeRecord) -> float:
    """Return the bytes of a record whose fields are in memory."""
    lines = [dump_line(record.replace(episode=number)).decode() for number in range(20)]
    before = tracemalloc.get_traced_memory()[0]
    records = [parse_record(line, "") for line in lines]
    return (tracemalloc.get_traced_memory()[0] - before) / len(records)


def peak(work: Callable[[], Any]) -> int:
    """Return the most bytes that are in use during some work, beyond those before it."""
    gc.collect()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    result = work()
    most = tracemalloc.get_traced_memory()[1] - before
    del result
    return most


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def write_run(folder: Path, record: EpisodeRecord, count: int) -> Path:
    """Write a run folder that is called like the number of its episodes."""
    path = folder / str(count)
    path.mkdir(parents=True)
    with (path / RECORDS).open("wb") as file:
        file.writelines(dump_line(record.replace(episode=number)) for number in range(count))
    (path / "config.json").write_text(json.dumps({}))
    return path


def play(path: Path) -> Any:
    record = read_packed(path)[0]
    with Run(path / "played", {}) as run:
        for number in range(int(path.name)):
            run.append(record.replace(episode=number))
        return run.finish((record.task, number) for number in range(int(path.name)))


def resume(path: Path) -> Any:
    with Run(path, {}) as run:
        return run.results


WORK: dict[str, Callable[[Path], Any]] = {
    "play": play,
    "resume": resume,
    "score": lambda path: score_paths([path]),
    "frame": frame,
    "export": lambda path: write_npz(path, read_trajectories(read_packed(path), {}), None),
}


@pytest.mark.slow
@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("more", first([100, 2000]))
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(one, id=name, marks=() if name in ("play", "score") else pytest.mark.nightly)
        for name, one in WORK.items()
    ],
)
def test_more_episodes_take_little_memory_more(work, more, sample, tmp_path):
    work(write_run(tmp_path / "before", sample, FEW))  # imports, and caches of a game
    few, many = (write_run(tmp_path, sample, count) for count in (FEW, FEW + more))
    growth = (peak(lambda: work(many)) - peak(lambda: work(few))) / more
    assert growth < BUDGET < whole_size(sample), f"{growth / 1000:.0f} kB per episode"
