"""Jobs of CuisineWorld as sub-plans of teams that plan together: bring an item to a tool, or activate one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan, SubplanStudy

from ..engine.constants import NOTHING, Agent, Place, Role
from .greedy import assigner
from .job_list import SHARE, Chain, Hand, Job, Sum, Use

IDLE = 0
SCALE = 10.0  # steps after which what is gained counts e times less
TOP, SLOW = 100.0, 15.0  # worth of the most urgent job, and by how much urgency others are worth half of it


class CuisineWorldSubplans:
    """Provider of jobs as sub-plans; all cooks see the whole state."""

    study: ClassVar[Mapping[str, SubplanStudy]] = {
        "CuisineWorld-v0": SubplanStudy(
            tuple((f"level {level}", {"level": f"level_{level}", "agents": 2, "alpha": 1.5}) for level in (1, 4, 7)),
            "completed",
            "higher",
            "orders served",
        )
    }

    def __init__(self, game: Any) -> None:
        self.game = game
        self.assigner = assigner(game)
        level, self.places = game.level, self.assigner.tables.places.tolist()
        self.items, self.names = level.items, level.locations
        self.trust = np.full(game.n_agents, SHARE, np.int32)
        self.actions = np.zeros((1, game.n_agents), np.int32)

    def __call__(self, seen: AgentView) -> PlanningView:
        """Return the jobs of all cooks."""
        state = self.game.state_of(seen.scene)
        self.assigner.assign(state, self.trust, self.actions)
        agents = state.agents[0].tolist()
        options = {
            seat: list(self._jobs(seat, agent, seen.mask if seat == seen.seat else None))
            for seat, agent in enumerate(agents)
        }
        orders = seen.scene["orders"]
        return PlanningView(
            options=options,
            places={seat: agent[Agent.PLACE] for seat, agent in enumerate(agents)},
            held={seat: int(agent[Agent.ITEM] != NOTHING) for seat, agent in enumerate(agents)},
            travel=lambda here, there: float(here != there),
            scale=SCALE,
            triggers=frozenset(f"{order['name']} {k}" for k, order in enumerate(orders)),
            describe=lambda: seen.text,
        )

    def _jobs(self, seat: int, agent: list[int], mask: Any) -> Iterator[SubPlan]:
        scratch = self.assigner.scratch
        busy = agent[Agent.ITEM] != NOTHING
        if busy:
            target = int(scratch.hands[seat, Hand.TARGET])
            if target != NOTHING:
                steps = 1 + (agent[Agent.PLACE] != target)
                put = self.places[target][Place.PUT] if agent[Agent.PLACE] == target else 1 + target
                text = self._bring(agent[Agent.ITEM], target)
                yield SubPlan(
                    text, self._allowed(put, mask), steps, TOP, frozenset({text}), place=target, work=1.0, load=-1
                )
        jobs = scratch.jobs[: scratch.sums[Sum.JOBS]].tolist()
        first = min((job[Job.URGENCY] for job in jobs), default=0)
        for job in jobs:
            if not self._can_begin(job):
                continue
            source = job[Job.SOURCE]
            away = int(agent[Agent.PLACE] != source)
            steps = max(away, job[Job.WAIT]) + (1 if job[Job.KIND] == Chain.ACTIVATE else 3)
            value = TOP * 2.0 ** (-(job[Job.URGENCY] - first) / SLOW)
            text = f"activate {self.names[source]}"
            if job[Job.KIND] != Chain.ACTIVATE:
                text = self._bring(job[Job.ITEM], job[Job.TARGET])
            action = self._allowed(1 + source if away else self._begin(job), None if busy else mask)
            alone = job[Job.KIND] == Chain.ACTIVATE
            yield SubPlan(
                text, action, steps, value, frozenset({text}), start=source, hands=1,
                place=source if alone else job[Job.TARGET], work=1.0 if alone else 3.0,
            )  # fmt: skip

    def _bring(self, item: int, target: int) -> str:
        return f"bring {self.items[item]} to {self.names[target]}"

    def _allowed(self, action: int, mask: Any) -> int | None:
        if mask is None:
            return None
        return action if mask[action] else IDLE

    def _begin(self, job: list[int]) -> int:
        place = self.places[job[Job.SOURCE]]
        if job[Job.KIND] == Chain.ACTIVATE:
            return int(place[Place.ACTIVATE])
        return int(place[Place.GET] + (job[Job.ITEM] if job[Job.KIND] == Chain.FETCH else 0))

    def _can_begin(self, job: list[int]) -> bool:
        target = job[Job.TARGET]
        if job[Job.KIND] == Chain.ACTIVATE or self.places[target][Place.ROLE] != Role.COOK:
            return True
        use = self.assigner.scratch.uses[target]
        return bool(use[Use.BLOCKED] == 0 or use[Use.CLEARED] == 1)
