"""Directives of Overcooked as sub-plans of teams that plan together; all players see the whole kitchen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import (
    AWAY,
    NOTHING,
    WAIT,
    Clock,
    Frame,
    Item,
    Object,
    Param,
    Player,
    Row,
)
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    DISH,
    FAR,
    GATE_COST,
    KIN,
    ONION,
    SOUP,
    TOMATO,
    Goal,
)
from collab_overcooked.games.overcooked.policies.distances import find_carries, survey
from collab_overcooked.games.overcooked.policies.full_hands import count_loose, list_needs, send_carrier
from collab_overcooked.games.overcooked.policies.greedy import assigner, verb_for
from collab_overcooked.games.overcooked.policies.task_assignment import clear_hands, job_time
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.search.subplans import PlanningView, Study, SubPlan

STEPS = 3
TOP = 10.0  # worth of jobs


class SoupLook:
    """Sub-plans of players: directives for the jobs of the assigner."""

    study: ClassVar[Mapping[str, Study]] = {
        "Overcooked-v0": Study(
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
        n = game.n_agents
        self.trust = np.full(n, KIN, np.int32)
        self.rows: dict[tuple[int, int, int], list[int]] = {}  # by layout, station and verb: directives
        self.claimed = np.zeros(self.assigner.static.stations.shape[1], np.int32)

    def __call__(self, seen: Seen) -> PlanningView:
        """Return the jobs of all players."""
        state = self.game.state_of(seen.scene)
        self._survey(state)
        players = state.players[0]
        options = {seat: list(self._jobs(state, seat, seen)) for seat in range(len(players))}
        return PlanningView(
            options=options,
            places={seat: (int(row[Player.X]), int(row[Player.Y])) for seat, row in enumerate(players)},
            held={seat: int(row[Player.HAND] != Item.NONE) for seat, row in enumerate(players)},
            steps=STEPS,
            facts=frozenset({f"{seen.scene['served']} served"}),
            describe=lambda: seen.text,
            idle=self._yielding(seen),
        )

    def _yielding(self, seen: Seen) -> int:
        return AWAY if seen.timestep % 3 == 0 and seen.mask[AWAY] else WAIT

    def _survey(self, state: Any) -> None:
        kitchen_assigner, k = self.assigner, self.assigner.layout(state)
        tables, static, scratch = kitchen_assigner.tables, kitchen_assigner.static, kitchen_assigner.scratch
        stations, stands, floor = static.stations[k], static.stands[k], tables.floor[k]
        players, cells = state.players[0], state.cells[0]
        scratch.gate[0], scratch.barred[:] = GATE_COST, 0
        survey(stations, stands, static.gates[k], tables.neighbours[k], floor, players, cells, self.trust, scratch)
        find_carries(stations, stands, static.regions[k], floor, players, scratch)
        values, times, auto_start = tables.values[k], tables.times[k], tables.params[Param.AUTO_START]
        list_needs(stations, floor, players, cells, values, times, auto_start, scratch)
        count_loose(stations, cells, self.claimed, scratch)
        scratch.goals[:] = 0
        scratch.goals[:, Goal.STATION] = NOTHING
        for item in (SOUP, DISH, ONION, TOMATO):
            for i in range(len(players)):
                if players[i, Player.HAND] == item:
                    cell = floor[players[i, Player.Y], players[i, Player.X]]
                    send_carrier(i, item, cell, stations, stands, cells, scratch)
        if np.all(players[:, Player.HAND] != Item.NONE):  # no player could fetch a dish
            clear_hands(stations, stands, floor, players, cells, self.trust, scratch)

    def _jobs(self, state: Any, seat: int, seen: Seen) -> Iterator[SubPlan]:
        kitchen_assigner, k = self.assigner, int(state.clock[0, Clock.LAYOUT])
        tables, static, scratch = kitchen_assigner.tables, kitchen_assigner.static, kitchen_assigner.scratch
        players, cells, stations = state.players[0], state.cells[0], static.stations[k]
        floor = tables.floor[k]
        cell, hand = floor[players[seat, Player.Y], players[seat, Player.X]], int(players[seat, Player.HAND])
        if hand != Item.NONE:
            s = int(scratch.goals[seat, Goal.STATION])
            if s != NOTHING:
                yield self._job(k, s, hand, float(scratch.fields[s, cell]), seat, seen)
        limit = int(tables.frames[k, Frame.GATE_LIMIT])
        for s in range(len(stations)):
            steps, _ = job_time(s, seat, cell, limit, stations, static.stands[k], floor, players, cells, scratch)
            if steps < FAR:
                job = self._job(k, s, Item.NONE, max(float(steps), 0.0), seat, seen)
                yield job if hand == Item.NONE else replace(job, action=None)

    def _job(self, k: int, s: int, hand: int, steps: float, seat: int, seen: Seen) -> SubPlan:
        terrain, x, y = self.assigner.static.stations[k, s].tolist()
        verb = verb_for(terrain, hand)
        rows = self.rows.get((k, s, verb))
        if rows is None:
            objects, catalogue = self.assigner.tables.objects[k], self.assigner.tables.catalogue
            slots = np.flatnonzero((objects[:, Object.X] == x) & (objects[:, Object.Y] == y))
            matching = np.flatnonzero((catalogue[:, Row.VERB] == verb) & np.isin(catalogue[:, Row.SLOT], slots))
            rows = self.rows[k, s, verb] = matching.tolist()
        legal = [row for row in rows if seen.mask[row]]
        text = seen.view.action_texts[legal[0] if legal else rows[0]] if rows else f"wait for {x} {y}"
        action = legal[0] if legal else self._yielding(seen)
        uses = frozenset({f"{x} {y}"} if hand == Item.NONE else ())  # full hands share stations, one after the other
        load, hands = (0, 1) if hand == Item.NONE else (-1, 0)
        return SubPlan(text, action if seat == seen.seat else None, steps, TOP, uses, load=load, hands=hands)
