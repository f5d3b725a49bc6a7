"""Options of the suites of Collab-Overcooked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option

from .engine.constants import MAX_GAMMA

LEVELS = "3"  # of the paper's experiments
SAMPLES = 20  # of each state
ALL_ACTIONS, PAPER_ACTIONS = "all", "paper"
Denominator = Literal["conversations", "required"]
Initiators = Literal["chef", "both"]
Response = Literal["announced", "executed"]
Quotes = Literal["single", "any"]


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    levels: str | None = option(None, "Levels such as 1-6 or 1,3. Default: all.", metavar=NAMES)
    tasks: tuple[str, ...] | None = option(None, "Task names instead of levels.")
    episodes: int = option(1, "Episodes of each task.")
    kitchen: str = option("paper", "Built-in kitchen or path of a YAML file.")
    gamma: float = option(1.5, "Time limit as a multiple of the reference time.")


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TaskOptions):
    """Options of the suite beyond team, seed and options of the environment."""

    levels: str | None = option(
        None, f"Levels such as 1-6 or 1,3. Default: {LEVELS}, the paper's, if no tasks are named."
    )
    episodes: int = option(SAMPLES, "Samples of each state.")
    actions: str = option(
        ALL_ACTIONS,
        "States before all actions of the assistant, or before the paper's five: all or paper.",
        allowed=(ALL_ACTIONS, PAPER_ACTIONS),
    )


@dataclass(frozen=True, slots=True)
class CollaborationOptions:
    """Options of how IC and RC are counted; the defaults agree with the original code and the published numbers."""

    # "conversations": share of the events (code); "required": share of the collaborative actions that the task needs,
    # counted action by action, per run (paper eq. 5 and 6).
    denominator: Denominator = option(
        "conversations", "IC and RC per: conversations or required.", allowed=get_args(Denominator)
    )
    initiators: Initiators = option(
        "chef", "Openers of conversations that count: chef or both.", allowed=get_args(Initiators)
    )  # "chef" scores conversations opened by seat 0 (code); "both" those of every seat (paper)
    # "announced" takes the responder's first plan in the conversation (code); "executed" what it did afterwards, until
    # the next scored conversation or the end (paper)
    response: Response = option(
        "announced", "Actions that count as response: announced or executed.", allowed=get_args(Response)
    )
    # "single" understands ``request('...')`` and requests without quotes, and loses those in double quotes (code);
    # "any" understands double quotes too
    quotes: Quotes = option("single", "Quotes of requests: single or any.", allowed=get_args(Quotes))

    def __post_init__(self) -> None:
        for entry in fields(CollaborationOptions):
            value, allowed = getattr(self, entry.name), entry.metadata["allowed"]
            if value not in allowed:
                raise ValueError(f"{entry.name}: got {value!r}, allowed are {', '.join(allowed)}")

    @property
    def definition(self) -> str:
        """How IC and RC differ from the default, for headings; empty if they do not."""
        defaults = CollaborationOptions()
        changed = [text for name, text in _DEFINITIONS.items() if getattr(self, name) != getattr(defaults, name)]
        return f"IC and RC {', '.join(changed)}" if changed else ""

    @property
    def as_required(self) -> CollaborationOptions:
        """The options with the paper's denominator and executed responses: repeated requests gain nothing."""
        return CollaborationOptions("required", self.initiators, "executed", self.quotes)


_DEFINITIONS = {
    "denominator": "per required action",
    "initiators": "whoever opens",
    "response": "by executed responses",
    "quotes": "with requests in any quotes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CollabScoring(CollaborationOptions):
    """Options of how conversations and success are counted."""

    # Time limits as multiples of the reference time; by default that of each record
    gamma: tuple[float, ...] | float | None = option(
        None, "Time limits as multiples of the reference time, comma-separated; several judge the same run, 1,1.25,1.5."
    )

    def __post_init__(self) -> None:
        CollaborationOptions.__post_init__(self)
        for gamma in self.gammas:
            if not 0 < gamma < MAX_GAMMA:
                raise ValueError(f"gamma must be a number above 0 and below {MAX_GAMMA}, not {gamma!r}")

    @property
    def gammas(self) -> tuple[float, ...]:
        """Values of ``gamma`` as a tuple."""
        if self.gamma is None:
            return ()
        return self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)


TASK_OPTIONS = SuiteOptions(TaskOptions, CollabScoring, ("more", "by_task"))
INITIATION_OPTIONS = SuiteOptions(SampleOptions, CollabScoring, ("more", "by_task"))
