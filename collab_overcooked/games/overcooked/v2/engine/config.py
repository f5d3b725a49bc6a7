"""Options of OvercookedV2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.io.config import boolean, checked_by_game, choice, integer

from ...engine.config import MAX_RADIUS, KitchenConfig, Source


@dataclass(frozen=True)
class OvercookedV2Config(KitchenConfig):
    """Options of OvercookedV2."""

    layout: Source | Sequence[Source] = checked_by_game(
        "grounded_coord_simple",
        "Built-in name, path of a ``.yaml`` file, the values of one, or a list of these: a pool from which every"
        ' episode draws. ``"procedural"`` is a pool of generated layouts.',
    )
    view_radius: int | None = integer(
        None,
        "Cells that a player sees in each direction, in texts and pictures too. Default: all.",
        least=1,
        most=MAX_RADIUS,
    )
    negative_rewards: bool = boolean(False, "A soup that is not the recipe costs 20 points instead of 0.")
    redraw_recipe: bool = boolean(False, "Draw the recipe anew after a delivery of it.")
    random_start: bool = boolean(False, "Start on a random cell of the player's room, with a random facing.")
    random_state: bool = boolean(
        False, "Start with random things in hands, in pots and on counters too, for tests of robustness."
    )
    delivery_light: bool = boolean(False, "Show at serving cells for one step that the recipe was delivered.")
    dynamics: str = choice(
        "auto",
        '``"auto"`` starts a pot at its third ingredient; ``"explicit"`` needs an interact with empty hands, and also'
        " cooks fewer ingredients.",
        ("auto", "explicit"),
    )
    permuted_ingredients: Sequence[int] | None = checked_by_game(
        None,
        "Other-play: numbers of ingredients, such as ``[0, 1]``, whose channels are exchanged at random in the"
        " observations of each player, anew in every episode.",
    )
    reward: str = choice(
        "sparse",
        '``"sparse"`` (every player gets the points of the team) or ``"shaped"`` (plus its own shaped reward).',
        ("sparse", "shaped"),
    )
    channels: str = choice(
        "all",
        '``"all"`` or ``"paper2025"``: with a view radius, the last channels are missing where there are several'
        " ingredients, as in the code of the paper.",
        ("all", "paper2025"),
    )
    generator: Mapping[str, Any] | None = checked_by_game(
        None, 'Options of the generator of ``"procedural"``: ``{"seed": 1, "count": 256, "rooms": 2}``.'
    )
