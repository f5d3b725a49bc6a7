"""Policies that know the rooms."""
