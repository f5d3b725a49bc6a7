"""Questions with proven answers about game states: items, generation, answers and accuracy."""
