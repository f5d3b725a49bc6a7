"""Overcooked-AI's soup kitchens, and Overcooked-Assist's gates, state-exact with the public originals."""
