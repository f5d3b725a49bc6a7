"""A planner of Collab-Overcooked: all seats follow the plan of the earliest delivery that search finds."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Clock
from collab_overcooked.games.collab_overcooked.policies.delivery_search import WIDTH, best_plan, key_columns
from collab_overcooked.games.collab_overcooked.policies.greedy import GreedyPolicy
from collab_overcooked.games.collab_overcooked.policies.order_work import Order, order_of
from collab_overcooked.games.collab_overcooked.policies.scene import cookbook, refuse_primitive_seats
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.search.plan_search import Plan, PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork

REPLAN_WIDTH = 60  # nodes kept per layer when a teammate left the plan
PLANS_KEPT = 20000  # plans remembered in a process
STAGNATION = 6  # steps in which nothing changed before a teammate is not counted on any more


PLANS = PlanMemory(PLANS_KEPT)


def state_key(order: Order, state: Any) -> bytes:
    """Return a key of the first state of a batch, without its clock."""
    return key_columns(order, state)[:1].tobytes()


def plan_from(root: Fork, width: int) -> Plan:
    """Plan from a state, or recall the plan; the same state and width always give the same plan."""
    order = order_of(cookbook(root.game), int(root.state.orders[0, 0]))
    left = int(root.state.clock[0, Clock.LIMIT] - root.state.clock[0, Clock.T])

    def name(state: Any) -> bytes:
        return state_key(order, state)

    def make() -> Plan:
        actions = best_plan(root, width).actions
        return Plan(actions, name_states(root, actions, name), int(len(actions) > 0))

    plan: Plan = PLANS.recall((root.game, order.order, width, left, name(root.state)), make)
    return plan


class PlannerPolicy(Silent):
    """Plans for all seats and plays its own part, counting on teammates who do the same.

    All planners of a team find the same plan. When the state is not the planned one, because a teammate did something
    else, the seat plans anew from there when it next has a choice. Where no plan is found it plays greedily.

    Args:
        width: Nodes kept per time step when an order is new.
        replan: Nodes kept when a plan was left.
    """

    name = "planner"
    parameters = ("width", "replan")
    needs_simulator = True

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.width, self.replan = parse_integer("width", width, 1), parse_integer("replan", replan, 1)
        self._greedy = GreedyPolicy()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last plan."""
        self._book = cookbook(info.game)
        refuse_primitive_seats(info.game, range(info.game.n_agents))
        self._simulator = simulator_of(info, self.name)
        self._greedy.reset(seat, info, seed)
        self._plan: Plan | None = None
        self._start = 0
        self._delivered = -1
        self._last = (b"", 0)  # state at the last decision, and how often in a row it has been the same

    def act(self, seen: Seen) -> int:
        """Return the plan's action for this seat."""
        root = self._simulator.fork(1, seen.timestep, cheat=True)  # the same for all planners of the team
        if int(root.state.orders[0, 0]) == NOTHING:
            return self._book.wait
        key = state_key(order_of(self._book, int(root.state.orders[0, 0])), root.state)
        same = self._last[1] + 1 if key == self._last[0] else 0
        self._last = (key, same)
        plan = self._follow(root, seen.timestep, key)
        at = seen.timestep - self._start
        if at >= len(plan.state_names) or same >= STAGNATION:
            return self._greedy.act(seen)
        return int(plan.actions[at, seen.seat])

    def _follow(self, root: Fork, timestep: int, key: bytes) -> Plan:
        """Keep the plan while the game is on it; plan anew otherwise."""
        delivered = int(root.state.clock[0, Clock.DELIVERED])
        new_order = delivered != self._delivered
        if self._plan is None or new_order or not self._plan.is_followed(timestep - self._start, key):
            self._delivered, self._start = delivered, timestep
            self._plan = plan_from(root, self.width if new_order else self.replan)
        return self._plan
