"""Training needs the extra rl; without it these tests are skipped."""

from __future__ import annotations

import importlib.util

NEEDED = ("torch", "stable_baselines3", "sb3_contrib")
collect_ignore_glob = [] if all(map(importlib.util.find_spec, NEEDED)) else ["test_*.py"]
