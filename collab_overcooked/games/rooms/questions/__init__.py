"""Questions about positions of the game."""
