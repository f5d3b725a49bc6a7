"""Language policies for all seats and games; the spec or the game determines the kind of agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Protocol

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.envs.lexicon import TranslatedGame
from collab_overcooked.policies.api import AgentView, Choice, Decision, EnvInfo, Message, Policy, Question
from collab_overcooked.policies.llm.budget import UsageMeter
from collab_overcooked.policies.llm.central_agent import CentralAgent, CommandedSeat
from collab_overcooked.policies.llm.choose import ChooseAgent
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.coela import CoelaAgent
from collab_overcooked.policies.llm.cots_agent import CotsAgent, plan_settings
from collab_overcooked.policies.llm.discussion import DiscussionAgent
from collab_overcooked.policies.llm.images import BOTH, INSTEAD, PICTURE, TEXT, Picture, without_text
from collab_overcooked.policies.llm.partner import PartnerAgent
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.questions import answer_question
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import (
    AUTO,
    CAPO,
    CHOOSE,
    COELA,
    COTS,
    GENERIC,
    PARTNER,
    ROCO,
    AgentSettings,
    Value,
    parse_settings,
)
from collab_overcooked.policies.search.cots import SearchTeam
from collab_overcooked.policies.specs import PolicySpec


class Agent(Protocol):
    """Agent of a seat in an episode."""

    def act(self, seen: AgentView) -> Decision:
        """Decide."""

    def reply(self, seen: AgentView) -> Message | None:
        """Answer the last message."""


@dataclass
class Shared:
    """State shared by the language policies of a team."""

    usage: UsageMeter  # Usage of the seats in the episode
    central: dict[str, CentralAgent] = field(default_factory=dict)  # Central agents by spec
    teams: dict[str, SearchTeam] = field(default_factory=dict)  # Deliberating teams by spec
    # Lock of the seat that computes; only waiting for replies is concurrent
    turn: threading.Lock = field(default_factory=threading.Lock)


_MAKERS: Mapping[str, Callable[[ModelSession, Mapping[str, Value]], Agent]] = {  # for all games
    CHOOSE: ChooseAgent,
    COELA: CoelaAgent,
    ROCO: partial(DiscussionAgent, kind=ROCO),
    CAPO: partial(DiscussionAgent, kind=CAPO),
}


class LanguagePolicy:
    """A seat played by a language model."""

    def __init__(self, settings: AgentSettings, client: Client) -> None:
        self.name = f"llm:{settings.model}"
        self.settings, self.client = settings, client
        client.check(settings.reach, settings.model)
        if settings.price is not None:
            client.model_prices[settings.model, settings.reach] = settings.price
        self.shared = Shared(client.usage_meter())
        self._agent: Agent | None = None
        self._seat, self._kind = 0, ""  # until the first episode

    @property
    def needs_simulator(self) -> bool:
        """True for deliberating agents, which read their seat's knowledge at any time."""
        return self.settings.agent == COTS

    def join(self, team: tuple[Policy, ...]) -> None:
        """Share usage and central agents with the teammates with the same client."""
        for mate in team:
            if isinstance(mate, LanguagePolicy) and mate.client is self.client:
                self.shared = mate.shared
                return

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Begin an episode with an empty memory.

        Raises:
            ValueError: Pictures would show what the seat may not know.
        """
        kind = agent_kind(self.settings, info.game)
        values = self.settings.for_agent(kind)
        if not info.messages and "talk" in values:
            values = {**values, "talk": False}  # nothing is written that nobody would read
        prompts = Prompts(info.game.id, self.settings.prompts)
        shared = self.shared
        session = ModelSession(self.settings, self.client, shared.usage, prompts, seat, info, seed, turn=shared.turn)
        self._seat = seat
        self._kind = kind
        self._session = session
        self._speaks = kind != CHOOSE and not (kind == PARTNER and not values["talk"])
        self._thinks = bool(values.get("analysis"))
        self._sees = str(values.get("see", TEXT))
        if self._sees != TEXT and (isinstance(info.game, TranslatedGame) or values.get("alone")):
            revealed = "partners, which alone=on hides" if values.get("alone") else "items, which a lexicon renames"
            raise ValueError(f"policy 'llm': see={self._sees} is not possible: pictures show {revealed}")
        self._agent = self._make_agent(session, values)

    def act(self, seen: AgentView) -> Decision:
        """Decide; wait if the budget is used up or there is no usable reply."""
        with self.shared.turn:
            return self._current().act(self._look(seen))

    def reply(self, seen: AgentView) -> Message | None:
        """Answer, or stay silent."""
        with self.shared.turn:
            return self._current().reply(self._look(seen))

    @property
    def apart(self) -> bool:
        """True if it may be asked concurrently: it opens no conversations, and there is no budget."""
        return not self._speaks and not self.shared.usage.budget.to_dict()

    def _look(self, seen: AgentView) -> AgentView:
        if self._sees == TEXT:
            return seen
        self._session.pictures = (Picture(seen.view.picture),)
        return replace(seen, view=without_text(seen.view)) if self._sees == PICTURE else seen

    def answer(self, question: Question) -> Choice:
        """Answer a question with a letter."""
        self._current()
        if self._sees != TEXT and question.picture is not None:
            self._session.pictures = (Picture(question.picture()),)
            question = question if self._sees == BOTH else replace(question, state=INSTEAD)
        with self.shared.turn:
            return answer_question(self._session, question, self._thinks)

    def account(self) -> dict[str, Any]:
        """Return the cost of the episode so far."""
        updates = self._agent.account() if isinstance(self._agent, CotsAgent) else {}
        return {"model": self.settings.model, "agent": self._kind, **self.shared.usage.to_dict(self._seat), **updates}

    def _make_agent(self, session: ModelSession, values: Mapping[str, Value]) -> Agent:
        if self._kind == COTS:
            return CotsAgent(
                session, values, self.shared.teams.setdefault(self.name, SearchTeam(plan_settings(values)))
            )
        if self._kind in _MAKERS:
            return _MAKERS[self._kind](session, values)
        game_side = registry.load_entry(registry.find(session.info.game.id).language_agents[self._kind])
        if self._kind == PARTNER:
            return PartnerAgent(session, values, game_side(session.info, session.seat))
        central = self.shared.central
        if self.name not in central or session.seat in central[self.name].seats:
            central[self.name] = CentralAgent(session, values, game_side(session.info))
        return CommandedSeat(central[self.name], session.seat)

    def _current(self) -> Agent:
        if self._agent is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._agent


def agent_kind(settings: AgentSettings, game: Game) -> str:
    """Return the kind of agent for a game.

    Raises:
        ValueError: The kind of agent is unknown, or does not play the game.
    """
    asked = settings.agent
    # Plans and commands require the game's default language and medium-level actions.
    is_plain = not isinstance(game, TranslatedGame) and game.kwargs.get("action_level") != "primitive"
    fitting = list(registry.find(game.id).language_agents) if is_plain else []
    if asked == AUTO:
        return fitting[0] if fitting else CHOOSE
    if asked == COTS and is_plain and registry.find(game.id).subplans:
        return asked
    if asked not in GENERIC and asked not in fitting:
        raise ValueError(
            f"policy 'llm:{settings.model}': the agent {asked!r} plays {', '.join(_made_for(asked))} only, without a "
            f"lexicon and not in primitive actions; {', '.join(f'agent={kind}' for kind in GENERIC)} play everything"
        )
    return asked


def _made_for(kind: str) -> list[str]:
    return [
        record.id for record in registry.games() if kind in record.language_agents or (kind == COTS and record.subplans)
    ]


def from_text(text: str, client: Client | None = None) -> LanguagePolicy:
    """Create the policy of a spec such as ``"llm:gpt-4o?memory=5"`` from the text after the colon.

    Args:
        text: Settings as text; see ``settings.parse_settings``.
        client: Client of the models; that of the endpoint of the environment variables if None.
    """
    return LanguagePolicy(parse_settings(text), client or _default_client())


@cache
def _default_client() -> Client:
    return Client()


def policy_maker(client: Client) -> Callable[[str], Policy]:
    """Return a factory of policies whose language policies use a client."""

    def make(spec: str) -> Policy:
        parsed = PolicySpec.parse(spec)
        if not parsed.is_language:
            return parsed.make()
        policy = from_text(parsed.parameters, client)
        policy.name = parsed.text
        return policy

    return make
