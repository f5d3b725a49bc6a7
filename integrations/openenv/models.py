"""Messages between client and server."""

from __future__ import annotations

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class KitchenAction(Action):
    """Answer of a seat."""

    text: str = Field(..., description="Number or text of an action, or the form that the observation asks for")


class KitchenObservation(Observation):
    """Question to a seat, or the end of the episode; metadata then has the metrics."""

    text: str = Field(default="", description="State, refusals, messages of teammates and the legal actions")
    rules: str = Field(default="", description="Rules of the game; only in the first observation of an episode")
    legal: list[str] = Field(default_factory=list, description="Texts of the actions that the seat may choose")
    seat: int = Field(default=0, description="Index of the seat")
    timestep: int | None = Field(default=None, description="Steps taken so far; None after the end")


class KitchenState(State):
    """The session; nothing of the game's state."""

    suite: str = Field(default="", description="Name of the suite")
    task: str = Field(default="", description="Task of the match")
    seat: int = Field(default=0, description="Index of the seat")
