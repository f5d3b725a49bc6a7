"""Items about Overcooked: random states whose answers a joint search has proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.questions.facts import Fact, draw_fact, numbers_around
from benchmarks.questions.overcooked.kitchen import SearchedKitchen, load_kitchen
from benchmarks.questions.overcooked.search import First, Goal, Solution, TooLarge
from collab_overcooked.games.overcooked.engine.constants import MAX_INGREDIENTS, Terrain
from collab_overcooked.games.overcooked.questions import text
from collab_overcooked.games.overcooked.questions.kitchen import ENV_ID, WAIT
from collab_overcooked.games.overcooked.text.text import NAMES
from collab_overcooked.questions.items import GENERATED, OWN, PAPER, PARTNER, Item, Scene

State = Mapping[str, Any]
GOALS = {Goal.DELIVER: "the next soup to be delivered", Goal.START: "the next pot to begin to cook"}
PARTNER_PLAY = "plays as well as possible towards the same goal, and counts on the same of the other"
MIN_STEPS = 2  # of a route that is asked for; shorter ones can be seen at once


def facts(kitchen: SearchedKitchen, state: State, seat: int) -> list[Fact]:
    """Return all facts of a state that a seat can be asked about.

    Args:
        kitchen: Layout.
        state: Scene.
        seat: Seat that is asked.
    """
    seats = (seat, 1 - seat)
    steps = {name: [kitchen.steps_to_use(state, who, name) for who in seats] for name in kitchen.objects}
    facts = [*_missing(kitchen, state)]
    for name in kitchen.objects:
        if name[0] in text.TITLES:
            facts += _routes(kitchen, name, steps[name], seat)
        if name[0] == "c":
            facts += _ready(kitchen, state, name, seat)
    return facts


def _alone(kitchen: SearchedKitchen) -> str:
    gates = "gates stay as they are now and that " if any(name[0] == "g" for name in kitchen.objects) else ""
    return f"Suppose that {gates}the cooks never stand in each other's way."


def _missing(kitchen: SearchedKitchen, state: State) -> Iterator[Fact]:
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
        yield Fact(question, choices, max(0, count), "count")


def _ready(kitchen: SearchedKitchen, state: State, name: str, seat: int) -> Iterator[Fact]:
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
            f"{_alone(kitchen)} In which step, counted from 1 for the present one, {verb} take the soup out of pot "
            f"{name} at the earliest, {with_dish}?"
        )
        answer = max(cooked, steps)
        yield Fact(question, *numbers_around(answer, 1), "timing")


def _routes(kitchen: SearchedKitchen, name: str, uses: list[int | None], seat: int) -> Iterator[Fact]:
    """Yield questions about ways to a thing, whether or not the held item allows using it."""
    own_steps, other_steps = steps = [None if use is None else use - 1 for use in uses]
    alone = _alone(kitchen)
    thing = text.title(name)
    other = NAMES[1 - seat]
    for who, count in zip((seat, 1 - seat), steps, strict=True):
        if count is None or count < MIN_STEPS:
            continue
        verb = "do you" if who == seat else f"does {NAMES[who]}"
        question = f"{alone} How many steps {verb} need at least to face {thing}?"
        yield Fact(question, *numbers_around(count, MIN_STEPS), "distance")
    if own_steps is not None and other_steps is not None:
        if max(own_steps, other_steps) >= MIN_STEPS:
            nearer = 0 if own_steps < other_steps else 1 if other_steps < own_steps else 2
            question = f"{alone} Who needs fewer steps to face {thing}?"
            choices = ("you", other, "neither: both need equally many")
            yield Fact(question, choices, nearer, "distance")
        return
    everybody = ("neither of you", "you alone", f"{other} alone", "both of you")
    question = f"{alone} Who can get to a cell next to {thing}?"
    reached = (own_steps is not None) + 2 * (other_steps is not None)
    yield Fact(question, everybody, reached, "reach")


LIMIT = 60  # steps of a scene's episode, for policies that play on
HANDS = (None, "onion", "dish", "soup")
HAND_WEIGHTS = (0.5, 0.25, 0.2, 0.05)
POT_WEIGHTS = {"empty": 0.15, "one": 0.15, "two": 0.25, "cooking": 0.25, "ready": 0.2}
LYING = 0.6  # probability that something lies on a counter
ELSEWHERE = 0.3  # probability that a player stands beyond a gate
FACINGS = ("north", "south", "east", "west")
FIRST_TICK, LAST_TICK, FULL = 8, 19, 3


def draw_scene(
    kitchen: SearchedKitchen, rng: np.random.Generator, hands: Mapping[int, str] | None = None, pot: str = ""
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


def _cells(kitchen: SearchedKitchen, terrain: int) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for y, x in np.argwhere(kitchen.terrain == terrain)]


def _thing(item: str | None) -> dict[str, Any] | None:
    if item is None:
        return None
    if item != "soup":
        return {"item": item}
    return {"item": "soup", "ingredients": ["onion"] * FULL, "tick": 20, "time": 20, "ready": True}


def _players(kitchen: SearchedKitchen, rng: np.random.Generator) -> list[dict[str, Any]]:
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


def _lying(kitchen: SearchedKitchen, rng: np.random.Generator) -> list[dict[str, Any]]:
    names = [name for name in kitchen.objects if name[0] == "s"] or [n for n in kitchen.objects if n[0] == "k"]
    reached = [name for name in names if _is_reached(kitchen, kitchen.place(name))]
    if not reached:
        return []
    few = (reached[0], reached[len(reached) // 2], reached[-1])  # so that states share choices
    place = kitchen.place(few[rng.integers(len(few))])
    item = HANDS[rng.choice((1, 2, 3), p=(0.4, 0.4, 0.2))]
    return [{"position": list(place), **(_thing(item) or {})}]


def _is_reached(kitchen: SearchedKitchen, place: tuple[int, int]) -> bool:
    return any(abs(x - place[0]) + abs(y - place[1]) == 1 for x, y in kitchen.floor())


def _gate(kitchen: SearchedKitchen, place: tuple[int, int], rng: np.random.Generator) -> dict[str, Any]:
    limit = int(kitchen.compiled.layouts[0].gate_limit)
    is_open = bool(rng.random() < 0.35)
    counter = int(rng.integers(0, limit)) if is_open else 0
    return {"position": list(place), "open": is_open, "counter": counter, "limit": limit}


LAYOUTS = ("cramped_room", "forced_coordination", "gated_delivery_forced", "locked_forced", "coordination_ring")
STATES = 2_800  # drawn of each layout for the generated part
FACT_STATES = 600  # of these, the first ones are asked for facts
MARGIN = 1  # steps by which every wrong choice is worse, at least
SPAN = 2  # steps from the fewest on in which the partner must not reach the goal alone
MAX_STEPS = 10  # steps to the goal, at most
START_SHARE = 0.3  # of scenes with soup in which the next pot counts nevertheless
FINISH = "finish"  # skill of putting things into pots, taking soup out and delivering it
METHOD = "exact joint search over the kernels"


class Judged(NamedTuple):
    """Scene with the best actions of both seats."""

    state: State  # The scene
    goal: Goal  # Goal of the team
    solution: Solution  # Fewest steps by first actions
    best: tuple[str, ...]  # Best next action by seat; empty if there is no single one or the partner's matters
    worse: tuple[tuple[str, ...], ...]  # Next actions by seat that take ``MARGIN`` steps more at least


def judge(kitchen: SearchedKitchen, state: State, goal: Goal) -> Judged | None:
    """Return the best actions; None if the search is too large, or the goal too near or too far."""
    try:
        solution = kitchen.search.solve(state, goal, SPAN, MAX_STEPS)
    except TooLarge:
        return None
    if solution is None or solution.best < SPAN:
        return None
    best, worse = [], []
    for seat in (0, 1):
        times = solution.of_seat(seat)
        alone = First.STILL in times or First.MOVED in times  # the partner reaches the goal alone
        firsts = {choice: kitchen.first(choice) for choice in kitchen.choices(state, seat)}
        fastest = [choice for choice, first in firsts.items() if times.get(first) == solution.best]
        single = len(fastest) == 1 == list(times.values()).count(solution.best)  # not all counters are choices
        best.append(fastest[0] if single and not alone and is_robust(kitchen, solution, fastest[0], seat) else "")
        late = solution.best + MARGIN
        worse.append(tuple(choice for choice, first in firsts.items() if times.get(first, late) >= late))
    return Judged(state, goal, solution, tuple(best), tuple(worse))


def is_robust(kitchen: SearchedKitchen, solution: Solution, choice: str, seat: int) -> bool:
    """Return whether a best choice stays best for all best actions of the partner."""
    for first, time in solution.of_seat(1 - seat).items():
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
    pot: str  # Contents of the pots, see ``POT_WEIGHTS``; drawn if empty
    goal: Goal  # Goal of the team
    answer: str  # Common beginning of all best choices


SITUATIONS: Mapping[str, Situation] = {
    "fetch a missing ingredient": Situation("cramped_room", 0, {1: "onion"}, "one", Goal.START, "take onion"),
    "fetch a dish early": Situation("coordination_ring", 1, {0: "onion"}, "", Goal.DELIVER, "take dish"),
    "park what is not needed": Situation(
        "forced_coordination", 0, {0: "onion", 1: "dish"}, "ready", Goal.DELIVER, "put on"
    ),
    "start the next soup": Situation("cramped_room", 1, {0: "soup"}, "two", Goal.START, "take onion"),
    "pass a dish over a shared counter": Situation(
        "forced_coordination", 1, {0: "onion", 1: "dish"}, "ready", Goal.DELIVER, "put on s"
    ),
}


class OvercookedGenerator:
    """Generator of the items, see ``generate.Generator``."""

    def paper(self, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield the items of the paper's situations."""
        for number, (name, situation) in enumerate(SITUATIONS.items()):
            yield self._situation(name, situation, np.random.default_rng([seed, number]))

    def candidates(self, seed: int, states: int | None = None) -> Iterator[Item]:
        """Yield items about random states of all layouts."""
        for layout in LAYOUTS:
            rng, kitchen = np.random.default_rng([seed, *layout.encode()]), load_kitchen(layout)
            for number in range(STATES if states is None else states):
                state, seat = draw_scene(kitchen, rng), int(rng.integers(2))
                known = facts(kitchen, state, seat) if number < FACT_STATES else ()
                yield from (fact.item(_scene(kitchen, state), seat, GENERATED) for fact in known)
                judged = judge(kitchen, state, draw_goal(state, rng))
                if judged is not None:
                    yield from (item for who in (0, 1) for item in _action_items(kitchen, judged, who, GENERATED, ()))

    def _situation(self, name: str, like: Situation, rng: np.random.Generator) -> tuple[Item, ...]:
        kitchen, seat = load_kitchen(like.layout), like.seat
        while True:
            state = draw_scene(kitchen, rng, like.hands, like.pot)
            judged = judge(kitchen, state, like.goal)
            if judged is None or not judged.best[seat].startswith(like.answer):
                continue
            own = _action_items(kitchen, judged, seat, PAPER, (name,))[:1]
            about = _about_partner(kitchen, judged, 1 - seat, name) if own else None
            if about is not None:
                fact = draw_fact(facts(kitchen, state, seat), rng)
                return (*own, about, fact.item(_scene(kitchen, state), seat, PAPER, (name,)))


def _about_partner(kitchen: SearchedKitchen, judged: Judged, partner: int, name: str) -> Item | None:
    """Return the item about a partner's next action, towards the same goal if unique, else the other goal."""
    for goal in (judged.goal, *(goal for goal in Goal if goal != judged.goal)):
        known = judged if goal == judged.goal else judge(kitchen, judged.state, goal)
        items = [] if known is None else _action_items(kitchen, known, partner, PAPER, (name,))
        if len(items) > 1:
            return items[1]
    return None


def _scene(kitchen: SearchedKitchen, state: State) -> Scene:
    return Scene("", ENV_ID, {"layout": kitchen.layout}, state)


def _action_items(
    kitchen: SearchedKitchen, judged: Judged, seat: int, part: str, skills: tuple[str, ...]
) -> list[Item]:
    """Return the item about a seat's best action, and the partner's item about a different action of the seat."""
    solution = judged.solution
    best = judged.best[seat]
    worse = judged.worse[seat]
    if not best or not worse:
        return []

    def item(kind: str, choices: tuple[str, ...]) -> Item:
        return Item(
            id="",
            scene=_scene(kitchen, judged.state),
            seat=seat if kind == OWN else 1 - seat,
            kind=kind,
            part=part,
            partner=PARTNER_PLAY,
            skills=(*skills, _skill(best)),
            question=question(judged.goal, seat, kind),
            choices=choices,
            correct=(0,),
            margin=MARGIN,
            unit="steps",
            evidence={
                "method": METHOD,
                "goal": judged.goal.name.lower(),
                "best": solution.best,
                "values": [solution.best, *[None] * (len(choices) - 1)],
                "worse": solution.best + MARGIN,
            },
        )

    items = [item(OWN, (best, *worse))]
    used = tuple(choice for choice in worse if choice != WAIT)
    if best != WAIT and used and solution.of_seat(1 - seat).get(kitchen.first(best)) != solution.best:
        items.append(item(PARTNER, tuple(text.title(choice.split()[-1]) for choice in (best, *used))))
    return items


def _skill(text: str) -> str:
    if text == WAIT:
        return "wait"
    if text.startswith("open"):
        return "open a gate"
    if text.startswith("put on s"):
        return "hand over"
    if text.startswith("put on"):
        return "put down"
    if text.startswith(("put in", "load", "deliver")):
        return FINISH
    if text.startswith("take from"):
        return "pick up"
    return "fetch"


def question(goal: Goal, seat: int, kind: str) -> str:
    """Return the question about a seat's best action, for the seat or for its partner."""
    objective = f"You both want {GOALS[goal]} as soon as possible."
    me, other = NAMES[seat], NAMES[1 - seat]
    if kind == PARTNER:
        return f"{objective} {me} {PARTNER_PLAY}. What will you see {me} use its hands on first?"
    return f"{objective} {other} {PARTNER_PLAY}. What should you do next with your hands?"
