"""Policies that play Overcooked."""
