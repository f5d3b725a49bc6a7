"""Evaluation suites of the game: tasks, scores and tables."""
