"""Search: simulation of the game from the present moment, and the searches that use it."""
