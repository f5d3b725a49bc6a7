"""Play teams on suites of tasks, keep records of what happened, and compute every number from the records."""
