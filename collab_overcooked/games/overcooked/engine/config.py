"""Options of Overcooked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.io import schema
from collab_overcooked.io.config import MAX_OPTION, OBS_REASON, Config, boolean, checked_by_game, choice, integer
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.macro_actions import PRIMITIVE

from .constants import MAX_PLAYERS, ChangeTime, Rules, Stalemate
from .observation_layout import AXES, ENCODINGS

MAX_RADIUS = 100
MAX_SIDE = 1_000  # cells of a padded picture in each direction
AFTER = ("delivery",)
BURN_COST, ORDER_COST = 5, 0  # points, by default
Source = str | Path | Mapping[str, Any]


def _changes(value: Any) -> dict[str, Any]:
    """Read when a kitchen changes; a number stands for ``every``."""
    steps = schema.integer(1, MAX_OPTION)
    parsers = {
        "every": steps,
        "random": schema.tuple_of([steps, steps], "steps"),
        "after": schema.one_of(AFTER, "event"),
    }
    entry = {"every": value} if isinstance(value, int) else value
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise schema.refuse(value, "a number of steps, or one of every: 100, random: [80, 120] and after: delivery")
    read: dict[str, Any] = schema.record(parsers)(dict(entry))
    if "random" in read and read["random"][0] > read["random"][1]:
        raise schema.refuse(value, "random: [least, most] steps")
    return read


@dataclass(frozen=True, kw_only=True)
class KitchenConfig(Config):
    """Options of Overcooked and of OvercookedV2."""

    changes: int | Mapping[str, Any] | None = checked_by_game(
        None,
        "When the kitchen changes into the next layout of the pool: every number of steps (``100`` or"
        " ``{every: 100}``), after a number drawn from the episode's seed (``{random: [80, 120]}``), or after a"
        " delivery (``{after: delivery}``). Default: never.",
        _changes,
    )
    notice: int = integer(
        0, "Steps for which a change is announced in observations, texts and pictures; 0 keeps it secret.", least=0
    )
    burn: int | None = integer(
        None, "Steps after which ready soup burns if it stays in its pot, which is then empty. Default: never.", least=1
    )
    burn_cost: int = integer(BURN_COST, "Points that each burnt soup costs the team.", least=0)
    order_time: int | None = integer(
        None,
        "Steps for which one order at a time stands, drawn from those of the layout; only its soup pays. The next one"
        " comes after its delivery or at the end of its time. Default: orders stand for ever.",
        least=1,
    )
    order_cost: int = integer(
        ORDER_COST, "Points that each order costs the team if its time is over before it is delivered.", least=0
    )

    def check_costs(self) -> None:
        """Refuse a cost of what cannot happen.

        Raises:
            ValueError: Soup that does not burn, or an order that stands for ever, has one.
        """
        if self.burn is None and self.burn_cost != BURN_COST:
            raise ValueError(f"burn_cost={self.burn_cost} is for soup that burns; set burn, too")
        if self.order_time is None and self.order_cost != ORDER_COST:
            raise ValueError(f"order_cost={self.order_cost} is for orders that end; set order_time, too")

    def most_lost(self, pots: int) -> dict[str, int]:
        """Return the most points that an event costs the team in a step, by its name in ``constants.KitchenEvent``."""
        return {"SOUP_BURNT": self.burn_cost * pots, "ORDER_EXPIRED": self.order_cost}

    def soup_rules(self) -> list[str]:
        """Return the rules of soup that stays in its pot, in words."""
        if self.burn is None:
            return []
        when = f"Soup that stays in its pot for {plural(self.burn, 'step')} after it is ready burns"
        return [f"{when}: the pot is empty, and it costs {plural(self.burn_cost, 'point')}."]

    def last_tick(self, cook_time: int) -> int:
        """Return the highest tick of soup in a pot: the one at which it is ready, or the last before it burns."""
        return cook_time + (self.burn or 1) - 1

    def longest_time(self, cook_time: int) -> int:
        """Return the longest time that a pot shows: until its soup is ready, or then until it burns."""
        return max(cook_time, self.burn or 0)


def change_steps(changes: Any) -> tuple[int, int]:
    """Return the fewest and the most steps between two changes; 0 where a delivery brings them, or nothing does."""
    known: Any = changes or {}
    low, high = known.get("random", [known.get("every", 0)] * 2)
    return low, high


def pack_changes(changes: Any) -> dict[str, int]:
    """Return the entries of ``Param`` that the option ``changes`` decides, in lower case."""
    low, high = change_steps(changes)
    times = ChangeTime.TIMED if high else ChangeTime.DELIVERY
    return {"changes": ChangeTime.NEVER if changes is None else times, "change_low": low, "change_high": high}


def _size(value: Any) -> list[int]:
    numbers = value.lower().split("x") if isinstance(value, str) else value
    if not isinstance(numbers, (list, tuple)) or len(numbers) != 2:
        raise schema.refuse(value, 'columns and rows, [9, 6] or "9x6"')
    return [schema.integer(1, MAX_SIDE)(int(n) if isinstance(n, str) and n.isdecimal() else n) for n in numbers]


@dataclass(frozen=True)
class OvercookedConfig(KitchenConfig):
    """Options of Overcooked."""

    presentation: ClassVar = {
        "obs": OBS_REASON,
        "axes": "Order of the axes of that array.",
        "size": "Padding of that array.",
    }

    layout: Source | Sequence[Source] = checked_by_game(
        "cramped_room",
        "Built-in name, path of a ``.yaml`` or public ``.layout`` file, the values of one, or a list of these: a pool"
        ' from which every episode draws. ``"procedural"`` is a pool of generated layouts.',
    )
    generator: Mapping[str, Any] | None = checked_by_game(
        None, 'Options of the generator, see ``generate.GeneratorConfig``: ``{"seed": 1, "count": 256, "rooms": 2}``.'
    )
    agents: int | None = integer(
        None,
        "Number of agents, 1 to 4. Default: the layout's. Further agents start on the first free floor cells.",
        least=1,
        most=MAX_PLAYERS,
    )
    dynamics: str = choice(
        "auto",
        '``"auto"`` starts a pot at its third ingredient (the 2019 paper, LLM-Co, JaxMARL); ``"explicit"`` needs an'
        " interact with empty hands, and also cooks fewer ingredients (Overcooked-AI's current default).",
        ("auto", "explicit"),
    )
    random_start: bool = boolean(False, "Start on a random cell of the player's floor, with a random facing.")
    reward: str = choice(
        "sparse",
        '``"sparse"`` (every player gets the value of all deliveries) or ``"shaped"`` (plus its own shaped reward).',
        ("sparse", "shaped"),
    )
    shaping: Mapping[str, float] | None = checked_by_game(
        None,
        "Shaped rewards that override the layout's: ``potting``, a useful ``dish``, and taking ``soup`` out of a pot.",
    )
    gate_limit: int | None = integer(
        None, "Unoccupied steps after which an open gate closes. Default: the layout's.", least=1
    )
    gate_pause: bool = boolean(True, "Pause that count while a player stands in the gate.")
    gate_opener: str = choice(
        "empty_handed", 'Who opens gates: ``"empty_handed"`` or ``"anyone"``.', ("empty_handed", "anyone")
    )
    gate_reset: bool = boolean(True, "Close all gates when an episode starts; the original does not reset them.")
    obs: str = choice("lossless", '``"lossless"``, ``"features"``, ``"jaxmarl"`` or ``"gates"``.', ENCODINGS)
    axes: str | None = choice(
        None, 'Order of a picture\'s axes: ``"whc"`` (x first, as the original), ``"hwc"`` or ``"chw"``.', tuple(AXES)
    )
    view_radius: int | None = integer(
        None, "Cells that a player sees in each direction. Default: all.", least=1, most=MAX_RADIUS
    )
    size: Sequence[int] | None = checked_by_game(
        None,
        'Columns and rows of pictures, ``[9, 6]`` or ``"9x6"``: smaller layouts are padded with walls'
        ' at the right and the bottom. Default: the largest layout of the pool; for ``"procedural"`` the largest'
        " that ``generator`` allows.",
        _size,
    )
    action_level: str | Mapping[str, str] = checked_by_game(
        PRIMITIVE,
        '``"primitive"`` (also ``"low"``) or ``"medium"``, directives such as "put in c0", each of several steps, for'
        ' all players, or by agent, ``{"agent_0": "medium"}`` or ``"agent_0=medium,agent_1=low"``.',
    )
    text_rules: str = choice(
        "strict",
        'Rules of directives: ``"strict"``, or ``"original"`` as in LLM-Co\'s public code.',
        [rules.name.lower() for rules in Rules],
    )
    stalemate: str = choice(
        "code",
        'Who gives way with ``text_rules="original"`` when stuck: ``"code"`` (all but the first player step aside and'
        ' keep their directives, as in the public code) or ``"paper"`` (the same, and who is stuck chooses again).',
        [stalemate.name.lower() for stalemate in Stalemate],
    )
