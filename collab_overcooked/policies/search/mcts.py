"""Monte Carlo tree search for every game: any number of seats, simultaneous actions, randomness by new forks.

Each seat has a tree over its own actions ("decoupled"): actions of others and random events are sampled anew in every
simulation, so that a node stands for all states that the seat can reach by the same actions ("open loop"). No state is
kept. Simulations run side by side in one batch, so that a time step of all of them is one kernel call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from collab_overcooked.envs.api import shaped_rewards
from collab_overcooked.io.structs import Bit, NonNegative, Positive, Share
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions, read_options
from collab_overcooked.policies.search.simulator import Fork, Simulator

Array = np.ndarray


@dataclass(frozen=True)
class MctsSettings(PolicyOptions):
    """Settings of the search."""

    simulations: Positive = 200  # Simulated episodes for each decision
    # Steps of each, in the tree and after it, where all seats act uniformly at random within their masks
    depth: Positive = 40
    batch: Positive = 20  # Simulations side by side; later ones of a batch do not know the results of earlier ones
    # Weight of the upper confidence bound; results count from 0 (worst so far) to 1 (best)
    exploration: NonNegative = 0.7
    discount: Share = 0.99  # Factor by which rewards count less with each step
    # ``"search"`` (they choose like the seat), ``"random"`` (uniform within their masks) or ``"idle"``
    teammates: Literal["search", "random", "idle"] = "search"
    # ``"team"`` (mean of all seats' rewards) or ``"own"``; shaped rewards count where a game has them
    payoff: Literal["team", "own"] = "team"
    cheat: Bit = 0  # 1 to simulate from the true state in games that hide a part of it


class SearchNode:
    """Statistics of a seat's actions after a sequence of its own actions.

    Attributes:
        started: Simulations that took each action (A,).
        ended: Simulations with a known return (A,).
        total: Sum of these returns (A,).
        children: Nodes after actions that were taken.
    """

    __slots__ = ("children", "ended", "started", "total")

    def __init__(self, n_actions: int) -> None:
        self.started, self.ended = np.zeros(n_actions), np.zeros(n_actions)
        self.total = np.zeros(n_actions)
        self.children: dict[int, SearchNode] = {}


class TreeSearch:
    """Search for one decision of a seat."""

    def __init__(self, simulator: Simulator, settings: MctsSettings, rng: np.random.Generator) -> None:
        self.simulator = simulator
        self.settings = settings
        self.rng = rng
        self.game: Any = simulator.game
        self.seat = simulator.seat
        seats = range(self.game.n_agents) if settings.teammates == "search" else [self.seat]
        self.roots = {seat: SearchNode(self.game.n_actions) for seat in seats}
        self.worst, self.best = np.inf, -np.inf  # returns of whole simulations so far

    def decide(self) -> int:
        """Return the action that was simulated most often, of equal ones the best."""
        left = self.settings.simulations
        while left > 0:
            size = min(left, self.settings.batch)
            fork = self.simulator.fork(size, int(self.rng.integers(2**31)), bool(self.settings.cheat))
            legal = np.flatnonzero(fork.masks[0, self.seat])
            if len(legal) == 1:
                return int(legal[0])
            self._simulate(fork)
            left -= size
        root = self.roots[self.seat]
        means = root.total / np.maximum(root.ended, 1)
        return int(np.lexsort((means, root.started))[-1])

    def _simulate(self, fork: Fork) -> None:
        nodes: list[dict[int, SearchNode]] = [dict(self.roots) for _ in range(len(fork))]
        visits: list[tuple[int, int, int, SearchNode, int]] = []  # step, simulation, seat, node, action
        rewards = []
        for t in range(self.settings.depth):
            alive = ~(fork.terminated | fork.truncated)
            if not alive.any():
                break
            actions = self._default_actions(fork.masks)
            for i in np.flatnonzero(alive).tolist():
                for seat, node in list(nodes[i].items()):
                    action = self._select(node, fork.masks[i, seat])
                    actions[i, seat] = action
                    visits.append((t, i, seat, node, action))
                    if action in node.children:
                        nodes[i][seat] = node.children[action]
                    else:  # the tree grows by this node; from there on the seat draws
                        node.children[action] = SearchNode(self.game.n_actions)
                        del nodes[i][seat]
            fork.step(actions)
            rewards.append(self._payoff(fork) * alive[:, None])
        self._back_up(visits, np.array(rewards))

    def _default_actions(self, masks: Array) -> Array:
        actions = np.argmax(self.rng.random(masks.shape) * masks, axis=2).astype(np.int32)
        if self.settings.teammates == "idle":
            for seat in range(masks.shape[1]):
                idle = self.game.idle_action(seat)
                if seat != self.seat:
                    actions[masks[:, seat, idle] == 1, seat] = idle
        return actions

    def _select(self, node: SearchNode, mask: Array) -> int:
        legal = np.flatnonzero(mask)
        started = node.started[legal]
        untried = np.flatnonzero(started == 0)
        if len(untried):
            action = int(legal[untried[self.rng.integers(len(untried))]])
        else:
            ended = node.ended[legal]
            value = (node.total[legal] / np.maximum(ended, 1) - self.worst) / max(self.best - self.worst, 1e-9)
            value = np.where(ended > 0, value, 0.5)  # simulated in the present batch only
            bound = value + self.settings.exploration * np.sqrt(np.log(started.sum()) / started)
            action = int(legal[int(np.argmax(bound))])
        node.started[action] += 1
        return action

    def _payoff(self, fork: Fork) -> Array:
        rewards = fork.rewards.astype(np.float64)
        if (shaped := shaped_rewards(fork.out)) is not None:
            rewards += shaped
        if self.settings.payoff == "team":
            rewards[:] = rewards.mean(axis=1, keepdims=True)
        return rewards

    def _back_up(self, visits: list[tuple[int, int, int, SearchNode, int]], rewards: Array) -> None:
        for t in range(len(rewards) - 2, -1, -1):
            rewards[t] += self.settings.discount * rewards[t + 1]
        self.worst, self.best = min(self.worst, rewards.min()), max(self.best, rewards.max())
        for t, i, seat, node, action in visits:
            node.ended[action] += 1
            node.total[action] += rewards[t, i, seat]


class MctsPolicy(PolicyBase):
    """Decides by a new tree search from the present state at each step."""

    needs_simulator = True

    def __init__(self, settings: MctsSettings | None = None) -> None:
        self.name = "mcts"
        self.settings = settings or MctsSettings()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start the generator anew; seats with the same seed draw differently."""
        self._simulator = simulator_of(info, self.name)
        self._rng = np.random.default_rng([seed, seat])

    def act(self, seen: AgentView) -> int:
        """Search; where the game refused the action found, because a teammate was faster, do nothing."""
        if seen.error is not None:
            return seen.idle_action
        return TreeSearch(self._simulator, self.settings, self._rng).decide()


def from_text(text: str) -> MctsPolicy:
    """Make the policy of a spec such as ``"mcts:simulations=400,depth=30"``; the text is what follows the colon."""
    return MctsPolicy(read_options("mcts", text, MctsSettings))
