"""Generation of the questions of the room games."""
