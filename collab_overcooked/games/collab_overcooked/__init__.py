"""Collab-Overcooked: chef and assistant with unequal knowledge, utensils and food (Sun et al. 2025)."""
