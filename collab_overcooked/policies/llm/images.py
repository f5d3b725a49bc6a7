"""Pictures in requests: the observation of a seat as PNG."""

from __future__ import annotations

import base64
import hashlib
import io
from functools import cached_property
from typing import Any, cast

import numpy as np

from collab_overcooked.envs.seen import SeatView

SEES = TEXT, PICTURE, BOTH = "text", "picture", "both"
WAYS = {TEXT: "as text", PICTURE: "as a picture", BOTH: "as text and as a picture"}  # in the rules of prompts
INSTEAD = "The picture shows what you see now."


class Picture:
    """A picture of a request.

    Args:
        pixels: uint8 (H, W, 3).

    Attributes:
        digest: SHA-256 of size and pixels, which does not depend on how they are compressed.
    """

    def __init__(self, pixels: np.ndarray) -> None:
        self._pixels = pixels
        self.digest = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(self._pixels).save(file, "PNG")
        return file.getvalue()

    @property
    def url(self) -> str:
        """The PNG file as a data URL."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


class PictureView:
    """View of a seat whose text is left out, except for a recipe, which no picture shows."""

    def __init__(self, view: SeatView) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    @property
    def text(self) -> str:
        """A reference to the picture, and the recipe."""
        return "\n".join(filter(None, (INSTEAD, self._view.recipe)))

    @property
    def manual(self) -> str:
        """Rules without references to the text observation."""
        return self._view.picture_manual

    @property
    def surroundings(self) -> str:
        """The same, for agents that list the actions themselves."""
        return self.text


def without_text(view: SeatView) -> SeatView:
    """Return a view for agents that get a picture instead of text."""
    return cast(SeatView, PictureView(view))
