"""Playing: episodes, conversations, teams, records and their replay."""
