"""Question sets of the room games; all answers follow from the exact values of all joint actions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked import registry
from collab_overcooked.games.rooms.engine.solver import Solution, solve
from collab_overcooked.games.rooms.engine.state import State
from collab_overcooked.games.rooms.questions.facts import facts
from collab_overcooked.questions.facts import fact_items
from collab_overcooked.questions.items import GENERATED, PAPER, Item, Scene
from collab_overcooked.questions.source import OTHER, asked_of_both, asked_seat

CAPTURE, ESCAPE = "CollabCapture-v0", "CollabEscape-v0"
SceneState = Mapping[str, Any]
Options = Mapping[str, Any]
LESS_LIKELY = 0.02  # minimum loss of success probability of a wrong choice
LATER = 0.5  # minimum loss of expected turns of a wrong choice
CASES = 24  # cases of the generated part
CHANGES = 40  # changes tried per scene
DRAWS = 4_000  # scenes tried per situation
METHOD = "exact values of all joint actions"
GOALS = {
    CAPTURE: "catch the thief in as few turns as possible",
    ESCAPE: "make an escape as likely as possible and then, if several ways are equally safe, escape in as few turns "
    "as possible on average; the limit of turns does not count",
}
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
        """Return a state as the scene of a first turn, without the random state."""
        scene = self.game.scene(state, i) | {"turn": 0}
        return {key: value for key, value in scene.items() if key != "chance"}

    def load(self, scene: SceneState) -> State:
        """Return a scene as a batch of one."""
        state, out = self.game.alloc(1)
        self.game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        return state

    def legal(self, scene: SceneState, seat: int) -> tuple[int, ...]:
        """Return the actions of a seat in the order of its menu."""
        return tuple(self.game.menu(self.load(scene), 0, seat))


@lru_cache(maxsize=8)
def _rooms(env_id: str, options: tuple[tuple[str, Any], ...]) -> Rooms:
    game = registry.load_game(env_id, **dict(options))
    return Rooms(game, dict(options), solve(game.compiled, everywhere=True))


def rooms(env_id: str, options: Options) -> Rooms:
    """Return a variant of a game, solved once and cached."""
    return _rooms(env_id, tuple(sorted(options.items())))


class Judged(NamedTuple):
    """A scene with the best actions of a seat."""

    scene: SceneState  # The scene
    actions: tuple[int, ...]  # Valid actions of the seat, in the order of its menu
    # Probability of success and expected turns of each action with the partner's best response
    values: tuple[tuple[float, float], ...]
    correct: tuple[int, ...]  # Indices of the best actions
    margin: float  # Minimum loss of all other actions
    unit: str  # ``"turns"`` or ``"probability"``


def judge(variant: Rooms, scene: SceneState, seat: int, fewest: int = 3) -> Judged | None:
    """Return the best actions of a seat.

    Args:
        variant: Variant of the game.
        scene: The scene.
        seat: Seat that is asked.
        fewest: Minimum number of valid actions.

    Returns:
        None if the scene cannot be reached or is nearly decided, if choices are not clearly good or bad, or if a best
        action is not best with every best action of the partner.
    """
    try:
        joint = variant.solution.joint_values(variant.load(scene))
    except (KeyError, ValueError):
        return None
    mine, others = joint.actions[:, seat], joint.actions[:, 1 - seat]
    success, turns = joint.success.max(), joint.turns[joint.best].min() if joint.best.any() else np.inf
    if not success or turns < 2:
        return None
    actions = variant.legal(scene, seat)
    values = []
    for action in actions:
        chosen = mine == action
        likely = joint.success[chosen].max()
        values.append((float(likely), float(joint.turns[chosen & (joint.success > likely - 1e-9)].min())))
    correct = tuple(i for i, action in enumerate(actions) if joint.best[mine == action].any())
    if not 1 <= len(correct) <= max(1, len(actions) // 3) or len(actions) < fewest:
        return None
    partner_best = set(others[joint.best].tolist())
    for i in correct:
        of_mine = mine == actions[i]
        if any(not joint.best[of_mine & (others == other)].all() for other in partner_best):
            return None
    margin = _margin([value for i, value in enumerate(values) if i not in correct], (float(success), float(turns)))
    return None if margin is None else Judged(scene, actions, tuple(values), correct, *margin)


def _margin(worse: Sequence[tuple[float, float]], best: tuple[float, float]) -> tuple[float, str] | None:
    likely = [best[0] - success for success, _ in worse]
    if min(likely) >= LESS_LIKELY:
        return round(min(likely), 4), "probability"
    later = [turns - best[1] if lost < 1e-9 else np.inf for lost, (_, turns) in zip(likely, worse, strict=True)]
    certain = best[0] > 1 - 1e-9  # otherwise turns until an escape and turns until a loss would be mixed
    if certain and all(lost < 1e-9 or lost >= LESS_LIKELY for lost in likely) and min(later) >= LATER:
        return round(min(later), 4), "turns"
    return None


def draw_scene(variant: Rooms, rng: np.random.Generator) -> dict[str, Any]:
    """Return a random solved state."""
    return variant.scene(int(rng.integers(len(variant.solution.keys))))


def change(variant: Rooms, scene: SceneState, rng: np.random.Generator) -> dict[str, Any]:
    """Return a scene with one change: a position, a door, or the progress of a repair."""
    changed: dict[str, Any] = copy.deepcopy(dict(scene))
    kinds = ["adversary", "player", *(["door"] * 2 if scene["doors"] else [])]
    kinds += ["repair"] if scene["generators"] else []
    kind = kinds[rng.integers(len(kinds))]
    room = variant.game.level.rooms[rng.integers(variant.game.compiled.n_rooms)]
    if kind == "adversary":
        changed["adversary"]["room"] = room
    elif kind == "player":
        seat = int(rng.integers(2))
        changed["players"][seat] |= {"room": room, "before": room}
    elif kind == "door":
        name = list(scene["doors"])[rng.integers(len(scene["doors"]))]
        changed["doors"][name] = not scene["doors"][name]
    else:
        generator = changed["generators"][rng.integers(len(scene["generators"]))]
        generator["progress"] = int(rng.integers(generator["needed"] + 1))
        generator["fixer"] = None
    changed["adversary"].pop("target")  # the killer decides again
    for player in changed["players"]:
        player["seen"] = False
    try:
        return variant.first(variant.load(changed))
    except ValueError:  # a player is in the room of the adversary
        return dict(scene)


def _goes(variant: Rooms, judged: Judged) -> set[str]:
    last = variant.game.n_actions - 1
    actions = [judged.actions[i] for i in judged.correct]
    return {"stay" if action == 0 else "use" if action == last else "move" for action in actions}


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
            and _goes(variant, it) == {"move"}
        ),
    ),
    "draw the killer onto oneself": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] != seat
            and _repairs(it.scene, 1 - seat) is not None
            and _goes(variant, it) == {"move"}
        ),
    ),
    "finish the last repair although it means capture": (
        BOTH_LOST,
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] == seat and _finishes(it.scene, seat) and _goes(variant, it) == {"use"}
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
            and _goes(variant, it) == {"move"}
        ),
    ),
    "finish a repair": (
        {},
        lambda variant, it, seat: (
            it.scene["adversary"]["target"] != seat
            and _repairs(it.scene, seat) is not None
            and _goes(variant, it) == {"use"}
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


class RoomQuestions:
    """Question source of one game; see ``questions.source.QuestionSource``.

    Args:
        env_id: Registered id.
        variants: Options of the generated cases, used in turn.
    """

    patience = 1

    def __init__(self, env_id: str, variants: Sequence[Options]) -> None:
        self.env_id, self.variants = env_id, variants

    def cases(self, part: str, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield the paper's situations, or matched pairs of scenes."""
        if part == GENERATED:
            for number in range(CASES):
                variant = rooms(self.env_id, self.variants[number % len(self.variants)])
                seat = (number // len(self.variants) + number) % 2
                yield self._pair(variant, seat, np.random.default_rng([seed, number]))
        elif self.env_id == CAPTURE:
            for number, (name, alice, bob, thief, first, second, kind) in enumerate(PLAYERS_AND_DOORS):
                rng = np.random.default_rng([seed, number])
                yield self._capture(name, (alice, bob, thief), (first, second), kind, rng)
        else:
            for number, (name, (options, fits)) in enumerate(ESCAPES.items()):
                rng = np.random.default_rng([seed, number])
                yield self._situation(rooms(self.env_id, options), name, fits, number % 2, rng)

    def rules(self, item: Item) -> str:
        return str(registry.load_game(self.env_id, **item.scene.options).manual())

    def describe(self, item: Item) -> str:
        """Return the state as text, without the menu, as choices have another order."""
        game = registry.load_game(self.env_id, **item.scene.options)
        return str(game.surroundings(item.scene.state, item.seat))

    def play_options(self, scene: Scene, language: bool) -> Options:
        """Return the scene's options: all agents choose among the same actions."""
        return scene.options

    def chosen(self, item: Item, scenes: Sequence[SceneState], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the action of the first turn."""
        action = actions[0][asked_seat(item)]
        return item.choices.index(action) if action in item.choices else OTHER

    def _pair(self, variant: Rooms, seat: int, rng: np.random.Generator) -> tuple[Item, ...]:
        while True:
            scene = draw_scene(variant, rng)
            judged = judge(variant, scene, seat)
            for _ in range(CHANGES if judged is not None else 0):
                changed = change(variant, scene, rng)
                other = judge(variant, changed, seat) if changed != scene else None
                if judged is not None and other is not None and not _answers(judged) & _answers(other):
                    return self._items(variant, (judged, other), seat, rng)

    def _items(
        self, variant: Rooms, pair: tuple[Judged, Judged], seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        known = [facts(variant.game, variant.load(judged.scene), judged.scene, seat, rng) for judged in pair]
        items = [item for judged in pair for item in self._action_items(variant, judged, seat, GENERATED, ())]
        scenes = [self._scene(variant, judged.scene) for judged in pair]
        return (*items, *fact_items(known, scenes, seat, GENERATED, rng))

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
        judged = judge(variant, scene, 0, fewest=2)
        if judged is not None and _goes(variant, judged) == {kind}:
            return self._of_situation(variant, judged, name, 0, rng)

        def fits(variant: Rooms, it: Judged, seat: int) -> bool:
            return _goes(variant, it) == {kind} and it.scene["doors"] == scene["doors"]

        return self._situation(variant, name, fits, 0, rng)

    def _situation(
        self, variant: Rooms, name: str, fits: Fits, seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        for _ in range(DRAWS):
            scene = draw_scene(variant, rng)
            for who in (seat, 1 - seat):
                judged = judge(variant, scene, who, fewest=2)
                if judged is not None and fits(variant, judged, who):
                    return self._of_situation(variant, judged, name, who, rng)
        raise ValueError(f"questions: no scene of {self.env_id} fits the situation {name!r}")

    def _of_situation(
        self, variant: Rooms, judged: Judged, name: str, seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        known, scene = facts(variant.game, variant.load(judged.scene), judged.scene, seat, rng), judged.scene
        asked = fact_items([known], [self._scene(variant, scene)], seat, PAPER, rng, (name,))
        return (*self._action_items(variant, judged, seat, PAPER, (name,)), *asked)

    def _action_items(
        self, variant: Rooms, judged: Judged, seat: int, part: str, skills: tuple[str, ...]
    ) -> tuple[Item, Item]:
        texts, names = variant.game.action_texts(), variant.game.display_names
        aim = f"You both want to {GOALS[self.env_id]}."
        evidence = {
            "method": METHOD,
            "states": len(variant.solution.keys),
            "values": [f"success {success:.4g}, {_turns(turns)} turns" for success, turns in judged.values],
        }
        return asked_of_both(
            seat,
            f"{aim} {names[1 - seat]} {PARTNERS}. What should you do in this turn?",
            f"{aim} {names[seat]} {PARTNERS}. What will {names[seat]} do in this turn?",
            scene=self._scene(variant, judged.scene),
            part=part,
            partner=PARTNERS,
            skills=(*skills, *sorted(_goes(variant, judged))),
            choices=tuple(texts[action] for action in judged.actions),
            correct=judged.correct,
            margin=judged.margin,
            unit=judged.unit,
            evidence=evidence,
        )


def _answers(judged: Judged) -> set[int]:
    return {judged.actions[i] for i in judged.correct}


def _turns(turns: float) -> str:
    return "no" if turns == np.inf else f"{turns:.4g}"


CAPTURE_QUESTIONS = RoomQuestions(
    CAPTURE, ({"catch_on_exchange": "always"}, {"catch_on_exchange": "always", "adversary": "distance"})
)
ESCAPE_QUESTIONS = RoomQuestions(ESCAPE, ({}, BOTH_LOST, {"map": "ten_rooms_as_told"}, NAMED))
