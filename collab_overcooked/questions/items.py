"""Items of a question set, and their files: JSON lines with a heading, then scenes, then items."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, structs

from collab_overcooked import __version__, registry
from collab_overcooked.io import schema
from collab_overcooked.io.checks import check_distinct, near_matches, quote_value
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.structs import Count, Name, Number, Text, convert

VERSION = 4  # of generator and texts; answers to sets of different versions are not comparable
SCORED = 3  # the first version whose answers are still scored, by themselves
SCHEMA = f"collab-overcooked-questions/{VERSION}"
OTHER_VERSION = (
    "belongs to version {old} of the question sets, many of whose items can be answered without understanding the "
    f"state; version {VERSION} replaces it: {{remedy}}"
)
SHIPPED = Path(__file__).with_name("shipped.jsonl")
FACT, PARTNER, OWN = "fact", "partner", "own"
KINDS = {
    FACT: "a fact about the state (the field's EC)",
    PARTNER: "the partner's next action (ToM)",
    OWN: "the seat's best action (JP, or situated reasoning)",
}
PAPER, GENERATED = "paper", "generated"
PARTS = (PAPER, GENERATED)
LETTERS = string.ascii_uppercase
SEATS = 2  # in every game with questions; the other seat is the partner
T = TypeVar("T")


class QuestionError(ValueError):
    """Invalid question set; the message names file, line and field."""


class Scene(Struct, frozen=True, forbid_unknown_fields=True):
    """State of a game."""

    name: Name  # Name, unique in its set
    env_id: Name  # Environment id
    options: Mapping[str, Any]  # Options of the environment
    state: Mapping[str, Any]  # Complete state, as returned by ``env.scene()``; empty if told
    told: Text = ""  # Rules, state and question in words from outside, in place of all of these

    def __post_init__(self) -> None:
        try:
            record = registry.find(self.env_id)
        except ValueError as error:
            raise ValueError(f"env_id: {error}") from None
        if not record.questions:
            raise ValueError(f"env_id: {record.id} has no questions")


class Item(Struct, frozen=True, forbid_unknown_fields=True):
    """Question with its answer and the evidence for it."""

    id: Name  # Id, unique in its set
    scene: Scene  # State that the question is about; a file gives its name
    seat: Annotated[int, Meta(ge=0, le=SEATS - 1)]  # Seat whose view is described
    kind: Name  # One of ``KINDS``
    part: Name  # ``"paper"`` (as many scenarios of each game as in the LLM-Coordination paper) or ``"generated"``
    partner: Name  # Assumed behaviour of the partner, as text
    skills: tuple[Name, ...]  # Required skills, for tables
    question: Text  # Text of the question
    choices: tuple[Text, ...]  # Texts of the choices; all are possible
    correct: tuple[Count, ...]  # Indices of the correct choices
    margin: Number | None  # Lower bound of the difference in value between correct and other choices; None for facts
    unit: Name  # Unit of the margin
    # Proof of the answer: ``values`` (one per choice; None if only known to be worse by the margin) and further facts
    # from the game
    evidence: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name, value, allowed in (("kind", self.kind, KINDS), ("part", self.part, PARTS)):
            if value not in allowed:
                raise ValueError(near_matches(name, value, allowed))
        if not 2 <= len(self.choices) <= len(LETTERS):
            raise ValueError(f"choices: {len(self.choices)} of them, allowed are 2 to {len(LETTERS)}")
        plain = [" ".join(choice.split()).casefold() for choice in self.choices]
        for i, choice in enumerate(plain):
            if choice in plain[:i] or not choice:
                raise ValueError(f"choices: {self.choices[i]!r} is empty or a duplicate")
        numbers = range(len(self.choices))
        if not self.correct or set(self.correct) - set(numbers) or len(set(self.correct)) < len(self.correct):
            raise ValueError(f"correct: {list(self.correct)}, allowed are different numbers below {len(numbers)}")
        if len(self.correct) == len(numbers):
            raise ValueError("correct: all choices are; one at least must be wrong")
        has_none = self.kind == FACT or bool(self.scene.told)
        if (self.margin is None) != has_none or (self.margin is not None and not self.margin > 0):
            raise ValueError(f"margin: {self.margin!r}; facts have none, the others a number above 0")
        schema.read(partial(convert, kind=_Evidence), self.evidence, "evidence")
        if len(self.evidence.get("values", () if self.margin else numbers)) != len(numbers):
            raise ValueError(f"evidence: values: one for each of {len(numbers)} choices is needed")

    @property
    def random_accuracy(self) -> float:
        """Expected accuracy of a uniformly random choice."""
        return len(self.correct) / len(self.choices)

    @property
    def letters(self) -> str:
        """Letters of the correct choices."""
        return "".join(LETTERS[number] for number in self.correct)


class QuestionSet(Struct, frozen=True, dict=True):
    """Items with the seed and version that generated them."""

    seed: int  # Seed of the generator
    items: tuple[Item, ...]  # Items in file order
    version: str = __version__  # Version of the package that generated them

    @cached_property
    def name(self) -> str:
        """Version of the generator and digest of the contents; identifies the set in records."""
        return f"v{VERSION}-{hashlib.sha256(self._lines()).hexdigest()[:12]}"

    def find(self, name: str) -> Item:
        """Return the item with an id.

        Raises:
            ValueError: The item is unknown.
        """
        for item in self.items:
            if item.id == name:
                return item
        raise ValueError(near_matches("question", name, [item.id for item in self.items]))

    def write(self, path: Path) -> None:
        """Write the file."""
        counts = {"scenes": len({item.scene.name for item in self.items}), "items": len(self.items)}
        heading = {"schema": SCHEMA, "seed": self.seed, "version": self.version} | counts
        write_atomic(path, schema.json_line(heading, schema.json_value) + self._lines())

    def _lines(self) -> bytes:
        scenes = {item.scene.name: item.scene for item in self.items}
        entries = [
            {name: value for name, value in structs.asdict(scene).items() if name != "told" or value}
            for scene in scenes.values()
        ]
        entries += [structs.asdict(item) | {"scene": item.scene.name} for item in self.items]
        return b"".join(schema.json_line(entry, schema.json_value) for entry in entries)


class _Evidence(Struct):
    values: list[Text | Number | None] = []


class _Heading(Struct):
    schema: Any
    scenes: Count
    items: Count
    seed: Annotated[int, Meta(ge=0)]
    version: Any = None

    def __post_init__(self) -> None:
        for old in range(1, VERSION):
            if self.schema == SCHEMA.replace(f"/{VERSION}", f"/{old}"):
                remedy = "make the set anew with 'python -m benchmarks.questions' of the repository"
                raise ValueError(f"schema: {OTHER_VERSION.format(old=old, remedy=remedy)}")
        schema.read(schema.one_of((SCHEMA,)), self.schema, "schema")


def read_questions(path: str | Path = SHIPPED) -> QuestionSet:
    """Read a question set.

    Raises:
        QuestionError: The file is damaged or incomplete.
    """
    path = Path(path)
    lines = read_text(path, error=QuestionError).rstrip("\n").split("\n")
    heading = _parse(lines[0], _Heading, f"{path}, line 1")
    scenes: dict[str, Scene] = {}
    items: dict[str, Item] = {}
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}, line {number}"
        if len(scenes) < heading.scenes:
            scene = _parse(line, Scene, where)
            _add(scenes, scene.name, scene, where)
        else:
            item = _parse(line, Item, where, scenes)
            _add(items, item.id, item, where)
    if (len(scenes), len(items)) != (heading.scenes, heading.items):
        raise QuestionError(
            f"{path}: holds {len(scenes)} scenes and {len(items)} items, its heading says "
            f"{heading.scenes} and {heading.items}"
        )
    return QuestionSet(heading.seed, tuple(items.values()), str(heading.version))


@lru_cache(maxsize=1)
def shipped_name() -> str:
    """Return the name of the built-in question set."""
    return read_questions().name


def _add(entries: dict[str, Any], name: str, value: object, where: str) -> None:
    if name in entries:
        raise QuestionError(f"{where}: {name!r} is a duplicate")
    entries[name] = value


def _parse(line: str, kind: type[T], where: str, scenes: Mapping[str, Scene] | None = None) -> T:
    """Parse a line; names of scenes stand for these."""
    try:
        entry = schema.parse_json(line)
        if scenes is not None and isinstance(entry, dict) and "scene" in entry:
            where += f", item {quote_value(entry.get('id'))}"
            name = schema.read(schema.name, entry["scene"], "scene")
            if name not in scenes:
                raise ValueError(near_matches("scene", name, scenes))
            entry["scene"] = scenes[name]
        return convert(entry, kind)
    except ValueError as error:
        raise QuestionError(f"{where}: {error}") from None


def choose_items(questions: QuestionSet, **names: str | None) -> list[Item]:
    """Filter items by comma-separated names.

    Args:
        questions: Question set.
        names: ``games``, ``kinds``, ``parts``, ``skills`` (items that need any of them), ``items`` (ids); None for all.

    Raises:
        ValueError: A name is unknown, or no item matches.
    """
    known = {
        "games": registry.registered(),
        "kinds": KINDS,
        "parts": PARTS,
        "skills": dict.fromkeys(skill for item in questions.items for skill in item.skills),
        "items": [item.id for item in questions.items],
    }
    chosen = {name: set(_read_names(name, names.get(name), allowed)) for name, allowed in known.items()}
    items = [
        item
        for item in questions.items
        if item.scene.env_id in chosen["games"] and item.kind in chosen["kinds"] and item.part in chosen["parts"]
        if item.id in chosen["items"] and chosen["skills"] & set(item.skills)
    ]
    if not items:
        raise ValueError("questions: no item matches all options; see collab-overcooked questions list")
    return items


def _read_names(name: str, text: str | None, known: Iterable[str]) -> tuple[str, ...]:
    """Parse comma-separated names; None stands for all known names."""
    names = list(known)
    chosen: Sequence[str] = names if text is None else [word.strip() for word in text.split(",")]
    for word in chosen:
        if word not in names:
            raise ValueError(f"{name}: {near_matches(name, word, names)}")
    check_distinct(name, chosen)
    return tuple(chosen)
