"""Policies that speak over a channel of symbols around a policy that does not: bounds for what talk can be worth.

``say:seen`` tells what its seat alone may know by the code that the game declares, see ``CompiledGame.facts``, and
understands teammates who do. The others do not listen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.channel import TalkingView, act_text, talking_game
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import AgentView, EnvInfo, Planning, Policy, as_decision
from collab_overcooked.policies.observation import observer_of
from collab_overcooked.policies.per_game import policy_for
from collab_overcooked.policies.shown_game import shown_game
from collab_overcooked.policies.wrappers import Answer, WrappedPolicy, from_text


class SayPolicy(WrappedPolicy):
    """Plays as another policy plays without the channel, and says nothing; subclasses say a symbol with each action.

    Args:
        player: The policy that chooses the acts, which does not speak itself.
    """

    name = "say:nothing"

    def __init__(self, player: Policy) -> None:
        super().__init__(player)
        self.speaks, self.observation = True, None  # what the player observes is made below

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy behind it in the quiet game.

        Raises:
            ValueError: The game has no channel, or the policy behind it speaks itself.
        """
        talking: Any = talking_game(info.game)
        if talking is None:
            raise ValueError(f"policy {self.name!r} needs a channel; add the option channel=4, for example")
        if shown_game(self.players[0], info.game) is info.game:
            raise ValueError(f"policy {self.name!r}: {self.players[0].name!r} chooses symbols itself")
        self._seat = seat
        self._symbols = talking.symbols
        self._delay = talking.channel_config.channel_delay
        self._game, self._quiet = talking, info.game.quiet
        self._out = self._quiet.alloc(1)[1]
        self._observer = observer_of(self.players[0], self._quiet)
        simulator = None if info.simulator is None else info.simulator.quiet(self.learn)
        super().reset(seat, replace(info, game=self._quiet, simulator=simulator, told=self.told(info)), seed)

    def told(self, info: EnvInfo) -> frozenset[int]:
        """Return the seats that hear and understand what this one says."""
        return frozenset()

    def act(self, seen: AgentView) -> Answer:
        legal = np.flatnonzero(seen.mask[: self._quiet.n_actions])
        self.listen(seen)
        answer: Answer = int(legal[0]) if len(legal) == 1 else super().act(self._quietly(seen))
        symbol = self.symbol(seen)
        if not symbol:
            return answer
        decision = as_decision(answer)
        if isinstance(answer, (int, np.integer)):
            return int(answer) + symbol * self._quiet.n_actions
        if decision.action is None:
            return replace(decision, plan=f"say {symbol}: {decision.plan}")
        return replace(decision, action=decision.action + symbol * self._quiet.n_actions)

    def symbol(self, seen: AgentView) -> int:
        """Return the symbol to say with the action that was chosen, 0 for none."""
        return 0

    def listen(self, seen: AgentView) -> None:
        """Receive what the seat hears, before the policy behind it is asked."""

    def learn(self, state: Any) -> None:
        """Add what the seat was told to copies of the quiet state. Mutates: state."""

    def _quietly(self, seen: AgentView) -> AgentView:
        view: Any = seen.view
        assert isinstance(view, TalkingView)
        known = view.told(self.learn)
        observation = known.observed_by(self._quiet, self._out).copy()
        if self._observer is not None:
            observation = self._observer.observe(known, observation)
        earlier = tuple((seat, act_text(text)) for seat, text in seen.earlier)
        past_actions = tuple(tuple(map(self._game.act_of, actions)) for actions in seen.past_actions)
        return replace(
            seen,
            view=known,
            mask=seen.mask[: self._quiet.n_actions],
            observation=observation,
            attempt=act_text(seen.attempt),
            earlier=earlier,
            past_actions=past_actions,
        )


class SayRandom(SayPolicy):
    """Says a symbol with each action, drawn uniformly: a control that carries no information."""

    name = "say:random"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._chance = np.random.default_rng([seed, seat, 2])

    def symbol(self, seen: AgentView) -> int:
        return int(self._chance.integers(1, self._symbols, endpoint=True))


class SayIntent(SayPolicy):
    """Says which subgoal or target the policy behind it is after: symbol 1 + k modulo K for number k."""

    name = "say:intent"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy behind it.

        Raises:
            ValueError: The policy behind it has no ``intent``.
        """
        super().reset(seat, info, seed)
        player: Any = self.players[0]
        while isinstance(player, WrappedPolicy):
            player = player.players[0]
        player = policy_for(player, info.game.id)
        if not isinstance(player, Planning):
            raise ValueError(f"policy {self.name!r}: {self.players[0].name!r} offers no plan in {info.game.id}")
        self._planning: Planning = player

    def symbol(self, seen: AgentView) -> int:
        intent = self._planning.intent
        return 0 if intent is None else 1 + intent % self._symbols


class SaySeen(SayPolicy):
    """Says what its seat knows by the game's code of facts, and believes what teammates say by it."""

    name = "say:seen"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy behind it.

        Raises:
            ValueError: The game declares no facts, or more than there are symbols.
        """
        self._told: dict[int, tuple[int, Mapping[str, Any]]] = {}  # by speaker: fact, own scene when it was said
        self._scenes: dict[int, Mapping[str, Any]] = {}  # own scenes by timestep, as long as they are needed
        super().reset(seat, info, seed)
        facts = len(self._game.facts)
        if not facts:
            raise ValueError(f"policy {self.name!r}: {info.game.id} with these options has no facts to tell")
        if facts > self._symbols:
            raise ValueError(f"policy {self.name!r} needs channel={facts}, a symbol for each fact of {info.game.id}")

    def told(self, info: EnvInfo) -> frozenset[int]:
        hearers = np.flatnonzero(self._game.hears[:, self._seat]).tolist()
        return frozenset(seat for seat in hearers if seat != self._seat and SaySeen.name in info.team[seat])

    def listen(self, seen: AgentView) -> None:
        self._scenes[seen.timestep] = seen.view.quiet.scene  # type: ignore[attr-defined]
        then = self._scenes.pop(seen.timestep - self._delay - 1, None)
        for speaker, symbol in enumerate(seen.view.scene["said"]):
            if speaker != self._seat and symbol and symbol <= len(self._game.facts) and then is not None:
                self._told[speaker] = symbol - 1, then

    def learn(self, state: Any) -> None:
        for fact, then in self._told.values():
            self._game.learn_fact(state, self._seat, fact, then)

    def symbol(self, seen: AgentView) -> int:
        fact = self._game.known_fact(seen.view.quiet.scene, self._seat)  # type: ignore[attr-defined]
        return 0 if fact is None else 1 + fact


SPEAKERS: Mapping[str, Callable[[Policy], SayPolicy]] = {
    "nothing": SayPolicy,
    "random": SayRandom,
    "intent": SayIntent,
    "seen": SaySeen,
}


def _say(what: str, player: Policy) -> SayPolicy:
    if what not in SPEAKERS:
        raise ValueError(near_matches("what to say", what, SPEAKERS))
    return SPEAKERS[what](player)


say_from_text = partial(from_text, "say", makers={"say": _say})
