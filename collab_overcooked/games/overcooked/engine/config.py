"""Options of Overcooked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.games.overcooked.engine.constants import MAX_PLAYERS, Rules
from collab_overcooked.games.overcooked.engine.observation_layout import AXES, ENCODINGS
from collab_overcooked.io.config import OBS_REASON, Config, boolean, choice, integer, unchecked
from collab_overcooked.kernels.macro_actions import PRIMITIVE

MAX_RADIUS = 100
HORIZON = 400  # steps of an episode, the field's usual horizon
Source = str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class OvercookedConfig(Config):
    """Options of an Overcooked."""

    presentation: ClassVar = {"obs": OBS_REASON, "axes": "Order of the axes of that array."}

    layout: Source | Sequence[Source] = unchecked(
        "cramped_room",
        "Shipped name, path of a ``.yaml`` or public ``.layout`` file, the values of one, or a list of these: a pool"
        ' from which every episode draws. ``"procedural"`` is a pool of generated layouts.',
    )
    generator: Mapping[str, Any] | None = unchecked(
        None, 'How these shall be, see ``generate.Wishes``: for example ``{"seed": 1, "count": 256, "rooms": 2}``.'
    )
    players: int | None = integer(
        None,
        "1 to 4; as many as the layout starts if None. Further players start on the first free floor cells.",
        least=1,
        most=MAX_PLAYERS,
    )
    dynamics: str = choice(
        "auto",
        '``"auto"`` starts a pot at its third ingredient (the 2019 paper, LLM-Co, JaxMARL); ``"explicit"`` needs an'
        " interact with empty hands, and cooks fewer ingredients too (Overcooked-AI's present default).",
        ("auto", "explicit"),
    )
    random_start: bool = boolean(False, "Start anywhere on the own floor, facing anywhere.")
    reward: str = choice(
        "sparse",
        '``"sparse"`` pays every player what the team delivers; ``"shaped"`` adds its own shaped reward.',
        ("sparse", "shaped"),
    )
    shaping: Mapping[str, float] | None = unchecked(
        None,
        "Shaped reward for ``potting``, a useful ``dish`` and taking ``soup`` out of a pot, as far as it shall differ"
        " from the layout's.",
    )
    gate_limit: int | None = integer(
        None, "Unoccupied steps after which an open gate closes; the layout's own if None.", least=1
    )
    gate_pause: bool = boolean(True, "Whether that count rests while somebody stands in the gate.")
    gate_opener: str = choice(
        "empty_handed", 'Who opens gates: ``"empty_handed"`` or ``"anyone"``.', ("empty_handed", "anyone")
    )
    gate_reset: bool = boolean(
        True, "Whether gates are closed when an episode starts; the original leaves them as they are."
    )
    obs: str = choice(
        "lossless", '``"lossless"``, ``"features"``, ``"features_counters"``, ``"jaxmarl"`` or ``"gates"``.', ENCODINGS
    )
    axes: str | None = choice(
        None, 'Order of a picture\'s axes: ``"whc"`` (x first, as the original), ``"hwc"`` or ``"chw"``.', tuple(AXES)
    )
    view_radius: int | None = integer(
        None, "Cells that a player sees in each direction; all if None.", least=1, most=MAX_RADIUS
    )
    action_level: str | Mapping[str, str] = unchecked(
        PRIMITIVE,
        '``"primitive"`` (also ``"low"``) or ``"medium"``, directives such as "put in c0", each of several steps, for'
        ' all players, or by agent, ``{"agent_0": "medium"}`` or ``"agent_0=medium,agent_1=low"``.',
    )
    text_rules: str = choice(
        "strict",
        'How directives are judged and carried out: ``"strict"``, or ``"original"`` as LLM-Co\'s public code.',
        [each.name.lower() for each in Rules],
    )
