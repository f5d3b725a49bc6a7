"""What is played with the game and how it is scored."""
