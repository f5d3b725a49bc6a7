"""Faults planted in the example games: ``check_game`` finds each, and says where it lies."""

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
from collab_overcooked.testing import CHECKS, ConformanceError, check_game


def example(name):
    """Import an example game, which no other test finds in the registry or on the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "docs" / "examples"))
        patch.setattr(registry, "GAMES", [*registry.GAMES])
        return importlib.import_module(name)


beacon, relay, quota = example("beacon"), example("relay"), example("quota")
Bay, DIVER = beacon.Bay, 1
ALL = [check for check in CHECKS if check != "signatures"]  # counted for all games of a process together


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
def observe_wreck(tables, env, out):
    """The diver sees the wreck. Mutates: out."""
    beacon.observe_env(tables, env, out)
    out.observations[1, 3] = env.bay[Bay.WRECK]


class ObservesTheWreck(beacon.Beacon):
    batch_kernels = BatchKernels(
        beacon.is_over, beacon.step_env, beacon.reset_env, observe_wreck, why_refused=beacon.why_refused
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


WRECK = r"of agent_1 depends on what it may not know \(wreck\)"


@pytest.mark.parametrize(
    ("game", "check", "sentence"),
    [
        (PaysAfterTheEnd, "end_is_final", r"a step after the end pays \[1.0, 1.0\]"),
        (MovesAfterTheEnd, "end_is_final", r"a step after the end changes the state, .*: .* couriers\[0, CELL\]"),
        (
            DropsAPart,
            "scenes",
            r"a scene does not restore its state at step .*: Planted-v0 has bay\[LAMP\] [12] before",
        ),
        (ReadsAnotherPart, "scenes", r"a scene is refused by its own game, Planted-v0, .*state.served"),
        (ShowsTheWreck, "knowledge", f"the scene {WRECK}, at step 0 .*'wreck'"),
        (DescribesTheWreck, "knowledge", f"the text {WRECK}"),
        (RefusesByTheWreck, "knowledge", f"the refusal {WRECK}.*'3 act'"),
        (MasksByTheWreck, "knowledge", f"the mask {WRECK}"),
        (ObservesTheWreck, "knowledge", f"the observation {WRECK}"),
        (DeclaresNoBelief, "knowledge", "agent_1 has no belief .*: the scene part wreck is hidden from seat 1"),
        (LeavesOutWithoutBelief, "knowledge", "agent_1 has no belief of wreck: declare known_to= and belief="),
        (BelievesTheTruth, "knowledge", f"the belief {WRECK}"),
        (BelievesNothing, "knowledge", f"the belief {WRECK}"),
        (EndsTwice, "ends", "agent_0, agent_1 is terminated and truncated at once"),
        (
            SaysDelivered,
            "events",
            r"events .*delivered.* pay \[[01].0, [01].0\] .* and \[[01].0, [01].0\] at .*: one of them",
        ),
        (PaysInSilence, "events", "one of them says something else than what happened"),
        (
            DropsWhenRefused,
            "events",
            r"agent_\d is refused .* and .*, but observations after them differ: one of them acts",
        ),
        (LeavesOutTheRoom, "global_state", r"state\(\) leaves out shelf, orders, served: add the array"),
        (KeepsTheShelf, "resets", r"a reset with seed 100\d after \d+ steps keeps something .*: .* room\[SHELF\]"),
        (NamesTwoAlike, "texts", "agent_0 has 2 actions with the text 'take'"),
        (SharesItsDraws, "batch", "in the single environment"),
        (BelievesAgainstKnowledge, "knowledge", r"beliefs of agent_\d contradict what it knows.*'diver'"),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    plant(monkeypatch, game)
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0", checks=[check], episodes=1)
    assert [result.check for result in caught.value.report.having("failed")] == [check]


# ------------------------------------------------------------------------------------------- starts


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


# ------------------------------------------------------------------------------------------- chance


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
    """Draws come from a generator of the process."""

    draws = np.random.default_rng()

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


# ------------------------------------------------------------------------------------------- ends


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


# ------------------------------------------------------------------------------------------- pay


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


# ------------------------------------------------------------------------------------------- words, masks, copies


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
def observe_beside(tables, env, out):
    """The diver sees a wreck beside it. Mutates: out."""
    beacon.observe_env(tables, env, out)
    if abs(env.bay[Bay.WRECK] - env.bay[Bay.DIVER]) < 2:
        out.observations[1, 3] = 1 + env.bay[Bay.WRECK]


class LanternOfGlass(Lantern):
    batch_kernels = BatchKernels(
        beacon.is_over, beacon.step_env, beacon.reset_env, observe_beside, why_refused=beacon.why_refused
    )


class BelievesWhatDrifts(LanternOfGlass):
    """Nothing is declared, and its one belief is the truth."""

    def sample_belief(self, state, seat, rng):
        pass


class ShowsWhatDrifts(Lantern):
    batch_kernels = BatchKernels(
        beacon.is_over, beacon.step_env, beacon.reset_env, observe_wreck, why_refused=beacon.why_refused
    )

    def sample_belief(self, state, seat, rng):
        pass


class DescribesWhatDrifts(BelievesWhatDrifts):
    def describe(self, state, i, seat):
        return f"{super().describe(state, i, seat)}\nIt drifts at {state.bay[i, Bay.WRECK]}."


FOUND = [
    (KeepsTheLastObservation, "resets", "leaves other observations than in a new environment"),
    (KeepsTheLastMasks, "resets", "leaves other masks than in a new environment"),
    (KeepsTheLastRewards, "resets", "leaves other rewards than in a new environment"),
    (KeepsTheLastEnd, "resets", "leaves other truncated than in a new environment"),
    (ForgetsToObserveSome, "resets", r"a reset of some environments at step \d+ returns other observations than its"),
    (StartsAsTheLastTime, "resets", "leaves other observations than in a new environment"),
    (ObservesTheOtherMasks, "resets", "returns other masks than its states have"),
    (StartsLate, "resets", r"keeps something of the episode before: .* room\[T\]"),
    (LagsBehind, "observe", "observe and step write different observations"),
    (IgnoresSeeds, "draws", "the same actions lead to the same in episodes of 9 seeds: a game without chance"),
    (IgnoresSeedsInSteps, "draws", "the same in episodes of 9 seeds"),
    (ClaimsToBeDeterministic, "draws", "declares itself deterministic, but seeds 0 and 1 differ"),
    (DrawsByItself, "determinism", "two resets with seed 0 differ|and the same actions diverge"),
    (CountsEpisodes, "determinism", "two resets with seed 0 differ|and the same actions diverge"),
    (EndsTwiceAtALimit, "ends", "with max_cycles=1, at step 1 .* terminated and truncated at once"),
    (TerminatesAtLimits, "ends", "is terminated, not truncated, although without the limit the episode goes on"),
    (EndsTwiceInBatches, "ends", r"in a batch .*: environments \[1, 2"),
    (EndsTwiceAtTheQuota, "ends", "terminated and truncated at once"),
    (GoesOnAfterTheLimit, "ends", "with max_cycles=1, step 1 of seed 0 does not end the episode"),
    (PaysOneOnly, "pay", "agent_0 is paid 0.0, not 1.0 as declared, for events .*delivered"),
    (PaysTheOther, "pay", "agent_0 is paid 2.0, not 1.0 as declared"),
    (PaysTheOpposite, "pay", "agent_0 is paid -1.0, not 1.0 as declared"),
    (PaysTwice, "pay", "agent_0 is paid 2.0, not 1.0 as declared"),
    (PaysNothing, "pay", "agent_0 is paid 0.0, not 1.0 as declared"),
    (PaysLess, "pay", "as declared, for events .*delivered"),
    (PaysForPuttingDown, "pay", "is paid 1.0, not 0.0 as declared, for events .*put"),
    (PaysForTime, "pay", "agent_0 is paid -0.0"),
    (AllowsEverything, "all_masks", "the mask of agent_0 allows action"),
    (RefusesInSilence, "masks", "forbids action"),
    (CannotBeDrawn, "render", "KeyError"),
    (HoldsALock, "pickle", "lambda"),
    (ParsesNoCapitals, "texts", "is parsed as another action"),
    (ShowsWhatDrifts, "knowledge", r"the observation of agent_1 .* \(what its scene leaves out\)"),
    (BelievesWhatDrifts, "knowledge", r"the belief of agent_1 .* \(what its scene leaves out\)"),
    (DescribesWhatDrifts, "knowledge", r"the text of agent_1 .* \(what its scene leaves out\)"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FOUND, ids=[game.__name__ for game, _, _ in FOUND])
def test_the_check_for_a_fault_finds_it(monkeypatch, game, check, sentence):
    plant(monkeypatch, game)
    with pytest.raises(ConformanceError, match=sentence):
        check_game("Planted-v0", checks=[check], episodes=1)


@pytest.mark.parametrize("game", [relay.Relay, beacon.Beacon, quota.Quota, LanternOfGlass])
def test_games_without_a_fault_pass(monkeypatch, game):
    plant(monkeypatch, game)
    assert check_game("Planted-v0", checks=ALL, episodes=1).ok


def helper(x):
    return x


@relay.kernel
def misspelt(tables, env, out):
    """Mutates: env."""
    env.room[relay.Room.SERVD] = 1


@relay.kernel
def replaced(tables, env, out):
    """Mutates: env."""
    env.room = 1


@relay.kernel
def undecorated(tables, env, out):
    """Mutates: env."""
    env.room[0] = helper(1)


@relay.kernel
def two_types(tables, env, out):
    """Mutates: env."""
    x = 1
    if env.room[0] > 3:
        x = (1, 2)
    env.room[0] = x


@relay.kernel
def array_arithmetic(tables, env, out):
    """Mutates: out."""
    out.rewards[:] += 1


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (
            misspelt,
            r"misspelt does not compile, test_planted_faults.py:\d+, `env.room\[relay.Room.SERVD\] = 1`: .*SERVD",
        ),
        (replaced, r"a kernel does not compile: .*\.room = .*; write arrays by index"),
        (undecorated, r"undecorated does not compile, .*'helper'.*; decorate functions that kernels call with @kernel"),
        (two_types, r"two_types does not compile, .*'x.*; give a variable one type"),
        (
            array_arithmetic,
            r"array_arithmetic does not compile, .*faults.py:\d+, `out.rewards\[:\] \+= 1`: .*; arithmetic on whole",
        ),
    ],
)
def test_a_kernel_that_does_not_compile_is_the_only_failure(monkeypatch, kernel, sentence):
    module = types.ModuleType("planted")
    batch_kernels = BatchKernels(relay.is_over, relay.step_env, relay.reset_env, kernel, why_refused=relay.why_refused)
    module.game = type("Broken", (relay.Relay,), {"id": "Planted-v0", "batch_kernels": batch_kernels})
    monkeypatch.setitem(sys.modules, "planted", module)
    record = registry.GameSpec("Planted-v0", "planted:game", "A broken game.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0", episodes=1)
    assert [result.check for result in caught.value.report.results] == ["kernels"]


class Cards(beacon.Beacon):
    """Each seat has a card of its own, declared within a list and within a mapping."""

    def scene_parts(self):
        hands = [
            codec.span("bay", index, 0, 3, known_to=lambda seat, k=k: seat == k, belief=codec.uniform)
            for k, index in enumerate((Bay.WRECK, Bay.DIVER))
        ]
        named = {f"agent_{k}": part for k, part in enumerate(hands)}
        return super().scene_parts() | {"hands": codec.listing(hands, "hands"), "named": codec.group(named)}


def test_parts_within_parts_are_hidden_and_believed():
    game = Cards()
    scene = {"hands": [1, 2], "named": {"agent_0": 1, "agent_1": 2}, "wreck": 1, "chance": {"seed": 1, "draws": 0}}
    visible = [game.seat_scene(scene, seat) for seat in range(2)]
    assert [part["hands"] for part in visible] == [[1, None], [None, 2]]
    assert [part["named"] for part in visible] == [{"agent_0": 1}, {"agent_1": 2}]
    assert [game.hidden_keys(seat) for seat in range(2)] == [("hands", "named"), ("wreck", "hands", "named")]
    state, _ = game.alloc(40)
    state.bay[:, [Bay.WRECK, Bay.DIVER]] = 1, 2
    game.sample_belief(state, 0, np.random.default_rng(0))
    assert set(state.bay[:, Bay.WRECK].tolist()) == {1} and set(state.bay[:, Bay.DIVER].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("part", [codec.rng_state()._replace(belief=codec.uniform)])
def test_what_no_form_draws_needs_a_belief_of_its_own(part):
    with pytest.raises(TypeError, match="needs a belief of its own"):
        codec.believed(part, {}, 0, np.random.default_rng(0), "chance")


def test_drawn_values_have_the_form_of_their_part():
    names, rng = ("onion", "dish"), np.random.default_rng(0)
    values = [
        codec.integers(2, 4), codec.BOOLEAN, codec.names_of(names, "item", names[1:]), codec.COUNT,
        codec.members_of(Bay, "column"), codec.optional(codec.integers(0, 1)), codec.counts(names, 3, "item"),
        codec.vector([codec.integers(0, 1), codec.BOOLEAN], "values"), codec.sequence(codec.BOOLEAN, 3, "values", 1),
    ]  # fmt: skip
    part = codec.group({str(k): codec.column("bay", k, value) for k, value in enumerate(values)})
    listed = codec.listing([part, part], "parts")
    for _ in range(30):
        assert listed.parser(drawn := listed.draw(rng)) == drawn
