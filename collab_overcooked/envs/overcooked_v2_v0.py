"""OvercookedV2 in PettingZoo's module form: ``env``, ``raw_env`` and ``parallel_env``."""

from collab_overcooked.registry import module_form

env, raw_env, parallel_env = module_form("OvercookedV2-v0")
