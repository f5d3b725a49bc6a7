"""Items about the room games; all answers follow from the exact values of all joint actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.questions.facts import draw_fact
from benchmarks.questions.rooms.facts import facts, is_useful
from benchmarks.questions.rooms.renaming import renamed
from collab_overcooked.games.rooms.engine.solver import Solution, solve
from collab_overcooked.games.rooms.engine.state import State
from collab_overcooked.games.rooms.questions.source import Options, SceneState, game_of, seen_room
from collab_overcooked.questions.items import GENERATED, OWN, PAPER, PARTNER, Item, Scene

CAPTURE, ESCAPE = "CollabCapture-v0", "CollabEscape-v0"
LESS_LIKELY = 0.02  # minimum loss of success probability of a wrong choice
LATER = 0.5  # minimum loss of expected turns of a wrong choice
LAYOUTS = 8  # with other names of rooms, of each variant of the generated part
STATES = 320  # drawn of each of these layouts
DRAWS = 4_000  # scenes tried per situation
METHOD = "exact values of all joint actions"
GOALS = {
    CAPTURE: "catch the thief in as few turns as possible",
    ESCAPE: "make an escape as likely as possible and then, if several ways are equally safe, escape in as few turns "
    "as possible on average; the limit of turns does not count",
}
ASKS = "What should you do in this turn?"
PARTNERS = "plays as well as possible, and counts on the same of you"


class Rooms(NamedTuple):
    """A variant of a game with all its values."""

    game: Any
    options: Options
    solution: Solution

    def scene(self, number: int) -> dict[str, Any]:
        """Return a solved state as a scene."""
        return self.first(self.solution.states, number)

    def first(self, state: State, i: int = 0) -> dict[str, Any]:
        """Return a state as the scene of a first turn of an episode of normal length, without the random state."""
        scene = self.game.scene(state, i) | {"turn": 0, "limit": self.game.max_cycles}
        return {key: value for key, value in scene.items() if key != "chance"}

    def load(self, scene: SceneState) -> State:
        """Return a scene as a batch of one."""
        state, out = self.game.alloc(1)
        self.game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        return state

    def legal(self, scene: SceneState, seat: int) -> tuple[int, ...]:
        """Return the actions of a seat that can change something, or wait, in the order of its menu."""
        state = self.load(scene)
        return tuple(action for action in self.game.menu(state, 0, seat) if is_useful(self.game, state, seat, action))


@lru_cache(maxsize=8)
def _rooms(env_id: str, options: str) -> Rooms:
    values = json.loads(options)
    game = game_of(env_id, values)
    return Rooms(game, values, solve(game.compiled, everywhere=True))


def rooms(env_id: str, options: Options) -> Rooms:
    """Return a variant of a game, solved once and cached."""
    return _rooms(env_id, json.dumps(options))


class Judged(NamedTuple):
    """A scene with the best action of a seat."""

    scene: SceneState  # The scene
    best: int  # The best action
    # Probability of success and expected turns, with the partner's best response, of the best action and of all that
    # are worse by the margin
    values: Mapping[int, tuple[float, float]]
    partner_best: frozenset[int]  # The partner's best actions
    margin: float  # Minimum loss of the other actions
    unit: str  # ``"turns"`` or ``"probability"``


def judge(variant: Rooms, scene: SceneState, seat: int) -> Judged | None:
    """Return the best action of a seat.

    Returns:
        None if the scene cannot be reached or is nearly decided, if a player is out of the game, or if there is no
        single best action that is best with every best action of the partner.
    """
    if not all(player["active"] for player in scene["players"]):
        return None
    try:
        joint = variant.solution.joint_values(variant.load(scene))
    except (KeyError, ValueError):
        return None
    mine, others = joint.actions[:, seat], joint.actions[:, 1 - seat]
    success = joint.success.max()
    turns = joint.turns[joint.best].min() if joint.best.any() else np.inf
    best, partner_best = set(mine[joint.best].tolist()), frozenset(others[joint.best].tolist())
    if not success or turns < 2 or len(best) > 1:
        return None
    (action,) = best
    if not joint.best[(mine == action) & np.isin(others, list(partner_best))].all():
        return None
    values = {}
    for other in variant.legal(scene, seat):
        chosen = mine == other
        likely = joint.success[chosen].max()
        values[other] = float(likely), float(joint.turns[chosen & (joint.success > likely - 1e-9)].min())
    worse = _clearly_worse(values, action)
    if worse is None:
        return None
    kept = {other: value for other, value in values.items() if other == action or other in worse[0]}
    return Judged(scene, action, kept, partner_best, *worse[1:])


def _clearly_worse(values: Mapping[int, tuple[float, float]], best: int) -> tuple[list[int], float, str] | None:
    """Return the actions that are clearly worse in the same unit, the least of their losses, and the unit."""
    success, turns = values[best]
    certain = success > 1 - 1e-9  # otherwise turns until an escape and turns until a loss would be mixed
    lost = {action: success - likely for action, (likely, _) in values.items() if success - likely >= LESS_LIKELY}
    later = {
        action: value[1] - turns
        for action, value in values.items()
        if certain and value[0] > success - 1e-9 and value[1] - turns >= LATER
    }
    losses, unit = (later, "turns") if len(later) > len(lost) else (lost, "probability")
    return (list(losses), round(min(losses.values()), 4), unit) if losses else None


def _goes(variant: Rooms, judged: Judged) -> str:
    last = variant.game.n_actions - 1
    return {0: "stay", last: "use"}.get(judged.best, "move")


def _gate(scene: SceneState) -> bool:
    return bool(scene["gate"])


def _is_exit(variant: Rooms, room: str) -> bool:
    return variant.game.level.rooms.index(room) in variant.game.level.exits


def _repairs(scene: SceneState, seat: int) -> Mapping[str, Any] | None:
    room = scene["players"][seat]["room"]
    return next((g for g in scene["generators"] if g["room"] == room and g["progress"] < g["needed"]), None)


def _finishes(scene: SceneState, seat: int) -> bool:
    mine = _repairs(scene, seat)
    others = [g for g in scene["generators"] if g is not mine]
    return (
        mine is not None
        and mine["progress"] + 1 == mine["needed"]
        and not any(g["progress"] < g["needed"] for g in others)
    )


Fits = Callable[[Rooms, Judged, int], bool]
BOTH_LOST: Options = {"loss": "all"}
NAMED: Options = {"map": "themed_rooms"}
ESCAPES: Mapping[str, tuple[Options, Fits]] = {
    "the killer blocks the exit": (
        {},
        lambda variant, it, seat: _gate(it.scene) and _is_exit(variant, it.scene["adversary"]["room"]),
    ),
    "lead the killer away while the partner repairs": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] == seat
            and _repairs(it.scene, 1 - seat) is not None
            and _goes(variant, it) == "move"
        ),
    ),
    "draw the killer onto oneself": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] != seat
            and _repairs(it.scene, 1 - seat) is not None
            and _goes(variant, it) == "move"
        ),
    ),
    "finish the last repair although it means capture": (
        BOTH_LOST,
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] == seat and _finishes(it.scene, seat) and _goes(variant, it) == "use"
        ),
    ),
    "the killer at the gate of the named map": (
        NAMED,
        lambda variant, it, seat: _is_exit(variant, it.scene["adversary"]["room"]),
    ),
    "keep the chase away from the partner": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] == seat
            and _repairs(it.scene, 1 - seat) is None
            and _goes(variant, it) == "move"
        ),
    ),
    "finish a repair": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] != seat
            and _repairs(it.scene, seat) is not None
            and _goes(variant, it) == "use"
        ),
    ),
}
PLAYERS_AND_DOORS = (  # the paper's: name, rooms of Alice, Bob and thief, doors 1-2 and 3-4 open, best action
    ("circle to the far side", 6, 2, 3, True, True, "move"),
    ("go to the button that would free the partner", 6, 1, 2, False, False, "move"),
    ("go to the button that would cut the thief off", 7, 6, 5, True, True, "move"),
    ("press to free the partner", 9, 1, 2, False, False, "use"),
    ("press to cut the thief off", 8, 6, 5, True, True, "use"),
    ("stay until the partner opens the door", 1, 9, 2, False, False, "stay"),
)


class RoomsGenerator:
    """Generator of one game's items; see ``generate.Generator``.

    Args:
        env_id: Registered id.
        variants: Options of the generated cases, used in turn.
    """

    def __init__(self, env_id: str, variants: Sequence[Options]) -> None:
        self.env_id, self.variants = env_id, variants

    def paper(self, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield the items of the paper's situations."""
        if self.env_id == CAPTURE:
            for number, (name, alice, bob, thief, first, second, kind) in enumerate(PLAYERS_AND_DOORS):
                rng = np.random.default_rng([seed, number])
                yield self._capture(name, (alice, bob, thief), (first, second), kind, rng)
        else:
            for number, (name, (options, fits)) in enumerate(ESCAPES.items()):
                rng = np.random.default_rng([seed, number])
                yield self._situation(rooms(self.env_id, options), name, fits, number % 2, rng)

    def candidates(self, seed: int, states: int | None = None) -> Iterator[Item]:
        """Yield items about random states of all variants, each with several layouts that differ in names."""
        for number, options in enumerate(self.variants):
            level = game_of(self.env_id, options).level
            for layout in range(LAYOUTS):
                rng = np.random.default_rng([seed, number, layout])
                yield from self._of_variant(rooms(self.env_id, {**options, "map": renamed(level, rng)}), rng, states)

    def _of_variant(self, variant: Rooms, rng: np.random.Generator, states: int | None) -> Iterator[Item]:
        count = STATES if states is None else states
        for state in rng.permutation(len(variant.solution.keys))[:count].tolist():
            scene, seat = variant.scene(state), int(rng.integers(2))
            known = facts(variant.game, variant.load(scene), scene, seat)
            yield from (fact.item(self._scene(variant, scene), seat, GENERATED) for fact in known)
            for who in (0, 1):
                judged = judge(variant, scene, who)
                if judged is not None:
                    yield from self._action_items(variant, judged, who, GENERATED, ())

    def _scene(self, variant: Rooms, scene: SceneState) -> Scene:
        return Scene("", self.env_id, variant.options, scene)

    def _capture(
        self, name: str, places: Sequence[int], doors: Sequence[bool], kind: str, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        """Return the items of a scenario of the paper, or of a similar one if its answers are not clear."""
        variant = rooms(self.env_id, self.variants[0])
        scene = variant.scene(0)
        for player, room in zip(scene["players"], places, strict=False):
            player |= {"room": str(room), "before": str(room)}
        scene["adversary"]["room"] = str(places[2])
        scene["doors"] = dict(zip(scene["doors"], doors, strict=True))
        judged = judge(variant, scene, 0)
        if judged is not None and _goes(variant, judged) == kind:
            items = self._of_situation(variant, judged, name, 0, rng)
            if items:
                return items

        def fits(variant: Rooms, it: Judged, seat: int) -> bool:
            return _goes(variant, it) == kind and it.scene["doors"] == scene["doors"]

        return self._situation(variant, name, fits, 0, rng)

    def _situation(
        self, variant: Rooms, name: str, fits: Fits, seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        for number in rng.permutation(len(variant.solution.keys))[:DRAWS].tolist():
            scene = variant.scene(number)
            for who in (seat, 1 - seat):
                judged = judge(variant, scene, who)
                if judged is not None and fits(variant, judged, who):
                    items = self._of_situation(variant, judged, name, who, rng)
                    if items:
                        return items
        raise ValueError(f"questions: no scene of {self.env_id} fits the situation {name!r}")

    def _of_situation(
        self, variant: Rooms, judged: Judged, name: str, seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        """Return a seat's items of all kinds: its own best action, its partner's, a fact; none if one is unclear."""
        scene = judged.scene
        partner = judge(variant, scene, 1 - seat)
        own, *_ = self._action_items(variant, judged, seat, PAPER, (name,))
        about = [] if partner is None else self._action_items(variant, partner, 1 - seat, PAPER, (name,))[1:]
        fact = draw_fact(facts(variant.game, variant.load(scene), scene, seat), rng)
        asked = fact.item(self._scene(variant, scene), seat, PAPER, (name,))
        return (own, *about, asked) if about else ()

    def _action_items(
        self, variant: Rooms, judged: Judged, seat: int, part: str, skills: tuple[str, ...]
    ) -> list[Item]:
        """Return the item about a seat's best action, and the partner's item about a different action of the seat."""
        texts, scene = variant.game.action_texts(), judged.scene
        evidence = {"method": METHOD, "states": len(variant.solution.keys)}
        me, other = (variant.game.display_names[who] for who in (seat, 1 - seat))
        seen: dict[str, tuple[float, float]] = {}
        for action, value in judged.values.items():
            room = seen_room(variant.game, scene, seat, action)
            seen[room] = max(value, seen.get(room, value), key=lambda value: (value[0], -value[1]))
        for action in set(variant.legal(scene, seat)) - set(judged.values):
            seen.pop(seen_room(variant.game, scene, seat, action), None)
        target = seen_room(variant.game, scene, seat, judged.best)
        differs = all(seen_room(variant.game, scene, 1 - seat, action) != target for action in judged.partner_best)

        def item(kind: str, question: str, values: Mapping[str, tuple[float, float]], answer: str) -> Item:
            return Item(
                id="",
                scene=self._scene(variant, scene),
                seat=seat if kind == OWN else 1 - seat,
                kind=kind,
                part=part,
                partner=PARTNERS,
                skills=(*skills, _goes(variant, judged)),
                question=f"You both want to {GOALS[self.env_id]}. {question}",
                choices=tuple(values),
                correct=(list(values).index(answer),),
                margin=judged.margin,
                unit=judged.unit,
                evidence=evidence | {"values": [_value_text(*value) for value in values.values()]},
            )

        actions = {texts[action]: value for action, value in judged.values.items()}
        items = [item(OWN, f"{other} {PARTNERS}. {ASKS}", actions, texts[judged.best])]
        if differs and target in seen and len(seen) > 1:
            asks = f"{me} {PARTNERS}. To which room will {me} move in this turn, or in which one will it stay?"
            items.append(item(PARTNER, asks, seen, target))
        return items


def _value_text(success: float, turns: float) -> str:
    return f"success {success:.4g}, {'no' if turns == np.inf else format(turns, '.4g')} turns"


CAPTURE_VARIANTS: tuple[Options, ...] = (
    {"catch_on_exchange": "always"},
    {"catch_on_exchange": "always", "adversary": "distance"},
    {"catch_on_exchange": "always", "map": "capture_five_turns"},
)
ESCAPE_VARIANTS: tuple[Options, ...] = ({}, BOTH_LOST, {"map": "ten_rooms_as_told"}, NAMED)
