"""Kernels that two or more games use: random numbers, movement, paths."""
