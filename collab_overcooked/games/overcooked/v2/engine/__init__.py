"""Rules of the game: what is compiled, and what it is compiled from."""
