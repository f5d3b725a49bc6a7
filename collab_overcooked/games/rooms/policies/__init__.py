"""Policies that play the room games."""
