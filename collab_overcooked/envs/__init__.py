"""Environments: the protocols of a game, PettingZoo, Gymnasium and Stable-Baselines3 APIs over them, and batches."""
