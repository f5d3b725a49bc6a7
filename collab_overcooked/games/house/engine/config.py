"""Options of the household games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked.io.config import Config, boolean, checked_by_game, choice, integer

TALK = ("free", "paid")
STEPPING = ("event", "tick")
TASKS = ("afternoon_tea", "wash_dishes", "prepare_meal", "put_groceries", "set_table")
LOADS = ("food", "stuff")


@dataclass(frozen=True)
class HouseConfig(Config):
    """Options of both games, and the fixed parameters of each home by names of ``Param``."""

    tasks: ClassVar[tuple[str, ...]]  # families
    task: str | None = checked_by_game(None, "Family of tasks; one is drawn for each episode if None.")
    agents: int = integer(2, "Number of agents.", least=1, most=4)
    action_level: Any = checked_by_game(
        "medium", '``"medium"`` (sub-plans) or ``"primitive"``, for all seats or by agent name.'
    )
    stepping: str = choice(
        "event", '``"event"`` (a step lasts until an agent can choose anew) or ``"tick"`` (one tick).', STEPPING
    )
    preempt: bool = boolean(False, "Whether seats may replace what they are doing; if not, they can only go on.")
    talk: str = choice("paid", '``"paid"`` (words cost their speaker an action) or ``"free"``.', TALK)


@dataclass(frozen=True)
class HouseworkConfig(HouseConfig):
    """Options of Housework."""

    tasks = TASKS
    reach = near = put_near = put_reach = 1
    rooms: int = integer(4, "Rooms of the home; 4 as published.", least=4, most=8)
    items: int = integer(5, "Most items of a goal; 5 as published.", least=3, most=10)
    max_ticks: int = integer(250, "Steps of an episode, in ticks.", least=1)
    auto_open: bool = boolean(True, "Whether a closed goal container is opened with full hands.")


@dataclass(frozen=True)
class TransportConfig(HouseConfig):
    """Options of Transport."""

    tasks = LOADS
    reach = 4
    near = 2
    put_near = 3
    put_reach = 6
    doors = 1
    rooms: int = integer(6, "Rooms of the house; 6 and 8 as published.", least=4, most=8)
    targets: int = integer(10, "Things to bring to the bed; 10 as published.", least=1, most=12)
    containers: int = integer(5, "Containers that lie about; 5 and 2 as published.", least=0, most=5)
    container_lost: bool = boolean(True, "Whether a container is gone once it is delivered.")
    miss: int = integer(0, "Per cent of first sightings that agents miss.", least=0, most=90)
    max_ticks: int = integer(3000, "Frames of an episode, in ticks.", least=1)
