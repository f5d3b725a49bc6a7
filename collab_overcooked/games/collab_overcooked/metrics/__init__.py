"""Metrics of the Collab-Overcooked paper, computed from logs."""
