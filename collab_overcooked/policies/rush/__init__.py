"""Policies that play Rush."""
