"""Question sets of Overcooked: matched pairs whose answers a joint search has proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.questions import text
from collab_overcooked.games.overcooked.questions.facts import facts
from collab_overcooked.games.overcooked.questions.kitchen import ENV_ID, WAIT, Kitchen, load_kitchen
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
                fact, _ = draw_fact(facts(kitchen, state, seat, rng), rng)
                items = [*_action_items(kitchen, judged, seat, PAPER), fact.item(_scene(kitchen, state), seat, PAPER)]
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
        facts_of_first, facts_of_second = (facts(kitchen, judged.state, seat, rng) for judged in pair)
        drawn = draw_fact(facts_of_first, rng, facts_of_second)
        items = [item for judged in pair for item in _action_items(kitchen, judged, seat, GENERATED)]
        items += [
            fact.item(_scene(kitchen, judged.state), seat, GENERATED)
            for fact, judged in zip(drawn, pair, strict=True)
            if fact is not None
        ]
        return tuple(items)


def _pose(state: State, seat: int) -> tuple[Any, Any]:
    player = state["players"][seat]
    return player["position"], player["facing"]


def _scene(kitchen: Kitchen, state: State) -> Scene:
    return Scene("", ENV_ID, {"layout": kitchen.layout}, state)


def _action_items(kitchen: Kitchen, judged: Judged, seat: int, part: str) -> Iterator[Item]:
    evidence = {"method": METHOD, "goal": judged.goal.name.lower(), "best": judged.best, "values": list(judged.values)}
    common: dict[str, Any] = {
        "id": "",
        "scene": _scene(kitchen, judged.state),
        "part": part,
        "partner": text.PARTNER,
        "skills": tuple(sorted({_skill(text) for text in judged.answers})),
        "choices": judged.choices,
        "correct": judged.correct,
        "margin": MARGIN,
        "unit": "steps",
        "evidence": evidence | {"worse": judged.best + MARGIN},
    }
    question = text.seat_question(judged.goal, judged.choices, seat)
    yield Item(**common, seat=seat, kind=OWN, question=question, pair=OWN)
    question = text.partner_question(judged.goal, judged.choices, 1 - seat)
    yield Item(**common, seat=1 - seat, kind=PARTNER, question=question, pair=PARTNER)


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
