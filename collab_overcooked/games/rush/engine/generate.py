"""Generate scenarios whose fewest turns are known, and episodes that differ only by exchanged goods.

Scenarios are mappings here, as in their YAML files.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import factorial
from typing import Any

import yaml

from collab_overcooked.io.checks import parse_integer

from .solvability import EpisodeReport, claim_of, prove_solvability
from .spec import AREA_KEYS, INGREDIENTS, RECIPE_KEYS, SPICES, Area, EpisodeSpec, Recipe, Scenario, load_scenario

_NAMES = {  # of dishes by main ingredient
    "meat": "Meatballs, Goulash, Beef Stew, Schnitzel, Shepherds Pie, Hamburger, Moussaka, Pot au Feu, Chili con Carne",
    "carrot": "Carrot Soup, Glazed Carrots, Carrot Salad, Carrot Fritters, Carrot Gratin, Carrot Curry, "
    "Carrot Souffle, Carrot Dumplings, Carrot Pudding",
    "lettuce": "Garden Salad, Caesar Salad, Cobb Salad, Wedge Salad, Lettuce Soup, Lettuce Wraps, Chef "
    "Salad, Greek Salad, Braised Lettuce",
    "bread": "Bruschetta, Panzanella, French Toast, Bread Pudding, Club Sandwich, Garlic Bread, Bread "
    "Soup, Welsh Rarebit, Banh Mi",
    "pasta": "Spaghetti Bolognese, Penne Arrabbiata, Cannelloni, Minestrone, Pasta Primavera, Lasagne, "
    "Pasta Salad, Rigatoni al Forno, Orzo Soup",
    "cheese": "Grilled Cheese, Cheese Fondue, Quesadilla, Raclette, Cheese Souffle, Croque Monsieur, Cheese "
    "Board, Saganaki, Queso Fundido",
}
DISHES = {good: names.split(", ") for good, names in _NAMES.items()}
PAPER_RECIPES: dict[str, dict[str, Any]] = {  # printed in the paper
    "Fettucine Alfredo": {
        "ingredients": {"pasta": 2, "cheese": 1, "meat": 2},
        "spices": {"white": 1, "black": 1},
        "cook_time": 1,
    },
    "Spaghetti Aglio e Olio": {"ingredients": {"pasta": 2, "carrot": 1}, "spices": {"green": 1}, "cook_time": 1},
    "Mac and Cheese": {"ingredients": {"cheese": 2, "pasta": 1}, "spices": {"black": 1}, "cook_time": 1},
}


class Cards:
    """Assigns names to recipes: equal recipes get the same name, different recipes different names.

    Recipes are mappings as in scenario files: ``ingredients``, ``spices`` and ``cook_time``.
    """

    def __init__(self) -> None:
        self._known = dict(PAPER_RECIPES)

    def learn(self, name: str, recipe: Mapping[str, Any]) -> None:
        """Register a recipe that already has a name."""
        self._known[name] = dict(recipe)

    def name(self, recipe: Mapping[str, Any], spare: str) -> str:
        """Return the name of a recipe; a new recipe is named after an unused dish, or ``spare`` with a number."""
        for name, known in self._known.items():
            if known == recipe:
                return name
        ingredients = recipe["ingredients"]
        most = max(ingredients, key=lambda good: ingredients[good])
        numbered = (f"{spare} {number}" for number in range(2, len(self._known) + 3))
        free = next(name for name in (*DISHES.get(most, ()), *numbered) if name not in self._known)
        self.learn(free, recipe)
        return free


PLENTY = 20  # minimum stock of each good where nothing is scarce
PANTRIES = 2  # number of pantries where goods are scarce
DRAWS = 400  # attempts before generation fails
PATIENCE = 50  # draws after which each pantry gets one more action space
EXCHANGES = 50  # candidates drawn for each new episode; the one that exchanges most goods is taken
MAX_TURNS_TRIED = 100  # range searched for the possible values named in the error message

Values = dict[str, Any]
Goods = Mapping[str, int]


@dataclass(frozen=True)
class GeneratorConfig:
    """Properties requested of a new scenario."""

    # At tightness 0, the turns that one agent alone needs for all orders. Above 0, the turns that the team needs (one
    # agent alone cannot finish all orders in as many), which are then also the length of an episode.
    turns: int = 10
    # 0 for plenty of everything, 1 for nothing to spare. Above 0, the share of ingredients and spices (at least one
    # ingredient) that are in stock only as often as the orders need them; it also determines how many of the last
    # turn's stove spaces, or of its workers where these are the bottleneck, are needed.
    tightness: float = 1.0
    episodes: int = 3  # Number of episodes; each is the first one with goods exchanged
    agents: int = 2  # Number of agents
    workers: int = 2  # Workers per agent
    orders: int = 5  # Orders per episode
    max_turns: int | None = None  # Turns per episode at tightness 0. Default: ``turns``.

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
        """Actions of the team per turn."""
        return self.agents * self.workers


def generate_scenario(config: GeneratorConfig, seed: int, name: str) -> Values:
    """Generate a scenario that is proved to have the requested properties; deterministic in its arguments.

    Args:
        config: The requested properties.
        seed: Random seed.
        name: Name of the scenario.

    Returns:
        The scenario, which claims what is proved of it.

    Raises:
        ValueError: No episode with these properties was found.
    """
    rng = random.Random(seed)
    stoves, cooking = _work(config)
    for attempt in range(DRAWS):
        recipes = _draw_recipes(rng, config.orders, cooking)
        if len(recipes) < config.orders:
            continue
        areas = _draw_areas(rng, config, recipes, stoves, 1 + attempt // PATIENCE)
        values = _values(name, _describe(config), config, {"recipes": recipes, **areas})
        first = prove_solvability(load_scenario(values)).episodes[0]
        if _is_as_wished(config, first):
            return exchange_goods(values | {"claim": claim_of(first)}, config.episodes, rng)
    raise ValueError(f"turns: found no episode that needs exactly {config.turns}; try another seed or fewer orders")


def episodes_like(scenario: Scenario, episodes: int, seed: int, name: str) -> Values:
    """Generate a scenario from the first episode of another one and copies of it with goods exchanged.

    Args:
        scenario: The other scenario.
        episodes: Number of episodes.
        seed: Random seed.
        name: Name of the new scenario.

    Returns:
        The scenario, which claims what is proved of it.

    Raises:
        ValueError: ``episodes`` exceeds the number of possible exchanges.
    """
    values = values_of(replace(scenario, name=name, claim=None, episodes=scenario.episodes[:1]))
    claim = claim_of(prove_solvability(load_scenario(values)).episodes[0])
    return exchange_goods(values | ({"claim": claim} if claim else {}), episodes, random.Random(seed))


def _is_as_wished(config: GeneratorConfig, first: EpisodeReport) -> bool:
    claim = claim_of(first)
    if config.tightness > 0:
        needs_help = first.alone is not None and first.alone.at_most < first.alone.orders
        return claim.get("team_turns") == config.turns and needs_help
    return claim.get("team_turns" if config.agents == 1 else "alone_turns") == config.turns


def _describe(config: GeneratorConfig) -> str:
    if config.tightness == 0:
        return "Plenty of stock and action spaces; one agent alone can finish all orders."
    return "Stock and action spaces are scarce; only agents that divide the work finish all orders, in the last turn."


def _values(name: str, description: str, config: GeneratorConfig, episode: Values) -> Values:
    return {
        "name": name,
        "description": description,
        "agents": config.agents,
        "workers": config.workers,
        "max_turns": config.max_turns or config.turns,
        "episodes": [episode],
    }


def _work(config: GeneratorConfig) -> tuple[int, int]:
    amounts = _amounts(config)
    if amounts:
        return amounts
    possible = [turns for turns in range(1, MAX_TURNS_TRIED) if _amounts(replace(config, turns=turns, max_turns=None))]
    raise ValueError(
        f"turns: {config.turns} is impossible with {config.orders} orders and {config.agents} x {config.workers} "
        f"workers at tightness {config.tightness:g}; possible: {_ranges(possible)}"
    )


def _amounts(config: GeneratorConfig) -> tuple[int, int] | None:
    takes = 2 * config.orders
    if config.tightness == 0:
        cooking = config.workers * config.turns - takes
        return (config.hands, cooking) if cooking >= 0 else None
    for stoves in range(1, config.hands + 1):
        fitting = [
            cooking
            for cooking in range(config.orders, stoves * config.turns + 1)
            if max(_rounds(cooking, stoves), _rounds(cooking + takes, config.hands)) == config.turns
            and _rounds(cooking + takes, config.workers) > config.turns
        ]
        if fitting:
            return stoves, fitting[round(config.tightness * (len(fitting) - 1))]
    return None


def _rounds(work: int, hands: int) -> int:
    return -(-work // hands)


def _ranges(numbers: Sequence[int]) -> str:
    ends = [n for n in numbers if n + 1 not in numbers]
    starts = [n for n in numbers if n - 1 not in numbers]
    ranges = []
    for start, end in zip(starts, ends, strict=True):
        single = str(start) if start == end else f"{start} to {end}"
        ranges.append(f"{start} and more" if end == MAX_TURNS_TRIED - 1 else single)
    return ", ".join(ranges) or "no number"


def _draw_recipes(rng: random.Random, orders: int, cooking: int) -> dict[str, Values]:
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
    rng: random.Random, config: GeneratorConfig, recipes: Mapping[str, Values], stoves: int, spaces: int
) -> dict[str, list[Values]]:
    ingredients = [recipe["ingredients"] for recipe in recipes.values()]
    spices = [recipe["spices"] for recipe in recipes.values()]
    if config.tightness == 0:
        return {
            "pantries": [_plenty(INGREDIENTS, ingredients, config.hands)],
            "spicebags": [_plenty(SPICES, spices, config.hands)],
            "stoves": [{"spaces": config.hands}],
        }
    pantries = [o % PANTRIES for o in rng.sample(range(config.orders), config.orders)]  # the right pantry of each order
    fair = _rounds(config.orders, config.turns)
    return {
        "pantries": _scarce(rng, INGREDIENTS, ingredients, pantries, config.tightness, max(spaces, fair)),
        "spicebags": _scarce(rng, SPICES, spices, [0] * config.orders, config.tightness, fair),
        "stoves": [{"spaces": 1} for _ in range(stoves)],
    }


def _plenty(goods: Sequence[str], needs: Sequence[Goods], spaces: int) -> Values:
    return {"spaces": spaces, "stock": {good: max(PLENTY, 2 * _sum(needs, good)) for good in goods}}


def _scarce(
    rng: random.Random, goods: Sequence[str], needs: Sequence[Goods], places: Sequence[int], share: float, spaces: int
) -> list[Values]:
    needed = [good for good in rng.sample(goods, len(goods)) if _sum(needs, good)]
    needed.sort(key=lambda good: -sum(good in need for need in needs))
    scarce = needed[: max(1, round(share * len(needed)))]
    areas = []
    for place in range(max(places) + 1):
        local = [need for need, at in zip(needs, places, strict=True) if at == place]
        stock = {good: _sum(local if good in scarce else needs, good) + (good not in scarce) for good in goods}
        areas.append({"spaces": spaces, "stock": stock})
    return areas


def _sum(needs: Iterable[Goods], good: str) -> int:
    return sum(need.get(good, 0) for need in needs)


def exchange_goods(values: Mapping[str, Any], episodes: int, rng: random.Random) -> Values:
    """Return a scenario with the first episode of ``values`` and copies of it with goods exchanged.

    Goods are exchanged in recipes and in stock. Orders and areas keep their positions, so that the same action numbers
    have the same effect in all episodes; dishes are renamed.

    Raises:
        ValueError: ``episodes`` exceeds the number of possible exchanges.
    """
    first = values["episodes"][0]
    goods = (values.get("ingredients", INGREDIENTS), values.get("spices", SPICES))
    possible = factorial(len(goods[0])) * factorial(len(goods[1]))
    if not 1 <= episodes <= possible:
        raise ValueError(f"episodes must be from 1 to {possible}, the number of possible exchanges, not {episodes!r}")
    cards = Cards()
    for name, recipe in first["recipes"].items():
        cards.learn(name, recipe)
    plain = {good: good for kind in goods for good in kind}
    used, exchanged = [plain], [first]
    while len(exchanged) < episodes:
        drawn = [_draw_exchange(rng, goods) for _ in range(EXCHANGES)]
        new = [exchange for exchange in drawn if exchange not in used]
        if new:
            used.append(max(new, key=lambda exchange: sum(good != other for good, other in exchange.items())))
            exchanged.append(_exchanged(first, used[-1], cards))
    return {**values, "episodes": exchanged}


def _draw_exchange(rng: random.Random, goods: Sequence[Sequence[str]]) -> dict[str, str]:
    return {good: other for kind in goods for good, other in zip(kind, rng.sample(kind, len(kind)), strict=True)}


def _exchanged(episode: Values, exchange: Mapping[str, str], cards: Cards) -> Values:
    names, recipes = {}, {}
    for name, recipe in episode["recipes"].items():
        new = {key: _renamed(recipe[key], exchange) for key in ("ingredients", "spices")}
        new["cook_time"] = recipe["cook_time"]
        names[name] = cards.name(new, name)
        recipes[names[name]] = new
    copy = {**episode, "recipes": recipes}
    if "orders" in episode:
        copy["orders"] = [names[name] for name in episode["orders"]]
    for kind in ("pantries", "spicebags"):
        copy[kind] = [{**area, "stock": _renamed(area["stock"], exchange)} for area in episode[kind]]
    return copy


def _renamed(counts: Goods, exchange: Mapping[str, str]) -> dict[str, int]:
    new = {exchange[good]: count for good, count in counts.items()}
    order = list(exchange)
    return dict(sorted(new.items(), key=lambda item: order.index(item[0])))


def values_of(scenario: Scenario) -> Values:
    """Return a scenario as a mapping in the form of its file."""
    values: Values = {
        **{key: getattr(scenario, key) for key in ("name", "description", "agents", "workers", "max_turns")},
        "ingredients": list(scenario.ingredients) if scenario.ingredients != INGREDIENTS else [],
        "spices": list(scenario.spices) if scenario.spices != SPICES else [],
        "claim": dict(scenario.claim or {}),
        "episodes": [_episode_values(episode) for episode in scenario.episodes],
    }
    return {key: value for key, value in values.items() if value not in ("", [], {})}


def _episode_values(episode: EpisodeSpec) -> Values:

    def recipe_values(recipe: Recipe) -> Values:
        values = asdict(recipe)
        return {key: values[key] for key in RECIPE_KEYS}

    return {
        "recipes": {name: recipe_values(recipe) for name, recipe in episode.recipes.items()},
        "orders": list(episode.orders),
        **{kind: list(map(_area_values, getattr(episode, kind))) for kind in AREA_KEYS},
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
    """Dumper without YAML aliases: equal values are written out again."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
