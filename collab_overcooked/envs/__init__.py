"""Environments: one folder a game, the shells that show every game to a trainer, and shared kernels in ``core``."""
