"""Generation of the questions of Overcooked."""
