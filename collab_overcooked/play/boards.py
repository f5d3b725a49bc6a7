"""Pictures for pages: the floor plan of a seat's sheet as places and small images, which a page keeps.

A page is sent the image of a tile once. A frame then is a list of places, a kilobyte instead of a whole picture, and
no game is drawn a second time in another language.
"""

from __future__ import annotations

import base64
import hashlib
import io
from functools import lru_cache
from typing import Any

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.render.model import Board, Cell, Cook
from collab_overcooked.render.rgb import cell_image
from collab_overcooked.render.sprites import cook_image

TILE = 56  # pixels


@lru_cache(maxsize=4096)
def tile_image(part: Cell | Cook, side: int) -> tuple[str, str]:
    """Return the name of a tile's image, which depends on its pixels alone, and the image as a data address."""
    image = cell_image(part, side) if isinstance(part, Cell) else cook_image(part, side)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    return hashlib.sha256(data).hexdigest()[:12], f"data:image/png;base64,{base64.b64encode(data).decode()}"


def board_of(game: Any, scene: dict[str, Any], seat: int | None, sent: set[str]) -> dict[str, Any] | None:
    """Return the floor plan of a scene, fit for JSON; None where a game has none.

    Args:
        game: Compiled game.
        scene: What the seat may know, or all.
        seat: Index of the agent; None for all.
        sent: Names of the images that the page has; those that it is sent now are added.
    """
    board = next((part for part in plain(game).sheet(scene, seat).parts if isinstance(part, Board)), None)
    return None if board is None else _as_json(board, sent)


def _as_json(board: Board, sent: set[str]) -> dict[str, Any]:
    tiles: dict[str, str] = {}

    def name_of(part: Cell | Cook, side: int) -> str:
        name, data = tile_image(part, side)
        if name not in sent:
            sent.add(name)
            tiles[name] = data
        return name

    cook_side = max(8, round(board.cook_size * TILE))
    return {
        "size": list(board.size),
        "ground": board.ground,
        "patches": [list(patch) for patch in board.patches],
        "links": [[*link.start, *link.end, link.colour, link.arrow, link.crossed] for link in board.links],
        "cells": [[x, y, name_of(cell, TILE), cell.caption] for (x, y), cell in board.cells],
        "cooks": [[x, y, name_of(cook, cook_side)] for (x, y), cook in board.cooks],
        "cook_size": board.cook_size,
        "tiles": tiles,
    }
