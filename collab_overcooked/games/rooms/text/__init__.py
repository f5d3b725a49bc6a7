"""What seats and people read and see of the game."""
