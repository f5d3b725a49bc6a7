"""Names for the dishes of generated scenarios: real dishes by main ingredient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
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
        """Return the name of a recipe, choosing a free one if it is new.

        Args:
            recipe: Values of the recipe.
            spare: Base of a numbered name, used if no name in ``DISHES`` is free.
        """
        for name, known in self._known.items():
            if known == recipe:
                return name
        ingredients = recipe["ingredients"]
        most = max(ingredients, key=lambda good: ingredients[good])
        numbered = (f"{spare} {number}" for number in range(2, len(self._known) + 3))
        free = next(name for name in (*DISHES.get(most, ()), *numbered) if name not in self._known)
        self.learn(free, recipe)
        return free
