"""Language agents that agree on a joint plan in words, after RoCo and CaPo.

Whoever has done its part of the plan, or finds something new to do, opens a discussion with a proposal for all. With
``roco`` the others answer by consent or by a proposal of their own; with ``capo`` they only judge, and the designer
revises. Consent is silent; a discussion ends when all others consent, or after ``rounds`` proposals, of which the last
one counts. Then everybody carries out its own part and chooses freely where that has become impossible. Sources: Mandi
et al. 2023 (RoCo) as others replayed it, Liu et al. 2025 (CaPo); all texts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collab_overcooked.policies.api import Decision, Message, Seen
from collab_overcooked.policies.llm.answers import (
    fields_schema,
    find_step,
    plan_words,
    read_fields,
    read_joint_plan,
    read_say,
    read_steps,
    read_verdict,
    verdict_schema,
)
from collab_overcooked.policies.llm.client import UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import CAPO, Value
from collab_overcooked.policies.llm.team_agent import TeamAgent

Plan = dict[str, list[str]]
STEPS = {True: "three to five steps", False: "one or two steps"}  # that a plan has, by whether there is a designer


class DiscussionAgent(TeamAgent):
    """One seat of a team that discusses.

    Args:
        session: The agent's model.
        values: Of its switches.
        kind: ``"roco"`` or ``"capo"``.
    """

    def __init__(self, session: ModelSession, values: Mapping[str, Value], kind: str) -> None:
        super().__init__(session, values)
        self.has_designer = kind == CAPO
        self.plan: Plan = {}
        self._known: set[str] = set()  # actions that were listed at some time
        self._discussed = False  # and nothing was done since
        self._opened = -1  # timestep of the last discussion that this agent has opened

    # ------------------------------------------------------------------------------------ acting

    def act(self, seen: Seen) -> Decision:
        """Open a discussion if there is something to discuss; otherwise do the next step of one's part."""
        self.hearing.hear(seen)
        options = self.options(seen)
        news = not self._known.issuperset(options)
        self._known |= options.keys()
        wanted = (news or self._next_step(seen, options) is None) and not self._discussed and bool(self.on["rounds"])
        self._discussed = False
        if wanted and len(seen.names) > 1 and self.may_speak(seen):
            words = self._propose(seen)
            self._discussed, self._opened = True, seen.timestep
            if words:
                return Decision(plan=self._free_step(seen), say=words, **self.session.take_cost())
        step = self._next_step(seen, options)
        if step is None:
            texts = list(options)
            chat = self.question("next", stage="both", **self.situation(seen))
            step = texts[self.pick(chat, texts)] if len(texts) > 1 else texts[0]
        else:
            self.plan[seen.names[seen.seat]].pop(0)
        return Decision(action=options[step], **self.session.take_cost())

    def _next_step(self, seen: Seen, options: Mapping[str, int]) -> str | None:
        """Return the first step of the agent's part that is possible; those before it are dropped."""
        own = self.plan.get(seen.names[seen.seat], [])
        while own:
            step = find_step(own[0], list(options))
            if step is not None:
                return step
            own.pop(0)
        return None

    def _free_step(self, seen: Seen) -> str:
        """Return the step that goes along with words: the next one where they are free, else none."""
        step = None if self.paying else self._next_step(seen, self.options(seen))
        if step is None:
            return ""
        self.plan[seen.names[seen.seat]].pop(0)
        return step

    # ------------------------------------------------------------------------------------ discussing

    def reply(self, seen: Seen) -> Message | None:
        """Consent, object or propose; consent is silent unless there is something to tell."""
        self.hearing.hear(seen)
        plans = [plan for message in seen.inbox if (plan := read_joint_plan(message.say, seen.names))]
        if not plans:
            return None
        self.plan, self._discussed = plans[-1], True
        last, is_opener = seen.inbox[-1].agent == seen.seat, self._opened == seen.timestep
        words, closes = "", True
        if len(plans) < int(self.on["rounds"]) and not last:
            if self.has_designer and not is_opener:
                words = self._object(seen)
                closes = not words
            elif not self.has_designer or not read_joint_plan(seen.inbox[-1].say, seen.names):
                words = self._propose(seen, answering=not self.has_designer, objected=self.has_designer)
                closes = not read_joint_plan(words, seen.names)
        step = self._free_step(seen) if is_opener else ""
        if not (words or step):
            return None
        return Message(seen.seat, words, step, last=closes, **self.session.take_cost())

    def _propose(self, seen: Seen, answering: bool = False, objected: bool = False) -> str:
        """Ask for a joint plan and make it one's own; returns the words that tell it, empty for consent."""
        names = [*(["analysis"] if self.on["analysis"] else []), "message", *seen.names]
        chat = self.question(
            "propose",
            plan=plan_words(self.plan) if any(self.plan.values()) else "",
            answering=answering,
            objected=objected,
            steps=STEPS[self.has_designer],
            analysis=self.on["analysis"],
            **self.situation(seen),
        )
        schema = fields_schema(names) if self.json else None
        needed = [] if answering else [seen.names[seen.seat]]
        try:
            found = self.session.ask(chat, partial(read_fields, names=names, needed=needed), schema)
        except UnusableReply:
            return ""
        message, plan = read_say(found["message"])[0], {name: read_steps(found[name]) for name in seen.names}
        if any(plan.values()) and plan != self.plan:
            self.plan = plan
            message = f"{message} {plan_words(plan)}".strip()
        if message:
            self.hearing.say(seen, message)
        return message

    def _object(self, seen: Seen) -> str:
        """Ask for a judgement of the present plan; returns what speaks against it."""
        values: dict[str, Any] = {"plan": plan_words(self.plan), **self.situation(seen)}
        schema = verdict_schema() if self.json else None
        try:
            okay, reason = self.session.ask(self.question("evaluate", **values), read_verdict, schema)
        except UnusableReply:
            return ""
        words = "" if okay else reason or "I do not agree."
        if words:
            self.hearing.say(seen, words)
        return words
