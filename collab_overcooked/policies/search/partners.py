"""Partners outside a deliberating team: people, other agents and programs, which know nothing of its plan but messages.

The planner estimates their critique from its own knowledge, asks those that read messages for their own, and watches
whether they follow the plan.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from collab_overcooked.policies.search.deliberation import HIGHEST, LOWEST, Briefing, Critique, Draft
from collab_overcooked.policies.search.plan_functions import KNOWN, auction, criticise, merit, score_of
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import Plan, PlanningView, SubPlan, option_in, plan_text

QUESTION = "Do you agree? If not, say what to change. You can score the plan from 1 to 10."
RATE = "Is this plan still good? Rate it from 1 (replace it) to 5 (keep it)."
DETOUR = (
    0.5  # extra way to the agreed sub-plan, as a share of the view's scale, after which a partner has left the plan
)
_SCORE = (
    r"\bscore\W*(?:is\s+|of\s+)?(10|[1-9])\b(?!\.\d)",
    r"\b(10|[1-9])\s*(?:/|out of|of)\s*10\b",
    r"^\W*(10|[1-9])\s*(?:$|[:;,.!)\-])(?!\d)",
    r"[,;.:!?]\s*(10|[1-9])\W*$",  # at the end, but not the number of an object
)
_RATING = (
    r"\b(?:rate|rating|score)\W*(?:it\s+|is\s+|of\s+)?([1-5])\b(?!\.\d)",
    r"^\W*([1-5])\s*(?:$|/\s*5\b|[:;,.!)\-])(?!\d)",
    r"[,;.:!?]\s*([1-5])\W*$",
)
_AGREES = r"^\W*(?:yes|yeah|ok|okay|sure|fine|good|great|agreed?|i agree|sounds good|let'?s do)\b"
_OBJECTS = r"\b(?:but|not|no|instead|rather|except|disagree)\b|n't\b"


@dataclass
class Teammate:
    """Partner outside the team, as the planner sees it."""

    seat: int  # Index of the agent
    speaks: bool  # Whether it reads messages
    queue: list[SubPlan] = field(default_factory=list)  # Its remaining part of the plan
    running: SubPlan | None = None  # Never known: it may have other plans
    history: tuple[str, ...] = ()  # Parts of the plan that it has finished, as far as known
    left_plan: bool = False  # Whether it was seen to do something else
    _start: tuple[SubPlan | None, float, int] = (None, 0.0, 0)  # Current part, least cost seen, objects carried

    def assign(self, part: Sequence[SubPlan]) -> None:
        """Replace the partner's part of the plan."""
        self.queue = list(part)
        self.left_plan = False
        self._start = (None, 0.0, 0)

    def watch(self, view: PlanningView) -> None:
        """Drop finished parts; note if the partner moves away from the current one or takes something else."""
        held = view.held.get(self.seat, 0)
        while self.queue and (view.option(self.seat, self.queue[0].text) is None or self._delivered(held)):
            self.history = (*self.history, self.queue.pop(0).text)
        current = self.queue[0] if self.queue else None
        option = view.option(self.seat, current.text) if current is not None else None
        if current is None or option is None:
            return
        part, least, before = self._start
        if part != current:
            self._start = (current, option.cost, held)
            return
        took_other = current.load > 0 and held > before
        self.left_plan |= took_other or option.cost > least + DETOUR * view.scale
        self._start = (current, min(least, option.cost), held)

    def _delivered(self, held: int) -> bool:
        return self.queue[0].load < 0 and held == 0


def criticise_as_greedy(briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
    """Estimate a partner's critique, with the planner's knowledge.

    The partner is taken to be greedy: the plan is scored down as far as its part has less merit than what the partner
    would do by itself.
    """
    critique = criticise(briefing, draft, before)
    seat = briefing.seat
    view = briefing.view
    part = [row[seat] for row in draft.plan if seat in row]
    greedy = auction(replace(briefing, members=(seat,)))[: max(len(part), 1)]
    action, merit_alone = greedy[0][seat] if greedy else None, merit(view, greedy, (seat,))
    if action is None or part[:1] == [action] or merit_alone <= 0:
        return critique
    share = min(merit(view, draft.plan, (seat,)) / merit_alone, 1.0)
    taken = any(action.uses & entry.uses for row in draft.plan for s, entry in row.items() if s != seat)
    task = max(min(critique.task or HIGHEST, score_of(share)) - taken, LOWEST)
    return replace(critique, task=task, hints=(*critique.hints, (KNOWN, seat, action)))


def offer_text(plan: Plan, names: Sequence[str], message: str, asks: bool) -> str:
    """Return the message that tells partners the plan."""
    steps = plan_text(plan, tuple(names)).replace("\n", " ")
    return " ".join(part for part in (f"Plan: {steps}.", message, QUESTION if asks else "") if part)


def rating_text(plan: Plan, names: Sequence[str]) -> str:
    """Return the message that asks partners to rate the rest of the plan."""
    return f"Plan so far: {plan_text(plan, tuple(names))}. {RATE}".replace("\n", " ")


def read_partner_rating(text: str) -> int | None:
    """Return a partner's rating of the plan, 1 to 5; consent is 5, an objection 1, anything else None."""
    numbers = (re.search(pattern, text, re.IGNORECASE) for pattern in _RATING)
    number = next((int(match[1]) for match in numbers if match), None)
    if number is not None:
        return number
    if re.search(_OBJECTS, text, re.IGNORECASE):
        return LOWEST
    return HIGHEST if re.search(_AGREES, text, re.IGNORECASE) else None


def read_answer(text: str, briefing: Briefing, planner: int) -> Critique:
    """Return a partner's answer as a critique.

    Consent without a number scores 10. An objection without a number leaves the plan without a readable score. Named
    sub-plans are changes for programmed proposers: the planner's after "you" or its name, else the partner's.
    """
    numbers = (re.search(pattern, text, re.IGNORECASE) for pattern in _SCORE)
    number = next((int(match[1]) for match in numbers if match), None)
    if number is None and re.search(_AGREES, text, re.IGNORECASE) and not re.search(_OBJECTS, text, re.IGNORECASE):
        number = 2 * HIGHEST
    hints = []
    for clause in re.split(r"[.;,!?]|\band\b", text):
        addressed = re.search(rf"(?i)\byou\b|\b{re.escape(briefing.seen.names[planner])}\b", clause)
        seat = planner if addressed else briefing.seat
        option = option_in(clause, briefing.view.options[seat])
        if option is not None:
            hints.append((KNOWN, seat, option))
    return Critique(None, None, text, tuple(hints), score=number)
