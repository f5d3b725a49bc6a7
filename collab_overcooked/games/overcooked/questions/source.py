"""Question sets of Overcooked: matched pairs whose answers a joint search has proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.questions import words
from collab_overcooked.games.overcooked.questions.facts import facts
from collab_overcooked.games.overcooked.questions.kitchen import ENV_ID, WAIT, Kitchen, kitchen
from collab_overcooked.games.overcooked.questions.scenes import change, draw_scene
from collab_overcooked.games.overcooked.questions.search import First, Goal, Solution, TooLarge
from collab_overcooked.questions.facts import draw_fact
from collab_overcooked.questions.items import GENERATED, OWN, PAPER, PARTNER, Item, Scene
from collab_overcooked.questions.source import OTHER, asked_seat

State = Mapping[str, Any]
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
    """A scene with what a seat should do in it.

    Attributes:
        state: The scene.
        goal: What the team aims at.
        best: Fewest steps to it.
        choices: What the seat can do next.
        values: Fewest steps by choice, None where these are more than ``best + MARGIN - 1``.
    """

    state: State
    goal: Goal
    best: int
    choices: tuple[str, ...]
    values: tuple[int | None, ...]

    @property
    def correct(self) -> tuple[int, ...]:
        """Numbers of the best choices."""
        return tuple(i for i, value in enumerate(self.values) if value == self.best)

    @property
    def answers(self) -> set[str]:
        """The best choices in words."""
        return {self.choices[i] for i in self.correct}


def judge(own: Kitchen, state: State, goal: Goal, seat: int) -> Judged | None:
    """Return what a seat should do; None if the search is too large, or the choices are not clearly good or bad."""
    try:
        solution = own.search.solve(state, goal, MARGIN, MAX_STEPS)
    except TooLarge:
        return None
    if solution is None or solution.best < MARGIN:
        return None
    times, choices = solution.of_seat(seat), own.choices(state, seat)
    if First.MOVED in times:  # the partner can do it alone, so heading for any other choice costs nothing
        return None
    values = {choice: times.get(own.first(choice)) for choice in choices}
    if values.get(WAIT) not in (None, solution.best):
        del values[WAIT]  # a step lost in the end: neither right nor clearly wrong
    judged = Judged(state, goal, solution.best, tuple(values), tuple(values.values()))
    clear = all(value in (None, solution.best) for value in values.values())
    few = 1 <= len(judged.correct) <= max(1, len(values) // 3)
    return judged if clear and few and len(values) > 2 and is_robust(own, solution, judged, seat) else None


def is_robust(own: Kitchen, solution: Solution, judged: Judged, seat: int) -> bool:
    """Tell whether each best choice stays best, whichever of its best actions the partner takes."""
    theirs = solution.of_seat(1 - seat)
    for choice in judged.answers:
        for first, time in theirs.items():
            pair = (own.first(choice), first) if seat == 0 else (first, own.first(choice))
            if first > First.MOVED and time == solution.best and solution.times.get(pair) != solution.best:
                return False
    return True


def draw_goal(state: State, rng: np.random.Generator) -> Goal:
    """Draw what a team aims at."""
    things = [*state["objects"], *(player["holding"] for player in state["players"])]
    soup = any(thing is not None and thing["item"] == "soup" and thing["tick"] >= 0 for thing in things)
    return Goal.DELIVER if soup and rng.random() >= START_SHARE else Goal.START


# ------------------------------------------------------------------------------------------- the paper's situations


class Situation(NamedTuple):
    """A situation of the paper.

    Attributes:
        layout: Where it is looked for.
        seat: Who is asked.
        hands: What seats hold.
        pot: How full the pots are, see ``scenes.POT_WEIGHTS``; drawn if empty.
        goal: What the team aims at.
        answer: How every best choice begins.
    """

    layout: str
    seat: int
    hands: Mapping[int, str]
    pot: str
    goal: Goal
    answer: str


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


# ------------------------------------------------------------------------------------------- the source


class OvercookedQuestions:
    """Makes, words and plays the questions; see ``questions.source.QuestionSource``."""

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
                own = kitchen(layout)
                gated = any(name[0] == "g" for name in own.objects)
                yield self._contrast(own, seat, rng) if gated else self._pair(own, seat, rng)

    def rules(self, item: Item) -> str:
        """Return the rules in words."""
        return words.rules(kitchen(item.scene.options["layout"]))

    def describe(self, item: Item) -> str:
        """Return the moment in words."""
        return words.describe(kitchen(item.scene.options["layout"]), item.scene.state, item.seat)

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Let language models choose directives, all others primitive actions."""
        return {**scene.options, "action_level": "medium"} if language else scene.options

    def chosen(self, item: Item, scenes: Sequence[State], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the directive that was chosen, or that the first use of the hands amounts to."""
        own, seat = kitchen(item.scene.options["layout"]), asked_seat(item)
        text = actions[-1][seat]
        if text in own.cells or text == WAIT:
            return item.choices.index(text) if text in item.choices else OTHER
        before, after = scenes[-2], scenes[-1]
        cell = own.used(before, after, seat)
        if cell is None:
            still = all(_pose(scene, seat) == _pose(scenes[0], seat) for scene in scenes)
            waited = still and WAIT in item.choices and own.used(before, after, 1 - seat) is not None
            return item.choices.index(WAIT) if waited else None
        found = [i for i, choice in enumerate(item.choices) if choice != WAIT and own.cells[choice] == cell]
        return found[0] if found else OTHER

    def _situation(self, name: str, like: Situation, rng: np.random.Generator) -> tuple[Item, ...]:
        own, seat = kitchen(like.layout), like.seat
        while True:
            state = draw_scene(own, rng, like.hands, like.pot)
            judged = judge(own, state, like.goal, seat)
            if judged is not None and all(text.startswith(like.answer) for text in judged.answers):
                fact, _ = draw_fact(facts(own, state, seat, rng), rng)
                items = [*_action_items(own, judged, seat, PAPER), fact.item(_scene(own, state), seat, PAPER)]
                return tuple(replace(item, skills=(name, *item.skills)) for item in items)

    def _pair(self, own: Kitchen, seat: int, rng: np.random.Generator) -> tuple[Item, ...]:
        """Return the items of two scenes that differ in one change and in what a seat should do."""
        while True:
            state = draw_scene(own, rng)
            goal = draw_goal(state, rng)
            judged = judge(own, state, goal, seat)
            for _ in range(CHANGES if judged is not None else 0):
                changed = change(own, state, rng)
                other = judge(own, changed, goal, seat) if changed != state else None
                if judged is None or other is None or judged.answers & other.answers:
                    continue
                if {_skill(text) for text in judged.answers | other.answers} != {FINISH}:  # most of all are
                    return self._items(own, (judged, other), seat, rng)

    def _contrast(self, own: Kitchen, seat: int, rng: np.random.Generator) -> tuple[Item, ...]:
        """Return the items of two scenes: in one of them a seat should open a gate, in the other it should not.

        They are no matched pair: where the partner can do without the gate, it mostly can do without the seat.
        """
        found: dict[bool, Judged] = {}
        while len(found) < len((True, False)):
            state = draw_scene(own, rng, {1 - seat: "soup"} if True not in found else None)
            judged = judge(own, state, draw_goal(state, rng), seat)
            if judged is not None:
                found.setdefault({_skill(text) for text in judged.answers} == {OPEN}, judged)
        items = self._items(own, (found[True], found[False]), seat, rng)
        return tuple(replace(item, pair="") for item in items)

    def _items(
        self, own: Kitchen, pair: tuple[Judged, Judged], seat: int, rng: np.random.Generator
    ) -> tuple[Item, ...]:
        found, theirs = (facts(own, judged.state, seat, rng) for judged in pair)
        drawn = draw_fact(found, rng, theirs)
        items = [item for judged in pair for item in _action_items(own, judged, seat, GENERATED)]
        items += [
            fact.item(_scene(own, judged.state), seat, GENERATED)
            for fact, judged in zip(drawn, pair, strict=True)
            if fact is not None
        ]
        return tuple(items)


def _pose(state: State, seat: int) -> tuple[Any, Any]:
    player = state["players"][seat]
    return player["position"], player["facing"]


def _scene(own: Kitchen, state: State) -> Scene:
    return Scene("", ENV_ID, {"layout": own.layout}, state)


def _action_items(own: Kitchen, judged: Judged, seat: int, part: str) -> Iterator[Item]:
    """Yield the question to the seat itself, and that to its partner about it."""
    evidence = {"method": METHOD, "goal": judged.goal.name.lower(), "best": judged.best, "values": list(judged.values)}
    common: dict[str, Any] = {
        "id": "",
        "scene": _scene(own, judged.state),
        "part": part,
        "partner": words.PARTNER,
        "skills": tuple(sorted({_skill(text) for text in judged.answers})),
        "choices": judged.choices,
        "correct": judged.correct,
        "margin": MARGIN,
        "unit": "steps",
        "evidence": evidence | {"worse": judged.best + MARGIN},
    }
    own_words = words.own_question(judged.goal, judged.choices, seat)
    yield Item(**common, seat=seat, kind=OWN, question=own_words, pair=OWN)
    theirs = words.partner_question(judged.goal, judged.choices, 1 - seat)
    yield Item(**common, seat=1 - seat, kind=PARTNER, question=theirs, pair=PARTNER)


def _skill(text: str) -> str:
    """Return what a best choice takes."""
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
