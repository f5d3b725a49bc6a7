"""Play teams on suites of tasks, write records of the episodes, and compute all scores from the records."""
