"""Metrics of all games: estimates with intervals, and scores of actions against references (TES, ITES, ROUGE-L).

A game names metrics of its own in its ``record.py``.
"""
