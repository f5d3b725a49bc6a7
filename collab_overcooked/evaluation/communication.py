"""Communication of a team over a channel: what it is worth, what messages say, and whether listeners act on them.

The episodes of a run are played again from their seeds: as they were, with all messages muted, and with those of
another episode, the next one of the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.channel import TalkingGame, TalkingView, act_text, talking_game
from collab_overcooked.envs.lexicon import translate_game
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.communication_result import (
    MUTED,
    SCRAMBLED,
    WITH,
    Communication,
    Listening,
    check_count,
    private_keys,
    replay_arguments,
)
from collab_overcooked.evaluation.text_communication import has_words, measure_text
from collab_overcooked.metrics.communication import Signalling, jensen_shannon, signalling
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.api import AgentView, as_decision
from collab_overcooked.policies.registry import HUMAN, LANGUAGE
from collab_overcooked.policies.shown_game import shown_game
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.policies.trained import NetworkPolicy
from collab_overcooked.runner.decisions import Answer, Ask
from collab_overcooked.runner.env_variants import by_variant, env_key, variant_of
from collab_overcooked.runner.episode import Answers, Episode, Event, Started, Stepped, answer_for, drive
from collab_overcooked.runner.teams import MakePolicy, Team, make_team, team_text

Array = np.ndarray
Messages = list[list[int]]
"""Symbols said in an episode by step and seat."""
Script = Callable[[int], Sequence[int]]
"""Returns the symbols (N,) of a step by the number of steps before it."""


class EditedChannel(TalkingGame):
    """A game with a channel, one environment of which can have its messages replaced after each step.

    Args:
        game: The game with its channel.
    """

    def __init__(self, game: TalkingGame) -> None:
        super().__init__(game.quiet, game.channel_config)
        self._live: Array | None = None
        self._script: Script | None = None
        self._step = 0

    def follow(self, live: Array, script: Script | None) -> None:
        """Replace what is said in an environment from its next episode on.

        Args:
            live: The environment's array ``said`` (1, N).
            script: Messages of the episode; None to change nothing.
        """
        self._live = live
        self._script = script
        self._step = 0

    def step_calls(self, state: Any, actions: Array, out: Any) -> tuple[Any, ...]:
        return *super().step_calls(state, actions, out), (self._replace, (state.said,))

    def _replace(self, said: Array) -> None:
        if said is self._live and self._script is not None:
            said[0] = self._script(self._step)
            self._step += 1


@dataclass
class _Played:
    """What an episode was like."""

    said: Messages = field(default_factory=list)
    spoken: Messages = field(default_factory=list)  # as said: without noise and delay
    own: list[list[dict[str, str]]] = field(default_factory=list)  # by step and seat: known values by key


def measure_communication(records: Sequence[EpisodeRecord], make: MakePolicy | None = None) -> Iterator[Communication]:
    """Play the episodes of a run again and measure the communication of each team and variant.

    Args:
        records: Records of at least two episodes of each team.
        make: Factory of policies; the registry of policies if None.

    Yields:
        The measures of each team and variant: of its channel, or of its text messages in games without one.

    Raises:
        ValueError: A record has neither a channel nor messages, a team has one episode or no policy that speaks, or
            with a channel it has seats of people or language models, whose episodes cannot be played again.
    """
    make = make or make_known_policy
    for group in by_variant(records):
        if not group[0].env_kwargs.get("channel") and has_words(group):
            yield measure_text(group, make)
        else:
            yield _Group(group, make).measure()


class _Stage(NamedTuple):
    """Game of an episode, whose messages can be replaced, and its environment."""

    game: EditedChannel
    env: ParallelEnv


def _stages(records: Sequence[EpisodeRecord]) -> list[_Stage]:
    """Return the game and environment of each record; records of equal options, such as the task, share them."""
    known: dict[str, _Stage] = {}
    stages = []
    for record in records:
        limit = record.max_cycles if record.max_cycles_given else None
        key = f"{env_key(record.env_id, record.env_kwargs)} {limit}"
        if key not in known:
            inner = talking_game(registry.load_game(record.env_id, **record.env_kwargs))
            if inner is None:
                raise ValueError(
                    f"{record.env_id} was played without a channel, and nobody said anything; play it with "
                    "--set channel=4, for example"
                )
            game = EditedChannel(inner)
            lexicon = record.env_kwargs.get(registry.LEXICON)
            known[key] = _Stage(game, ParallelEnv(translate_game(game, lexicon), max_cycles=limit))
        stages.append(known[key])
    return stages


class _Group:
    """Episodes of one team in one variant of a game."""

    def __init__(self, records: Sequence[EpisodeRecord], make: MakePolicy) -> None:
        first = records[0]
        self.records = records
        self.make = make
        specs = first.specs
        self.arguments = replay_arguments(records)
        self.stages = _stages(records)
        self.game = self.stages[0].game
        check_count(records)
        for spec in specs:
            if PolicySpec.parse(spec).kind in (LANGUAGE, HUMAN):
                raise ValueError(f"episodes of {spec!r} cannot be played again to measure communication")
        self.team: Team = make_team(specs, make)
        policies = enumerate(self.team.policies)
        self.speakers = [seat for seat, policy in policies if shown_game(policy, self.game) is self.game]
        if not self.speakers:
            raise ValueError(f"no policy of {team_text(specs)} speaks; policies that do declare speaks = True")

    def measure(self) -> Communication:
        played = [_Played() for _ in self.records]
        private: dict[int, set[str]] = {seat: set() for seat in self.speakers}
        totals: dict[str, list[float]] = {WITH: [], MUTED: [], SCRAMBLED: []}
        for k, log in enumerate(played):
            totals[WITH].append(self._play(k, None, partial(self._observe, log, private)))
        silence = [0] * self.game.n_agents
        listeners = {name: _Listeners(make_team(self.team.specs, self.make)) for name in totals}
        for k in range(len(played)):
            other = played[(k + 1) % len(played)].said

            def foreign(step: int, other: Messages = other) -> list[int]:
                return other[step] if step < len(other) else silence

            scripts: dict[str, Script] = {MUTED: lambda step: silence, SCRAMBLED: foreign}
            for name, script in scripts.items():
                totals[name].append(self._play(k, script))
            self._play(k, None, partial(self._ask, listeners, scripts))
        names, first = self.game.display_names, self.records[0]
        values, said = {}, {}
        for name in (MUTED, SCRAMBLED):
            values[name] = paired_difference([list(zip(totals[WITH], totals[name], strict=True))])
        for seat in self.speakers:
            for key in sorted(private[seat]):
                said[names[seat], key] = _signalling(played, seat, key)
        exchanged, muted = listeners[SCRAMBLED].changes, listeners[MUTED].changes
        return Communication(
            title=variant_of(first).title,
            team=team_text(first.specs),
            returns={name: mean_ci(returns) for name, returns in totals.items()},
            values=values,
            signalling=said,
            listening={names[seat]: _listening(exchanged[seat], muted[seat]) for seat in self.speakers},
        )

    def _play(
        self, number: int, script: Script | None, watch: Callable[[_Stage, Event], None] = lambda stage, event: None
    ) -> float:
        """Play the episode of a record from its start, and return its return."""
        record, stage = self.records[number], self.stages[number]
        stage.game.follow(stage.env.arrays[0].said, script)
        run = Episode(stage.env, record.specs, record.seed, **self.arguments[number])
        with Answers(self.team) as answers:

            def answer(event: Event) -> Answer:
                watch(stage, event)
                return answers.to(event)

            return episode_return([step.rewards for step in drive(run, answer).steps])

    def _observe(self, played: _Played, private: dict[int, set[str]], stage: _Stage, event: Event) -> None:
        """Log messages, and what each speaker knows before a step and others do not."""
        quiet, (state, out) = stage.game.quiet, stage.env.arrays
        if isinstance(event, Stepped):
            played.said.append(state.said[0].tolist())
            played.spoken.append(out.spoken[0].tolist())
        if not isinstance(event, (Started, Stepped)) or not stage.env.agents:
            return
        scene = quiet.scene(state.quiet, 0)
        scenes = [quiet.seat_scene(scene, seat) for seat in range(quiet.n_agents)]
        for seat in self.speakers:
            private[seat] |= private_keys(scenes, seat)
        played.own.append([{key: json.dumps(value) for key, value in known.items()} for known in scenes])

    def _ask(
        self, listeners: Mapping[str, _Listeners], scripts: Mapping[str, Script], stage: _Stage, event: Event
    ) -> None:
        """Ask copies of the speakers that have heard other messages since the start of the episode."""
        if isinstance(event, Started):
            for copies in listeners.values():
                copies.begin(event)
        if not isinstance(event, Ask) or event.seat not in self.speakers:
            return
        seat = event.seat
        seen = event.seen
        live = stage.env.arrays[0].said[0]
        said, deaf = live.copy(), stage.game.hears[seat] == 0
        deaf[seat] = True
        n_acts = stage.game.quiet.n_actions
        answer = listeners[WITH].answer(event, seen, n_acts)
        for name, script in scripts.items():
            symbols = np.where(deaf, said, script(seen.timestep - 1)) if seen.timestep else said
            live[:] = symbols  # simulators of policies read it
            other = listeners[name].answer(event, _hearing(seen, symbols.tolist(), stage.game), n_acts)
            live[:] = said
            if not np.array_equal(symbols, said):
                listeners[name].differing.add(seat)
            if event.kind == "act" and seat in listeners[name].differing:
                listeners[name].compare(seat, answer, other)


def _hearing(seen: AgentView, said: Sequence[int], game: TalkingGame) -> AgentView:
    view: Any = seen.view
    assert isinstance(view, TalkingView)
    heard: Any = view.hearing(said)
    return replace(seen, view=heard, observation=heard.observed_by(game, game.alloc(1)[1]))


class _Listeners:
    """A second team that is asked in the same states as the first one, having heard other messages."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.differing: set[int] = set()  # seats that have heard something else in this episode
        self.changes: list[list[tuple[float, float | None]]] = [[] for _ in team.policies]

    def begin(self, event: Started) -> None:
        self.differing.clear()
        event.reset(self.team)

    def answer(self, event: Ask, seen: AgentView, n_acts: int) -> Any:
        """Return the probabilities of acts of a network, and the act or the plan that another policy chooses."""
        policy = self.team.policies[event.seat]
        shares: Array | None = None
        if event.kind == "act" and isinstance(policy, NetworkPolicy) and type(policy).act is NetworkPolicy.act:
            shares = policy.probabilities(seen).reshape(-1, n_acts).sum(0)
        given: Any = answer_for(self.team, replace(event, seen=seen))
        if shares is not None or event.kind != "act":
            return shares
        decision = as_decision(given)
        return act_text(decision.plan) if decision.action is None else decision.action % n_acts

    def compare(self, seat: int, answer: Any, other: Any) -> None:
        """Log whether an answer is another one after other messages."""
        if isinstance(answer, np.ndarray):
            self.changes[seat].append((float(np.abs(answer - other).sum() / 2), jensen_shannon(answer, other)))
        else:
            self.changes[seat].append((float(answer != other), None))


def _signalling(played: Sequence[_Played], seat: int, key: str) -> Signalling:
    """Measure what a seat's symbols say of a part of its private state."""
    messages, states = [], []
    for log in played:
        messages.append([symbols[seat] for symbols in log.spoken])
        # An episode that was left early has a last state in which nobody chose
        states.append([known[seat].get(key, "") for known in log.own[: len(log.spoken)]])
    return signalling(messages, states)


def _listening(
    exchanged: Sequence[tuple[float, float | None]], muted: Sequence[tuple[float, float | None]]
) -> Listening:
    changes, silent = ([changed for changed, _ in pairs] for pairs in (exchanged, muted))
    divergences = [divergence for _, divergence in exchanged if divergence is not None]
    return Listening(_mean(changes), _mean(silent), _mean(divergences), decisions=len(changes))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
