"""Study files: questionnaires, games, their order, and the texts of the last page."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.checks import check_options, near_matches
from collab_overcooked.io.documents import Document, load_layout
from collab_overcooked.io.text import one_line
from collab_overcooked.play.settings import LANGUAGES, PlaySettings
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.runner.episode import Limits, derive_seed
from collab_overcooked.runner.jobs import Job
from collab_overcooked.study.forms import MAX_SECONDS, FormReader, Questionnaire, check_name
from collab_overcooked.study.order import ORDERS, rows_of
from collab_overcooked.study.texts import PAGE_TEXTS, blanks, default_texts, fill

FOLDER = "studies"
PARTICIPANTS = ("id", "keep", "limit", "margin", "idle", "per_network", "failed_checks", "group", "wait")
KEYS = (
    *("title", "language", "seed", "consent", "boxes", "needs", "participants", "partners", "play", "conditions"),
    *("blocks", "forms", "debrief", "bonus", "finish", "words"),
)
ENDS = {
    "done": "All steps were completed.",
    "declined": "Consent was not given.",
    "screened": "An answer excluded the participant.",
    "inattentive": "Too many attention checks failed.",
    "unmatched": "No partner joined in time.",
    "partner_left": "Another member of the group left.",
    "left": "The participant left.",
    "stopped": "The host ended it.",
    "failed": "An error occurred.",
}
"""Ways in which participation can end, and their descriptions."""
TASKS, NONE = "tasks", "none"
BETWEEN = "between"  # the order in which each group plays one condition


@dataclass(frozen=True)
class Condition:
    """A kind of episode that participants play."""

    name: str  # Name in files and tables
    label: str  # Name shown to participants
    suite: str  # Suite that scores its records
    jobs: tuple[Job, ...]  # Episodes to draw from; seats of people have the policy ``person``
    episodes: int  # Number of episodes that each group plays
    settings: PlaySettings  # Settings of play
    voice: bool = False  # Whether one participant has no seat and speaks to all seats
    draws: str = ""  # Conditions with the same key draw the same tasks and seeds for a group

    def draw(self, seed: int, group: int) -> list[Job]:
        """Return the episodes of a group: each once before any repeats, every one with a separate seed."""
        jobs = sorted(self.jobs, key=lambda job: job.task)
        order = np.random.default_rng(derive_seed(seed, "draw", self.draws, group)).permutation(len(jobs))
        drawn = [jobs[order[i % len(order)]] for i in range(self.episodes)]
        return [replace(job, seed=derive_seed(seed, self.draws, group, i)) for i, job in enumerate(drawn)]


@dataclass(frozen=True)
class Block:
    """A part of a study: a page, a questionnaire, or conditions that are played."""

    page: tuple[str, str] | None = None  # Title and text of a page
    form: str = ""  # Name of a questionnaire
    play: tuple[str, ...] = ()  # Names of conditions
    order: str = "balanced"  # Name of their order, see ``order.ORDERS``
    match: str = NONE  # Whether a participant plays the same tasks and seeds in all of them, ``TASKS`` or ``NONE``
    after: str = ""  # Name of the questionnaire after each condition; empty for none
    practice: bool = False  # Whether three short episodes that do not count come before the first condition
    seconds: int = 0  # Minimum time for which a page is shown


@dataclass(frozen=True)
class StudyStep:
    """A step of a participant."""

    kind: Literal["page", "form", "play"]  # ``"page"``, ``"form"`` or ``"play"``
    block: int  # Index of the block
    form: str = ""  # Name of the questionnaire
    condition: str = ""  # Condition that is played, or was played before the questionnaire; empty for none
    place: int = 0  # Place of the condition in its block's order, from 0


@dataclass(frozen=True)
class End:
    """Content of the last page.

    In all of them ``{id}`` is replaced by the panel's id, and ``{name}`` by the kept parameter of that name.
    """

    text: str  # Text of the page
    code: str = ""  # Completion code; empty for none
    url: str = ""  # Address to return to; empty for none


@dataclass(frozen=True)
class Needs:
    """Device and browser that participants need, named before consent."""

    width: int = 0  # Least width of the window in pixels; 0 for any
    keyboard: bool = False
    mouse: bool = False


@dataclass(frozen=True)
class Study:
    """A study with people, as its file describes it."""

    name: str  # Name of its file
    title: str  # Title shown to participants
    language: str  # Language of its texts, for the page's ``lang``
    seed: int  # Random seed of orders, draws and episodes
    consent: str  # Text of the consent page
    boxes: tuple[str, ...]  # Statements to tick before agreeing
    needs: Needs  # What participants are asked to have
    debrief: str  # Text on the last page of all who agreed, however participation ended
    bonus: tuple[float, float] | None  # Money per point of score, and the largest sum; None for no bonus
    panel_id: str  # Name of the address parameter that holds the id of a panel; empty for none
    keep: tuple[str, ...]  # Further address parameters that are stored
    limit: int  # Number of participants needed
    margin: int  # Number of participants that may be under way beyond those still needed
    idle: float  # Seconds of inactivity after which a participant's place becomes free
    per_network: int  # Number of participants that may join from one network at once, and again per hour
    # Number of failed attention checks that ends the study for a participant; None for no limit
    failed_checks: int | None
    group: int  # Number of participants who play together
    wait: float  # Seconds that a participant waits for others
    partners: Mapping[str, str]  # Policy specs by the names that teams use
    conditions: Mapping[str, Condition]  # Conditions by name
    blocks: tuple[Block, ...]  # Blocks in order
    forms: Mapping[str, Questionnaire]  # Questionnaires by name
    ends: Mapping[str, End]  # Last pages by how participation ended, see ``ENDS``
    texts: Mapping[str, str]  # Texts of the pages by name, see ``texts.PAGE_TEXTS``
    content: Mapping[str, Any] = field(repr=False)  # Values of the file, which must be the same when a study is resumed

    @cached_property
    def consent_version(self) -> str:
        """First digits of the SHA-256 of the consent text and its boxes."""
        return hashlib.sha256("\n".join((self.consent, *self.boxes)).encode()).hexdigest()[:12]

    @cached_property
    def period(self) -> int:
        """Number of groups after which all orders of all blocks have been used equally often."""
        return math.lcm(1, *(rows_of(block.order, len(block.play)) for block in self.blocks if block.play))

    @cached_property
    def has_games(self) -> bool:
        """True if the study contains games."""
        return any(block.play for block in self.blocks)

    def labels_of(self, steps: Sequence[StudyStep]) -> dict[str, str]:
        """Return the labels of a participant's conditions in questionnaires: by place where conditions share one."""
        names = list(dict.fromkeys(step.condition for step in steps if step.kind == "play"))
        labels = [self.conditions[name].label for name in names]
        return {
            name: label if labels.count(label) == 1 else fill(self.texts["partner"], n=place)
            for place, (name, label) in enumerate(zip(names, labels, strict=True), start=1)
        }

    def steps(self, group: int) -> list[StudyStep]:
        """Return the steps of a group in order; before the first game they are the same for all groups.

        Args:
            group: Row of the balanced orders.
        """
        steps: list[StudyStep] = []
        for i, block in enumerate(self.blocks):
            if block.page is not None:
                steps.append(StudyStep("page", i))
            elif block.form:
                steps.append(StudyStep("form", i, form=block.form))
            for place, k in enumerate(ORDERS[block.order](len(block.play), group, self.seed) if block.play else ()):
                name = block.play[k]
                steps.append(StudyStep("play", i, condition=name, place=place))
                if block.after:
                    steps.append(StudyStep("form", i, block.after, name, place))
        return steps


def read_study(source: str | Path | Mapping[str, Any], partners: Mapping[str, str] | None = None) -> Study:
    """Read and validate a study.

    Args:
        source: Name of a built-in study, path of a YAML file, or its values.
        partners: Policy specs that override those of partners, by name.
    """
    doc = load_layout(source, FOLDER, "study")
    doc.mapping(only=KEYS)
    name = Path(source).stem if isinstance(source, (str, Path)) else "study"
    return _Reader(doc, partners or {}).study(name)


class _Reader:
    """Reader of one study file."""

    def __init__(self, doc: Document, partners: Mapping[str, str]) -> None:
        self.doc, self.chosen = doc, partners

    def study(self, name: str) -> Study:
        doc = self.doc
        doc.mapping("participants", only=PARTICIPANTS, default={})
        limit = doc.integer("participants", "limit", default=500, low=1, high=100_000)
        seed, group = doc.integer("seed", default=0), doc.integer("participants", "group", default=1, low=1, high=8)
        partners, forms = self._partners(), FormReader(doc).forms()
        conditions = self._conditions(seed, group, partners)
        blocks = self._blocks(conditions, forms)
        return Study(
            name=name,
            title=one_line(doc.text("title")),
            language=self._language(),
            seed=seed,
            consent=doc.text("consent"),
            boxes=tuple(
                one_line(doc.text("boxes", i)) for i in range(len(doc.listed("statements", "boxes", default=[])))
            ),
            needs=self._needs(),
            debrief=doc.text("debrief", default=""),
            bonus=self._bonus(),
            panel_id=self._matching(_PARAMETER, "be the name of an address parameter", "participants", "id"),
            keep=self._keep(),
            limit=limit,
            margin=doc.integer("participants", "margin", default=group, high=100_000),
            idle=doc.number("participants", "idle", default=1800, low=60),
            per_network=doc.integer("participants", "per_network", default=default_per_network(limit, group), low=1),
            failed_checks=doc.integer("participants", "failed_checks", default=None, low=1),
            group=group,
            wait=doc.number("participants", "wait", default=180, low=5),
            partners=partners,
            conditions=self._with_draws(conditions, blocks),
            blocks=blocks,
            forms=forms,
            ends=self._ends(),
            texts=self._page_texts(),
            content=doc.content,
        )

    def _needs(self) -> Needs:
        doc = self.doc
        doc.mapping("needs", only=("width", "keyboard", "mouse"), default={})
        width = doc.integer("needs", "width", default=0, high=10_000)
        return Needs(width, doc.boolean("needs", "keyboard"), doc.boolean("needs", "mouse"))

    def _bonus(self) -> tuple[float, float] | None:
        if not self.doc.mapping("bonus", only=("per_point", "most"), default={}):
            return None
        return self.doc.number("bonus", "per_point", low=0), self.doc.number("bonus", "most", low=0)

    def _language(self) -> str:
        return self._matching(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*", "be a code such as en", "language") or "en"

    def _matching(self, pattern: str, requirement: str, *path: Any) -> str:
        text = self.doc.text(*path, default="")
        if text and not re.fullmatch(pattern, text):
            raise self.doc.refuse(requirement, *path)
        return text

    def _keep(self) -> tuple[str, ...]:
        path = ("participants", "keep")
        names = self.doc.listed("address parameters", *path, default=[])
        requirement = "be the name of an address parameter"
        return tuple(self._matching(_PARAMETER, requirement, *path, i) for i in range(len(names)))

    def _partners(self) -> dict[str, str]:
        doc = self.doc
        partners = {
            check_name(doc, name, "partners", name): doc.text("partners", name) for name in self._names("partners")
        }
        for name, spec in self.chosen.items():
            if name not in partners:
                raise ValueError(near_matches("partner of the study", name, partners))
            partners[name] = spec
        for name, spec in partners.items():
            try:
                check_partner(spec)
            except ValueError as error:
                raise doc.error(f"partners.{name}: {error}", "partners", name) from None
        return partners

    def _names(self, key: str) -> Iterable[str]:
        return self.doc.mapping(key, default={})

    def _conditions(self, seed: int, group: int, partners: Mapping[str, str]) -> dict[str, Condition]:
        doc = self.doc
        names = doc.mapping("conditions")
        return {
            check_name(doc, name, "conditions", name): self._condition(name, seed, group, partners) for name in names
        }

    def _condition(self, name: str, seed: int, group: int, partners: Mapping[str, str]) -> Condition:
        doc, path = self.doc, ("conditions", name)
        doc.mapping(*path, only=("label", "suite", "team", "options", "set", "limits", "episodes", "play", "voice"))
        assignments = [doc.text(*path, "team", i) for i in range(len(doc.listed("seat=policy entries", *path, "team")))]
        team = [self._with_partner(assignment, partners) for assignment in assignments]
        suite = doc.text(*path, "suite")
        try:
            plan = plan_evaluation(
                suite,
                team,
                seed=seed,
                options=doc.mapping(*path, "set", default={}),
                limits=Limits(**doc.mapping(*path, "limits", only=("max_messages", "max_corrections"), default={})),
                **self._options(suite, *path, "options"),
            )
            jobs = tuple(job for job in plan.jobs if job.team == plan.jobs[0].team)  # some suites also swap the seats
            for spec in dict.fromkeys(spec for job in jobs for spec in job.team if spec != PERSON):
                check_partner(spec)
        except (ValueError, TypeError) as error:
            raise doc.error(f"conditions.{name}: {error}", *path) from None
        voice = doc.boolean(*path, "voice")
        wrong = next((job.team.count(PERSON) for job in jobs if job.team.count(PERSON) + voice != group), None)
        if wrong is not None:
            raise doc.error(
                f"conditions.{name}.team: has {wrong} seats of people ({PERSON}){' and a voice' if voice else ''}, but "
                f"participants.group is {group}",
                *path,
                "team",
            )
        label = one_line(doc.text(*path, "label", default=doc.text("title")))
        episodes = doc.integer(*path, "episodes", default=1, low=1, high=200)
        return Condition(name, label, plan.suite, jobs, episodes, self._play(path), voice, draws=name)

    def _options(self, suite: str, *path: Any) -> dict[str, Any]:
        doc, kind = self.doc, registry.load_suite_options(suite).play
        options = {str(key): value for key, value in doc.mapping(*path, default={}).items()}
        check_options(options, [option.name for option in fields(kind)], f"option of the suite {suite}")
        for name, value in options.items():
            hint = get_type_hints(kind)[name]
            types = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            if isinstance(value, list):
                items = [get_args(type_)[0] for type_ in types if get_origin(type_) is tuple]
                fits = bool(items) and all(_is_of(item, items[0]) for item in value)
            else:
                fits = any(_is_of(value, type_) for type_ in types)
            if not fits:
                names = [
                    getattr(type_, "__name__", str(type_)) if get_origin(type_) is None else str(type_)
                    for type_ in types
                ]
                raise doc.refuse(f"be of type {' or '.join(names)}", *path, name)
        return options

    def _with_partner(self, assignment: str, partners: Mapping[str, str]) -> str:
        seat, equals, spec = assignment.partition("=")
        return f"{seat}{equals}{partners.get(spec.strip(), spec)}"

    def _play(self, path: tuple[str, str]) -> PlaySettings:
        doc, values = self.doc, dict[str, Any](replay=False)  # a replay would teach participants who play again
        values |= {"language": doc.at("language")} if doc.at("language") in LANGUAGES else {}
        names = PlaySettings.__dataclass_fields__
        for keys in (("play",), (*path, "play")):
            values |= doc.mapping(*keys, only=names, default={})
            try:
                settings = PlaySettings(**values)
            except (ValueError, TypeError) as error:
                raise doc.error(f"{'.'.join(keys)}: {error}", *keys) from None
        return settings

    def _blocks(self, conditions: Mapping[str, Condition], forms: Mapping[str, Questionnaire]) -> tuple[Block, ...]:
        doc = self.doc
        blocks = tuple(
            self._block(("blocks", i), conditions, forms) for i in range(len(doc.listed("blocks", "blocks")))
        )
        used = {name for block in blocks for name in (*block.play, block.form, block.after)}
        for key, known in (("conditions", conditions), ("forms", forms)):
            for name in known:
                if name not in used:
                    raise doc.error(f"{key}.{name} is in no block", key, name)
        return blocks

    def _block(self, path: tuple[Any, ...], conditions: Mapping[str, Any], forms: Mapping[str, Any]) -> Block:
        doc = self.doc
        block = doc.mapping(*path, only=("page", "form", *_PLAY_KEYS))
        kinds = [kind for kind in ("page", "form", "play") if kind in block]
        if len(kinds) != 1:
            raise doc.refuse("have one of page, form, play", *path)
        doc.mapping(*path, only=_PLAY_KEYS if kinds == ["play"] else kinds)
        if kinds == ["page"]:
            doc.mapping(*path, "page", only=("title", "text", "seconds"))
            seconds = doc.integer(*path, "page", "seconds", default=0, high=MAX_SECONDS)
            return Block(
                page=(one_line(doc.text(*path, "page", "title")), doc.text(*path, "page", "text")), seconds=seconds
            )
        if kinds == ["form"]:
            return Block(form=doc.choice(list(forms), *path, "form"))

        def check_condition(doc: Document, name: Any, *place: Any) -> None:
            doc.choice(list(conditions), *place)

        play = doc.names(check_condition, *path, "play")
        after = doc.choice(list(forms), *path, "after", default="")
        order = doc.choice(list(ORDERS), *path, "order", default="balanced")
        match = doc.choice((TASKS, NONE), *path, "match", default="")
        counts = [len(conditions[name].jobs) for name in play]
        if match == TASKS and order == BETWEEN:
            raise doc.refuse(
                f"be {NONE} where the order is {BETWEEN}: each participant plays one condition", *path, "match"
            )
        if match == TASKS and len(set(counts)) > 1:
            raise doc.refuse(f"be {NONE}: the conditions have {counts} different episodes to draw from", *path, "match")
        matches = order != BETWEEN and len(set(counts)) == 1
        return Block(
            play=play,
            order=order,
            match=match or (TASKS if matches else NONE),
            after=after,
            practice=doc.boolean(*path, "practice"),
        )

    def _with_draws(self, conditions: Mapping[str, Condition], blocks: Sequence[Block]) -> dict[str, Condition]:
        draws = {name: condition.draws for name, condition in conditions.items()}
        for block in blocks:
            if block.match == TASKS:
                shared = [draws[name] for name in block.play if draws[name] != name]
                draws |= dict.fromkeys(block.play, (*shared, block.play[0])[0])
        return {name: replace(condition, draws=draws[name]) for name, condition in conditions.items()}

    def _ends(self) -> dict[str, End]:
        doc = self.doc
        doc.mapping("finish", only=ENDS, default={})
        ends = {}
        for name, default in default_texts(self._language())[1].items():
            path = ("finish", name)
            doc.mapping(*path, only=("text", "code", "url"), default={})
            url = doc.text(*path, "url", default="")
            if url and not re.match(r"https?://[^\s/]+(/\S*)?$", url):
                raise doc.refuse("be an address that starts with https:// or http://", *path, "url")
            code = one_line(doc.text(*path, "code", default=""))
            text = doc.text(*path, "text", default=default)
            allowed = ("id", *(self.doc.at("participants", "keep") or ()))
            for key, written in (("text", text), ("code", code), ("url", url)):
                for value in re.findall(r"\{(\w*)\}", written):
                    if value not in allowed:
                        raise doc.error(near_matches(f"value in finish.{name}.{key}", value, allowed), *path, key)
            ends[name] = End(text, code, url)
        return ends

    def _page_texts(self) -> dict[str, str]:
        doc = self.doc
        doc.mapping("words", only=PAGE_TEXTS, default={})
        texts = {}
        for name, default in default_texts(self._language())[0].items():
            texts[name] = one_line(doc.text("words", name, default=default))
            allowed = blanks(default)
            if set(blanks(texts[name])) - set(allowed) or re.search(r"[{}]", re.sub(r"\{\w+\}", "", texts[name])):
                listed = ", ".join(f"{{{name_}}}" for name_ in allowed) or "none"
                raise doc.refuse(f"contain no braces other than: {listed}", "words", name)
        return texts


def default_per_network(limit: int, group: int) -> int:
    """Return how many participants may join from one network at once: a quarter of a study, at least two groups."""
    return min(60, max(2 * group, -(-limit // 4)))


def _is_of(value: Any, kind: type) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return type(value) is kind or (kind is float and type(value) is int)


_PLAY_KEYS = ("play", "order", "match", "after", "practice")
_PARAMETER = r"[A-Za-z][A-Za-z0-9_-]{0,39}"


def check_partner(spec: str) -> None:
    """Check that a policy spec can play beside people."""
    if PolicySpec.parse(spec).kind == PolicySpec.parse(PERSON).kind:
        raise ValueError(f"{spec!r} cannot be a partner; write seats of people as seat={PERSON}")
    if PolicySpec.parse(spec).is_language:
        from collab_overcooked.policies.llm.settings import parse_settings

        parse_settings(PolicySpec.parse(spec).parameters)
