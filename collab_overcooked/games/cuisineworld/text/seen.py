"""Knowledge of an agent of CuisineWorld: everything except future orders; all agents see all refusals."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.order_game import OrderView

from ..engine.constants import NOTHING, Verb
from ..engine.spec import Recipe
from .text import CHOICES, recipes_below, rules, surroundings


class KitchenView(OrderView):
    """Knowledge of one agent: the whole state, and thus also the valid actions of teammates."""

    goto = Verb.GOTO
    public_choices = True  # commands are carried out one after the other
    public_actions = True

    @property
    def objective(self) -> str:
        return self._say("Every order that is served in time counts 1; an order whose time runs out is lost.")

    @property
    def rules(self) -> str:
        return self._say(rules(self._game.level))

    @property
    def picture_manual(self) -> str:
        return self.rules

    @property
    def picture_rules(self) -> str:
        return self._say(rules(self._game.level, CHOICES))

    @cached_property
    def surroundings(self) -> str:
        """Observation for people; language agents get the original's text."""
        return self._say(surroundings(self.scene, self._seat))

    @cached_property
    def unlikely(self) -> frozenset[int]:
        level, tables = self._game.level, self._game.compiled.tables
        here = self.scene["agents"][self._seat]["location"]
        useful, needed = self._useful_places, self._needed
        late = []
        for action in range(1, self._game.n_actions):
            verb, at, item = tables.catalogue[action].tolist()
            stays = verb == Verb.GOTO and level.locations[at] == here
            unneeded = item != NOTHING and level.items[item] not in needed
            if stays or unneeded or level.locations[at] not in useful:
                late.append(action)
        return frozenset(late)

    @cached_property
    def _needed(self) -> frozenset[str]:
        recipes = self._recipes.values()
        return frozenset(self._ordered).union(self._recipes, *(recipe.ingredients for recipe in recipes))

    @cached_property
    def _ordered(self) -> list[str]:
        items = {order.name: order.items for order in self._game.level.orders}
        return [item for order in self.scene["orders"] for item in items[order["name"]]]

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        return recipes_below(self._game.level, self._ordered)

    @cached_property
    def _useful_places(self) -> frozenset[str]:
        level, held = self._game.level, self.scene["agents"][self._seat]["holding"]
        useful: dict[str, tuple[str, int]] = {}  # kind of tool, and how much of a recipe is in it
        for name, kind in zip(level.locations, level.kitchen, strict=True):
            role, content = level.tools[kind].role, self.scene["tools"][name]["content"]
            recipes = [recipe for recipe in self._recipes.values() if recipe.tool == kind]
            if role == "storage":
                serves = held is None or held not in self._needed  # which is lost there: hands are free again
            elif role == "table":
                serves = held in self._ordered
            elif held is None:
                full = any(sorted(content) == sorted(recipe.ingredients) for recipe in recipes)
                serves = full or (len(content) == 1 and content[0] in self._recipes)
            else:
                serves = any({held, *content} <= {*recipe.ingredients} and held not in content for recipe in recipes)
            if serves:
                useful[name] = kind, len(content)
        if held is None:
            return frozenset(useful)
        most = {kind: max(n for other, n in useful.values() if other == kind) for kind, _ in useful.values()}
        return frozenset(name for name, (kind, n) in useful.items() if n == most[kind])
