"""Example games with planted faults, for the tests of the checks that must find them."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from collab_overcooked import registry
from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.testing import ConformanceError, check_game


def example(name):
    """Import an example game, which no other test finds in the registry or on the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "docs" / "examples"))
        patch.setattr(registry, "GAMES", [*registry.GAMES])
        return importlib.import_module(name)


beacon, relay, quota = example("beacon"), example("relay"), example("quota")


Bay, DIVER = beacon.Bay, 1


class PaysAfterTheEnd(beacon.Beacon):
    def step(self, state, actions, out):
        over = out.truncated.copy()
        super().step(state, actions, out)
        out.rewards[over] = 1


class MovesAfterTheEnd(relay.Relay):
    def step(self, state, actions, out):
        over = out.truncated.copy()
        super().step(state, actions, out)
        state.couriers[over, 0, relay.Courier.CELL] = actions[over, 0] % 3


class DropsAPart(beacon.Beacon):
    def scene_parts(self):
        return {key: part for key, part in super().scene_parts().items() if key != "lamp"}


class ReadsAnotherPart(relay.Relay):
    def scene_parts(self):
        parts = super().scene_parts()
        return parts | {"served": codec.column("room", relay.Room.SERVED, codec.COUNT)._replace(write=codec._leave)}


class ShowsTheWreck(beacon.Beacon):
    def seat_scene(self, scene, seat):
        return super().seat_scene(scene, seat) | {"wreck": scene["wreck"]}


class DescribesTheWreck(beacon.Beacon):
    def describe(self, state, i, seat):
        return f"{super().describe(state, i, seat)}\nThe wreck is at {state.bay[i, Bay.WRECK]}."


class RefusesByTheWreck(beacon.Beacon):
    def why_refused(self, state, i, seat, action):
        empty = seat == DIVER and action == beacon.Action.ACT and state.bay[i, Bay.DIVER] != state.bay[i, Bay.WRECK]
        return beacon.Reason.F_SHORE if empty else super().why_refused(state, i, seat, action)


@beacon.kernel
def mask_by_wreck(tables, state, out):
    """The diver dives at the wreck only. Mutates: out."""
    for b in range(state.bay.shape[0]):
        out.masks[b, 1, 3] = state.bay[b, Bay.DIVER] == state.bay[b, Bay.WRECK]


class MasksByTheWreck(beacon.Beacon):
    def observe_calls(self, state, out):
        return *super().observe_calls(state, out), (mask_by_wreck, (self.compiled.tables, state, out))


@beacon.kernel
def observe_wreck(env, out):
    """The diver sees the wreck. Mutates: out."""
    beacon.observe_env(env, out)
    out.observations[1, 3] = env.bay[Bay.WRECK]


class ObservesTheWreck(beacon.Beacon):
    batch_kernels = BatchKernels(
        beacon.step_env, beacon.reset_env, observe_wreck, is_over=beacon.is_over, why_refused=beacon.why_refused
    )


class DeclaresNoBelief(beacon.Beacon):
    def scene_parts(self):
        parts = super().scene_parts()
        return parts | {"wreck": parts["wreck"]._replace(belief=None)}


class LeavesOutWithoutBelief(beacon.Beacon):
    def scene_parts(self):
        parts = super().scene_parts()
        return parts | {"wreck": parts["wreck"]._replace(belief=None, known_to=None)}

    def seat_scene(self, scene, seat):
        return {key: value for key, value in super().seat_scene(scene, seat).items() if seat == 0 or key != "wreck"}


class BelievesTheTruth(beacon.Beacon):
    def scene_parts(self):
        parts = super().scene_parts()
        return parts | {"wreck": parts["wreck"]._replace(belief=lambda part, value, rng: value)}


class BelievesAgainstKnowledge(beacon.Beacon):
    def sample_belief(self, state, seat, rng):
        super().sample_belief(state, seat, rng)
        state.bay[:, Bay.DIVER] = rng.integers(0, beacon.CELLS, len(state.bay))


class BelievesNothing(beacon.Beacon):
    def sample_belief(self, state, seat, rng):
        pass


class EndsTwice(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.terminated[:] = out.truncated


class SaysDelivered(relay.Relay):
    """Whatever is put down is called delivered."""

    def step(self, state, actions, out):
        super().step(state, actions, out)
        codes = out.events[..., relay.EventField.CODE]
        codes[codes == relay.Event.PUT] = relay.Event.DELIVERED


class PaysInSilence(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.rewards[state.room[:, relay.Room.T] == 5] += 1


class DropsWhenRefused(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        refused = out.events[..., relay.EventField.REASON] == relay.Reason.F_HANDS_FULL
        state.couriers[..., relay.Courier.HELD][refused] = 0
        self.observe(state, out)


class LeavesOutTheRoom(relay.Relay):
    global_state = ("couriers",)


class KeepsTheShelf(relay.Relay):
    def reset(self, state, out, which, options=None, max_cycles=None):
        shelf = state.room[:, relay.Room.SHELF].copy()
        super().reset(state, out, which, options, max_cycles)
        if not options:
            state.room[which, relay.Room.SHELF] = shelf[which]


class NamesTwoAlike(relay.Relay):
    texts = ("wait", "left", "right", "take", "take", "put")


class SharesItsDraws(relay.Relay):
    """Orders of all environments come from the generator of the first one."""

    def step(self, state, actions, out):
        super().step(state, actions, out)
        state.rng[:] = state.rng[:1]


def plant(monkeypatch, game):
    """Register a game, as its author would."""
    module = types.ModuleType("planted")
    module.game = type("game", (game,), {"id": "Planted-v0", "__module__": "planted"})
    monkeypatch.setitem(sys.modules, "planted", module)
    record = registry.GameSpec("Planted-v0", "planted:game", "A broken game.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])


class KeepsTheLastObservation(relay.Relay):
    """After a whole episode, a reset forgets to observe."""

    kept: tuple[str, ...] = ("observations",)

    def reset(self, state, out, which, options=None, max_cycles=None):
        over = which & (out.terminated | out.truncated)
        before = {name: getattr(out, name).copy() for name in self.kept}
        super().reset(state, out, which, options, max_cycles)
        for name, array in before.items():
            getattr(out, name)[over] = array[over]


class KeepsTheLastMasks(KeepsTheLastObservation):
    kept = ("masks",)


class KeepsTheLastRewards(KeepsTheLastObservation):
    kept = ("rewards",)


class KeepsTheLastEnd(KeepsTheLastObservation):
    kept = ("truncated",)


class ForgetsToObserveSome(relay.Relay):
    """A reset of some environments of a batch leaves the observations of the last episode."""

    def reset(self, state, out, which, options=None, max_cycles=None):
        before = out.observations.copy()
        super().reset(state, out, which, options, max_cycles)
        if not which.all():
            out.observations[which] = before[which]


class StartsAsTheLastTime(relay.Relay):
    """A second episode of an environment is said to start as the first one did."""

    def alloc(self, batch_size):
        state, out = super().alloc(batch_size)
        self.__dict__.setdefault("starts", {})[id(out.observations)] = None
        return state, out

    def reset(self, state, out, which, options=None, max_cycles=None):
        super().reset(state, out, which, options, max_cycles)
        starts = self.__dict__.setdefault("starts", {})
        first = starts.get(id(out.observations))
        if first is None:
            starts[id(out.observations)] = out.observations.copy()
        else:
            out.observations[which] = first[which]


class ObservesTheOtherMasks(relay.Relay):
    def reset(self, state, out, which, options=None, max_cycles=None):
        super().reset(state, out, which, options, max_cycles)
        out.masks[which] = out.masks[which][:, ::-1]


class StartsLate(relay.Relay):
    """Episodes after a whole one are a step shorter."""

    def reset(self, state, out, which, options=None, max_cycles=None):
        over = which & (out.terminated | out.truncated)
        super().reset(state, out, which, options, max_cycles)
        if not options:
            state.room[over, relay.Room.T] = 1


class LagsBehind(relay.Relay):
    """Observations of steps are those of the step before."""

    def step(self, state, actions, out):
        before = out.observations.copy()
        super().step(state, actions, out)
        out.observations[:] = before


class IgnoresSeeds(relay.Relay):
    def reset(self, state, out, which, options=None, max_cycles=None):
        state.rng[which, :2] = 5
        super().reset(state, out, which, options, max_cycles)


class IgnoresSeedsInSteps(IgnoresSeeds):
    def step(self, state, actions, out):
        state.rng[:, :2] = 5
        super().step(state, actions, out)


class ClaimsToBeDeterministic(beacon.Beacon):
    deterministic = True


class DrawsByItself(relay.Relay):
    """Draws come from a generator of the process, here the same in all processes, so that chance cannot hide it."""

    draws = np.random.default_rng(0)

    def reset(self, state, out, which, options=None, max_cycles=None):
        if which.any():
            state.rng[which, 0] = self.draws.integers(2**31)
        super().reset(state, out, which, options, max_cycles)


class CountsEpisodes(relay.Relay):
    """The game itself, not the state, knows how many episodes there were."""

    count = [0]  # noqa: RUF012  (that it is shared is the fault)

    def reset(self, state, out, which, options=None, max_cycles=None):
        super().reset(state, out, which, options, max_cycles)
        self.count[0] += 1
        if not options:
            state.room[which, relay.Room.ORDER] = 1 + self.count[0] % 2
            self.observe(state, out)


class EndsTwiceAtALimit(relay.Relay):
    """With a limit of one's own, an episode is terminated and truncated."""

    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.terminated[state.room[:, relay.Room.LIMIT] != self.max_cycles] |= out.truncated[
            state.room[:, relay.Room.LIMIT] != self.max_cycles
        ]


class TerminatesAtLimits(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.terminated[:], out.truncated[:] = out.truncated | out.terminated, False


class EndsTwiceInBatches(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.terminated[1:] |= out.truncated[1:]


class EndsTwiceAtTheQuota(quota.Quota):
    """An episode that is decided in its last step has two ends."""

    def __init__(self, *values, **options):
        super().__init__(quota=1)

    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.truncated[:] |= state.room[:, relay.Room.T] >= state.room[:, relay.Room.LIMIT]


class GoesOnAfterTheLimit(relay.Relay):
    def reset(self, state, out, which, options=None, max_cycles=None):
        super().reset(state, out, which, options, None if max_cycles is None else max_cycles + 1)


class Paid(relay.Relay):
    def step(self, state, actions, out):
        before = state.room[:, relay.Room.T].copy()
        super().step(state, actions, out)
        self.change(state, out, before < state.room[:, relay.Room.T])

    def change(self, state, out, going):
        raise NotImplementedError


class PaysOneOnly(Paid):
    def change(self, state, out, going):
        out.rewards[:, 0] = 0


class PaysTheOther(Paid):
    """Who moves is paid, instead of those who share a delivery."""

    def change(self, state, out, going):
        delivered = out.rewards[:, 1] > 0
        out.rewards[delivered] = [2, 0]


class PaysTheOpposite(Paid):
    def change(self, state, out, going):
        out.rewards[:] *= -1


class PaysTwice(Paid):
    def change(self, state, out, going):
        out.rewards[:] *= 2


class PaysNothing(Paid):
    def change(self, state, out, going):
        out.rewards[:] = 0


class PaysLess(Paid):
    """What is served late counts less, without a word."""

    def change(self, state, out, going):
        out.rewards[:] *= 0.99 ** state.room[:, [relay.Room.T]]


class PaysForPuttingDown(Paid):
    def change(self, state, out, going):
        out.rewards[:] += (out.events[..., 0] == relay.Event.PUT) & going[:, None]


class PaysForTime(Paid):
    def change(self, state, out, going):
        out.rewards[going] -= 0.01


class AllowsEverything(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.masks[:] = 1


class RefusesInSilence(relay.Relay):
    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.events[..., relay.EventField.REASON] = 0


class CannotBeDrawn(relay.Relay):
    def render(self, state, i, mode, seat=None):
        if mode == "ansi" and state.room[i, relay.Room.T] > 0:
            raise KeyError("red")
        return super().render(state, i, mode, seat)


class HoldsALock(relay.Relay):
    """It cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.log = lambda text: None


class ParsesNoCapitals(relay.Relay):
    def parse(self, text, state=None, i=0, seat=0):
        return self.texts.index(text) if text in self.texts else 0


class Lantern(beacon.Beacon):
    """What the diver knows changes in play: the wreck drifts, and is seen from the cells beside it."""

    def scene_parts(self):
        parts = super().scene_parts()
        return parts | {"wreck": parts["wreck"]._replace(known_to=None, belief=None)}

    def seat_scene(self, scene, seat):
        seen = super().seat_scene(scene, seat)
        sees = seat == 0 or abs(scene["wreck"] - scene["diver"]) < 2
        return {key: value for key, value in seen.items() if sees or key != "wreck"}

    def sample_belief(self, state, seat, rng):
        for row in state.bay if seat == 1 else ():
            if abs(row[Bay.WRECK] - row[Bay.DIVER]) > 1:
                row[Bay.WRECK] = rng.choice([c for c in range(beacon.CELLS) if abs(c - row[Bay.DIVER]) > 1])

    def step(self, state, actions, out):
        drifts = state.bay[:, Bay.T] < state.bay[:, Bay.LIMIT]
        super().step(state, actions, out)
        state.bay[drifts, Bay.WRECK] += 1 + state.rng[drifts, 0] % 3
        state.bay[drifts, Bay.WRECK] %= beacon.CELLS
        self.observe(state, out)


@beacon.kernel
def observe_beside(env, out):
    """The diver sees a wreck beside it. Mutates: out."""
    beacon.observe_env(env, out)
    if abs(env.bay[Bay.WRECK] - env.bay[Bay.DIVER]) < 2:
        out.observations[1, 3] = 1 + env.bay[Bay.WRECK]


class LanternOfGlass(Lantern):
    batch_kernels = BatchKernels(
        beacon.step_env, beacon.reset_env, observe_beside, is_over=beacon.is_over, why_refused=beacon.why_refused
    )


class BelievesWhatDrifts(LanternOfGlass):
    """Nothing is declared, and its one belief is the truth."""

    def sample_belief(self, state, seat, rng):
        pass


class ShowsWhatDrifts(Lantern):
    batch_kernels = BatchKernels(
        beacon.step_env, beacon.reset_env, observe_wreck, is_over=beacon.is_over, why_refused=beacon.why_refused
    )

    def sample_belief(self, state, seat, rng):
        pass


class DescribesWhatDrifts(BelievesWhatDrifts):
    def describe(self, state, i, seat):
        return f"{super().describe(state, i, seat)}\nIt drifts at {state.bay[i, Bay.WRECK]}."


def find(monkeypatch, game, check, sentence):
    """Assert that a check of a game with a fault fails with a sentence, and no other one does."""
    plant(monkeypatch, game)
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0", checks=[check], episodes=1)
    assert [result.check for result in caught.value.report.having("failed")] == [check]
