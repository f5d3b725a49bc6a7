"""Question sets of Overcooked: matched pairs whose answers a joint search has proved."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import MAX_INGREDIENTS, Terrain
from collab_overcooked.games.overcooked.questions import text
from collab_overcooked.games.overcooked.questions.kitchen import ENV_ID, WAIT, Kitchen, load_kitchen
from collab_overcooked.games.overcooked.questions.search import First, Goal, Solution, TooLarge
from collab_overcooked.games.overcooked.text.text import NAMES
from collab_overcooked.questions.facts import Fact, fact_items, numbers_around
from collab_overcooked.questions.items import GENERATED, PAPER, Item, Scene
from collab_overcooked.questions.source import OTHER, asked_of_both, asked_seat

State = Mapping[str, Any]
MIN_STEPS = 3  # of a route that is asked for; shorter ones can be seen at once
FACING = {"o": "onion dispenser", "p": "dish dispenser", "c": "pot", "d": "serving", "g": "gate"}
ALONE = "Suppose that gates stay as they are now and that the cooks never stand in each other's way."


def facts(kitchen: Kitchen, state: State, seat: int, rng: np.random.Generator) -> list[Fact]:
    """Return all facts of a state that a seat can be asked about.

    Args:
        kitchen: Layout.
        state: Scene.
        seat: Seat that is asked.
        rng: Source of the wrong numbers.
    """
    seats = (seat, 1 - seat)
    steps = {name: [kitchen.steps_to_use(state, who, name) for who in seats] for name in kitchen.objects}
    facts = [*_missing(kitchen, state)]
    for name in kitchen.objects:
        if name[0] in FACING:
            facts += _routes(name, steps[name], seat, rng)
        if name[0] == "c":
            facts += _ready(kitchen, state, name, seat, rng)
    return facts


def _missing(kitchen: Kitchen, state: State) -> Iterator[Fact]:
    lying = {tuple(thing["position"]): thing for thing in state["objects"]}
    hands = [player["holding"] for player in state["players"]]
    at_hand = sum(thing is not None and thing["item"] == "onion" for thing in [*hands, *state["objects"]])
    for name in kitchen.objects:
        soup = lying.get(kitchen.place(name))
        if name[0] != "c" or not at_hand or (soup is not None and soup["tick"] >= 0):
            continue
        count = MAX_INGREDIENTS - at_hand - (0 if soup is None else len(soup["ingredients"]))
        question = (
            f"If all onions in hands and on counters go into pot {name}, how many more onions from dispensers does it "
            "need to begin to cook?"
        )
        choices = tuple(map(str, range(MAX_INGREDIENTS)))
        yield Fact(f"missing {name}", question, choices, max(0, count), "count")


def _ready(kitchen: Kitchen, state: State, name: str, seat: int, rng: np.random.Generator) -> Iterator[Fact]:
    soup = next((thing for thing in state["objects"] if tuple(thing["position"]) == kitchen.place(name)), None)
    if soup is None or soup["tick"] < 0:
        return
    cooked = soup["time"] - soup["tick"] + 1  # step in which it can be taken out first
    for who in (seat, 1 - seat):
        cook, verb = ("you", "do you") if who == seat else (NAMES[who], f"does {NAMES[who]}")
        held = state["players"][who]["holding"]
        if held is None:
            source = next(other for other in kitchen.objects if other[0] == "p")
            with_dish = f"first taking a dish from dish dispenser {source}"
            steps = kitchen.steps_to_use(state, who, source, name)
        elif held["item"] == "dish":
            with_dish = f"using the dish that {cook} already {'hold' if who == seat else 'holds'}"
            steps = kitchen.steps_to_use(state, who, name)
        else:
            continue
        if steps is None:
            continue
        question = (
            f"{ALONE} In which step, counted from 1 for the present one, {verb} take the soup out of pot {name} at the "
            f"earliest, {with_dish}?"
        )
        answer = max(cooked, steps)
        yield Fact(f"soup {who} {name}", question, *numbers_around(answer, 1, rng), "timing")


def _routes(name: str, steps: list[int | None], seat: int, rng: np.random.Generator) -> Iterator[Fact]:
    own_steps, other_steps = steps
    thing, other = f"{FACING[name[0]]} {name}", NAMES[1 - seat]
    for who, count in zip((seat, 1 - seat), steps, strict=True):
        if count is None or count < MIN_STEPS:
            continue
        verb = "do you" if who == seat else f"does {NAMES[who]}"
        question = f"{ALONE} How many steps {verb} need at least to face {thing} and use it, the use included?"
        yield Fact(f"steps {who} {name}", question, *numbers_around(count, 1, rng), "distance")
    if own_steps is not None and other_steps is not None:
        if max(own_steps, other_steps) >= MIN_STEPS:
            nearer = 0 if own_steps < other_steps else 1 if other_steps < own_steps else 2
            question = f"{ALONE} Who needs fewer steps to face {thing} and use it?"
            choices = ("you", other, "neither: both need equally many")
            yield Fact(f"nearer {name}", question, choices, nearer, "distance")
        return
    everybody = ("neither of you", "you alone", f"{other} alone", "both of you")
    question = f"{ALONE} Who can get to a cell from which {thing} can be used?"
    reached = (own_steps is not None) + 2 * (other_steps is not None)
    yield Fact(f"reach {name}", question, everybody, reached, "reach")


LIMIT = 60  # steps of a scene's episode, for policies that play on
HANDS = (None, "onion", "dish", "soup")
HAND_WEIGHTS = (0.45, 0.2, 0.2, 0.15)
POT_WEIGHTS = {"empty": 0.15, "one": 0.15, "two": 0.25, "cooking": 0.25, "ready": 0.2}
LYING = 0.4  # probability that something lies on a counter
ELSEWHERE = 0.3  # probability that a player stands beyond a gate
FACINGS = ("north", "south", "east", "west")
FIRST_TICK, LAST_TICK, FULL = 8, 19, 3


def draw_scene(
    kitchen: Kitchen, rng: np.random.Generator, hands: Mapping[int, str] | None = None, pot: str = ""
) -> dict[str, Any]:
    """Return a random state of a kitchen.

    Args:
        kitchen: Kitchen of the scene.
        rng: Source of randomness.
        hands: Seat -> held item; drawn for other seats.
        pot: One of ``POT_WEIGHTS`` for all pots; drawn if empty.
    """
    gates = [_gate(kitchen, place, rng) for place in _cells(kitchen, Terrain.GATE)]
    scene: dict[str, Any] = {"timestep": 0, "limit": LIMIT, "served": 0, "score": 0, "layout": kitchen.layout}
    objects = [soup for place in _cells(kitchen, Terrain.POT) if (soup := _pot(place, rng, pot)) is not None]
    if rng.random() < LYING:
        objects += _lying(kitchen, rng)
    objects.sort(key=lambda thing: thing["position"][::-1])
    players = _players(kitchen, rng)
    for seat, item in (hands or {}).items():
        players[seat]["holding"] = _thing(item)
    return scene | {"players": players, "objects": objects, "gates": gates}


def change(kitchen: Kitchen, scene: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return a scene that differs in one thing: a hand, a player's place, a pot, what lies on counters, or a gate."""
    other, changed = draw_scene(kitchen, rng), copy.deepcopy(scene)
    kinds = ["hand", "place", "pot", "counter", *(["gate", "gate"] if scene["gates"] else [])]
    kind, seat = kinds[rng.integers(len(kinds))], int(rng.integers(2))
    player, drawn = changed["players"][seat], other["players"][seat]
    if kind == "hand":
        player["holding"] = drawn["holding"]
    elif kind == "place" and drawn["position"] != changed["players"][1 - seat]["position"]:
        player["position"], player["facing"] = drawn["position"], drawn["facing"]
    elif kind == "gate":
        gate = int(rng.integers(len(scene["gates"])))
        changed["gates"][gate] = other["gates"][gate]
    elif kind in ("pot", "counter"):
        pots = [list(place) for place in _cells(kitchen, Terrain.POT)]
        places = [pots[rng.integers(len(pots))]] if kind == "pot" else None

        def is_kept(thing: dict[str, Any]) -> bool:
            return thing["position"] in places if places else thing["position"] not in pots

        changed["objects"] = [thing for thing in scene["objects"] if not is_kept(thing)]
        changed["objects"] += [thing for thing in other["objects"] if is_kept(thing)]
        changed["objects"].sort(key=lambda thing: thing["position"][::-1])
    return changed


def _cells(kitchen: Kitchen, terrain: int) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for y, x in np.argwhere(kitchen.terrain == terrain)]


def _thing(item: str | None) -> dict[str, Any] | None:
    if item is None:
        return None
    if item != "soup":
        return {"item": item}
    return {"item": "soup", "ingredients": ["onion"] * FULL, "tick": 20, "time": 20, "ready": True}


def _players(kitchen: Kitchen, rng: np.random.Generator) -> list[dict[str, Any]]:
    players: list[dict[str, Any]] = []
    for x, y in kitchen.compiled.tables.starts[0].tolist():
        cells = kitchen.floor(None if rng.random() < ELSEWHERE else int(kitchen.regions[y, x]))
        if not len(kitchen.compiled.tables.gates[0]):  # no player ever gets into the other region
            cells = kitchen.floor(int(kitchen.regions[y, x]))
        free = [cell for cell in cells if list(cell) not in [player["position"] for player in players]]
        players.append(
            {
                "position": list(free[rng.integers(len(free))]),
                "facing": FACINGS[rng.integers(4)],
                "holding": _thing(HANDS[rng.choice(len(HANDS), p=HAND_WEIGHTS)]),
            }
        )
    return players


def _pot(place: tuple[int, int], rng: np.random.Generator, stage: str) -> dict[str, Any] | None:
    stage = stage or list(POT_WEIGHTS)[rng.choice(len(POT_WEIGHTS), p=list(POT_WEIGHTS.values()))]
    count = {"empty": 0, "one": 1, "two": 2}.get(stage, FULL)
    if not count:
        return None
    tick = {"cooking": int(rng.integers(FIRST_TICK, LAST_TICK + 1)), "ready": 20}.get(stage, -1)
    soup = {"item": "soup", "ingredients": ["onion"] * count, "tick": tick, "time": 20, "ready": stage == "ready"}
    return {"position": list(place), **soup}


def _lying(kitchen: Kitchen, rng: np.random.Generator) -> list[dict[str, Any]]:
    names = [name for name in kitchen.objects if name[0] == "s"] or [n for n in kitchen.objects if n[0] == "k"]
    reached = [name for name in names if _is_reached(kitchen, kitchen.place(name))]
    if not reached:
        return []
    place, item = kitchen.place(reached[rng.integers(len(reached))]), HANDS[rng.choice((1, 2, 3), p=(0.4, 0.4, 0.2))]
    return [{"position": list(place), **(_thing(item) or {})}]


def _is_reached(kitchen: Kitchen, place: tuple[int, int]) -> bool:
    return any(abs(x - place[0]) + abs(y - place[1]) == 1 for x, y in kitchen.floor())


def _gate(kitchen: Kitchen, place: tuple[int, int], rng: np.random.Generator) -> dict[str, Any]:
    limit = int(kitchen.compiled.layouts[0].gate_limit)
    is_open = bool(rng.random() < 0.35)
    counter = int(rng.integers(0, limit)) if is_open else 0
    return {"position": list(place), "open": is_open, "counter": counter, "limit": limit}


LAYOUTS = {  # name -> seats that the cases of the generated part ask
    "cramped_room": (0, 1, 0),
    "forced_coordination": (0, 1),
    "gated_delivery_forced": (0, 1),
    "locked_forced": (0, 0),  # the other one needs no help
    "coordination_ring": (0,),
}
MARGIN = 2  # steps by which every wrong choice is worse, at least
MAX_STEPS = 10  # steps to the goal, at most
CHANGES = 12  # tried for each scene
START_SHARE = 0.3  # of scenes with soup in which the next pot counts nevertheless
OPEN = "open a gate"
FINISH = "finish"  # skill of putting things into pots, taking soup out and delivering it
METHOD = "exact joint search over the kernels"


class Judged(NamedTuple):
    """Scene with the best actions of a seat."""

    state: State  # The scene
    goal: Goal  # Goal of the team
    best: int  # Fewest steps to the goal
    choices: tuple[str, ...]  # Next actions of the seat
    values: tuple[int | None, ...]  # Fewest steps by choice, None if more than ``best + MARGIN - 1``

    @property
    def correct(self) -> tuple[int, ...]:
        """Numbers of the best choices."""
        return tuple(i for i, value in enumerate(self.values) if value == self.best)

    @property
    def answers(self) -> set[str]:
        """Texts of the best choices."""
        return {self.choices[i] for i in self.correct}


def judge(kitchen: Kitchen, state: State, goal: Goal, seat: int) -> Judged | None:
    """Return the best actions of a seat; None if the search is too large, or a choice is not clearly good or bad."""
    try:
        solution = kitchen.search.solve(state, goal, MARGIN, MAX_STEPS)
    except TooLarge:
        return None
    if solution is None or solution.best < MARGIN:
        return None
    times, choices = solution.of_seat(seat), kitchen.choices(state, seat)
    if First.MOVED in times:  # the partner can do it alone, so heading for any other choice costs nothing
        return None
    values = {choice: times.get(kitchen.first(choice)) for choice in choices}
    if values.get(WAIT) not in (None, solution.best):
        del values[WAIT]  # a step lost in the end: neither right nor clearly wrong
    judged = Judged(state, goal, solution.best, tuple(values), tuple(values.values()))
    clear = all(value in (None, solution.best) for value in values.values())
    few = 1 <= len(judged.correct) <= max(1, len(values) // 3)
    return judged if clear and few and len(values) > 2 and is_robust(kitchen, solution, judged, seat) else None


def is_robust(kitchen: Kitchen, solution: Solution, judged: Judged, seat: int) -> bool:
    """Return whether each best choice stays best for all best actions of the partner."""
    partner_times = solution.of_seat(1 - seat)
    for choice in judged.answers:
        for first, time in partner_times.items():
            pair = (kitchen.first(choice), first) if seat == 0 else (first, kitchen.first(choice))
            if first > First.MOVED and time == solution.best and solution.times.get(pair) != solution.best:
                return False
    return True


def draw_goal(state: State, rng: np.random.Generator) -> Goal:
    """Draw the goal of a team."""
    things = [*state["objects"], *(player["holding"] for player in state["players"])]
    soup = any(thing is not None and thing["item"] == "soup" and thing["tick"] >= 0 for thing in things)
    return Goal.DELIVER if soup and rng.random() >= START_SHARE else Goal.START


class Situation(NamedTuple):
    """A situation of the paper."""

    layout: str  # Layout of the scene
    seat: int  # Seat that is asked
    hands: Mapping[int, str]  # Seat -> held item
    pot: str  # Contents of the pots, see ``scenes.POT_WEIGHTS``; drawn if empty
    goal: Goal  # Goal of the team
    answer: str  # Common beginning of all best choices


SITUATIONS: Mapping[str, Situation] = {
    "fetch a missing ingredient": Situation("cramped_room", 0, {}, "two", Goal.START, "take onion"),
    "fetch a dish early": Situation("cramped_room", 1, {}, "cooking", Goal.DELIVER, "take dish"),
    "park what is not needed": Situation(
        "forced_coordination", 0, {0: "onion", 1: "dish"}, "ready", Goal.DELIVER, "put on"
    ),
    "start the next soup": Situation("cramped_room", 1, {0: "soup"}, "two", Goal.START, "take onion"),
    "pass a dish over a shared counter": Situation(
        "forced_coordination", 1, {1: "dish"}, "ready", Goal.DELIVER, "put on s"
    ),
}


class OvercookedQuestions:
    """Source of the questions, see ``questions.source.QuestionSource``."""

    patience = 30

    def cases(self, part: str, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield five situations of the paper, or matched pairs of scenes."""
        if part == PAPER:
            for number, (name, situation) in enumerate(SITUATIONS.items()):
                yield self._situation(name, situation, np.random.default_rng([seed, number]))
            return
        for layout, seats in LAYOUTS.items():
            for number, seat in enumerate(seats):
                rng = np.random.default_rng([seed, *layout.encode(), number])
                kitchen = load_kitchen(layout)
                gated = any(name[0] == "g" for name in kitchen.objects)
                yield self._contrast(kitchen, seat, rng) if gated else self._pair(kitchen, seat, rng)

    def rules(self, item: Item) -> str:
        """Return the text of the rules."""
        return text.rules(load_kitchen(item.scene.options["layout"]))

    def describe(self, item: Item) -> str:
        """Return the description of the state."""
        return text.describe(load_kitchen(item.scene.options["layout"]), item.scene.state, item.seat)

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Let language models choose directives, all others primitive actions."""
        return {**scene.options, "action_level": "medium"} if language else scene.options

    def chosen(self, item: Item, scenes: Sequence[State], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the chosen directive, or the one that matches the first use of the hands."""
        kitchen, seat = load_kitchen(item.scene.options["layout"]), asked_seat(item)
        text = actions[-1][seat]
        if text in kitchen.cells or text == WAIT:
            return item.choices.index(text) if text in item.choices else OTHER
        before, after = scenes[-2], scenes[-1]
        cell = kitchen.used(before, after, seat)
        if cell is None:
            still = all(_pose(scene, seat) == _pose(scenes[0], seat) for scene in scenes)
            waited = still and WAIT in item.choices and kitchen.used(before, after, 1 - seat) is not None
            return item.choices.index(WAIT) if waited else None
        matching = [i for i, choice in enumerate(item.choices) if choice != WAIT and kitchen.cells[choice] == cell]
        return matching[0] if matching else OTHER

    def _situation(self, name: str, like: Situation, rng: np.random.Generator) -> tuple[Item, ...]:
        kitchen, seat = load_kitchen(like.layout), like.seat
        while True:
            state = draw_scene(kitchen, rng, like.hands, like.pot)
            judged = judge(kitchen, state, like.goal, seat)
            if judged is not None and all(text.startswith(like.answer) for text in judged.answers):
                asked = fact_items([facts(kitchen, state, seat, rng)], [_scene(kitchen, state)], seat, PAPER, rng)
                items = *_action_items(kitchen, judged, seat, PAPER), *asked
                return tuple(replace(item, skills=(name, *item.skills)) for item in items)

    def _pair(self, kitchen: Kitchen, seat: int, rng: np.random.Generator) -> tuple[Item, ...]:
        while True:
            state = draw_scene(kitchen, rng)
            goal = draw_goal(state, rng)
            judged = judge(kitchen, state, goal, seat)
            for _ in range(CHANGES if judged is not None else 0):
                changed = change(kitchen, state, rng)
                other = judge(kitchen, changed, goal, seat) if changed != state else None
                if judged is None or other is None or judged.answers & other.answers:
                    continue
                if {_skill(text) for text in judged.answers | other.answers} != {FINISH}:  # most of all are
                    return self._items(kitchen, (judged, other), seat, rng)

    def _contrast(self, kitchen: Kitchen, seat: int, rng: np.random.Generator) -> tuple[Item, ...]:
        scenes: dict[bool, Judged] = {}
        while len(scenes) < len((True, False)):
            state = draw_scene(kitchen, rng, {1 - seat: "soup"} if True not in scenes else None)
            judged = judge(kitchen, state, draw_goal(state, rng), seat)
            if judged is not None:
                scenes.setdefault({_skill(text) for text in judged.answers} == {OPEN}, judged)
        items = self._items(kitchen, (scenes[True], scenes[False]), seat, rng)
        return tuple(replace(item, pair="") for item in items)

    def _items(
        self, kitchen: Kitchen, pair: tuple[Judged, Judged], seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        known = [facts(kitchen, judged.state, seat, rng) for judged in pair]
        items = [item for judged in pair for item in _action_items(kitchen, judged, seat, GENERATED)]
        scenes = [_scene(kitchen, judged.state) for judged in pair]
        return (*items, *fact_items(known, scenes, seat, GENERATED, rng))


def _pose(state: State, seat: int) -> tuple[Any, Any]:
    player = state["players"][seat]
    return player["position"], player["facing"]


def _scene(kitchen: Kitchen, state: State) -> Scene:
    return Scene("", ENV_ID, {"layout": kitchen.layout}, state)


def _action_items(kitchen: Kitchen, judged: Judged, seat: int, part: str) -> tuple[Item, Item]:
    evidence = {"method": METHOD, "goal": judged.goal.name.lower(), "best": judged.best, "values": list(judged.values)}
    return asked_of_both(
        seat,
        *text.questions(judged.goal, judged.choices, seat),
        scene=_scene(kitchen, judged.state),
        part=part,
        partner=text.PARTNER,
        skills=tuple(sorted({_skill(text) for text in judged.answers})),
        choices=judged.choices,
        correct=judged.correct,
        margin=MARGIN,
        unit="steps",
        evidence=evidence | {"worse": judged.best + MARGIN},
    )


def _skill(text: str) -> str:
    if text == WAIT:
        return "wait"
    if text.startswith("open"):
        return OPEN
    if text.startswith("put on s"):
        return "hand over"
    if text.startswith("put on"):
        return "put down"
    if text.startswith(("put in", "load", "deliver")):
        return FINISH
    if text.startswith("take from"):
        return "pick up"
    return "fetch"


SOURCE = OvercookedQuestions()
