"""What an options choice comes to in a kitchen: the tasks that are drawn, their weights and their time limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked.errors import near_matches
from collab_overcooked.games.collab_overcooked.config import CollabOvercookedConfig
from collab_overcooked.games.collab_overcooked.constants import Event
from collab_overcooked.games.collab_overcooked.spec import Kitchen, check_weights

ORDERS_HORIZON = 400  # steps of a game of many orders, the field's usual horizon


@dataclass(frozen=True)
class Options:
    """Options that fit a kitchen; see ``CollabOvercookedConfig`` for the meaning of each."""

    action_level: str | Mapping[str, str] = "medium"
    encoding: str = "features"
    knowledge: str = "asymmetric"
    tasks: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    refill: bool = False
    time_limits: Mapping[str, int] = field(default_factory=dict)
    stuck_limit: int = 0
    shaping: Mapping[str, float] = field(default_factory=dict)


def choose_options(kitchen: Kitchen, config: CollabOvercookedConfig) -> Options:
    """Return what the options come to.

    Raises:
        ValueError: For names that the kitchen does not have, or options that exclude each other.
    """
    if config.orders is not None and not isinstance(config.orders, (bool, Mapping)):
        raise ValueError(f"orders must be True or map tasks to weights, not {config.orders!r}")
    many = _many(config.orders)
    tasks, weights = _choose_tasks(kitchen, config.task, config.level, config.orders)
    limits = {name: time_limit_of(kitchen, name, config.gamma, config.time_limit) for name in tasks}
    return Options(
        action_level=config.action_level,
        encoding=config.obs,
        knowledge=config.knowledge,
        tasks=tasks,
        weights=weights,
        refill=many,
        time_limits=dict.fromkeys(tasks, ORDERS_HORIZON) if many else limits,
        stuck_limit=kitchen.stuck_limit if config.stuck_limit is None else config.stuck_limit,
        shaping=_check_shaping(config.shaping),
    )


def time_limit_of(kitchen: Kitchen, task: str, gamma: float, rule: str) -> int:
    """Return the steps allowed for a task: floor(gamma * reference time), and one more if inclusive.

    Raises:
        ValueError: If that leaves none.
    """
    limit = int(gamma * kitchen.tasks[task].reference_time) + (rule == "inclusive")
    if limit < 1:
        reference_time = kitchen.tasks[task].reference_time
        raise ValueError(f"gamma {gamma!r} leaves no time for {task}, whose reference time is {reference_time}")
    return limit


def _choose_tasks(
    kitchen: Kitchen, task: str | None, level: Any, orders: Any
) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the tasks to draw orders from, with weights."""
    if (task is not None) + (level is not None) + _many(orders) > 1:
        raise ValueError("give only one of task, level and orders")
    if _many(orders):
        weights = check_weights(kitchen.order_probability if orders is True else orders, kitchen.tasks)
        if not weights and orders is not True:
            raise ValueError("orders must name at least one task; True draws from all")
        return tuple(weights or kitchen.tasks), weights
    if level is not None:
        levels = kitchen.levels()
        wanted = list(dict.fromkeys(level)) if isinstance(level, (list, tuple)) else [level]
        for number in wanted or [None]:
            if type(number) is not int or number not in levels:
                raise ValueError(f"unknown level {number!r}; known: {', '.join(map(str, levels))}")
        return tuple(name for number in wanted for name in levels[number]), {}
    chosen = task if task is not None else "boiled_egg" if "boiled_egg" in kitchen.tasks else next(iter(kitchen.tasks))
    if not isinstance(chosen, str) or chosen not in kitchen.tasks:
        raise ValueError(near_matches("task", chosen, kitchen.tasks))
    return (chosen,), {}


def _many(orders: Any) -> bool:
    """Tell whether a game of many orders is wanted."""
    return orders is not None and orders is not False


def _check_shaping(shaping: Mapping[str, float] | None) -> dict[str, float]:
    if not isinstance(shaping, (Mapping, type(None))):
        raise ValueError(f"shaping must map event names to numbers, not {shaping!r}")
    events = [event.name for event in Event]
    for name, weight in (shaping or {}).items():
        if name not in events:
            raise ValueError(near_matches("shaping event", name, events))
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise ValueError(f"shaping of {name} must be a number, not {weight!r}")
    return dict(shaping or {})
