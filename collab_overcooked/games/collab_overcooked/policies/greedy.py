"""Greedy play of Collab-Overcooked: work backwards from the order and choose the seat's most useful action.

``KitchenScene`` is a state with all running actions completed, ``Needs`` lists the needs of the order and the purpose
of every object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.kernels.macro_actions import CONTINUE, MEDIUM, Macro, Outcome
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan, SubplanStudy

from ..engine.constants import DISH, NOTHING, Access, EventColumn, Group, Reason, Verb
from ..engine.spec import load_kitchen
from ..text.text import judge
from .order_work import HANDLING, Making, Needs, Purpose
from .scene import KitchenScene, refuse_primitive_seats, tables_of

PATIENCE = 6  # decisions in which an agent leaves the work to teammates who do not do it
FORESIGHT = 10  # steps that an agent on a shared floor looks ahead to see whether it gets through
COUNTER_RESERVE = 1  # shared counters that are left free when ingredients are put out early


@dataclass(frozen=True)
class Option:
    """Something useful to do: lower ``rank`` first, then the more urgent less its cost in steps."""

    rank: int
    action: int
    urgency: int
    cost: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Sort key; the action's number settles ties."""
        return (self.rank, self.cost - self.urgency, self.action)


class Chooser:
    """Finds the best useful action of one seat in one scene."""

    def __init__(self, scene: KitchenScene, seat: int, accepted: Callable[[int], bool]) -> None:
        self.scene = scene
        self.kitchen = scene.kitchen
        self.seat = seat
        self.accepted = accepted
        self.needs = Needs(scene)
        self.pose = scene.poses[seat]

    def choose(self) -> int:
        """Return the best action; waiting if nothing is useful."""
        return next(iter(self.ranked()), self.kitchen.wait)

    def ranked(self) -> list[int]:
        """Return all useful actions that are accepted now, the best first."""
        return [option.action for option in self.options()]

    def options(self) -> list[Option]:
        """Return all that is useful and accepted now, the best first."""
        empty = self.scene.hands[self.seat][0] == NOTHING
        options = list(self._fetching()) + list(self._taking()) if empty else list(self._holding())
        if empty:
            options += list(self._working())
        allowed = [option for option in options if self.accepted(option.action)]
        return sorted(allowed, key=lambda option: option.key)

    def _option(self, rank: int, action: int, urgency: int, stations: Iterable[int]) -> Option:
        return Option(rank, action, urgency, self.kitchen.steps_to(self.pose, stations))

    def _holding(self) -> Iterator[Option]:
        item, _ = self.scene.hands[self.seat]
        purpose = self.needs.purposes.get(("hand", self.seat))
        if purpose is None:
            yield from self._rid_of()
        elif item == DISH:
            yield from self._with_dish()
        elif purpose.making is None:
            yield self._option(0, self.kitchen.serve, 0, self.kitchen.members[Group.SERVING])
            if self.needs.hops(purpose)[self.seat] > 0:
                yield self._placing(1)
        else:
            yield from self._with_input(item, purpose.making)

    def _placing(self, rank: int) -> Option:
        return Option(rank, self.kitchen.place, 0, 0)

    def _with_dish(self) -> Iterator[Option]:
        final = self.needs.final
        if final is not None and self.kitchen.can(self.seat, final):
            yield self._option(0, self.kitchen.act_on(Verb.FILL, final), 0, [final])
        else:
            yield self._placing(1)

    def _with_input(self, item: int, making: Making) -> Iterator[Option]:
        for station in self.needs.receivers(self.seat, item, making):
            yield self._option(0, self.kitchen.act_on(Verb.PUT, station), 0, [station])
        yield self._placing(1)

    def _rid_of(self) -> Iterator[Option]:
        room = self.scene.free_counters(self.seat, shared=True) > COUNTER_RESERVE
        yield self._placing(0 if room else 3)
        yield self._option(1, self.kitchen.serve, 0, self.kitchen.members[Group.SERVING])
        for station in self.kitchen.utensils:
            kinds = {making.kind for making in self.needs.makings}
            if self.needs.is_junk(station) or self.kitchen.kind(station) not in kinds:
                yield self._option(2, self.kitchen.act_on(Verb.PUT, station), 0, [station])

    def _working(self) -> Iterator[Option]:
        for making in self.needs.makings:
            if making.station is not None and not making.missing:
                yield self._option(
                    0, self.kitchen.act_on(Verb.OPERATE, making.station), making.urgency, [making.station]
                )
        kinds = {making.kind for making in self.needs.makings}
        for station, utensil in self.scene.utensils.items():
            if self.kitchen.kind(station) in kinds and self.needs.is_junk(station):
                action = self.kitchen.act_on(Verb.OPERATE, station)
                if utensil.product != NOTHING:
                    action = self.kitchen.act_on(Verb.PICKUP, station, utensil.product)
                yield self._option(1, action, HANDLING, [station])

    def _taking(self) -> Iterator[Option]:
        for (where, station), purpose in self.needs.purposes.items():
            if where == "utensil":
                action = self.kitchen.act_on(Verb.PICKUP, station, self.scene.utensils[station].product)
                yield self._option(0, action, purpose.urgency + HANDLING, [station])
            elif where == "counter" and self.kitchen.can(self.seat, station):
                item, _ = self.scene.counters[station]
                if self._is_worth_taking(item, station, purpose):
                    yield self._option(0, self.kitchen.act_on(Verb.PICKUP, station, item), purpose.urgency, [station])
        if self.scene.free_counters(self.seat, shared=True) == 0:
            yield from self._clearing()

    def _is_worth_taking(self, item: int, station: int, purpose: Purpose) -> bool:
        hops = self.needs.hops(purpose)
        if hops[self.seat] > 0:
            nearest = min(hops[i] for i in self.kitchen.users(station))
            return hops[self.seat] == nearest and self.scene.free_counters(self.seat) > 0
        if item == DISH and purpose.kind != NOTHING:
            return self.needs.final is not None and self.kitchen.can(self.seat, self.needs.final)
        if purpose.making is None:
            return True
        return bool(self.needs.receivers(self.seat, item, purpose.making))

    def _clearing(self) -> Iterator[Option]:
        for station, (item, _) in self.scene.counters.items():
            junk = ("counter", station) not in self.needs.purposes
            if junk and self.kitchen.access[self.seat][station] == Access.SHARED:
                yield self._option(2, self.kitchen.act_on(Verb.PICKUP, station, item), 0, [station])

    def _fetching(self) -> Iterator[Option]:
        for item, purpose in self.needs.fetches:
            stations = self.kitchen.dispensers(item)
            if self.kitchen.can_any(self.seat, stations) and self._worth_fetching(item, purpose):
                rank = 1 if item == DISH and self.needs.final is None else 0
                if rank == 0 or not self._due():
                    yield self._option(rank, self.kitchen.fetch(item), purpose.urgency, stations)

    def _due(self) -> bool:
        return any(
            where == "utensil" and self.kitchen.can(self.seat, station) for where, station in self.needs.purposes
        )

    def _worth_fetching(self, item: int, purpose: Purpose) -> bool:
        hops = self.needs.hops(purpose)[self.seat]
        if hops == 0 and purpose.making is not None:
            return bool(self.needs.receivers(self.seat, item, purpose.making))
        if hops == 0:
            return item != DISH or self.needs.final is not None
        making = purpose.making
        soon = making is None or making.station is not None or item == DISH or not making.below
        return self.needs.room(self.seat, purpose) > (0 if soon else COUNTER_RESERVE)


class GreedyPolicy(PolicyBase):
    """Knows the kitchen, works backwards from the order, and does the best useful thing that its seat can do.

    Idle teammates in earlier seats are expected to choose in the same way, so that two do not fetch the same thing,
    unless they have long left undone what they should do. On a shared floor an agent tries its choices on the true
    dynamics first, and makes way where it is blocked or blocks a teammate.
    """

    name = "greedy"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._kitchen = tables_of(info.game)
        refuse_primitive_seats(info.game, [seat])
        self._simulator = simulator_of(info, self.name)
        self._rng = np.random.default_rng([seed, seat])
        self._yielded = 0

    def act(self, seen: AgentView) -> int:
        self._state = self._simulator.fork(1, 0, cheat=True).state
        scene, expected = self._expected(seen)
        useful = self._useful(scene, seen)
        if expected and not useful:  # whatever there is to do, teammates are expected to do
            alone = self._useful(KitchenScene(self._kitchen, self._state), seen)
            self._yielded = self._yielded + 1 if alone else 0
            useful = alone if self._yielded > PATIENCE else useful
        if useful:
            self._yielded = 0
        if not self._kitchen.can_meet:
            return useful[0] if useful else self._kitchen.wait
        return self._unblocked(scene, seen, useful, expected)

    def _expected(self, seen: AgentView) -> tuple[KitchenScene, dict[int, int]]:
        scene = KitchenScene(self._kitchen, self._state)
        expected: dict[int, int] = {}
        for other in range(seen.seat):
            if scene.running[other] == NOTHING:
                expected[other] = Chooser(scene, other, self._accepting(other)).choose()
                scene.apply(other, expected[other])
        return scene, expected

    def _accepting(self, seat: int) -> Callable[[int], bool]:
        return lambda action: judge(self._kitchen.tables, self._state, 0, seat, action) == Reason.OK

    def _useful(self, scene: KitchenScene, seen: AgentView) -> list[int]:
        return Chooser(scene, seen.seat, lambda action: bool(seen.mask[action])).ranked()

    def _unblocked(self, scene: KitchenScene, seen: AgentView, useful: list[int], expected: dict[int, int]) -> int:
        useful = list(dict.fromkeys(useful))
        if useful:
            finished, _ = foresee(self._simulator, seen.seat, useful, expected, FORESIGHT)
            for action, done in zip(useful, finished, strict=True):
                if done:
                    return action
        if useful or self._in_the_way(scene, seen.seat):
            return self._yield_to_mates(seen, useful[:1], expected)
        return self._kitchen.wait

    def _in_the_way(self, scene: KitchenScene, seat: int) -> bool:
        return any(
            self._state.macro_state[0, other, Macro.STILL] > 0 and scene.running[other] >= self._kitchen.place
            for other in self._kitchen.mates[seat]
        )

    def _yield_to_mates(self, seen: AgentView, useful: list[int], expected: dict[int, int]) -> int:
        """Return the action that helps the teammates most: waiting, a harmless pickup, or putting down.

        If no action helps them, draw one of these or the blocked useful action, so that two agents do not block each
        other for ever.
        """
        kinds: dict[tuple[int, int], int] = {}
        for action in np.flatnonzero(seen.mask).tolist():
            verb, item, group = self._kitchen.rows[action]
            if verb == Verb.PLACE or (verb == Verb.PICKUP and group < Group.UTENSIL):
                kinds.setdefault((group, item if group == Group.COUNTER else 0), action)
        actions = [self._kitchen.wait, *kinds.values()]
        _, helped = foresee(self._simulator, seen.seat, actions, expected, FORESIGHT)
        if helped.max() == 0 and useful and self._rng.random() < 0.5:
            return useful[0]
        best = np.flatnonzero(helped == helped.max())
        return actions[int(self._rng.choice(best))]


def foresee(
    simulator: Simulator, seat: int, actions: list[int], expected: dict[int, int], steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate actions of one seat, with teammates that finish their running actions and then wait.

    Args:
        simulator: Simulator of the present state.
        seat: Seat that acts.
        actions: K actions of the seat.
        expected: Seat -> action that an idle teammate begins now; others wait.
        steps: Env steps to look ahead.

    Returns:
        bool (K,) whether the action is finished by then, and (K,) the number of teammates' finished actions.
    """
    fork, game = simulator.fork(len(actions), 0, cheat=True), simulator.game
    finished = np.zeros((len(actions), game.n_agents), bool)
    idle = np.array([game.idle_action(i) for i in range(game.n_agents)])
    begun = {i: action for i, action in expected.items() if game.levels[i] == MEDIUM}
    for step in range(steps):
        joint = np.where(fork.state.macro_state[:, :, Macro.ACTION] == NOTHING, idle, 0).astype(np.int32)
        if step == 0:
            joint[:, list(begun)] = list(begun.values())
            joint[:, seat] = actions
        fork.advance(joint)
        finished |= (joint != idle) & (fork.out.events[:, :, EventColumn.ENDED] == Outcome.DONE)
    finished_of_seat = finished[:, seat].copy()
    finished[:, seat] = False
    return finished_of_seat, finished.sum(1)


BASE = 20.0  # added to the urgency of an action, so that what is needed first is worth more even from afar
LESS = 0.05  # factor of worth for each rank below the first


class CollabOvercookedSubplans:
    """Sub-plans of cooks: possible and useful actions."""

    study: ClassVar[Mapping[str, SubplanStudy]] = {
        "CollabOvercooked-v0": SubplanStudy(
            tuple((task, {"task": task}) for task in load_kitchen("paper").tasks), "steps", "lower", "steps"
        )
    }

    def __init__(self, game: FullGame) -> None:
        self.game: Any = game
        refuse_primitive_seats(game, range(game.n_agents))
        self.kitchen = tables_of(game)

    def __call__(self, seen: AgentView) -> PlanningView:
        """Return the sub-plans of all cooks, as far as one of them knows them."""
        state = self.game.state_of(seen.scene)
        scene, texts = KitchenScene(self.kitchen, state), seen.view.action_texts
        possible = self._possible(scene, seen, texts)
        options = {seat: [] if seat != seen.seat else possible for seat in range(self.game.n_agents)}
        if seen.view.recipe is not None:
            for seat in options:
                useful = self._useful(scene, state, seat, seen, texts)
                known = {option.text for option in useful}
                options[seat] = useful + [option for option in options[seat] if option.text not in known]
        return PlanningView(
            options=options,
            places=dict(enumerate(scene.poses)),
            triggers=frozenset({f"{len(scene.orders)} orders, the first {scene.order}"}),
            describe=lambda: seen.text,
        )

    def _possible(self, scene: KitchenScene, seen: AgentView, texts: list[str]) -> list[SubPlan]:
        plans = []
        for action in np.flatnonzero(seen.mask).tolist():
            verb, _, group = self.kitchen.rows[action]
            if action != CONTINUE and verb != Verb.WAIT:
                stations = self.kitchen.members[group] if verb != Verb.PLACE else self.kitchen.members[Group.COUNTER]
                cost = self.kitchen.steps_to(scene.poses[seen.seat], stations)
                plans.append(SubPlan(texts[action], action, cost, 0.0, frozenset({texts[action]})))
        return plans

    def _useful(self, scene: KitchenScene, state: Any, seat: int, seen: AgentView, texts: list[str]) -> list[SubPlan]:
        def accepted(action: int) -> bool:
            if seat == seen.seat:
                return bool(seen.mask[action])
            return bool(judge(self.kitchen.tables, state, 0, seat, action) == Reason.OK)

        plans: dict[str, SubPlan] = {}
        for option in Chooser(scene, seat, accepted).options():
            text, value = texts[option.action], (BASE + option.urgency) * LESS**option.rank
            action = option.action if seat == seen.seat else None
            plan = SubPlan(text, action, option.cost, value, self._uses(option.action, text))
            plans.setdefault(text, plan)
        return list(plans.values())

    def _uses(self, action: int, text: str) -> frozenset[str]:
        return frozenset() if action == self.kitchen.place else frozenset({text})
