"""Answers to items: language models choose a letter, other policies play on from the scene."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from collab_overcooked import __version__, registry
from collab_overcooked.core.record import SCHEMA, EpisodeRecord, Tokens, Usage
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io.checks import quote_value
from collab_overcooked.io.structs import Name, Text, convert
from collab_overcooked.policies.api import AnswersQuestions, Choice, EnvInfo, Question, ReportsUsage
from collab_overcooked.policies.registry import LANGUAGE
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.shown_game import shown_game
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.questions.items import (
    FACT,
    KINDS,
    LETTERS,
    OTHER_VERSION,
    PARTS,
    SCORED,
    SEATS,
    VERSION,
    Item,
    QuestionError,
)
from collab_overcooked.questions.options import PLAY, STATE, WORDS
from collab_overcooked.questions.source import OTHER, asked_seat, source_of
from collab_overcooked.runner.episode import Episode, Event, Stepped, answer_for, drive, policy_seed
from collab_overcooked.runner.match import Match, cached_env, cached_team
from collab_overcooked.runner.teams import MakePolicy, Team

SUITE = "questions"
WITHHELD = "The state is not shown. Choose the answer that you think is the most likely one."
CHANCE = "chance"  # random state of a scene, which question sets omit
REMEDY = "ask again with 'evaluate questions'"
ChoiceIndex = Annotated[int, Meta(ge=0, le=len(LETTERS) - 1)]
"""Index of a choice of an item."""


class AskedItem(Struct, kw_only=True):
    """Item of a question set, as far as answers to it are scored."""

    set: Name = ""
    kind: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    seat: Annotated[int, Meta(ge=0, le=SEATS - 1)] | None = None  # None in records that do not name it
    part: Literal[tuple(PARTS)]  # type: ignore[valid-type]
    skills: list[Text]
    scene: Text
    choices: list[Text]
    correct: list[ChoiceIndex]

    def __post_init__(self) -> None:
        old = self.set[1:].partition("-")[0] or "1"  # the first version had no name
        if old in map(str, range(1, SCORED)):
            raise ValueError(f"set: {OTHER_VERSION.format(old=old, remedy=REMEDY)}")
        if old not in map(str, range(SCORED, VERSION + 1)):
            raise ValueError(f"set must be a question set of version {VERSION}; {REMEDY}, not {quote_value(self.set)}")


class GivenAnswer(Struct, kw_only=True, omit_defaults=True):
    """Answer of a policy: the choice, its text or action, and the number of tokens."""

    way: Literal["words", "play"]
    without: Literal["state"] | None = None
    choice: ChoiceIndex | None
    letter: Text | None
    text: Text = field(default="", name="words")
    tokens: Tokens | None = None


class QuestionRecord(EpisodeRecord, kw_only=True):
    """Record of an answer to a question; it has no steps."""

    item: AskedItem
    answer: GivenAnswer


@dataclass(frozen=True, kw_only=True)
class QuestionMatch(Match):
    """Answer of a policy to an item."""

    playable = False
    item: Item  # The item
    set: str  # Name of its question set
    way: Literal["words", "play"]
    without: Literal["state"] | None  # ``STATE`` if the state is withheld

    @property
    def longest(self) -> int:
        return 1

    @property
    def seed_name(self) -> str:
        return f"{self.set}/{self.task}"

    def config(self) -> dict[str, Any]:
        return {"task": self.task, "team": list(self.team), "set": self.set, "way": self.way, "without": self.without}

    def speakers(self) -> list[str]:
        return super().speakers()[: 1 if self.way == WORDS else None]

    def run(self, make: MakePolicy | None = None, actions: Sequence[Sequence[int]] | None = None) -> list[Any]:
        team = cached_team(self.team, make)
        choice = self._as_text(team) if self.way == WORDS else self._by_playing(team)
        return [self._record(team, choice)]

    def _as_text(self, team: Team) -> Choice:
        item = self.item
        policy = team.policies[self.item.seat]
        game = self.load_game()
        if not isinstance(policy, AnswersQuestions):
            raise ValueError(f"policy {policy.name!r} cannot answer questions; use --answer-by {PLAY}")
        policy.reset(item.seat, EnvInfo(game.id, game, self.task, team.names), policy_seed(self.seed, item.seat))
        if item.scene.told:
            told = WITHHELD if self.without == STATE else item.scene.told
            return policy.answer(Question("", told, item.question, item.choices))
        env, source = checked_env(item), source_of(item.scene.env_id)
        if self.without == STATE:
            return policy.answer(Question(source.rules(item), WITHHELD, item.question, item.choices))
        view = env.game.seen(env.arrays[0], 0, item.seat)
        return policy.answer(
            Question(source.rules(item), source.describe(item), item.question, item.choices, lambda: view.picture)
        )

    def _by_playing(self, team: Team) -> Choice:
        item, source = self.item, source_of(self.item.scene.env_id)
        checked_env(item)
        env = cached_env(self.env_id, self.env_kwargs)
        scene = {"state": item.scene.state}
        run = Episode(env, team.specs, self.seed, task=self.task, limits=self.limits, reset_options=scene)
        scenes: list[Mapping[str, Any]] = [item.scene.state]
        actions: list[Sequence[str]] = []
        chosen: int | None = None

        def is_answered(event: Event) -> bool:
            nonlocal chosen
            if isinstance(event, Stepped):
                scenes.append(env.scene())
                actions.append(event.step.action_texts)
                chosen = source.chosen(item, scenes, actions)
            return chosen is not None or len(actions) >= source.patience

        drive(run, partial(answer_for, team), is_answered)
        tokens = [spent for step in run.steps for spent in step.tokens if spent is not None]
        action_texts = "; ".join(step_actions[asked_seat(item)] for step_actions in actions)
        return Choice(None if chosen == OTHER else chosen, action_texts, sum(tokens) if tokens else None)

    def _record(self, team: Team, choice: Choice) -> QuestionRecord:
        item, asked = self.item, self.item.seat if self.way == WORDS else asked_seat(self.item)
        policy, agent = team.policies[asked], f"agent_{asked}"
        account = policy.account() if isinstance(policy, ReportsUsage) else {}
        number = choice.number
        return QuestionRecord(
            schema=SCHEMA,
            suite=SUITE,
            env_id=self.env_id,
            env_kwargs=dict(item.scene.options),
            seed=self.seed,
            episode=self.first,
            team={f"agent_{seat}": spec for seat, spec in enumerate(self.team)},
            version=__version__,
            task=item.id,
            level=None,
            max_cycles=1,
            steps=[],
            history=[[] for _ in self.team],
            success=number in item.correct,
            timesteps=0,
            accounts=convert({agent: account} if account else {}, dict[str, Usage]),
            item=AskedItem(
                set=self.set,
                kind=item.kind,
                seat=item.seat,
                part=item.part,
                skills=list(item.skills),
                scene=item.scene.name,
                choices=list(item.choices),
                correct=list(item.correct),
            ),
            answer=GivenAnswer(
                way=self.way,
                without=self.without,
                choice=number,
                letter=None if number is None else LETTERS[number],
                text=choice.text,
                tokens=choice.tokens,
            ),
        )


def checked_env(item: Item) -> ParallelEnv:
    """Return an environment in the state of an item's scene.

    Raises:
        QuestionError: The scene does not belong to the game, or is incomplete.
    """
    scene = item.scene
    env = cached_env(scene.env_id, scene.options)
    if env.game.n_agents != SEATS:
        raise QuestionError(f"scene {scene.name!r}: has {env.game.n_agents} agents, allowed are {SEATS}")
    try:
        env.reset(seed=0, options={"state": scene.state})
    except ValueError as error:
        raise QuestionError(f"scene {scene.name!r}: {error}") from None
    complete = json.loads(json.dumps(env.scene()))
    if {**scene.state, CHANCE: None} != {**complete, CHANCE: None}:
        raise QuestionError(f"scene {scene.name!r}: state: incomplete for a scene of {scene.env_id}")
    return env


def make_match(item: Item, spec: str, way: Any, questions: str, without: Any) -> QuestionMatch:
    """Return the match of the first answer to an item.

    Args:
        item: The item.
        spec: Policy spec; when playing, it has all seats.
        way: One of ``WAYS``.
        questions: Name of the question set.
        without: ``STATE`` if the state is withheld.
    """
    scene = item.scene
    language = PolicySpec.parse(spec).kind == LANGUAGE
    options = source_of(scene.env_id).play_options(scene, language) if way == PLAY else scene.options
    return QuestionMatch(
        env_id=scene.env_id,
        env_kwargs=dict(options),
        team=(spec,) * registry.load_game(scene.env_id, **options).n_agents,
        task=item.id,
        item=item,
        set=questions,
        without=without,
        way=way,
    )


def why_not(item: Item, spec: str, way: str, policy: Any) -> str:
    """Return why a policy cannot answer an item, empty if it can.

    Args:
        item: The item.
        spec: Policy spec.
        way: One of ``WAYS``.
        policy: Instance made from the spec; it is reset.
    """
    if way == WORDS:
        return ""
    if item.scene.told:
        return "questions of a table have no scene to play from"
    if item.kind == FACT:
        return "questions about facts cannot be answered by playing"
    language = PolicySpec.parse(spec).kind == LANGUAGE
    game = registry.load_game(item.scene.env_id, **source_of(item.scene.env_id).play_options(item.scene, language))
    if language:
        return ""
    try:
        game = shown_game(policy, game)
        simulator = Simulator(game, game.alloc(1)[0], 0)
        policy.reset(0, EnvInfo(game.id, game, item.id, (policy.name,) * game.n_agents, simulator), 0)
    except ValueError as error:
        return str(error)
    return ""
