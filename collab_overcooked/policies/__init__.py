"""Anything that can sit in a seat: random, scripted, search, learned, language and human policies."""
