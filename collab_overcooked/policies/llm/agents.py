"""Language policies: any seat, any game. What kind of agent plays depends on the game, or on what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from collab_overcooked.envs.api import Game
from collab_overcooked.envs.lexicon import TranslatedGame
from collab_overcooked.policies.api import Decision, EnvInfo, Message, Policy, Seen
from collab_overcooked.policies.llm.budget import Ledger
from collab_overcooked.policies.llm.central_agent import Brain, DispatchAgent
from collab_overcooked.policies.llm.choose import ChooseAgent
from collab_overcooked.policies.llm.connection import Connection, usual
from collab_overcooked.policies.llm.partner import PartnerAgent
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.session import Mind
from collab_overcooked.policies.llm.settings import (
    AUTO,
    CHOOSE,
    DISPATCH,
    PARTNER,
    Settings,
    Value,
    parse_settings,
)

MADE_FOR = {PARTNER: "CollabOvercooked-v0", DISPATCH: "CuisineWorld-v0"}  # CHOOSE plays every game


class Agent(Protocol):
    """One seat's agent in one episode."""

    def act(self, seen: Seen) -> Decision:
        """Decide."""

    def reply(self, seen: Seen) -> Message | None:
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
        kind = self._kind_for(info.game)
        values = self.settings.for_agent(kind)
        prompts = Prompts(info.game.id, self.settings.prompts)
        mind = Mind(self.settings, self.connection.client, self.shared.ledger, prompts, seat, info, seed)
        self._seat, self._kind = seat, kind
        if kind == DISPATCH:
            self._agent = self._dispatched(mind, values)
        else:
            self._agent = PartnerAgent(mind, values) if kind == PARTNER else ChooseAgent(mind, values)

    def act(self, seen: Seen) -> Decision:
        """Decide; what cannot be decided in time, money or words ends in waiting."""
        return self._current().act(seen)

    def reply(self, seen: Seen) -> Message | None:
        """Answer, or stay silent."""
        return self._current().reply(seen)

    def account(self) -> dict[str, Any]:
        """Return what the episode took so far."""
        return {"model": self.settings.model, "agent": self._kind, **self.shared.ledger.as_json(self._seat)}

    def _kind_for(self, game: Game) -> str:
        """Return the kind of agent that plays a game, if it is the one that was asked for."""
        asked = self.settings.agent
        # Plans and commands are written in plain words and medium-level actions.
        usual = not isinstance(game, TranslatedGame) and game.kwargs.get("action_level") != "primitive"
        fitting = [kind for kind, game_id in MADE_FOR.items() if usual and game_id == game.id]
        if asked == AUTO:
            return fitting[0] if fitting else CHOOSE
        if asked != CHOOSE and asked not in fitting:
            raise ValueError(
                f"policy {self.name!r}: the agent {asked!r} plays {MADE_FOR[asked]} only, in its own words and not in "
                f"primitive actions; agent={CHOOSE} plays everything"
            )
        return asked

    def _dispatched(self, mind: Mind, values: Mapping[str, Value]) -> DispatchAgent:
        """Give the seat to the dispatcher of its spec; the first seat of an episode brings a new one."""
        brains = self.shared.brains
        if self.name not in brains or mind.seat in brains[self.name].seats:
            brains[self.name] = Brain(mind, values)
        return DispatchAgent(brains[self.name], mind.seat)

    def _current(self) -> Agent:
        if self._agent is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._agent


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
