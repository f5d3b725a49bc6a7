"""Sub-plans of Overcooked for policies that plan by them: directives for the jobs of the assigner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan, SubplanStudy

from ..engine.constants import AWAY, NOTHING, WAIT, Clock, Item, Player
from .assignment import GATE_COST, clear_hands, job_time, update_needs
from .distances import FAR
from .greedy import assigner
from .kitchen import Goal, TeamView

STEPS = 3
TOP = 10.0  # worth of jobs


class OvercookedSubplans:
    """Sub-plans of players: directives for the jobs of the assigner."""

    study: ClassVar[Mapping[str, SubplanStudy]] = {
        "Overcooked-v0": SubplanStudy(
            tuple(
                (layout, {"layout": layout, "action_level": "medium", "random_start": True})
                for layout in ("cramped_room", "asymmetric_advantages", "coordination_ring")
            ),
            "score",
            "higher",
            "score in 400 steps",
            bound={"action_level": "primitive"},
        )
    }

    def __init__(self, game: Any) -> None:
        self.game = game
        if any(level != MEDIUM for level in game.levels):
            raise ValueError("policy 'cots' plays by directives; all seats need action_level=medium")
        self.assigner = assigner(game)
        self.team = self.assigner.allocate(TeamView)
        self.rows: dict[tuple[int, int, int], list[int]] = {}  # by layout, station and hand: directives

    def __call__(self, seen: AgentView) -> PlanningView:
        """Return the jobs of all players."""
        state = self.game.state_of(seen.scene)
        players = state.players[0]
        where = self.assigner.kitchen(state), row_at(state, 0), self.team, self.assigner.distances, self.assigner.jobs
        self.assigner.distances.gate[0] = GATE_COST
        update_needs(*where)
        if np.all(players[:, Player.HAND] != Item.NONE):  # no player could fetch a dish
            clear_hands(*where)
        return PlanningView(
            options={seat: list(self._jobs(where, state, seat, seen)) for seat in range(len(players))},
            places={seat: (int(row[Player.X]), int(row[Player.Y])) for seat, row in enumerate(players)},
            held={seat: int(row[Player.HAND] != Item.NONE) for seat, row in enumerate(players)},
            steps=STEPS,
            triggers=frozenset({f"{seen.scene['served']} served"}),
            describe=lambda: seen.text,
            idle=self._yielding(seen),
        )

    def _yielding(self, seen: AgentView) -> int:
        return AWAY if seen.timestep % 3 == 0 and seen.mask[AWAY] else WAIT

    def _jobs(self, where: tuple[Any, ...], state: Any, seat: int, seen: AgentView) -> Iterator[SubPlan]:
        distances, goals = self.assigner.distances, self.assigner.jobs.goals
        hand = int(state.players[0, seat, Player.HAND])
        if hand != Item.NONE:
            s = int(goals[seat, Goal.STATION])
            if s != NOTHING:
                yield self._job(state, s, hand, float(distances.fields[s, distances.here[seat]]), seat, seen)
        for s in range(len(distances.fields)):
            steps, _ = job_time(*where, seat, s)
            if steps < FAR:
                job = self._job(state, s, Item.NONE, max(float(steps), 0.0), seat, seen)
                yield job if hand == Item.NONE else replace(job, action=None)

    def _job(self, state: Any, s: int, hand: int, steps: float, seat: int, seen: AgentView) -> SubPlan:
        key = int(state.clock[0, Clock.LAYOUT]), s, hand
        if key not in self.rows:
            self.rows[key] = self.assigner.directives_at(state, s, hand)
        _, x, y = self.assigner.kitchen(state).stations[s].tolist()
        rows = self.rows[key]
        legal = [row for row in rows if seen.mask[row]]
        text = seen.view.action_texts[legal[0] if legal else rows[0]] if rows else f"wait for {x} {y}"
        action = legal[0] if legal else self._yielding(seen)
        uses = frozenset({f"{x} {y}"} if hand == Item.NONE else ())  # full hands share stations, one after the other
        load, hands = (0, 1) if hand == Item.NONE else (-1, 0)
        return SubPlan(text, action if seat == seen.seat else None, steps, TOP, uses, load=load, hands=hands)
