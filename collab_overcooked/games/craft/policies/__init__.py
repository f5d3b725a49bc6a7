"""Policies that know CraftKitchen."""
