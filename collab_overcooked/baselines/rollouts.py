"""Play a batch of environments, whose arrays go into the rollouts of learners without a loop over environments."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from collab_overcooked.baselines.partners import TrainingPartner, families_of
from collab_overcooked.baselines.ppo import PPO, RolloutBuffer
from collab_overcooked.baselines.seating import SeatAssignment
from collab_overcooked.baselines.settings import CRITICS, TrainingSettings
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.envs.event_rewards import EventReward
from collab_overcooked.evaluation.partner_batch import PolicySeats
from collab_overcooked.policies.action_history import ActionHistory

Array = np.ndarray
GROUPS = 16  # of environments whose first episodes end at different times
RECENT = 100  # episodes whose mean return is reported, or a quarter of the environments if that is more
PROBE_ENVIRONMENTS, PROBE_STEPS = 64, 200


def observation_scale(game: FullGame, seed: int, by_channel: bool) -> Array:
    """Return one over the largest value of each feature in some random play, so that counts and times are at most 1.

    Args:
        game: Compiled game.
        seed: Seed of the rollouts.
        by_channel: One value for each first index of the observation instead of one for each number.

    Returns:
        float32, of the observation's shape or (channels, 1, 1).

    Raises:
        ValueError: The network has convolutions, and observations do not have the shape (channels, height, width).
    """
    shape = game.single_observation_space.shape
    if by_channel and len(shape) != 3:
        raise ValueError(f"convolutions: observations must be (channels, height, width), not of shape {shape}")
    batch = BatchEnv(game, PROBE_ENVIRONMENTS)
    observations, infos = batch.reset(seed)
    rng = np.random.default_rng(seed)
    largest = np.zeros(observations.shape[2:])
    for _ in range(PROBE_STEPS):
        masks = infos["action_mask"]
        observations, _, _, _, infos = batch.step((rng.random(masks.shape) * masks).argmax(-1))
        largest = np.maximum(largest, np.abs(observations).max((0, 1)))
        if batch.over.any():
            batch.reset(which=batch.over)
    if by_channel:
        largest = largest.max((1, 2), keepdims=True)
    return (1.0 / np.maximum(largest, 1.0)).astype(np.float32)


class Rollouts:
    """The environments of a training.

    Args:
        settings: Settings of the training.
        game: Compiled game.
        partners: Policies that do not learn.

    Attributes:
        steps: Environment steps taken.
        returns: Returns of recent complete episodes: mean over seats, without shaping.
        states: Hidden state of each partner in all seats, float32 (E * N, H).
        layouts: Number of each environment's layout at each step of the last rollout, int32 (T, E); 0 without a pool.
        returns_by_family: The same for the episodes beside partners of each family, where there are partners.
    """

    # States that episodes start from instead of the game's own, as a batch; None for the game's own
    starts_from: Any = None
    # Pays learners in addition: returns float32 (T, B) for a filled rollout; reported returns are without it
    bonus: Callable[[RolloutBuffer], Array] | None = None

    def __init__(self, settings: TrainingSettings, game: FullGame, partners: Sequence[TrainingPartner] = ()) -> None:
        self.settings = settings
        self.batch = BatchEnv(game, settings.environments)
        self.seating = SeatAssignment(settings, game.n_agents, [partner.seat for partner in partners])
        self.partners = partners
        if settings.preferences and len(settings.preferences) != game.n_agents:
            raise ValueError(
                f"preferences must be {game.n_agents} mappings, one for each learner, not {len(settings.preferences)}"
            )
        self._paid_by = [EventReward(game, weights) if weights else None for weights in settings.preferences]
        longest = max([settings.history, *(partner.history for partner in partners)])
        self.past = ActionHistory(settings.environments, game.n_agents, game.n_actions, longest)
        self._histories = {settings.history, *(partner.history for partner in partners)}
        rows = settings.environments * game.n_agents
        self.states = [np.zeros((rows, partner.memory), np.float32) for partner in partners]
        kind = CRITICS[settings.critic]
        self._critic_state = CriticState(game, kind) if kind else None
        self.rng = np.random.default_rng([settings.seed, 1])
        self.steps = 0
        self.layouts = np.zeros((settings.rollout, settings.environments), np.int32)
        self.sums = np.zeros(settings.environments)  # rewards of the running episodes
        self.counted = np.zeros(settings.environments, np.bool_)  # not the shortened first episodes
        self.starts = np.ones(settings.environments, np.bool_)
        self.returns: deque[float] = deque(maxlen=max(RECENT, settings.environments // 4))
        self.returns_by_family: dict[str, deque[float]] = {
            family: deque(maxlen=self.returns.maxlen) for family in families_of(partners)
        }
        self.shaped = hasattr(self.batch.out, "shaped")
        self._programs: PolicySeats | None = None  # numbered as partners
        self._begin()

    def _begin(self) -> None:
        """Start all environments, the first episodes with limits of different lengths.

        Otherwise all would be in the same phase of their episodes for ever, and no update would see the others.
        """
        batch, environments = self.batch, np.arange(self.settings.environments)
        batch.reset(self.settings.seed)
        for group in range(GROUPS):
            which = environments * GROUPS // len(environments) == group
            limit = max(1, batch.game.max_cycles * (group + 1) // GROUPS)
            if which.any() and limit < batch.game.max_cycles:
                batch.game.reset(batch.state, batch.out, which, None, limit)
        self.counted[environments * GROUPS // len(environments) == GROUPS - 1] = True
        self.seating.draw(np.ones(len(environments), np.bool_), self.rng)
        self._seat_programs(np.ones(len(environments), np.bool_))

    def _seat_programs(self, started: Array) -> None:
        makers = [partner.make for partner in self.partners]
        if not any(makers):
            return
        if self._programs is None:
            self._programs = PolicySeats(self.batch, makers, [f"partner_{k}" for k in range(len(makers))])
        self._programs.restart(started)
        held = self.seating.held
        for e, seat in zip(*np.nonzero(started[:, None] & (held >= 0)), strict=True):
            if makers[held[e, seat]] is not None:
                self._programs.begin(int(held[e, seat]), int(seat), int(e), int(self.rng.integers(2**31)))

    @torch.inference_mode()
    def collect(self, learners: Sequence[PPO], shaping: float) -> None:
        """Fill the rollouts of learners.

        Args:
            learners: One for each entry of ``seating.learners``.
            shaping: Weight of the game's shaped rewards.
        """
        for t in range(self.settings.rollout):
            self._step(learners, t, shaping)
        inputs = self._inputs(self.settings.history)
        starts = self._per_row(self.starts)
        central = self._central()
        for learner, rows in zip(learners, self.seating.learners, strict=True):
            environments = np.arange(len(starts))[rows] // self.batch.n_agents
            values = learner.values(inputs[rows], starts[rows], central[environments])
            if self.bonus is not None:
                learner.rollout.rewards += self.bonus(learner.rollout)
            learner.rollout.finish(values, starts[rows])

    def _step(self, learners: Sequence[PPO], t: int, shaping: float) -> None:
        batch, out = self.batch, self.batch.out
        actions = np.empty(batch.num_envs * batch.n_agents, np.int64)
        inputs = {steps: self._inputs(steps) for steps in self._histories}
        starts, masks = self._per_row(self.starts), self._rows(out.masks)
        choices = np.count_nonzero(masks, axis=1) > 1
        central = self._central()
        for learner, rows in zip(learners, self.seating.learners, strict=True):
            observations = inputs[self.settings.history][rows]
            actions[rows] = learner.act(t, observations, masks[rows], starts[rows], choices[rows], central)
        self._act_partners(actions, inputs, starts, masks, choices)
        if batch.layout_names:
            self.layouts[t] = batch.layout_numbers()
        joint = actions.reshape(batch.num_envs, -1)
        batch.step(joint)
        self.past.push(joint)
        if self._programs is not None:
            self._programs.advance(joint)
        self.steps += batch.num_envs
        self.sums += out.rewards.mean(1)
        rewards = self._rewards(shaping)
        over = batch.over
        if out.truncated.any():
            self._bootstrap_truncated(learners, rewards, out.truncated & ~out.terminated)
        for learner, rows in zip(learners, self.seating.learners, strict=True):
            learner.rollout.rewards[t] = rewards[rows]
        self.starts = over
        if over.any():
            self._restart(over)

    def _act_partners(
        self, actions: Array, inputs: dict[int, Array], starts: Array, masks: Array, choices: Array
    ) -> None:
        if self._programs is not None:
            programs = self._programs.act(self.seating.held).reshape(-1)
        for partner, rows, state in zip(self.partners, self.seating.partners, self.states, strict=True):
            if partner.make is not None:
                actions[rows] = programs[rows]
            elif len(rows):
                before = np.where(starts[rows, None], np.float32(0), state[rows])
                read = inputs[partner.history][rows]
                actions[rows], after = partner.act(read, masks[rows], self.rng, before)
                state[rows] = np.where(choices[rows, None], after, before)

    def _inputs(self, history: int) -> Array:
        observations = self._rows(self.batch.out.observations)
        if not history:
            return observations
        by_agent = observations.reshape(self.batch.num_envs, self.batch.n_agents, -1)
        return self._rows(self.past.append_to(by_agent, history))

    def _rewards(self, shaping: float) -> Array:
        out, scale = self.batch.out, self.settings.reward_scale
        shaped = out.shaped * (shaping * scale) if self.shaped and shaping else 0.0
        rewards: Array = (out.rewards * scale + shaped).reshape(-1)
        for paid_by, rows in zip(self._paid_by, self.seating.learners, strict=False):
            if paid_by is not None:
                rewards[rows] = (paid_by.of(out) * scale + shaped).reshape(-1)[rows]
        return rewards.astype(np.float32, copy=False)

    def _central(self) -> Array:
        batch = self.batch
        if self._critic_state is None:
            return np.zeros((batch.num_envs, 0), np.float32)
        return self._critic_state.of(batch.state, batch.out)

    def _bootstrap_truncated(self, learners: Sequence[PPO], rewards: Array, cut_off: Array) -> None:
        cut_off = self._per_row(cut_off)
        inputs = self._inputs(self.settings.history)
        numbers = np.arange(len(cut_off))
        central = self._central()
        for learner, rows in zip(learners, self.seating.learners, strict=True):
            columns = np.flatnonzero(cut_off[rows])
            if len(columns):
                chosen = numbers[rows][columns]
                starts = np.zeros(len(chosen), np.bool_)
                values = learner.values(inputs[chosen], starts, central[chosen // self.batch.n_agents], columns)
                rewards[chosen] += self.settings.gamma * values

    def _restart(self, over: Array) -> None:
        finished = over & self.counted
        self.returns.extend(self.sums[finished].tolist())
        for i in np.flatnonzero(finished).tolist() if self.partners else ():
            beside = {self.partners[k].family for k in self.seating.partner[i].tolist() if k >= 0}
            for family in beside:
                self.returns_by_family[family].append(float(self.sums[i]))
            self.seating.note(i, float(self.sums[i]))
        self.counted |= over
        self.sums[over] = 0.0
        self.batch.reset(which=over)
        self.past.clear(over)
        self.seating.draw(over, self.rng)
        self._seat_programs(over)
        if self.starts_from is not None:
            self._start_from_states(over)

    def _start_from_states(self, which: Array) -> None:
        count = len(self.starts_from.rng)
        drawn = self.rng.integers(count, size=int(which.sum()))
        for name, array in self.batch.state._asdict().items():
            if name != "rng":
                array[which] = getattr(self.starts_from, name)[drawn]
        self.batch.game.observe(self.batch.state, self.batch.out)
        self.counted[which] = False  # only a part of an episode

    def _rows(self, array: Array) -> Array:
        batch = self.batch
        shape = array.shape[2:] if array is not batch.out.observations else batch.single_observation_space.shape
        return array.reshape(batch.num_envs * batch.n_agents, *shape)

    def _per_row(self, array: Array) -> Array:
        return np.repeat(array, self.batch.n_agents)

    def save(self) -> dict[str, Array]:
        """Return all that changes, as arrays."""
        arrays = {f"state.{name}": array for name, array in self.batch.state._asdict().items()}
        arrays |= {f"out.{name}": array for name, array in self.batch.out._asdict().items()}
        arrays |= {"sums": self.sums, "counted": self.counted, "starts": self.starts, "returns": np.array(self.returns)}
        arrays |= {"past": self.past.actions, **self.seating.save()}
        arrays |= {f"memory.{number}": state for number, state in enumerate(self.states)}
        arrays |= {name: np.array(returns) for name, returns in self._named_returns().items()}
        return arrays | {"steps": np.array(self.steps)}

    def load(self, arrays: dict[str, Array]) -> None:
        """Restore the state that ``save`` returned; scripted partners, whose memory is not saved, are reset."""
        for part in ("state", "out"):
            for name, array in getattr(self.batch, part)._asdict().items():
                array[...] = arrays[f"{part}.{name}"]
        for name in ("sums", "counted", "starts"):
            getattr(self, name)[...] = arrays[name]
        self.past.actions[...] = arrays["past"]
        for number, state in enumerate(self.states):
            state[...] = arrays[f"memory.{number}"]
        self.seating.load(arrays)
        for name, returns in {"returns": self.returns, **self._named_returns()}.items():
            returns.clear()
            returns.extend(arrays[name].tolist())
        self.steps = int(arrays["steps"])
        self._seat_programs(np.ones(len(self.starts), np.bool_))

    def _named_returns(self) -> dict[str, deque[float]]:
        return {f"returns.{family}": returns for family, returns in self.returns_by_family.items()}
