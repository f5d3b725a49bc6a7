"""Study files: questionnaires, games, their order, and the texts of the last page."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.runner.episode import derive_seed
from collab_overcooked.runner.match import Match
from collab_overcooked.study.forms import RANDOM, Questionnaire, ShowIf
from collab_overcooked.study.media import Media
from collab_overcooked.study.order import ORDERS, rows_of
from collab_overcooked.study.texts import fill

FOLDER = "studies"
PARTICIPANTS = (
    "id",
    "keep",
    "limit",
    "quota",
    "margin",
    "idle",
    "per_network",
    "failed_checks",
    "group",
    "wait",
    "minutes",
)
KEYS = (
    "title",
    "language",
    "seed",
    "consent",
    "boxes",
    "needs",
    "participants",
    "partners",
    "play",
    "factors",
    "cell",
    "conditions",
    "retention",
    "blocks",
    "forms",
    "debrief",
    "bonus",
    "finish",
    "words",
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
    "late": "The time for the whole study was over.",
    "failed": "An error occurred.",
}
"""Ways in which participation can end, and their descriptions."""
EXPECTED_ENDS = ("done", "screened", "inattentive", "unmatched")
"""Ends of participants who do not leave, in a study that works."""
MINUTES = "minutes"
"""Value in the text of ``too_many``: the time after which to try again."""
REFUSALS = {
    "full": "The study had all the participants that it needs.",
    "full_now": "All places were taken.",
    "too_many": "Too many people of one network joined.",
    "again": "The panel's id had taken part before.",
}
"""Reasons for which people cannot take part, and their descriptions; they have last pages as well."""
RAISABLE = ("limit", "margin", "per_network", "idle", "wait", "minutes")
"""Numbers of ``participants`` that may be raised while a study runs, beside the quotas."""
TASKS, YOKED, NONE = "tasks", "yoked", "none"
MATCHES = (TASKS, YOKED, NONE)
BETWEEN = "between"  # the order in which each group plays one condition


@dataclass(frozen=True)
class Condition:
    """A kind of episode that participants play."""

    name: str  # Name in files and tables
    label: str  # Name shown to participants
    suite: str  # Suite that scores its records
    matches: tuple[Match, ...]  # Tasks to draw from, each once; seats of people have the policy ``person``
    episodes: int  # Number of matches that each group plays; one is a series of episodes in some suites
    settings: PlaySettings  # Settings of play
    voice: bool = False  # Whether one participant has no seat and speaks to all seats
    draws: str = ""  # Conditions with the same key draw the same tasks and seeds for a number
    levels: Mapping[str, str] = field(default_factory=dict)  # Level of each factor; empty for a condition without any
    without_effect: str = ""  # Entry of ``options`` that repeats matches, for example ``episodes: 2``; draws ignore it

    @property
    def rounds(self) -> int:
        """Number of rounds that each group plays."""
        return self.episodes * len(self.matches[0].keys)

    @property
    def people(self) -> int:
        """Number of participants who play the condition together; in larger groups, each one plays alone."""
        return self.matches[0].team.count(PERSON) + self.voice

    def draw(self, seed: int, number: int) -> list[Match]:
        """Return the matches of a group: each task once before any repeats, every match with a separate seed.

        Args:
            seed: Seed of the study.
            number: Number of the group, or of its yoke.
        """
        matches = sorted(self.matches, key=lambda match: match.task)
        order = np.random.default_rng(derive_seed(seed, "draw", self.draws, number)).permutation(len(matches))
        drawn = [matches[order[i % len(order)]] for i in range(self.episodes)]
        return [replace(match, seed=derive_seed(seed, self.draws, number, i)) for i, match in enumerate(drawn)]


@dataclass(frozen=True)
class Block:
    """A part of a study: a page, a questionnaire, or conditions that are played."""

    page: tuple[str, str] | None = None  # Title and text of a page
    form: str = ""  # Name of a questionnaire
    play: tuple[str, ...] = ()  # Names of conditions
    order: str = "balanced"  # Name of their order, see ``order.ORDERS``
    # Conditions that each kind of group plays, where factors vary between groups; empty if all groups play the same
    parts: tuple[tuple[str, ...], ...] = ()
    # Who plays the same tasks and seeds: a participant in all of the conditions (``TASKS``), also the participants of
    # the same yoke in other conditions (``YOKED``), or nobody (``NONE``)
    match: str = NONE
    after: str = ""  # Name of the questionnaire after each condition; empty for none
    practice: bool = False  # Whether three short episodes that do not count come before the first condition
    seconds: int = 0  # Minimum time for which a page is shown
    media: Media | None = None  # Image or video below the text of a page
    shuffle: str = ""  # Blocks of the same non-empty key follow each other in an order drawn for each participant
    show_if: ShowIf = ()  # Answers on which a page or questionnaire is shown; always if empty

    @property
    def rows(self) -> int:
        """Number of groups after which the order is balanced; 1 if it is fixed or random."""
        parts = self.parts or (self.play,)
        return len(parts) * rows_of(self.order, len(parts[0])) if self.play else 1

    def ordered(self, row: int, seed: int) -> list[str]:
        """Return the conditions that a group plays, in order.

        Args:
            row: Row of the balanced orders.
            seed: Seed of the study.
        """
        if not self.play:
            return []
        parts = self.parts or (self.play,)
        part = parts[row % len(parts)]
        return [part[k] for k in ORDERS[self.order](len(part), row // len(parts), seed)]


@dataclass(frozen=True)
class StudyStep:
    """A step of a participant."""

    kind: Literal["page", "form", "play"]
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
class Bonus:
    """Payment of participants beside the panel's reward, in the currency of the study."""

    most: float  # Largest sum
    per_point: float = 0.0  # For each point of a score
    per_round: float = 0.0  # For each round that was played to its end
    fixed: float = 0.0  # For completing the study
    tasks: tuple[str, ...] = ()  # Tasks whose rounds are paid; all if empty


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
    debrief: str  # Text on the last page of all who agreed, but for those screened out before their first game
    bonus: Bonus | None  # None for no bonus
    panel_id: str  # Name of the address parameter that holds the id of a panel; empty for none
    keep: tuple[str, ...]  # Further address parameters that are stored
    limit: int  # Number of participants needed
    quota: Mapping[str, int]  # Number of participants who are to complete a condition, by its name
    margin: int  # Number of participants that may be under way beyond those still needed
    idle: float  # Seconds of inactivity after which a participant's place becomes free
    per_network: int  # Number of participants that may join from one network at once, and again per hour
    # Number of failed attention checks that ends the study for a participant; None for no limit
    failed_checks: int | None
    group: int  # Number of participants who play together
    wait: float  # Seconds that a participant waits for others
    minutes: float | None  # Minutes for the whole study, from consent on; None for no limit
    retention: str  # Date until which personal data are kept, ``YYYY-MM-DD``; empty if the file names none
    partners: Mapping[str, str]  # Policy specs by the names that teams use
    conditions: Mapping[str, Condition]  # Conditions by name
    blocks: tuple[Block, ...]  # Blocks in order
    forms: Mapping[str, Questionnaire]  # Questionnaires by name
    ends: Mapping[str, End]  # Last pages, see ``ENDS`` and ``REFUSALS``
    texts: Mapping[str, str]  # Texts of the pages by name, see ``texts.PAGE_TEXTS``
    files: Mapping[str, Path]  # Files of images and videos by the names that pages use
    content: Mapping[str, Any] = field(repr=False)  # Values of the file, which must be the same when a study is resumed

    @cached_property
    def consent_version(self) -> str:
        """First digits of the SHA-256 of the consent text and its boxes."""
        return hashlib.sha256("\n".join((self.consent, *self.boxes)).encode()).hexdigest()[:12]

    @property
    def parameters(self) -> list[str]:
        """Address parameters that are stored; the panel's id, if there is one, is the first."""
        return [name for name in (self.panel_id, *self.keep) if name]

    @cached_property
    def period(self) -> int:
        """Number of groups after which all orders of all blocks have been used equally often."""
        return math.lcm(1, *(block.rows for block in self.blocks))

    @cached_property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """Levels by factor."""
        cells = [condition.levels for condition in self.conditions.values() if condition.levels]
        return {name: tuple(dict.fromkeys(levels[name] for levels in cells)) for name in (cells[0] if cells else ())}

    @cached_property
    def cells(self) -> list[tuple[str, ...]]:
        """Conditions that a participant plays, for each row of the balanced orders, in the order of the file."""
        played = [{step.condition for step in self.steps(row) if step.kind == "play"} for row in range(self.period)]
        return [tuple(name for name in self.conditions if name in names) for names in played]

    def places(self, left: Callable[[str], float]) -> float:
        """Return how many more people can complete the study, infinity without games.

        Args:
            left: How many more people can complete a condition, by its name.
        """
        cells = {cell for cell in self.cells if cell}
        return sum(max(0, min(map(left, cell))) for cell in cells) if cells else math.inf

    @cached_property
    def most_checks(self) -> int:
        """Number of attention checks that a participant answers at most."""
        checks = {name: sum(bool(item.expect) for item in form.items) for name, form in self.forms.items()}
        return max(sum(checks[step.form] for step in self.steps(row) if step.form) for row in range(self.period))

    @cached_property
    def is_yoked(self) -> bool:
        """True if participants of different conditions play the same tasks."""
        return any(block.match == YOKED for block in self.blocks)

    @cached_property
    def has_games(self) -> bool:
        """True if the study contains games."""
        return any(block.play for block in self.blocks)

    def leaving_text(self, with_others: bool) -> str:
        """Return the sentence that says what ends for a participant who leaves.

        Args:
            with_others: Whether the study also ends for others, because they still play together.
        """
        pay = self.texts["leave_code" if self.ends["left"].code else "leave_no_code"]
        return fill(self.texts["leave_sure_all" if with_others else "leave_sure"], pay=pay)

    def labels_of(self, steps: Sequence[StudyStep]) -> dict[str, str]:
        """Return the labels of a participant's conditions in questionnaires; equal labels are numbered."""
        names = list(dict.fromkeys(step.condition for step in steps if step.kind == "play"))
        labels = [self.conditions[name].label for name in names]
        return {
            name: label if labels.count(label) == 1 else fill(self.texts["partner"], n=place)
            for place, (name, label) in enumerate(zip(names, labels, strict=True), start=1)
        }

    def draw_orders(self, number: int) -> dict[str, list[int]]:
        """Return the random orders of a participant: of the questions of a form, and of blocks.

        Args:
            number: Index of the participant in order of consent.
        """
        sizes = Counter(block.shuffle for block in self.blocks if block.shuffle)
        sizes |= {f"forms.{form.name}": len(form.items) for form in self.forms.values() if form.order == RANDOM}
        return {
            key: np.random.default_rng(derive_seed(self.seed, key, number)).permutation(size).tolist()
            for key, size in sizes.items()
        }

    def steps(self, row: int, orders: Mapping[str, Sequence[int]] = MappingProxyType({})) -> list[StudyStep]:
        """Return the steps of a group in order; before the first game they are the same for all groups.

        Args:
            row: Row of the balanced orders.
            orders: Random orders of a participant, see ``draw_orders``; those of the file by default.
        """
        steps: list[StudyStep] = []
        for i in self._in_order(orders):
            block = self.blocks[i]
            if block.page is not None:
                steps.append(StudyStep("page", i))
            elif block.form:
                steps.append(StudyStep("form", i, form=block.form))
            for place, name in enumerate(block.ordered(row, self.seed)):
                steps.append(StudyStep("play", i, condition=name, place=place))
                if block.after:
                    steps.append(StudyStep("form", i, block.after, name, place))
        return steps

    def _in_order(self, orders: Mapping[str, Sequence[int]]) -> list[int]:
        indices: list[int] = []
        for key, together in groupby(range(len(self.blocks)), lambda i: self.blocks[i].shuffle or i):
            run = list(together)
            indices += [run[k] for k in orders.get(str(key), range(len(run)))]
        return indices
