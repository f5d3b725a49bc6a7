"""Make new scenarios whose optimum is known, and episodes that are one another with goods exchanged.

Scenarios are values here, as in their files.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

import yaml

from collab_overcooked.games.rush.engine.dishes import Cards
from collab_overcooked.games.rush.engine.search import BUDGET
from collab_overcooked.games.rush.engine.solvability import claim_of, verify_scenario
from collab_overcooked.games.rush.engine.spec import INGREDIENTS, SPICES, Area, EpisodeSpec, Scenario, load_scenario
from collab_overcooked.io.checks import parse_integer

PLENTY = 20  # stock of each good where nothing is scarce, if that is enough
PANTRIES = 2  # where something is
DRAWS = 400  # of an episode, before the wish is given up
PATIENCE = 50  # draws after which each pantry gets one more action space
EXCHANGES = 50  # drawn for each new episode, to take the one that exchanges most
MAX_TURNS_TRIED = 100  # turns that are tried to say which would be possible

Values = dict[str, Any]
Goods = Mapping[str, int]


@dataclass(frozen=True)
class Wish:
    """What a new scenario is to be like.

    Attributes:
        turns: At tightness 0, those that one agent alone needs for all orders. Otherwise those that the team needs,
            while one agent alone cannot finish all orders in as many; they are then the turns of an episode, too.
        tightness: 0 for plenty of everything, 1 for nothing to spare. Above 0 it is the share of the ingredients and
            spices of which there is just what the orders need, at least one ingredient, and tells how many of the
            last turn's action spaces on stoves (or, where labour is what lacks, of its workers) are needed.
        episodes: How many, each one the first with goods exchanged.
        agents: Of the team.
        workers: Of each agent.
        orders: Of an episode.
        max_turns: Of an episode at tightness 0; ``turns`` if None.
    """

    turns: int = 10
    tightness: float = 1.0
    episodes: int = 3
    agents: int = 2
    workers: int = 2
    orders: int = 5
    max_turns: int | None = None

    def __post_init__(self) -> None:
        for name in ("turns", "episodes", "agents", "workers", "orders"):
            parse_integer(name, getattr(self, name), 1)
        if isinstance(self.tightness, bool) or not 0 <= self.tightness <= 1:
            raise ValueError(f"tightness must be a number from 0 to 1, not {self.tightness!r}")
        if self.max_turns is not None and (self.tightness > 0 or self.max_turns < self.turns):
            raise ValueError(f"max_turns must be left out, or be at least turns at tightness 0, not {self.max_turns!r}")
        if self.tightness > 0 and self.agents < 2:
            raise ValueError("tightness must be 0 for one agent: above it, one agent alone cannot finish all orders")

    @property
    def hands(self) -> int:
        """Actions of the team in a turn."""
        return self.agents * self.workers


def generate_scenario(wish: Wish, seed: int, name: str, budget: int = BUDGET) -> Values:
    """Make a scenario that is certified to be as wished; the same arguments make the same one.

    Args:
        wish: What it is to be like.
        seed: Of all that is drawn.
        name: Of the scenario.
        budget: States that all searches together may look at.

    Raises:
        ValueError: If there is no such scenario, or none was found.
    """
    rng = random.Random(seed)
    stoves, cooking = _work(wish)
    for attempt in range(DRAWS):
        recipes = _draw_recipes(rng, wish.orders, cooking)
        if len(recipes) < wish.orders:
            continue
        areas = _draw_areas(rng, wish, recipes, stoves, 1 + attempt // PATIENCE)
        values = _values(name, _describe(wish), wish, {"recipes": recipes, **areas})
        first = verify_scenario(load_scenario(values), budget).episodes[0]
        claim = claim_of(first)
        if first.team.proved and (first.alone is None or first.alone.proved) and _is_as_wished(wish, claim):
            return exchange_goods(values | {"claim": claim}, wish.episodes, rng)
        budget -= first.team.states + (first.alone.states if first.alone else 0)
        if budget < 1:
            break
    raise ValueError(
        f"turns: no episode was found that needs just {wish.turns}; try another seed, fewer orders or more states"
    )


def episodes_like(scenario: Scenario, episodes: int, seed: int, name: str, budget: int = BUDGET) -> Values:
    """Make a scenario of a scenario's first episode and others that are the same with goods exchanged.

    Args:
        scenario: As read.
        episodes: How many.
        seed: Of the exchanges.
        name: Of the new scenario.
        budget: States that each search for its claim may look at; what is not proved is not claimed.

    Raises:
        ValueError: If there are not so many different exchanges.
    """
    values = values_of(replace(scenario, name=name, claim=None, episodes=scenario.episodes[:1]))
    report = verify_scenario(load_scenario(values), budget)
    claim = {"claim": claim_of(report.episodes[0])} if report.ok else {}
    return exchange_goods(values | claim, episodes, random.Random(seed))


def _is_as_wished(wish: Wish, claim: Mapping[str, int]) -> bool:
    if wish.tightness > 0:
        return claim.get("team_turns") == wish.turns and "alone_orders" in claim
    return claim.get("team_turns" if wish.agents == 1 else "alone_turns") == wish.turns


def _describe(wish: Wish) -> str:
    if wish.tightness == 0:
        return "Stock and action spaces for everybody; one agent alone can finish all orders."
    return "Stock and action spaces are scarce; only agents who divide the work finish all orders, in the last turn."


def _values(name: str, description: str, wish: Wish, episode: Values) -> Values:
    return {
        "name": name,
        "description": description,
        "agents": wish.agents,
        "workers": wish.workers,
        "max_turns": wish.max_turns or wish.turns,
        "episodes": [episode],
    }


# ------------------------------------------------------------------------------------------- how much work


def _work(wish: Wish) -> tuple[int, int]:
    """Return action spaces on stoves, and how often is cooked, with which counting leads to the turns wished for.

    Raises:
        ValueError: If there is no such number; the message says for which turns there is.
    """
    found = _amounts(wish)
    if found:
        return found
    possible = [turns for turns in range(1, MAX_TURNS_TRIED) if _amounts(replace(wish, turns=turns, max_turns=None))]
    raise ValueError(
        f"turns: {wish.turns} cannot be had with {wish.orders} orders and {wish.agents} x {wish.workers} workers "
        f"at tightness {wish.tightness:g}; possible: {_ranges(possible)}"
    )


def _amounts(wish: Wish) -> tuple[int, int] | None:
    """Return stove spaces and cooks for the number of turns, as few spaces as can be; None if there is no way."""
    takes = 2 * wish.orders
    if wish.tightness == 0:
        cooking = wish.workers * wish.turns - takes
        return (wish.hands, cooking) if cooking >= 0 else None
    for stoves in range(1, wish.hands + 1):
        fitting = [
            cooking
            for cooking in range(wish.orders, stoves * wish.turns + 1)
            if max(_rounds(cooking, stoves), _rounds(cooking + takes, wish.hands)) == wish.turns
            and _rounds(cooking + takes, wish.workers) > wish.turns
        ]
        if fitting:
            return stoves, fitting[round(wish.tightness * (len(fitting) - 1))]
    return None


def _rounds(work: int, hands: int) -> int:
    return -(-work // hands)


def _ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers as ranges; those up to the last one tried go on."""
    ends = [n for n in numbers if n + 1 not in numbers]
    starts = [n for n in numbers if n - 1 not in numbers]
    ranges = []
    for start, end in zip(starts, ends, strict=True):
        single = str(start) if start == end else f"{start} to {end}"
        ranges.append(f"{start} and more" if end == MAX_TURNS_TRIED - 1 else single)
    return ", ".join(ranges) or "no number"


# ------------------------------------------------------------------------------------------- one episode


def _draw_recipes(rng: random.Random, orders: int, cooking: int) -> dict[str, Values]:
    """Draw recipes that together are cooked a number of times; fewer than asked for if two of them are the same."""
    cards, mains = Cards(), rng.sample(INGREDIENTS, len(INGREDIENTS))
    recipes = {}
    for o, cook_time in enumerate(_parts(rng, cooking, orders)):
        main = mains[o % len(mains)]
        others = rng.sample([good for good in INGREDIENTS if good != main], rng.choice((1, 1, 2)))
        ingredients = {main: 2} | {good: rng.choice((1, 1, 2)) for good in others}
        spices = dict.fromkeys(rng.sample(SPICES, rng.choice((1, 1, 2))), 1)
        recipe = {"ingredients": ingredients, "spices": spices, "cook_time": cook_time}
        recipes[cards.name(recipe, "Dish")] = recipe
    return recipes


def _parts(rng: random.Random, total: int, count: int) -> list[int]:
    """Split a number into parts that differ, none of them 0 if there is enough for that, in any order."""
    parts = [total // count] * count
    for i in range(total % count):
        parts[i] += 1
    for _ in range(count):
        giver, taker = rng.randrange(count), rng.randrange(count)
        if parts[giver] > 1:
            parts[giver] -= 1
            parts[taker] += 1
    return rng.sample(parts, count)


def _draw_areas(
    rng: random.Random, wish: Wish, recipes: Mapping[str, Values], stoves: int, spaces: int
) -> dict[str, list[Values]]:
    """Draw areas with enough for all recipes, if each takes its ingredients from the right pantry."""
    ingredients = [recipe["ingredients"] for recipe in recipes.values()]
    spices = [recipe["spices"] for recipe in recipes.values()]
    if wish.tightness == 0:
        return {
            "pantries": [_plenty(INGREDIENTS, ingredients, wish.hands)],
            "spicebags": [_plenty(SPICES, spices, wish.hands)],
            "stoves": [{"spaces": wish.hands}],
        }
    homes = [o % PANTRIES for o in rng.sample(range(wish.orders), wish.orders)]  # the right pantry of each order
    fair = _rounds(wish.orders, wish.turns)
    return {
        "pantries": _scarce(rng, INGREDIENTS, ingredients, homes, wish.tightness, max(spaces, fair)),
        "spicebags": _scarce(rng, SPICES, spices, [0] * wish.orders, wish.tightness, fair),
        "stoves": [{"spaces": 1} for _ in range(stoves)],
    }


def _plenty(goods: Sequence[str], needs: Sequence[Goods], spaces: int) -> Values:
    """Return an area with more than enough of everything."""
    return {"spaces": spaces, "stock": {good: max(PLENTY, 2 * _sum(needs, good)) for good in goods}}


def _scarce(
    rng: random.Random, goods: Sequence[str], needs: Sequence[Goods], homes: Sequence[int], share: float, spaces: int
) -> list[Values]:
    """Return areas with just enough of a share of the goods, where each order comes to its own, and more of others.

    The goods that most orders need become scarce first, at least one of them.
    """
    needed = [good for good in rng.sample(goods, len(goods)) if _sum(needs, good)]
    needed.sort(key=lambda good: -sum(good in need for need in needs))
    scarce = needed[: max(1, round(share * len(needed)))]
    areas = []
    for home in range(max(homes) + 1):
        own = [need for need, at in zip(needs, homes, strict=True) if at == home]
        stock = {good: _sum(own if good in scarce else needs, good) + (good not in scarce) for good in goods}
        areas.append({"spaces": spaces, "stock": stock})
    return areas


def _sum(needs: Iterable[Goods], good: str) -> int:
    return sum(need.get(good, 0) for need in needs)


# ------------------------------------------------------------------------------------------- exchanging goods


def exchange_goods(values: Mapping[str, Any], episodes: int, rng: random.Random) -> Values:
    """Return a scenario whose first episode is that of another, and whose others are the first with goods exchanged.

    The exchange runs through recipes and stock alike. Orders and areas keep their places, so that the same action
    numbers do the same in all episodes; dishes are renamed.

    Args:
        values: As ``values_of`` returns them; episodes after the first are ignored.
        episodes: How many to return.
        rng: Draws the exchanges.

    Raises:
        ValueError: If there are not so many different exchanges.
    """
    first, goods = values["episodes"][0], (values.get("ingredients", INGREDIENTS), values.get("spices", SPICES))
    possible = factorial(len(goods[0])) * factorial(len(goods[1]))
    if not 1 <= episodes <= possible:
        raise ValueError(f"episodes must be from 1 to {possible}, as many as goods can be exchanged, not {episodes!r}")
    cards = Cards()
    for name, recipe in first["recipes"].items():
        cards.learn(name, recipe)
    plain = {good: good for kind in goods for good in kind}
    used, made = [plain], [first]
    while len(made) < episodes:
        drawn = [_draw_exchange(rng, goods) for _ in range(EXCHANGES)]
        new = [exchange for exchange in drawn if exchange not in used]
        if new:
            used.append(max(new, key=lambda exchange: sum(good != other for good, other in exchange.items())))
            made.append(_exchanged(first, used[-1], cards))
    return {**values, "episodes": made}


def _draw_exchange(rng: random.Random, goods: Sequence[Sequence[str]]) -> dict[str, str]:
    return {good: other for kind in goods for good, other in zip(kind, rng.sample(kind, len(kind)), strict=True)}


def _exchanged(episode: Values, exchange: Mapping[str, str], cards: Cards) -> Values:
    """Return an episode with goods exchanged and dishes renamed."""
    names, recipes = {}, {}
    for name, recipe in episode["recipes"].items():
        new = {key: _renamed(recipe[key], exchange) for key in ("ingredients", "spices")}
        new["cook_time"] = recipe["cook_time"]
        names[name] = cards.name(new, name)
        recipes[names[name]] = new
    made = {**episode, "recipes": recipes}
    if "orders" in episode:
        made["orders"] = [names[name] for name in episode["orders"]]
    for kind in ("pantries", "spicebags"):
        made[kind] = [{**area, "stock": _renamed(area["stock"], exchange)} for area in episode[kind]]
    return made


def _renamed(counts: Goods, exchange: Mapping[str, str]) -> dict[str, int]:
    new = {exchange[good]: count for good, count in counts.items()}
    order = list(exchange)
    return dict(sorted(new.items(), key=lambda item: order.index(item[0])))


# ------------------------------------------------------------------------------------------- files


def values_of(scenario: Scenario) -> Values:
    """Return a scenario as the values of a file."""
    values: Values = {
        "name": scenario.name,
        "description": scenario.description,
        "agents": scenario.agents,
        "workers": scenario.workers,
        "max_turns": scenario.max_turns,
        "ingredients": list(scenario.ingredients) if scenario.ingredients != INGREDIENTS else [],
        "spices": list(scenario.spices) if scenario.spices != SPICES else [],
        "claim": dict(scenario.claim or {}),
        "episodes": [_episode_values(episode) for episode in scenario.episodes],
    }
    return {key: value for key, value in values.items() if value not in ("", [], {})}


def _episode_values(episode: EpisodeSpec) -> Values:
    recipes = {
        recipe.name: {
            "ingredients": dict(recipe.ingredients),
            "spices": dict(recipe.spices),
            "cook_time": recipe.cook_time,
        }
        for recipe in episode.recipes.values()
    }
    return {
        "recipes": recipes,
        "orders": list(episode.orders),
        "pantries": [_area_values(area) for area in episode.pantries],
        "spicebags": [_area_values(area) for area in episode.spicebags],
        "stoves": [_area_values(area) for area in episode.stoves],
    }


def _area_values(area: Area) -> Values:
    stock = {"stock": dict(area.stock)} if area.kind != "stove" else {}
    return {"id": area.id, "spaces": area.spaces, **stock}


def scenario_text(values: Mapping[str, Any], heading: str) -> str:
    """Return the text of a scenario file."""
    text: str = yaml.dump(
        {name: values[name] for name in sorted(values, key=lambda name: name == "episodes")},
        Dumper=_Plain,
        sort_keys=False,
        default_flow_style=None,
        width=120,
        allow_unicode=True,
    )
    return f"# {heading}\n{text}"


class _Plain(yaml.SafeDumper):
    """Writes equal parts out again instead of pointing at the first of them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
