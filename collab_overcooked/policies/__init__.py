"""Policies for seats: random, scripted, search, trained, language and human."""
