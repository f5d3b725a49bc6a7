"""Language agents that agree on a joint plan in a discussion, after RoCo and CaPo.

An agent that has finished its part of the plan, or has new actions, opens a discussion with a proposal for all. With
``roco`` the others consent or make a proposal; with ``capo`` they only judge, and the designer revises. Consent is
silent; a discussion ends when all others consent, or after ``rounds`` proposals, of which the last one counts. Then
each agent executes its part, and chooses freely if that has become impossible. Sources: Mandi et al. 2023 (RoCo) as
reproduced by others, Liu et al. 2025 (CaPo); all texts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collab_overcooked.policies.api import AgentView, Decision, Message
from collab_overcooked.policies.llm.answers import (
    PLAN_MARK,
    fields_schema,
    find_step,
    joint_plan_text,
    read_fields,
    read_joint_plan,
    read_say,
    read_steps,
    read_verdict,
    verdict_schema,
)
from collab_overcooked.policies.llm.exchange import UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import CAPO, Value
from collab_overcooked.policies.llm.team_agent import TeamAgent

Plan = dict[str, list[str]]
STEPS = {True: "three to five steps", False: "one or two steps"}  # length of a plan, by whether there is a designer


class DiscussionAgent(TeamAgent):
    """Agent that discusses joint plans with its team.

    Args:
        session: Session with the agent's model.
        values: Values of its switches.
        kind: ``"roco"`` or ``"capo"``.
    """

    def __init__(self, session: ModelSession, values: Mapping[str, Value], kind: str) -> None:
        super().__init__(session, values)
        self.has_designer = kind == CAPO
        self.plan: Plan = {}
        self._known: set[str] = set()  # actions that were listed before
        self._discussed = False  # since the last action
        self._opened = -1  # timestep of the last discussion opened by this agent

    def act(self, seen: AgentView) -> Decision:
        """Open a discussion if necessary; otherwise take the next step of the agent's part."""
        options = self.options(seen)
        news = not self._known.issuperset(options)
        self._known |= options.keys()
        discusses = (news or self._next_step(seen, options) is None) and not self._discussed and bool(self.on["rounds"])
        self._discussed = False
        if discusses and len(seen.names) > 1 and self.may_speak(seen):
            say = self._propose(seen)
            self._discussed, self._opened = True, seen.timestep
            if say:
                return Decision(plan=self._free_step(seen), say=say, **self.session.take_cost())
        step = self._next_step(seen, options)
        if step is None:
            values = self.situation(seen)
            texts, chat = values["actions"], self.question("next", stage="both", **values)
            step = self.pick(chat, texts, values["idle"]) if len(texts) > 1 else texts[0]
        else:
            self.plan[seen.names[seen.seat]].pop(0)
        return Decision(action=options[step], **self.session.take_cost())

    def _next_step(self, seen: AgentView, options: Mapping[str, int]) -> str | None:
        part = self.plan.get(seen.names[seen.seat], [])
        while part:
            step = find_step(part[0], list(options))
            if step is not None:
                return step
            part.pop(0)
        return None

    def _free_step(self, seen: AgentView) -> str:
        step = None if self.paying else self._next_step(seen, self.options(seen))
        if step is None:
            return ""
        self.plan[seen.names[seen.seat]].pop(0)
        return step

    def reply(self, seen: AgentView) -> Message | None:
        """Consent, object or propose; consent is silent unless there is information to share."""
        plans = [plan for message in seen.inbox if (plan := read_joint_plan(message.say, seen.names))]
        if not plans:
            return None
        self.plan, self._discussed = plans[-1], True
        last, is_opener = seen.inbox[-1].agent == seen.seat, self._opened == seen.timestep
        say, closes = "", True
        if len(plans) < int(self.on["rounds"]) and not last:
            if not is_opener and (self.has_designer or seen.view.is_busy):
                say = self._object(seen)
                closes = not say
            elif not self.has_designer or not read_joint_plan(seen.inbox[-1].say, seen.names):
                say = self._propose(seen, answering=not self.has_designer, objected=self.has_designer)
                closes = not read_joint_plan(say, seen.names)
        step = self._free_step(seen) if is_opener else ""
        if not (say or step):
            return None
        return Message(seen.seat, say, step, last=closes, **self.session.take_cost())

    def _discussion(self, seen: AgentView) -> dict[str, Any]:
        """Return the situation with the joint plan, which the messages do not repeat."""
        plan, values = joint_plan_text(self.plan), self.situation(seen)
        repeated = f"{PLAN_MARK} {plan}"
        if not plan:
            return values | {"plan": ""}
        messages = [
            (name, f"{say.removesuffix(repeated)}(the joint plan below)" if say.endswith(repeated) else say)
            for name, say in values["messages"]
        ]
        return values | {"plan": plan, "messages": messages}

    def _propose(self, seen: AgentView, answering: bool = False, objected: bool = False) -> str:
        names = [*(["analysis"] if self.on["analysis"] else []), "message", *seen.names]
        chat = self.question(
            "propose",
            answering=answering,
            objected=objected,
            steps=STEPS[self.has_designer],
            analysis=self.on["analysis"],
            **self._discussion(seen),
        )
        schema = fields_schema(names) if self.json else None
        needed = [] if answering else [seen.names[seen.seat]]
        try:
            answer = self.session.ask(chat, partial(read_fields, names=names, needed=needed), schema)
        except UnusableReply:
            return ""
        message = read_say(answer["message"])[0]
        plan = {name: read_steps(answer[name]) for name in seen.names}
        if any(plan.values()) and plan != self.plan:
            self.plan = plan
            message = f"{message} {PLAN_MARK} {joint_plan_text(plan)}".strip()
        return message

    def _object(self, seen: AgentView) -> str:
        schema = verdict_schema() if self.json else None
        chat = self.question("evaluate", **self._discussion(seen))
        try:
            okay, reason = self.session.ask(chat, read_verdict, schema)
        except UnusableReply:
            return ""
        return "" if okay else reason or "I do not agree."
