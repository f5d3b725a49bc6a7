"""Other frameworks: the same matches, prompts, records and metrics, with their models and trainers in the seats."""
