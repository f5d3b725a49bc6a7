"""Policies of Collab-Overcooked."""
