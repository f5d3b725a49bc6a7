"""Options of CollabCapture and CollabEscape; what is None is as the preset has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from collab_overcooked.games.rooms.engine.constants import MAX_PLAYERS, Adversary, Exchange, Reward, Sight
from collab_overcooked.io.config import Config, choice, integer, unchecked

PRESETS = ("code2024", "paper2023")
RANDOM = "random"
MENUS = ("lettered", "numbered", "plain")

CAPTURE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "code2024": {
        "map": "nine_rooms",
        "adversary": "coded",
        "catch_on_exchange": "later",
        "horizon": 30,
        "menu": "lettered",
        "players": None,
        "doors": {},
    },
    "paper2023": {
        "map": "nine_rooms",
        "adversary": "closest",
        "catch_on_exchange": "always",
        "horizon": 30,
        "menu": "lettered",
        "players": None,
        "doors": {},
    },
}
ESCAPE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "code2024": {
        "map": "ten_rooms",
        "adversary": "coded",
        "catch_on_exchange": "never",
        "horizon": 30,
        "menu": "plain",
        "players": None,
        "fixes": 2,
        "fix_by": "room",
        "loss": "any",
        "generators": "map",
    },
    "paper2023": {
        "map": "seven_rooms",
        "adversary": "closest",
        "catch_on_exchange": "never",
        "horizon": 30,
        "menu": "plain",
        "players": None,
        "fixes": 4,
        "fix_by": "player",
        "loss": "all",
        "generators": "map",
    },
}


@dataclass(frozen=True)
class RoomsConfig(Config):
    """Options of both games."""

    preset: str = choice(
        "code2024",
        '``"code2024"`` (the code released in March 2024, turn by turn) or ``"paper2023"`` (as the texts of 2023 tell'
        " the game); every other option changes one thing in it.",
        PRESETS,
    )
    map: str | Path | Mapping[str, Any] | None = unchecked(
        None, "Shipped map, path of a YAML file, or the values of such a file."
    )
    players: int | None = integer(None, "Number of players; the map's own (2) if None.", least=1, most=MAX_PLAYERS)
    adversary: str | None = choice(
        None,
        'How thief or killer decides: ``"coded"`` (as in 2024), ``"distance"`` (the same thief by graph distance),'
        ' ``"closest"`` (by where the closest player is now, as in 2023) or ``"worst"`` (against best play).',
        [each.name.lower() for each in Adversary],
    )
    catch_on_exchange: str | None = choice(
        None,
        'Whether players and adversary meet who exchange rooms: ``"never"``, ``"later"`` (not in turn 1) or'
        ' ``"always"``.',
        [each.name.lower() for each in Exchange],
    )
    horizon: int | None = integer(None, "Turns of an episode (30).", least=1)
    reward: str = choice(
        "sparse",
        '``"sparse"`` (1 for success, -1 for a loss, for all players) or ``"timed"`` (0.01 less for every turn).',
        [each.name.lower() for each in Reward],
    )
    sight: str = choice(
        "all",
        'What players see: ``"all"``, or ``"room"``: their own room and those that open passages lead to.',
        [each.name.lower() for each in Sight],
    )
    menu: str | None = choice(
        None, 'How texts list the possible actions: ``"lettered"``, ``"numbered"`` or ``"plain"``.', MENUS
    )

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return the values of each preset by option."""
        raise NotImplementedError

    def resolved(self) -> Self:
        """Return the options with the preset's values for those that are None."""
        own = self.presets()[self.preset]
        missing = {each.name: own[each.name] for each in fields(self) if getattr(self, each.name) is None}
        return replace(self, **{name: value for name, value in missing.items() if value is not None})


@dataclass(frozen=True)
class CaptureConfig(RoomsConfig):
    """Options of CollabCapture."""

    doors: Mapping[str, bool] | None = unchecked(
        None, "Which doors are open at the start, as far as the map is to be changed: ``{'1-2': True}``."
    )

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return the values of each preset by option."""
        return CAPTURE_PRESETS


@dataclass(frozen=True)
class EscapeConfig(RoomsConfig):
    """Options of CollabEscape."""

    fixes: int | None = integer(None, "Fixes that a generator needs.", least=1, most=100)
    fix_by: str | None = choice(
        None,
        'Whose fixes count together: ``"room"`` (whoever works there, several add up) or ``"player"`` (one player\'s in'
        " turns one after the other).",
        ("room", "player"),
    )
    loss: str | None = choice(
        None, 'When the game is lost: if ``"any"`` survivor is caught, or if ``"all"`` are.', ("any", "all")
    )
    generators: str | Sequence[Any] | None = unchecked(
        None, 'Rooms of the generators: a list, ``"map"`` for the map\'s, or ``"random"`` for others in each episode.'
    )

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return the values of each preset by option."""
        return ESCAPE_PRESETS
