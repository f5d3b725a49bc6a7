"""Search: simulation of the game from the current state, and the searches that use it."""
