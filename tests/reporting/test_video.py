"""Replays as pictures, and the files made of them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from PIL import Image
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.reporting import video
from collab_overcooked.reporting.video import frames_of_record, write_video


def coloured(count: int, height: int = 40, width: int = 60) -> list[np.ndarray]:
    """Frames with a bar that grows."""
    frames = [np.full((height, width, 3), 230, np.uint8) for _ in range(count)]
    for i, frame in enumerate(frames):
        frame[10:20, : 5 + 3 * i] = (200, 40, 40)
    return frames


def short_record(steps: int = 6, **env_kwargs: Any) -> Any:
    """Record of a few steps in which the assistant fetches an egg and both talk."""
    env = registry.make("CollabOvercooked-v0", **env_kwargs)
    env.reset(seed=7)
    fetch, wait = env.parse("pickup(egg,ingredient_dispenser)"), env.parse("wait(1)")
    texts, played = env.game.action_texts(), []
    for t in range(steps):
        chosen = [wait, *(fetch if t == 0 else 0 if env.action_mask(a)[0] else wait for a in env.possible_agents[1:])]
        env.step(dict(zip(env.possible_agents, chosen, strict=True)))
        played.append({"actions": chosen, "action_texts": [texts[action] for action in chosen], "messages": []})
    played[1]["messages"] = [
        {"agent": 0, "conversation": 0, "say": "An egg, please. " * 20, "plan": "wait(1)"},
        {"agent": 1, "conversation": 0, "say": "Coming!", "plan": ""},
    ]
    return record_of(
        env_id=env.game.id,
        env_kwargs=env.game.kwargs,
        seed=7,
        task="boiled_egg",
        team=dict.fromkeys(env.possible_agents, "planner"),
        max_cycles=env.max_cycles,
        steps=played,
    )


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return short_record()


@pytest.fixture(scope="module")
def frames(record) -> list[np.ndarray]:
    return list(frames_of_record(record))


def test_a_record_gives_the_start_and_a_frame_a_step(record, frames):
    assert len(frames) == len(record.steps) + 1
    assert {frame.shape for frame in frames} == {frames[0].shape}
    assert all(frame.dtype == np.uint8 for frame in frames)


def test_frames_are_the_games_own_pictures_with_a_strip_below(record, frames):
    env = registry.make(record.env_id, **record.env_kwargs, render_mode="rgb_array")
    env.reset(seed=record.seed, options={"task": record.task})
    for number, frame in enumerate(frames):
        picture = env.render()
        np.testing.assert_array_equal(frame[: len(picture)], picture)
        assert len(frame) > len(picture)
        if number < len(record.steps):
            env.step(dict(zip(env.possible_agents, record.steps[number].actions, strict=True)))


def test_frames_are_the_same_every_time(record, frames):
    for one, two in zip(frames, frames_of_record(record), strict=True):
        np.testing.assert_array_equal(one, two)


def test_three_agents_are_captioned():
    frames = list(frames_of_record(short_record(2, kitchen="three_agents")))
    assert len(frames) == 3


def test_captions_say_who_does_and_says_what(record):
    lines = video._lines(record.steps[1], ["Bob", "Alice"], 500)
    assert lines[:2] == [("Bob", "wait(1)"), ("Alice", "continue")]
    assert lines[2][0] == "Bob says" and lines[2][1].startswith("An egg, please.")
    assert lines[3][0] == ""  # the long message goes on in the next line
    assert lines[-1] == ("Alice says", "Coming!")
    assert " ".join(text for _, text in lines[2:-1]) == " ".join(["An egg, please."] * 20)


def test_endless_conversations_are_cut_and_say_so():
    message = {"agent": 0, "conversation": 0, "say": "word " * 2000, "plan": ""}
    lines = video._lines(
        record_of(team={"agent_0": "a"}, steps=[{"action_texts": ["wait(1)"], "messages": [message]}]).steps[0],
        ["Bob"],
        400,
    )
    assert len(lines) == 1 + video.MAX_LINES
    assert lines[-1][1].startswith("... (") and lines[-1][1].endswith("more lines)")


def test_a_strip_is_as_high_as_the_longest_caption(record):
    heights = {}
    for count in (0, 2):
        steps = [structs.replace(step, messages=step.messages[:count]) for step in record.steps]
        heights[count] = len(next(frames_of_record(record.replace(steps=steps))))
    assert heights[2] > heights[0]


def test_a_record_that_goes_on_after_the_end_is_refused(record):
    steps = [structs.replace(record.steps[-1], actions=[0, 0])] * (record.max_cycles + 1)
    with pytest.raises(ValueError, match="the game is over after"):
        list(frames_of_record(record.replace(steps=steps)))


def test_an_action_outside_the_game_is_refused(record):
    steps = [structs.replace(record.steps[0], actions=[10**6, 0])]
    with pytest.raises(ValueError, match="1000000"):
        list(frames_of_record(record.replace(steps=steps)))


def test_a_gif_reads_back(tmp_path):
    path = tmp_path / "game.gif"
    frames = coloured(9)
    write_video(iter(frames), path, fps=4)
    with Image.open(path) as gif:
        assert gif.n_frames == 9 and gif.size == (60, 40)
        assert gif.info["duration"] == 250 and gif.info["loop"] == 0
        gif.seek(8)
        displayed = np.asarray(gif.convert("RGB")).astype(int)
    assert np.abs(displayed - frames[8]).max() <= 8  # the palette is near the colours


def test_a_record_as_gif(tmp_path, frames):
    path = tmp_path / "episode.GIF"
    write_video(frames, path)
    with Image.open(path) as gif:
        assert gif.n_frames == len(frames)
    assert path.stat().st_size < 40_000 * len(frames)


def test_an_mp4_reads_back(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs the extra `video`").get_ffmpeg_exe()
    path = tmp_path / "game.mp4"
    frames = coloured(9, height=65, width=81)
    write_video(iter(frames), path, fps=4)
    # imageio's own reader leaves pipes open, which counts as a failure here
    decode = [ffmpeg, "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    pixels = subprocess.run(decode, capture_output=True, check=True).stdout
    read = np.frombuffer(pixels, np.uint8).reshape(-1, 66, 82, 3)  # even, as the format wants it
    assert len(read) == 9
    assert np.abs(read[-1, :65, :81].astype(int) - frames[-1]).mean() < 6


@pytest.mark.parametrize("missing", ["imageio", "imageio_ffmpeg"])
def test_an_mp4_without_ffmpeg_names_the_remedy(missing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'collab-overcooked\[video\]'") as caught:
        write_video(coloured(2), tmp_path / "game.mp4")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["game.avi", "game", "game.gif.zip"])
def test_other_endings_are_refused_with_the_path(tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in \.gif or \.mp4") as caught:
        write_video(coloured(2), tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_missing_folder_is_named(tmp_path, ending):
    with pytest.raises(OSError, match=r"there is no folder .*nowhere"):
        write_video(coloured(2), tmp_path / "nowhere" / f"game.{ending}")


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_path_that_is_a_folder_is_an_os_error(tmp_path, ending):
    path = tmp_path / f"game.{ending}"
    path.mkdir()
    with pytest.raises(OSError, match="game"):
        write_video(coloured(2), path)


@pytest.mark.parametrize("fps", [0, -1, 51, True, "4"])
def test_a_bad_speed_is_refused(tmp_path, fps):
    with pytest.raises(ValueError, match="fps must be a number above 0"):
        write_video(coloured(2), tmp_path / "game.gif", fps)


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([], "frames is empty"),
        ([*coloured(1), *coloured(1, height=50)], "all must have one size"),
        ([np.zeros((4, 4), np.uint8)], r"must be uint8 \(H, W, 3\)"),
        ([np.zeros((4, 4, 3))], r"must be uint8 \(H, W, 3\)"),
    ],
)
@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_bad_frames_are_refused(tmp_path, frames, message, ending):
    with pytest.raises(ValueError, match=message):
        write_video(frames, tmp_path / f"game.{ending}")
