"""Settings of games with people; each is kept in the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta

from collab_overcooked.io.structs import check_fields
from collab_overcooked.policies.specs import PolicySpec

Clock = Literal["game", "turns", "ticks"]
TURNS: Final = "turns"
TICKS: Final = "ticks"
BY_GAME: Final = "game"  # the clock that suits the game
LEAVING = ("idle", "pause", "end")
Language = Literal["en", "de"]
LANGUAGES = get_args(Language)  # of which there is a file ``page/words.LANGUAGE.json``


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """Settings of a game with people."""

    # ``"turns"`` (a step is taken when everybody has chosen), ``"ticks"`` (every ``tick`` seconds), or ``"game"``:
    # ticks where all people have moves for the arrow keys, else turns
    clock: Clock = BY_GAME
    # Seconds of a step in real time; 0.15 makes 400 steps of a minute
    tick: Annotated[float, Meta(ge=0.03, le=10.0)] = 0.15
    # Form of observations: ``"words"`` (what a language agent reads), ``"picture"`` or ``"both"``
    show: Literal["both", "words", "picture"] = "both"
    # Actions on offer: ``"legal"`` ones, the whole ``"vocabulary"``, or ``"none"``
    menu: Literal["legal", "vocabulary", "none"] = "legal"
    names: Literal["shown", "blind"] = "shown"  # Whether people are told who plays beside them
    # Seconds for a decision in turns, after which the seat idles; None to wait
    decide_within: Annotated[float, Meta(ge=1.0, le=3600.0)] | None = None
    # Seconds that a lost connection is waited for before ``on_leave`` counts
    grace: Annotated[float, Meta(ge=0.0, le=3600.0)] = 60.0
    # Replacement of a person who does not come back: ``"idle"``, ``"pause"`` (the game waits), ``"end"`` (it is
    # abandoned), or the spec of a policy that plays on
    on_leave: str = "idle"
    # Seconds between steps of a game in turns in which no person is asked
    pace: Annotated[float, Meta(ge=0.0, le=5.0)] = 0.25
    # Seconds from everybody's ready to the first step in real time
    countdown: Annotated[float, Meta(ge=0.0, le=10.0)] = 3.0
    # Whether people see the metrics of an episode that is over, what decided it, and how often each seat acted
    metrics: bool = True
    replay: bool = True  # Whether people may watch an episode that is over
    tutorial: bool = False  # Whether episodes are practice, which is kept apart from records
    fullscreen: bool = False  # Whether the page of the game asks the browser to fill the screen
    language: Language | Literal[""] = ""  # Of pages; empty to let everybody choose

    def __post_init__(self) -> None:
        check_fields(self)
        if self.on_leave not in LEAVING:
            try:
                PolicySpec.parse(self.on_leave).check()
            except (ValueError, TypeError) as error:
                raise ValueError(f"on_leave must be one of {', '.join(LEAVING)}, or a policy: {error}") from None
