"""Texts, pictures and scenes of the game."""
