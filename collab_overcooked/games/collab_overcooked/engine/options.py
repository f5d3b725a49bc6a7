"""The tasks from which orders are drawn: which ones the options choose, their weights and their time limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from collab_overcooked.games.collab_overcooked.engine.config import CollabOvercookedConfig
from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen, check_weights
from collab_overcooked.io.checks import near_matches, quote_value

ORDERS_HORIZON = 400  # steps of a game of many orders, the field's usual horizon


class OrderPool(NamedTuple):
    """The tasks from which orders are drawn."""

    tasks: tuple[str, ...]  # Their names
    weights: Mapping[str, float]  # How likely each is to be drawn, 1 where none is given
    refill: bool  # Whether delivered orders are replaced
    time_limits: Mapping[str, int]  # Steps of an episode, by task


def choose_orders(kitchen: Kitchen, config: CollabOvercookedConfig) -> OrderPool:
    """Return the tasks that the options choose."""
    if config.orders is not None and not isinstance(config.orders, (bool, Mapping)):
        raise ValueError(f"orders must be True or map tasks to weights, not {quote_value(config.orders)}")
    many = _many(config.orders)
    tasks, weights = _choose_tasks(kitchen, config.task, config.level, config.orders)
    limits = {name: time_limit_of(kitchen, name, config.gamma, config.time_limit) for name in tasks}
    return OrderPool(tasks, weights, many, dict.fromkeys(tasks, ORDERS_HORIZON) if many else limits)


def steps_allowed(reference_time: int, gamma: float, rule: str) -> int:
    """Return floor(gamma * reference time), and one more if inclusive."""
    return int(gamma * reference_time) + (rule == "inclusive")


def time_limit_of(kitchen: Kitchen, task: str, gamma: float, rule: str) -> int:
    """Return the steps allowed for a task."""
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
    chosen = task if task is not None else "boiled_egg" if "boiled_egg" in kitchen.tasks else next(iter(kitchen.tasks))
    if not isinstance(chosen, str) or chosen not in kitchen.tasks:
        raise ValueError(near_matches("task", chosen, kitchen.tasks))
    return (chosen,), {}


def _many(orders: Any) -> bool:
    return orders is not None and orders is not False
