"""Checks of the sources beside ruff and mypy: who may import whom, and rules."""
