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
from collab_overcooked.kernels.course import Course
from collab_overcooked.testing import ConformanceError, check_game


def example(name):
    """Import an example game, which no other test finds in the registry or on the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "docs" / "examples"))
        patch.setattr(registry, "GAMES", [*registry.GAMES])
        return importlib.import_module(name)


beacon, relay = example("beacon"), example("relay")
Bay, DIVER = beacon.Bay, 1
SEARCHED = ("ends", "end_is_final", "texts", "batch", "resets", "global_state", "events", "scenes", "knowledge")


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
    course = Course(beacon.is_over, beacon.step_env, beacon.reset_env, observe_wreck, why_refused=beacon.why_refused)


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
    module = types.ModuleType("planted")
    module.game = type(game.__name__, (game,), {"id": "Planted-v0"})
    monkeypatch.setitem(sys.modules, "planted", module)
    record = registry.GameRecord("Planted-v0", "planted:game", "A broken game.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0", checks=SEARCHED)
    assert check in [result.check for result in caught.value.report.having("failed")]


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
        (array_arithmetic, r"a kernel does not compile: .*; arithmetic on whole arrays allocates"),
    ],
)
def test_a_kernel_that_does_not_compile_is_the_only_failure(monkeypatch, kernel, sentence):
    module = types.ModuleType("planted")
    course = Course(relay.is_over, relay.step_env, relay.reset_env, kernel, why_refused=relay.why_refused)
    module.game = type("Broken", (relay.Relay,), {"id": "Planted-v0", "course": course})
    monkeypatch.setitem(sys.modules, "planted", module)
    record = registry.GameRecord("Planted-v0", "planted:game", "A broken game.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0")
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
        assert listed.form(drawn := listed.draw(rng)) == drawn
