"""Options of CollabCapture and CollabEscape; options that are None have the preset's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from collab_overcooked.io.config import Config, checked_by_game, choice, integer

from .constants import MAX_PLAYERS, Adversary, Exchange, Reward, Sight

PRESETS = ("code2024", "paper2023")
RANDOM = "random"
MENUS = ("lettered", "numbered", "plain")

_LETTERED = {"menu": "lettered"}
_PLAIN = {"menu": "plain", "catch_on_exchange": "never", "generators": "map"}
CAPTURE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "code2024": {"map": "nine_rooms", "adversary": "coded", "catch_on_exchange": "later", **_LETTERED},
    "paper2023": {"map": "nine_rooms", "adversary": "closest", "catch_on_exchange": "always", **_LETTERED},
}
ESCAPE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "code2024": {"map": "ten_rooms", "adversary": "coded", "fixes": 2, "fix_by": "room", "loss": "any", **_PLAIN},
    "paper2023": {
        "map": "seven_rooms",
        "adversary": "closest",
        "fixes": 4,
        "fix_by": "player",
        "loss": "all",
        **_PLAIN,
        "generators": RANDOM,  # section 3.2 of the paper
    },
}


@dataclass(frozen=True)
class RoomsConfig(Config):
    """Options of both games."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]]  # Values of each preset by option

    preset: str = choice(
        "code2024",
        'Rules: ``"code2024"`` (code released in March 2024) or ``"paper2023"`` (as described in the texts of 2023);'
        " every other option overrides one value of it.",
        PRESETS,
    )
    map: str | Path | Mapping[str, Any] | None = checked_by_game(
        None, "Layout: a built-in name, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents. Default: the layout's (2).", least=1, most=MAX_PLAYERS)
    adversary: str | None = choice(
        None,
        'Policy of thief or killer: ``"coded"`` (as in 2024), ``"distance"`` (the same thief with graph distances) or'
        ' ``"closest"`` (by the position of the closest player, as in 2023).',
        [adversary.name.lower() for adversary in Adversary],
    )
    catch_on_exchange: str | None = choice(
        None,
        'Whether a player and the adversary meet if they exchange rooms: ``"never"``, ``"later"`` (not in turn 1) or'
        ' ``"always"``.',
        [exchange.name.lower() for exchange in Exchange],
    )
    reward: str = choice(
        "sparse",
        '``"sparse"`` (1 for success, -1 for a loss, for all players) or ``"timed"`` (minus 0.01 per turn).',
        [reward.name.lower() for reward in Reward],
    )
    sight: str = choice(
        "all",
        'Visibility: ``"all"`` (everything) or ``"room"`` (the own room and those behind open passages).',
        [sight.name.lower() for sight in Sight],
    )
    menu: str | None = choice(
        None, 'Labels of the listed actions in texts: ``"lettered"``, ``"numbered"`` or ``"plain"``.', MENUS
    )
    order: str = choice(
        "shuffled",
        'Order of the labelled actions in texts: ``"shuffled"`` (drawn from what the seat reads, so that no position'
        ' stands for an action) or ``"game"`` (the original\'s).',
        ("shuffled", "game"),
    )

    def resolved(self) -> Self:
        """Return the options with the preset's values in place of None."""
        values = self.presets[self.preset].items()
        return replace(self, **{name: value for name, value in values if getattr(self, name) is None})


@dataclass(frozen=True)
class CaptureConfig(RoomsConfig):
    """Options of CollabCapture."""

    presets = CAPTURE_PRESETS

    doors: Mapping[str, bool] | None = checked_by_game(
        None, "Doors that differ from the layout at the start, with True for open: ``{'1-2': True}``."
    )


@dataclass(frozen=True)
class EscapeConfig(RoomsConfig):
    """Options of CollabEscape."""

    presets = ESCAPE_PRESETS

    fixes: int | None = integer(None, "Fixes needed per generator.", least=1, most=100)
    fix_by: str | None = choice(
        None,
        'Fixes that add up: ``"room"`` (those of all players in the room) or ``"player"`` (those of one player in'
        " consecutive turns).",
        ("room", "player"),
    )
    loss: str | None = choice(None, 'Condition of a loss: ``"any"`` or ``"all"`` survivors are caught.', ("any", "all"))
    generators: str | Sequence[Any] | None = checked_by_game(
        None, 'Rooms of the generators: a list, ``"map"`` (those of the layout) or ``"random"`` (drawn per episode).'
    )
