"""Running episodes: decisions, conversations, teams, records, replay and workers."""
