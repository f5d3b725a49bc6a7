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
    """Options of a Collab-Overcooked."""

    presentation: ClassVar = {"obs": OBS_REASON}

    task: str | None = unchecked(
        None, 'Name of the one order of every episode; with neither task, level nor orders: ``"boiled_egg"``.'
    )
    level: int | list[int] | tuple[int, ...] | None = unchecked(
        None, "Draw each episode's task from this level, or from several."
    )
    orders: bool | Mapping[str, float] | None = unchecked(
        None,
        "A game of many orders, drawn from the tasks: True for the kitchen's own probabilities, or a mapping of task to"
        " weight. Delivered orders are replaced; the game runs to ``max_cycles`` (default 400).",
    )
    kitchen: str | Path = unchecked("paper", "Shipped kitchen or path of a YAML file.")
    preset: str = choice(
        "fixed",
        '``"fixed"``, or ``"original"``, which plays known faults of the released code that language agents meet, as'
        " published numbers were measured with them: putting into a full utensil, delivering half-made food, delivering"
        " or filling out of reach, and platings that are logged as puts.",
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
        [each.name.lower() for each in Encoding],
    )
    knowledge: str = choice(
        "asymmetric",
        'Who sees recipes: ``"asymmetric"`` (as the kitchen says, the chef only) or ``"full"``.',
        ("asymmetric", "full"),
    )
    gamma: float = number(1.5, "Time limit as a multiple of the task's reference time (paper: 1.5).", below=MAX_GAMMA)
    time_limit: str = choice(
        "inclusive",
        '``"inclusive"`` allows ``floor(gamma * reference) + 1`` steps, which is what the published success rates'
        ' count; ``"strict"`` allows one less, as the paper\'s text has it.',
        ("inclusive", "strict"),
    )
    show_limit: bool = boolean(
        True, "Whether agents are told how much time they have; without it, one run can be judged by several limits."
    )
    stuck_limit: int | None = integer(
        None,
        "Give an action up after this many steps in which its agent neither moved nor changed hands; 0 for never; None"
        " for the kitchen's own.",
        least=0,
    )
    shaping: Mapping[str, float] | None = unchecked(
        None, 'Extra reward of the acting agent by event name, for example ``{"PUT": 1.0}``.'
    )
