"""Deliberation of a team: when to look for a new joint plan, and how the plans that are proposed are searched.

One class for four ways: one proposal (``cot``), one line of talk (``talk``), depth first (``dfs``) and the
collaborative tree search of CoTS (CVPR 2025; paper sections 4.2 and 4.3, supplement B). Who proposes, criticises, rates
and writes the plan down are callables, see ``Voices``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.search.plan_tree import Node, PlanTree
from collab_overcooked.policies.search.subplans import (
    Finding,
    Findings,
    Plan,
    PlanningView,
    SubPlan,
    join_findings,
    plan_text,
    without_clashes,
)

STEPS = 3  # of a joint plan
DIALOGUE = 4  # messages that are remembered
HISTORY = 10  # sub-plans of each seat that are remembered
LOWEST, HIGHEST = 1, 5  # of ratings and of both parts of a reward
UNREADABLE = 0.1  # reward of a plan whose critique cannot be read
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "paper": {"fallback": "best_leaf", "keep": 3},
    "released": {"fallback": "root", "keep": 2},
}
MODES = ("cots", "dfs", "talk", "cot")
FALLBACKS = ("best_leaf", "root")


@dataclass(frozen=True)
class PlanSettings:
    """How a team deliberates.

    Attributes:
        profile: ``"paper"``, or ``"released"`` for what CoTS' public code does: nodes are selected from the whole tree,
            a search without success returns the first draft, and plans rated 3 are kept (as in one of its two games).
        mode: ``"cots"``, ``"dfs"``, ``"talk"`` or ``"cot"``.
        n: Plans of an expansion.
        w: Weight of exploration.
        depth: Most expansions of ``cots``; rounds of ``talk``; levels of ``dfs``.
        stop: Reward that ends the search.
        fallback: What wins where nothing is solved: ``"best_leaf"`` or ``"root"``; the profile's if empty.
        keep: Ratings above it keep the plan; the profile's if 0.
        charge: 1 to say aloud what was talked about, at the game's price; 0 for talk that nobody pays for.
        reward: 0 to take all plans for equally good.
        update: 0 to rate no plan: a new one is searched whenever a seat is free or has found something new.

    Raises:
        ValueError: For a number out of range or an unknown choice.
    """

    profile: str = "paper"
    mode: str = "cots"
    n: int = 3
    w: float = 1.0
    depth: int = 2
    stop: float = 0.7
    fallback: str = ""
    keep: int = 0
    charge: int = 0
    reward: int = 1
    update: int = 1

    def __post_init__(self) -> None:
        for name, known in (("profile", tuple(PROFILES)), ("mode", MODES), ("fallback", ("", *FALLBACKS))):
            if getattr(self, name) not in known:
                raise ValueError(near_matches(f"{name} of policy cots", getattr(self, name), [k for k in known if k]))
        limits = {"n": (1, 16), "w": (0, 100), "depth": (1, 16), "stop": (0, 1), "keep": (0, 5)}
        limits |= {name: (0, 1) for name in ("charge", "reward", "update")}
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"policy 'cots': {name} must be from {low} to {high}, not {getattr(self, name)}")

    def full(self) -> PlanSettings:
        """Return the settings with the profile's values where nothing was said."""
        usual = PROFILES[self.profile]
        return replace(self, fallback=self.fallback or usual["fallback"], keep=self.keep or usual["keep"])


@dataclass(frozen=True)
class Briefing:
    """What one seat brings to a deliberation: its own knowledge, and what all have agreed on.

    Attributes:
        seat: Whose knowledge it is.
        members: All seats that deliberate, the planner first.
        seen: What the seat may know.
        moment: What could be done, as far as it knows.
        running: By seat, the sub-plan that it is at.
        left: By seat, what it still has to do of the present plan.
        had_plan: Whether there is a plan.
        known: Names of the things that the seat could take, or knew of, when that plan was made.
        dialogue: The last messages, each with its speaker.
        history: By seat, the last sub-plans that it began, oldest first.
        told: Findings that all members have heard of; the moment contains them.
        look: Called with further findings, returns the moment with them; None if the game has none to tell.
    """

    seat: int
    members: tuple[int, ...]
    seen: Seen = field(repr=False)
    moment: PlanningView = field(repr=False)
    running: Mapping[int, SubPlan]
    left: Mapping[int, tuple[SubPlan, ...]]
    had_plan: bool
    known: frozenset[str] = frozenset()
    dialogue: tuple[str, ...] = ()
    history: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    told: Findings = field(default_factory=dict, repr=False)
    look: Callable[[Findings], PlanningView] | None = field(default=None, repr=False)

    @property
    def news(self) -> Findings:
        """Findings that the seat has not told yet."""
        return {name: finding for name, finding in self.moment.findings.items() if self._is_news(name, finding)}

    def _is_news(self, name: str, finding: Finding) -> bool:
        told = self.told.get(name)
        return told is None or (told.data != finding.data and told.since <= finding.since)

    def hear(self, told: Findings) -> Briefing:
        """Return the briefing of a seat that has been told further findings."""
        joined = join_findings(self.told, told)
        return replace(self, told=joined, moment=self.look(joined) if self.look else self.moment)

    @property
    def plan(self) -> Plan:
        """What is left of the present plan, step by step."""
        length = max((len(own) for own in self.left.values()), default=0)
        return tuple({seat: own[k] for seat, own in self.left.items() if k < len(own)} for k in range(length))


@dataclass(frozen=True)
class Draft:
    """A proposed plan.

    Attributes:
        plan: As far as it can be read.
        words: All that the proposer wrote of it.
        message: To the critics.
        tells: Findings that the message contains.
        left_out: Parts that are no sub-plans of the lists, each with its agent.
    """

    plan: Plan
    words: str = ""
    message: str = ""
    tells: Findings = field(default_factory=dict, compare=False)
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Critique:
    """What a critic made of a plan.

    Attributes:
        distance: How well distances are considered, 1 to 5; None if the critic cannot be understood.
        task: How well the work is divided, likewise.
        message: To the planner.
        hints: What to change, for proposers that are programs: code, seat and sub-plan.
        tells: Findings that the message contains.
    """

    distance: float | None
    task: float | None
    message: str = ""
    hints: tuple[tuple[str, int, SubPlan | None], ...] = ()
    tells: Findings = field(default_factory=dict, compare=False)

    @property
    def reward(self) -> float:
        """(distance + task) / 10; 0.1 if it cannot be understood."""
        if self.distance is None or self.task is None:
            return UNREADABLE
        return (_clip(self.distance) + _clip(self.task)) / (2 * HIGHEST)


def _clip(score: float) -> float:
    return min(max(score, LOWEST), HIGHEST)


@dataclass(frozen=True)
class Voices:
    """Who takes part in a deliberation.

    Attributes:
        propose: Called with the planner's briefing, the nodes from the first plan to the one to be improved (none for
            the first plan), all nodes so far, and how many plans are wanted; returns at most as many.
        criticise: Called with a critic's briefing, a draft, and the nodes before it.
        rate: Called with the briefings of all members; rates the present plan 1 to 5, None if it cannot say.
        write: Called with the planner's briefing and the draft that has won; returns the plan to carry out.
        follow: Called with a seat's briefing and the sub-plans that it can begin, returns the one that carries out its
            part of the plan, None if it cannot say; without it a program follows the plan.
    """

    propose: Callable[[Briefing, Sequence[Node], Sequence[Node], int], list[Draft]]
    criticise: Callable[[Briefing, Draft, Sequence[Node]], Critique]
    rate: Callable[[Sequence[Briefing]], int | None]
    write: Callable[[Briefing, Draft], Plan]
    follow: Callable[[Briefing, Sequence[SubPlan]], SubPlan | None] | None = None


@dataclass
class Update:
    """One look at the plan, for the record.

    Attributes:
        timestep: When.
        seat: Who asked for it.
        trigger: Why: ``"start"``, ``"free"`` (a seat has nothing to do) or ``"news"``.
        rating: Of the plan before it, None if there was none.
        searched: Whether a new plan was looked for.
        calls: How often a voice was asked.
        characters: That they wrote.
        nodes: The tree.
        chosen: Index of the plan that won.
        plan: The plan that is carried out from now on, in words.
    """

    timestep: int
    seat: int
    trigger: str
    rating: int | None = None
    searched: bool = False
    calls: int = 0
    characters: int = 0
    nodes: list[dict[str, Any]] = field(default_factory=list)
    chosen: int = -1
    depth: int = 0
    plan: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it for the record; what was not searched has no tree."""
        values = asdict(self)
        return values if self.searched else {k: v for k, v in values.items() if k not in ("nodes", "chosen", "depth")}


class Deliberation:
    """Rates the present plan and searches a new one if it has to be replaced.

    Args:
        settings: How.
        voices: Who.
    """

    def __init__(self, settings: PlanSettings, voices: Voices) -> None:
        self.settings, self.voices = settings.full(), voices

    def update(self, briefings: Sequence[Briefing], update: Update) -> tuple[Plan | None, list[Node]]:
        """Look at the plan.

        Args:
            briefings: Of all members, the planner's first.
            update: What is known of it; completed here.

        Returns:
            A new plan, None to keep the old one; and the nodes on the way to it.
        """
        self._update = update
        self._briefings = list(briefings)
        planner = briefings[0]
        if self.settings.update and planner.had_plan and planner.plan:  # else there is nothing to rate
            update.rating = self._count(self.voices.rate(briefings), 1)
            if update.rating is None or update.rating > self.settings.keep:
                update.plan = plan_text(planner.plan, planner.seen.names)
                return None, []
        update.searched = True
        tree = self.tree = PlanTree(self.settings.w, self.settings.stop, self.settings.profile == "released")
        update.chosen = {"cot": self._one, "talk": self._talk, "dfs": self._dfs, "cots": self._cots}[
            self.settings.mode
        ]()
        path = tree.path(update.chosen)
        plan = self.voices.write(self._briefings[0], path[-1].draft)
        update.plan = self._count(plan_text(without_clashes(plan), planner.seen.names))
        update.nodes = [node.to_dict() for node in tree.nodes]
        update.depth = path[-1].depth
        return without_clashes(plan), path

    # ---------------------------------------------------------------------------------------- ways to search

    def _one(self) -> int:
        """Take the first proposal; nobody says anything of it."""
        draft = self._propose(-1, 1)[0]
        return self.tree.add(self._node(-1, draft, ()))

    def _talk(self) -> int:
        """Improve one plan round by round; the last word counts."""
        at = self._root()
        for _ in range(self.settings.depth):
            if self.tree.nodes[at].solved:
                break
            drafts = self._propose(at, 1)
            if not drafts:
                break
            at = self._judge(at, drafts[0])
        return at

    def _dfs(self) -> int:
        """Go down first; the first plan that is solved wins. Nothing is backed up."""
        self._deepen(self._root())
        good = [k for k, node in enumerate(self.tree.nodes) if node.reward >= self.settings.stop - 1e-9]
        return good[0] if good else self.tree.answer(self.settings.fallback)

    def _deepen(self, at: int) -> bool:
        """Look at the plans below one, each with all below it; returns whether one is solved."""
        node = self.tree.nodes[at]
        if node.reward >= self.settings.stop - 1e-9:
            return True
        if node.depth >= self.settings.depth:
            return False
        return any(self._deepen(self._judge(at, draft, False)) for draft in self._propose(at, self.settings.n))

    def _cots(self) -> int:
        """Expand the plan of the largest UCT, until one is solved, at most ``depth`` times but at least once."""
        self._root()
        for _ in range(self.settings.depth):
            at = self.tree.select()
            drafts = self._propose(at, self.settings.n)
            for draft in drafts:
                self._judge(at, draft)
            if self.tree.nodes[0].solved or not drafts:
                break
        return self.tree.answer(self.settings.fallback)

    # ---------------------------------------------------------------------------------------- asking

    @property
    def told(self) -> Findings:
        """Findings that all members have heard of by now."""
        return self._briefings[0].told

    def _hear(self, tells: Findings) -> None:
        """Let all members hear findings of a message."""
        if tells:
            self._briefings = [briefing.hear(tells) for briefing in self._briefings]

    def _root(self) -> int:
        return self._judge(-1, self._propose(-1, 1)[0])

    def _propose(self, at: int, n: int) -> list[Draft]:
        """Ask for plans that improve the one at an index, or for the first one."""
        drafts = self.voices.propose(self._briefings[0], self.tree.path(at), self.tree.nodes, n)
        self._count("".join(draft.words + draft.message for draft in drafts))
        if len(self._briefings) > 1 and self.settings.mode != "cot":
            for draft in drafts:
                self._hear(draft.tells)
        return drafts

    def _judge(self, parent: int, draft: Draft, back_up: bool = True) -> int:
        """Let the critics speak of a plan, and attach it to the tree; the reward is the mean of theirs."""
        before = self.tree.path(parent)
        critics = self._briefings[1:] or self._briefings
        critiques = tuple(self.voices.criticise(critic, draft, before) for critic in critics)
        for critique in critiques:
            self._count(critique.message)
            self._hear(critique.tells)
        return self.tree.add(self._node(parent, draft, critiques), back_up)

    def _node(self, parent: int, draft: Draft, critiques: tuple[Critique, ...]) -> Node:
        scores = [critique.reward for critique in critiques] if self.settings.reward else []
        names = self._briefings[0].seen.names
        dropped = f"Left out, as in no list: {'; '.join(draft.left_out)}." if draft.left_out else ""
        said = (draft.message, dropped, *(critique.message for critique in critiques))
        return Node(
            parent=parent,
            depth=self.tree.nodes[parent].depth + 1 if parent >= 0 else 0,
            plan=plan_text(draft.plan, names) if draft.plan else draft.words.strip()[:400] or "no plan",
            messages=tuple(message for message in said if message),
            reward=sum(scores) / len(scores) if scores else 0.0,
            draft=draft,
            critiques=critiques,
        )

    def _count(self, answer: Any, characters: int = 0) -> Any:
        """Count a call and what it wrote."""
        self._update.calls += 1
        self._update.characters += len(answer) if isinstance(answer, str) else characters
        return answer
