"""Language policies: any seat, any game. What kind of agent plays depends on the game, or on what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from collab_overcooked.envs.lexicon import Translated
from collab_overcooked.policies.api import Decision, EnvInfo, Message, Policy, View
from collab_overcooked.policies.llm.budget import Ledger
from collab_overcooked.policies.llm.choose import ChooseAgent
from collab_overcooked.policies.llm.connection import Connection, usual
from collab_overcooked.policies.llm.dispatch import Brain, DispatchAgent
from collab_overcooked.policies.llm.mind import Mind
from collab_overcooked.policies.llm.partner import PartnerAgent
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.settings import (
    AUTO,
    CHOOSE,
    DISPATCH,
    PARTNER,
    Settings,
    Value,
    parse_settings,
)

FOLDERS = {  # of templates
    "CollabOvercooked-v0": "collab_overcooked",
    "CuisineWorld-v0": "cuisineworld",
    "KitchenRush-v0": "rush",
    "AlienRush-v0": "rush",
    "Overcooked-v0": "overcooked",
}
USUAL_AGENTS = {"CollabOvercooked-v0": PARTNER, "CuisineWorld-v0": DISPATCH}  # CHOOSE plays the others
GAMES = {PARTNER: ("CollabOvercooked-v0",), DISPATCH: ("CuisineWorld-v0",)}  # of the agents made for some games


class Agent(Protocol):
    """One seat's agent in one episode."""

    def act(self, view: View) -> Decision:
        """Decide."""

    def reply(self, view: View) -> Message | None:
        """Answer the last message."""


@dataclass
class Shared:
    """What the language policies of a team have in common.

    Attributes:
        ledger: Books of the episode.
        brains: Dispatchers by spec.
    """

    ledger: Ledger
    brains: dict[str, Brain] = field(default_factory=dict)


class LanguagePolicy:
    """A seat played by a language model.

    Args:
        settings: Model and agent.
        connection: How the model is reached.
    """

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self.name = f"llm:{settings.model}"
        self.settings, self.connection = settings, connection
        self.shared = Shared(connection.ledger())
        self._agent: Agent | None = None

    def join(self, team: tuple[Policy, ...]) -> None:
        """Share books and dispatchers with the teammates on the same connection."""
        for mate in team:
            if isinstance(mate, LanguagePolicy) and mate.connection is self.connection:
                self.shared = mate.shared
                return

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Begin an episode with an empty memory.

        Raises:
            ValueError: If the agent that was asked for does not play the game, or lacks a switch that was written.
        """
        kind = self.settings.agent
        if kind == AUTO:
            kind = USUAL_AGENTS.get(info.game.id, CHOOSE)
            if isinstance(info.game, Translated) or info.game.kwargs.get("action_level") == "primitive":
                kind = CHOOSE  # the others write plans and commands, in plain words and medium-level actions
        if info.game.id not in GAMES.get(kind, (info.game.id,)):
            raise ValueError(f"policy {self.name!r}: the agent {kind!r} plays {', '.join(GAMES[kind])} only")
        values = self.settings.for_agent(kind)
        prompts = Prompts(FOLDERS.get(info.game.id, "common"), self.settings.prompts)
        mind = Mind(self.settings, self.connection.client, self.shared.ledger, prompts, seat, info, seed)
        self._seat, self._kind = seat, kind
        self._agent = _MAKERS[kind](mind, values, self.name, self.shared)

    def act(self, view: View) -> Decision:
        """Decide; what cannot be decided in time, money or words ends in waiting."""
        return self._current().act(view)

    def reply(self, view: View) -> Message | None:
        """Answer, or stay silent."""
        return self._current().reply(view)

    def account(self) -> dict[str, Any]:
        """Return what the episode took so far."""
        return {"model": self.settings.model, "agent": self._kind, **self.shared.ledger.as_json(self._seat)}

    def _current(self) -> Agent:
        if self._agent is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._agent


def _choose(mind: Mind, values: Mapping[str, Value], name: str, shared: Shared) -> Agent:
    return ChooseAgent(mind, values)


def _partner(mind: Mind, values: Mapping[str, Value], name: str, shared: Shared) -> Agent:
    return PartnerAgent(mind, values)


def _dispatch(mind: Mind, values: Mapping[str, Value], name: str, shared: Shared) -> Agent:
    """Give the seat to the dispatcher of its spec; the first seat of an episode brings a new one."""
    brain = shared.brains.get(name)
    if brain is None or mind.seat in brain.seats:
        brain = shared.brains[name] = Brain(mind, values)
    return DispatchAgent(brain, mind.seat)


_MAKERS: Mapping[str, Callable[[Mind, Mapping[str, Value], str, Shared], Agent]] = {
    CHOOSE: _choose,
    PARTNER: _partner,
    DISPATCH: _dispatch,
}


def from_text(text: str, connection: Connection | None = None) -> LanguagePolicy:
    """Make the policy of a spec such as ``"llm:gpt-4o?memory=5"``; the text is what follows the colon.

    Args:
        text: See ``settings.parse_settings``.
        connection: How models are reached; the endpoint of the environment variables if None.
    """
    return LanguagePolicy(parse_settings(text), connection or usual_connection())


@cache
def usual_connection() -> Connection:
    """Return the one connection of policies that are made without any."""
    return usual()
