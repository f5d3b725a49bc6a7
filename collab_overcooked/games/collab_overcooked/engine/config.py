"""Options of Collab-Overcooked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from collab_overcooked.games.collab_overcooked.engine.constants import Encoding
from collab_overcooked.io.config import OBS_REASON, Config, boolean, choice, integer, number, unchecked
from collab_overcooked.kernels.macro_actions import MEDIUM

MAX_GAMMA = 10_000
PRESETS = ("fixed", "original")


@dataclass(frozen=True)
class CollabOvercookedConfig(Config):
    """Options of Collab-Overcooked."""

    presentation: ClassVar = {"obs": OBS_REASON}

    task: str | None = unchecked(None, 'Order of every episode. Default without level and orders: ``"boiled_egg"``.')
    level: int | list[int] | tuple[int, ...] | None = unchecked(
        None, "Level, or levels, from which each episode's task is drawn."
    )
    orders: bool | Mapping[str, float] | None = unchecked(
        None,
        "A game of many orders, drawn from the tasks: True for the kitchen's probabilities, or a mapping of task to"
        " weight. Delivered orders are replaced; the game runs to ``max_cycles`` (default 400).",
    )
    kitchen: str | Path = unchecked("paper", "Built-in layout or path of a YAML file.")
    preset: str = choice(
        "fixed",
        '``"fixed"``, or ``"original"``, which reproduces known faults of the released code because published numbers'
        " were measured with them: putting into a full utensil, delivering unfinished food, delivering or filling out"
        " of reach, and platings that are logged as puts.",
        PRESETS,
    )
    action_level: str | Mapping[str, str] = unchecked(
        MEDIUM,
        '``"medium"`` (func(args) actions that take several steps) or ``"primitive"`` (also ``"low"``) for all seats,'
        ' or by agent, ``{"agent_0": "medium", "agent_1": "low"}`` or ``"agent_0=medium,agent_1=low"``.',
    )
    obs: str = choice(
        "features",
        '``"features"`` (flat) or ``"grid"`` (H, W, channels), both uint8.',
        [encoding.name.lower() for encoding in Encoding],
    )
    knowledge: str = choice(
        "asymmetric",
        'Agents that see recipes: ``"asymmetric"`` (those of the kitchen: the chef) or ``"full"`` (all).',
        ("asymmetric", "full"),
    )
    gamma: float = number(1.5, "Time limit as a multiple of the task's reference time (paper: 1.5).", below=MAX_GAMMA)
    time_limit: str = choice(
        "inclusive",
        '``"inclusive"`` allows ``floor(gamma * reference) + 1`` steps, as in the published success rates;'
        ' ``"strict"`` allows one less, as in the paper\'s text.',
        ("inclusive", "strict"),
    )
    show_limit: bool = boolean(
        True, "Show agents their time limit; without it, one run can be evaluated with several limits."
    )
    stuck_limit: int | None = integer(
        None,
        "Steps without progress (movement, or a change of the hand) after which an action fails; 0 for never. Default:"
        " the kitchen's.",
        least=0,
    )
    shaping: Mapping[str, float] | None = unchecked(
        None, 'Extra reward of the acting agent by event name, for example ``{"PUT": 1.0}``.'
    )
