"""Policies that play CraftKitchen."""
