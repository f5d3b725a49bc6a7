"""Checks of the sources beside ruff and mypy: who may import whom, sizes, rules, and the words of the field."""
