"""Questions with proven answers about moments of games: items, generation, answers, accuracy."""
