"""Policies of the household games."""
