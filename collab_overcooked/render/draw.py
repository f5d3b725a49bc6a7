"""Selection of a renderer by render mode."""

from __future__ import annotations

from typing import Any

from collab_overcooked.render.ansi import draw_ansi
from collab_overcooked.render.model import Drawing
from collab_overcooked.render.rgb import draw_rgb


def draw(drawing: Drawing, mode: str) -> Any:
    """Render a drawing: uint8 (H, W, 3) for ``"rgb_array"``, str for ``"ansi"``."""
    return draw_ansi(drawing) if mode == "ansi" else draw_rgb(drawing)
