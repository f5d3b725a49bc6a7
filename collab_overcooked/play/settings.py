"""Settings of games with people; each is kept in the record."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.game_spec import MENUS
from collab_overcooked.io.checks import near_matches, parse_text, quote_value
from collab_overcooked.policies.specs import PolicySpec

TURNS, TICKS = "turns", "ticks"
BY_GAME = "game"  # the clock that suits the game
LEAVING = ("idle", "pause", "end")
LANGUAGES = ("en", "de")  # of which there is a file ``page/words.LANGUAGE.json``
ALLOWED = {
    "clock": (BY_GAME, TURNS, TICKS),
    "show": ("both", "words", "picture"),
    "menu": (*MENUS, "none"),
    "names": ("shown", "blind"),
    "language": ("", *LANGUAGES),
}
RANGES = {
    "tick": (0.03, 10.0),
    "decide_within": (1.0, 3600.0),
    "grace": (0.0, 3600.0),
    "pace": (0.0, 5.0),
    "countdown": (0.0, 10.0),
}
FLAGS = ("metrics", "replay", "tutorial", "fullscreen")


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """Settings of a game with people."""

    # ``"turns"`` (a step is taken when everybody has chosen), ``"ticks"`` (every ``tick`` seconds), or ``"game"``:
    # ticks where all people have moves for the arrow keys, else turns
    clock: str = BY_GAME
    tick: float = 0.15  # Seconds of a step in real time; 0.15 makes 400 steps of a minute
    show: str = "both"  # Form of observations: ``"words"`` (what a language agent reads), ``"picture"`` or ``"both"``
    menu: str = "legal"  # Actions on offer: ``"legal"`` ones, the whole ``"vocabulary"``, or ``"none"``
    names: str = "shown"  # Whether people are told who plays beside them, ``"shown"`` or ``"blind"``
    decide_within: float | None = None  # Seconds for a decision in turns, after which the seat idles; None to wait
    grace: float = 60.0  # Seconds that a lost connection is waited for before ``on_leave`` counts
    # Replacement of a person who does not come back: ``"idle"``, ``"pause"`` (the game waits), ``"end"`` (it is
    # abandoned), or the spec of a policy that plays on
    on_leave: str = "idle"
    pace: float = 0.25  # Seconds between steps of a game in turns in which no person is asked
    countdown: float = 3.0  # Seconds from everybody's ready to the first step in real time
    metrics: bool = True  # Whether people see the metrics of an episode that is over
    replay: bool = True  # Whether people may watch an episode that is over
    tutorial: bool = False  # Whether episodes are practice, which is kept apart from records
    fullscreen: bool = False  # Whether the page of the game asks the browser to fill the screen
    language: str = ""  # Of pages, ``"en"`` or ``"de"``; empty to let everybody choose

    def __post_init__(self) -> None:
        values = vars(self)
        for name, allowed in ALLOWED.items():
            if values[name] not in allowed:
                raise ValueError(near_matches(name, values[name], allowed))
        for name, (low, high) in RANGES.items():
            value = values[name]
            if value is None and name == "decide_within":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise ValueError(
                    f"{name} must be a number of seconds from {low:g} to {high:g}, not {quote_value(value)}"
                )
        for name in FLAGS:
            if not isinstance(values[name], bool):
                raise ValueError(f"{name} must be true or false, not {quote_value(values[name])}")
        if self.on_leave not in LEAVING:
            try:
                PolicySpec.parse(parse_text(self.on_leave, "a policy")).check()
            except (ValueError, TypeError) as error:
                raise ValueError(f"on_leave must be one of {', '.join(LEAVING)}, or a policy: {error}") from None
