"""Other frameworks: the same jobs, prompts, records and metrics, with their models and trainers in the seats."""
