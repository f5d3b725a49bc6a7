"""OvercookedV2: recipes that only some agents know, on the grid of Overcooked."""
