"""Records of episodes: everything that an episode leaves, and the only source of metrics, tables and texts.

Entries of steps form no reference cycles, so the garbage collector does not visit them (``gc=False``).

A game adds fields by subclasses: of ``Event`` for what an agent's event says, of ``Step`` for what its logger adds to
each step, and of ``EpisodeRecord`` for what it adds to the episode. Its suite names the last (``Suite.record_class``).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import MAX_DEPTH
from collab_overcooked.io.structs import Count, Name, Number, Seconds, Text, decode

SCHEMA: Final = "collab-overcooked-record/1"
Tokens = Annotated[int, Meta(ge=0, le=10**12)]
"""Sum over many answers, each of which is bounded on receipt."""
Action = Annotated[int, Meta(ge=0, le=MAX_OPTION)]
Time = Annotated[float, Meta(ge=0, le=10**11)]
"""Seconds since 1970."""


class Event(Struct, kw_only=True, omit_defaults=True, gc=False):
    """Outcome of an agent's action in one step.

    Attributes:
        label: The action, as the agent's history names it.
        event: Kind of the event.
        item: Thing that the action was about, if any.
        place: Place of the action, if any.
    """

    event: Text = ""
    item: Text | None = None
    place: Text | None = None
    label: Text

    @property
    def text(self) -> str:
        """Description of the event in one line."""
        if not self.event:
            return self.label
        item = f" {self.item}" if self.item else ""
        place = f" ({self.place})" if self.place else ""
        return f"{self.event.lower().replace('_', ' ')}{item}{place}"

    @property
    def is_refused(self) -> bool:
        """Whether the game refused the action during the step."""
        return False

    @property
    def signature(self) -> str:
        """``"EVENT LABEL FLAGS"`` with the names of true fields, for the patterns of tutorials and of endings."""
        flags = [name for name in self.__struct_fields__ if getattr(self, name) is True]
        return " ".join([self.event, self.label, *flags])

    @property
    def is_over(self) -> bool:
        """True if the action ended in this step."""
        return True

    @property
    def change(self) -> int:
        """Effect on the team's result: 1 for a gain, -1 for a loss, 0 for none."""
        return 0


class MessageEntry(Struct, kw_only=True, omit_defaults=True, gc=False):
    """Message of an agent, or of a person outside the team; ``lost`` if nobody heard it."""

    agent: Count | None
    conversation: Count | None = None
    say: Text
    plan: Text
    lost: bool = False


class ErrorEntry(Struct, kw_only=True, gc=False):
    """Refused action of an agent."""

    agent: Count
    action: Text
    code: Name
    message: Text


class HistoryEntry(Struct, gc=False):
    """Label of an agent's event, with the number of its step from 1."""

    timestamp: Count
    action: Text


class Step(Struct, kw_only=True, omit_defaults=True, gc=False):
    """Step of an episode; lists have an entry for each seat.

    Attributes:
        actions: Action ids.
        action_texts: The actions as texts.
        events: Events of the agents; None where nothing happened.
        rewards: Rewards.
        messages: Messages before the step, in their order.
        errors: Refused actions before the step, in their order.
        tokens: Tokens of the answers; None where no language model was asked.
        seconds: Time that the answers took, in seconds; empty if it is not measured.
        exchanges: Keys of the requests and answers in the run's store; empty without one.
        ordered: Orders placed by a message from outside the team, before the step.
        turn_order: Seats in the order in which they acted, if it differs from the game's default.
    """

    actions: list[Action]
    action_texts: list[Text]
    messages: list[MessageEntry]
    errors: list[ErrorEntry]
    tokens: list[Tokens | None]
    events: Sequence[Event | None]
    rewards: list[Number]
    turn_order: list[Count] = []
    seconds: list[Seconds | None] = []
    exchanges: list[list[Name]] = []
    ordered: list[Name] = []

    @property
    def order_changes(self) -> list[tuple[int, str]]:
        """Orders that ended in this step: 1 for a completed one, -1 for one whose time ran out, and its name."""
        return []


class UnusableAnswers(Struct):
    """Answers of one kind that could not be used."""

    count: Count
    sample: Text


class Usage(Struct, kw_only=True, omit_defaults=True):
    """Cost of the answers of one seat; ``agent`` is the kind of language agent."""

    model: Name
    agent: Name = ""
    calls: Count
    attempts: Count = 0  # Requests that were sent, if more than the calls: the others failed
    prompt_tokens: Tokens
    completion_tokens: Tokens
    seconds: Seconds = 0
    latencies: list[Seconds]
    dollars: Seconds | None
    trouble: dict[str, Count]
    exhausted: Name
    reasoning_tokens: Tokens = 0
    readings: dict[str, Count] = {}
    unusable: dict[str, UnusableAnswers] = {}


class PlanNode(Struct, kw_only=True):
    """Plan of a search over plans."""

    parent: Annotated[int, Meta(ge=-1, le=MAX_OPTION)]
    plan: Text
    messages: list[Text]
    visits: Annotated[int, Meta(ge=1, le=MAX_OPTION)]
    reward: Seconds
    value: Seconds
    solved: bool


class PartnerAnswer(Struct, kw_only=True):
    """Answer of a partner outside the team to a plan, and the reward that follows from its text."""

    seat: Count
    plan: Text
    text: Text
    score: Seconds


class PlanUpdate(Struct, kw_only=True, omit_defaults=True):
    """Change of the plan of a team that deliberates; nodes, chosen and depth are those of its search, if any."""

    timestep: Count
    seat: Count
    calls: Count
    characters: Count
    trigger: Name
    rating: Annotated[int, Meta(ge=1, le=5)] | None
    searched: bool
    plan: Text
    left_out: list[Text] = []
    seconds: Seconds | None = None
    nodes: list[PlanNode] = []
    chosen: Count | None = None
    depth: Count | None = None
    answers: list[PartnerAnswer] = []

    def __post_init__(self) -> None:
        if not self.searched:
            return
        depths: list[int] = []
        for k, node in enumerate(self.nodes):
            if node.parent >= k:
                raise ValueError(f"nodes[{k}].parent: got {node.parent}, allowed is a number below {k}")
            depths.append(depths[node.parent] + 1 if node.parent >= 0 else 0)
        if not depths or max(depths) > MAX_DEPTH:
            raise ValueError(f"nodes: a search has at least one plan and at most {MAX_DEPTH} levels")
        if self.chosen is None or self.depth is None or self.chosen >= len(depths):
            raise ValueError(f"chosen must be an integer from 0 to {len(depths) - 1}, not {self.chosen}")


class PersonEntry(Struct, kw_only=True, omit_defaults=True):
    """Person in a seat, and how they played.

    Attributes:
        session: Session in ``inputs.jsonl`` that has the person's inputs; empty in records that do not name it.
        number: Number of the episode in that session.
        started: When the episode began; 0 if unknown.
        answered: When it was over.
        window: Size of the browser window; empty if the page did not report it.
        focus_losses: How often the window lost the focus during the episode.
        partner_waits: Number of decisions in real time in which a policy of the team idled, as it was still computing.
    """

    id: Name
    interface: Name
    clock: Literal["turns", "ticks"]
    decisions: Count
    seconds: Seconds
    timeouts: Count
    disconnects: Count
    refused: Count
    tick: Seconds | None = None
    show: Name = ""
    menu: Name = ""
    names: Name = ""
    session: Name = ""
    number: Count = 0
    started: Time = 0
    answered: Time = 0
    window: Literal["", "small", "medium", "large"] = ""
    focus_losses: Count = 0
    partner_waits: Count = 0


class EpisodeRecord(Struct, kw_only=True, omit_defaults=True, dict=True):
    """Record of one episode.

    Attributes:
        schema: Version of the format.
        suite: Name of the suite, where it is not the first one of the game.
        env_id: Registered id.
        env_kwargs: Options of the environment.
        seed: Seed of the environment.
        episode: Number of the episode within its task.
        team: Policy specs by agent.
        version: Version of the package that wrote the record.
        task: Name of the task.
        level: Level of the task, in games with levels.
        max_cycles: Maximum number of steps.
        max_cycles_given: Whether that was chosen instead of the game's default.
        ends_after: Steps after which the episode was stopped, before its maximum.
        steps: The steps.
        history: Labels of each agent's events.
        success: Whether the episode reached the game's goal.
        timesteps: Number of steps.
        accounts: Cost of answers by agent, and of the teacher.
        plan_updates: Plans of teams that deliberate, by agent.
        feedback: Feedback on the previous episode, by seat.
        limits: Limits of conversations and corrections that differ from the defaults.
        options: Options of the reset that reproduce the episode.
        people: People by agent.
        decisions: Number of decisions and their time in seconds, by agent, if measured.
        metrics: Metrics of the game by name.
        ended: Why the episode ended early; empty if it did not.
    """

    schema: Literal["collab-overcooked-record/1"]
    suite: Name = ""
    env_id: Name
    env_kwargs: dict[str, Any]
    seed: Annotated[int, Meta(ge=0)]
    episode: Count
    team: dict[str, Name]
    version: Name
    task: Name
    level: Count | None
    max_cycles: Annotated[int, Meta(ge=1, le=MAX_OPTION)]
    max_cycles_given: bool = False
    ends_after: Annotated[int, Meta(ge=1, le=MAX_OPTION)] | None = None
    steps: Sequence[Step]
    history: list[list[HistoryEntry]]
    success: bool
    timesteps: Count
    accounts: dict[str, Usage] = {}
    plan_updates: dict[str, list[PlanUpdate]] = {}
    feedback: list[Text] = []
    limits: dict[str, Count | Seconds | Name] = {}
    options: dict[str, Any] | None = None
    people: dict[str, PersonEntry] = {}
    decisions: dict[str, tuple[Count, Seconds]] = {}
    metrics: dict[str, Any] = {}
    ended: Name = ""

    @property
    def where(self) -> str:
        """File and line from which the record was read; empty for an episode that was just played."""
        return str(self.__dict__.get("where", ""))

    def replace(self, **changes: Any) -> Self:
        """Return a copy of the record with the given fields replaced."""
        record = unpack(self)
        changed = msgspec.structs.replace(record, **changes)
        changed.__dict__.update(record.__dict__)
        return changed

    if not TYPE_CHECKING:  # which would let any name pass

        def __getattr__(self, name: str) -> Any:
            """Return a field that ``pack`` has left out."""
            if name not in type(self).__struct_fields__ or PACKED not in self.__dict__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)
            return getattr(_decoded(self.__dict__[PACKED], type(self)), name)

    @property
    def specs(self) -> tuple[str, ...]:
        """Policy specs in seat order."""
        return tuple(self.team.values())

    @property
    def part(self) -> int | None:
        """Part number among records with the same task and episode number; None if there is only one."""
        return None

    @property
    def suite_name(self) -> str:
        """Suite that scores the record, or the id of the game whose first suite does."""
        return self.suite or self.env_id


def refusal_text(label: str, reason: str) -> str:
    """Return the label of an event and, unless ``reason`` is ``OK``, why the action was refused."""
    return label if reason == "OK" else f"{label}: refused, {reason.removeprefix('F_').lower().replace('_', ' ')}"


def history_of(steps: Sequence[Step], n_agents: int) -> list[list[HistoryEntry]]:
    """Return each agent's log: the labels of its events with the number of the step, counted from 1."""
    history: list[list[HistoryEntry]] = [[] for _ in range(n_agents)]
    for t, step in enumerate(steps, start=1):
        for seat, event in enumerate(step.events):
            if event is not None:
                history[seat].append(HistoryEntry(t, event.label))
    return history


RecordT = TypeVar("RecordT", bound=EpisodeRecord)
PACKED = "packed"  # attribute of a record with its compressed line
# Fields by which records are grouped and counted; others are left out of packed records
_KEPT = {
    *("schema", "suite", "env_id", "env_kwargs", "seed", "episode", "team", "version", "task", "level", "max_cycles"),
    *("max_cycles_given", "ends_after", "success", "timesteps", "limits", "options", "decisions", "metrics", "ended"),
}


def compress(line: bytes) -> bytes:
    """Compress the line of a record for keeping in memory; ``zlib.decompress`` reverses it."""
    return zlib.compress(line, 1)


def pack(record: RecordT, line: bytes) -> RecordT:
    """Return a copy of a record without its long fields, to save memory.

    Steps and other long fields are decoded from the compressed line on every access. Functions of msgspec, which read
    fields from memory, need ``unpack`` first.

    Args:
        record: A record.
        line: Line of the record, compressed by ``compress``.
    """
    packed = msgspec.structs.replace(record)
    packed.__dict__.update(record.__dict__, **{PACKED: line})
    for name in packed.__struct_fields__:
        value = getattr(record, name)
        if name not in _KEPT and value and isinstance(value, (list, tuple, dict, Struct)):
            delattr(packed, name)
    return packed


def unpack(record: RecordT) -> RecordT:
    """Return a record with all its fields in memory."""
    if PACKED not in record.__dict__:
        return record
    unpacked = decode(zlib.decompress(record.__dict__[PACKED]), type(record))
    unpacked.__dict__.update({name: value for name, value in record.__dict__.items() if name != PACKED})
    return unpacked


@lru_cache(maxsize=4)
def _decoded(line: bytes, kind: type[EpisodeRecord]) -> EpisodeRecord:
    return decode(zlib.decompress(line), kind)


@cache
def field_types(kind: type[Struct]) -> dict[str, Any]:
    """Return the types of the fields of a class, by name."""
    return get_type_hints(kind, include_extras=True)


def step_class(record_class: type[EpisodeRecord]) -> type[Step]:
    """Return the class of the steps of a class of records."""
    kind: type[Step] = get_args(field_types(record_class)["steps"])[0]
    return kind
