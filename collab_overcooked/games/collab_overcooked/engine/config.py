"""Options of Collab-Overcooked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.config import OBS_REASON, Config, boolean, checked_by_game, choice, integer, number
from collab_overcooked.kernels.macro_actions import MEDIUM

from .constants import MAX_GAMMA, Encoding
from .spec import Kitchen, check_weights

PRESETS = ("fixed", "original")
CODE, PAPER = "code", "paper"  # interfaces
PAPER_WAIT = 20  # longest wait of the paper's action lists


@dataclass(frozen=True)
class CollabOvercookedConfig(Config):
    """Options of Collab-Overcooked."""

    presentation: ClassVar = {"obs": OBS_REASON}

    task: str | None = checked_by_game(
        None, 'Order of every episode. Default without level and orders: ``"boiled_egg"``.'
    )
    level: int | list[int] | tuple[int, ...] | None = checked_by_game(
        None, "Level, or levels, from which each episode's task is drawn."
    )
    orders: bool | Mapping[str, float] | None = checked_by_game(
        None,
        "A game of many orders, drawn from the tasks: True for the kitchen's probabilities, or a mapping of task to"
        " weight. Delivered orders are replaced; the game runs to ``max_cycles`` (default 400).",
    )
    kitchen: str | Path = checked_by_game("paper", "Built-in layout or path of a YAML file.")
    preset: str = choice(
        "fixed",
        '``"fixed"``, or ``"original"``, which reproduces known faults of the released code because published numbers'
        " were measured with them: putting into a full utensil, delivering unfinished food, delivering or filling out"
        " of reach, and platings that are logged as puts.",
        PRESETS,
    )
    interface: str = choice(
        CODE,
        'Actions and texts of medium-level agents: ``"code"``, or ``"paper"``, the printed listings: only those who can'
        f" deliver fill dishes, waits take up to {PAPER_WAIT} steps, and texts leave out counters that one agent alone"
        " can use.",
        (CODE, PAPER),
    )
    action_level: str | Mapping[str, str] = checked_by_game(
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
    global_state: bool = boolean(
        False,
        "Show agents the paper's global state in scenes, text and pictures: positions of agents and stations, and all"
        " counters, also those out of reach. Observations are the same.",
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
    shaping: Mapping[str, float] | None = checked_by_game(
        None, 'Extra reward of the acting agent by event name, for example ``{"PUT": 1.0}``.'
    )


ORDERS_HORIZON = 400  # steps of a game of many orders, the field's usual horizon


class OrderPool(NamedTuple):
    """Tasks from which orders are drawn."""

    tasks: tuple[str, ...]  # Their names
    weights: Mapping[str, float]  # How likely each is to be drawn, 1 where none is given
    refill: bool  # Whether delivered orders are replaced
    time_limits: Mapping[str, int]  # Steps of an episode, by task


def choose_orders(kitchen: Kitchen, config: CollabOvercookedConfig) -> OrderPool:
    """Return the tasks that the options choose.

    Raises:
        ValueError: The option is neither True nor a mapping of tasks to weights.
    """
    if config.orders is not None and not isinstance(config.orders, (bool, Mapping)):
        raise ValueError(f"orders must be True or map tasks to weights, not {quote_value(config.orders)}")
    many = _many(config.orders)
    tasks, weights = _choose_tasks(kitchen, config.task, config.level, config.orders)
    limits = {name: time_limit_of(kitchen, name, config.gamma, config.time_limit) for name in tasks}
    return OrderPool(tasks, weights, many, dict.fromkeys(tasks, ORDERS_HORIZON) if many else limits)


def steps_allowed(reference_time: int, gamma: float, rule: str = "strict") -> int:
    """Return floor(gamma * reference time), and one more if inclusive."""
    return int(gamma * reference_time) + (rule == "inclusive")


def time_limit_of(kitchen: Kitchen, task: str, gamma: float, rule: str) -> int:
    """Return the steps allowed for a task.

    Raises:
        ValueError: The factor leaves no step.
    """
    limit = steps_allowed(kitchen.tasks[task].reference_time, gamma, rule)
    if limit < 1:
        reference_time = kitchen.tasks[task].reference_time
        raise ValueError(f"gamma {gamma!r} leaves no time for {task}, whose reference time is {reference_time}")
    return limit


def _choose_tasks(
    kitchen: Kitchen, task: str | None, level: Any, orders: Any
) -> tuple[tuple[str, ...], dict[str, float]]:
    if (task is not None) + (level is not None) + _many(orders) > 1:
        raise ValueError("give only one of task, level and orders")
    if _many(orders):
        weights = check_weights(kitchen.order_probability if orders is True else orders, kitchen.tasks)
        if not weights and orders is not True:
            raise ValueError("orders must name at least one task; True draws from all")
        return tuple(weights or kitchen.tasks), weights
    if level is not None:
        levels = kitchen.levels()
        numbers = list(level) if isinstance(level, (list, tuple)) else [level]
        for number in numbers or [None]:
            if type(number) is not int or number not in levels:
                raise ValueError(f"unknown level {quote_value(number)}; known: {', '.join(map(str, levels))}")
        return tuple(name for number in dict.fromkeys(numbers) for name in levels[number]), {}
    chosen = task
    if chosen is None:
        chosen = "boiled_egg" if "boiled_egg" in kitchen.tasks else next(iter(kitchen.tasks))
    if not isinstance(chosen, str) or chosen not in kitchen.tasks:
        raise ValueError(near_matches("task", chosen, kitchen.tasks))
    return (chosen,), {}


def _many(orders: Any) -> bool:
    return orders is not None and orders is not False
