"""Deliberation of a team: when to search for a new joint plan, and how proposed plans are searched.

One class implements four modes: one proposal (``cot``), linear discussion (``talk``), depth-first search (``dfs``) and
the collaborative tree search of CoTS (CVPR 2025; paper sections 4.2 and 4.3, supplement B). Proposer, critic, rater and
writer are callables, see ``PlanFunctions``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from collab_overcooked.io.structs import Bit, Share
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.parameters import PolicyOptions
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

STEPS = 3  # maximum length of a joint plan
DIALOGUE = 4  # messages that are remembered
HISTORY = 10  # sub-plans of each seat that are remembered
LOWEST, HIGHEST = 1, 5  # of ratings and of both parts of a reward
UNREADABLE = 0.1  # reward of a plan whose critique cannot be read
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "paper": {"fallback": "best_leaf", "keep": 3},
    "released": {"fallback": "root", "keep": 2},
}
Mode = Literal["cots", "dfs", "talk", "cot"]
MODES: tuple[str, ...] = get_args(Mode)
Fallback = Literal["best_leaf", "root"]
FALLBACKS: tuple[str, ...] = get_args(Fallback)


@dataclass(frozen=True)
class PlanSettings(PolicyOptions):
    """Settings of deliberation."""

    # ``"paper"``, or ``"released"`` for the behaviour of CoTS' public code: nodes are selected from the entire tree, a
    # search without success returns the first draft, and plans rated 3 are kept (as in one of its two games)
    profile: Literal["paper", "released"] = "paper"
    mode: Mode = "cots"  # ``"cots"``, ``"dfs"``, ``"talk"`` or ``"cot"``
    n: Annotated[int, Meta(ge=1, le=16)] = 3  # Number of plans per expansion
    w: Annotated[float, Meta(ge=0, le=100)] = 1.0  # Weight of exploration
    # Maximum number of expansions of ``cots``, rounds of ``talk`` or levels of ``dfs``
    depth: Annotated[int, Meta(ge=1, le=16)] = 2
    stop: Share = 0.7  # Reward that ends the search
    # Result if no plan is solved: ``"best_leaf"`` or ``"root"``; by default that of the profile
    fallback: Fallback | Literal[""] = ""
    keep: Annotated[int, Meta(ge=0, le=5)] = 0  # Ratings above it keep the plan; 0 for the profile's value
    charge: Bit = 0  # 1 to send the discussion as messages, at the game's price; 0 for free discussion
    reward: Bit = 1  # 0 to treat all plans as equally good
    update: Bit = 1  # 0 to skip rating: a new plan is searched whenever a seat is free or has a new finding

    def full(self) -> PlanSettings:
        """Return the settings with the profile's values as defaults."""
        profile = PROFILES[self.profile]
        return replace(self, fallback=self.fallback or profile["fallback"], keep=self.keep or profile["keep"])


@dataclass(frozen=True)
class Briefing:
    """Input of one seat to a deliberation: its own knowledge, and the team's plan."""

    seat: int  # Index of the agent
    members: tuple[int, ...]  # All seats that deliberate, the planner first
    seen: AgentView = field(repr=False)  # Knowledge of the seat
    view: PlanningView = field(repr=False)  # Sub-plans as known to the seat
    running: Mapping[int, SubPlan]  # Running sub-plan by seat
    left: Mapping[int, tuple[SubPlan, ...]]  # Remaining sub-plans of the current plan by seat
    had_plan: bool  # Whether there is a plan
    # Names of the objects that the seat could take, or knew, when that plan was made
    known: frozenset[str] = frozenset()
    dialogue: tuple[str, ...] = ()  # The last messages, each with its speaker
    # The last sub-plans that each seat began, oldest first
    history: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    # Parts that are not, or no longer, in the current plan, each with its agent and the reason
    left_out: tuple[str, ...] = ()
    shared: Findings = field(default_factory=dict, repr=False)  # Findings shared by all members; the view contains them
    # Whether the seat belongs to a partner outside the team; ``seen`` and ``view`` are then the planner's
    modelled: bool = False
    # The planner's briefing, for critics who read it before they judge
    planner: Briefing | None = field(default=None, repr=False)
    # Function from further findings to a view that contains them; None if the game has no findings
    look: Callable[[Findings], PlanningView] | None = field(default=None, repr=False)

    @property
    def news(self) -> Findings:
        """Findings that the seat has not shared yet."""
        return {name: finding for name, finding in self.view.findings.items() if self._is_news(name, finding)}

    def _is_news(self, name: str, finding: Finding) -> bool:
        shared = self.shared.get(name)
        return shared is None or (shared.data != finding.data and shared.since <= finding.since)

    def receive(self, shared: Findings) -> Briefing:
        """Return the briefing of a seat after it received more findings."""
        joined = join_findings(self.shared, shared)
        return replace(self, shared=joined, view=self.look(joined) if self.look else self.view)

    @property
    def plan(self) -> Plan:
        """The remaining steps of the current plan."""
        length = max((len(queue) for queue in self.left.values()), default=0)
        return tuple({seat: queue[k] for seat, queue in self.left.items() if k < len(queue)} for k in range(length))


@dataclass(frozen=True)
class Draft:
    """A proposed plan."""

    plan: Plan  # Plan, as far as it could be parsed
    text: str = ""  # Text of the plan as written by the proposer
    message: str = ""  # Message to the critics
    findings: Findings = field(default_factory=dict, compare=False)  # Findings reported by the message
    left_out: tuple[str, ...] = ()  # Parts that are not in the plan, each with its agent and the reason


def left_out_text(parts: Sequence[str]) -> str:
    """Return a sentence on parts that a plan does not contain; empty without any."""
    return f"Left out: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class Critique:
    """A critic's assessment of a plan."""

    distance: float | None  # Score of the distances, 1 to 5; None if unreadable
    task: float | None  # Score of the division of work, 1 to 5; None if unreadable
    message: str = ""  # Message to the planner
    # Suggested changes for programmed proposers: code, seat and sub-plan
    hints: tuple[tuple[str, int, SubPlan | None], ...] = ()
    findings: Findings = field(default_factory=dict, compare=False)  # Findings reported by the message
    score: float | None = None  # Single score of a partner outside the team, 1 to 10, instead of both others

    @property
    def reward(self) -> float:
        """Share of the highest score, or (distance + task) / 10; 0.1 if unreadable."""
        if self.score is not None:
            return self.score / (2 * HIGHEST)
        if self.distance is None or self.task is None:
            return UNREADABLE
        return (_clip(self.distance) + _clip(self.task)) / (2 * HIGHEST)


def _missing(
    wanted_plan: Plan, kept_plan: Plan, names: Sequence[str], reason: str = "another part uses the same"
) -> tuple[str, ...]:
    kept = {(seat, entry.text) for step in kept_plan for seat, entry in step.items()}
    parts = ((seat, entry.text) for step in wanted_plan for seat, entry in sorted(step.items()))
    return tuple(f"{names[seat]}: {text} ({reason})" for seat, text in dict.fromkeys(parts) if (seat, text) not in kept)


def _clip(score: float) -> float:
    return min(max(score, LOWEST), HIGHEST)


@dataclass(frozen=True)
class PlanFunctions:
    """Callables of a deliberation."""

    # Called with the planner's briefing, the path from the first plan to the one to improve (empty for the first plan),
    # all nodes so far, and the maximum number of plans to return
    propose: Callable[[Briefing, Sequence[Node], Sequence[Node], int], list[Draft]]
    # Called with a critic's briefing, a draft, and the nodes before it
    criticise: Callable[[Briefing, Draft, Sequence[Node]], Critique]
    # Called with the briefings of all members; rates the current plan 1 to 5, None if undecided
    rate: Callable[[Sequence[Briefing]], int | None]
    # Called with the planner's briefing and the winning draft; returns the plan to execute
    write: Callable[[Briefing, Draft], Plan]
    # Called with a seat's briefing and the sub-plans that it can begin; returns the one that executes its part of the
    # plan, None if undecided. If missing, a program follows the plan.
    follow: Callable[[Briefing, Sequence[SubPlan]], SubPlan | None] | None = None
    # Returns the characters that a model has written so far and the seconds that it took; None for programs
    spent: Callable[[], tuple[int, float]] | None = None


@dataclass
class Update:
    """Plan update for the record."""

    timestep: int  # Timestep of the update
    seat: int  # Seat that requested it
    # Reason: ``"start"``, ``"free"`` (a seat has nothing to do), ``"news"``, or ``"partner"`` (a partner outside the
    # team does not follow the plan)
    trigger: str
    rating: int | None = None  # Rating of the previous plan, None without one
    searched: bool = False  # Whether a new plan was searched
    calls: int = 0  # Number of calls of plan functions
    characters: int = 0  # Number of characters that they wrote, including a model's reasoning in its answers
    seconds: float | None = None  # Seconds that models took, None for programs
    nodes: list[dict[str, Any]] = field(default_factory=list)  # Nodes of the tree
    chosen: int = -1  # Index of the winning plan
    depth: int = 0
    plan: str = ""  # Text of the plan from now on
    # Parts of the chosen plan that are not in it, each with its agent and the reason
    left_out: list[str] = field(default_factory=list)
    # Answers of partners outside the team: seat, plan and text, and the reward that follows from the text
    answers: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for the record; the tree is left out if there was no search."""
        values = {k: v for k, v in asdict(self).items() if v or k not in ("left_out", "seconds", "answers")}
        return values if self.searched else {k: v for k, v in values.items() if k not in ("nodes", "chosen", "depth")}


class Deliberation:
    """Rates the current plan and searches a new one if it must be replaced.

    Args:
        settings: Settings of deliberation.
        functions: Callables of deliberation.
        consults: Whether partners outside the team answer plans, see ``revise``. The first plan is then final for now.
    """

    def __init__(self, settings: PlanSettings, functions: PlanFunctions, consults: bool = False) -> None:
        self.settings = settings.full()
        self.functions = functions
        self.consults = consults

    def update(self, briefings: Sequence[Briefing], update: Update) -> tuple[Plan | None, list[Node]]:
        """Rate the plan and search a new one if necessary.

        Args:
            briefings: Briefings of all members, the planner's first.
            update: Update to complete; with a rating if a partner outside the team has given one.

        Returns:
            A new plan, None to keep the old one; and the path to its node.
        """
        self._update = update
        self._briefings = list(briefings)
        planner = briefings[0]
        if self.rates(planner, update.trigger):
            if update.rating is None:
                update.rating = self._count(self.functions.rate([b for b in briefings if not b.modelled]), 1)
            if update.rating is None or update.rating > self.settings.keep:
                update.plan = plan_text(planner.plan, planner.seen.names)
                return None, []
        update.searched = True
        self.tree = PlanTree(self.settings.w, self.settings.stop, self.settings.profile == "released")
        search = {"cot": self._one, "talk": self._talk, "dfs": self._dfs, "cots": self._cots}[self.settings.mode]
        update.chosen = self._root() if self.consults and self.settings.mode != "cot" else search()
        return self._conclude(update)

    def rates(self, planner: Briefing, trigger: str) -> bool:
        """Return whether the plan is rated: there is something to rate, and no partner has left the plan already."""
        return bool(self.settings.update and planner.had_plan and planner.plan and trigger != "partner")

    def revise(self, critiques: Mapping[int, Critique], update: Update) -> tuple[Plan | None, list[Node]]:
        """Expand the chosen plan after partners outside the team have answered it.

        Args:
            critiques: Answers by seat; they replace the estimated critiques of the same plan.
            update: Update of the chosen plan, to complete.

        Returns:
            A new plan, None if the partners agree or the search has reached its depth; and the path to its node.
        """
        at, node = update.chosen, self.tree.nodes[update.chosen]
        critics = [briefing.seat for briefing in self._briefings[1:]]
        node.critiques = tuple(critiques.get(s, c) for s, c in zip(critics, node.critiques, strict=False))
        node.messages = (*node.messages, *(critique.message for critique in critiques.values()))
        update.answers += [
            {"seat": seat, "plan": update.plan, "text": critique.message, "score": round(critique.reward, 4)}
            for seat, critique in critiques.items()
        ]
        if self.settings.reward and node.critiques:
            self.tree.rescore(at, sum(critique.reward for critique in node.critiques) / len(node.critiques))
        agreed = all(self.tree.suffices(critique.reward) for critique in critiques.values())
        branches = self.settings.n if self.settings.mode in ("cots", "dfs") else 1
        drafts = [] if agreed or not self.may_revise(update) else self._propose(at, branches)
        drafts = [draft for draft in drafts if draft.plan != node.draft.plan]
        if not drafts:
            update.nodes = [entry.to_dict() for entry in self.tree.nodes]
            return None, []
        judged = [self._judge(at, draft) for draft in drafts]
        requests = [(seat, option) for critique in critiques.values() for _, seat, option in critique.hints if option]

        def merit(k: int) -> tuple[int, float]:
            entries = [entry for row in self.tree.nodes[k].draft.plan for entry in row.items()]
            return sum(request in entries for request in requests), self.tree.nodes[k].reward

        update.chosen = max(judged, key=merit)  # partners do what they asked for, whatever the estimate
        return self._conclude(update)

    def may_revise(self, update: Update) -> bool:
        """Return whether the chosen plan may still be expanded."""
        return self.settings.mode != "cot" and self.tree.nodes[update.chosen].depth < self.settings.depth

    def _conclude(self, update: Update) -> tuple[Plan, list[Node]]:
        tree = self.tree
        path = tree.path(update.chosen)
        draft = path[-1].draft
        written = self.functions.write(self._briefings[0], draft)
        plan, names = without_clashes(written), self._briefings[0].seen.names
        update.plan = self._count(plan_text(plan, names))
        update.left_out = [*_missing(draft.plan, written, names, "not written down"), *_missing(written, plan, names)]
        update.nodes = [node.to_dict() for node in tree.nodes]
        update.depth = path[-1].depth
        return plan, path

    def _one(self) -> int:
        draft = self._propose(-1, 1)[0]
        return self.tree.add(self._node(-1, draft, ()))

    def _talk(self) -> int:
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
        self._deepen(self._root())
        good = [k for k, node in enumerate(self.tree.nodes) if self.tree.suffices(node.reward)]
        return good[0] if good else self.tree.answer(self.settings.fallback)

    def _deepen(self, at: int) -> bool:
        node = self.tree.nodes[at]
        if self.tree.suffices(node.reward):
            return True
        if node.depth >= self.settings.depth:
            return False
        return any(self._deepen(self._judge(at, draft, False)) for draft in self._propose(at, self.settings.n))

    def _cots(self) -> int:
        self._root()
        for _ in range(self.settings.depth):
            at = self.tree.select()
            drafts = self._propose(at, self.settings.n)
            for draft in drafts:
                self._judge(at, draft)
            if self.tree.nodes[0].solved or not drafts:
                break
        return self.tree.answer(self.settings.fallback)

    @property
    def shared(self) -> Findings:
        """Findings shared by all members."""
        return self._briefings[0].shared

    def _share(self, findings: Findings) -> None:
        if findings:
            self._briefings = [briefing.receive(findings) for briefing in self._briefings]

    def _root(self) -> int:
        return self._judge(-1, self._propose(-1, 1)[0])

    def _propose(self, at: int, n: int) -> list[Draft]:
        drafts = self.functions.propose(self._briefings[0], self.tree.path(at), self.tree.nodes, n)
        self._count("".join(draft.text + draft.message for draft in drafts))
        if len(self._briefings) > 1 and self.settings.mode != "cot":
            for draft in drafts:
                self._share(draft.findings)
        return drafts

    def _judge(self, parent: int, draft: Draft, back_up: bool = True) -> int:
        before = self.tree.path(parent)
        critics = self._briefings[1:] or self._briefings
        planner = self._briefings[0]
        informed = (replace(critic, planner=planner) if critic.seat != planner.seat else critic for critic in critics)
        critiques = tuple(self.functions.criticise(critic, draft, before) for critic in informed)
        for critique in critiques:
            self._count(critique.message)
            self._share(critique.findings)
        return self.tree.add(self._node(parent, draft, critiques), back_up)

    def _node(self, parent: int, draft: Draft, critiques: tuple[Critique, ...]) -> Node:
        scores = [critique.reward for critique in critiques] if self.settings.reward else []
        names = self._briefings[0].seen.names
        messages = (draft.message, left_out_text(draft.left_out), *(critique.message for critique in critiques))
        return Node(
            parent=parent,
            depth=self.tree.nodes[parent].depth + 1 if parent >= 0 else 0,
            plan=plan_text(draft.plan, names) if draft.plan else draft.text.strip()[:400] or "no plan",
            messages=tuple(message for message in messages if message),
            reward=sum(scores) / len(scores) if scores else 0.0,
            draft=draft,
            critiques=critiques,
        )

    def _count(self, answer: object, characters: int = 0) -> Any:
        self._update.calls += 1
        self._update.characters += len(answer) if isinstance(answer, str) else characters
        return answer
