"""Videos: captioned frames of a replayed record, and GIF and MP4 files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from collab_overcooked.core.record import EpisodeRecord, Step
from collab_overcooked.envs.api import TextGame
from collab_overcooked.io.files import draft
from collab_overcooked.render.lettering import fit_text, text_image, text_width, wrap_text
from collab_overcooked.runner.replay import replay

ENDINGS = (".gif", ".mp4")
FASTEST = 50  # frames per second; GIF delays are in 1/100 s, and players ignore delays below 2
PALETTE_SAMPLES = 12  # frames from which the palette of a GIF is computed

TEXT = 13  # font size of captions, pixels
LINE, PAD = 17, 8
MAX_LINES = 18  # message lines under a frame; longer conversations are truncated
PAPER, INK, SPEAKER = "#2f2d2a", "#f4efe6", "#f3c14b"

Line = tuple[str, str]
"""Speaker or actor (empty on a continuation line), and a line of text."""


def frames_of_record(record: EpisodeRecord) -> Iterator[np.ndarray]:
    """Replay a record and yield its frames: the initial state, then one per step.

    The caption of a frame has the timestep, and the actions and messages of the step that led to it.

    Yields:
        uint8 (H, W, 3), all of the same size.
    """
    strips: list[np.ndarray] = []
    for snapshot in replay(record, render_mode="rgb_array"):
        picture = snapshot.env.render()
        if not strips:
            game = snapshot.env.game
            names = game.display_names if isinstance(game, TextGame) else snapshot.env.possible_agents
            strips = _captions(record, names, picture.shape[1])
        yield np.concatenate([picture, strips[snapshot.timestep]])


def _captions(record: EpisodeRecord, names: Sequence[str], width: int) -> list[np.ndarray]:
    room = width - 2 * PAD
    steps = record.steps
    titles = [f"Start of {record.task or record.env_id}"]
    titles += [f"Step {t} of {len(steps)}" for t in range(1, len(steps) + 1)]
    players = [(name, f"played by {player}") for name, player in zip(names, record.team.values(), strict=True)]
    texts = [players, *(_lines(step, names, room) for step in steps)]
    height = LINE * (1 + max(map(len, texts))) + 2 * PAD
    return [_strip(title, lines, width, height) for title, lines in zip(titles, texts, strict=True)]


def _lines(step: Step, names: Sequence[str], room: int) -> list[Line]:
    lines = list(zip(names, step.action_texts, strict=True))
    messages: list[Line] = []
    for message in step.messages:
        speaker = f"{'A voice' if message.agent is None else names[message.agent]} says"
        wrapped = wrap_text(message.say or message.plan, TEXT, room - _indent(speaker))
        messages += [(speaker if i == 0 else "", line) for i, line in enumerate(wrapped)]
    if len(messages) > MAX_LINES:
        messages = [*messages[: MAX_LINES - 1], ("", f"... ({len(messages) - MAX_LINES + 1} more lines)")]
    return lines + messages


def _indent(speaker: str) -> int:
    return round(text_width(f"{speaker}:", TEXT)) + PAD


def _strip(title: str, lines: Sequence[Line], width: int, height: int) -> np.ndarray:
    picture = Image.new("RGBA", (width, height), PAPER)
    indent = 0
    for row, (speaker, text) in enumerate([("", title), *lines]):
        top = PAD + row * LINE
        if speaker:
            name, size = fit_text(f"{speaker}:", TEXT, width // 2)
            picture.alpha_composite(text_image(name, size, SPEAKER), (PAD, top))
            indent = _indent(speaker)
        fitted, size = fit_text(text, TEXT, max(1, width - 2 * PAD - indent))
        picture.alpha_composite(text_image(fitted, size, INK, bold=row == 0), (PAD + indent, top))
    return np.asarray(picture.convert("RGB"))


def write_video(frames: Iterable[np.ndarray], path: str | Path, fps: float = 4) -> None:
    """Write frames to a GIF or MP4 file.

    In a GIF, repeated frames extend the duration of the first. An MP4 of odd height or width is padded by one row or
    column, because its chroma is subsampled.

    Args:
        frames: uint8 (H, W, 3), all of the same size, at least one.
        path: Path ending in ``.gif`` or ``.mp4``.
        fps: Frames per second, at most 50.

    Raises:
        ValueError: The suffix or the rate is not allowed.
        FileNotFoundError: The folder does not exist.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"cannot write a video to {path}: the name must end in {' or '.join(ENDINGS)}")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= FASTEST:
        raise ValueError(f"fps must be a number above 0 and at most {FASTEST}, not {fps!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    writer = _write_gif if ending == ".gif" else _write_mp4
    with draft(path) as beside:
        writer(_checked(frames), beside, fps)


def _checked(frames: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    shape = None
    for number, frame in enumerate(frames):
        frame = np.asarray(frame)
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
            raise ValueError(f"frame {number} must be uint8 (H, W, 3), not {frame.dtype} {frame.shape}")
        if shape not in (None, frame.shape):
            raise ValueError(f"frame {number} is {frame.shape}, but the first is {shape}; all must have one size")
        shape = frame.shape
        yield frame
    if shape is None:
        raise ValueError("frames is empty; a video needs at least one")


def _write_gif(frames: Iterator[np.ndarray], path: Path, fps: float) -> None:
    pictures = [Image.fromarray(frame) for frame in frames]
    samples = pictures[:: max(1, len(pictures) // PALETTE_SAMPLES)]
    # With one palette for all frames, unchanged cells stay identical, so only changes are stored.
    drawing = Image.fromarray(np.concatenate([np.asarray(sample) for sample in samples]))
    palette = drawing.quantize(255, Image.Quantize.MEDIANCUT)
    first, *others = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    first.save(path, save_all=True, append_images=others, duration=round(1000 / fps), loop=0, optimize=True)


def _write_mp4(frames: Iterator[np.ndarray], path: Path, fps: float) -> None:
    try:
        import imageio.v2
        import imageio_ffmpeg  # type: ignore[import-untyped]

        imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):  # RuntimeError: the package lacks its ffmpeg binary
        raise ImportError(
            f"writing {path} needs the extra video: pip install 'collab-overcooked[video]'; .gif needs none"
        ) from None
    writer: Any = imageio.v2.get_writer(  # its typed base class lacks append_data
        path, format="FFMPEG", fps=fps, codec="libx264", quality=8, macro_block_size=1
    )
    with writer:
        for frame in frames:
            writer.append_data(np.pad(frame, ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0)), "edge"))
